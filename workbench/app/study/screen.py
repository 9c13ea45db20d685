"""The Study mode: a matrix of rows and columns while it is executed, and what it says: comparison, rankings, leaderboard."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import getters, work
from textual.containers import Container
from textual.widget import Widget

from workbench.app.key_table import with_keys
from workbench.app.keys import bindings
from workbench.app.location import Location
from workbench.app.study.actions import StudyActions, can_go_on, going
from workbench.app.study.detail import (
    NO_SESSION,
    NO_STUDY,
    OPENING,
    BeginList,
    Detail,
    NothingHere,
    detail_title,
    matrix_title,
)
from workbench.app.study.loading import NO_VIEW, StudyLoader, StudyView, Wanted
from workbench.app.study.matrix import StudyMatrix
from workbench.app.study.wording import CELL, COMPARISON, RANKINGS, STUDIES, cell_sentence, header
from workbench.app.toolkit.cell_table import LinesBeside
from workbench.app.toolkit.latest import Latest, Live
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import TabLine
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.texts import Static
from workbench.base.text import one_line
from workbench.studies.comparing import columns_of

if TYPE_CHECKING:
    from pathlib import Path

    from textual.timer import Timer

    from workbench.session.reader import SessionReader
    from workbench.studies.cells import StudyCell
    from workbench.studies.outcome import StudyOutcome

_SHOWN = frozenset({"study", "run", "trial", "score", "check", "task", "candidate", "stage"})
"""Kinds of changes that a study shows."""
REST_SECONDS = 1.0
"""For so long nothing must change before anything is drawn: of a live study such figures would be stale when they come."""
LEFT_SECONDS = 10.0
"""Time between two looks at how long a study will still take."""
_NO_GROUPS = "There is nothing to group these rows by: they are alike in all that is known of them."
_HOW_TO_COMPARE = "Mark a column with {study.mark}, then go to another one and press {study.compare}."


class StudyScreen(ModeScreen):
    """A matrix beside what is asked of it; ``wanted_study`` is the one that is or is to be shown, "" for the newest."""

    mode_name = "Study"
    first_pane = "study-matrix-pane"
    own_resume = True
    CSS_PATH = "../styles/study.tcss"
    BINDINGS = bindings("study")

    def __init__(self) -> None:
        super().__init__()
        self.wanted = Wanted()
        loader = StudyLoader()
        self.live = Live(
            self,
            "study",
            lambda reader: partial(loader.look, reader, self.wanted),
            self.show_view,
            self._show_failure,
            kinds=_SHOWN,
        )
        self._drawing, self._estimating = Latest(self, "draws"), Latest(self, "study-left")
        self._actions = StudyActions(self)
        self.view = NO_VIEW
        self.session: Path | None = None
        self.pairs: list[tuple[str, str]] = []  # that were compared: their tests are adjusted for their number
        self._orders = False  # whether rankings were looked at
        self._resting: Timer | None = None
        self._left: float | None = None  # seconds that the study will still take
        self._estimated = -LEFT_SECONDS

    def compose_body(self) -> Iterable[Widget]:
        matrix = StudyMatrix(id="study-matrix")
        inside = (
            Static("", id="study-problems"), LinesBeside(matrix.systems, id="study-systems"), matrix,
            LinesBeside(matrix.summaries, id="study-means"), Static("", id="study-line"),
        )  # fmt: skip
        # Hidden from the start until there is something to show: a class that comes later restyles all that is inside.
        pane = Container(*inside, id="study-matrix-pane", classes="pane -off")
        set_title(pane, "Matrix")
        detail = Detail(id="study-detail", classes="pane -off")
        set_title(detail, CELL)
        yield NothingHere(id="study-none")
        yield pane
        yield detail

    def on_mount(self) -> None:
        self._say(OPENING if self.workbench.session_path is not None else with_keys(NO_SESSION))

    async def after_first_paint(self) -> None:
        nothing = self.query_one(NothingHere)
        (nothing.query_one(BeginList) if nothing.begins else self.matrix).focus()

    matrix = getters.query_one("#study-matrix", StudyMatrix)
    detail = getters.query_one("#study-detail", Detail)

    @property
    def outcome(self) -> StudyOutcome | None:
        return self.view.outcome

    @property
    def measure(self) -> str:
        return self.view.wanted.measure

    @property
    def _names(self) -> list[str]:
        return [line.name for line in self.view.lines]

    # -- what is shown

    def show_study(self, name: str) -> None:
        """Show another study of the open session, the newest where ``name`` is none of it."""
        if name != self.wanted.name:
            self.wanted = Wanted(name, self.measure, self.wanted.tab)
        self.live.refresh()

    def _look_at(self, **what: Any) -> None:
        """Have something else of the study computed and shown."""
        self.wanted = replace(self.wanted, **what)
        self.live.refresh()

    def on_session_opened(self, reader: SessionReader | None) -> None:
        path = reader.path if reader is not None else None
        if self.session not in (None, path):
            self.wanted = Wanted(tab=self.wanted.tab)
        self.session = path
        if reader is None:
            self._show_nothing(OPENING if self.workbench.session_path is not None else with_keys(NO_SESSION))
        else:
            self.live.refresh()

    def _show_nothing(self, sentence: str, view: StudyView = NO_VIEW, *, failed: bool = False) -> None:
        self.view = view
        self._put()
        self._say(sentence, failed=failed)

    def _show_failure(self, sentence: str) -> None:
        self.wanted = Wanted(self.wanted.name)  # what is looked at may be why
        self._show_nothing(sentence, failed=True)

    def show_view(self, view: StudyView) -> None:
        if view.session != self.session:
            return  # of a session that was closed meanwhile, or is just being opened: then it is read again
        if view.asked is self.wanted:
            self.wanted = view.wanted
            if view.asked.step and view.alike:
                self.notify(_NO_GROUPS)
        before, self.view = self.view, view
        if not view.lines:
            self._show_nothing(NO_STUDY, view)
        elif view.outcome is None:
            self._show_nothing(f"The study {view.wanted.name} cannot be shown: {view.problem}", view, failed=True)
        else:
            if before.wanted.name != view.wanted.name:
                self.matrix.marked, self.pairs, self._orders = [], [], view.wanted.tab == RANKINGS
            if before.outcome is not view.outcome or before.wanted.measure != view.wanted.measure:
                self._drawing.asked = ()  # what was drawn is of no use
                self._show_drawn()
                if self._resting is not None:
                    self._resting.stop()
                self._resting = self.set_timer(REST_SECONDS, self._draw)
            self._say("")
            self._put()
        self.refresh_bindings()

    def _say(self, sentence: str, *, failed: bool = False) -> None:
        """Show a sentence in place of the matrix, "" for the matrix."""
        nothing = self.query_one(NothingHere)
        before = nothing.begins
        nothing.say(sentence, failed=failed)
        if nothing.begins != before:
            self.call_after_refresh(self.after_first_paint)
        self.query_one("#study-matrix-pane").set_class(bool(sentence), "-off")
        # Of a session with several studies one that cannot be shown must not hide the others.
        several = len(self._names) > 1
        self.detail.set_class(bool(sentence) and not several, "-off")
        if sentence and several:
            self.detail.choose(STUDIES)
            self._title_detail()
            self.focus_pane(self.detail)
        self._refresh_tabs()
        if sentence:
            self.set_status("no study" if not failed else "✗ failed")

    def _put(self) -> None:
        view, outcome = self.view, self.outcome
        self.matrix.put_study(outcome, self.measure, view.wanted.by, view.groups)
        self.detail.show(view)
        self._lay_out_lines()
        if outcome is not None:
            self._estimate(outcome)
            self._show_status()
            self._title_matrix()
            problems = self.query_one("#study-problems", Static)
            said = (*outcome.problems, *outcome.notes)
            problems.update(one_line(" ".join(said), 1_000))
            problems.set_class(not said, "-off")
        self._show_cell()

    def _show_status(self) -> None:
        outcome, names = self.outcome, self._names
        if outcome is not None:
            place = f"{names.index(outcome.study.name) + 1} of {len(names)}" if len(names) > 1 else ""
            self.set_status(header(outcome, self.measure, place, self._left))

    def _title_matrix(self) -> None:
        if self.outcome is not None:
            self.retitle("#study-matrix-pane", matrix_title(self.outcome, self.matrix), "mean [95 % interval]")

    def _show_cell(self) -> None:
        outcome, cell = self.outcome, self.matrix.cell
        text = cell_sentence(outcome, cell, self.measure, self.matrix.part) if outcome and cell else ""
        # Its height is fixed: the cursor moves without a layout of the screen.
        self.query_one("#study-line", Static).update(text, layout=False)
        self.detail.cell_items.show(outcome, cell, self.measure)
        self._title_detail()

    def _title_detail(self) -> None:
        self.retitle("#study-detail", *detail_title(self.outcome, self.matrix, self.detail))

    def _lay_out_lines(self) -> None:
        for lines in self.query(LinesBeside):
            lines.again()

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or not self.query("#study-detail"):
            return True
        outcome = self.outcome
        if action == "study":
            return len(self._names) > 1
        if action in {"compare", "sort_next", "reverse", "tab", "export", "group"}:
            return outcome is not None
        if action == "fold":
            return bool(self.matrix.groupings)
        if action in {"resume_study", "cancel_study"}:
            return outcome is not None and (can_go_on(outcome) if action == "resume_study" else bool(going(outcome)))
        if action == "measure":
            return outcome is not None and len(outcome.study.measures) > 1
        if action == "weighting":
            return self.detail.current == RANKINGS
        return super().check_action(action, parameters)

    def action_compare(self) -> None:
        marked, column = self.matrix.marked, self.matrix.column
        if len(marked) == 1 and column is not None and column.column.name not in marked:
            marked = [*marked, column.column.name]
        if len(marked) != 2:
            self.notify(with_keys(_HOW_TO_COMPARE), timeout=6)
        else:
            self.compare_columns(marked[0], marked[1])

    def compare_columns(self, left: str, right: str) -> None:
        self.matrix.mark([left, right])
        self.wanted = replace(self.wanted, pair=(left, right))
        self.pairs += [] if (left, right) in self.pairs else [(left, right)]
        self._show_drawn()
        self._choose(COMPARISON)
        self.focus_pane(self.detail)
        self.call_after_refresh(self.detail.comparison.focus)

    def action_measure(self) -> None:
        if self.outcome is not None:
            measures = self.outcome.study.measures
            self._look_at(measure=measures[(measures.index(self.measure) + 1) % len(measures)])

    # Also where another pane has the focus.

    def action_sort_next(self) -> None:
        self.matrix.action_sort_next()

    def action_reverse(self) -> None:
        self.matrix.action_reverse()

    def action_fold(self) -> None:
        self.matrix.action_fold()

    def action_group(self) -> None:
        self._look_at(step=1)

    def action_tab(self, step: int) -> None:
        self._choose(self.detail.turn(step))

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        self._choose(message.name)

    def _choose(self, tab: str) -> None:
        self.detail.choose(tab)
        self._orders = self._orders or tab == RANKINGS
        self._look_at(tab=tab)
        self._title_detail()
        self._draw()
        self.refresh_bindings()

    def action_weighting(self) -> None:
        self.detail.rankings.weigh()
        self._title_detail()

    def action_study(self, step: int) -> None:
        if names := self._names:
            at = names.index(self.wanted.name) if self.wanted.name in names else 0
            self.show_study(names[(at + step) % len(names)])

    @work
    async def action_export(self) -> None:
        if self.session is not None:
            await self._actions.ask_for_report(self.session, self.wanted.name)

    def action_resume_study(self) -> None:
        if self.session is not None:
            self._actions.resume(self.session, self.wanted.name)

    def action_cancel_study(self) -> None:
        if self.session is not None and self.outcome is not None:
            self._actions.cancel(self.session, self.outcome)

    @work
    async def action_new_study(self) -> None:
        await self.workbench.ask_for_study()

    @work
    async def _begin(self, way: str) -> None:
        await self._actions.begin(way)

    def action_leave(self) -> None:
        if self.current_pane is self.detail and self.outcome is not None:
            self.focus_pane(self.query_one("#study-matrix-pane"))
        elif self.matrix.marked:
            self.matrix.mark([])

    # -- lists

    def on_table_arranged(self, message: Table.Arranged) -> None:
        if message.table is self.matrix:
            self._lay_out_lines()
            self._title_matrix()
            self._show_cell()

    def on_row_list_narrowed(self, message: RowList.Narrowed) -> None:
        self._title_matrix()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.matrix:
            self._show_cell()
            for lines in self.query(LinesBeside):
                lines.refresh()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        detail, outcome, chosen = self.detail, self.outcome, message.row_list
        if isinstance(chosen, BeginList) and chosen.selected is not None:
            self._begin(chosen.selected.name)
        elif chosen is self.matrix and self.matrix.cell is not None:
            self._open_cell(self.matrix.cell)
        elif chosen is detail.cell_items and detail.cell_items.cell is not None and detail.cell_items.selected:
            items = detail.cell_items.in_order()
            at = items.index(detail.cell_items.selected)
            self._actions.go_to(self.wanted.name, detail.cell_items.cell, items, at)
        elif chosen is detail.comparison and outcome is not None:
            compared, of = detail.comparison.comparison, detail.comparison.selected
            if isinstance(of, str):
                self.matrix.go_to_cell(of, compared.right.name if compared is not None else "")
            elif compared is not None and of is not None:
                self._actions.go_to_pair(outcome, compared, of)
        elif chosen is detail.rankings and detail.rankings.selected is not None and outcome is not None:
            ranking, order = detail.rankings.selected
            if order is None:
                detail.rankings.toggle(ranking)
            elif columns := columns_of(outcome, ranking.setting.model, order.worse, order.better):
                self.compare_columns(*columns)
        elif chosen is detail.leaders and detail.leaders.selected is not None:
            self.matrix.go_to_cell(column=detail.leaders.selected.summary.column.name)
        elif chosen is detail.studies and detail.studies.selected is not None:
            self.show_study(detail.studies.selected.name)

    def _open_cell(self, cell: StudyCell) -> None:
        if len(cell.work.trials) > 1:
            self._choose(CELL)
            self.focus_pane(self.detail)
            self.call_after_refresh(self.detail.cell_items.focus)
        elif cell.run or cell.work.trials:
            self._actions.go_to(self.wanted.name, cell, cell.work.trials)
        else:
            self.notify(cell.problem or "Nothing is behind this cell yet.", timeout=6)

    # -- what takes its time

    def _estimate(self, outcome: StudyOutcome) -> None:
        now, session, settings = time.monotonic(), self.session, self.workbench.settings
        if session is None or not going(outcome):
            self._left, self._estimated = None, -LEFT_SECONDS
        elif now - self._estimated >= LEFT_SECONDS:
            self._estimated = now

            def work() -> float | None:
                from workbench.orders.study_estimate import seconds_left

                return seconds_left(session, outcome.study.name, settings.trials_at_once)

            self._estimating.ask(work, self._show_left, lambda _: self._show_left(None))

    def _show_left(self, seconds: float | None) -> None:
        self._left = seconds
        self._show_status()

    def _draw(self) -> None:
        """Have drawn what rests on chance, in a process of its own; called once the study is at rest, or is asked for something else."""
        outcome, session = self.outcome, self.session
        if outcome is None or session is None or not (self.pairs or self._orders):
            return
        from workbench.studies import comparing

        asked = outcome.study.name, tuple(self.pairs), self.measure, self._orders
        self._drawing.ask_for(
            (outcome, *asked),
            lambda: comparing.resampled_in_process(session, *asked),
            self._show_drawn,
            lambda problem: self._show_drawn(problem=problem),
        )

    def _show_drawn(self, drawn: Mapping[str, Any] | None = None, problem: str = "") -> None:
        test = drawn["tests"].get(self.wanted.pair) if drawn is not None else None
        self.detail.comparison.put_test(test, max(1, len(self.pairs)), problem)
        self.detail.rankings.put_resampled(drawn["orders"] if drawn is not None and self._orders else None, problem)

    # -- where a person is

    def location(self) -> Location | None:
        return Location(self.workbench.session_path, "study", self.wanted.name)
