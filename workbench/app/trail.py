"""Which list led to the place that is shown: escape goes back to it, and n and N to its hits before and after."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Hits(Protocol):
    """The hits of a search in the order in which they were listed."""

    def __len__(self) -> int:
        """How many there are."""

    def session_of(self, at: int) -> Path:
        """The session that a hit is of."""

    async def show(self, at: int) -> None:
        """Show the place of a hit of the open session."""


class Standing(Protocol):
    """Where in the hits a person is."""

    at: int


class Walker(Protocol):
    """What is asked of the app."""

    @property
    def session_path(self) -> Path | None:
        """The session that is open or being opened."""

    @property
    def screen(self) -> Any:
        """The screen that is shown."""

    @property
    def searched(self) -> Standing:
        """What was searched for last, and at which hit the cursor stands."""

    def open_session(self, path: Path, *, show: bool = False, then: Callable[[], Any] | None = None) -> None:
        """Open a session file and call ``then`` once it is open."""

    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Call something after what is under way."""


@dataclass(slots=True)
class Trail:
    """Kept by the app; forgotten as soon as a person goes somewhere else.

    Attributes:
        app: The app.
        back: Shows the list again, None where no list led here.
        hits: What n and N go through, None where the list was no search or another one was begun.
    """

    app: Walker
    back: Callable[[], Any] | None = None
    hits: Hits | None = None

    @property
    def sentence(self) -> str:
        """Where in the hits a person is, and the keys that go on; "" where there are none."""
        if self.hits is None:
            return ""
        return f"hit {self.app.searched.at + 1:,} of {len(self.hits):,} · n N go on, esc goes back to the list"

    def forget(self) -> None:
        """Somebody goes to a place by another way."""
        self.back = self.hits = None

    def forget_hits(self) -> None:
        """Another search is begun here: n and N belong to it."""
        self.hits = None
        self._tell()

    async def follow(self, going: Callable[[], Any], back: Callable[[], Any], hits: Hits | None = None) -> None:
        """Go to a place that a list names, and keep the way back to the list."""
        result = going()
        if isawaitable(result):
            await result
        self.back, self.hits = back, hits
        self._tell()

    def follow_hit(self, hits: Hits, at: int, back: Callable[[], Any]) -> None:
        """Go to a hit, in its own session, soon."""
        self.app.searched.at = at
        session, opened = hits.session_of(at), self.app.session_path

        async def going() -> None:
            await self.follow(lambda: hits.show(at), back, hits)

        if opened is not None and opened.resolve() == session:
            self.app.call_later(going)
        else:
            self.app.open_session(session, then=going)

    def go_on(self, step: int) -> bool:
        """Go to the next (1) or previous (-1) hit; returns whether there are hits to go through."""
        if self.hits is None or self.back is None:
            return False
        self.follow_hit(self.hits, (self.app.searched.at + step) % len(self.hits), self.back)
        return True

    def go_back(self) -> bool:
        """Show the list again; returns whether one led here."""
        back = self.back
        self.forget()
        if back is None:
            return False
        self._tell()
        back()
        return True

    def _tell(self) -> None:
        show = getattr(self.app.screen, "show_remark", None)
        if show is not None:
            show()
