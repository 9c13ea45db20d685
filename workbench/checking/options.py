"""Claims about the project's commands, subcommands and options."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping

from packaging.utils import canonicalize_name

from workbench.base import python_syntax
from workbench.checking.blocks import Lookup, shell_lines
from workbench.claims import known
from workbench.claims.claim import CheckedClaim
from workbench.claims.page import Page, Span
from workbench.claims.project import ProjectIndex
from workbench.claims.python import literal_of, python_of
from workbench.claims.shell import simple_commands
from workbench.claims.similarity import nearest, slip_of

LONG_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*(?![\w…-])")
_DERIVING = re.compile(
    rb"\b(?:import|from)\s+(?:typer|fire|cyclopts|tyro|defopt|jsonargparse|simple_parsing|clize|plac|docopt|pydantic_settings|hydra|absl)\b"
)

_PLAIN_WORDS = (
    "python test true false file time date type copy start open set sort find make which source more less read go just head "
    "cut dir code install watch top clear export split"
)
#: Programs with names that are English words, so that prose may contain them.
_WORDS = frozenset(_PLAIN_WORDS.split())
#: Matches a program that accepts options it does not declare.
_PASSING = re.compile(
    rb"parse_known_(?:intermixed_)?args|REMAINDER|ignore_unknown_options|allow_extra_args|parse_unknown"
)


class OptionClaims(Lookup):
    """Claims on one page about commands and options."""

    def __init__(self, page: Page, project: ProjectIndex, helps: Mapping[str, str]) -> None:
        super().__init__(page, project)
        self._helps = helps
        self._commands = frozenset({*project.declared.scripts, *(name.split()[0] for name in helps)})
        self._in_help = frozenset(flag for text in helps.values() for flag in LONG_OPTION.findall(text))
        self._stated = frozenset(name for option in project.options for name in option.names)
        self._known = self._in_help | {name for name in self._stated if name.startswith("--")}
        # A page about declaring options invents options for its examples, which are therefore never untrue.
        self._shown = frozenset(re.findall(r"['\"](--[A-Za-z][\w-]*)['\"]", self.page.text))

    def all(self) -> Iterator[CheckedClaim]:
        for line, text in shell_lines(self.page, self.project, self._commands):
            yield from self._command(text, line)
        for span in self.page.spans:
            yield from self._span(span)

    def _command(self, text: str, line: int) -> Iterator[CheckedClaim]:
        for words in simple_commands(text) or ():
            here = line + text[: max(0, text.find(words[0]))].count("\n")
            if words[0] in self._commands:
                yield self.true(here, "command", words[0])
                yield from self._words(words[0], words[1:], text, line)
            elif (
                words[0].startswith("python")
                and len(words) > 2
                and words[1] == "-m"
                and words[2].split(".")[0] in self.project.modules
            ):
                yield from self._words("", words[3:], text, line)
            else:
                yield from self._dead(words[0], here)

    def _dead(self, name: str, line: int) -> Iterator[CheckedClaim]:
        names = (*self._commands, self.project.declared.name, *self.project.modules)
        own = {canonicalize_name(one) for one in names if len(one) > 2}
        name = name.removesuffix(".exe")
        if name in self._commands:
            return
        if not re.fullmatch(r"[a-z][\w.-]+", name) or name in known.PROGRAMS or known.FILE.fullmatch(name):
            return
        near = nearest(name, self._commands, 0.7)
        begins = any(canonicalize_name(name).startswith(f"{one}-") for one in own) and near[0]
        if not (canonicalize_name(name) in own or begins or slip_of(canonicalize_name(name), own)):
            return
        made = rb"scripts" in self.project.sources.get("setup.py", b"") and not (
            self._helps or self.project.declared.scripts
        )
        if (
            not self._commands
            or made
            or (canonicalize_name(name) in own and not any(self._helps.values()))
            or name in self.project.folders
        ):
            yield self.unknown(line, "command", name, "the project's commands cannot be read")
            return
        near = near if near[0] else nearest(name, self._commands, 0.5)
        yield self.untrue(line, "command", name, f"the project has no command {name}", *near)

    def _words(self, command: str, words: list[str], text: str, line: int) -> Iterator[CheckedClaim]:
        helps = [text for name, text in self._helps.items() if not command or name.split()[0] == command]
        in_help = {flag for text in helps for flag in LONG_OPTION.findall(text)}
        positional = False
        subcommands = {name.split()[1] for name in self._helps if " " in name and name.split()[0] == command}
        if words and subcommands and re.fullmatch(r"[a-z][\w-]*", words[0]):
            yield from self._subcommand(command, words[0], subcommands, line)
        for number, word in enumerate(words):
            if word == "--":
                return
            flag = word.partition("=")[0]
            if LONG_OPTION.fullmatch(flag):
                here = line + text[: max(0, text.find(flag))].count("\n")
                yield self._option(flag, here, in_help, sure=bool(in_help) and not positional)
            elif not word.startswith("-") and not (number == 0 and word in subcommands):
                positional = True

    def _subcommand(self, command: str, name: str, subcommands: set[str], line: int) -> Iterator[CheckedClaim]:
        if name in subcommands or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self._helps.get(command, "")):
            yield self.true(line, "command", f"{command} {name}")
            return
        near = slip_of(name, subcommands)
        if near and not self.project.occurs(name):
            yield self.untrue(line, "command", name, f"{command} has no command {name}", near, True)
        else:
            yield self.unknown(line, "command", f"{command} {name}", "it may be an argument")

    def _option(self, flag: str, line: int, in_help: set[str], *, sure: bool) -> CheckedClaim:
        if flag in in_help or flag in ("--help", "--version") or flag in self.project.flags or flag in self._in_help:
            return self.true(line, "option", flag)
        if sum(one.startswith(flag) for one in self._known) == 1:
            return self.true(line, "option", flag, "it is a prefix of a command")
        near = nearest(flag, self._known, 0.75)
        derived = not in_help and _DERIVING.search(self.project.code) is not None
        if not self._known or derived:
            return self.unknown(line, "option", flag, "the options of the project cannot be read")
        suggestion = slip_of(flag, self._known)
        if not suggestion and _PASSING.search(self.project.code):
            return self.unknown(line, "option", flag, "the project accepts options that it does not declare")
        if not (suggestion or sure or any(one.startswith(flag) for one in self._known)):
            return self.unknown(line, "option", flag, "it may belong to another program")
        return self.untrue(line, "option", flag, f"there is no option {flag}", *near)

    # -- running text

    def _span(self, span: Span) -> Iterator[CheckedClaim]:
        text = span.text.strip().removeprefix("$ ")
        first = text.split()[0] if text.split() else ""
        if first in self._commands and " " in text:
            yield from self._command(text, span.line)
            return
        if not first.startswith("-"):
            return
        others = {word for word in re.findall(r"[\w-]+", span.around) if word in known.PROGRAMS and word not in _WORDS}
        for flag in LONG_OPTION.findall(text):
            if flag in self._known or flag in self.project.flags:
                yield self.true(span.line, "option", flag)
                continue
            if flag in self._shown:
                yield self.unknown(span.line, "option", flag, "an example of the page declares it")
                continue
            near = nearest(flag, self._known)
            if any(one.startswith(flag) for one in self._known):
                yield self.unknown(span.line, "option", flag, f"it is a prefix of {near[0] or 'one'}")
            elif (
                slip_of(flag, self._known)
                and not others
                and not (_DERIVING.search(self.project.code) and not self._in_help)
            ):
                yield self.untrue(span.line, "option", flag, f"there is no option {flag}", *near)
            else:
                yield self.unknown(span.line, "option", flag, "it may belong to another program")


_DEFAULT = re.compile(
    r"\bdefaults?(?:\s+(?:is|to|value|of))*\s*[:=]?\s*(?:`(?P<code>[^`\n]{1,60})`|(?P<q>[\"'])(?P<quoted>[^`\"'\n]{1,60})(?P=q)|"
    r"(?P<bare>-?\d+(?:\.\d+)?(?![\w.]*\w)|(?-i:True|False|None)\b))(?!,?\s+(?:if|when|unless|for|on|in|or|otherwise)\b)",
    re.I,
)
#: Words that may describe a value of another type, or a computed value.
_VAGUE = frozenset(
    {
        "none", "auto", "off", "on", "false", "true", "no", "yes", "current", "stdout", "stdin", "empty", "all", "required", "unset",
        "optional", "disabled", "enabled",
    }
)  # fmt: skip
#: A default that belongs to something else in the row: ``--silent`` sets ``verbose=False`` (default ``True``).
_OF_ANOTHER = re.compile(r"`\w+\s*=[^`]*`.*\bdefault|\bwhose\s+default", re.I)
_NO_DEFAULT = re.compile(r"\b(?:previous|formerly|was|used to|before|old)\b", re.I)
#: A parameter in a code span at the start of a list entry or table row, with or without its type.
_PARAMETER = re.compile(
    r"^\s*(?:[-*+]\s+|\|\s*|\d+\.\s+)?\**`(?P<name>[A-Za-z_]\w{2,})(?:\s*:[^`]*)?`(?!\s*(?:/|,|&|and|or)\s*`)"
)
#: A parameter in a sentence, immediately before its default.
_IN_A_SENTENCE = re.compile(
    r"`(?P<name>[A-Za-z_]\w{2,})`(?:\s+(?:parameter|argument|keyword))?(?:\s+of\s+`[^`]+`)?(?:,?\s+which)?\s+\(?defaults?\b",
    re.I,
)


class DefaultClaims(Lookup):
    """Claims on one page about default values."""

    def all(self) -> Iterator[CheckedClaim]:
        options: dict[str, set[str]] = {}
        lines = self.page.text.splitlines()
        for option in self.project.options:
            for name in option.names:
                options.setdefault(name, set()).add(option.default)
        for first, written in self.page.prose:
            column = _default_column(lines, first)
            for offset, row in enumerate(written.split("\n")):
                flags = set(LONG_OPTION.findall(row))
                # A default that precedes an option belongs to another option.
                after = row[max(row.find(flag) for flag in flags) :] if flags and column is None else row
                if (
                    _NO_DEFAULT.search(row)
                    or _OF_ANOTHER.search(after)
                    or not (stated := _stated_default(after, column))
                ):
                    continue
                if len(flags) == 1 and (flag := flags.pop()) in options:
                    yield self._compared(flag, stated, first + offset, options[flag])
                elif not flags and (found := _PARAMETER.match(row) or _only_one(_IN_A_SENTENCE, row)):
                    name = found["name"]
                    if values := self._of_parameter(name):
                        yield self._compared(name, stated, first + offset, values)
        for span in self.page.spans:
            # Inside a sentence, a code span may be a call rather than a signature.
            if re.match(rf"\s*(?:#{{1,6}}\s+|[-*+]\s+|\|\s*)?\**`{re.escape(span.text)}`", span.around):
                yield from self._signature(span.text.strip(), span.line)

    def _of_parameter(self, name: str) -> set[str]:
        """Return the defaults of a parameter in functions that the page names; "" marks an unreadable default."""
        return {
            default
            for owner, default in self.project.defaults_of(name)
            if re.search(rf"(?<!\w){re.escape(owner)}(?!\w)", self.page.text)
        }

    def _signature(self, text: str, line: int) -> Iterator[CheckedClaim]:
        """Yield the defaults in a signature: a call that names the function's parameters as its first arguments."""
        tree = python_of(text) if text.endswith(")") else None
        call = tree.body[0].value if tree and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else None
        if not isinstance(call, ast.Call) or not call.args:
            return
        owner = ast.unparse(call.func).split(".")[-1]
        names = [one.id if isinstance(one, ast.Name) else "" for one in call.args]
        known = self.project.parameters_named(owner)
        if known is None or names != [one for one in known if one not in ("self", "cls")][: len(names)]:
            return
        for keyword in call.keywords:
            values = {value for one, value in self.project.defaults_of(keyword.arg or "") if one == owner}
            stated = (literal_of(keyword.value) and ast.get_source_segment(text, keyword.value)) or ""
            # A call that sets a single switch can look like a signature, so require more evidence.
            if stated and values and (stated not in ("True", "False") or len(call.keywords) > 1 or {stated} == values):
                yield self._compared(keyword.arg or "", stated, line, values)

    def _compared(self, name: str, stated: str, line: int, real: set[str]) -> CheckedClaim:
        of_option, both = name.startswith("-"), f"{name} {stated}"
        if any(value and _same(stated, value, of_option=of_option) for value in real):
            return self.true(line, "default", both)
        if len(real) != 1 or not (value := next(iter(real))):
            return self.unknown(line, "default", both, "its default cannot be read")
        # Quote a string if the page does so.
        shown = value if stated.startswith(("'", '"')) else str(ast.literal_eval(value))
        if _same(stated, value, of_option=of_option) is None:
            return self.unknown(line, "default", both, f"its default is written as {shown}")
        return self.untrue(line, "default", stated, f"the default of {name} is {shown}", shown, True)


def _stated_default(row: str, column: int | None) -> str:
    found = _DEFAULT.search(row)
    if stated := found and (found["code"] or found["quoted"] or found["bare"]):
        return str(stated).strip()
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    cell = cells[column] if column is not None and column < len(cells) else ""
    return cell.strip("` ") if cell.startswith("`") else cell.strip("\"' ")


def _only_one(pattern: re.Pattern[str], row: str) -> re.Match[str] | None:
    return pattern.search(row) if len(re.findall(r"\bdefault", row, re.I)) == 1 else None


def _default_column(lines: list[str], line: int) -> int | None:
    """Return the index of the *default* column in the table around ``line``, or None if there is no such column."""
    at = line - 1
    if at >= len(lines) or "|" not in lines[at]:
        return None
    while at > 0 and "|" in lines[at - 1]:
        at -= 1
    heads = [cell.strip().lower() for cell in lines[at].strip().strip("|").split("|")]
    return next((number for number, head in enumerate(heads) if re.fullmatch(r"defaults?(?: value)?", head)), None)


def _same(text: str, real: str, *, of_option: bool) -> bool | None:
    """Return whether a stated default equals the real one (a Python literal), or None if they cannot be compared."""
    value, stated, words = ast.literal_eval(real), _literal(text), text.strip("`\"' ")
    if words == str(value) or (stated is not None and stated == value and type(stated) is type(value)):
        # Command-line arguments are strings, so a quoted number is acceptable for an option.
        return of_option or not isinstance(stated, str) or isinstance(value, str)
    if value is None:
        return None  # the real value is computed at run time
    if isinstance(value, bool):
        switch = {"true": True, "false": False}.get(words.lower())
        same = {"on": True, "yes": True, "off": False, "no": False}.get(words.lower()) == value
        return switch == value if switch is not None else True if same else False if text == "None" else None
    if text == "None":
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
