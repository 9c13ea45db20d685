"""What a page says of the project's command lines: commands, subcommands and options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench.checking.kinds import commands_of, kind_of, simple_commands
from workbench.checking.nearest import nearest, slip_of
from workbench.checking.page import Page, Span
from workbench.checking.project import Project
from workbench.checking.verdicts import ClaimResult, Truth
from workbench.grounding import known

LONG_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*(?![\w…-])")
_DERIVING = re.compile(
    rb"\b(?:import|from)\s+(?:typer|fire|cyclopts|tyro|defopt|jsonargparse|simple_parsing|clize|plac|docopt|pydantic_settings|hydra|absl)\b"
)

#: A program that takes options which it does not name, for another program or as it likes.
_PASSING = re.compile(
    rb"parse_known_(?:intermixed_)?args|REMAINDER|ignore_unknown_options|allow_extra_args|parse_unknown"
)


class OptionClaims:
    """The claims of one page."""

    def __init__(self, page: Page, project: Project, helps: Mapping[str, str]) -> None:
        self._page, self._project, self._helps = page, project, helps
        self._commands = frozenset({*project.declared.scripts, *(name.split()[0] for name in helps)})
        self._told = frozenset(flag for text in helps.values() for flag in LONG_OPTION.findall(text))
        self._stated = frozenset(name for option in project.options for name in option.names)
        self._known = self._told | {name for name in self._stated if name.startswith("--")}
        # A page on how options are declared has some of its own.
        self._shown = frozenset(re.findall(r"['\"](--[A-Za-z][\w-]*)['\"]", self._page.text))

    def all(self) -> Iterator[ClaimResult]:
        """Yield every claim."""
        for code in self._page.codes:
            if not code.skip and kind_of(code, self._project.modules, self._commands) in (
                "shell",
                "session",
                "install",
            ):
                for command in commands_of(code.code):
                    yield from self._command(command.text, code.line + command.line)
        for span in self._page.spans:
            yield from self._span(span)

    def _claim(
        self, line: int, kind: str, text: str, truth: Truth, reason: str = "", near: tuple[str, bool] = ("", False)
    ) -> ClaimResult:
        return ClaimResult(self._page.path, line, kind, text, truth, reason, *near)

    def _command(self, text: str, line: int) -> Iterator[ClaimResult]:
        for words in simple_commands(text) or ():
            here = line + text[: max(0, text.find(words[0]))].count("\n")
            if words[0] in self._commands:
                yield self._claim(here, "command", words[0], Truth.TRUE)
                yield from self._words(words[0], words[1:], text, line)
            elif (
                words[0].startswith("python")
                and len(words) > 2
                and words[1] == "-m"
                and words[2].split(".")[0] in self._project.modules
            ):
                yield from self._words("", words[3:], text, line)
            else:
                yield from self._dead(words[0], here)

    def _dead(self, name: str, line: int) -> Iterator[ClaimResult]:
        own = {
            re.sub(r"[-_.]+", "-", one).lower()
            for one in (*self._commands, self._project.declared.name, *self._project.modules)
            if len(one) > 2
        }
        name = name.removesuffix(".exe")
        plain = re.sub(r"[-_.]+", "-", name).lower()
        if name in self._commands:
            return
        if not re.fullmatch(r"[a-z][\w.-]+", name) or name in known.PROGRAMS or known.FILE.fullmatch(name):
            return
        near = nearest(name, self._commands, 0.7)
        begins = any(plain.startswith(f"{one}-") for one in own) and near[0]
        if not (plain in own or begins or slip_of(plain, own)):
            return
        made = rb"scripts" in self._project.sources.get("setup.py", b"") and not (
            self._helps or self._project.declared.scripts
        )
        if (
            not self._commands
            or made
            or (plain in own and not any(self._helps.values()))
            or name in self._project.folders
        ):
            yield self._claim(line, "command", name, Truth.UNKNOWN, "the project's commands cannot be read")
            return
        near = near if near[0] else nearest(name, self._commands, 0.5)
        yield self._claim(line, "command", name, Truth.UNTRUE, f"the project has no command {name}", near)

    def _words(self, command: str, words: list[str], text: str, line: int) -> Iterator[ClaimResult]:
        helps = [said for name, said in self._helps.items() if not command or name.split()[0] == command]
        told = {flag for said in helps for flag in LONG_OPTION.findall(said)}
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
                yield self._option(flag, here, told, sure=bool(told) and not positional)
            elif not word.startswith("-") and not (number == 0 and word in subcommands):
                positional = True

    def _subcommand(self, command: str, name: str, subcommands: set[str], line: int) -> Iterator[ClaimResult]:
        if name in subcommands or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self._helps.get(command, "")):
            yield self._claim(line, "command", f"{command} {name}", Truth.TRUE)
            return
        near = slip_of(name, subcommands)
        if near and not self._project.occurs(name):
            yield self._claim(line, "command", name, Truth.UNTRUE, f"{command} has no command {name}", (near, True))
        else:
            yield self._claim(line, "command", f"{command} {name}", Truth.UNKNOWN, "it may be an argument")

    def _option(self, flag: str, line: int, told: set[str], *, sure: bool) -> ClaimResult:
        if flag in told or flag in ("--help", "--version") or flag in self._project.flags or flag in self._told:
            return self._claim(line, "option", flag, Truth.TRUE)
        if sum(one.startswith(flag) for one in self._known) == 1:
            return self._claim(line, "option", flag, Truth.TRUE, "it is the beginning of one")
        near = nearest(flag, self._known, 0.75)
        derived = not told and _DERIVING.search(self._project.code) is not None
        if not self._known or derived:
            return self._claim(line, "option", flag, Truth.UNKNOWN, "the options of the project cannot be read")
        meant = slip_of(flag, self._known)
        if not meant and _PASSING.search(self._project.code):
            return self._claim(line, "option", flag, Truth.UNKNOWN, "the project takes options that it does not name")
        if not (meant or sure or any(one.startswith(flag) for one in self._known)):
            return self._claim(line, "option", flag, Truth.UNKNOWN, "it may be of another program")
        return self._claim(line, "option", flag, Truth.UNTRUE, f"there is no option {flag}", near)

    # -- running text

    def _span(self, span: Span) -> Iterator[ClaimResult]:
        text = span.text.strip().removeprefix("$ ")
        first = text.split()[0] if text.split() else ""
        if first in self._commands and " " in text:
            yield from self._command(text, span.line)
            return
        if not first.startswith("-"):
            return
        others = {word for word in re.findall(r"[\w-]+", span.around) if word in known.PROGRAMS} - {
            "python",
            "test",
            "true",
            "false",
            "file",
            "time",
            "date",
            "type",
            "copy",
            "start",
            "open",
            "set",
            "sort",
            "find",
            "make",
            "which",
            "source",
            "more",
            "less",
            "read",
            "go",
            "just",
            "head",
            "cut",
            "dir",
            "code",
            "install",
            "watch",
            "top",
            "clear",
            "export",
            "split",
        }
        for flag in LONG_OPTION.findall(text):
            if flag in self._known or flag in self._project.flags:
                yield self._claim(span.line, "option", flag, Truth.TRUE)
                continue
            if flag in self._shown:
                yield self._claim(span.line, "option", flag, Truth.UNKNOWN, "an example of the page declares it")
                continue
            near = nearest(flag, self._known)
            if any(one.startswith(flag) for one in self._known):
                yield self._claim(
                    span.line, "option", flag, Truth.UNKNOWN, f"it is the beginning of {near[0] or 'one'}"
                )
            elif (
                slip_of(flag, self._known)
                and not others
                and not (_DERIVING.search(self._project.code) and not self._told)
            ):
                yield self._claim(span.line, "option", flag, Truth.UNTRUE, f"there is no option {flag}", near)
            else:
                yield self._claim(span.line, "option", flag, Truth.UNKNOWN, "it may be of another program")
