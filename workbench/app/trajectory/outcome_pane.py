"""The frame around README, metadata and difference: loads them, keeps the tab, goes to hits, keys and evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.widget import Widget

from workbench.app.toolkit.document import Document, note, position
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import COPIED_AT_MOST, TabbedText, TabLine
from workbench.app.toolkit.text_pane import Mark, TextPane
from workbench.app.trajectory import why as wording
from workbench.app.trajectory.check_list import CheckList, ShownCheck, load_check
from workbench.app.trajectory.loading import TrialState, state_of
from workbench.app.trajectory.outcome import (
    CHECK,
    EXPLORATION,
    GROUNDING,
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
        self.loader = Latest(self, "outcome")
        self.raw = False
        self._tab = TABS[0]
        self._asked: tuple[object, ...] = ()
        self._shown: Outcome | None = None
        self._now: tuple[SessionReader, TrialState] | None = None
        self._hit: int | None = None
        self._key: str | None = None
        self._span: tuple[int, int] | None = None
        self.why_loader = Latest(self, "why")
        self.marking = False
        self.why: Why | None = None
        self._why_key: tuple[object, ...] = ()
        self._why_of: tuple[object, ...] = ()
        self._places: tuple[tuple[int, int, int, int], ...] = ()
        self._step = 0
        self.check_loader = Latest(self, "check")
        self._check_of = ""

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="outcome-tabs")
        yield TextPane(id="outcome-text")
        yield GroundingList(id="grounding")
        yield CheckList(id="check")

    def on_mount(self) -> None:
        self.items.display = self.checks.display = False

    @property
    def items(self) -> GroundingList:
        return self.query_one(GroundingList)

    @property
    def checks(self) -> CheckList:
        return self.query_one(CheckList)

    @property
    def tab(self) -> str:
        return self._tab

    def show_trial(self, reader: SessionReader, state: TrialState) -> None:
        if self._now is None or self._now[1].trial.id != state.trial.id:
            self._limit = SHOWN_AT_FIRST
        self._now = (reader, state)
        self._ask_why()
        self._ask_check()
        self._title()
        self._ask()

    def _ask_check(self) -> None:
        if self._now is None or self._tab != CHECK:
            return
        reader, state = self._now
        trial = state.trial
        if self._check_of != trial.id:
            self._check_of = trial.id
            self.checks.show(trial.id, None)

        def done(shown: ShownCheck) -> None:
            if self._check_of == trial.id and shown != self.checks.shown:
                self.checks.show(trial.id, shown)

        def failed(sentence: str) -> None:
            self.checks.show(trial.id, ShownCheck(None, None, "", False, sentence))

        self.check_loader.ask(lambda: load_check(reader, trial), done, failed)

    def go(
        self,
        tab: str,
        *,
        hit: int | None = None,
        key: str | None = None,
        span: tuple[int, int] | None = None,
        reach: int = 0,
    ) -> None:
        """Show a tab and bring a hit (from 0), a key of the metadata or a span of the README into sight."""
        self._tab = tab
        self._hit, self._key, self._span = hit, key, span
        self._ask_why()
        self._title()
        self._reach(reach)
        self._ask()

    def choose(self, tab: str) -> None:
        self._tab = tab
        self._ask_why()
        self._ask_check()
        self._title()
        self._ask()

    def reading_all(self) -> Callable[[], Document] | None:
        if self._now is None:
            return None
        (reader, state), tab = self._now, self._tab
        return lambda: load_outcome(reader, state, tab, raw=True, limit=COPIED_AT_MOST).document

    def toggle_raw(self) -> None:
        """Show the README as it is written, or rendered again."""
        self.raw = not self.raw
        self._tab = TABS[0]
        self._ask()

    def on_resize(self) -> None:
        self._title()

    def toggle_marks(self) -> None:
        """Mark in the README where its items come from, or mark nothing again."""
        self.marking = not (self.marking and self._tab == TABS[0])
        self._tab = TABS[0]
        self._ask_why()
        self._title()
        self._ask()

    def light(self, step: int) -> None:
        """Mark what a step gave to the README."""
        if step != self._step:
            self._step = step
            self.items.light(step)
            self._light()

    def _light(self) -> None:
        found = self.why.grounding if self.why is not None else None
        if found is None or not self._places:
            return
        mine = {number for number, item in enumerate(found.items) if self._step in item.steps}
        self.text.light([Mark(line, start, end) for line, start, end, number in self._places if number in mine])

    def _title(self) -> None:
        wanted = self.why is not None and (self.marking or self._tab == GROUNDING)
        self.titled("Outcome" if self.why is None or not wanted else wording.sentence(self.why, self.size.width - 4))

    def _ask_why(self) -> None:
        """Ground the trial where that is shown, off the app's thread."""
        if self._now is None:
            return
        reader, state = self._now
        trial = state.trial
        key = (
            trial.id,
            trial.readme_blob,
            trial.snapshot,
            trial.state,
            state.step_count,
            len(state.seen),
            len(state.files),
        )
        if key[:2] != self._why_of:
            self._why_of, self._why_key = key[:2], ()
            self.why, self._places = None, ()
            self.items.show(None, "Looking where it comes from…")
        if key == self._why_key or not (self.marking or self._tab in {GROUNDING, EXPLORATION}):
            return
        self._why_key = key

        def work() -> Why:
            return wording.load_why(reader, trial)

        def done(why: Why) -> None:
            if key != self._why_key:
                return
            self.why = why
            self.items.show(
                why.grounding,
                why.note or "The README names nothing that could be looked up."
                if why.grounding
                else "There is no README.",
            )
            self._title()
            self._ask()

        def failed(sentence: str) -> None:
            self._why_key = ()
            self.items.show(None, sentence)
            self.notify(sentence, title=self.short, severity="error", timeout=10)

        self.why_loader.ask(work, done, failed)

    def _ask(self) -> None:
        if self._now is None:
            return
        reader, state = self._now
        trial = state.trial
        steps_known = len(state.seen) if trial.readme_blob else 0
        key: tuple[object, ...] = (trial.id, self._tab, self.raw, self._limit, trial.readme_blob, trial.metadata_blob)
        marking = self.marking and self._tab == TABS[0] and self.why is not None
        key += (state_of(state), trial.error, len(state.cards), steps_known, marking, id(self.why) if marking else 0)
        key += (id(self.why),) if self._tab == EXPLORATION else ()
        if key == self._asked:
            if self._shown is not None and self.loader.idle:
                self._arrive()
            return
        same = key[:3] == self._asked[:3]
        self._asked = key
        tab, raw, limit, why = self._tab, self.raw, self._limit, self.why
        places: list[tuple[int, int, int, int]] = []

        def work() -> Outcome:
            if tab == CHECK:
                return Outcome(tab, note(""), "", raw)
            if tab in {GROUNDING, EXPLORATION}:
                empty = note("Looking what the agent saw…")
                return Outcome(tab, empty if why is None else wording.exploration_document(why), "", raw)
            loaded = load_outcome(reader, state, tab, raw=raw, limit=limit)
            if not marking or why is None or why.grounding is None or not loaded.readme:
                return loaded
            signed = wording.marked(loaded.document, loaded.readme, why.grounding)
            places.extend(signed.places)
            return replace(loaded, document=signed.document)

        def done(loaded: Outcome) -> None:
            if key != self._asked:
                return
            self._shown = loaded
            self._places = tuple(places)
            tabs = self.query_one(TabLine)
            tabs.current = tab
            tabs.remark = "" if not loaded.readme else "m rendered" if loaded.raw else "m source"
            self._show_list(tab)
            self.text.show(loaded.document, keep_place=same)
            self._light()
            self._arrive()

        def failed(sentence: str) -> None:
            # What stands there is of another trial or tab.
            if key == self._asked:
                self._shown, self._places = None, ()
                self._show_list("")
                self.query_one(TabLine).current = tab
                self.text.show(note(sentence))

        self.loader.ask(work, done, failed)

    def _show_list(self, tab: str) -> None:
        """Show the list of a tab instead of the text, or the other way round; what had the focus hands it on."""
        here: Widget = {GROUNDING: self.items, CHECK: self.checks}.get(tab, self.text)
        others = [one for one in (self.items, self.checks, self.text) if one is not here]
        had = any(other.has_focus for other in others)
        here.display = True
        for other in others:
            other.display = False
        if had:
            self.screen.set_focus(here)

    def _arrive(self) -> None:
        hit, key, span = self._hit, self._key, self._span
        self._hit = self._key = self._span = None
        shown = self._shown
        if shown is None:
            return
        if hit is not None:
            self.text.go_to_hit(hit)
        elif key is not None:
            self.text.mark_text(f'"{key.rpartition(".")[2]}"')
        elif span is not None and shown.tab == TABS[0]:
            marks = [Mark(*place) for place in locate(shown.document, shown.readme, *span)]
            self.text.mark_evidence(marks)
            if not marks:
                self.text.go_to(self.text.document.line_at(position(shown.readme, span[0])[0]))
