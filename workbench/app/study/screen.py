"""The Study mode: a matrix of rows and columns while it is executed, and what it says: comparison, rankings, leaderboard."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget

from workbench.app.key_table import key_of, with_keys
from workbench.app.location import Location
from workbench.app.study.detail import (
    CELL,
    COMPARISON,
    LEADERBOARD,
    RANKINGS,
    STUDIES,
    Detail,
    detail_title,
    matrix_title,
)
from workbench.app.study.draws import Drawn, Draws
from workbench.app.study.figures import Figures
from workbench.app.study.going import Going
from workbench.app.study.grouped import Grouped
from workbench.app.study.keys import KEYS
from workbench.app.study.loading import StudyLoader, StudyView
from workbench.app.study.matrix import StudyMatrix, SummaryLines, SystemLine
from workbench.app.study.nothing import NO_SESSION, NO_STUDY, OPENING, BeginList, Beginning, NothingHere
from workbench.app.study.orders import Orders, Remaining, can_go_on, going
from workbench.app.study.wording import cell_sentence, header
from workbench.app.toolkit.latest import Live
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.pane import TabLine
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.texts import Static
from workbench.studies.declaration import AGENTS
from workbench.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change
    from workbench.studies.grouping import Group
    from workbench.studies.outcome import StudyOutcome

_SHOWN = frozenset({"study", "run", "trial", "score", "check", "task", "candidate", "stage"})
"""Kinds of changes that a study shows."""


class StudyScreen(ModeScreen):
    """A matrix beside what is asked of it."""

    mode_name = "Study"
    first_pane = "study-matrix-pane"
    own_resume = True
    CSS_PATH = "../styles/study.tcss"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self) -> None:
        super().__init__()
        loader = StudyLoader()
        self._live = Live(
            self,
            "study",
            lambda reader: partial(loader.look, reader, self._study),
            self._show,
            self._failed,
            kinds=_SHOWN,
        )
        self._figures = Figures(self)
        self._draws = Draws(self, self._show_drawn)
        self._going = Going(self.workbench, self)
        self._orders = Orders(self.workbench, self)
        self._grouped = Grouped(self, self._show_groups, self.notify)
        self._view: StudyView | None = None
        self._session: Path | None = None
        self._study = self._measure = ""  # the study that is or is to be shown, "" for the newest
        self._remaining = Remaining(self.workbench, self, self._say_status)

    def compose_body(self) -> Iterable[Widget]:
        matrix = StudyMatrix(id="study-matrix")
        inside = (
            Static("", id="study-problems"), SystemLine(matrix, id="study-systems"), matrix,
            SummaryLines(matrix, id="study-means"), Static("", id="study-line"),
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
        """What is shown, None for nothing."""
        return self._view.outcome if self._view is not None else None

    # -- what is shown

    def show_study(self, name: str) -> None:
        """Show another study of the open session, the newest where ``name`` is none of it."""
        self._study = name
        self._live.refresh()

    def on_session_opened(self, reader: SessionReader | None) -> None:
        path = reader.path if reader is not None else None
        if self._session not in (None, path):
            self._study = ""
        self._session = path
        if reader is None:
            self._view = None
            self._put()
            self._say(OPENING if self.workbench.session_path is not None else with_keys(NO_SESSION))
        else:
            self._live.refresh()

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        self._live.take(changes)

    def _failed(self, sentence: str) -> None:
        self._view = None
        self._put()
        self._say(sentence, failed=True)

    def _show(self, view: StudyView) -> None:
        if view.session != self._session:
            return  # of a session that was closed meanwhile, or is just being opened: then it is read again
        before, self._view, self._study = self._view, view, view.name
        if not view.lines:
            self._put()
            self._say(NO_STUDY)
        elif view.outcome is None:
            self._put()
            self._say(f"The study {view.name} cannot be shown: {view.problem}", failed=True)
        elif before is None or before.outcome is not view.outcome or before.lines != view.lines:
            if self._measure not in view.outcome.study.measures:
                self._measure = view.outcome.study.measures[0]
            if before is None or before.name != view.name:
                self._figures.pair = None
                self.matrix.marked = []
                self._grouped.forget()
                self.matrix.group(None)
            self._say("")
            self._put()
            if self.workbench.reader is not None:
                self._grouped.again(self.workbench.reader, view.outcome)
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
        several = self._view is not None and len(self._view.lines) > 1
        self.detail.set_class(bool(sentence) and not several, "-off")
        if sentence and several:
            self.detail.choose(STUDIES)
            self._title_detail()
            self.focus_pane(self.detail)
        self._refresh_tabs()
        if sentence:
            self.set_status("no study" if not failed else "✗ failed")

    def _put(self) -> None:
        outcome, measure, view = self.outcome, self._measure, self._view
        self.matrix.put(outcome, measure)
        self._lay_out_lines()
        self._draws.of(outcome, measure)
        lines = view.lines if view is not None else ()
        self.detail.studies.show(lines, self._study)
        nothing = frozenset({LEADERBOARD} if outcome is not None and outcome.study.kind != AGENTS else ())
        self.detail.mark_empty(nothing)
        if outcome is not None:
            if self._session is not None:
                self._remaining.ask(self._session, outcome)
            self._say_status()
            self._title_matrix()
            problems = self.query_one("#study-problems", Static)
            said = (*outcome.problems, *outcome.notes)
            problems.update(one_line(" ".join(said), 1_000))
            problems.set_class(not said, "-off")
        self._show_cell()
        self._compare_again()
        self._fill_tab()
        self._draws.rest(self._draw)

    def _say_status(self) -> None:
        outcome, view = self.outcome, self._view
        if outcome is not None and view is not None:
            names = [line.name for line in view.lines]
            place = f"{names.index(self._study) + 1} of {len(names)}" if len(names) > 1 else ""
            self.set_status(header(outcome, self._measure, place, self._remaining.seconds))

    def _title_matrix(self) -> None:
        if self.outcome is not None:
            title = matrix_title(self.outcome, self.matrix, self._grouped.by)
            self.retitle("#study-matrix-pane", title, "mean [95 % interval]")

    def _show_cell(self) -> None:
        outcome, cell = self.outcome, self.matrix.selected
        text = ""
        if outcome is not None and cell is not None:
            text = cell_sentence(outcome, cell, self._measure, self.matrix.part)
        # Its height is fixed: the cursor moves without a layout of the screen.
        self.query_one("#study-line", Static).update(text, layout=False)
        self.detail.cell_items.show(outcome, cell, self._measure)
        self._title_detail()

    def _title_detail(self) -> None:
        self.retitle("#study-detail", *detail_title(self.outcome, self.matrix, self.detail))

    # -- what is asked of it

    def _fill_tab(self) -> None:
        """Have what the chosen tab shows computed, if that is not there yet."""
        if self.outcome is not None:
            self._figures.fill(self.detail, self.outcome)
            if self.detail.current == RANKINGS:
                self._draws.want(orders=True)

    def _compare_again(self) -> None:
        self._figures.compare_again(self.detail, self.outcome, self._measure, self._title_detail)

    def _draw(self) -> None:
        if self._view is not None:
            self._draws.draw(self._view)

    def _show_drawn(self, drawn: Drawn | None) -> None:
        pair = self._figures.pair
        test = drawn.tests.get(pair) if drawn is not None and pair is not None else None
        problem = drawn.problem if drawn is not None else ""
        self.detail.comparison.put_test(test, max(1, len(self._draws.pairs)), problem)
        self.detail.rankings.put_resampled(drawn.resampled if drawn is not None else None, problem)

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or not self.query("#study-detail"):
            return True
        outcome = self.outcome
        if action == "study":
            return self._view is not None and len(self._view.lines) > 1
        if action in {"compare", "order", "reverse", "tab", "export", "group"}:
            return outcome is not None
        if action == "fold":
            return self.matrix.grouped
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
            self.notify(
                f"Mark a column with {key_of('study.mark')}, then go to another one and press {key_of('study.compare')}.",
                timeout=6,
            )
        else:
            self.compare_columns(marked[0], marked[1])

    def compare_columns(self, left: str, right: str) -> None:
        """Show how two columns differ."""
        self.matrix.marked = [left, right]
        self.matrix.refresh()
        self._figures.pair = left, right
        self._draws.want((left, right))
        self.detail.comparison.put_test(None, len(self._draws.pairs))
        self._choose(COMPARISON)
        self._compare_again()
        self.focus_pane(self.detail)
        self.call_after_refresh(self.detail.comparison.focus)
        self._draw()

    def action_measure(self) -> None:
        if self.outcome is not None:
            measures = self.outcome.study.measures
            self._measure = measures[(measures.index(self._measure) + 1) % len(measures)]
            self._put()

    def action_order(self) -> None:
        column = self.matrix.column
        self.matrix.sort(self.matrix.order.following(column.column.name if column is not None else ""))

    def action_reverse(self) -> None:
        order = self.matrix.order
        self.matrix.sort(order.clicked(order.by, order.column))

    def action_group(self) -> None:
        if self.workbench.reader is not None and self.outcome is not None:
            self._grouped.following(self.workbench.reader, self.outcome)

    def _show_groups(self, groups: tuple[Group, ...] | None) -> None:
        self.matrix.group(groups)
        self._lay_out_lines()
        self._title_matrix()
        self._show_cell()
        self.refresh_bindings()

    def action_fold(self) -> None:
        self.matrix.fold()
        self._lay_out_lines()

    def _lay_out_lines(self) -> None:
        self.query_one(SystemLine).again()
        self.query_one(SummaryLines).again()

    def action_tab(self, step: int) -> None:
        self._choose(self.detail.turn(step))

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        self._choose(message.name)

    def _choose(self, tab: str) -> None:
        self.detail.choose(tab)
        self._fill_tab()
        self._title_detail()
        self._draw()
        self.refresh_bindings()

    def action_weighting(self) -> None:
        self.detail.rankings.weigh()
        self._title_detail()

    def action_study(self, step: int) -> None:
        if self._view is not None:
            names = [line.name for line in self._view.lines]
            self.show_study(names[(names.index(self._study) + step) % len(names)])

    @work
    async def action_export(self) -> None:
        if self._session is not None:
            await self._orders.ask_for_report(self._session, self._study)

    def action_resume_study(self) -> None:
        if self._session is not None:
            self._orders.resume(self._session, self._study)

    def action_cancel_study(self) -> None:
        if self._session is not None and self.outcome is not None:
            self._orders.cancel(self._session, self.outcome)

    @work
    async def action_new_study(self) -> None:
        await self.workbench.ask_for_study()

    @work
    async def _begin(self, way: Beginning) -> None:
        await self._orders.begin(way.name)

    def action_leave(self) -> None:
        if self.current_pane is self.detail and self.outcome is not None:
            self.focus_pane(self.query_one("#study-matrix-pane"))
        elif self.matrix.marked:
            self.matrix.marked = []
            self.matrix.refresh()

    # -- lists

    def on_study_matrix_arranged(self) -> None:
        self._title_matrix()

    def on_row_list_narrowed(self, message: RowList.Narrowed) -> None:
        self._title_matrix()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.matrix:
            self._show_cell()
            self.query_one(SystemLine).refresh()
            self.query_one(SummaryLines).refresh()

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        detail, cell, chosen = self.detail, self.matrix.selected, message.row_list
        if isinstance(chosen, BeginList) and chosen.selected is not None:
            self._begin(chosen.selected)
        elif chosen is self.matrix and self.matrix.on_group:
            self.action_fold()
        elif chosen is self.matrix and cell is not None:
            if len(cell.work.trials) > 1:
                self._choose(CELL)
                self.focus_pane(detail)
                self.call_after_refresh(detail.cell_items.focus)
            elif cell.run or cell.work.trials:
                self._going.to_cell(self._study, cell)
            else:
                self.notify(cell.problem or "Nothing is behind this cell yet.", timeout=6)
        elif chosen is detail.cell_items and detail.cell_items.cell is not None and detail.cell_items.selected:
            items = detail.cell_items.in_order()
            self._going.to_item(self._study, detail.cell_items.cell, items, items.index(detail.cell_items.selected))
        elif chosen is detail.comparison:
            self._open_pair()
        elif chosen is detail.rankings and detail.rankings.selected is not None:
            ranking, pair = detail.rankings.selected
            if pair is None:
                detail.rankings.toggle(ranking)
            else:
                self._compare_systems(ranking.setting.model, pair.worse, pair.better)
        elif chosen is detail.leaders and detail.leaders.selected is not None:
            self.matrix.go_to(self.matrix.row, detail.leaders.selected.summary.column.name)
        elif chosen is detail.studies and detail.studies.selected is not None:
            self.show_study(detail.studies.selected.name)

    def _compare_systems(self, model: str, left: str, right: str) -> None:
        from workbench.studies.ranked import columns_of

        assert self.outcome is not None
        if pair := columns_of(self.outcome, model, left, right):
            self.compare_columns(*pair)

    def _open_pair(self) -> None:
        """Show both items of the pair under the cursor side by side; from a row of the plot go to that of the matrix."""
        shown, outcome = self.detail.comparison, self.outcome
        if shown.selected_row:
            self.matrix.go_to(shown.selected_row, self._figures.pair[1] if self._figures.pair is not None else "")
        elif shown.selected is not None and shown.comparison is not None and outcome is not None:
            self._going.to_pair(outcome, shown.comparison, shown.selected)

    # -- where a person is

    def location(self) -> Location | None:
        return Location(self.workbench.session_path, "study", self._study)
