"""The screen of the Trajectory mode, which shows one trial step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import TYPE_CHECKING

from textual import events, getters, work
from textual.widget import Widget

from workbench.app.keys import bindings, with_keys
from workbench.app.location import Anchor, Location
from workbench.app.toolkit.actions import LabelTarget
from workbench.app.toolkit.document import PaneContent
from workbench.app.toolkit.pane import Pane, ScrollTarget
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.run_screen import RunScreen
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.app.toolkit.workers import LiveLoader
from workbench.app.trajectory import trial_state as loading
from workbench.app.trajectory.actions import TrialActions
from workbench.app.trajectory.check_list import CheckList
from workbench.app.trajectory.grounding_list import GroundingList, needles_of
from workbench.app.trajectory.lists import RepositoryPane, StepList
from workbench.app.trajectory.outcome import CHECK, METADATA, README, OutcomePane
from workbench.app.trajectory.score_pane import ScorePane
from workbench.app.trajectory.scores import headline, plain_text
from workbench.app.trajectory.step_content import ContentPane
from workbench.app.trajectory.trial_state import StepHit, TrialSnapshot, TrialState
from workbench.base.text import one_line
from workbench.grounding.items import TASK
from workbench.session.labels import criterion_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


REFRESH_SECONDS = 0.1
"""The interval between reloads of a changing trial."""
TREE_SECONDS = 0.5
"""The interval between updates of the repository tree of a live trial; it may have thousands of files."""


class TrajectoryScreen(RunScreen):
    """The steps of a trial, the files the agent saw, the outcome and the scores."""

    BINDINGS = bindings("trajectory")
    mode_name = "Trajectory"
    first_pane = "steps-pane"
    actions: TrialActions
    state: TrialState | None = None
    CSS_PATH = "../styles/trajectory.tcss"
    no_session = (
        "No session is open: press {app.sessions} to choose one, or {app.cases} to pick a case and start a run."
    )

    def __init__(self) -> None:
        super().__init__()
        self.actions = TrialActions(self)
        self.refreshing = LiveLoader(self, "refresh", self._load_next, self._apply_next, seconds=REFRESH_SECONDS)
        self._tree: tuple[TrialState | None, float] = None, 0.0  # state of the displayed tree, and when it was set
        self._state_shown = ""
        self._waiting_since = monotonic()  # when the wait for the first step started

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
        # The scores get more space while focused, so that their reasons fit.
        self.set_class(current is self.score, "-at-score")

    def focus_pane(self, pane: Widget) -> None:
        super().focus_pane(pane)
        inside = next((view for view in pane.query(VirtualView) if view.display), None)
        if inside is not None and inside.focusable:
            self.set_focus(inside)

    def uncover(self, pane: Widget) -> None:
        """Bring a pane to the front if only one pane fits at a time."""
        if self.has_class("-w-tabs") or self.has_class("-h-tabs"):
            self.focus_pane(pane)

    # -- the trial

    def forget(self) -> None:
        self.state = None

    def load_wanted(self, reader: SessionReader) -> None:
        wanted = self.workbench.selected_trial

        def done(snapshot: TrialSnapshot | None) -> None:
            if reader is not self.reader:
                return
            if snapshot is None:
                self.show_reason(with_keys(loading.NO_TRIALS if wanted is None else loading.GONE))
            elif self.workbench.selected_trial == wanted:
                self._begin(snapshot)

        self.refreshing.drop_waiting()
        self.run_loader.ask(lambda: loading.first_snapshot(reader, wanted), done, self.show_reason)

    def show_trial(self, trial_id: str, place: Anchor | None = None) -> None:
        """Show another trial of the session, scrolled to ``place`` if given."""
        self.workbench.selected_trial = trial_id
        self.load_at(place)

    def _begin(self, snapshot: TrialSnapshot) -> None:
        self.workbench.selected_trial = snapshot.state.trial.id
        self.finder.forget()
        self.show_nothing("")
        self.step_list.begin(following=snapshot.state.live)
        self.apply(snapshot)
        self.has_read()

    def can_go(self, place: Anchor) -> bool:
        return not place.number or place.number in {step.number for step in self.step_list.steps}

    def go_to_place(self, place: Anchor) -> None:
        if place.number:
            self.step_list.select_number(place.number)
            self._show_step()
        if place.item:
            self.score_pane.go_to(place.item)
            self.focus_pane(self.score)
        if place.needle:
            self.search_for(place.needle, place.number or loading.OUTCOME)

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        state = self.state
        if state is None:
            if any(change.kind == "trial" for change in changes) and self.run_loader.idle:
                self.on_session_opened(self.reader)
            return
        mine = {state.trial.id, state.trial.run_id, state.place.previous}
        kinds = {"trial", "run", "candidate"} if state.use is not None and state.use.live else {"trial", "run"}
        if any(change.item in mine or change.kind in kinds for change in changes):
            self.refreshing.refresh_soon()

    def _load_next(self, reader: SessionReader) -> Callable[[], TrialSnapshot | None] | None:
        state, tail, (tree_of, at) = self.state, self.step_list.known_tail(), self._tree
        tree_of = tree_of if monotonic() - at > TREE_SECONDS else None
        return None if state is None else lambda: loading.next_snapshot(reader, state, tail, tree_of)

    def _apply_next(self, snapshot: TrialSnapshot | None) -> None:
        if snapshot is not None and self.state is not None and snapshot.state.trial.id == self.state.trial.id:
            self.apply(snapshot)
            shown = self._tree[0]
            if shown is not None and shown.seen is not snapshot.state.seen:
                self.refreshing.refresh_soon()

    def apply(self, snapshot: TrialSnapshot) -> None:
        """Show a loaded state of the trial."""
        reader, state, step_list = self.reader, snapshot.state, self.step_list
        if reader is None:
            return
        if self.state is None or self.state.trial.id != state.trial.id:
            self._waiting_since = monotonic()
        self.state = state
        known = len(step_list.steps)
        step_list.show(state, snapshot.steps, after=snapshot.after)
        if snapshot.tree is not None:
            self._tree = state, monotonic()
            waiting = "waiting for the engine…" if loading.state_of(state) == "queued" else "nothing read yet"
            self.repository.show(*snapshot.tree, waiting)
            self.query_one("#repository", Pane).titled(one_line(state.trial.case_name or "Repository", 20))
        self._show_step()
        self.steps.titled(*step_list.titles(state))
        self.score_pane.show(reader, state)
        self._show_header(state)
        self.outcome.show_trial(reader, state)
        if loading.state_of(state) != self._state_shown:
            self._state_shown = loading.state_of(state)
            self.refresh_bindings()
        if known < len(step_list.steps) < state.step_count:
            self.refreshing.refresh_soon()
        self.go_on_to_place()

    def _waited(self) -> float:
        return monotonic() - self._waiting_since

    def tick(self) -> None:
        if self.state is not None and self.is_current and loading.waiting_for(self.state):
            self._show_header(self.state)
            self._show_step()

    def _show_header(self, state: TrialState) -> None:
        card = self.score_pane.card
        self.set_status(loading.header(state, headline(card) if card else "", self._waited()))

    # -- the selected step

    def on_row_list_row_highlighted(self, message: RowList.RowHighlighted) -> None:
        if self.state is not None and message.row_list is self.step_list:
            self.steps.titled(*self.step_list.titles(self.state))
            self._show_step()

    def _show_step(self) -> None:
        reader, state, step = self.reader, self.state, self.step_list.selected
        if reader is None or state is None:
            return
        if step is None:
            self.content.show_no_step(state, self._waited())
            return
        self.repository.point_at(step.target if step.kind == "tool" else "")
        self.content.show_step(reader, state, step)
        self.outcome.highlight(step.number)

    def go_to_step(self, number: int, tab: str, target: ScrollTarget | None = None) -> None:
        """Select a step and a tab, and scroll to a target in the tab."""
        self.step_list.select_number(number)
        self._show_step()
        self.content.go(tab, target)
        self.uncover(self.content)

    def go_to_outcome(self, tab: str, target: ScrollTarget | None = None) -> None:
        self.outcome.go(tab, target)
        self.uncover(self.outcome)

    def on_text_pane_step_link(self, message: TextPane.StepLink) -> None:
        self.go_to_step(message.step, "Observation")

    def on_grounding_list_followed(self, message: GroundingList.Followed) -> None:
        item, place = message.item, message.item.places[0]
        step = next((number for number in item.steps if number != TASK), None)
        if step is not None:
            self.step_list.select_number(step)
            self._show_step()
            self.content.go("Observation", ScrollTarget(texts=needles_of(item)))
            if message.chosen:
                self.focus_pane(self.content)
        elif message.chosen:
            self.go_to_outcome(README, ScrollTarget(span=(place.start, place.end), reach=place.end))
            self.notify(one_line(f"{item.text}: {item.origin}", 300))

    def on_row_list_row_selected(self, message: RowList.RowSelected) -> None:
        uses = self.outcome.uses
        if message.row_list is not uses or uses.selected is None:
            return
        if uses.line:
            self.go_to_outcome(README, ScrollTarget(line=uses.line))
        else:
            self.notify(f"The README never names {one_line(uses.selected.task.target.name, 80)}.")

    def on_repository_pane_opened(self, message: RepositoryPane.Opened) -> None:
        if message.step is None:
            self.notify(f"The agent never opened {one_line(message.path, 80)}.")
        else:
            self.go_to_step(message.step, "Observation")

    # -- search

    def search_for(self, text: str, near: int | None = None) -> None:
        """Search and go to the first hit from step ``near`` on, or from the selected step if ``near`` is None."""
        reader, state = self.reader, self.state
        if reader is None or state is None:
            return
        from_step = self.step_number if near is None else near
        self.finder.begin(
            text,
            lambda needle, stopped: loading.hits_of(reader, state.trial, needle, stopped),
            lambda hits: next((at for at, hit in enumerate(hits) if (hit.step or loading.OUTCOME) >= from_step), 0),
        )

    def mark_hits(self, needle: str) -> None:
        self.content.text.find(needle)
        self.outcome.text.find(needle)

    def go_to_hit(self, hit: StepHit) -> None:
        target = ScrollTarget(hit=hit.ordinal, reach=hit.reach)
        if hit.step:
            self.go_to_step(hit.step, hit.tab, target)
        else:
            self.go_to_outcome(hit.tab, target)

    def action_evidence(self) -> None:
        text, proof = self.score_pane.next_evidence()
        if proof is None:
            self.notify(one_line(text, 300))
            return
        self.set_remark(text)
        row = self.state.seen.get((proof.path or "", "read")) if self.state and proof.kind == "file" else None
        if proof.kind == "readme" and proof.start is not None:
            end = proof.end if proof.end is not None else proof.start
            self.go_to_outcome(README, ScrollTarget(span=(proof.start, end), reach=end))
        elif row is not None:
            self.go_to_step(row.step, "Observation", ScrollTarget(line=proof.line))
        elif proof.kind == "metadata":
            self.go_to_outcome(METADATA, ScrollTarget(texts=(f'"{(proof.path or "").rpartition(".")[2]}"',)))
        else:
            self.notify(one_line(proof.text, 600), title=f"{proof.kind} {proof.path or ''}", timeout=8)

    # -- selection

    def files(self) -> Iterable[str]:
        return [path for path, *_ in self.state.files] if self.state is not None else ()

    @property
    def files_of(self) -> str:
        return self.state.trial.case_name or self.state.trial.case_id if self.state is not None else ""

    def go_to_file(self, path: str) -> None:
        self.workbench.leave_place()
        self.repository.point_at(path)
        self.repository.action_choose()

    @property
    def _chosen(self) -> tuple[str, str] | None:
        """The title and label part of the selected criterion, or None if the scores do not have the focus."""
        return self.score_pane.chosen_part if self.current_pane is self.score else None

    def location(self) -> Location | None:
        if self.state is None:
            return None
        chosen = self._chosen
        place = Anchor(self.step_number, item=chosen[1] if chosen and criterion_of(chosen[1]) else "")
        somewhere = place if place != Anchor() else None
        return Location(self.workbench.session_path, "trajectory", self.state.trial.id, somewhere)

    def labelled(self) -> LabelTarget | None:
        state, step, current = self.state, self.step_list.selected, self.current_pane
        if state is None:
            return None
        if step is not None and current in (self.steps, self.content):
            return LabelTarget(f"step {step.number}", state.trial.id, str(step.number))
        if chosen := self._chosen:
            return LabelTarget(chosen[0], state.trial.id, chosen[1])
        return LabelTarget(f"{self.files_of} · {state.trial.agent}", state.trial.id)

    def action_tab(self, step: int) -> None:
        current = self.current_pane
        (self.score_pane if current is self.score else self.outcome if current is self.outcome else self.content).turn(
            step
        )

    def subject(self) -> PaneContent:
        """Return the content of the focused pane (scores, outcome or files), or else of the selected step."""
        current = self.current_pane
        if current is self.score:
            card = self.score_pane.card
            return PaneContent("the scores", plain_text(card) if card is not None else "", ".txt")
        if current is self.outcome:
            return self.outcome.subject()
        if current is not None and current.id == "repository":
            return PaneContent("the files", self.repository.plain_text(), ".txt")
        return self.content.subject()

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remark":
            return self.state is not None
        if action in {"check_readme", "measure_use"}:
            return self.state is not None and self.state.trial.readme_blob is not None
        if action == "check_block":
            return isinstance(self.focused, CheckList)
        if action == "hit" and isinstance(self.focused, CheckList) and self.focused.alarms:
            return True
        if action == "trials":
            return self.state is not None and len(self.state.place.order) > 1
        return super().check_action(action, parameters)

    def action_step(self, step: int) -> None:
        self.step_list.action_move(step)

    def action_trial(self, step: int) -> None:
        if self.workbench.go_on(step):
            return
        at = self.workbench.selected_trial
        target = self.state.place.beside(at, step) if self.state and at else None
        if target is not None:
            self.leave_run()
            self.workbench.leave_place(within_list=True)
            self.show_trial(target)

    def action_trials(self) -> None:
        from workbench.app.trials.screen import TrialsScreen

        self.app.push_screen(TrialsScreen(self.workbench.selected_trial or ""))

    def action_more(self) -> None:
        (self.outcome if self.outcome.has_class("-current") else self.content).more()

    def action_open_here(self) -> None:
        if isinstance(self.focused, ScorePane):
            self.action_evidence()
        elif isinstance(self.focused, StepList):
            self.focus_pane(self.content)
        elif isinstance(self.focused, RowList):
            self.focused.action_choose()

    def action_scores(self) -> None:
        if isinstance(self.focused, ScorePane):
            self._next_card()
        else:
            self.focus_pane(self.score)

    def action_score_view(self) -> None:
        self.score_pane.turn(1)
        self.focus_pane(self.score)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self.score and event.y == 0:  # title, where ``▾`` indicates several cards
            self._next_card()

    def _next_card(self) -> None:
        if self.state is not None:
            self.score_pane.next_card()
            self._show_header(self.state)

    def action_rerun_model(self) -> None:
        self.do("rerun_model", self.actions.rerun_model)

    def action_rescore(self) -> None:
        self.do("rescore", self.actions.rescore)

    def action_fork(self) -> None:
        self.do("fork", self.actions.fork)

    def action_where(self) -> None:
        self.outcome.toggle_marks()

    def action_hit(self, step: int) -> None:
        if isinstance(self.focused, CheckList) and self.finder.found is None and not self.workbench.goes_through_hits:
            self.focused.go_to_alarm(step)
        else:
            super().action_hit(step)

    def action_check_readme(self) -> None:
        self.outcome.choose(CHECK)
        self.focus_pane(self.outcome)
        self.actions.check_readme()

    @work
    async def action_measure_use(self) -> None:
        if self.state is not None:
            await self.workbench.ask_and_measure(trial=self.state.trial.id)

    def action_check_block(self) -> None:
        line = self.outcome.checks.current
        if line is None or line.block < 0:
            self.notify("The cursor is not on a block of the README.")
        else:
            self.actions.check_readme(line.block)

    def action_raw(self) -> None:
        self.outcome.toggle_raw()

    def action_leave(self) -> None:
        own = self.finder.found is not None and not self.workbench.goes_through_hits
        if own or not self.workbench.go_back_to_list():
            self.finder.forget()
