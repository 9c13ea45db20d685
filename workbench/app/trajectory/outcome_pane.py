"""The frame around what a trial brought: texts, the list of where its README comes from, the list of its check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.widget import Widget

from workbench.app.toolkit.document import Document, Range, note, position
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import COPIED_AT_MOST, TabbedText, TabLine, Target
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.trajectory import why as wording
from workbench.app.trajectory.check_list import CheckList, ShownCheck, load_check
from workbench.app.trajectory.loading import TrialState, state_of
from workbench.app.trajectory.outcome import (
    CHECK,
    EXPLORATION,
    GROUNDING,
    README,
    SHOWN_AT_FIRST,
    TABS,
    Outcome,
    load_outcome,
    locate,
)
from workbench.app.trajectory.why import GroundingList

if TYPE_CHECKING:
    from workbench.grounding import Why
    from workbench.session.reader import SessionReader


class OutcomePane(TabbedText):
    """What the trial brought."""

    short = "README"
    at_first = SHOWN_AT_FIRST

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.raw = self.marking = False
        self.why: Why | None = None
        self.why_loader = Latest(self, "why")
        self._now: tuple[SessionReader, TrialState] | None = None
        self._outcome = Outcome(note(""))
        self._step = 0

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="outcome-tabs")
        yield TextPane(id="outcome-text")
        yield GroundingList(id="grounding")
        yield CheckList(id="check")

    def on_mount(self) -> None:
        self.items.display = self.checks.display = False

    items = getters.query_one(GroundingList)
    checks = getters.query_one(CheckList)

    @property
    def tab(self) -> str:
        return self.wanted or README

    @property
    def _marks(self) -> bool:
        """Whether items are marked in the README."""
        return self.marking and self.tab == README

    def show_trial(self, reader: SessionReader, state: TrialState) -> None:
        if self._now is None or self._now[1].trial.id != state.trial.id:
            self._limit = SHOWN_AT_FIRST
            self.checks.begin()
        self._now = (reader, state)
        self._ask()

    def reading_all(self) -> Callable[[], Document] | None:
        if self._now is None:
            return None
        (reader, state), tab = self._now, self.tab
        return lambda: load_outcome(reader, state, tab, raw=True, limit=COPIED_AT_MOST).document

    def toggle_raw(self) -> None:
        """Show the README as it is written, or rendered again."""
        self.raw = not self.raw
        self.go(README)

    def toggle_marks(self) -> None:
        """Mark in the README where its items come from, or mark nothing again."""
        self.marking = not self._marks
        self.go(README)

    def on_resize(self) -> None:
        self._title()

    def _title(self) -> None:
        shown = self.why if self._marks or self.tab == GROUNDING else None
        self.titled("Outcome" if shown is None else wording.sentence(shown, self.size.width - 4))

    def light(self, step: int) -> None:
        """Mark what a step gave to the README."""
        if step != self._step:
            self._step = step
            self.items.light(step)
            self._light()

    def _light(self) -> None:
        found = self.why.grounding if self.why is not None else None
        if found is not None and (places := self._outcome.places):
            mine = {number for number, item in enumerate(found.items) if self._step in item.steps}
            self.text.light([Range(line, start, end) for line, start, end, number in places if number in mine])

    def _ask_why(self, reader: SessionReader, state: TrialState) -> None:
        """Ground the trial where that is shown."""
        trial = state.trial
        of_steps = state.step_count, len(state.seen), len(state.files)
        key = (trial.id, trial.readme_blob, trial.snapshot, trial.state, *of_steps)
        if key[:2] != self.why_loader.asked[:2]:
            self.why_loader.asked = key[:2]
            self.why, self._outcome = None, replace(self._outcome, places=())
            self.items.show(None, "Looking where it comes from…")
        if not (self._marks or self.tab in {GROUNDING, EXPLORATION}):
            return

        def work() -> Why:
            from workbench.grounding import read_trial

            return read_trial(reader, trial)

        def done(why: Why) -> None:
            self.why = why
            empty = why.note or "The README names nothing that could be looked up."
            self.items.show(why.grounding, empty if why.grounding else "There is no README.")
            self._ask()

        def failed(sentence: str) -> None:
            self.why_loader.asked = key[:2]
            self.items.show(None, sentence)
            self.notify(sentence, title=self.short, severity="error", timeout=10)

        self.why_loader.ask_for(key, work, done, failed)

    def _ask(self) -> None:
        if self._now is None:
            return
        reader, state = self._now
        trial, tab, raw, limit = state.trial, self.tab, self.raw, self._limit
        self._ask_why(reader, state)
        self._title()
        why = self.why if self._marks or tab == EXPLORATION else None
        seen = len(state.seen) if trial.readme_blob else 0
        says = trial.readme_blob, trial.metadata_blob, state_of(state), trial.error, len(state.cards), seen
        key = (trial.id, tab, raw, limit, *says, id(why))
        if tab == CHECK:
            self.loader.asked = ()  # what an engine writes of it meanwhile is not in the state

        def work() -> Outcome | ShownCheck:
            if tab == CHECK:
                return load_check(reader, trial)
            if tab == GROUNDING:
                return Outcome(note(""))
            return load_outcome(reader, state, tab, raw=raw, limit=limit, why=why)

        def show(found: Outcome | ShownCheck) -> None:
            here: Widget = self.items if tab == GROUNDING else self.text
            if isinstance(found, ShownCheck):
                here = self.checks
                if found != here.shown:
                    here.show(found)
                found = Outcome(note(""))
            self._outcome = found
            tabs = self.query_one(TabLine)
            tabs.current = tab
            tabs.remark = "" if not found.readme else "m rendered" if found.raw else "m source"
            self._show_instead(here)
            self.text.show(found.document, keep_place=key[:3] == self.loader.shown[:3])
            self._light()

        self.load(key, work, show, lambda sentence: Outcome(note(sentence)))

    def _show_instead(self, here: Widget) -> None:
        """Show a text or a list instead of the others; what had the focus hands it on."""
        others = [one for one in (self.items, self.checks, self.text) if one is not here]
        had = any(other.has_focus for other in others)
        here.display = True
        for other in others:
            other.display = False
        if had:
            self.screen.set_focus(here)

    def bring_into_sight(self, target: Target) -> None:
        if target.span is None:
            super().bring_into_sight(target)
        elif readme := self._outcome.readme:
            document = self._outcome.document
            marks = [Range(*place) for place in locate(document, readme, *target.span)]
            self.text.mark_evidence(marks)
            if not marks:
                self.text.go_to(document.line_at(position(readme, target.span[0])[0]))
