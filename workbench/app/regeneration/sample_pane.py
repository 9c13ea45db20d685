"""The frame around what the selected sample says: loads it, keeps the wanted tab, goes to hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from workbench.app.regeneration.failures import load_failures
from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.sample_content import (
    SHOWN_AT_FIRST,
    TABS,
    SampleContent,
    detail_of,
    laid_out,
    load_content,
    load_sample,
    read_all,
    remarks_of,
    title_of,
)
from workbench.app.toolkit.document import Document, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import literal
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.subject import Subject
from workbench.app.toolkit.tab_line import TabbedText, TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.texts import Static
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader


TEXTS = ("Candidate", "Docstring", "Prompt")


class TextsPane(Pane):
    """What the tabs of the sample have besides the difference: each in its own part, under its name."""

    short = "Texts"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "texts")
        self._asked: tuple[object, ...] = ()
        self._now: tuple[SessionReader, TaskLine, Group, int] | None = None

    def compose(self) -> ComposeResult:
        for name in TEXTS:
            yield Static(name, classes="text-heading")
            yield TextPane(id=f"{name.lower()}-text")

    @property
    def current(self) -> str:
        """The name of the text with the focus, else of the first."""
        texts = zip(TEXTS, self.query(TextPane), strict=True)
        return next((name for name, text in texts if text.has_focus), TEXTS[0])

    @property
    def text(self) -> TextPane:
        """The text with the focus, else the first."""
        return self.query_one(f"#{self.current.lower()}-text", TextPane)

    @property
    def whole(self) -> Callable[[], Document] | None:
        """What reads all of the text with the focus, None where that is shown."""
        if self._now is None or not self.text.document.cut:
            return None
        return partial(read_all, *self._now, self.current)

    def show_nothing(self) -> None:
        self._asked, self._now = (), None
        self._show([note("")] * len(TEXTS))

    def show_sample(self, reader: SessionReader, line: TaskLine, group: Group, number: int) -> None:
        """Show what a sample was made from."""
        key = (str(reader.path), line.id, group, number, line.cells[number : number + 1])
        if key == self._asked:
            return
        self._asked, self._now = key, (reader, line, group, number)

        def work() -> list[Document]:
            sample = load_sample(reader, line.id, group, number)
            if sample is None:
                return [note("This task is no longer in the session."), note(""), note("")]
            return [laid_out(reader, sample, name) for name in TEXTS]

        def done(documents: list[Document]) -> None:
            if key == self._asked:
                self._show(documents)

        def failed(sentence: str) -> None:
            if key == self._asked:
                self._show([note(sentence), note(""), note("")])

        self.loader.ask(work, done, failed)

    def _show(self, documents: Sequence[Document]) -> None:
        self.titled("candidate, docstring, prompt")
        for name, document in zip(TEXTS, documents, strict=True):
            self.query_one(f"#{name.lower()}-text", TextPane).show(document)


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
        if self._now is None:
            return None
        reader, line, group, number = self._now
        return partial(read_all, reader, line, group, number, self.tab)

    def _ask(self) -> None:
        self.query_one(TabLine).current = self.tab
        if self._now is None:
            return
        reader, line, group, number = self._now
        cell = line.cells[number : number + 1]
        tab, limit = self.tab, self._limit
        looked = (line.rechecked, line.disagreeing, line.former[number : number + 1], line.newest)
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
        yield TextPane(id="failing-text")

    @property
    def text(self) -> TextPane:
        return self.query_one(TextPane)

    def show_nothing(self) -> None:
        self._asked = ()
        self.titled("failing tests")
        self.text.show(note(""))

    def show_sample(self, reader: SessionReader, line: TaskLine, group: Group, number: int) -> None:
        cell = (line.cells[number : number + 1], line.former[number : number + 1], line.newest)
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


_SUFFIXES = {"Diff": ".diff", "Candidate": ".py", "Answer": ".md", "Prompt": ".md"}


class Detail(Container):
    """Three panes of one sample; the one in the middle is there only where all have room."""

    def compose(self) -> ComposeResult:
        yield SamplePane(id="sample", classes="pane")
        yield TextsPane(id="given", classes="pane -off")
        yield FailingPane(id="failing", classes="pane")

    @property
    def sample(self) -> SamplePane:
        return self.query_one(SamplePane)

    @property
    def texts(self) -> TextsPane:
        """Candidate, docstring and prompt below one another."""
        return self.query_one(TextsPane)

    @property
    def failing(self) -> FailingPane:
        """The tests that it did not pass."""
        return self.query_one(FailingPane)

    def switch(self, *, off: bool, abreast: bool) -> None:
        """Switch the panes off, or the one in the middle where not all have room."""
        for pane in (self.sample, self.failing):
            pane.set_class(off, "-off")
        self.texts.set_class(off or not abreast, "-off")

    def show_nothing(self, sentence: str) -> None:
        """Say why there is no sample."""
        self.sample.show_nothing(sentence)
        self.failing.show_nothing()
        self.texts.show_nothing()

    def show(self, reader: SessionReader, view: RunView, line: TaskLine, number: int) -> None:
        self.sample.show_sample(reader, line, view.group, number)
        self.failing.show_sample(reader, line, view.group, number)
        if not self.texts.has_class("-off"):
            self.texts.show_sample(reader, line, view.group, number)

    def mark(self, needle: str) -> None:
        """Mark a text wherever it stands, "" for no marks."""
        for text in self.query(TextPane):
            text.find(needle)

    @property
    def in_front(self) -> str:
        """The name of the tab or text with the focus: ``Diff``, ``Docstring``; "" where none has it."""
        if self.texts.has_class("-current"):
            return self.texts.current
        return self.sample.tab if self.sample.has_class("-current") else ""

    def subject(self) -> Subject:
        """Return the text with the focus, else the current tab of the sample."""
        if self.failing.has_class("-current"):
            return Subject("the failing tests", self.failing.text.document.text, ".txt")
        pane: TextsPane | SamplePane = self.texts if self.texts.has_class("-current") else self.sample
        name = pane.current if isinstance(pane, TextsPane) else pane.tab
        text, suffix = pane.text.document.text, _SUFFIXES.get(name, ".txt")
        return Subject(f"the {name.lower()}", text, suffix, whole=pane.whole)
