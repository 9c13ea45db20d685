"""Read all themes after the first paint and again whenever a file changes, in a thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from textual.message import Message
from textual.theme import Theme

from workbench.app.theming.themes import BadTheme, ThemeFile, load_theme, theme_files

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

POLL_SECONDS = 1.0


class ThemesRead(Message):
    """Theme files were read: those that are new or changed, those that are gone, and what is wrong with bad ones."""

    def __init__(self, themes: tuple[Theme, ...], gone: tuple[str, ...], problems: tuple[str, ...]) -> None:
        super().__init__()
        self.themes = themes
        self.gone = gone
        self.problems = problems


class ThemeWatch(threading.Thread):
    """Looks at the modification times of the theme folders once a second and posts :class:`ThemesRead` on news."""

    def __init__(self, target: MessagePump) -> None:
        super().__init__(name="theme-watch", daemon=True)
        self._target = target
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the thread at its next breath."""
        self._stopped.set()

    def run(self) -> None:
        """Look until stopped."""
        known: dict[str, ThemeFile] = {}
        while True:
            files = theme_files()
            if files != known:
                self._target.post_message(self._news(known, files))
                known = files
            if self._stopped.wait(POLL_SECONDS):
                return

    @staticmethod
    def _news(known: dict[str, ThemeFile], files: dict[str, ThemeFile]) -> ThemesRead:
        themes, problems = [], []
        for name, file in files.items():
            if known.get(name) != file:
                try:
                    themes.append(load_theme(file))
                except BadTheme as error:
                    problems.append(str(error))
        return ThemesRead(tuple(themes), tuple(set(known) - set(files)), tuple(problems))
