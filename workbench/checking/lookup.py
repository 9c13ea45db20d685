"""What looks up the claims of a page in a project, and how it says what it found."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cached_property

from workbench.checking.kinds import kind_of
from workbench.checking.verdicts import ClaimResult, Truth
from workbench.claims.page import Page
from workbench.claims.project import ProjectIndex
from workbench.claims.shell import commands_of


class Lookup:
    """The claims of one page that are of some kinds."""

    def __init__(self, page: Page, project: ProjectIndex) -> None:
        self.page, self.project = page, project

    def all(self) -> Iterator[ClaimResult]:
        raise NotImplementedError

    def true(self, line: int, kind: str, text: str, reason: str = "") -> ClaimResult:
        return ClaimResult(self.page.path, line, kind, text, Truth.TRUE, reason)

    def unknown(self, line: int, kind: str, text: str, reason: str) -> ClaimResult:
        return ClaimResult(self.page.path, line, kind, text, Truth.UNKNOWN, reason)

    def untrue(
        self, line: int, kind: str, text: str, reason: str, nearest: str = "", exact: bool = False
    ) -> ClaimResult:
        return ClaimResult(self.page.path, line, kind, text, Truth.UNTRUE, reason, nearest, exact)

    @cached_property
    def shell(self) -> list[tuple[int, str]]:
        return list(shell_lines(self.page, self.project))


def shell_lines(page: Page, project: ProjectIndex, own: Set[str] | None = None) -> Iterator[tuple[int, str]]:
    """Shell commands of a page with their lines; ``own`` are commands of the project, its declared scripts unless given."""
    for code in page.codes:
        kind = kind_of(code, project.modules, set(project.declared.scripts) if own is None else own)
        if not code.skip and kind in ("install", "shell", "session"):
            for command in commands_of(code.code):
                yield code.line + command.line, command.text
