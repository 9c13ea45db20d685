"""An app with themes from files: the first one before the first paint, all others after it, each again when its file changes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from textual.app import App
from textual.message import Message
from textual.theme import Theme

from workbench.app.theming.themes import (
    FALLBACK,
    BadTheme,
    ThemeFile,
    fallback_variables,
    first_theme,
    load_theme,
    theme_files,
)

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
        self._stopped.set()

    def run(self) -> None:
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


class ThemedApp(App[int]):
    """Chooses, registers and follows themes."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        for own in tuple(self.available_themes):
            # Textual's themes know no verdicts, and nobody measured what can be read in them.
            self.unregister_theme(own)
        self._themes: ThemeWatch | None = None
        first, self._theme_problem = first_theme(theme)
        self.register_theme(first)
        # Set without its watchers: they would parse all styles a second time before the first paint.
        self.set_reactive(App.theme, first.name)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give every theme colours for verdicts; one that was read from a file has them already."""
        theme = self.current_theme or FALLBACK
        return {} if "text-dim" in theme.variables else fallback_variables(theme)

    def start_themes(self) -> None:
        self._themes = ThemeWatch(self)
        self._themes.start()
        if self._theme_problem:
            self.notify(self._theme_problem, title="Theme", severity="warning", timeout=12)

    def stop_themes(self) -> None:
        if self._themes is not None:
            self._themes.stop()

    def on_themes_read(self, message: ThemesRead) -> None:
        for theme in message.themes:
            self.register_theme(theme)
        for name in message.gone:
            if name != self.theme and name != FALLBACK.name:
                self.unregister_theme(name)
        if any(theme.name == self.theme for theme in message.themes):
            self._watch_theme(self.theme)
        if message.problems:
            self.notify("\n".join(message.problems), title="Themes", severity="warning", timeout=12)

    def action_next_theme(self) -> None:
        names = sorted(self.available_themes)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
