"""The way to the first mode: the header alone is painted first, while everything else is yet to be imported, read and styled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from workbench.app.theming import ThemedApp
from workbench.app.toolkit.lifecycle import RemovalSafe
from workbench.app.toolkit.literal import literal


class OpeningApp(RemovalSafe, ThemedApp):
    """Paints the header, then its first mode, then starts."""

    DEFAULT_MODE = "opening"
    STYLES: ClassVar[Path] = Path(__file__).with_name("styles") / "shell.tcss"

    def __init__(self, theme: str, first_mode: str) -> None:
        self._first_painted = False
        self._after_paint: list[Callable[[], Any]] = []
        super().__init__(theme)
        self.add_mode(self.DEFAULT_MODE, OpeningScreen)
        self.is_opening = True
        self._first_mode = first_mode
        self._early_keys: list[events.Key] = []

    session_path: Path | None = None
    """The session that is open or being opened, None for none."""

    def start(self) -> None:
        """Do what waited for the first mode to be shown."""

    def on_mount(self) -> None:
        self.after_first_paint(self._show_first_mode)

    def after_first_paint(self, what: Callable[[], Any]) -> None:
        """Call something once the first screen is shown (later ones: laid out); ``call_after_refresh`` comes before the first frame is written."""
        if self._first_painted:
            self.call_after_refresh(what)
        else:
            self._after_paint.append(what)

    def post_display_hook(self) -> None:
        if not self._first_painted and self._running and not self._batch_count:
            self._first_painted = True
            for what in self._after_paint:
                self.call_later(what)
            self._after_paint.clear()

    async def _show_first_mode(self) -> None:
        """Put the first mode in the place of the header alone, with the keys that came meanwhile."""
        # What it rules is not on the screen before; read as CSS_PATH it would be parsed before the first paint.
        self.stylesheet.read(self.STYLES)
        self.stylesheet.parse()
        await self.switch_mode(self._first_mode)
        self.is_opening = False
        self.call_after_refresh(self.start)

    # -- keys that come before there is something for them to act on

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and (self._early_keys or not self._takes_keys):
            self._early_keys.append(event)
            # One that the screen of before had no use for comes back here behind later ones.
            self._early_keys.sort(key=lambda key: key.time)
            await self.deliver_keys()
        else:
            await super().on_event(event)

    async def deliver_keys(self) -> None:
        """Let the screen have the keys that waited for it; where they lead to another one, the rest wait for that."""
        while self._early_keys and self._takes_keys:
            early = self._early_keys.pop(0)
            key = events.Key(early.key, early.character)
            key.time = early.time
            await super().on_event(key)

    @property
    def _takes_keys(self) -> bool:
        # There is none any more once the app ends.
        return bool(self.screen_stack) and getattr(self.screen, "takes_keys", True)


class OpeningScreen(Screen[None]):
    """Two widgets of the simplest kind: all that a mode needs (up to 42) would be styled before a frame is written."""

    AUTO_FOCUS = ""
    takes_keys = False
    DEFAULT_CSS = """
    OpeningScreen { background: $background; color: $foreground; }
    OpeningScreen #header { height: 1; padding: 0 1; background: $panel; }
    OpeningScreen #what { width: 1fr; height: 1fr; content-align: center middle; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__()
        # The styles are parsed already; without this Textual would parse them again.
        self._css_update_count = self.app._css_update_count

    def compose(self) -> ComposeResult:
        path = cast(OpeningApp, self.app).session_path
        name = literal(path.name) if path is not None else Content("")
        yield PlainText(Content.assemble(("Workbench", "bold $primary"), "  ", name), id="header")
        yield PlainText(Content.assemble("Opening ", name, "…") if name else name, id="what")


class PlainText(Widget):
    """A text that does not change."""

    def __init__(self, words: Content, *, id: str) -> None:
        super().__init__(id=id)
        self._words = words

    def render(self) -> Content:
        return self._words
