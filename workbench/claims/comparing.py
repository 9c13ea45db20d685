"""Compare printed output with the output that a page claims, ignoring differences between machines."""

from __future__ import annotations

import ast
import calendar
import contextlib
import datetime
import difflib
import functools
import math
import platform
import re
from collections import Counter
from collections.abc import Callable, Sequence

from workbench.base import python_syntax
from workbench.base.text import clean
from workbench.claims.python import python_of

_FORGIVEN = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x…"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "UUID"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HASH"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"), "TIME"),
    (re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\s?(?:[AP]M)?\b"), "TIME"),
    (
        re.compile(
            r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\b,?|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
        ),
        "TIME",
    ),
    (re.compile(r"(?:[A-Za-z]:)?(?:[~.]{0,2}[/\\][\w.@+-]+){2,}[/\\]?|~[/\\][\w./\\-]+"), "PATH"),
    (re.compile(r"\boptional arguments:"), "options:"),
    (re.compile(r"[\u2500-\u257f|+=_-]{3,}"), "---"),
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,_]*(?:\.\d+)*(?:[eE][-+]?\d+)?")
_FLOAT = re.compile(r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?")
_LEFT_OUT = re.compile(r"\.{3}|…|\[(?:\.\.\.|…|snip)\]")
_COMMENT = re.compile(r"(?:[ \t]+|^)#[ \t].*$", re.M)  # a comment after the output
_REMARK = re.compile(r"^[ \t]*(?:#|//)[ \t].*$\n?", re.M)  # a line that contains only a comment
_CLASS = re.compile(r"<class '([\w.]+)'>")
_MAIN = re.compile(r"\b__main__\.")
_BRACES = re.compile(r"\{([^{}:]*)\}")
_MOST = 20_000
#: Maximum number of lines in a reported diff, and of characters per line.
_MOST_LINES, _WIDEST = 20, 200
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
#: A ruler or a table border; its length depends on the terminal.
_RULER = re.compile(r"^[ \t]*[|+=_-]{3,}[ \t]*$|[\u2500-\u257f]{2,}", re.M)
#: Maximum distance of a time-dependent value from the current time, in days and in minutes.
_DAYS, _MINUTES = 400, 10


def shell_difference(claimed: str, stdout: str, stderr: str = "") -> tuple[str, ...]:
    """Return diff lines between the claimed and the real output of a command, or an empty tuple if they agree.

    Numbers, times, addresses, paths, whitespace and line order may differ. An ellipsis matches anything, and the page
    may show only some of the lines and add comments.
    """
    want = _lines(claimed)
    for real in (stdout, stderr, f"{stdout}\n{stderr}", f"{stderr}\n{stdout}"):
        if _agree(want, _lines(real)):
            return ()
    if (values := _values(claimed)) is not None and values == _values(stdout):
        return ()
    if _sorted(_flat(claimed)) == _sorted(_flat(stdout)) or (len(want) > 1 and sorted(want) == sorted(_lines(stdout))):
        return ()
    remarked = _REMARK.sub("", claimed)
    if remarked.strip() and remarked != claimed:
        return shell_difference(remarked, stdout, stderr)
    return difference(claimed, stdout if stdout.strip() else stderr)


def doctest_difference(want: str, got: str) -> tuple[str, ...]:
    """Return diff lines for a doctest example, or an empty tuple if it agrees.

    Values are compared by type and to every digit, except for the order of mappings and sets and the last digits of a
    float. In text, whitespace, rulers and anything that depends on the machine or the time may differ.
    """
    if not want.strip() and got.strip() and got.strip() != "None":
        return ()  # a page may omit the value of an expression
    if want.strip() == "None" and not got.strip():
        return ()  # an interactive session prints nothing for None
    claimed, real = (_in_short(clean(text)[:_MOST].replace("<BLANKLINE>", "")) for text in (want, got))
    real = _as_the_page(claimed, real)
    wanted, shown = _values(claimed), _values(real)
    if wanted is not None and shown is not None and not _LEFT_OUT.search(claimed):
        return () if _shows(wanted, shown) else difference(want, got)
    if any(_texts_agree(text, real) for text in (claimed, _COMMENT.sub("", claimed)) if text.strip()):
        return ()
    return difference(want, got)


def random_alone(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the output differs from the page only in places that also vary from run to run."""
    if any(len(diff) >= _MOST_LINES or any(len(line) >= _WIDEST for line in diff) for diff in (one, other)):
        return False  # the diff may be truncated
    (claimed, real), (again, later) = _sides(one), _sides(other)
    words = [re.split(r"(\W+)", text) for text in (claimed, real, later)]
    if claimed != again or len({len(each) for each in words}) != 1:
        return False
    settled = [
        stated if here != there and _of_one_shape(stated, here) and _of_one_shape(stated, there) else here
        for stated, here, there in zip(*words, strict=True)
    ]
    return not doctest_difference(claimed, "".join(settled))


def may_be_random(diff: Sequence[str]) -> bool:
    """Return whether the output differs from the page only in words of the same shape, as random values do."""
    stated, here = (re.split(r"(\W+)", text) for text in _sides(diff))
    return len(stated) == len(here) and all(
        one == other or _of_one_shape(one, other) for one, other in zip(stated, here, strict=True)
    )


def _sides(diff: Sequence[str]) -> tuple[str, str]:
    claimed, real = ("\n".join(line[1:] for line in diff if line.startswith(sign)) for sign in "-+")
    return claimed, real


def _of_one_shape(one: str, other: str) -> bool:
    return any(re.fullmatch(shape, one) and re.fullmatch(shape, other) for shape in (r"\d+", r"(?i:[0-9a-f]+)")) or (
        len(one) == len(other) and bool(re.search(r"\d", one + other))
    )


def difference(claimed: str, real: str) -> tuple[str, ...]:
    old, new = (clean(text).rstrip("\n").splitlines()[:200] for text in (claimed, real))
    lines = list(difflib.unified_diff(old, new, "claimed", "real", lineterm="", n=1))
    return tuple(line[:_WIDEST] for line in lines[2 : 2 + _MOST_LINES])


def of_one_kind(claimed: str, real: str) -> bool:
    """Return whether two outputs are of one kind: values of one type, or texts that share half of their characters."""
    if not claimed.strip() or not real.strip():
        return False
    try:
        # The page may truncate a number or a text.
        one, other = python_syntax.literal(_LEFT_OUT.sub("", claimed).strip()), python_syntax.literal(real.strip())
    except (*python_syntax.UNREADABLE, TypeError):
        words = alike(claimed, real)
        signs = difflib.SequenceMatcher(None, claimed[:2000].split(), real[:2000].split(), autojunk=False).ratio()
        close = difflib.SequenceMatcher(None, claimed.strip()[:400], real.strip()[:400], autojunk=False).ratio()
        return max(words, signs, close) >= 0.5
    return type(one) is type(other)


def is_value(text: str) -> bool:
    try:
        python_syntax.literal(text.strip())
    except (*python_syntax.UNREADABLE, TypeError):
        return False
    return True


def of_the_machine(claimed: str, real: str) -> str:
    """Return the first word of the real output that identifies the machine or its system, or "".

    Words that are in the claimed output do not count.
    """
    there, other = (set(re.findall(r"[\w.-]{4,}", text.lower())) for text in (real, claimed))
    return min((there - other) & _machine(), default="")


@functools.cache
def _machine() -> frozenset[str]:
    names = [platform.node(), platform.release(), platform.version(), platform.machine(), platform.platform()]
    with contextlib.suppress(OSError):
        system = platform.freedesktop_os_release()
        names += [system.get(key, "") for key in ("NAME", "PRETTY_NAME", "ID", "VERSION", "VERSION_CODENAME")]
    words = {word.lower() for text in names for word in re.findall(r"[\w.-]{4,}", text)}
    return frozenset(words - {"linux", "version", "release", "rolling", "stable"})


def alike(claimed: str, real: str) -> float:
    one, other = " ".join(_lines(claimed)).split(), " ".join(_lines(real)).split()
    return difflib.SequenceMatcher(None, one[:2000], other[:2000], autojunk=False).ratio()


def _lines(text: str) -> list[str]:
    text = clean(text)[:_MOST]
    for pattern, stands in _FORGIVEN:
        text = pattern.sub(stands, text)
    text = _NUMBER.sub("#", text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _agree(want: Sequence[str], real: Sequence[str]) -> bool:
    flat, whole = " ".join(want), " ".join(real)
    if flat == whole or flat.replace(" ", "") == whole.replace(" ", ""):
        return True
    if _LEFT_OUT.search(flat):
        at, whole = 0, "".join(real).replace(" ", "")
        for part in (piece.replace(" ", "") for piece in _LEFT_OUT.split(flat)):
            found = whole.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return True
    rest = iter(real)
    return bool(want) and all(any(line == other for other in rest) for line in want)


def _in_short(text: str) -> str:
    """Shorten classes as pages do, from ``<class '__main__.A'>`` to ``A``, and remove addresses."""
    return without_addresses(_MAIN.sub("", _CLASS.sub(r"\1", text)))


def without_addresses(text: str) -> str:
    return _ADDRESS.sub("at 0x0", text)


# -- values


def _values(text: str) -> list[object] | None:
    """Return the values that a text shows, normalised for comparison with ``==``, or None if it shows anything else."""
    tree = python_of(text.strip())
    if tree is None or not tree.body or not all(isinstance(one, ast.Expr) for one in tree.body):
        return None
    try:
        return [_form(one.value) for one in tree.body if isinstance(one, ast.Expr)]
    except RecursionError:
        return None


def _form(node: object) -> object:
    """Convert a syntax tree to nested tuples that distinguish types but ignore the order of mappings and sets."""
    if isinstance(node, ast.Constant):
        return type(node.value).__name__, node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return (type(value).__name__, -value) if isinstance(value, int | float | complex) else ("-", value)
    if isinstance(node, ast.Dict):
        pairs = [(_form(key), _form(value)) for key, value in zip(node.keys, node.values, strict=True)]
        return "Dict", tuple(sorted(pairs, key=repr))
    if isinstance(node, ast.Set):
        return "Set", tuple(sorted((_form(one) for one in node.elts), key=repr))
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and (pairs := _pairs(node.args[0])):
        # Python 3.12 changed ``OrderedDict([('a', 1)])`` to ``OrderedDict({'a': 1})``.
        return "Call", _form(node.func), (("Dict", tuple(sorted(pairs, key=repr))),), ()
    if isinstance(node, ast.AST):
        fields = (value for name, value in ast.iter_fields(node) if name not in ("ctx", "kind"))
        return (type(node).__name__, *(_form(value) for value in fields))
    return tuple(_form(one) for one in node) if isinstance(node, list) else node


def _pairs(node: ast.expr) -> list[tuple[object, object]]:
    elements = node.elts if isinstance(node, ast.List) else []
    pairs = [one.elts for one in elements if isinstance(one, ast.Tuple) and len(one.elts) == 2]
    return [(_form(key), _form(value)) for key, value in pairs] if len(pairs) == len(elements) else []


def _shows(wanted: Sequence[object], shown: Sequence[object]) -> bool:
    rest = iter(shown)
    return all(any(_equal(value, other) for other in rest) for value in wanted)


def _equal(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return _close(one, other) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, str) and isinstance(other, str):
        return one == other or _same_but_fractions(one, other)
    return one == other


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-6)


# -- text


def _texts_agree(claimed: str, real: str) -> bool:
    want, got = _flat(claimed), _flat(real)
    if want == got or _same_but_fractions(want, got) or (_LEFT_OUT.search(claimed) and _fits(claimed, got)):
        return True
    if _sorted(want) == _sorted(got):
        return True
    lines = iter([_flat(line) for line in real.splitlines()])
    return all(any(_flat(line) == other for other in lines) for line in claimed.splitlines() if line.strip())


def _flat(text: str) -> str:
    text = _RULER.sub("---", text.replace("optional arguments:", "options:")).replace('"', "'")
    return re.sub(r",(?=[\])}])", "", re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(text.split())))


def _fits(claimed: str, got: str) -> bool:
    pieces = [_flat(piece) for piece in _LEFT_OUT.split(claimed)]
    at = 0
    for number, piece in enumerate(pieces):
        begins = r"(?<![\w.-])" if number == 0 and piece[:1].isalnum() else ""
        # A float may have more digits than the page shows, so compare only those shown.
        whole = number == len(pieces) - 1 and piece[-1:].isalnum() and not re.search(r"\d\.\d+$", piece)
        found = re.compile(begins + re.escape(piece) + (r"(?!\w)" if whole else "")).search(got, at)
        if found is None:
            return False
        at = found.end()
    return True


def _sorted(text: str) -> object:
    if text.startswith("{") and text.endswith("}"):
        return Counter(text[1:-1].split(","))
    return _BRACES.sub(lambda found: "{" + ",".join(sorted(found[1].split(","))) + "}", text)


def _same_but_fractions(want: str, real: str) -> bool:
    one, other = _FLOAT.findall(want), _FLOAT.findall(real)
    if not one or len(one) != len(other) or _FLOAT.sub("#", want) != _FLOAT.sub("#", real):
        return False
    return all(_close(float(a), float(b)) for a, b in zip(one, other, strict=True))


# -- values that depend on the machine or the time


def _as_the_page(claimed: str, real: str) -> str:
    """Replace this machine's folders and times close to now with the page's wording."""
    for pattern, unstable in _UNSTABLE:
        wanted = [found[0] for found in pattern.finditer(claimed)]
        shown = [found[0] for found in pattern.finditer(real)]
        if len(wanted) == len(shown):
            words = iter([stated if unstable(here) else here for stated, here in zip(wanted, shown, strict=True)])
            real = pattern.sub(lambda _: next(words), real)  # noqa: B023 - used at once
    return real


def _is_about_now(text: str) -> bool:
    now = datetime.datetime.now(datetime.UTC)
    if text[0].isalpha():
        return text[:3] in (f"{now:%a}", f"{now:%b}")
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    if len(numbers) > 2 and numbers[0] > 1000:
        with contextlib.suppress(ValueError):
            return abs((datetime.date(*numbers[:3]) - now.date()).days) <= _DAYS
        return False
    minutes = abs(numbers[0] * 60 + numbers[1] - now.hour * 60 - now.minute)
    return min(minutes, 24 * 60 - minutes) <= _MINUTES


def _is_of_the_check(path: str) -> bool:
    return path.startswith(("/home/sandbox", "/tmp/", "/dev/", "/usr/")) or "/checked/" in path


_NAMES_OF_DAYS = "|".join([*calendar.day_name, *calendar.day_abbr])
_NAMES_OF_MONTHS = "|".join([*calendar.month_name[1:], *calendar.month_abbr[1:]])
#: Patterns for values that may vary by day or machine, each with a test that accepts or rejects a match.
_UNSTABLE: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (re.compile(r"\b\d{4}(-|/|, )\d{1,2}\1\d{1,2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"), _is_about_now),
    (re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\b"), _is_about_now),
    (re.compile(rf"\b(?:{_NAMES_OF_DAYS})\b"), _is_about_now),
    (re.compile(rf"\b(?:{_NAMES_OF_MONTHS})\b"), _is_about_now),
    (re.compile(r"(?<![\w/:])(?:[A-Za-z]:)?(?:[~.]{0,2}[/\\]+[\w.@+-]+){2,}[/\\]?|~[/\\][\w./\\-]+"), _is_of_the_check),
)  # fmt: skip
