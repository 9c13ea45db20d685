"""The screen with all trials of the open session; Enter opens a trial step by step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from textual import getters, work
from textual.containers import Container
from textual.widget import Widget

from workbench.app.keys import bindings, key_of, with_keys
from workbench.app.location import Location, ResultList
from workbench.app.toolkit.actions import LabelTarget
from workbench.app.toolkit.cell_table import PinnedLines
from workbench.app.toolkit.literal import set_title, title_of
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.app.toolkit.plot import ScatterPlot
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.workers import LatestWorker, LiveLoader
from workbench.app.trials.table import (
    CaseMatrix,
    LossList,
    SpreadPlot,
    TrialFilter,
    TrialTable,
    questions_about,
    spread_text,
    without_forks,
)
from workbench.base.text import one_line, shortened
from workbench.results.scores import Lost
from workbench.results.trials import (
    Scale,
    TrialLine,
    Trials,
    against_score,
    chosen_scale,
    load_trials,
    scores_by_agent,
    spread_among,
    unit_of_scores,
    with_counts,
    with_losses,
)

if TYPE_CHECKING:
    from workbench.results.grounding import GroundingCounts
    from workbench.results.page_scores import PageScores
    from workbench.session.reader import SessionReader

_SHOWN = frozenset({"trial", "run", "score", "label"})
"""The kinds of changes that affect the table."""
COUNTED_SECONDS = 2.0
"""The interval between updates with intermediate counts, since each rearranges the table."""
PAUSE_SECONDS = 0.005


class TrialsScreen(ModeScreen):
    """A table of trials, and a matrix of cases and agents. The cursor starts at the trial the user came from."""

    mode_name = "Trials"
    CSS_PATH = "../styles/trials.tcss"
    BINDINGS = bindings("trials")

    def __init__(self, current: str = "") -> None:
        super().__init__()
        self._current = current
        self.live = LiveLoader(self, "trials", self._reading, self._show, kinds=_SHOWN, nothing=Trials((), (), None))
        self._scale: Scale | None = None  # None keeps the current scale
        self._counting = LatestWorker(self, "grounding")
        self._counts: dict[str, GroundingCounts] = {}
        self._left = threading.Event()
        self._cards: dict[str, Lost] = {}
        self._uses: dict[str, tuple[float | None, PageScores]] = {}
        self._without = ""

    def compose_body(self) -> Iterable[Widget]:
        table = Container(TrialTable(id="trial-table"), Static("", id="trial-line"), id="trials", classes="pane")
        set_title(table, "Trials")
        cells = CaseMatrix(id="matrix")
        matrix = Container(PinnedLines(cells.agents, id="matrix-agents"), cells, id="matrix-pane", classes="pane")
        set_title(matrix, "Cases × agents", "means of the shown trials")
        losses = Container(LossList(id="losses"), id="losses-pane", classes="pane")
        set_title(losses, "Lost most by", "points per shown trial")
        yield table
        yield Container(matrix, losses, id="beside", classes="pane-group")
        spread = Container(SpreadPlot(id="spread"), id="spread-pane", classes="pane -off")
        set_title(spread, "Scores")
        costs = Container(ScatterPlot(id="costs"), id="costs-pane", classes="pane -off")
        set_title(costs, "Cost")
        yield Container(spread, costs, id="plots", classes="pane-group -off")

    def on_mount(self) -> None:
        self.table.current = self._current
        self.table.marks = self.workbench.marks
        self.table.restore(self._current)
        if self.table.rows:
            self._arranged()

    table = getters.query_one("#trial-table", TrialTable)
    matrix = getters.query_one("#matrix", CaseMatrix)
    losses = getters.query_one("#losses", LossList)

    # -- content

    def _reading(self, reader: SessionReader) -> Callable[[], Trials]:
        """Return a function that loads the trials, then their losses; the previous losses are shown in the meantime."""
        live, before, cards, uses = self.live, self.table.trials, self._cards, self._uses
        scale, self._scale = self._scale or before.scale, None
        self._count(reader)

        def read() -> Trials:
            trials = load_trials(reader, scale, uses)
            known = {line.id: line.lost for line in before.lines if trials.scale == before.scale}
            lines = tuple(replace(one, lost=known.get(one.id, ())) for one in trials.lines)
            live.report(self._show, replace(trials, lines=lines))
            return with_losses(reader, trials, cards)

        return read

    def _count(self, reader: SessionReader) -> None:
        """Load the grounding counts of READMEs: cached ones at once, the others one by one while the screen is open."""
        counting = self._counting

        def work() -> dict[str, GroundingCounts]:
            from workbench.results.grounding import KeptGroundings

            found: dict[str, GroundingCounts] = {}
            reported = monotonic()
            for trial, counts in KeptGroundings().all_of(reader, self._stopped_counting):
                found[trial] = counts
                if monotonic() - reported > COUNTED_SECONDS:
                    counting.report(self._show_counts, dict(found))
                    reported = monotonic()
            return found

        # If this fails, leave the columns empty: loading the table reports session errors.
        counting.ask(work, self._show_counts, lambda sentence: None)

    def _stopped_counting(self) -> bool:
        # Yield between trials so that key presses stay responsive.
        return self._left.wait(PAUSE_SECONDS) or self._counting.outdated

    def _show_counts(self, counts: dict[str, GroundingCounts]) -> None:
        if counts.items() - self._counts.items():
            self._counts |= counts
            self._show(self.table.trials)

    def on_unmount(self) -> None:
        self._left.set()

    def _show(self, trials: Trials) -> None:
        table, trials = self.table, with_counts(trials, self._counts)
        table.filter = replace(table.filter, questions=questions_about(trials.lines))
        if self.workbench.reader is not None:
            table.session = self.workbench.reader.path
            table.marks.keep(table.session, "trial", {line.id for line in trials.lines})
        table.put_trials(trials)
        self.set_status(trials.sentence() if trials.lines else "no trials")
        self._arranged()

    def _arranged(self) -> None:
        """Update everything that depends on the rows or their order."""
        table = self.table
        lines = table.trials.lines
        self.matrix.put_trials(table.shown)
        self.query_one(PinnedLines).relayout()
        self.losses.put_trials(table.shown)
        hidden = len(lines) - len(table.shown)
        count = f"{len(table.shown):,} of {len(lines):,}" if hidden else f"{len(lines):,}"
        parts = [f"Trials {count}", *table.arranged_by()]
        scale = str(table.trials.scale) if table.trials.scale is not None else ""
        used_by = f"use by {one_line(table.trials.reader, 30)}" if table.trials.reader else ""
        about = " · ".join(filter(None, (scale, used_by)))
        self.retitle("#trials", " · ".join(filter(None, [*parts, table.filter.sentence()])), about)
        self._plot()
        self._show_line()
        self.refresh_bindings()

    def _plot(self) -> None:
        if not self.has_class("-plotting"):
            return
        table, spread = self.table, self.query_one(SpreadPlot)
        spread.put(scores_by_agent(table.shown))
        found = against_score(table.shown)
        points = [(point.agent, point.x, point.y) for point in found.points]
        names = found.x_name, found.y_name
        self.query_one(ScatterPlot).put(points, names, "None of the shown trials has a score.")
        unit = unit_of_scores(table.shown)
        self.retitle("#spread-pane", "Scores by agent", f"● mean ± sd · {unit}")
        without = f" · {found.left_out:,} without" if found.left_out else ""
        self.retitle("#costs-pane", f"{found.x_name.partition(' ')[0].capitalize()} against score")
        self._mark_agent(without)

    def _mark_agent(self, without: str | None = None) -> None:
        agent = self.query_one(SpreadPlot).selected
        self._without = self._without if without is None else without
        self.query_one(ScatterPlot).mark(agent)
        text = f"● {' · '.join(shortened(name, 20) for name in agent)}" if agent is not None else ""
        self.retitle("#costs-pane", title_of(self.query_one("#costs-pane")), f"{text}{self._without}")

    def on_scatter_plot_stepped(self, message: ScatterPlot.Stepped) -> None:
        self.query_one(SpreadPlot).action_move(message.step)

    def action_plots(self) -> None:
        plotting = not self.has_class("-plotting")
        self.set_class(plotting, "-plotting")
        for selector, shown in (("beside", not plotting), ("plots", plotting)):
            self.query_one(f"#{selector}").set_class(not shown, "-off")
            for pane in self.query(f"#{selector} .pane"):
                pane.set_class(not shown, "-off")
        self._plot()
        self.focus_pane(self.query_one("#spread-pane" if plotting else "#trials"))

    def _show_line(self) -> None:
        table = self.table
        line = table.selected
        if not table.trials.lines:
            text = (
                f"This session has no trials yet: press {key_of('app.cases')} and {key_of('cases.run')} to start a run."
            )
        elif not table.shown:
            text = f"No trial passes this filter: {key_of('trials.clear-filter')} clears it."
        elif line is None:
            text = table.on_group()
        elif table.marks.of("trial"):
            text = _about_marks(table, line)
        elif line.error:
            text = line.error
        else:
            spread = spread_among(table.shown)
            text = f"all shown: {spread_text(spread)}{without_forks(len(table.shown) - spread.trials)}"
        self.query_one("#trial-line", Static).update(one_line(text, 400))

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        self._show_line()
        self.marks_changed()
        self.query_one(PinnedLines).refresh()
        if isinstance(message.row_list, SpreadPlot):
            self._mark_agent()

    # -- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or not self.query("#trial-table"):
            return True
        if action == "scale":
            return len(self.table.trials.scales) > 1
        if action in {"star", "tags", "remark"}:
            return self.labelled() is not None
        return True

    def labelled(self) -> LabelTarget | None:
        line = self.table.selected
        return LabelTarget(f"{line.case} · {line.agent} · repeat {line.repeat}", line.id) if line is not None else None

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        if message.row_list is self.table and self.table.selected is not None:
            app, path, rows = self.app, self.workbench.session_path, self.table.in_order()
            results = ResultList(
                lambda at: app.push_screen(TrialsScreen(rows[at].id)),
                [Location(path, "trajectory", row.id) for row in rows],
                row="trial",
            )
            self.workbench.follow(results, rows.index(self.table.selected))
        elif message.row_list is self.matrix and self.matrix.chosen is not None:
            case, (agent, model) = self.matrix.chosen
            self._show_only(case=case, agent=agent, model=model)
        elif isinstance(message.row_list, SpreadPlot) and message.row_list.selected is not None:
            agent, model = message.row_list.selected
            self._show_only(agent=agent, model=model)
        elif message.row_list is self.losses and self.losses.selected is not None:
            self._show_only(lost=self.losses.selected.title)

    def _show_only(self, **values: str) -> None:
        wanted = self.table.filter
        for question, value in values.items():
            wanted = wanted.choosing(question, value)
        self.filter_trials(wanted)
        self.focus_pane(self.query_one("#trials"))

    def action_compare(self) -> None:
        under_cursor, scale = self.table.under_cursor, self.table.trials.scale
        kind = under_cursor.kind if under_cursor is not None else "trial"
        pair = self.table.marks.pair(kind, under_cursor)
        if pair is None:
            what = "group" if kind == "trials" else "trial"
            keys = with_keys("with {trials.mark}, then press {trials.compare} on another one")
            self.notify(f"Mark a {what} {keys}.", timeout=6)
        else:
            rubric, judge = (scale.rubric, scale.judge) if scale is not None else ("", "")
            self.workbench.show_pair(replace(pair, rubric=rubric, judge=judge))

    def on_virtual_table_arranged(self, message: TrialTable.Arranged) -> None:
        if message.table is self.table:
            self._arranged()

    def action_sort_next(self) -> None:
        self.table.action_sort_next()

    def action_reverse(self) -> None:
        self.table.action_reverse()

    def action_group_next(self) -> None:
        self.table.action_group_next()

    def action_scale(self) -> None:
        self._scale = chosen_scale(self.table.trials)
        self.live.refresh()

    @work
    async def action_filter(self) -> None:
        from workbench.app.toolkit.filters import FilterDialog

        names = "a case, agent, model, error or file read"
        await self.app.push_screen_wait(
            FilterDialog(self.table.trials.lines, self.table.filter, self.filter_trials, "trial", names)
        )

    def action_clear_filter(self) -> None:
        self.filter_trials(self.table.filter.cleared())

    def filter_trials(self, wanted: TrialFilter) -> int:
        """Apply a filter and return the number of matching trials."""
        self.table.filter = wanted
        self.table.rearrange()
        self._arranged()
        return len(self.table.shown)


def _about_marks(table: TrialTable, line: TrialLine) -> str:
    first, *second = table.marks.of("trial")
    of = "" if first.session == table.session else f" (of {first.session.name})"
    if second:
        of = "" if {first.session, second[0].session} == {table.session} else ", not both in this session"
        return f"A and B are marked{of}: {key_of('trials.compare')} compares them."
    if table.marks.letter(table.marked(line)):
        return (
            f"A is marked: press {key_of('trials.compare')} on another trial, even in another session "
            f"({key_of('app.sessions')})."
        )
    return f"A{of} is marked: {key_of('trials.compare')} compares it with this trial."
