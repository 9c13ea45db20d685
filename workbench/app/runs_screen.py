"""All runs of the open session, with their state, progress and cost, and actions on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from textual import getters, work
from textual.containers import Container, Vertical
from textual.widget import Widget

from workbench.app import runs
from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.location import Location, MarkedItem, ResultList
from workbench.app.toolkit.actions import LabelTarget
from workbench.app.toolkit.columns import TableColumn
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.base.glyphs import STATES
from workbench.base.text import age, clean, duration, fixed, one_line, shortened
from workbench.orders import launching
from workbench.results.runs import RESUMABLE, RunLine, load_runs, sentence
from workbench.session import SessionWriter

LONGEST_NAME = 120
"""Maximum number of characters in the name of a run."""
_KINDS = frozenset({"trial", "run", "score", "candidate", "stage", "label"})
_WHAT_TO_DO = {
    "interrupted": "Its engine is gone: {runs.resume} resumes it; finished results are kept.",
    "running": "An engine is running it: {runs.cancel} cancels it; it continues when you quit.",
    "queued": "An engine is starting.",
    "unscored": "The judge failed, so scores are missing: {runs.resume} retries it.",
    "failed": "{runs.resume} retries it.",
    "cancelled": "It was cancelled: {runs.resume} continues it.",
    "paused": "It is paused in the queue: {runs.pause} continues it.",
    "waiting": "It is number {} in the queue: {runs.sooner} or {runs.later} moves it, {runs.pause} pauses it, {runs.cancel} cancels it.",
    "archived": "It is archived and excluded from all figures: {runs.archive} brings it back.",
}
_STYLES = {
    "done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused",
    "cancelled": "waiting", "queued": "waiting",
}  # fmt: skip


def _state(line: RunLine) -> Part:
    if line.archived:
        return "archived", "dim"
    if line.paused:
        return f"{STATES['interrupted']} paused", "paused"
    if line.place:
        return f"{STATES['queued']} queued {line.place}", "waiting"
    partly = line.state == "done" and line.failed
    return f"{STATES.get(line.state, '?')} {line.state}", "paused" if partly else _STYLES.get(line.state, "dim")


def run_progress(line: RunLine) -> str:
    """Return the progress of a run: ``12 of 40 samples``, or ``40 samples, 2 failed`` once it is complete."""
    unit = line.unit if line.total != 1 else line.unit.removesuffix("s")
    if not line.total:
        return "–"
    if line.done < line.total:
        return f"{line.done:,} of {line.total:,} {unit}"
    return f"{line.total:,} {unit}, {line.failed:,} failed" if line.failed else f"{line.total:,} {unit}"


def title_within(title: str, width: int) -> str:
    """Shorten a title to ``width`` cells, starting with the cases, because agent and model distinguish runs."""
    what, dot, rest = title.partition(" · ")
    room = width - len(dot) - len(rest)
    return f"{shortened(what, room)}{dot}{rest}" if dot and 8 <= room < len(what) else shortened(title, width)


COLUMNS: tuple[TableColumn[RunLine], ...] = (
    TableColumn(title="run", cell=lambda run: clean(run.title), width=36, widest=200, text=True, shorten=title_within,
           sort=lambda run: run.title.casefold()),
    TableColumn(title="state", cell=_state, width=14, widest=14, text=True,
           sort=lambda run: list(STATES).index(run.state) if run.state in STATES else len(STATES)),
    TableColumn(title="so far", cell=run_progress, width=22, widest=24, priority=1, sort=lambda run: run.done / run.total if run.total else None),
    TableColumn(title="spend $", cell=lambda run: fixed(run.spend_usd, 3), width=8, priority=2,
           sort=lambda run: run.spend_usd, descending=True),
    TableColumn(title="age", cell=lambda run: age(run.created_at), width=7, priority=3, sort=lambda run: run.created_at,
           descending=True),
    TableColumn(title="took", cell=lambda run: "–" if run.seconds is None else duration(run.seconds), width=8, priority=4,
           sort=lambda run: run.seconds, descending=True),
)  # fmt: skip


class RunTable(VirtualTable[RunLine]):
    """The runs of a session; archived ones are hidden unless requested."""

    RESTORED = (*VirtualTable.RESTORED, "with_archived")
    BINDINGS = bindings("runs.open")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(COLUMNS, key=lambda run: run.id, order="age", id=id)
        self.with_archived = False

    def filtered(self, rows: Sequence[RunLine]) -> list[RunLine]:
        return [run for run in rows if self.with_archived or not run.archived]

    def style_of(self, row: RunLine) -> str:
        return "dim" if row.archived else ""

    def words_of_row(self, row: RunLine) -> str:
        return f"{row.id} {row.kind} {row.title} {row.asked} {'archived' if row.archived else row.state} {row.error}"


class RunsScreen(ModeScreen):
    """The table of runs; the cursor starts at ``current``, the run shown by the mode below."""

    mode_name = "Runs"
    own_resume = True
    CSS_PATH = "styles/run_list.tcss"
    BINDINGS = bindings("runs")

    def __init__(self, current: str = "") -> None:
        super().__init__()
        self._current = current
        self.live = LiveLoader(
            self, "runs", lambda reader: partial(load_runs, reader, time.time()), self._show, kinds=_KINDS, nothing=()
        )
        self._doing = LatestWorker(self, "run-orders", every=True)
        self._archived: list[str] = []

    def compose_body(self) -> Iterable[Widget]:
        pane = set_title(Container(RunTable(id="run-table"), id="runs", classes="pane"), "Runs")
        yield Vertical(pane, Static("", id="run-details"), id="run-column")

    def on_mount(self) -> None:
        self.table.restore(self._current)
        self.marks_changed()

    def marks_changed(self) -> None:
        super().marks_changed()
        path = self.workbench.session_path
        letters = self.workbench.marks.letters(path, "run") if path is not None else {}
        self.table.show_leads({self._current: "›", **letters})

    table = getters.query_one("#run-table", RunTable)

    # -- content

    def _show(self, lines: tuple[RunLine, ...]) -> None:
        self.table.put(lines)
        self.set_status(sentence(lines) if lines else "no runs")
        self.on_virtual_table_arranged()

    def on_virtual_table_arranged(self) -> None:
        table = self.table
        hidden = len(table.rows) - len(table.shown)
        away = [f"{hidden:,} archived: {key_of('runs.all')} shows {'it' if hidden == 1 else 'them'}"] if hidden else []
        self.retitle("#runs", " · ".join([f"Runs {len(table.shown):,}", *table.arranged_by(), *away]))
        self.on_row_list_row_highlighted()

    def on_row_list_row_highlighted(self) -> None:
        line = self.table.selected
        if line is not None:
            state = "paused" if line.place and line.paused else "waiting" if line.place else line.state
            todo = with_keys(_WHAT_TO_DO.get(state, "").replace("{}", str(line.place)))
            failed = f"✗ {one_line(line.error, 600)}" if line.error else ""
            away = with_keys(_WHAT_TO_DO["archived"]) if line.archived else ""
            what = one_line(f"{line.kind} {line.id} · {line.asked}", 400)
            text = "\n".join(filter(None, (what, " · ".join(filter(None, (run_progress(line), todo))), failed, away)))
        elif self.table.rows:
            text = f"All runs of this session are archived: {key_of('runs.all')} shows them, {key_of('runs.bring-back')} brings the last one back."
        else:
            text = f"This session has no runs yet: press {key_of('app.cases')} and {key_of('cases.run')} to start one."
        self.query_one("#run-details", Static).update(text)
        self.refresh_bindings()

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or not self.query("#run-table"):
            return True
        line = self.table.selected
        match action:
            case "resume":
                return line is not None and line.state in RESUMABLE and not line.archived
            case "cancel":
                return line is not None and line.state in {"running", "queued", "interrupted"}
            case "pause" | "turn":
                return line is not None and line.place > 0
            case "name" | "archive" | "star" | "tags" | "remark" | "mark":
                return line is not None
            case "bring_back":
                return bool(self._archived)
            case "all":
                return any(run.archived for run in self.table.rows)
        return super().check_action(action, parameters)

    def labelled(self) -> LabelTarget | None:
        line = self.table.selected
        return LabelTarget(line.name or line.asked, line.id) if line is not None else None

    def _marked(self) -> MarkedItem | None:
        line, path = self.table.selected, self.workbench.session_path
        if line is None or path is None:
            return None
        return MarkedItem(path, "run", line.id, one_line(line.title, 100), line.id, line.kind == "document")

    def action_mark(self) -> None:
        if (one := self._marked()) is not None:
            self.workbench.marks.toggle(one)
            self.marks_changed()

    def action_compare(self) -> None:
        pair = self.workbench.marks.pair("run", self._marked())
        if pair is None:
            text = f"Mark a run with {key_of('runs.mark')}, then press {key_of('runs.compare')} on another one."
            self.notify(text, timeout=6)
        elif pair.left.of_trials is not pair.right.of_trials:
            self.notify("A run of trials and a run of tasks cannot be compared.", timeout=6)
        else:
            self.workbench.show_pair(pair)

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        line = self.table.selected
        app, path = self.app, self.workbench.session_path
        rows = [row for row in self.table.in_order() if row.kind != "document" or row.first_trial is not None]
        if line in rows:
            modes = [("trajectory", row.first_trial) if row.first_trial else ("regeneration", row.id) for row in rows]
            locations = [Location(path, mode, key) for mode, key in modes]
            results = ResultList(lambda at: app.push_screen(RunsScreen(rows[at].id)), locations, row="run")
            self.workbench.follow(results, rows.index(line))
        elif line is not None:
            self.notify("This run has no trials: it scores those of other runs.", timeout=6)

    def action_resume(self) -> None:
        line, path = self.table.selected, self.workbench.session_path
        if line is not None and path is not None:
            self.workbench.resume_session(path, line.id)

    def _to_write(self) -> tuple[RunLine, Path] | None:
        """Return the selected run and its session, or None if the session is read-only."""
        line, path = self.table.selected, self.workbench.session_path
        if path is None or runs.is_example(path):
            self.notify("The bundled example is read-only.", severity="warning")
            return None
        return (line, path) if line is not None else None

    def _do(self, change: Callable[[], object], text: str = "") -> None:
        def done(_: object) -> None:
            if text:
                self.notify(text, timeout=6)
            self.live.refresh()

        self._doing.ask(change, done)

    def _write(self, path: Path, change: Callable[[SessionWriter], None], text: str = "") -> None:
        self._do(lambda: runs.write(path, change), text)

    def action_cancel(self) -> None:
        if target := self._to_write():
            self.workbench.cancel_session(target[1], target[0].id)

    def action_pause(self) -> None:
        if target := self._to_write():
            line, path = target
            self._do(lambda: launching.pause(path, line.id, not line.paused))

    def action_turn(self, places: int) -> None:
        if target := self._to_write():
            line, path = target
            self._do(lambda: launching.move(path, line.id, places))

    @work
    async def action_name(self) -> None:
        from workbench.app.toolkit.form import AskText

        if target := self._to_write():
            line, path = target
            note = f"Empty: the run is named after its plan, {line.asked}."
            answer = await self.app.push_screen_wait(AskText("Name the run", note, line.name))
            if answer is not None:
                name = one_line(answer, LONGEST_NAME)
                self._write(path, lambda writer: writer.name_run(line.id, name))

    def action_archive(self) -> None:
        if (target := self._to_write()) is None:
            return
        line, path = target
        if line.archived:
            self._write(path, lambda writer: writer.unarchive_run(line.id))
        elif line.state in {"running", "queued"}:
            self.notify(f"The run is active: cancel it first ({key_of('runs.cancel')}).", severity="warning")
        else:
            self._archived.append(line.id)
            back = f"{key_of('runs.bring-back')} brings it back."
            text = f"{one_line(line.title, 60)} was archived; nothing is erased. {back}"
            self._write(path, lambda writer: writer.archive_run(line.id), text)

    def action_bring_back(self) -> None:
        path = self.workbench.session_path
        if self._archived and path is not None:
            run = self._archived.pop()
            self._write(path, lambda writer: writer.unarchive_run(run))

    def action_all(self) -> None:
        self.table.with_archived = not self.table.with_archived
        self.table.rearrange()
        self.on_virtual_table_arranged()
