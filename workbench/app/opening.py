"""The start of the app: only the header is painted at first, before the rest is imported, loaded and styled."""

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
    """An app that first paints the header, then the first mode, and then calls :meth:`start`."""

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
    """The session that is open or being opened."""

    def start(self) -> None:
        """Called once the first mode has been shown."""

    def on_mount(self) -> None:
        self.after_first_paint(self._show_first_mode)

    def after_first_paint(self, what: Callable[[], Any]) -> None:
        """Call ``what`` after the first paint or, if that has happened already, after the next layout.

        Callbacks of Textual's ``call_after_refresh`` run before the first frame is written.
        """
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
        """Replace the opening screen with the first mode."""
        # With CSS_PATH, the styles would be parsed before the first paint.
        self.stylesheet.read(self.STYLES)
        self.stylesheet.parse()
        await self.switch_mode(self._first_mode)
        self.is_opening = False
        self.call_after_refresh(self.start)

    # -- early keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and (self._early_keys or not self._takes_keys):
            self._early_keys.append(event)
            # A key that the previous screen did not handle arrives here again, after later keys.
            self._early_keys.sort(key=lambda key: key.time)
            await self.deliver_keys()
        else:
            await super().on_event(event)

    async def deliver_keys(self) -> None:
        """Deliver queued keys to the screen; if a key opens another screen, the remaining keys wait for that screen."""
        while self._early_keys and self._takes_keys:
            early = self._early_keys.pop(0)
            key = events.Key(early.key, early.character)
            key.time = early.time
            await super().on_event(key)

    @property
    def _takes_keys(self) -> bool:
        # The stack is empty once the app is exiting.
        return bool(self.screen_stack) and getattr(self.screen, "takes_keys", True)


class OpeningScreen(Screen[None]):
    """The header and a message, built from only two widgets; a mode has up to 42, all styled before the first frame."""

    AUTO_FOCUS = ""
    takes_keys = False
    DEFAULT_CSS = """
    OpeningScreen { background: $background; color: $foreground; }
    OpeningScreen #header { height: 1; padding: 0 1; background: $panel; }
    OpeningScreen #what { width: 1fr; height: 1fr; content-align: center middle; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__()
        # The styles have been parsed already; without this, Textual would parse them again.
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
