"""The part of the Study mode that follows a study: what is read when, in which thread, and how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.app.study.loading import StudyLoader, StudyView
from workbench.app.toolkit.latest import Latest

if TYPE_CHECKING:
    from workbench.app.study.screen import StudyScreen
    from workbench.session.rows import Change

REFRESH_SECONDS = 0.5
"""Time between two looks at a study that is being executed; one that takes long is not begun again before its end."""
_SHOWN = frozenset({"study", "run", "trial", "score", "check", "task", "candidate", "stage"})
"""Kinds of changes that a study shows."""


class Following:
    """Reads the study that the screen shows, again whenever something of it may have changed.

    Args:
        screen: The view that is kept in step.
        show: Called with what was read.
        failed: Called with a sentence where it cannot be read.
    """

    def __init__(self, screen: StudyScreen, show: Callable[[StudyView], None], failed: Callable[[str], None]) -> None:
        self._screen, self._show, self._failed = screen, show, failed
        self._loader = StudyLoader()
        self._loading = Latest(screen, "study")

    def take(self, changes: tuple[Change, ...]) -> None:
        """Look again soon where something of a study changed."""
        if any(change.kind in _SHOWN for change in changes):
            self._loading.soon(self.look, REFRESH_SECONDS)

    def look(self) -> None:
        """Read the wanted study of the open session, the newest where that is none of it."""
        reader, name = self._screen.workbench.reader, self._screen.wanted_study
        if reader is not None:
            self._loading.ask(lambda: self._loader.look(reader, name), self._show, self._failed)
