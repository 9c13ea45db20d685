"""The panes of the Trajectory mode, and what is selected in them: what is copied, labelled, or come back to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widget import Widget

from workbench.app.location import Location, Place
from workbench.app.toolkit.document import Subject
from workbench.app.toolkit.labelling import Labelled
from workbench.app.toolkit.pane import Pane, PaneTabs
from workbench.app.toolkit.run_screen import RunScreen
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.app.trajectory import panes
from workbench.app.trajectory.content_pane import ContentPane
from workbench.app.trajectory.loading import TrialState
from workbench.app.trajectory.outcome import CHECK
from workbench.app.trajectory.outcome_pane import OutcomePane
from workbench.app.trajectory.repository_pane import RepositoryPane
from workbench.app.trajectory.score_pane import ScorePane
from workbench.app.trajectory.scores import plain_text
from workbench.app.trajectory.step_list import StepList
from workbench.session.labels import criterion_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class TrialPanes(RunScreen):
    """The widgets of a trial.

    Attributes:
        state: The trial that is shown, None before one was read.
    """

    state: TrialState | None = None

    def compose_body(self) -> Iterable[Widget]:
        yield panes.Repository(id="repository", classes="pane pane-left")
        yield panes.Steps(id="steps-pane", classes="pane")
        yield ContentPane(id="content", classes="pane")
        yield OutcomePane(id="outcome", classes="pane")
        yield panes.Score(id="score", classes="pane")
        yield Static("", id="nothing", classes="state")

    def main_list(self) -> VirtualView:
        return self.step_list

    @property
    def reader(self) -> SessionReader | None:
        return self.workbench.reader

    @property
    def step_number(self) -> int:
        selected = self.step_list.selected
        return selected.number if selected is not None else 0

    @property
    def has_scores(self) -> bool:
        return self.score_pane.card is not None

    @property
    def step_list(self) -> StepList:
        return self.query_one(StepList)

    @property
    def score_pane(self) -> ScorePane:
        return self.query_one(ScorePane)

    @property
    def content(self) -> ContentPane:
        return self.query_one(ContentPane)

    @property
    def outcome(self) -> OutcomePane:
        return self.query_one(OutcomePane)

    def _make_current(self, current: Widget) -> None:
        super()._make_current(current)
        named = [(pane.short if isinstance(pane, Pane) else "", pane is current) for pane in self.panes]
        self.query_one(PaneTabs).show(named)
        # Reasons are read, not glanced at: the scores take more room while they have the focus.
        self.set_class(isinstance(current, panes.Score), "-at-score")

    def focus_pane(self, pane: Widget) -> None:
        super().focus_pane(pane)
        inside = next((view for view in pane.query(VirtualView) if view.display), None)
        if inside is not None and inside.focusable:
            self.set_focus(inside)

    def uncover(self, pane: Widget) -> None:
        """Bring a pane to the front where only one has room."""
        if self.has_class("-w-tabs") or self.has_class("-h-tabs"):
            self.focus_pane(pane)

    def _show_nothing(self, sentence: str) -> None:
        """Show a sentence over the panes, or ("") the panes."""
        nothing = self.query_one("#nothing", Static)
        nothing.update(sentence)
        nothing.display = bool(sentence)
        if sentence:
            self.set_status("")

    # -- what is selected

    def files(self) -> Iterable[str]:
        return [path for path, *_ in self.state.files] if self.state is not None else ()

    @property
    def files_of(self) -> str:
        return self.state.trial.case_name or self.state.trial.case_id if self.state is not None else ""

    def go_to_file(self, path: str) -> None:
        self.workbench.leave_place()
        tree = self.query_one(RepositoryPane)
        tree.point_at(path)
        tree.open_current()

    def location(self) -> Location | None:
        if self.state is None:
            return None
        place = Place(self.step_number, item=self._criterion)
        somewhere = place if place != Place() else None
        return Location(self.workbench.session_path, "trajectory", self.state.trial.id, somewhere)

    def labelled(self) -> Labelled | None:
        state, step = self.state, self.step_list.selected
        if state is None:
            return None
        if step is not None and self.current_pane in (self.query_one(panes.Steps), self.content):
            return Labelled(f"step {step.number}", state.trial.id, str(step.number))
        chosen = self.score_pane.chosen_part if isinstance(self.current_pane, panes.Score) else None
        if chosen is not None:
            return Labelled(chosen[0], state.trial.id, chosen[1])
        return Labelled(f"{state.trial.case_name or state.trial.case_id} · {state.trial.agent}", state.trial.id)

    @property
    def tabbed(self) -> OutcomePane | panes.Score | ContentPane:
        """The pane whose tabs or views are turned: outcome or scores where one of these is used, else what the step says."""
        current = self.current_pane
        return current if isinstance(current, OutcomePane | panes.Score) else self.content

    @property
    def _criterion(self) -> str:
        """The criterion under the cursor as a part of the trial; "" where the scores do not have the focus, or it has no key."""
        chosen = self.score_pane.chosen_part if isinstance(self.current_pane, panes.Score) else None
        return chosen[1] if chosen is not None and criterion_of(chosen[1]) is not None else ""

    def go_to_criterion(self, part: str) -> None:
        """Put the cursor on a criterion, by whose rubric the scores are shown then, and go there."""
        pane = self.query_one(panes.Score)
        pane.go_to(part)
        self.focus_pane(pane)

    def subject(self) -> Subject:
        """Return what has the focus: the scores, the outcome, the files, else the selected step."""
        current = self.current_pane
        if isinstance(current, panes.Score):
            item, card = self.score_pane.selected, self.score_pane.card
            about = item.title if item is not None else "score"
            text = plain_text(card) if card is not None else ""
            return Subject("the scores", text, ".txt", about=about, criterion=self._criterion)
        if current is self.outcome:
            tab = self.outcome.tab
            if tab == CHECK:
                return Subject("the check", self.outcome.checks.plain_text(), ".txt", about=tab)
            suffix = {"README": ".md", "Metadata": ".json"}.get(tab, ".diff")
            return Subject(tab, self.outcome.text.document.text, suffix, about=tab, whole=self.outcome.whole)
        if isinstance(current, panes.Repository):
            tree = self.query_one(RepositoryPane)
            return Subject("the files", tree.plain_text(), ".txt", about=tree.current.path if tree.current else "files")
        step, tab = self.step_list.selected, self.content.tab
        named = Path(step.target).suffix if step is not None and tab == "Observation" else ""
        suffix = named if named[1:].isalnum() else ".txt"
        number = step.number if step is not None else None
        of = f"the {tab.lower()} of step {number}" if number is not None else "the step"
        return Subject(of, self.content.text.document.text, suffix, number, whole=self.content.whole)
