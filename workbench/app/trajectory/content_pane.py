"""Tabs of texts that are read when they are asked for; in the tabs of a step: what the agent thought, did, saw and was sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from textual.app import ComposeResult

from workbench.app.toolkit.amounts import money
from workbench.app.toolkit.document import COLOURED_AT_MOST, Document, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import COPIED_AT_MOST, TabbedText, TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.trajectory.loading import TrialState, waiting_for, why_not
from workbench.app.trajectory.step_content import SHOWN_AT_FIRST, TABS, StepContent, load_content
from workbench.session.forks import inheritance
from workbench.session.labels import in_words
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import StepRow

REST_SECONDS = 0.25
"""How long a step must have been selected before the rest of a long text is coloured."""
Loaded = TypeVar("Loaded")


@dataclass(frozen=True, slots=True)
class Target:
    """What of a text is brought into sight.

    It is a hit by its number from 0, a source line from 1, the first of ``texts`` that is there, or characters of a README.
    ``reach`` is how many characters must be shown for it.
    """

    hit: int | None = None
    line: int | None = None
    texts: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    reach: int = 0


class LoadedTabs(TabbedText):
    """Reads what the wanted tab has in a thread."""

    wanted: str | None = None

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "tab")
        self._target: Target | None = None

    def choose(self, tab: str) -> None:
        self.go(tab)

    def go(self, tab: str, target: Target | None = None) -> None:
        """Show a tab, also of what is shown next, and bring something in it into sight."""
        self.wanted, self._target = tab, target
        if target is not None:
            self._reach(target.reach)
        self._ask()

    def _load(
        self,
        key: tuple[object, ...],
        work: Callable[[], Loaded],
        show: Callable[[Loaded], None],
        failure: Callable[[str], Loaded],
    ) -> None:
        """Show what was read, or what stands in its place where that failed."""
        if key == self.loader.shown:
            self._arrive()

        def done(loaded: Loaded) -> None:
            show(loaded)
            self._arrive()

        self.loader.ask_for(key, work, done, lambda sentence: show(failure(sentence)))

    def _arrive(self) -> None:
        target, self._target = self._target, None
        if target is not None:
            self.bring_into_sight(target)

    def bring_into_sight(self, target: Target) -> None:
        if target.hit is not None:
            self.text.go_to_hit(target.hit)
        elif target.line is not None:
            self.text.mark_line(self.text.document.line_at(target.line - 1))
        else:
            self.text.mark_text(*target.texts)


class ContentPane(LoadedTabs):
    """Thought, action, observation, prompt and raw call of one step."""

    short = "Step"
    at_first = SHOWN_AT_FIRST

    _now: tuple[SessionReader, TrialState, StepRow] | None = None

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="content-tabs")
        yield TextPane(id="content-text")

    @property
    def tab(self) -> str:
        return self.query_one(TabLine).current

    def show_no_step(self, state: TrialState, waited: float = 0.0) -> None:
        self._now, self.loader.asked, self.loader.shown = None, (), ()
        self.titled("Step")
        said = why_not(state, "the first step") or ("The trial has no steps.",)
        if waiting := waiting_for(state, waited):
            said = f"{waiting[:1].upper()}{waiting[1:]}", "Steps appear here as the agent takes them."
        self.text.show(note(*said))

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
        wanted, limit = self.wanted, self._limit
        key = (state.trial.id, step, wanted, limit, remarks)

        def show(loaded: StepContent) -> None:
            tabs = self.query_one(TabLine)
            tabs.empty, tabs.current = loaded.empty, loaded.tab
            self.text.show(loaded.document, keep_place=key[:3] == self.loader.shown[:3])
            if not loaded.wholly_coloured:
                # Who steps on quickly never pays for colours further down.
                self.set_timer(REST_SECONDS, colour)

        def colour() -> None:
            if key == self.loader.asked and self.loader.idle:
                self.loader.ask(
                    lambda: load_content(reader, step, wanted, limit, COLOURED_AT_MOST, remarks=remarks), coloured
                )

        def coloured(loaded: StepContent) -> None:
            if key == self.loader.asked:
                self.text.recolour(loaded.document)

        self._load(
            key,
            lambda: load_content(reader, step, wanted, limit, remarks=remarks),
            show,
            lambda sentence: StepContent(wanted or self.tab, note(sentence)),
        )


def _took(step: StepRow) -> str:
    tokens = (step.prompt_tokens or 0) + (step.completion_tokens or 0)
    parts = [one_line(step.model, 30)] if step.model else []
    parts += [f"{tokens:,} tokens"] if tokens else []
    parts += [f"{step.seconds:.1f} s"] if step.seconds is not None else []
    parts += [money(step.cost_usd)] if step.cost_usd else []
    return " · ".join(parts)
