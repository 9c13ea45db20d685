"""The frame around what the selected sample says: loads it, keeps the wanted tab, goes to hits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from workbench.app.regeneration.failures import load_failures
from workbench.app.regeneration.sample_content import (
    SHOWN_AT_FIRST,
    TABS,
    SampleContent,
    detail_of,
    load_content,
    read_all,
    remarks_of,
    title_of,
)
from workbench.app.toolkit.document import Document, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import literal
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.tab_line import TabLine
from workbench.app.toolkit.tabbed_text import TabbedText
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.texts import Static
from workbench.results.tasks import TaskLine
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

_Now = tuple["SessionReader", TaskLine, "Group", int]


class SamplePane(TabbedText):
    """Difference, candidate, docstring, prompt and answer of one sample."""

    short = "Sample"
    at_first = SHOWN_AT_FIRST

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "sample")
        self.tab = TABS[0]
        self._now: _Now | None = None
        self._asked: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()
        self._hit: int | None = None
        self._candidate = ""

    def compose(self) -> ComposeResult:
        """Compose the tabs, what is to know of the verdict, and the text."""
        yield TabLine(TABS, id="sample-tabs")
        yield Static("", id="sample-remarks")
        yield TextPane(id="sample-text")

    def show_nothing(self, sentence: str) -> None:
        """Say why there is no sample."""
        self._now, self._asked, self._shown = None, (), ()
        self.titled(self.short)
        self._remark(())
        self.text.show(note(sentence))

    def show_sample(self, reader: SessionReader, line: TaskLine, group: Group, number: int) -> None:
        """Show a sample of a task as it is now."""
        before = self._now
        if before is None or (before[1].id, before[3]) != (line.id, number):
            self._limit = SHOWN_AT_FIRST
        self._now = (reader, line, group, number)
        self._ask()

    @property
    def candidate(self) -> str:
        """The id of the sample that is shown, "" where it was not asked for yet or is still being read."""
        return self._candidate if self._asked == self._shown else ""

    def read_again(self) -> None:
        """Something was noted on the sample: read it once more."""
        self._asked = ()
        if self._now is not None:
            self._ask()

    def choose(self, tab: str, *, hit: int | None = None, reach: int = 0) -> None:
        """Show a tab, now and of the samples to come, and bring its hit number ``hit`` (from 0) into sight."""
        self.tab = tab
        self._hit = hit
        self._reach(reach)
        self._ask()

    def reading_all(self) -> Callable[[], Document] | None:
        """Return what reads all that the tab has."""
        if self._now is None:
            return None
        reader, line, group, number = self._now
        return partial(read_all, reader, line, group, number, self.tab)

    def _ask(self) -> None:
        self.query_one(TabLine).current = self.tab
        if self._now is None:
            return
        reader, line, group, number = self._now
        cell = line.samples[number : number + 1]
        tab, limit = self.tab, self._limit
        looked = (line.rechecked, line.disagreeing, line.newest)
        key = (str(reader.path), line.id, group, number, cell, line.name, tab, limit, looked)
        if key == self._asked:
            if key == self._shown:
                self._arrive()
            return
        self._asked = key

        def work() -> SampleContent | None:
            return load_content(reader, line, group, number, tab, limit)

        def done(loaded: SampleContent | None) -> None:
            if key != self._asked:
                return
            if loaded is None:
                self.show_nothing("This task is no longer in the session.")
                return
            self._candidate = loaded.sample.candidate.id if loaded.sample.candidate is not None else ""
            self.titled(f"{one_line(line.name, 40)} · {title_of(loaded.sample)}", detail_of(loaded.sample))
            self._remark(remarks_of(loaded.sample))
            self.query_one(TabLine).empty = loaded.empty
            self.text.show(loaded.document, keep_place=key[:4] == self._shown[:4] and tab == self._shown[6])
            self._shown = key
            self._arrive()

        def failed(sentence: str) -> None:
            # What stands there is of another sample.
            if key == self._asked:
                self._shown = ()
                self.titled(f"{one_line(line.name, 40)} · sample {number + 1}")
                self._remark(())
                self.text.show(note(sentence))

        self.loader.ask(work, done, failed)

    def _remark(self, remarks: tuple[tuple[str, bool], ...]) -> None:
        """Say why the verdict took a slower path, what was suspicious, and what a re-check found."""
        line = self.query_one("#sample-remarks", Static)
        said = Content("\n").join(
            literal(text, "bold $text-error" if alarm else "$text-warning") for text, alarm in remarks
        )
        line.update(said)
        line.display = bool(remarks)

    def _arrive(self) -> None:
        hit, self._hit = self._hit, None
        if hit is not None:
            self.text.go_to_hit(hit)


class FailingPane(Pane):
    """The tests that the selected sample did not pass."""

    short = "Failing"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "failing")
        self._asked: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose the text."""
        yield TextPane(id="failing-text")

    @property
    def text(self) -> TextPane:
        """What is shown."""
        return self.query_one(TextPane)

    def show_nothing(self) -> None:
        """Show an empty pane."""
        self._asked = ()
        self.titled("failing tests")
        self.text.show(note(""))

    def show_sample(self, reader: SessionReader, line: TaskLine, group: Group, number: int) -> None:
        """Show the failing tests of a sample as it is now."""
        cell = (line.samples[number : number + 1], line.newest)
        key = (str(reader.path), line.id, group, number, cell)
        if key == self._asked:
            return
        self._asked = key

        def work() -> tuple[str, Document]:
            return load_failures(reader, line.id, group, number)

        def done(loaded: tuple[str, Document]) -> None:
            if key == self._asked:
                self.titled(loaded[0])
                self.text.show(loaded[1])

        def failed(sentence: str) -> None:
            # What stands there is of another sample: "1 test passed" must not stand under a failed one.
            if key == self._asked:
                self.titled("failing tests")
                self.text.show(note(sentence))

        self.loader.ask(work, done, failed)
