"""All stars, tags and remarks of the open session; enter opens the item that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual import getters
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.location import Anchor, Location, ResultList
from workbench.app.toolkit.columns import TableColumn
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.workers import LiveLoader
from workbench.base.text import age, one_line, shortened
from workbench.results.runs import plan_title
from workbench.session.labels import SESSION, STAR, part_in_words

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

_SIGNS = {"star": "★ star", "tag": "# tag", "remark": "✎ remark"}
_NOTHING = "There are no stars, tags or remarks yet: {labels.star} stars the selected item, {labels.tags} tags it, {labels.remark} adds a remark."


@dataclass(frozen=True, slots=True)
class LabelOwner:
    """A labelled item and its location, which is None if the item is no longer in the session."""

    what: str
    title: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class LabelLine:
    """A star, tag or remark, and its time as a Unix timestamp."""

    kind: str
    text: str
    at: float
    owner: LabelOwner


def load_labels(reader: SessionReader) -> tuple[LabelLine, ...]:
    rows = [("star" if row.label == STAR else "tag", row.label, row.at, row.item, row.part) for row in reader.labels()]
    rows += [("remark", note.text, note.at, note.item, note.of) for note in reader.annotations()]
    owners = {key: _owner(reader, *key) for key in dict.fromkeys(row[3:] for row in rows)}
    lines = (LabelLine(kind, text, at, owners[item, part]) for kind, text, at, item, part in rows)
    return tuple(sorted(lines, key=lambda line: -line.at))


def _owner(reader: SessionReader, item: str, part: str) -> LabelOwner:
    path = reader.path
    if item == SESSION:
        return LabelOwner("session", f"the session {path.stem}", Location(path, "sessions"))
    if (trial := reader.trial(item)) is not None:
        title = f"{trial.case_name or trial.case_id} · {trial.agent} · {trial.model} · repeat {trial.repeat}"
        place = Anchor(int(part)) if part.isdecimal() else Anchor(item=part) if part else None
        if part:
            title = f"{f'step {part}' if part.isdecimal() else part_in_words(part)} of {title}"
        what = "step" if part.isdecimal() else "criterion" if part else "trial"
        return LabelOwner(what, title, Location(path, "trajectory", item, place))
    if (task := reader.task(item)) is not None:
        title = f"{task.path}::{task.qualified_name}"
        return LabelOwner("task", title, Location(path, "regeneration", task.run_id, Anchor(item=item)))
    if (candidate := reader.candidate(item)) is not None:
        of = reader.task(candidate.task_id)
        title = f"{of.qualified_name if of is not None else candidate.task_id} · sample {candidate.sample + 1}"
        place = Anchor(candidate.sample, item=candidate.task_id)
        return LabelOwner("sample", title, Location(path, "regeneration", candidate.run_id, place))
    if (run := reader.run(item)) is not None:
        trials = reader.trials(item)
        mode, shown = ("trajectory", trials[0].id) if trials else ("regeneration", item)
        return LabelOwner("run", run.name or plan_title(run), Location(path, mode, shown))
    return LabelOwner("", f"{item}, which is no longer in the session")


COLUMNS: tuple[TableColumn[LabelLine], ...] = (
    TableColumn(title="what", cell=lambda line: (_SIGNS[line.kind], "marked"), width=9, text=True, sort=lambda line: line.kind),
    TableColumn(title="text", cell=lambda line: "" if line.kind == "star" else one_line(line.text, 400), width=10, widest=200, text=True,
           shorten=shortened, sort=lambda line: line.text.casefold() if line.kind != "star" else None),
    TableColumn(title="of", cell=lambda line: (one_line(line.owner.title, 400), "" if line.owner.location else "dim"), width=20, widest=200,
           text=True, shorten=shortened, sort=lambda line: line.owner.title.casefold()),
    TableColumn(title="age", cell=lambda line: (age(line.at), "dim"), width=6, sort=lambda line: line.at, descending=True),
)  # fmt: skip


class LabelList(VirtualTable[LabelLine]):
    """Stars, tags and remarks, newest first."""

    BINDINGS = bindings("marked.open")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda line: line, order="age", id=id)

    def words_of_row(self, row: LabelLine) -> str:
        return f"{row.kind} {row.text} {row.owner.what} {row.owner.title}"


class LabelsScreen(ModeScreen):
    """A list, and a line with the full remark; the cursor starts at ``current``, or else at its last position."""

    mode_name = "Stars, tags and remarks"
    CSS_PATH = "styles/marked.tcss"
    BINDINGS = bindings("marked.back")

    def __init__(self, current: LabelLine | None = None) -> None:
        super().__init__()
        self._current = current
        kinds, read = {"label", "annotation", "run"}, lambda reader: partial(load_labels, reader)
        self.live = LiveLoader(self, "marked", read, self._show, kinds=kinds, nothing=())

    def compose_body(self) -> Iterable[Widget]:
        pane = Container(LabelList(id="marked-list"), Static("", id="marked-line"), id="marked", classes="pane")
        yield set_title(pane, self.mode_name)

    def on_mount(self) -> None:
        self.table.restore(self._current)

    table = getters.query_one("#marked-list", LabelList)

    def _show(self, lines: tuple[LabelLine, ...]) -> None:
        self.table.put(lines)
        self.on_row_list_row_highlighted()

    def on_row_list_row_highlighted(self) -> None:
        table, line = self.table, self.table.selected
        shown, total = table.narrow_counts()
        of = f"{shown:,} of {total:,}" if table.narrowed else f"{total:,}"
        self.retitle("#marked", f"{self.mode_name} {of}")
        self.set_status(f"{total:,} labels")
        if not table.rows:
            text = with_keys(_NOTHING)
        elif line is None:
            text = f"No row matches: {key_of('list.all')} shows all."
        else:
            text = one_line(line.text if line.kind == "remark" else line.owner.title, 1000)
        self.query_one("#marked-line", Static).update(text)

    def on_row_list_narrowed(self) -> None:
        self.on_row_list_row_highlighted()

    def on_row_list_row_selected(self) -> None:
        line, app = self.table.selected, self.app
        rows = [row for row in self.table.in_order() if row.owner.location and row.owner.location.item]
        if line in rows:
            locations = [row.owner.location for row in rows if row.owner.location]
            results = ResultList(lambda at: app.push_screen(LabelsScreen(rows[at])), locations, row="label")
            self.workbench.follow(results, rows.index(line))
        elif line is not None and line.owner.location:
            self.workbench.go_to(line.owner.location)
        elif line is not None:
            self.notify("The labelled item is no longer in the session.")
