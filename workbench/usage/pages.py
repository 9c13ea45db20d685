"""The callables, commands, options and examples on a page, and which of them are about a task."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from workbench.claims.page import Page
from workbench.claims.shell import normal
from workbench.usage.tasks import CallTarget, Kind, UsageTask

ANY = "?"
"""Placeholder for the class of an object that the page does not construct."""


@dataclass(frozen=True, slots=True)
class Named:
    """A callable that a page names.

    ``path`` is as long as the page allows: ``pkg.f``, ``f``, ``Table.add``, or ``?.add`` for a method of an object of
    unknown class. ``example`` means a call whose arguments are all on the page.
    """

    path: str
    line: int
    called: bool = False
    example: bool = False
    block: bool = False  # in a code block


@dataclass(frozen=True, slots=True)
class Example:
    """An expression that calls ``path``, with the statements that it needs.

    ``unbound`` are names that stand for values of the reader. ``says`` is the result according to the page, or None;
    ``printed`` means that the page shows what is printed instead of a value.
    """

    path: str
    line: int
    expression: ast.expr
    statements: tuple[ast.stmt, ...] = ()
    imports: tuple[str, ...] = ()
    unbound: frozenset[str] = frozenset()
    says: str | None = None
    printed: bool = False


@dataclass(frozen=True, slots=True)
class PageCommand:
    """A command, in which ``program`` and ``words`` are those of one simple command of ``text``."""

    text: str
    line: int
    program: tuple[str, ...]
    words: tuple[str, ...]
    says: str | None = None
    block: bool = True


@dataclass(frozen=True, slots=True)
class NamedOption:
    """An option, with the placeholder of its value or ""."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A line of a page that names a task's callable or an option of its command; ``example`` if the line uses it."""

    line: int
    example: bool


@dataclass(slots=True)
class UsagePage:
    """The names and examples on a page, in order; ``cut`` means that the page was too long to be read to its end."""

    page: Page
    cut: bool = False
    callables: list[Named] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    commands: list[PageCommand] = field(default_factory=list)
    options: list[NamedOption] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)  # imported, or dotted names in spans, without the standard library

    def section(self, line: int) -> str:
        """Return the heading above a line, or ""."""
        above = [heading.text for heading in self.page.headings if heading.line <= line]
        return above[-1].strip("`# ") if above and line else ""

    def mentions(self, task: UsageTask) -> list[Mention]:
        """Return the lines that name what a task is about, in the order of the page.

        A command counts as named if the page has all of its options and subcommands. Their lines are returned, as are
        those of commands that use all of them.
        """
        if task.target.kind == "command":
            return _command_mentions(self, task)
        return self._lines_of(task.target)

    def _lines_of(self, target: CallTarget) -> list[Mention]:
        lines: dict[int, bool] = {}
        for named in self.callables:
            if names_target(named, target):
                lines[named.line] = lines.get(named.line, False) or named.example
        return [Mention(line, example) for line, example in sorted(lines.items())]

    def names(self, task: UsageTask) -> bool:
        return bool(self.mentions(task))

    def has(self, name: str) -> bool:
        """Return whether the page names a public callable by its import path, or a program as it is typed."""
        if "." not in name or " " in name:
            return bool(commands_of_program(self, name)) or any(one.path == name for one in self.callables)
        kind: Kind = "method" if name.split(".")[-2][:1].isupper() else "function"
        return bool(self._lines_of(CallTarget(kind, name, "", 0)))


def names_target(named: Named, target: CallTarget) -> bool:
    """Return whether a name on a page refers to a task's callable; the page may state only the end of its path."""
    parts, own = named.path.split("."), target.name.split(".")
    if parts[-1] != own[-1]:
        return False
    if target.kind == "method":
        if len(parts) == 1:
            return named.called
        return parts[-2] == own[-2] or parts[0] == ANY or (not parts[-2][:1].isupper() and parts[0] != own[0])
    return len(parts) == 1 or (parts[0] != ANY and parts[0] in own[:-1])


# -- programs

_GENERAL = frozenset({"src", "lib", "__main__", "__init__", "cli", "main", ".", ""})


def commands_of_program(page: UsagePage, program: str, path: str = "") -> list[PageCommand]:
    """Return the page's commands that start a program, as installed, as a module or as a script.

    ``path`` defines it.
    """
    words = normal(program.split())
    words = words[1:] if words[:1] == ("python",) else words
    files = [part.removesuffix(".py") for part in path.split("/")]
    names = {_plain(one) for one in [*(word.split(".")[0] for word in words[-1:]), *(set(files) - _GENERAL)]}
    return [one for one in page.commands if _plain(_stem(one.program[-1])) in names]


def _stem(program: str) -> str:
    return program.split("/")[-1].removesuffix(".py").split(".")[0]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower())


def with_program(command: PageCommand, program: str) -> str | None:
    """Return the text of a page's command with ``program`` in place of the page's spelling, or None."""
    first, *rest = command.program
    start = r"(?:[\w./-]*/)?(?:python[\d.]*|py)" if first == "python" else r"(?:[\w./-]*/)?" + re.escape(first)
    between = r"\s+(?:-[uBOsI]\s+)*(?:\./)?"
    pattern = r"(?<![\w./-])" + between.join([start, *map(re.escape, rest)]) + r"(?![\w-])"
    if re.search(pattern, command.text) is None and first == "python" and len(rest) == 1:
        pattern = r"(?<![\w./-])(?:\./)?" + re.escape(rest[0])  # a script that is started without an interpreter
    text, count = re.subn(pattern, lambda _: program, command.text)
    return text if count else None


def options_of_program(page: UsagePage, task: UsageTask) -> dict[str, tuple[bool, int]]:
    """Return the options that the page names, each with whether it takes a value and its first line."""
    found: dict[str, tuple[bool, int]] = {}
    for one in page.options:
        takes, line = found.get(one.name, (False, one.line))
        found[one.name] = takes or bool(one.value), line
    for command in commands_of_program(page, task.package, task.target.path):
        for word in command.words:
            if word.startswith("-") and len(word) > 1:
                name, equals, _ = word.partition("=")
                found.setdefault(name, (bool(equals), command.line))
    return found


def spellings(options: dict[str, tuple[bool, int]]) -> dict[str, str]:
    """Map each option to the spelling that stands for it.

    A short and a long option alone on a line are the same option.
    """
    lines: dict[int, list[str]] = {}
    for name, (_, line) in options.items():
        lines.setdefault(line, []).append(name)
    found = {name: name for name in options}
    for group in lines.values():
        if len(group) == 2 and {name.startswith("--") for name in group} == {True, False}:
            found |= dict.fromkeys(group, max(group, key=len))
    return found


def _command_mentions(page: UsagePage, task: UsageTask) -> list[Mention]:
    options = options_of_program(page, task)
    same = spellings(options)
    wanted = wanted_words(task, same)
    own = commands_of_program(page, task.package, task.target.path)
    # Any command of the program names a form without options, but only a command without options is an example of it.
    lines = {
        one.line: bool(wanted) or not options_of_command(one) for one in own if words_of_command(one, same) >= wanted
    }
    for name in sorted(wanted):
        found = [line for option, (_, line) in options.items() if same[option] == name]
        found += [one.line for one in own if name in words_of_command(one, same)]
        if not found:
            return []
        lines.setdefault(min(found), False)
    return [Mention(line, example) for line, example in sorted(lines.items())]


def wanted_words(task: UsageTask, same: dict[str, str]) -> set[str]:
    """Return a command's options and subcommands as the page spells them.

    `-lw` is two options if the page names both.
    """
    found: set[str] = set()
    for word in task.target.words:
        letters = {f"-{letter}" for letter in word[1:]} if re.fullmatch(r"-[A-Za-z]{2,}", word) else set()
        several = letters if word not in same and letters and letters <= set(same) else {word}
        found |= {same.get(one, one) for one in several if one not in ("-", "--")}
    return found


def words_of_command(command: PageCommand, same: dict[str, str]) -> set[str]:
    words = {word.partition("=")[0] if word.startswith("-") else word for word in command.words}
    return {same.get(word, word) for word in words}


def options_of_command(command: PageCommand) -> tuple[str, ...]:
    return tuple(word.partition("=")[0] for word in command.words if word.startswith("-") and word != "-")
