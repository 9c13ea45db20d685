"""Full-text search: type a query, browse the hits, narrow them by facets and open a hit."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Input

from workbench.app.keys import bindings, key_of
from workbench.app.location import Anchor, Location, ResultList
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.typed_line import LineInput
from workbench.app.toolkit.virtual_view import Part
from workbench.app.toolkit.workers import LatestWorker
from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import clean, many, one_line, shortened
from workbench.search import FIELDS, Query, SearchHit, SearchIndex, SearchResult, parse
from workbench.search.index import MatchedLine, line_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


_KIND = 9
_NAMES = {"file": "file at"}


class HitList(RowList):
    """One row per hit; the matching lines are filled in as they are loaded."""

    ALLOW_SELECT = False
    narrows: ClassVar[bool] = False  # on this screen, / edits the query
    BINDINGS = bindings("search/hits")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.found = SearchResult()
        self.lines: list[MatchedLine] = []
        self.everywhere = False

    def put(self, found: SearchResult, lines: Sequence[MatchedLine], *, cursor: int = 0) -> None:
        self.found, self.lines = found, list(lines)
        self.rows_changed(cursor=cursor)

    def add_lines(self, lines: Sequence[MatchedLine]) -> None:
        self.lines += lines
        self.refresh()

    def row_count(self) -> int:
        return len(self.found.hits)

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        hit = self.found.hits[index]
        number = f" {hit.entry.number}" if hit.item.kind == "trial" and hit.entry.number else ""
        where = hit.item.title
        if self.everywhere:
            where = f"{hit.session.stem} · {where}"
        room = min(48, max(12, (width - _KIND - 2) * 2 // 5))
        model = hit.item.model.rpartition("/")[2] or hit.item.model
        if model and len(self.found.counts.get("model", ())) > 1 and len(where) + len(model) + 3 <= room:
            where = f"{where} · {model}"  # distinguishes the models of an agent, or the evaluators of a task
        parts: list[Part] = [
            (" " + fit(f"{_NAMES.get(hit.entry.kind, hit.entry.kind)}{number}", _KIND + 2) + " ", "group"),
            (fit(shortened(clean(where), room), room) + "  ", ""),
        ]
        rest = width - sum(len(text) for text, _ in parts)
        if index < len(self.lines) and rest > 4:
            parts += around(self.lines[index], rest)
        return parts


def around(line: MatchedLine, width: int) -> list[Part]:
    """Return the part of a line around the match, ``width`` cells wide."""
    text, start, end = line.text, line.start, line.end
    lead = 0
    if len(text) > width and end > width - 8:
        lead = max(0, min(start - width // 3, len(text) - width))
    before, match, after = (clean(part).replace("\n", " ") for part in (text[lead:start], text[start:end], text[end:]))
    if lead:
        before = "…" + before[1:]
    parts: list[Part] = []
    for part, style in ((before, "dim"), (match, "hit"), (after, "dim")):
        if part and width > 0:
            parts.append((fit(part, width).rstrip() if len(part) > width else part, style))
            width -= len(parts[-1][0])
    return parts


_SHOWN = 12  # maximum number of values shown per facet


class FacetList(RowList):
    """A heading for each facet that has several values or occurs in the query, and a row for each value."""

    ALLOW_SELECT = False
    BINDINGS = bindings("search.facet")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[tuple[str, str, int]] = []
        self._counts: dict[str, list[tuple[str, int]]] = {}
        self._queried: frozenset[str] = frozenset()

    def put(self, counts: dict[str, list[tuple[str, int]]], queried: frozenset[str]) -> None:
        """Show the facets; those in ``queried`` occur in the query and are shown even if they have only one value."""
        self._counts, self._queried = counts, queried
        before = self._rows
        self._lay_out(all_values=bool(self.narrowed))
        if self._rows != before:
            self.rows_changed()

    def _lay_out(self, *, all_values: bool) -> None:
        self._rows = []
        for name, values in self._counts.items():
            if len(values) > 1 or (name in self._queried and values):
                self._rows.append((name, "", 0))
                self._rows += [(name, value, count) for value, count in values[: None if all_values else _SHOWN]]

    def narrow(self, text: str) -> None:
        if bool(text.strip()) != bool(self.narrowed):
            self._lay_out(all_values=bool(text.strip()))
        super().narrow(text)

    def words_of(self, index: int) -> str:
        name, value, _ = self._rows[index]
        return f"{name} {value}"

    @property
    def selected(self) -> tuple[str, str] | None:
        if 0 <= self.cursor < len(self._rows) and self._rows[self.cursor][2]:
            return self._rows[self.cursor][:2]
        return None

    def row_count(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return bool(self._rows[index][2])

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        name, value, count = self._rows[index]
        if not count:
            return [(fit(name, width), "group")]
        number = f"{count:,}"
        room = max(1, width - len(number) - 3)
        return [("  " + fit(shortened(value, room), room) + " ", ""), (number, "number")]


ASK_SECONDS = 0.1  # delay between a key press and the search
REFRESH_SECONDS = 1.0  # interval for reindexing a session that changes
_FIRST_LINES = 100
_TIP = "\n".join(
    (
        'Words and "phrases": a text must contain all of them; words also match the beginnings of words.',
        'For example:  file:pyproject.toml agent:white score:<60 lost:"run command"',
        "",
        *(f"{name + ':':<9} {what}" for name, what in FIELDS.items()),
    )
)


@dataclass(slots=True)
class SearchState:
    """The query, whether it covers all sessions, and the index of the selected hit."""

    text: str = ""
    everywhere: bool = False
    at: int = 0


class SearchScreen(ModeScreen):
    """A query line, the hits and their facets; ``last`` keeps the search for the next time it opens."""

    mode_name = "Search"
    CSS_PATH = "styles/search.tcss"
    BINDINGS = bindings("search")

    def __init__(self, last: SearchState) -> None:
        super().__init__()
        self._last = last
        self._index: SearchIndex | None = None
        self._asking, self._filling = LatestWorker(self, "search"), LatestWorker(self, "search-filling")
        self._stop = threading.Event()
        self._query = Query()
        self._note = self._wrong = ""

    def compose_body(self) -> Iterable[Widget]:
        yield Container(
            LineInput(self._last.text, placeholder="search", id="search-text", compact=True), id="search-line"
        )
        inside = HitList(id="hits"), Static(_TIP, id="search-tip"), Static("", id="search-note")
        hits = Pane(*inside, id="hits-pane", classes="pane")
        facets = Pane(FacetList(id="facets"), short="Narrow down", id="facets-pane", classes="pane")
        yield Container(hits, facets, id="found")

    def on_mount(self) -> None:
        self.query_one("#search-text", Input).select_all()
        self.retitle("#hits-pane", "Hits")
        self.add_class("-nothing-asked")
        self._show_note("")

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
        # A running update stops early to make way for the next one.
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

            return _fill(self._index, sessions, stopped, lambda text: self._filling.report(self._filled, text))

        self._filling.ask(work, self._filled, self._show_note)

    def _filled(self, note: str) -> None:
        self._show_note(note)
        self._ask()

    # -- the query

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

    # -- the hits

    def _show_found(self, found: SearchResult, lines: list[MatchedLine], wrong: str = "") -> None:
        self.hits.everywhere = self._last.everywhere
        self.hits.put(found, lines, cursor=self._last.at)
        queried = frozenset(condition.field for condition in self._query.conditions)
        self.query_one("#facets", FacetList).put(found.counts, queried)
        count = f"{'' if len(found.hits) == found.total else f'first {len(found.hits):,} of '}{found.total:,}"
        self.retitle("#hits-pane", f"Hits {count}" if self._query else "Hits")
        where = "all sessions" if self._last.everywhere else "this session"
        self.set_status(f"{where} · {count} {many('hit', found.total)}" if self._query else f"search {where}")
        self.set_class(not self._query and not wrong, "-nothing-asked")
        self._wrong = wrong
        self._show_note(self._note)
        self.refresh_bindings()

    def _show_note(self, note: str) -> None:
        self._note = note
        everywhere, widens = self._last.everywhere, f"{key_of('search.all-sessions')} searches all sessions."
        text = self._wrong
        if not text and self.workbench.session_path is None and not everywhere:
            text = f"No session is open; {widens}"
        elif not text and self._query and not self.hits.found.total and not note:
            text = "Nothing was found." if everywhere else f"Nothing was found; {widens}"
        self.query_one("#search-note", Static).update(one_line(" · ".join(filter(None, [text, note])), 300))

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        if message.row_list is self.hits:
            self._last.at = message.index

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        if message.row_list is self.hits:
            self._open(message.index)
        elif (facet := self.query_one("#facets", FacetList).selected) is not None:
            # Only an exact match yields the number of hits that the facet shows.
            name, value = facet
            text = f'{name}:="{value}"' if " " in value else f"{name}:={value}"
            field = self.query_one("#search-text", Input)
            typed = field.value
            field.value = typed.replace(text, "").strip() if text in typed else f"{typed.strip()} {text}".strip()

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
    """Index new texts of sessions; returns a message about unreadable sessions, or "" if there are none."""
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
    return f"unreadable, so not searched: {', '.join(unread[:3])}{more}" if unread else ""


def _lines(reader: SessionReader | None, hits: Sequence[SearchHit], query: Query) -> list[MatchedLine]:
    """Return the matching line of each hit, read from the session of the hit; it is empty if that is unreadable."""
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
    """Return the location of a hit; with a reader of its session, it includes the text to highlight there."""
    item, number, needle = hit.item, hit.entry.number, ""
    if hit.entry.kind in _SEARCHED_THERE and reader is not None:
        line = line_of(reader, hit, query)
        needle = line.text[line.start : line.end]
    if item.kind == "session":
        return Location(hit.session, "")
    if item.kind == "trial":
        return Location(hit.session, "trajectory", item.id, Anchor(number, needle, hit.entry.criterion))
    return Location(hit.session, "regeneration", item.run, Anchor(number, needle, item.task or item.id), item.model)
