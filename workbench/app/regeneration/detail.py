"""All that is to be seen of the selected sample: its tabs, its failing tests, and beside them its texts where there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container

from workbench.app.regeneration.sample_pane import FailingPane, SamplePane
from workbench.app.regeneration.texts_pane import TextsPane
from workbench.app.toolkit.subject import Subject
from workbench.app.toolkit.text_pane import TextPane
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.session.reader import SessionReader

_SUFFIXES = {"Diff": ".diff", "Candidate": ".py", "Answer": ".md", "Prompt": ".md"}


class Detail(Container):
    """Three panes of one sample; the one in the middle is there only where all have room."""

    def compose(self) -> ComposeResult:
        """Compose the panes."""
        yield SamplePane(id="sample", classes="pane")
        yield TextsPane(id="given", classes="pane -off")
        yield FailingPane(id="failing", classes="pane")

    @property
    def sample(self) -> SamplePane:
        """What the sample says, a tab at a time."""
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
        """Show a sample of a task."""
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
