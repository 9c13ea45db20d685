"""The panes of the Trajectory mode and its keys, and what is selected: what is copied, labelled, or come back to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual import getters
from textual.widget import Widget

from workbench.app.keys import bindings
from workbench.app.location import Location, Place
from workbench.app.toolkit.actions import Labelled
from workbench.app.toolkit.document import Subject
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.run_screen import RunScreen
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.app.trajectory.loading import TrialState
from workbench.app.trajectory.outcome import CHECK
from workbench.app.trajectory.outcome_pane import OutcomePane
from workbench.app.trajectory.repository_pane import RepositoryPane
from workbench.app.trajectory.score_pane import ScorePane
from workbench.app.trajectory.scores import plain_text
from workbench.app.trajectory.step_content import ContentPane
from workbench.app.trajectory.step_list import StepList
from workbench.session.labels import criterion_of


class TrialPanes(RunScreen):
    """The widgets of a trial; ``state`` is None before one was read."""

    BINDINGS = bindings("trajectory")
    first_pane = "steps-pane"
    state: TrialState | None = None

    def compose_body(self) -> Iterable[Widget]:
        tree = RepositoryPane(id="tree"), Static("", id="legend")
        yield Pane(*tree, short="Repository", id="repository", classes="pane pane-left")
        yield Pane(StepList(id="steps"), short="Steps", id="steps-pane", classes="pane")
        yield ContentPane(id="content", classes="pane")
        yield OutcomePane(id="outcome", classes="pane")
        scores = ScorePane(id="criteria"), Static("", id="score-remarks")
        yield Pane(*scores, short="Score", id="score", classes="pane")
        yield Static("", id="nothing", classes="state")

    @property
    def step_number(self) -> int:
        selected = self.step_list.selected
        return selected.number if selected is not None else 0

    steps = getters.query_one("#steps-pane", Pane)
    step_list = getters.query_one(StepList)
    repository = getters.query_one(RepositoryPane)
    score = getters.query_one("#score", Pane)
    score_pane = getters.query_one(ScorePane)
    content = getters.query_one(ContentPane)
    outcome = getters.query_one(OutcomePane)

    def _make_current(self, current: Widget) -> None:
        super()._make_current(current)
        # Reasons are read, not glanced at: the scores take more room while they have the focus.
        self.set_class(current is self.score, "-at-score")

    def focus_pane(self, pane: Widget) -> None:
        super().focus_pane(pane)
        inside = next((view for view in pane.query(VirtualView) if view.display), None)
        if inside is not None and inside.focusable:
            self.set_focus(inside)

    def uncover(self, pane: Widget) -> None:
        """Bring a pane to the front where only one has room."""
        if self.has_class("-w-tabs") or self.has_class("-h-tabs"):
            self.focus_pane(pane)

    # -- what is selected

    def files(self) -> Iterable[str]:
        return [path for path, *_ in self.state.files] if self.state is not None else ()

    @property
    def files_of(self) -> str:
        return self.state.trial.case_name or self.state.trial.case_id if self.state is not None else ""

    def go_to_file(self, path: str) -> None:
        self.workbench.leave_place()
        self.repository.point_at(path)
        self.repository.action_choose()

    def location(self) -> Location | None:
        if self.state is None:
            return None
        place = Place(self.step_number, item=self._criterion)
        somewhere = place if place != Place() else None
        return Location(self.workbench.session_path, "trajectory", self.state.trial.id, somewhere)

    def labelled(self) -> Labelled | None:
        state, step, current = self.state, self.step_list.selected, self.current_pane
        if state is None:
            return None
        if step is not None and current in (self.steps, self.content):
            return Labelled(f"step {step.number}", state.trial.id, str(step.number))
        chosen = self.score_pane.chosen_part if current is self.score else None
        if chosen is not None:
            return Labelled(chosen[0], state.trial.id, chosen[1])
        return Labelled(f"{self.files_of} · {state.trial.agent}", state.trial.id)

    def action_tab(self, step: int) -> None:
        current = self.current_pane
        (self.score_pane if current is self.score else self.outcome if current is self.outcome else self.content).turn(
            step
        )

    @property
    def _criterion(self) -> str:
        """The criterion under the cursor as a part of the trial; "" where the scores do not have the focus, or it has no key."""
        chosen = self.score_pane.chosen_part if self.current_pane is self.score else None
        return chosen[1] if chosen is not None and criterion_of(chosen[1]) is not None else ""

    def subject(self) -> Subject:
        """Return what has the focus: the scores, the outcome, the files, else the selected step."""
        current = self.current_pane
        if current is self.score:
            card = self.score_pane.card
            return Subject("the scores", plain_text(card) if card is not None else "", ".txt")
        if current is self.outcome:
            tab = self.outcome.tab
            if tab == CHECK:
                return Subject("the check", self.outcome.checks.plain_text(), ".txt")
            suffix = {"README": ".md", "Metadata": ".json"}.get(tab, ".diff")
            return Subject(tab, self.outcome.text.document.text, suffix, self.outcome.whole)
        if current is not None and current.id == "repository":
            return Subject("the files", self.repository.plain_text(), ".txt")
        step, tab = self.step_list.selected, self.content.tab
        named = Path(step.target).suffix if step is not None and tab == "Observation" else ""
        suffix = named if named[1:].isalnum() else ".txt"
        of = f"the {tab.lower()} of step {step.number}" if step is not None else "the step"
        return Subject(of, self.content.text.document.text, suffix, self.content.whole)
