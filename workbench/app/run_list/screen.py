"""All runs of the open session: which one is at work, which one stopped, what each cost; and what can be done with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widget import Widget

from workbench.app import runs
from workbench.app.key_table import key_of, with_keys
from workbench.app.keys import bind
from workbench.app.location import Location, ResultList
from workbench.app.run_list.table import RunTable, so_far
from workbench.app.toolkit.labelling import Labelled
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.results.runs import RESUMABLE, RunLine, load_runs, sentence
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change

REFRESH_SECONDS = 0.5
"""Time between two readings of a session that changes; one that takes long is not begun again before its end."""
LONGEST_NAME = 120
"""Characters of a run's name."""
_WHAT_TO_DO = {
    "interrupted": "Its engine is gone: {runs.resume} resumes it; what is finished is kept.",
    "running": "An engine is at work: {runs.cancel} cancels it; it goes on when you leave.",
    "queued": "An engine is on its way to it.",
    "unscored": "A judge failed, so scores are missing: {runs.resume} asks it again.",
    "failed": "{runs.resume} tries it again.",
    "cancelled": "It was cancelled: {runs.resume} takes up what is missing.",
}


def _in_queue(line: RunLine) -> str:
    """Return what is to be said of a run that waits for its turn, "" for any other."""
    if not line.place:
        return ""
    if line.paused:
        return f"It stays back in the queue: {key_of('runs.pause')} lets it go on."
    return f"It is number {line.place} in the queue: {key_of('runs.sooner')} or {key_of('runs.later')} moves it, {key_of('runs.pause')} lets it stay back, {key_of('runs.cancel')} cancels it."


class RunsScreen(ModeScreen):
    """A table of runs.

    Args:
        current: The run that is shown behind this screen, "" for none; the cursor starts there.
    """

    mode_name = "Runs"
    own_resume = True
    CSS_PATH = "../styles/run_list.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("runs.resume", "resume", "resume"),
        bind("runs.cancel", "cancel", "cancel"),
        bind("runs.pause", "pause", "pause"),
        bind("runs.sooner", "turn(-1)", "sooner", key_display="⇧↑"),
        bind("runs.later", "turn(1)", "later", key_display="⇧↓"),
        bind("runs.name", "name", "name"),
        bind("runs.put-away", "put_away", "put away"),
        bind("runs.bring-back", "bring_back", "bring back"),
        bind("runs.all", "all", "show put away"),
        bind("runs.mark", "mark", "mark"),
        bind("runs.compare", "compare", "compare"),
        bind("labels.star", "star", "star", show=False),
        bind("labels.tags", "tags", "tags"),
        bind("labels.remark", "remark", "remark", show=False),
        bind("runs.back", "leave", "back"),
    ]

    def __init__(self, current: str = "") -> None:
        super().__init__()
        self._current = current
        self._loading, self._doing = Latest(self, "runs"), Latest(self, "run-orders", every=True)
        self._put_away: list[str] = []

    def compose_body(self) -> Iterable[Widget]:
        pane = Container(RunTable(id="run-table"), id="runs", classes="pane")
        set_title(pane, "Runs")
        yield Vertical(pane, Static("", id="run-details"), id="run-column")

    def on_mount(self) -> None:
        self.table.current = self._current
        self.table.marks = self.workbench.marks
        self.table.restore(self._current)

    @property
    def table(self) -> RunTable:
        return self.query_one("#run-table", RunTable)

    # -- what is shown

    def on_session_opened(self, reader: SessionReader | None) -> None:
        if reader is None:
            self._show(())
        else:
            self._load()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        kinds = {"trial", "run", "score", "candidate", "stage", "label"}
        if any(change.kind in kinds for change in changes):
            self._loading.soon(self._load, REFRESH_SECONDS)

    def _load(self) -> None:
        reader = self.workbench.reader
        if reader is not None:
            self._loading.ask(lambda: load_runs(reader, time.time()), self._show)

    def _show(self, lines: tuple[RunLine, ...]) -> None:
        if self.workbench.reader is not None:
            self.table.session = self.workbench.reader.path
        self.table.put(lines)
        self.set_status(sentence(lines) if lines else "no runs")
        self._arranged()

    def _arranged(self) -> None:
        table = self.table
        hidden = len(table.rows) - len(table.shown)
        away = f"{hidden:,} put away: {key_of('runs.all')} shows {'it' if hidden == 1 else 'them'}" if hidden else ""
        parts = [f"Runs {len(table.shown):,}", *table.arranged_by(), away]
        self.retitle("#runs", " · ".join(part for part in parts if part))
        self._show_details()
        self.refresh_bindings()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self._show_details()
        self.refresh_bindings()

    def _show_details(self) -> None:
        line = self.table.selected
        if line is None and self.table.rows:
            text = f"Every run of this session was put away: {key_of('runs.all')} shows them, {key_of('runs.bring-back')} brings the last one back."
        elif line is None:
            text = f"This session has no runs yet: press {key_of('app.cases')} and {key_of('cases.run')} to start one."
        else:
            away = (
                f"It was put away, so its figures count nowhere: {key_of('runs.put-away')} brings it back."
                if line.put_away
                else ""
            )
            failed = f"✗ {one_line(line.error, 600)}" if line.error else ""
            what = f"{line.kind} {line.id} · {line.asked}"
            todo = _in_queue(line) or with_keys(_WHAT_TO_DO.get(line.state, ""))
            text = "\n".join(
                filter(None, (one_line(what, 400), " · ".join(filter(None, (so_far(line), todo))), failed, away))
            )
        self.query_one("#run-details", Static).update(text)

    # -- what one can do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or not self.query("#run-table"):
            return True
        line = self.table.selected
        if action == "resume":
            return line is not None and line.state in RESUMABLE and not line.put_away
        if action == "cancel":
            return line is not None and line.state in {"running", "queued", "interrupted"}
        if action in {"pause", "turn"}:
            return line is not None and line.place > 0
        if action in {"name", "put_away", "star", "tags", "remark", "mark"}:
            return line is not None
        if action == "bring_back":
            return bool(self._put_away)
        if action == "all":
            return any(run.put_away for run in self.table.rows)
        return super().check_action(action, parameters)

    def labelled(self) -> Labelled | None:
        line = self.table.selected
        return Labelled(line.name or line.asked, line.id) if line is not None else None

    def action_mark(self) -> None:
        line = self.table.selected
        if line is not None:
            self.workbench.marks.toggle(self.table.marked(line))
            self.table.refresh()
            self.marks_changed()

    def action_compare(self) -> None:
        line = self.table.selected
        pair = self.workbench.marks.pair("run", self.table.marked(line) if line is not None else None)
        if pair is None:
            self.notify(
                f"Mark a run with {key_of('runs.mark')}, then go to another one and press {key_of('runs.compare')}.",
                timeout=6,
            )
        elif pair.left.of_trials is not pair.right.of_trials:
            self.notify("One has trials, the other tasks: they have nothing to be compared by.", timeout=6)
        else:
            self.workbench.show_pair(pair)

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        line = self.table.selected
        app, path = self.app, self.workbench.session_path
        rows = [row for row in self.table.in_order() if row.kind == "regenerate" or row.first_trial is not None]
        if line in rows:
            locations = [
                Location(path, "regeneration", row.id)
                if row.kind == "regenerate"
                else Location(path, "trajectory", row.first_trial or "")
                for row in rows
            ]
            results = ResultList(lambda at: app.push_screen(RunsScreen(rows[at].id)), locations, row="run")
            self.workbench.follow(results, rows.index(line))
        elif line is not None:
            self.notify("It has no trials of its own: it scores those of other runs.", timeout=6)

    def action_resume(self) -> None:
        line, path = self.table.selected, self.workbench.session_path
        if line is not None and path is not None:
            self.workbench.resume_session(path, line.id)

    def action_cancel(self) -> None:
        line, path = self.table.selected, self.workbench.session_path
        if line is not None and path is not None and self._writable():
            self.workbench.cancel_session(path, line.id)

    def action_pause(self) -> None:
        line, path = self.table.selected, self.workbench.session_path
        if line is not None and line.place and path is not None and self._writable():
            self._do(lambda: runs.pause_run(path, line.id, not line.paused))

    def action_turn(self, places: int) -> None:
        line, path = self.table.selected, self.workbench.session_path
        if line is not None and line.place and path is not None and self._writable():
            self._do(lambda: runs.move_run(path, line.id, places))

    def _writable(self) -> bool:
        path = self.workbench.session_path
        if path is None or runs.is_example(path):
            self.notify("The example that came with the program is only read.", severity="warning")
            return False
        return True

    def _do(self, change: Callable[[], None], said: str = "") -> None:
        def done(_: None) -> None:
            if said:
                self.notify(said, timeout=6)
            self._load()

        self._doing.ask(change, done)

    @work
    async def action_name(self) -> None:
        from workbench.app.toolkit.form import AskText

        line, path = self.table.selected, self.workbench.session_path
        if line is None or path is None or not self._writable():
            return
        note = f"What was asked for: {line.asked}. Left empty, that is what it is called."
        answer = await self.app.push_screen_wait(AskText("Name the run", note, line.name))
        if answer is not None:
            name = one_line(answer, LONGEST_NAME)
            self._do(lambda: runs.name_run(path, line.id, name))

    def action_put_away(self) -> None:
        line, path = self.table.selected, self.workbench.session_path
        if line is None or path is None or not self._writable():
            return
        if line.put_away:
            self._do(lambda: runs.bring_back_run(path, line.id))
        elif line.state in {"running", "queued"}:
            self.notify(f"An engine is at work on it: cancel it first ({key_of('runs.cancel')}).", severity="warning")
        else:
            self._put_away.append(line.id)
            said = f"{one_line(line.title, 60)} was put away; nothing of it is erased. {key_of('runs.bring-back')} brings it back."
            self._do(lambda: runs.put_away_run(path, line.id), said)

    def action_bring_back(self) -> None:
        path = self.workbench.session_path
        if self._put_away and path is not None:
            run = self._put_away.pop()
            self._do(lambda: runs.bring_back_run(path, run))

    def action_all(self) -> None:
        self.table.with_put_away = not self.table.with_put_away
        self.table.rearrange()
        self._arranged()

    def on_table_arranged(self) -> None:
        self._arranged()
