"""The list of cases by kind, with the last score of each agent as a small bar."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.cases.files import GROUPS, TITLES, CaseEntry
from workbench.app.keys import bindings
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.virtual_view import Part
from workbench.base.glyphs import RUNNING, STATES, UNSCORED, WAITING
from workbench.results.scores import AgentScore, standing

_BARS = "▁▂▃▄▅▆▇█"
_STANDING = {"good": "good", "middling": "warn", "poor": "poor"}


class CaseList(RowList):
    """Group headings and cases, each with a second line; a run starts on the marked cases."""

    BINDINGS = bindings("cases/list")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[CaseEntry | str | None] = []  # None is the second line of a case
        self.scores: dict[str, tuple[AgentScore, ...]] = {}
        self.marked: list[str] = []

    def show(self, entries: Sequence[CaseEntry]) -> None:
        current = self.entry.key if self.entry is not None else ""
        rows: list[CaseEntry | str | None] = []
        for group in dict.fromkeys((*GROUPS, *(entry.case.kind for entry in entries))):
            members = [entry for entry in entries if entry.case.kind == group]
            if members:
                rows.append(f"{TITLES.get(group, group)} {len(members)}")
                for member in members:
                    rows += [member, None]
        self.rows = rows
        self.rows_changed(cursor=max(0, self._place(current)))

    def _place(self, key: str) -> int:
        return next((at for at, row in enumerate(self.rows) if isinstance(row, CaseEntry) and row.key == key), -1)

    @property
    def entries(self) -> list[CaseEntry]:
        return [row for row in self.rows if isinstance(row, CaseEntry)]

    @property
    def entry(self) -> CaseEntry | None:
        row = self.rows[self.cursor] if 0 <= self.cursor < len(self.rows) else None
        return row if isinstance(row, CaseEntry) else None

    @property
    def chosen(self) -> list[CaseEntry]:
        marked = [entry for entry in self.entries if entry.key in self.marked]
        return marked or ([self.entry] if self.entry else [])

    def go_to_key(self, key: str) -> None:
        if (at := self._place(key)) >= 0:
            self.set_cursor(at)

    def row_count(self) -> int:
        return len(self.rows)

    def selectable(self, index: int) -> bool:
        return isinstance(self.rows[index], CaseEntry)

    def words_of(self, index: int) -> str:
        row = self.rows[index]
        if not isinstance(row, CaseEntry):
            return ""
        case = row.case
        return f"{case.id} {case.name} {case.kind} {case.domain} {case.language} {case.description}"

    def parts_of(self, index: int, width: int) -> Sequence[Part]:
        row = self.rows[index]
        if isinstance(row, str):
            return [(f" {row}", "group")]
        if row is None:
            above = self.rows[index - 1]
            about = f"{above.case.domain} · {above.case.language}" if isinstance(above, CaseEntry) else ""
            return [("    " + fit(about.strip(" ·"), width - 5), "dim")]
        mark = "■ " if row.key in self.marked else "  "
        right = self._right(row)
        room = width - 2 - len(mark) - sum(len(text) for text, _ in right)
        return [(" ", ""), (mark, "marked"), (fit(row.case.name, room), ""), (" ", ""), *right]

    def _right(self, entry: CaseEntry) -> list[Part]:
        scores = self.scores.get(entry.key, ())
        if not scores:
            return [("" if entry.fetched else "↓ fetch", "dim")]
        bars: list[Part] = [_bar(score) for score in scores[:4]]
        points = [score.share for score in scores if score.share is not None]
        best = f"{max(points) * 100:3.0f}" if points else "  –"
        return [*bars, (" ", ""), (best, "score")]

    def action_mark(self) -> None:
        entry = self.entry
        if entry is None:
            return
        if entry.key in self.marked:
            self.marked.remove(entry.key)
        else:
            self.marked.append(entry.key)
        self.action_move(1)
        self.refresh()
        self.post_message(self.RowHighlighted(self, self.cursor))

    def action_mark_all(self) -> None:
        keys = [entry.key for entry in self.entries if entry.case.kind != "own"] or [e.key for e in self.entries]
        self.marked = [] if set(keys) <= set(self.marked) else keys
        self.refresh()
        self.post_message(self.RowHighlighted(self, self.cursor))


def _bar(score: AgentScore) -> Part:
    if score.state == "running":
        return RUNNING, "running"
    if score.share is None:
        sign = UNSCORED if score.state == "done" else STATES.get(score.state, WAITING)
        return sign, {"failed": "failed", "interrupted": "paused"}.get(score.state, "waiting")
    return _BARS[min(7, int(score.share * 8))], _STANDING[standing(score.share)]
