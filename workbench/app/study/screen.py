"""The screen of the Study mode: a live matrix with its comparison, rankings and leaderboard."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import getters, work
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bindings, with_keys
from workbench.app.location import Location
from workbench.app.study.actions import StudyActions, active_runs, is_resumable
from workbench.app.study.detail import (
    NO_SESSION,
    NO_STUDY,
    OPENING,
    EmptyState,
    StudyDetail,
    TemplateList,
    detail_title,
    matrix_title,
)
from workbench.app.study.matrix import StudyMatrix
from workbench.app.study.view import (
    CELL,
    COMPARISON,
    NO_VIEW,
    RANKINGS,
    STUDIES,
    StudyLoader,
    StudySelection,
    StudyView,
    cell_sentence,
    header,
)
from workbench.app.toolkit.cell_table import PinnedLines
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import TabLine
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.base.text import one_line
from workbench.studies.comparing import columns_of

if TYPE_CHECKING:
    from pathlib import Path

    from textual.timer import Timer

    from workbench.session.reader import SessionReader
    from workbench.studies.cells import StudyCell
    from workbench.studies.outcome import StudyOutcome

_SHOWN = frozenset({"study", "run", "trial", "score", "check", "task", "candidate", "stage"})
"""The kinds of changes that affect a study."""
REST_SECONDS = 1.0
"""The delay after a change before resampling, since the figures of a live study would be outdated immediately."""
LEFT_SECONDS = 10.0
"""The interval between estimates of the remaining time."""
_NO_GROUPS = "These rows cannot be grouped: no property distinguishes them."
_HOW_TO_COMPARE = "Mark a column with {study.mark}, then press {study.compare} on another one."


class StudyScreen(ModeScreen):
    """A matrix with its details beside it."""

    mode_name = "Study"
    first_pane = "study-matrix-pane"
    own_resume = True
    CSS_PATH = "../styles/study.tcss"
    BINDINGS = bindings("study")

    def __init__(self) -> None:
        super().__init__()
        self.wanted = StudySelection()
        loader = StudyLoader()
        self.live = LiveLoader(
            self,
            "study",
            lambda reader: partial(loader.load, reader, self.wanted),
            self.show_view,
            self._show_failure,
            kinds=_SHOWN,
        )
        self._drawing, self._estimating = LatestWorker(self, "draws"), LatestWorker(self, "study-left")
        self._actions = StudyActions(self)
        self.view = NO_VIEW
        self.session: Path | None = None
        self.pairs: list[tuple[str, str]] = []  # compared pairs; their tests are adjusted for multiple comparisons
        self._orders = False  # whether the rankings have been shown
        self._resting: Timer | None = None
        self._left: float | None = None  # estimated seconds remaining
        self._estimated = -LEFT_SECONDS

    def compose_body(self) -> Iterable[Widget]:
        matrix = StudyMatrix(id="study-matrix")
        inside = (
            Static("", id="study-problems"), PinnedLines(matrix.systems, id="study-systems"), matrix,
            PinnedLines(matrix.summaries, id="study-means"), Static("", id="study-line"),
        )  # fmt: skip
        # Hidden until there is content, because adding the class later would restyle all children.
        pane = Container(*inside, id="study-matrix-pane", classes="pane -off")
        set_title(pane, "Matrix")
        detail = StudyDetail(id="study-detail", classes="pane -off")
        set_title(detail, CELL)
        yield EmptyState(id="study-none")
        yield pane
        yield detail

    def on_mount(self) -> None:
        self._show_message(OPENING if self.workbench.session_path is not None else with_keys(NO_SESSION))

    async def after_first_paint(self) -> None:
        empty_state = self.query_one(EmptyState)
        (empty_state.query_one(TemplateList) if empty_state.offers_templates else self.matrix).focus()

    matrix = getters.query_one("#study-matrix", StudyMatrix)
    detail = getters.query_one("#study-detail", StudyDetail)

    @property
    def outcome(self) -> StudyOutcome | None:
        return self.view.outcome

    @property
    def measure(self) -> str:
        return self.view.wanted.measure

    @property
    def _names(self) -> list[str]:
        return [line.name for line in self.view.lines]

    # -- content

    def show_study(self, name: str) -> None:
        """Show another study of the session, or the newest if ``name`` does not exist."""
        if name != self.wanted.name:
            self.wanted = StudySelection(name, self.measure, self.wanted.tab)
        self.live.refresh()

    def _select(self, **what: Any) -> None:
        """Change the selection and load the data for it."""
        self.wanted = replace(self.wanted, **what)
        self.live.refresh()

    def on_session_opened(self, reader: SessionReader | None) -> None:
        path = reader.path if reader is not None else None
        if self.session not in (None, path):
            self.wanted = StudySelection(tab=self.wanted.tab)
        self.session = path
        if reader is None:
            self._show_nothing(OPENING if self.workbench.session_path is not None else with_keys(NO_SESSION))
        else:
            self.live.refresh()

    def _show_nothing(self, sentence: str, view: StudyView = NO_VIEW, *, failed: bool = False) -> None:
        self.view = view
        self._put()
        self._show_message(sentence, failed=failed)

    def _show_failure(self, sentence: str) -> None:
        self.wanted = StudySelection(self.wanted.name)  # the selection may have caused the failure
        self._show_nothing(sentence, failed=True)

    def show_view(self, view: StudyView) -> None:
        if view.session != self.session:
            return  # another session has been opened in the meantime, which triggers its own load
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
                self._drawing.requested_key = ()  # the resampling results are outdated
                self._show_drawn()
                if self._resting is not None:
                    self._resting.stop()
                self._resting = self.set_timer(REST_SECONDS, self._draw)
            self._show_message("")
            self._put()
        self.refresh_bindings()

    def _show_message(self, sentence: str, *, failed: bool = False) -> None:
        """Show a message instead of the matrix, or the matrix if the message is ""."""
        empty_state = self.query_one(EmptyState)
        before = empty_state.offers_templates
        empty_state.show(sentence, failed=failed)
        if empty_state.offers_templates != before:
            self.call_after_refresh(self.after_first_paint)
        self.query_one("#study-matrix-pane").set_class(bool(sentence), "-off")
        # A broken study must not hide the other studies.
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
            texts = (*outcome.problems, *outcome.notes)
            problems.update(one_line(" ".join(texts), 1_000))
            problems.set_class(not texts, "-off")
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
        # The height is fixed so that moving the cursor needs no layout.
        self.query_one("#study-line", Static).update(text, layout=False)
        self.detail.cell_items.show(outcome, cell, self.measure)
        self._title_detail()

    def _title_detail(self) -> None:
        self.retitle("#study-detail", *detail_title(self.outcome, self.matrix, self.detail))

    def _lay_out_lines(self) -> None:
        for lines in self.query(PinnedLines):
            lines.relayout()

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
            return outcome is not None and (
                is_resumable(outcome) if action == "resume_study" else bool(active_runs(outcome))
            )
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
            self._select(measure=measures[(measures.index(self.measure) + 1) % len(measures)])

    # These actions work regardless of which pane has the focus.

    def action_sort_next(self) -> None:
        self.matrix.action_sort_next()

    def action_reverse(self) -> None:
        self.matrix.action_reverse()

    def action_fold(self) -> None:
        self.matrix.action_fold()

    def action_group(self) -> None:
        self._select(step=1)

    def action_tab(self, step: int) -> None:
        self._choose(self.detail.turn(step))

    def on_tab_line_tab_activated(self, message: TabLine.TabActivated) -> None:
        self._choose(message.name)

    def _choose(self, tab: str) -> None:
        self.detail.choose(tab)
        self._orders = self._orders or tab == RANKINGS
        self._select(tab=tab)
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
    async def _begin(self, template: str) -> None:
        await self._actions.start(template)

    def action_leave(self) -> None:
        if self.current_pane is self.detail and self.outcome is not None:
            self.focus_pane(self.query_one("#study-matrix-pane"))
        elif self.matrix.marked:
            self.matrix.mark([])

    # -- lists

    def on_virtual_table_arranged(self, message: VirtualTable.Arranged) -> None:
        if message.table is self.matrix:
            self._lay_out_lines()
            self._title_matrix()
            self._show_cell()

    def on_row_list_narrowed(self, message: RowList.Narrowed) -> None:
        self._title_matrix()

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        if message.row_list is self.matrix:
            self._show_cell()
            for lines in self.query(PinnedLines):
                lines.refresh()

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        detail, outcome, chosen = self.detail, self.outcome, message.row_list
        if isinstance(chosen, TemplateList) and chosen.selected is not None:
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
            self.notify(cell.problem or "This cell has no results yet.", timeout=6)

    # -- slow figures

    def _estimate(self, outcome: StudyOutcome) -> None:
        now, session, settings = time.monotonic(), self.session, self.workbench.settings
        if session is None or not active_runs(outcome):
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
        """Resample in a separate process; called when the study stops changing or another figure is requested."""
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

    # -- navigation

    def location(self) -> Location | None:
        return Location(self.workbench.session_path, "study", self.wanted.name)
