"""The Trajectory mode: one trial, step by step."""

from __future__ import annotations

from collections.abc import Coroutine
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from workbench.app.key_table import with_keys
from workbench.app.location import Place
from workbench.app.toolkit.document import Subject
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.typed_line import PromptLine
from workbench.app.trajectory import loading, panes
from workbench.app.trajectory.actions import Actions
from workbench.app.trajectory.check_list import CheckList
from workbench.app.trajectory.finding import Finder
from workbench.app.trajectory.following import Following, Look
from workbench.app.trajectory.keys import KEYS
from workbench.app.trajectory.loading import TrialState
from workbench.app.trajectory.outcome import CHECK
from workbench.app.trajectory.repository_pane import RepositoryPane
from workbench.app.trajectory.score_pane import ScorePane
from workbench.app.trajectory.scores import headline
from workbench.app.trajectory.search import OUTCOME
from workbench.app.trajectory.step_list import StepList
from workbench.app.trajectory.trial_panes import TrialPanes
from workbench.app.trajectory.why import GroundingList, needles_of
from workbench.grounding.items import TASK
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Criterion
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change, StepRow


class TrajectoryScreen(TrialPanes):
    """Steps of a trial, what the agent saw, what it wrote and how that was scored."""

    mode_name = "Trajectory"
    actions: Actions
    finder: Finder
    CSS_PATH = "../styles/trajectory.tcss"
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    first_pane = "steps-pane"

    def __init__(self) -> None:
        super().__init__()
        self.state: TrialState | None = None
        self.finder = Finder(self)
        self.actions = Actions(self.workbench, self.doing, self)
        self.following = Following(self)
        self._wanted: str | None = None
        self._goal: Place | None = None  # where somebody wanted to go in it
        self._place: Place | None = None  # the same until it is reached
        self._remarked = Subject("", "", "")
        self._to_end = False  # the last step was asked for while not all were read
        self._state_shown = ""
        self._drafts: dict[
            tuple[str, int, str], str
        ] = {}  # what was edited and not started, by trial, step and what of it
        self._waiting_since = monotonic()  # since when the trial's first step is waited for here

    def on_mount(self) -> None:
        for pane in self.query(Pane):
            pane.titled(pane.short)
        self.focus_pane(self.query_one("#steps-pane"))
        self.set_interval(1.0, self._tick)
        self._show_nothing("Opening the session…" if self.workbench.session_path else with_keys(loading.NO_SESSION))

    # -- the trial

    def on_session_opened(self, reader: SessionReader | None) -> None:
        self.finder.forget()
        self.state = None
        if reader is None:
            self._show_nothing("Opening the session…" if self.workbench.session_path else with_keys(loading.NO_SESSION))
            if self.workbench.session_path is None:
                self.has_read()
            return
        self.reading = True
        wanted = self.workbench.selected_trial
        if wanted:
            self.show_trial(wanted, self._goal)
        else:
            self.following.load_latest(reader)

    def show_trial(self, trial_id: str, place: Place | None = None) -> None:
        """Show another trial of the open session, and where ``place`` is given that place in it."""
        self._wanted = self.workbench.selected_trial = trial_id
        self._goal = self._place = place
        if self.workbench.reader is not None:
            self.reading = True
            self.following.load(self.workbench.reader, trial_id)

    def show_reason(self, sentence: str) -> None:
        """Say why the trial cannot be shown."""
        self._show_nothing(sentence)
        if self.following.loading_trial.idle:
            self.has_read()

    def begin(self, look: Look | None) -> None:
        """Show a trial from its beginning; None says that it is gone."""
        if look is None:
            self.show_reason(with_keys(loading.GONE))
            return
        if look.state.trial.id != self._wanted:
            return
        self.finder.forget()
        self._show_nothing("")
        self._to_end = False
        self.following.begun()
        self.step_list.clear()
        self.step_list.following = look.state.live
        self.apply(look)
        if self.following.loading_trial.idle:
            self.has_read()

    def _go_to_place(self) -> None:
        """Go where somebody wanted to go in this trial, as soon as that step has been read."""
        place = self._place
        # Another reading of the trial may be under way, which would begin it anew.
        if place is None or not self.following.loading_trial.idle:
            return
        if place.number and place.number not in {step.number for step in self.step_list.steps}:
            return
        self._place = None
        if place.number:
            self.step_list.select_number(place.number)
            self._show_step()
        if place.item:
            self.go_to_criterion(place.item)
        if place.needle:
            self.finder.begin(place.needle, place.number or OUTCOME)

    def on_session_changed(self, changes: tuple[Change, ...]) -> None:
        state = self.state
        if state is None:
            if any(change.kind == "trial" for change in changes) and self.following.loading_trial.idle:
                self.on_session_opened(self.workbench.reader)
            return
        mine = {state.trial.id, state.trial.run_id, state.place.previous}
        if any(change.item in mine or change.kind == "trial" for change in changes):
            self.following.loading_rest.refresh_soon()

    def apply(self, look: Look) -> None:
        """Show how the trial stands now."""
        reader, state = self.workbench.reader, look.state
        if reader is None:
            return
        if self.state is None or self.state.trial.id != state.trial.id:
            self._waiting_since = monotonic()
        self.state = state
        step_list = self.step_list
        step_list.inherited = state.trial.fork_step if state.trial.parent else 0
        step_list.mark(loading.marks_of_steps(state))
        step_list.put(look.steps, after=look.after)
        step_list.set_working(loading.working(state, len(step_list.steps)))
        step_list.live = state.live
        if step_list.following and step_list.steps:
            step_list.select(len(step_list.steps) - 1, by_user=False)
        step_list.following = step_list.following and state.live
        if look.tree is not None:
            self.following.tree_shown(state)
            entries, coverage = look.tree
            waiting = "waiting for the engine…" if loading.state_of(state) == "queued" else "nothing was seen yet"
            self.query_one(RepositoryPane).show(entries, waiting)
            pane = self.query_one(panes.Repository)
            pane.show_coverage(coverage)
            pane.titled(one_line(state.trial.case_name or pane.short, 20))
        self._show_step()
        steps_pane = self.query_one(panes.Steps)
        steps_pane.show_count(state, step_list.following)
        steps_pane.show_heading()
        self.query_one(panes.Score).show_scores(state, reader)
        self._show_header(state)
        self.outcome.show_trial(reader, state)
        if loading.state_of(state) != self._state_shown:
            self._state_shown = loading.state_of(state)
            self.refresh_bindings()
        if len(step_list.steps) < state.step_count:
            self.following.rest_soon()
        self._go_to_place()

    def _waited(self) -> float:
        return monotonic() - self._waiting_since

    def _tick(self) -> None:
        if self.state is not None and self.is_current and loading.waiting_for(self.state):
            self._show_header(self.state)
            self._show_step()

    def _show_header(self, state: TrialState) -> None:
        card = self.query_one(ScorePane).card
        self.set_status(loading.header(state, headline(card) if card else "", self._waited()))

    def add_page(self, page: list[StepRow], after: int) -> None:
        """Show further steps behind the first ``after`` ones."""
        self.step_list.put(page, after=after)
        if self.step_list.following or self._to_end:
            self.step_list.select(len(self.step_list.steps) - 1, by_user=False)
        self._go_to_place()

    # -- the selected step

    def on_step_list_selected(self, message: StepList.Selected) -> None:
        state = self.state
        if state is None:
            return
        if message.by_user:
            self._to_end = self._to_end and self.step_list.cursor == len(self.step_list.steps) - 1
        self.query_one(panes.Steps).show_count(state, self.step_list.following)
        self._show_step()

    def _show_step(self) -> None:
        reader, state, step = self.workbench.reader, self.state, self.step_list.selected
        if reader is None or state is None:
            return
        if step is None:
            self.content.show_no_step(state, self._waited())
            return
        self.query_one(RepositoryPane).point_at(step.target if step.kind == "tool" else "")
        self.content.show_step(reader, state, step)
        self.outcome.light(step.number)

    def go_to_step(
        self, number: int, tab: str, *, hit: int | None = None, line: int | None = None, reach: int = 0
    ) -> None:
        """Select a step and one of its tabs and bring a hit (from 0) or a source line (from 1) into sight."""
        self.step_list.select_number(number)
        self._show_step()
        self.content.go(tab, hit=hit, line=line, reach=reach)
        self.uncover(self.content)

    def go_to_outcome(
        self,
        tab: str,
        *,
        hit: int | None = None,
        key: str | None = None,
        span: tuple[int, int] | None = None,
        reach: int = 0,
    ) -> None:
        """Show a tab of the outcome and bring a hit (from 0), a key of the metadata or a span of the README into sight."""
        self.outcome.go(tab, hit=hit, key=key, span=span, reach=reach)
        self.uncover(self.outcome)

    def mark_hits(self, needle: str) -> None:
        """Mark a text in what the step says and in the outcome, "" for no marks."""
        self.content.text.find(needle)
        self.outcome.text.find(needle)

    def criterion_with_evidence(self) -> Criterion | None:
        """Return the selected criterion, or select the first that has evidence."""
        return self.score_pane.choose_with_evidence()

    def step_that_read(self, path: str) -> int | None:
        """Return the step that read a file first, None if none did."""
        row = self.state.seen.get((path, "read")) if self.state else None
        return row.step if row else None

    def on_text_pane_step_link(self, message: TextPane.StepLink) -> None:
        self.go_to_step(message.step, "Observation")

    def on_grounding_list_followed(self, message: GroundingList.Followed) -> None:
        item, place = message.item, message.item.places[0]
        step = next((number for number in item.steps if number != TASK), None)
        if step is not None:
            self.step_list.select_number(step)
            self._show_step()
            self.content.go("Observation", texts=needles_of(item))
            if message.chosen:
                self.focus_pane(self.content)
        elif message.chosen:
            self.go_to_outcome("README", span=(place.start, place.end), reach=place.end)
            self.notify(one_line(f"{item.text}: {item.origin}", 300))

    def on_repository_pane_opened(self, message: RepositoryPane.Opened) -> None:
        if message.step is None:
            self.notify(f"The agent never opened {one_line(message.path, 80)}.")
        else:
            self.go_to_step(message.step, "Observation")

    def on_prompt_line_answered(self, message: PromptLine.Answered) -> None:
        self.on_prompt_line_left()
        if message.purpose == "search":
            self.finder.begin(message.text)
        else:
            self.actions.annotate(self._remarked, message.text)

    def on_prompt_line_left(self) -> None:
        self.focus_pane(self.current_pane or self.query_one("#steps-pane"))

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"resume", "cancel", "rerun", "rerun_model", "fork", "export", "annotate"}:
            return self.offers(action)
        if action == "check_readme":
            return self.state is not None and self.state.trial.readme_blob is not None
        if action == "check_block":
            return isinstance(self.focused, CheckList)
        if action == "hit" and isinstance(self.focused, CheckList) and self.focused.alarms:
            return True
        if action == "hit":
            return self.finder.found is not None or self.workbench.goes_through_hits
        if action == "trials":
            return self.state is not None and len(self.state.place.order) > 1
        return True

    def action_step(self, step: int) -> None:
        self.step_list.move(step)

    def action_trial(self, step: int) -> None:
        if self.workbench.go_on(step):
            return
        at = self._wanted
        target = self.state.place.beside(at, step) if self.state and at else None
        if target is not None:
            self.leave_run()
            self.workbench.leave_place(within_list=True)
            self.show_trial(target)

    def action_trials(self) -> None:
        from workbench.app.trials.screen import TrialsScreen

        self.app.push_screen(TrialsScreen(self._wanted or ""))

    def action_tab(self, step: int) -> None:
        self.tabbed.turn(step)

    def action_more(self) -> None:
        (self.outcome if self.outcome.has_class("-current") else self.content).more()

    def action_edge(self, last: bool) -> None:
        super().action_edge(last)
        if self.current_view() is self.step_list and last and self.state is not None:
            self.step_list.following = self.state.live
            self._to_end = len(self.step_list.steps) < self.state.step_count
            self.query_one(panes.Steps).show_count(self.state, self.step_list.following)

    def action_open_here(self) -> None:
        if isinstance(self.focused, RepositoryPane):
            self.focused.open_current()
        elif isinstance(self.focused, ScorePane):
            self.finder.show_evidence()
        elif isinstance(self.focused, GroundingList | CheckList):
            self.focused.action_choose()
        elif isinstance(self.focused, StepList):
            self.focus_pane(self.content)

    def action_scores(self) -> None:
        pane = self.query_one(panes.Score)
        if isinstance(self.focused, ScorePane) and self.state is not None:
            pane.next_rubric(self.state)
            self._show_header(self.state)
        else:
            self.focus_pane(pane)

    def action_score_view(self) -> None:
        pane = self.query_one(panes.Score)
        pane.turn(1)
        self.focus_pane(pane)

    def on_score_title_clicked(self) -> None:
        if self.state is not None:
            self.query_one(panes.Score).next_rubric(self.state)
            self._show_header(self.state)

    def action_evidence(self) -> None:
        self.finder.show_evidence()

    def action_rerun_model(self) -> None:
        self.do("rerun_model", lambda: self._asking(self._rerun_model()))

    def action_fork(self) -> None:
        self.do("fork", lambda: self._asking(self._fork()))

    def _asking(self, dialog: Coroutine[None, None, None]) -> None:
        self.run_worker(dialog)

    async def _rerun_model(self) -> None:
        from workbench.app.trajectory.going_on import ask_and_rerun

        if self.state is not None:
            await ask_and_rerun(self.workbench, self.actions, self.state)

    async def _fork(self) -> None:
        from workbench.app.trajectory.going_on import edit_and_go_on

        state, step = self.state, self.step_list.selected
        if state is not None and step is not None:
            await edit_and_go_on(self.workbench, self.actions, state, step, self.content.tab, self._drafts)

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

    def action_check_block(self) -> None:
        line = self.outcome.checks.current
        if line is None or line.block < 0:
            self.notify("The cursor stands on no block of the README.")
        else:
            self.actions.check_readme(line.block)

    def action_raw(self) -> None:
        self.outcome.toggle_raw()

    def action_leave(self) -> None:
        own = self.finder.found is not None and not self.workbench.goes_through_hits
        if own or not self.workbench.go_back_to_list():
            self.finder.forget()

    def action_annotate(self) -> None:
        self._remarked = self.subject()
        self.query_one(PromptLine).ask("annotate", self._remarked.question)
