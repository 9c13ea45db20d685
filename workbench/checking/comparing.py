"""Whether what a program printed is what a page says that it prints, with what differs from machine to machine forgiven."""

from __future__ import annotations

import contextlib
import difflib
import functools
import math
import platform
import re
from collections import Counter
from collections.abc import Sequence

from workbench import python_syntax
from workbench.text import clean

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
_COMMENT = re.compile(r"(?:[ \t]+|^)#[ \t].*$", re.M)  # a remark of the page's on what is printed
_REMARK = re.compile(r"^[ \t]*(?:#|//)[ \t].*$\n?", re.M)  # a line that is one
_CLASS = re.compile(r"<class '([\w.]+)'>")
_MAIN = re.compile(r"\b__main__\.")
_BRACES = re.compile(r"\{([^{}:]*)\}")
_MOST = 20_000


def shell_difference(claimed: str, stdout: str, stderr: str = "") -> tuple[str, ...]:
    """Return the lines of a difference between claimed and real output of a command, empty where they agree.

    Numbers, times, addresses and paths are forgiven, white space and the order of lines make no difference, an ellipsis stands
    for anything, and a page may show only some of the lines and remarks of its own.
    """
    want = _lines(claimed, numbers=True)
    for real in (stdout, stderr, f"{stdout}\n{stderr}", f"{stderr}\n{stdout}"):
        if _agree(want, _lines(real, numbers=True)):
            return ()
    if _same_value(claimed, stdout) or (len(want) > 1 and sorted(want) == sorted(_lines(stdout, numbers=True))):
        return ()
    remarked = _REMARK.sub("", claimed)
    if remarked.strip() and remarked != claimed:
        return shell_difference(remarked, stdout, stderr)
    return difference(claimed, stdout if stdout.strip() else stderr)


def doctest_difference(want: str, got: str) -> tuple[str, ...]:
    """Return the lines of a difference of an example in a Python session, empty where they agree.

    Whole numbers count here, as an example states a value; times, addresses and paths are forgiven, and the last digits of a
    fraction.
    """
    if not want.strip() and got.strip() and got.strip() != "None":
        return ()  # a page may leave out what an expression shows
    if want.strip() == "None" and not got.strip():
        return ()  # a session shows nothing where a page may say that it is None
    want, got = want.replace("<BLANKLINE>", ""), got.replace("<BLANKLINE>", "")
    if (mapped := _as_mapping(got)) != got and not doctest_difference(want, mapped):
        return ()
    wanted, real = _lines(want, numbers=False), _lines(got, numbers=False)
    uncommented = _lines(_COMMENT.sub("", want), numbers=False)
    if uncommented == real or (uncommented and _agree(_in_short(uncommented), _in_short(real))):
        return ()
    if _agree(wanted, real) or _same_but_fractions(" ".join(wanted), " ".join(real)):
        return ()
    if _same_value(want, got) or _same_but_order(want, got):
        return ()
    if "'".join(want.split('"')).split() == "'".join(got.split('"')).split():
        return ()
    return difference(want, got)


def difference(claimed: str, real: str) -> tuple[str, ...]:
    """Return a short unified difference."""
    old, new = (clean(text).rstrip("\n").splitlines()[:200] for text in (claimed, real))
    lines = list(difflib.unified_diff(old, new, "claimed", "real", lineterm="", n=1))
    return tuple(line[:200] for line in lines[2:22])


def of_one_kind(claimed: str, real: str) -> bool:
    """Tell whether one output may be meant for the other: values of one type, or texts that have half of their signs in common."""
    if not claimed.strip() or not real.strip():
        return False
    try:
        one, other = python_syntax.literal(claimed.strip()), python_syntax.literal(real.strip())
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, LookupError):
        words = alike(claimed, real)
        signs = difflib.SequenceMatcher(None, claimed[:2000].split(), real[:2000].split(), autojunk=False).ratio()
        close = difflib.SequenceMatcher(None, claimed.strip()[:400], real.strip()[:400], autojunk=False).ratio()
        return max(words, signs, close) >= 0.5
    return type(one) is type(other)


def of_the_machine(claimed: str, real: str) -> str:
    """Return the first word of an output, and of none of the page's, that names the machine or its system; "" if there is none."""
    there, other = (set(re.findall(r"[\w.-]{4,}", text.lower())) for text in (real, claimed))
    return min((there - other) & _machine(), default="")


@functools.cache
def _machine() -> frozenset[str]:
    """Return the words by which this machine, which is the sandbox's as well, tells of itself."""
    said = [platform.node(), platform.release(), platform.version(), platform.machine(), platform.platform()]
    with contextlib.suppress(OSError):
        system = platform.freedesktop_os_release()
        said += [system.get(key, "") for key in ("NAME", "PRETTY_NAME", "ID", "VERSION", "VERSION_CODENAME")]
    words = {word.lower() for text in said for word in re.findall(r"[\w.-]{4,}", text)}
    return frozenset(words - {"linux", "version", "release", "rolling", "stable"})


def alike(claimed: str, real: str) -> float:
    """Return how alike two outputs are, from 0 to 1, by their words."""
    one, other = " ".join(_lines(claimed, numbers=True)).split(), " ".join(_lines(real, numbers=True)).split()
    return difflib.SequenceMatcher(None, one[:2000], other[:2000], autojunk=False).ratio()


def _lines(text: str, *, numbers: bool) -> list[str]:
    text = clean(text)[:_MOST]
    for pattern, stands in _FORGIVEN:
        text = pattern.sub(stands, text)
    if numbers:
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


def _in_short(lines: Sequence[str]) -> list[str]:
    """Return lines with classes as pages abbreviate them: ``<class '__main__.A'>`` is ``A``."""
    return [_MAIN.sub("", _CLASS.sub(r"\1", line)) for line in lines]


def _same_value(want: str, got: str) -> bool:
    """Tell whether two texts show the same value: a page lays a dictionary out, in an order of its own, as no Python does."""
    try:
        return bool(python_syntax.literal(want.strip()) == python_syntax.literal(got.strip()))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, LookupError):
        pass
    # A mapping or set has no order of its own; other values only where a page lays them out over several lines.
    laid_out = want.lstrip().startswith(("{", "[", "(")) and len(want.strip().splitlines()) > 1
    unordered = want.strip()[:1] == got.strip()[:1] == "{"
    return (laid_out or unordered) and Counter(re.findall(r"\w+", want)) == Counter(re.findall(r"\w+", got))


#: How a mapping of a class of its own shows itself from Python 3.12 on, and before.
_PAIRS = re.compile(r"\b([A-Z]\w*)\(\[(.*)\]\)", re.S)
_PAIR = re.compile(r"\(('(?:[^'\\]|\\.)*'), ((?:[^()\[\]]|\[[^\[\]]*\]|\([^()]*\))*)\)")


def _as_mapping(text: str) -> str:
    """Return a text with ``OrderedDict([('a', 1)])`` as ``OrderedDict({'a': 1})``: which of the two is shown depends on Python."""
    return _PAIRS.sub(lambda found: found[1] + "({" + _PAIR.sub(r"\1: \2", found[2]) + "})", text)


def _same_but_order(want: str, got: str) -> bool:
    """Tell whether two texts are the same but for the order in braces, in which a set has none, and the kind of quotes."""

    def ordered(text: str) -> str:
        plain = " ".join(text.replace('"', "'").split())
        return _BRACES.sub(lambda found: "{" + ", ".join(sorted(re.split(r",\s*", found[1].strip(" ,")))) + "}", plain)

    return "{" in want and ordered(want) == ordered(got)


def _same_but_fractions(want: str, real: str) -> bool:
    one, other = _FLOAT.findall(want), _FLOAT.findall(real)
    if not one or len(one) != len(other) or _FLOAT.sub("#", want) != _FLOAT.sub("#", real):
        return False
    return all(math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=1e-6) for a, b in zip(one, other, strict=True))
