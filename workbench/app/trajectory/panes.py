"""The frames of the Trajectory mode around the widgets that paint: repository, steps and score."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.texts import Static
from workbench.app.trajectory.loading import Card, TrialState, state_of
from workbench.app.trajectory.repository_pane import Coverage, RepositoryPane
from workbench.app.trajectory.score_pane import ScorePane
from workbench.app.trajectory.scores import agreement_lines, judge_of, title
from workbench.app.trajectory.step_list import StepList
from workbench.text import one_line

_NO_SCORES = {
    "queued": "Scores come when the README is there.",
    "running": "Scores come when the README is there.",
    "interrupted": "The engine stopped before the README was scored. Press u to resume.",
    "failed": "The trial failed, so nothing was scored.",
    "cancelled": "The trial was cancelled, so nothing was scored.",
}


class Repository(Pane):
    """Where the agent has been."""

    short = "Repository"
    _legend_lines = 0

    def compose(self) -> ComposeResult:
        """Compose the tree and the legend."""
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
        """Compose the heading and the list."""
        yield Static("", id="steps-heading")
        yield StepList(id="steps")

    def on_resize(self) -> None:
        """Fit the heading to the columns."""
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
            newer = f"{behind:,} newer · G follows" if behind > 0 else "G follows"
            subtitle = "▸ following" if following else newer
        self.titled(f"Steps {state.step_count:,}", subtitle)


class Score(Pane):
    """How the outcome was scored; one scorecard of possibly several is shown."""

    short = "Score"

    class TitleClicked(Message):
        """The next rubric or judge is asked for."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._cards: tuple[Card, ...] = ()
        self._wanted: tuple[object, object] | None = None

    def compose(self) -> ComposeResult:
        """Compose the criteria."""
        yield ScorePane(id="criteria")
        yield Static("", id="score-remarks")

    def show_scores(self, state: TrialState) -> None:
        """Show the scorecard by the rubric and judge that were chosen last, if there is one."""
        pane = self.query_one(ScorePane)
        self._show_remarks([remark.text for remark in state.annotations if remark.step is None])
        self._cards = state.cards
        if not state.cards:
            self.titled("Score")
            pane.show(None, _NO_SCORES.get(state_of(state), "There are no scores."))
            return
        chosen = next((card for card in state.cards if _key(card) == self._wanted), state.cards[0])
        switch = " ▾" if len(state.cards) > 1 else ""
        self.titled(
            f"Score {title(chosen)} · {one_line(str(chosen.get('rubric')), 30)}{switch}",
            judge_of(chosen),
        )
        pane.show(chosen, "", agreement_lines(state.agreement, chosen))

    def on_click(self, event: events.Click) -> None:
        """A click on the title, where ``▾`` says that there are several, shows the next scorecard."""
        if event.widget is self and event.y == 0 and len(self._cards) > 1:
            self.post_message(self.TitleClicked())

    def _show_remarks(self, remarks: Sequence[str]) -> None:
        """Show what people said of the trial as a whole; remarks on a step stand at the step."""
        line = self.query_one("#score-remarks", Static)
        line.update("\n".join(f"✎ {one_line(text, 400)}" for text in remarks))
        line.display = bool(remarks)

    def next_rubric(self, state: TrialState) -> None:
        """Show the next scorecard."""
        shown = self.query_one(ScorePane).card
        at = next((index for index, card in enumerate(self._cards) if card == shown), 0)
        if self._cards:
            self._wanted = _key(self._cards[(at + 1) % len(self._cards)])
            self.show_scores(state)


def _key(card: Card) -> tuple[object, object]:
    return card.get("rubric"), card.get("judge")
