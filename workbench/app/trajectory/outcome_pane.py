"""The frame around README, metadata and difference: loads them, keeps the tab, goes to hits, keys and evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from workbench.app.toolkit.document import note, position
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.tab_line import TabLine
from workbench.app.toolkit.text_pane import GROWTH, Mark, TextPane
from workbench.app.trajectory.loading import TrialState, state_of
from workbench.app.trajectory.outcome import SHOWN_AT_FIRST, TABS, Outcome, load_outcome, locate

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class OutcomePane(Pane):
    """What the trial brought."""

    short = "README"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "outcome")
        self.raw = False
        self._tab = TABS[0]
        self._limit = SHOWN_AT_FIRST
        self._asked: tuple[object, ...] = ()
        self._shown: Outcome | None = None
        self._now: tuple[SessionReader, TrialState] | None = None
        self._hit: int | None = None
        self._key: str | None = None
        self._span: tuple[int, int] | None = None

    def compose(self) -> ComposeResult:
        """Compose the tabs and the text."""
        yield TabLine(TABS, id="outcome-tabs")
        yield TextPane(id="outcome-text")

    @property
    def text(self) -> TextPane:
        """What is shown."""
        return self.query_one(TextPane)

    @property
    def tab(self) -> str:
        """The tab that is shown."""
        return self._tab

    def show_trial(self, reader: SessionReader, state: TrialState) -> None:
        """Show the outcome of a trial as it is now."""
        if self._now is None or self._now[1].trial.id != state.trial.id:
            self._limit = SHOWN_AT_FIRST
        self._now = (reader, state)
        self.titled("Outcome")
        self._ask()

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
        if reach * 4 > self._limit:
            self._limit = reach * 4 + 2000
        self._ask()

    def turn(self, step: int) -> None:
        """Show the next or previous tab."""
        self.choose(self.query_one(TabLine).beside(step))

    def choose(self, tab: str) -> None:
        """Show a tab."""
        self._tab = tab
        self._ask()

    def toggle_raw(self) -> None:
        """Show the README as it is written, or rendered again."""
        self.raw = not self.raw
        self._tab = TABS[0]
        self._ask()

    def more(self) -> None:
        """Show more of what is cut."""
        if self.text.document.cut:
            self._limit *= GROWTH
            self._ask()
        else:
            self.notify("All of it is shown.")

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """Show the tab that was clicked."""
        message.stop()
        self.choose(message.name)

    def _ask(self) -> None:
        if self._now is None:
            return
        reader, state = self._now
        trial = state.trial
        steps_known = len(state.seen) if trial.readme_blob else 0
        key: tuple[object, ...] = (trial.id, self._tab, self.raw, self._limit, trial.readme_blob, trial.metadata_blob)
        key += (state_of(state), trial.error, len(state.cards), steps_known)
        if key == self._asked:
            if self._shown is not None and self.loader.idle:
                self._arrive()
            return
        same = key[:3] == self._asked[:3]
        self._asked = key
        tab, raw, limit = self._tab, self.raw, self._limit

        def work() -> Outcome:
            return load_outcome(reader, state, tab, raw=raw, limit=limit)

        def done(loaded: Outcome) -> None:
            if key != self._asked:
                return
            self._shown = loaded
            tabs = self.query_one(TabLine)
            tabs.current = tab
            tabs.remark = "" if not loaded.readme else "m rendered" if loaded.raw else "m source"
            self.text.show(loaded.document, keep_place=same)
            self._arrive()

        def failed(sentence: str) -> None:
            # What stands there is of another trial or tab.
            if key == self._asked:
                self._shown = None
                self.query_one(TabLine).current = tab
                self.text.show(note(sentence))

        self.loader.ask(work, done, failed)

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
