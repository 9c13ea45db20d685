"""The frames of the Trajectory mode around the widgets that paint: repository, steps and score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from workbench.app.key_table import key_of, with_keys
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.texts import Static
from workbench.app.trajectory.loading import Repeats, TrialState, state_of
from workbench.app.trajectory.repository_pane import Coverage, RepositoryPane
from workbench.app.trajectory.score_pane import ScorePane
from workbench.app.trajectory.score_views import VIEWS, scale_of
from workbench.app.trajectory.scores import agreement_lines, judge_of, title, works_line
from workbench.app.trajectory.step_list import StepList
from workbench.session.labels import criterion_of
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.reader import SessionReader

_NO_SCORES = {
    "queued": "Scores come when the README is there.",
    "running": "Scores come when the README is there.",
    "interrupted": "The engine stopped before the README was scored. Press {trajectory.resume} to resume.",
    "failed": "The trial failed, so nothing was scored.",
    "cancelled": "The trial was cancelled, so nothing was scored.",
}


class Repository(Pane):
    """Where the agent has been."""

    short = "Repository"
    _legend_lines = 0

    def compose(self) -> ComposeResult:
        yield RepositoryPane(id="tree")
        yield Static("", id="legend")

    def show_coverage(self, coverage: Coverage) -> None:
        """Say how much of the repository the agent has read."""
        lines = ["● read  ○ listed", "· never opened"]
        if coverage.files:
            share = round(100 * coverage.bytes_read / coverage.bytes) if coverage.bytes else 0
            percent = "<1" if coverage.bytes_read and not share else str(min(share, 100))
            lines += ["", f"seen {coverage.read:,} of {coverage.files:,} files", f"{percent} % of the bytes"]
        legend = self.query_one("#legend", Static)
        legend.update("\n".join(lines), layout=len(lines) != self._legend_lines)
        self._legend_lines = len(lines)


class Steps(Pane):
    """What happened."""

    short = "Steps"
    _heading = ""

    def compose(self) -> ComposeResult:
        yield Static("", id="steps-heading")
        yield StepList(id="steps")

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_heading)

    def show_heading(self) -> None:
        """Show the heading of the columns that have room."""
        heading = self.query_one(StepList).heading()
        if heading != self._heading:
            self._heading = heading
            self.query_one("#steps-heading", Static).update(heading, layout=False)

    def show_count(self, state: TrialState, following: bool) -> None:
        """Show how many steps there are and, while live, whether the newest is followed."""
        steps = self.query_one(StepList)
        behind = len(steps.steps) - 1 - steps.cursor
        subtitle = ""
        if state.live:
            newer = (
                f"{behind:,} newer · {key_of('trajectory.last')} follows"
                if behind > 0
                else f"{key_of('trajectory.last')} follows"
            )
            subtitle = "▸ following" if following else newer
        self.titled(f"Steps {state.step_count:,}", subtitle)


class Score(Pane):
    """How the outcome was scored; one scorecard of possibly several is shown."""

    short = "Score"

    class TitleClicked(Message):
        """The next rubric or judge is asked for."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._cards: tuple[Scorecard, ...] = ()
        self._wanted: tuple[object, object] | None = None
        self._title = "Score", ""
        self._state: TrialState | None = None
        self._reader: SessionReader | None = None
        self._repeats: Repeats = {}
        self._repeats_of: tuple[object, ...] = ()
        self.reading_repeats = Latest(self, "repeats")

    def on_descendant_focus(self) -> None:
        self._ask_repeats()

    def _ask_repeats(self) -> None:
        state, reader = self._state, self._reader
        if state is None or reader is None or not state.cards or not self.has_class("-current"):
            return
        key = (str(reader.path), state.trial.id, state.scored)
        if key == self._repeats_of:
            return
        self._repeats_of = key

        def done(found: Repeats) -> None:
            if key == self._repeats_of:
                self._repeats = found
                self._show_card()

        def work() -> Repeats:
            from workbench.results.scores import repeat_spreads

            return repeat_spreads(reader, state.trial)

        self.reading_repeats.ask(work, done)

    def compose(self) -> ComposeResult:
        yield ScorePane(id="criteria")
        yield Static("", id="score-remarks")

    def show_scores(self, state: TrialState, reader: SessionReader | None = None) -> None:
        """Show the scorecard by the rubric and judge that were chosen last, if there is one."""
        if self._state is None or self._state.trial.id != state.trial.id:
            self._repeats, self._repeats_of = {}, ()
        self._state, self._reader = state, reader or self._reader
        pane = self.query_one(ScorePane)
        self._show_remarks([remark.text for remark in state.annotations if not remark.of])
        self._cards = state.cards
        if not state.cards:
            self.titled("Score")
            told = with_keys(_NO_SCORES.get(state_of(state), "There are no scores."))
            if state.imported_scores:
                told = "\n".join(("Scores of the imported file, not of ours:", *state.imported_scores))
            pane.show(None, told)
            return
        self._show_card()
        self._ask_repeats()

    def _show_card(self) -> None:
        state = self._state
        if state is None or not state.cards:
            return
        chosen = next((card for card in state.cards if scale_of(card) == self._wanted), state.cards[0])
        switch = " ▾" if len(state.cards) > 1 else ""
        self._title = f"Score {title(chosen)} · {one_line(chosen.rubric, 30)}{switch}", judge_of(chosen)
        self._show_title()
        others = tuple(card for card in state.cards if card is not chosen)
        lines = agreement_lines(state.agreement, chosen)
        remarks: dict[str, list[str]] = {}
        for remark in state.annotations:
            if remark.part:
                remarks.setdefault(remark.part, []).append(remark.text)
        self.query_one(ScorePane).show(
            chosen, "", lines, others, self._repeats, state.labels, remarks, works_line(chosen, state.works)
        )

    def _show_title(self) -> None:
        view = self.query_one(ScorePane).view
        said, judge = self._title
        self.titled(said if view == VIEWS[0] else f"{said} · {view}", judge)

    def turn(self, step: int) -> None:
        """Show the next or previous of: criteria, what it would take to have all points, all rubrics and judges side by side."""
        self.query_one(ScorePane).turn(step)
        if self._cards:
            self._show_title()

    def on_click(self, event: events.Click) -> None:
        """A click on the title, where ``▾`` says that there are several, shows the next scorecard."""
        if event.widget is self and event.y == 0 and len(self._cards) > 1:
            self.post_message(self.TitleClicked())

    def _show_remarks(self, remarks: Sequence[str]) -> None:
        """Show what people said of the trial as a whole; those on a step or criterion stand there."""
        line = self.query_one("#score-remarks", Static)
        line.update("\n".join(f"✎ {one_line(text, 400)}" for text in remarks))
        line.display = bool(remarks)

    def go_to(self, part: str) -> None:
        """Put the cursor on a criterion (see :func:`workbench.session.labels.criterion_part`), in a scorecard by its rubric."""
        wanted, pane = criterion_of(part), self.query_one(ScorePane)
        if wanted is None:
            return
        rubric, tier, key = wanted
        if pane.card is None or pane.card.rubric != rubric:
            self._wanted = next((scale_of(card) for card in self._cards if card.rubric == rubric), self._wanted)
            self._show_card()
        pane.choose(tier, key)

    def next_rubric(self, state: TrialState) -> None:
        shown = self.query_one(ScorePane).card
        at = next((index for index, card in enumerate(self._cards) if card == shown), 0)
        if self._cards:
            self._wanted = scale_of(self._cards[(at + 1) % len(self._cards)])
            self.show_scores(state)
