"""The Study mode: a matrix of rows and columns while it is executed, and what it says: comparison, rankings, leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.containers import Container
from textual.widget import Widget

from workbench.app.key_table import with_keys
from workbench.app.keys import bindings
from workbench.app.location import Location
from workbench.app.study.actions import StudyActions, can_go_on, going
from workbench.app.study.detail import Detail, detail_title, matrix_title
from workbench.app.study.matrix import StudyMatrix
from workbench.app.study.nothing import NO_SESSION, NO_STUDY, OPENING, BeginList, Beginning, NothingHere
from workbench.app.study.presenter import StudyLoader, StudyPresenter, StudyView
from workbench.app.study.wording import CELL, COMPARISON, LEADERBOARD, RANKINGS, STUDIES, cell_sentence, header
from workbench.app.toolkit.cell_table import LinesBeside
from workbench.app.toolkit.latest import Live
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import TabLine
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.texts import Static
from workbench.studies.comparing import columns_of
from workbench.studies.declaration import AGENTS
from workbench.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.session.reader import SessionReader
    from workbench.studies.cells import Cell
    from workbench.studies.grouping import Group
    from workbench.studies.outcome import StudyOutcome

_SHOWN = frozenset({"study", "run", "trial", "score", "check", "task", "candidate", "stage"})
"""Kinds of changes that a study shows."""
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
        self.wanted_study = self.measure = ""
        loader = StudyLoader()
        look = lambda reader: partial(loader.look, reader, self.wanted_study)  # noqa: E731
        self.live = Live(self, "study", look, self.show_view, self.show_failure, kinds=_SHOWN)
        self.presenter = StudyPresenter(self)
        self._actions = StudyActions(self)
        self.view: StudyView | None = None
        self.session: Path | None = None

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

    @property
    def matrix(self) -> StudyMatrix:
        return self.query_one("#study-matrix", StudyMatrix)

    @property
    def detail(self) -> Detail:
        return self.query_one("#study-detail", Detail)

    @property
    def outcome(self) -> StudyOutcome | None:
        return self.view.outcome if self.view is not None else None

    @property
    def _names(self) -> list[str]:
        return [line.name for line in self.view.lines] if self.view is not None else []

    # -- what is shown

    def show_study(self, name: str) -> None:
        """Show another study of the open session, the newest where ``name`` is none of it."""
        self.wanted_study = name
        self.live.refresh()

    def on_session_opened(self, reader: SessionReader | None) -> None:
        path = reader.path if reader is not None else None
        if self.session not in (None, path):
            self.wanted_study = ""
        self.session = path
        if reader is None:
            self._show_nothing(OPENING if self.workbench.session_path is not None else with_keys(NO_SESSION))
        else:
            self.live.refresh()

    def show_failure(self, sentence: str) -> None:
        self._show_nothing(sentence, failed=True)

    def _show_nothing(self, sentence: str, view: StudyView | None = None, *, failed: bool = False) -> None:
        self.view = view
        self._put()
        self._say(sentence, failed=failed)

    def show_view(self, view: StudyView) -> None:
        if view.session != self.session:
            return  # of a session that was closed meanwhile, or is just being opened: then it is read again
        before, self.view, self.wanted_study = self.view, view, view.name
        if not view.lines:
            self._show_nothing(NO_STUDY, view)
        elif view.outcome is None:
            self._show_nothing(f"The study {view.name} cannot be shown: {view.problem}", view, failed=True)
        elif before is None or before.outcome is not view.outcome or before.lines != view.lines:
            if self.measure not in view.outcome.study.measures:
                self.measure = view.outcome.study.measures[0]
            if before is None or before.name != view.name:
                self.presenter.forget()
                self.matrix.marked = []
                self.matrix.group("", None)
            self._say("")
            self._put()
            self.presenter.group(0)
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
            self.title_detail()
            self.focus_pane(self.detail)
        self._refresh_tabs()
        if sentence:
            self.set_status("no study" if not failed else "✗ failed")

    def _put(self) -> None:
        outcome = self.outcome
        self.matrix.put_study(outcome, self.measure)
        self._lay_out_lines()
        self.presenter.begin_anew()
        self.detail.studies.show(self.view.lines if self.view is not None else (), self.wanted_study)
        nothing = frozenset({LEADERBOARD} if outcome is not None and outcome.study.kind != AGENTS else ())
        self.detail.mark_empty(nothing)
        if outcome is not None:
            self.presenter.estimate()
            self.show_status()
            self._title_matrix()
            problems = self.query_one("#study-problems", Static)
            said = (*outcome.problems, *outcome.notes)
            problems.update(one_line(" ".join(said), 1_000))
            problems.set_class(not said, "-off")
        self._show_cell()
        self.presenter.compare()
        self.presenter.fill()

    def show_status(self) -> None:
        outcome, names = self.outcome, self._names
        if outcome is not None:
            place = f"{names.index(self.wanted_study) + 1} of {len(names)}" if len(names) > 1 else ""
            self.set_status(header(outcome, self.measure, place, self.presenter.seconds_left))

    def _title_matrix(self) -> None:
        if self.outcome is not None:
            self.retitle("#study-matrix-pane", matrix_title(self.outcome, self.matrix), "mean [95 % interval]")

    def _show_cell(self) -> None:
        outcome, cell = self.outcome, self.matrix.cell
        text = (
            cell_sentence(outcome, cell, self.measure, self.matrix.part)
            if outcome is not None and cell is not None
            else ""
        )
        # Its height is fixed: the cursor moves without a layout of the screen.
        self.query_one("#study-line", Static).update(text, layout=False)
        self.detail.cell_items.show(outcome, cell, self.measure)
        self.title_detail()

    def title_detail(self) -> None:
        self.retitle("#study-detail", *detail_title(self.outcome, self.matrix, self.detail))

    def show_groups(self, groups: Sequence[Group] | None) -> None:
        self.matrix.group(self.presenter.by, groups)
        self.on_table_arranged(Table.Arranged(self.matrix))
        self.refresh_bindings()

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
            return bool(self.presenter.by)
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
        self.presenter.compare((left, right))
        self._choose(COMPARISON)
        self.focus_pane(self.detail)
        self.call_after_refresh(self.detail.comparison.focus)

    def action_measure(self) -> None:
        if self.outcome is not None:
            measures = self.outcome.study.measures
            self.measure = measures[(measures.index(self.measure) + 1) % len(measures)]
            self._put()

    # Also where another pane has the focus.

    def action_sort_next(self) -> None:
        self.matrix.action_sort_next()

    def action_reverse(self) -> None:
        self.matrix.action_reverse()

    def action_fold(self) -> None:
        self.matrix.action_fold()

    def action_group(self) -> None:
        self.presenter.group(1)

    def action_tab(self, step: int) -> None:
        self._choose(self.detail.turn(step))

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        self._choose(message.name)

    def _choose(self, tab: str) -> None:
        self.detail.choose(tab)
        self.presenter.fill()
        self.title_detail()
        self.presenter.draw()
        self.refresh_bindings()

    def action_weighting(self) -> None:
        self.detail.rankings.weigh()
        self.title_detail()

    def action_study(self, step: int) -> None:
        if names := self._names:
            self.show_study(names[(names.index(self.wanted_study) + step) % len(names)])

    @work
    async def action_export(self) -> None:
        if self.session is not None:
            await self._actions.ask_for_report(self.session, self.wanted_study)

    def action_resume_study(self) -> None:
        if self.session is not None:
            self._actions.resume(self.session, self.wanted_study)

    def action_cancel_study(self) -> None:
        if self.session is not None and self.outcome is not None:
            self._actions.cancel(self.session, self.outcome)

    @work
    async def action_new_study(self) -> None:
        await self.workbench.ask_for_study()

    @work
    async def _begin(self, way: Beginning) -> None:
        await self._actions.begin(way.name)

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
            self._begin(chosen.selected)
        elif chosen is self.matrix and self.matrix.cell is not None:
            self._open_cell(self.matrix.cell)
        elif chosen is detail.cell_items and detail.cell_items.cell is not None and detail.cell_items.selected:
            items = detail.cell_items.in_order()
            at = items.index(detail.cell_items.selected)
            self._actions.go_to_item(self.wanted_study, detail.cell_items.cell, items, at)
        elif chosen is detail.comparison and detail.comparison.selected_row:
            _, right = self.presenter.pair or ("", "")
            self.matrix.go_to_cell(detail.comparison.selected_row, right)
        elif chosen is detail.comparison and outcome is not None:
            compared, pair = detail.comparison.comparison, detail.comparison.selected
            if compared is not None and pair is not None:
                self._actions.go_to_pair(outcome, compared, pair)
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

    def _open_cell(self, cell: Cell) -> None:
        if len(cell.work.trials) > 1:
            self._choose(CELL)
            self.focus_pane(self.detail)
            self.call_after_refresh(self.detail.cell_items.focus)
        elif cell.run or cell.work.trials:
            self._actions.go_to_cell(self.wanted_study, cell)
        else:
            self.notify(cell.problem or "Nothing is behind this cell yet.", timeout=6)

    # -- where a person is

    def location(self) -> Location | None:
        return Location(self.workbench.session_path, "study", self.wanted_study)
