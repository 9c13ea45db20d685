"""What a page says of defaults: of options of the command line, and of parameters of Python."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from workbench import python_syntax
from workbench.checking.declared_options import literal_of
from workbench.checking.kinds import python_of
from workbench.checking.option_claims import LONG_OPTION
from workbench.checking.page import Page
from workbench.checking.project import Project
from workbench.checking.verdicts import ClaimResult, Truth

_DEFAULT = re.compile(
    r"\bdefaults?(?:\s+(?:is|to|value|of))*\s*[:=]?\s*(?:`(?P<code>[^`\n]{1,60})`|(?P<q>[\"'])(?P<quoted>[^`\"'\n]{1,60})(?P=q)|"
    r"(?P<bare>-?\d+(?:\.\d+)?(?![\w.]*\w)|(?-i:True|False|None)\b))(?!,?\s+(?:if|when|unless|for|on|in|or|otherwise)\b)",
    re.I,
)
#: A word that may stand for a value of another kind, or for what is worked out.
_VAGUE = frozenset(
    {
        "none", "auto", "off", "on", "false", "true", "no", "yes", "current", "stdout", "stdin", "empty", "all", "required", "unset",
        "optional", "disabled", "enabled",
    }
)  # fmt: skip
#: A default of something else than what begins the row: ``--silent`` sets ``verbose=False``, whose default is ``True``.
_OF_ANOTHER = re.compile(r"`\w+\s*=[^`]*`.*\bdefault|\bwhose\s+default", re.I)
_NO_DEFAULT = re.compile(r"\b(?:previous|formerly|was|used to|before|old)\b", re.I)
#: A parameter at the beginning of an entry of a list or of a row of a table, in code, with or without its type.
_PARAMETER = re.compile(
    r"^\s*(?:[-*+]\s+|\|\s*|\d+\.\s+)?\**`(?P<name>[A-Za-z_]\w{2,})(?:\s*:[^`]*)?`(?!\s*(?:/|,|&|and|or)\s*`)"
)
#: A parameter in a sentence, directly before what it defaults to.
_IN_A_SENTENCE = re.compile(
    r"`(?P<name>[A-Za-z_]\w{2,})`(?:\s+(?:parameter|argument|keyword))?(?:\s+of\s+`[^`]+`)?(?:,?\s+which)?\s+\(?defaults?\b",
    re.I,
)


class DefaultClaims:
    """The claims of one page."""

    def __init__(self, page: Page, project: Project) -> None:
        self._page, self._project = page, project
        self._lines = page.text.splitlines()

    def all(self) -> Iterator[ClaimResult]:
        options: dict[str, set[str]] = {}
        for option in self._project.options:
            for name in option.names:
                options.setdefault(name, set()).add(option.default)
        for first, written in self._page.prose:
            column = _default_column(self._lines, first)
            for offset, row in enumerate(written.split("\n")):
                flags = set(LONG_OPTION.findall(row))
                # What stands before an option is the default of another one.
                after = row[max(row.find(flag) for flag in flags) :] if flags and column is None else row
                if _NO_DEFAULT.search(row) or _OF_ANOTHER.search(after) or not (said := _said(after, column)):
                    continue
                if len(flags) == 1 and (flag := flags.pop()) in options:
                    yield self._compared(flag, said, first + offset, options[flag])
                elif not flags and (found := _PARAMETER.match(row) or _only_one(_IN_A_SENTENCE, row)):
                    name = found["name"]
                    if values := self._of_parameter(name):
                        yield self._compared(name, said, first + offset, values)
        for span in self._page.spans:
            # In the middle of a sentence it may be a call.
            if re.match(rf"\s*(?:#{{1,6}}\s+|[-*+]\s+|\|\s*)?\**`{re.escape(span.text)}`", span.around):
                yield from self._signature(span.text.strip(), span.line)

    def _of_parameter(self, name: str) -> set[str]:
        """Return the defaults of a parameter in what the page names; "" stands for one that cannot be read."""
        return {
            default
            for owner, default in self._project.defaults_of(name)
            if re.search(rf"(?<!\w){re.escape(owner)}(?!\w)", self._page.text)
        }

    def _signature(self, text: str, line: int) -> Iterator[ClaimResult]:
        """Yield the defaults of a signature: a call whose first arguments are called as the function's parameters are."""
        tree = python_of(text) if text.endswith(")") else None
        call = tree.body[0].value if tree and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
        if not isinstance(call, ast.Call) or not call.args:
            return
        owner = ast.unparse(call.func).split(".")[-1]
        names = [one.id if isinstance(one, ast.Name) else "" for one in call.args]
        known = self._project.parameters_named(owner)
        if known is None or names != [one for one in known if one not in ("self", "cls")][: len(names)]:
            return
        for keyword in call.keywords:
            values = {value for one, value in self._project.defaults_of(keyword.arg or "") if one == owner}
            said = (literal_of(keyword.value) and ast.get_source_segment(text, keyword.value)) or ""
            # A call that turns a switch on looks the same.
            if said and values and (said not in ("True", "False") or len(call.keywords) > 1 or {said} == values):
                yield self._compared(keyword.arg or "", said, line, values)

    def _compared(self, name: str, said: str, line: int, real: set[str]) -> ClaimResult:
        def claim(text: str, truth: Truth, reason: str = "", near: str = "", exact: bool = False) -> ClaimResult:
            return ClaimResult(self._page.path, line, "default", text, truth, reason, near, exact)

        of_option = name.startswith("-")
        if any(value and _same(said, value, of_option=of_option) for value in real):
            return claim(f"{name} {said}", Truth.TRUE)
        if len(real) != 1 or not (value := next(iter(real))):
            return claim(f"{name} {said}", Truth.UNKNOWN, "its default cannot be read")
        # A text stands in quotes where the page has it so.
        shown = value if said.startswith(("'", '"')) else str(ast.literal_eval(value))
        if _same(said, value, of_option=of_option) is None:
            return claim(f"{name} {said}", Truth.UNKNOWN, f"its default is written as {shown}")
        return claim(said, Truth.UNTRUE, f"the default of {name} is {shown}", shown, True)


def _said(row: str, column: int | None) -> str:
    found = _DEFAULT.search(row)
    if said := found and (found["code"] or found["quoted"] or found["bare"]):
        return str(said).strip()
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    cell = cells[column] if column is not None and column < len(cells) else ""
    return cell.strip("` ") if cell.startswith("`") else cell.strip("\"' ")


def _only_one(pattern: re.Pattern[str], row: str) -> re.Match[str] | None:
    return pattern.search(row) if len(re.findall(r"\bdefault", row, re.I)) == 1 else None


def _default_column(lines: list[str], line: int) -> int | None:
    """Return the column of a table that is headed *default*, for a row at ``line``; None for no table."""
    at = line - 1
    if at >= len(lines) or "|" not in lines[at]:
        return None
    while at > 0 and "|" in lines[at - 1]:
        at -= 1
    heads = [cell.strip().lower() for cell in lines[at].strip().strip("|").split("|")]
    return next((number for number, head in enumerate(heads) if re.fullmatch(r"defaults?(?: value)?", head)), None)


def _same(said: str, real: str, *, of_option: bool) -> bool | None:
    """Return whether a stated default is the real one, a literal of Python; None where the two cannot be compared."""
    value, stated, words = ast.literal_eval(real), _literal(said), said.strip("`\"' ")
    if words == str(value) or (stated is not None and stated == value and type(stated) is type(value)):
        # What a command line takes is text, so that there a number may stand in quotes.
        return of_option or not isinstance(stated, str) or isinstance(value, str)
    if value is None:
        return None  # what takes its place is worked out later
    if isinstance(value, bool):
        switch = {"true": True, "false": False}.get(words.lower())
        same = {"on": True, "yes": True, "off": False, "no": False}.get(words.lower()) == value
        return switch == value if switch is not None else True if same else False if said == "None" else None
    if said == "None":
        return None if value in ("", (), [], {}) else False
    if isinstance(stated, bool):
        return None if isinstance(value, str) else False
    if isinstance(value, str | bytes | list | tuple | dict) and type(stated) is type(value):
        return False
    try:
        return math.isclose(float(words), float(str(value)))
    except ValueError:
        pass
    if re.fullmatch(r"[A-Za-z][\w-]*", words) and re.fullmatch(r"[A-Za-z][\w-]*", str(value)):
        same = words.lower() == str(value).lower()
        return True if same else None if {words.lower(), str(value).lower()} & _VAGUE else False
    return None


def _literal(text: str) -> object:
    try:
        return python_syntax.literal(text)
    except python_syntax.UNREADABLE:
        return None
