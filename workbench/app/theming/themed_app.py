"""An app with themes from files: the first one before the first paint, all others after it, each again when its file changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App

from workbench.app.theming.themes import FALLBACK, fallback_variables, first_theme

if TYPE_CHECKING:
    from workbench.app.theming.watch import ThemesRead, ThemeWatch


class ThemedApp(App[int]):
    """Chooses, registers and follows themes.

    Args:
        theme: Name of the theme to begin with.
    """

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
        """Read all themes and follow their files."""
        from workbench.app.theming.watch import ThemeWatch

        self._themes = ThemeWatch(self)
        self._themes.start()
        if self._theme_problem:
            self.notify(self._theme_problem, title="Theme", severity="warning", timeout=12)

    def stop_themes(self) -> None:
        """Follow the files no longer."""
        if self._themes is not None:
            self._themes.stop()

    def on_themes_read(self, message: ThemesRead) -> None:
        """Take over themes that are new or changed; the present one is repainted if it changed."""
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
        """Change to the next theme."""
        names = sorted(self.available_themes)
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
