"""Search everything: type what is looked for, walk through the hits, narrow them down, open the place of one."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import getters
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.keys import bindings
from workbench.app.location import Location, Place, ResultList
from workbench.app.search.hit_list import FacetList, HitList
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.typed_line import LineInput
from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import many, one_line
from workbench.search import FIELDS, Query, SearchHit, SearchIndex, SearchResult, parse
from workbench.search.index import MatchedLine, line_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

ASK_SECONDS = 0.1  # time from a key to the search for what was typed
REFRESH_SECONDS = 1.0  # time between two fillings of the index while a session changes
_FIRST_LINES = 100
_TIP = "\n".join(
    (
        'Words, and "phrases" in quotation marks: all of them must stand in a text, a word at least with its beginning.',
        'For example:  file:pyproject.toml agent:white score:<60 lost:"run command"',
        "",
        *(f"{name + ':':<9} {what}" for name, what in FIELDS.items()),
    )
)


@dataclass(slots=True)
class Searched:
    """The text that was typed, whether all sessions were meant, and the hit at which the cursor stood."""

    text: str = ""
    everywhere: bool = False
    at: int = 0


class SearchScreen(ModeScreen):
    """A line to type in, the hits, and what they have in common; ``last`` is kept up to date."""

    mode_name = "Search"
    CSS_PATH = "../styles/search.tcss"
    BINDINGS = bindings("search")

    def __init__(self, last: Searched) -> None:
        super().__init__()
        self._last = last
        self._index: SearchIndex | None = None
        self._asking, self._filling = Latest(self, "search"), Latest(self, "search-filling")
        self._stop = threading.Event()
        self._query = Query()
        self._note = self._wrong = ""

    def compose_body(self) -> Iterable[Widget]:
        yield Container(
            LineInput(self._last.text, placeholder="what to look for", id="search-text", compact=True), id="search-line"
        )
        inside = HitList(id="hits"), Static(_TIP, id="search-tip"), Static("", id="search-note")
        hits = Pane(*inside, id="hits-pane", classes="pane")
        facets = Pane(FacetList(id="facets"), short="Narrow down", id="facets-pane", classes="pane")
        yield Container(hits, facets, id="found")

    def on_mount(self) -> None:
        self.query_one("#search-text", Input).select_all()
        self.retitle("#hits-pane", "Hits")
        self.add_class("-nothing-asked")
        self._say("")

    async def after_first_paint(self) -> None:
        self.query_one("#search-text", Input).focus()

    def on_unmount(self) -> None:
        self._stop.set()
        if self._index is not None:
            threading.Thread(target=self._index.close, daemon=True).start()

    hits = getters.query_one("#hits", HitList)

    # -- the index

    def on_session_opened(self, reader: SessionReader | None) -> None:
        if reader is not None:
            self._fill()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        # A filling that is at work ends early for the next one.
        self._filling.soon(self._fill, REFRESH_SECONDS, beside=True)

    def _sessions(self) -> list[Path]:
        opened = self.workbench.session_path
        found = [opened] if opened is not None else []
        if self._last.everywhere:
            found += sorted(paths.sessions_dir().glob("*.session"))
        return list(dict.fromkeys(path.resolve() for path in found))

    def _fill(self) -> None:
        sessions, stop = self._sessions(), self._stop

        def work() -> str:
            if self._index is None:
                self._index = SearchIndex(paths.data_dir() / "search.db")

            def stopped() -> bool:
                return stop.is_set() or self._filling.outdated

            return _fill(self._index, sessions, stopped, lambda said: self._filling.report(self._filled, said))

        self._filling.ask(work, self._filled, self._say)

    def _filled(self, note: str) -> None:
        self._say(note)
        self._ask()

    # -- what is asked

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value != self._last.text:
            self._last.text, self._last.at = event.value, 0
        self._asking.soon(self._ask, ASK_SECONDS, beside=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_results()

    def _ask(self) -> None:
        index, sessions, reader = self._index, self._sessions(), self.workbench.reader
        if index is None:
            return
        try:
            self._query = query = parse(self._last.text)
        except UsageError as wrong:
            self._query = Query()
            self._show_found(SearchResult(), [], str(wrong))
            return

        def work() -> tuple[SearchResult, list[MatchedLine]]:
            found = index.search(query, sessions)
            return found, _lines(reader, found.hits[:_FIRST_LINES], query)

        def done(result: tuple[SearchResult, list[MatchedLine]]) -> None:
            if query == self._query:
                self._show_found(*result)
                self._read_lines(query, result[0])

        self._asking.ask(work, done, lambda sentence: self._show_found(SearchResult(), [], sentence))

    def _read_lines(self, query: Query, found: SearchResult) -> None:
        known, reader = len(self.hits.lines), self.workbench.reader
        if known >= len(found.hits) or reader is None:
            return

        def done(lines: list[MatchedLine]) -> None:
            if query == self._query and self.hits.found is found:
                self.hits.add_lines(lines)
                self._read_lines(query, found)

        self._asking.ask(lambda: _lines(reader, found.hits[known : known + 10 * _FIRST_LINES], query), done)

    # -- what was found

    def _show_found(self, found: SearchResult, lines: list[MatchedLine], wrong: str = "") -> None:
        self.hits.everywhere = self._last.everywhere
        self.hits.put(found, lines, cursor=self._last.at)
        asked = frozenset(condition.field for condition in self._query.conditions)
        self.query_one("#facets", FacetList).put(found.counts, asked)
        count = f"{'' if len(found.hits) == found.total else f'first {len(found.hits):,} of '}{found.total:,}"
        self.retitle("#hits-pane", f"Hits {count}" if self._query else "Hits")
        where = "all sessions" if self._last.everywhere else "this session"
        self.set_status(f"{where} · {count} {many('hit', found.total)}" if self._query else f"search {where}")
        self.set_class(not self._query and not wrong, "-nothing-asked")
        self._wrong = wrong
        self._say(self._note)
        self.refresh_bindings()

    def _say(self, note: str) -> None:
        self._note = note
        everywhere, widens = self._last.everywhere, f"{key_of('search.all-sessions')} searches all sessions."
        text = self._wrong
        if not text and self.workbench.session_path is None and not everywhere:
            text = f"No session is open; {widens}"
        elif not text and self._query and not self.hits.found.total and not note:
            text = "Nothing was found." if everywhere else f"Nothing was found; {widens}"
        self.query_one("#search-note", Static).update(one_line(" · ".join(filter(None, [text, note])), 300))

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.hits:
            self._last.at = message.index

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        if message.row_list is self.hits:
            self._open(message.index)
        elif (facet := self.query_one("#facets", FacetList).selected) is not None:
            # Exactly this value: what is counted beside it is what will be shown.
            name, value = facet
            said = f'{name}:="{value}"' if " " in value else f"{name}:={value}"
            field = self.query_one("#search-text", Input)
            typed = field.value
            field.value = typed.replace(said, "").strip() if said in typed else f"{typed.strip()} {said}".strip()

    def _open(self, at: int) -> None:
        workbench, last, hits, query = self.workbench, self._last, self.hits.found.hits, self._query

        def show_list(at: int) -> None:
            last.at = at
            workbench.push_screen(SearchScreen(last))

        async def completed(at: int) -> Location:
            return await asyncio.to_thread(location_of, workbench.reader, hits[at], query)

        self.dismiss()
        results = ResultList(show_list, [location_of(None, hit, query) for hit in hits], row="hit")
        results.searched, results.completed = True, completed
        workbench.follow(results, at)

    # -- keys

    def action_query(self) -> None:
        self.query_one("#search-text", Input).focus()

    def action_results(self) -> None:
        if self.hits.row_count():
            self.focus_pane(self.query_one("#hits-pane"))

    def action_everywhere(self) -> None:
        self._last.everywhere, self._last.at = not self._last.everywhere, 0
        self._fill()
        self._ask()


def _fill(
    index: SearchIndex, sessions: Sequence[Path], stopped: Callable[[], bool], progress: Callable[[str], None]
) -> str:
    """Index what is new in sessions; return a sentence on those that cannot be read, "" where all can."""
    from workbench.session.reader import SessionReader

    unread: list[str] = []
    for number, path in enumerate(sessions, 1):
        if stopped():
            break
        of = f" · session {number:,} of {len(sessions):,}" if len(sessions) > 1 else ""

        def report(done: int, of: str = of) -> None:
            progress(f"indexing: {done:,} so far{of}")

        try:
            with SessionReader(path) as reader:
                index.update(reader, stopped, report)
        except WorkbenchError:
            if index.broken():
                raise
            unread.append(path.name)
    more = f" and {len(unread) - 3:,} more" if len(unread) > 3 else ""
    return f"not searched, as unreadable: {', '.join(unread[:3])}{more}" if unread else ""


def _lines(reader: SessionReader | None, hits: Sequence[SearchHit], query: Query) -> list[MatchedLine]:
    """Return the lines of hits; those of another session than the open one are read from their own files."""
    from workbench.session.reader import SessionReader as Reader

    readers = {} if reader is None else {reader.path.resolve(): reader}
    with contextlib.ExitStack() as opened:
        for session in {hit.session for hit in hits} - readers.keys():
            with contextlib.suppress(WorkbenchError):
                readers[session] = opened.enter_context(Reader(session, surveyed=False))
        return [
            line_of(readers[hit.session], hit, query) if hit.session in readers else MatchedLine("") for hit in hits
        ]


_SEARCHED_THERE = frozenset({"step", "file", "message", "readme", "metadata", "docstring", "candidate", "failing"})


def location_of(reader: SessionReader | None, hit: SearchHit, query: Query) -> Location:
    """Return where a hit is; with the reader of its session also which text is to be marked there."""
    item, number, needle = hit.item, hit.entry.number, ""
    if hit.entry.kind in _SEARCHED_THERE and reader is not None:
        line = line_of(reader, hit, query)
        needle = line.text[line.start : line.end]
    if item.kind == "session":
        return Location(hit.session, "")
    if item.kind == "trial":
        return Location(hit.session, "trajectory", item.id, Place(number, needle, hit.entry.criterion))
    return Location(hit.session, "regeneration", item.run, Place(number, needle, item.task or item.id), item.model)
