"""The frame around what the selected step says: loads it, keeps the wanted tab, goes to hits and lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from workbench.app.key_table import key_of
from workbench.app.toolkit.amounts import money
from workbench.app.toolkit.document import COLOURED_AT_MOST, Document, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import COPIED_AT_MOST, TabbedText, TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.trajectory.loading import TrialState, not_taken_up, state_of, waiting_for
from workbench.app.trajectory.step_content import SHOWN_AT_FIRST, TABS, StepContent, load_content, with_remarks
from workbench.session.forks import inheritance
from workbench.session.labels import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import StepRow


REST_SECONDS = 0.25
"""How long a step must have been selected before the rest of a long text is coloured."""


class ContentPane(TabbedText):
    """Thought, action, observation, prompt and raw call of one step."""

    short = "Step"
    at_first = SHOWN_AT_FIRST

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "content")
        self.wanted: str | None = None
        self._asked: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()
        self._hit: int | None = None
        self._line: int | None = None
        self._texts: tuple[str, ...] = ()
        self._now: tuple[SessionReader, TrialState, StepRow] | None = None

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="content-tabs")
        yield TextPane(id="content-text")

    @property
    def tab(self) -> str:
        return self.query_one(TabLine).current

    def show_no_step(self, state: TrialState, waited: float = 0.0) -> None:
        self._now, self._asked, self._shown = None, (), ()
        self.titled("Step")
        self.text.show(note(*_no_steps(state, waited)))

    def show_step(self, reader: SessionReader, state: TrialState, step: StepRow) -> None:
        """Show a step; what was cut of the one before is forgotten."""
        if self._now is None or self._now[2].number != step.number or self._now[1].trial.id != state.trial.id:
            self._limit = SHOWN_AT_FIRST
        self._now = (reader, state, step)
        named = step.target if step.kind in {"tool", "respond"} else ""
        self.titled(
            one_line(f"{step.number} {step.action} {named}", 60), inheritance(state.trial, step.number) or _took(step)
        )
        self._ask()

    def go(
        self, tab: str, *, hit: int | None = None, line: int | None = None, reach: int = 0, texts: tuple[str, ...] = ()
    ) -> None:
        """Show a tab and bring its hit number ``hit`` (from 0), a source line (from 1) or the first of ``texts`` into sight."""
        self.wanted = tab
        self._hit, self._line, self._texts = hit, line, texts
        self._reach(reach)
        self._ask()

    def choose(self, tab: str) -> None:
        self.wanted = tab
        self._ask()

    def reading_all(self) -> Callable[[], Document] | None:
        if self._now is None:
            return None
        reader, _, step = self._now
        tab = self.tab
        return lambda: load_content(reader, step, tab, COPIED_AT_MOST).document

    @property
    def is_cut(self) -> bool:
        return super().is_cut or self.tab in {"Prompt", "Raw"}

    def _ask(self) -> None:
        if self._now is None:
            return
        reader, state, step = self._now
        remarks = tuple(remark.text for remark in state.annotations if remark.step == step.number)
        if labels := state.labels.get(str(step.number)):
            remarks = (in_words(labels), *remarks)
        key = (state.trial.id, step, self.wanted, self._limit, remarks)
        if key == self._asked:
            if self._shown[:2] == (state.trial.id, step):
                self._arrive()
            return
        self._asked = key
        wanted, limit = self.wanted, self._limit

        def work() -> StepContent:
            return with_remarks(load_content(reader, step, wanted, limit), remarks)

        def done(loaded: StepContent) -> None:
            if key != self._asked:
                return
            tabs = self.query_one(TabLine)
            tabs.empty, tabs.current = loaded.empty, loaded.tab
            shown = (state.trial.id, step, loaded.tab)
            self.text.show(loaded.document, keep_place=shown == self._shown)
            self._shown = shown
            self._arrive()
            if not loaded.wholly_coloured:
                # Who steps on quickly never pays for colours further down.
                self.set_timer(REST_SECONDS, colour)

        def failed(sentence: str) -> None:
            # What stands there is of another step.
            if key == self._asked:
                self._shown = ()
                self.text.show(note(sentence))

        def colour() -> None:
            if key == self._asked and self.loader.idle:
                self.loader.ask(work_colours, coloured)

        def work_colours() -> StepContent:
            return with_remarks(load_content(reader, step, wanted, limit, COLOURED_AT_MOST), remarks)

        def coloured(loaded: StepContent) -> None:
            if key == self._asked:
                self.text.recolour(loaded.document)

        self.loader.ask(work, done, failed)

    def _arrive(self) -> None:
        hit, line, texts = self._hit, self._line, self._texts
        self._hit = self._line = None
        self._texts = ()
        if hit is not None:
            self.text.go_to_hit(hit)
        elif line is not None:
            self.text.mark_line(self.text.document.line_at(line - 1))
        elif texts:
            self.text.mark_text(*texts)


def _took(step: StepRow) -> str:
    tokens = (step.prompt_tokens or 0) + (step.completion_tokens or 0)
    parts = [one_line(step.model, 30)] if step.model else []
    parts += [f"{tokens:,} tokens"] if tokens else []
    parts += [f"{step.seconds:.1f} s"] if step.seconds is not None else []
    parts += [money(step.cost_usd)] if step.cost_usd else []
    return " · ".join(parts)


def _no_steps(state: TrialState, waited: float) -> tuple[str, ...]:
    trial = state.trial
    shown = state_of(state)
    if waiting := waiting_for(state):
        clock = f" {waited:.0f} s" if waited >= 1 else ""
        return (f"{waiting[:1].upper()}{waiting[1:]}{clock}", "Steps appear here as the agent takes them.")
    if shown == "interrupted" and not_taken_up(state):
        return ("No engine took the run up.", f"Press {key_of('trajectory.resume')} to start one.")
    if shown == "interrupted":
        return ("The engine stopped before the first step.", f"Press {key_of('trajectory.resume')} to resume.")
    if shown == "failed":
        reason = trial.error or (state.run.error if state.run else None) or "No reason was recorded."
        return (f"✗ {one_line(reason, 600)}", f"Press {key_of('trajectory.rerun')} to run it again.")
    if shown == "cancelled":
        return (
            "The trial was cancelled before its first step.",
            f"Press {key_of('trajectory.rerun')} to run it again.",
        )
    return ("The trial has no steps.",)
