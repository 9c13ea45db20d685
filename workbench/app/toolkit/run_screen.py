"""The base of modes that show a run: an anchor to go to, a remark line, a prompt, a search and actions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult

from workbench.app.keys import WHY_NOT, with_keys
from workbench.app.toolkit.document import find_all, prepared
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.typed_line import PromptLine
from workbench.app.toolkit.workers import LatestWorker

if TYPE_CHECKING:
    from workbench.app.location import Anchor
    from workbench.app.toolkit.actions import RunActions
    from workbench.app.toolkit.document import PaneContent
    from workbench.session.reader import SessionReader

HITS_LIMIT = 10_000


class SearchText:
    """Finds a search text in texts and blobs; each distinct blob is read only once."""

    def __init__(self, reader: SessionReader, text: str) -> None:
        self._reader, self._text = reader, text
        self._known: dict[str, list[int]] = {}

    def in_text(self, text: str) -> list[int]:
        """Return the offsets of the hits in a text, counted in displayed characters."""
        return list(islice(find_all(self._text, prepared(text)), HITS_LIMIT))

    def in_blob(self, digest: str | None) -> list[int]:
        if digest is None:
            return []
        if digest not in self._known:
            self._known[digest] = self.in_text(self._reader.text_or_none(digest, "a searched text") or "")
        return self._known[digest]


class Finder:
    """The hits of the last search in ``found``, None if there was no search; ``at`` is the index of the current hit."""

    def __init__(self, screen: RunScreen) -> None:
        self._screen, self._stop, self._more = screen, threading.Event(), False
        self.needle, self.at = "", -1
        self.found: list[Any] | None = None

    def begin(
        self,
        text: str,
        hits: Callable[[SearchText, Callable[[], bool]], Iterator[Any]],
        first: Callable[[Sequence[Any]], int],
    ) -> None:
        """Search in a thread and go to a hit.

        ``hits`` yields hits in order and polls whether it should stop; ``first`` returns the index of the hit to go to.
        """
        screen, reader = self._screen, self._screen.workbench.reader
        self.forget()
        if reader is None or not text:
            return
        needle = SearchText(reader, text)
        self.needle, self._stop = text, threading.Event()
        stop = self._stop

        def done(found: list[Any]) -> None:
            if not stop.is_set():
                self.found, self._more = found[:HITS_LIMIT], len(found) > HITS_LIMIT
                self._go(first(self.found))

        screen.set_remark(f"/{text}  searching…")
        screen.searching.ask(lambda: list(islice(hits(needle, stop.is_set), HITS_LIMIT + 1)), done)

    def forget(self) -> None:
        """Stop a running search and discard all hits."""
        self._stop.set()
        self.found, self.at = None, -1
        self._screen.mark_hits("")
        self._screen.set_remark("")

    def go(self, step: int) -> None:
        if self.found:
            self._go((self.at + step) % len(self.found))

    def _go(self, index: int) -> None:
        found, screen = self.found or [], self._screen
        screen.mark_hits(self.needle)
        if not found:
            screen.set_remark(f"/{self.needle}  nothing found")
            return
        self.at, hit = index, found[index]
        of = f"{len(found):,}{'+' if self._more else ''}"
        screen.set_remark(f"/{self.needle}  {index + 1:,} of {of}{screen.remark_on(hit)}")
        screen.go_to_hit(hit)


_WHILE_READING = frozenset(
    {"resume", "cancel", "rerun", "rerun_model", "rescore", "fork", "rerun_failed", "add_samples"}
)
"""Actions that the user may request while the run is still loading."""

_OTHER = "Not done: another run is shown now."


class RunScreen(ModeScreen):
    """The base class of modes that show a run and its changes.

    A subclass sets ``actions``, loads the run with ``run_loader``, then calls :meth:`has_read` or
    :meth:`show_reason`, and shows the hits of its ``finder``.
    """

    searches = True
    actions: RunActions
    no_session: ClassVar[str]
    """The message shown if no session is open."""

    def __init__(self) -> None:
        super().__init__()
        self.finder, self.searching, self.run_loader = (
            Finder(self),
            LatestWorker(self, "search"),
            LatestWorker(self, "run"),
        )
        self.doing = LatestWorker(self, "actions", every=True)
        self._goal: Anchor | None = None  # the requested anchor in the run
        self._place: Anchor | None = None  # the requested anchor until it is reached
        self._remark = ""
        self.reading = True  # the run is loading
        # Pending actions by name, each with the session it applies to.
        self._once_read: dict[str, tuple[Path | None, Callable[[], object]]] = {}

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Static("", id="remark")
        yield PromptLine()

    # -- hooks for subclasses

    forget: Callable[[], None]
    """Discard all state of the run, because another session was opened."""
    load_wanted: Callable[[SessionReader], None]
    """Load the run that was shown last, or the default one."""
    can_go: Callable[[Anchor], bool]
    """Return whether the target of an anchor is loaded."""
    go_to_place: Callable[[Anchor], None]
    subject: Callable[[], PaneContent]
    mark_hits: Callable[[str], None]
    go_to_hit: Callable[[Any], None]
    search_for: Callable[[str], None]

    def on_mount(self) -> None:
        self.focus_pane(self.query_one(f"#{self.first_pane}"))
        self._show_no_session()
        self.set_interval(1.0, self.tick)

    def tick(self) -> None:
        """Update values that depend on the time, such as the time left; called every second."""

    def remark_on(self, hit: Any) -> str:
        return ""

    # -- content

    @property
    def reader(self) -> SessionReader | None:
        return self.workbench.reader

    def show_nothing(self, sentence: str) -> None:
        """Show a message instead of the panes, or the panes again if ``sentence`` is ""."""
        self.set_class(bool(sentence), "-nothing")
        self.query_one("#nothing", Static).update(sentence)
        if sentence:
            self.set_status("")
        self.refresh_bindings()

    def _show_no_session(self) -> None:
        self.show_nothing("Opening the session…" if self.workbench.session_path else with_keys(self.no_session))

    def show_reason(self, sentence: str) -> None:
        """Show why the run cannot be loaded."""
        self.show_nothing(sentence)
        self.has_read()

    def on_session_opened(self, reader: SessionReader | None) -> None:
        self.finder.forget()
        self.forget()
        if reader is not None:
            self.load_at(self._goal)  # reload even if the anchor was reached
        else:
            self._show_no_session()
            if self.workbench.session_path is None:
                self.has_read()

    def load_at(self, place: Anchor | None) -> None:
        """Load the run from its beginning and go to an anchor in it."""
        self._goal = self._place = place
        if self.reader is not None:
            self.reading = True
            self.load_wanted(self.reader)

    def go_on_to_place(self) -> None:
        """Go to the requested anchor if its target is loaded."""
        place = self._place
        # A pending load would reset the screen, so wait for it.
        if place is not None and self.run_loader.idle and self.can_go(place):
            self._place = None
            self.go_to_place(place)

    def offers(self, action: str) -> bool:
        return (self.reading and action in _WHILE_READING) or self.actions.can(action)

    def do(self, action: str, what: Callable[[], object]) -> None:
        """Run an action now or, while the run is loading, as soon as it is loaded."""
        if self.reading:
            self._once_read[action] = self.workbench.session_path, what
            self.notify("Scheduled for when the run is loaded.", timeout=4)
        else:
            what()

    def has_read(self) -> None:
        """Run the pending actions now that the run is loaded, or tell the user why they cannot be done."""
        # Ignore all loads except the newest.
        if not self.reading or not (self.run_loader.idle or self.reader is None):
            return
        self.reading = False
        waiting, self._once_read = self._once_read, {}
        for action, (session, what) in waiting.items():
            if session not in {None, self.workbench.session_path}:
                self.notify(_OTHER, severity="warning")
            elif self.actions.can(action):
                what()
            else:
                self.notify(WHY_NOT[action], severity="warning")
        self.refresh_bindings()

    def leave_run(self) -> None:
        if self._once_read:
            self._once_read.clear()
            self.notify(_OTHER, severity="warning")

    def set_remark(self, text: str) -> None:
        """Set the text of the line above the keys, such as the number of the current hit; "" hides the line."""
        self._remark = text
        self.show_remark()

    def show_remark(self) -> None:
        """Show the remark line, with the position in the list that led here."""
        text = " · ".join(filter(None, (self._remark, self.workbench.where_in_list)))
        remark = self.query_one("#remark", Static)
        remark.update(text)
        remark.set_class(bool(text), "-open")
        self.refresh_bindings()

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _WHILE_READING or action == "export":
            return self.offers(action)
        if action == "hit":
            return self.finder.found is not None or self.workbench.goes_through_hits
        return super().check_action(action, parameters)

    def action_search(self) -> None:
        self.workbench.forget_hits()
        self.query_one(PromptLine).ask(self.search_for)

    def action_hit(self, step: int) -> None:
        if not (self.workbench.goes_through_hits and self.workbench.go_on(step)):
            self.finder.go(step)

    def action_rerun(self) -> None:
        self.do("rerun", self.actions.rerun)

    def action_resume(self) -> None:
        self.do("resume", self.actions.resume)

    def action_cancel(self) -> None:
        self.do("cancel", self.actions.cancel)

    def action_copy(self) -> None:
        self.actions.copy()

    def action_open_outside(self) -> None:
        self.actions.open_outside()
