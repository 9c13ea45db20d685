"""Classify the blocks of a page, and provide the base class for looking up a page's claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cached_property
from typing import Literal

from workbench.claims.claim import CheckedClaim, Claim, LookupResult, PageRange, Truth
from workbench.claims.page import DOCTEST, POSIX, PYTHON, Code, Page
from workbench.claims.project import ProjectIndex
from workbench.claims.python import imports_of, python_of
from workbench.claims.shell import PROMPT, commands_of, is_install

Kind = Literal["install", "shell", "session", "python", "doctest", "output", "configuration", "other", "command"]

_CONFIGURATION = {"toml", "yaml", "yml", "ini", "cfg", "json", "jsonc", "json5", "xml", "dotenv", "env", "properties"}
_OUTPUT = {"text", "txt", "output", "plain", "plaintext", "none", "log", "out", "stdout", "ansi"}


def kind_of(code: Code, own_modules: Set[str] = frozenset(), own_commands: Set[str] = frozenset()) -> Kind:
    """Classify a block by its language and its lines."""
    if code.inline:
        return "command"
    language, lines = code.language, [line for line in code.code.splitlines() if line.strip()]
    if not lines:
        return "other"
    if language in _CONFIGURATION:
        return "configuration"
    if any(re.match(r"\s*>>> ", line) for line in lines) and (language in PYTHON or not language):
        # If the block starts with code that has no prompt, lines with prompts show what that code prints.
        first = next((line.lstrip() for line in lines if not line.lstrip().startswith("#")), "")
        return "doctest" if first.startswith(">>>") else "output"
    if language in PYTHON - DOCTEST:
        return "python"
    if language in POSIX or not language:
        if any(PROMPT.match(line) for line in lines):
            if any(not PROMPT.match(line) and not line.lstrip().startswith("#") for line in lines):
                return "session"
            return _shell_kind([PROMPT.sub("", line) for line in lines if PROMPT.match(line)])
        first_words = [line.split()[0] for line in lines if not line.lstrip().startswith("#")]
        ours = bool(first_words) and (first_words[0] in own_commands or is_install(lines[0]))
        if language in POSIX - {"console", "cmd"} or ours:
            return _shell_kind(lines) if language or _all_commands(lines, own_commands) else "output"
        if language in ("console", "cmd"):
            return "output"
        return "python" if _imports_own(code.code, own_modules) else "output"
    return "output" if language in _OUTPUT else "other"


def _all_commands(lines: list[str], own_commands: Set[str]) -> bool:
    return all(line.lstrip().startswith("#") or line.split()[0] in own_commands or is_install(line) for line in lines)


def _shell_kind(lines: list[str]) -> Kind:
    commands = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return "install" if commands and all(is_install(line) for line in commands) else "shell"


def _imports_own(text: str, own_modules: Set[str]) -> bool:
    tree = python_of(text) if any(module in text for module in own_modules) else None
    return tree is not None and any(one.top in own_modules for one in imports_of(tree))


def shell_lines(page: Page, project: ProjectIndex, own: Set[str] | None = None) -> Iterator[tuple[int, str]]:
    """Yield the shell commands of a page with their line numbers.

    ``own`` holds the project's commands and defaults to its declared scripts.
    """
    for code in page.codes:
        kind = kind_of(code, project.modules, set(project.declared.scripts) if own is None else own)
        if not code.skip and kind in ("install", "shell", "session"):
            for command in commands_of(code.code):
                yield code.line + command.line, command.text


class Lookup:
    """Base class of the lookups: each one yields certain kinds of claims from one page, checked against a project."""

    def __init__(self, page: Page, project: ProjectIndex) -> None:
        self.page, self.project = page, project

    def all(self) -> Iterator[CheckedClaim]:
        raise NotImplementedError

    def _claim(self, line: int, kind: str, text: str, found: LookupResult) -> CheckedClaim:
        return Claim(kind, text, PageRange(line, path=self.page.path), found)

    def true(self, line: int, kind: str, text: str, reason: str = "") -> CheckedClaim:
        return self._claim(line, kind, text, LookupResult(Truth.TRUE, reason))

    def unknown(self, line: int, kind: str, text: str, reason: str) -> CheckedClaim:
        return self._claim(line, kind, text, LookupResult(Truth.UNDECIDED, reason))

    def untrue(
        self, line: int, kind: str, text: str, reason: str, nearest: str = "", exact: bool = False
    ) -> CheckedClaim:
        return self._claim(line, kind, text, LookupResult(Truth.UNTRUE, reason, nearest, exact))

    @cached_property
    def shell(self) -> list[tuple[int, str]]:
        return list(shell_lines(self.page, self.project))
