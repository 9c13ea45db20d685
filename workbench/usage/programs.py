"""A task's program on a page: its commands, in whatever way the page starts it, and its options."""

from __future__ import annotations

import re

from workbench.claims.shell import normal
from workbench.usage.pages import PageCommand, UsagePage
from workbench.usage.tasks import UsageTask

_GENERAL = frozenset({"src", "lib", "__main__", "__init__", "cli", "main", ".", ""})


def commands_of_program(page: UsagePage, task: UsageTask) -> list[PageCommand]:
    """Return the page's commands that start the task's program: as installed, as a module, or as a script."""
    words = normal(task.package.split())
    words = words[1:] if words[:1] == ("python",) else words
    files = [part.removesuffix(".py") for part in task.target.path.split("/")]
    names = {_plain(one) for one in [*(word.split(".")[0] for word in words[-1:]), *(set(files) - _GENERAL)]}
    return [one for one in page.commands if _plain(_stem(one.program[-1])) in names]


def _stem(program: str) -> str:
    return program.split("/")[-1].removesuffix(".py").split(".")[0]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower())


def with_program(command: PageCommand, program: str) -> str | None:
    """Return the text of a page's command with ``program`` in the place of the page's spelling, or None."""
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
    for command in commands_of_program(page, task):
        for word in command.words:
            if word.startswith("-") and len(word) > 1:
                name, equals, _ = word.partition("=")
                found.setdefault(name, (bool(equals), command.line))
    return found


def spellings(options: dict[str, tuple[bool, int]]) -> dict[str, str]:
    """Return the representative of each option: a short and a long option alone on a line are the same option."""
    lines: dict[int, list[str]] = {}
    for name, (_, line) in options.items():
        lines.setdefault(line, []).append(name)
    found = {name: name for name in options}
    for group in lines.values():
        if len(group) == 2 and {name.startswith("--") for name in group} == {True, False}:
            found |= dict.fromkeys(group, max(group, key=len))
    return found
