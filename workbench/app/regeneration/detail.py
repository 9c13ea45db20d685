"""All that is to be seen of the selected sample: its tabs, its failing tests, and beside them its texts where there is room."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container

from workbench.app.regeneration.failures import failures_of
from workbench.app.regeneration.sample_content import GONE, laid_out, read_all
from workbench.app.regeneration.sample_pane import TEXTS, FailingPane, SamplePane, TextsPane
from workbench.app.toolkit.document import Document, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.subject import Subject
from workbench.app.toolkit.text_pane import TextPane
from workbench.results.samples import Sample, read_sample
from workbench.results.tasks import TaskLine
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.session.reader import SessionReader

_Read = tuple[Sample, Document, dict[str, Document], "tuple[str, Document] | None"]
_SUFFIXES = {"Diff": ".diff", "Candidate": ".py", "Answer": ".md", "Prompt": ".md"}


class Detail(Container):
    """Three panes of one sample, which is read once for all of them; the one in the middle is there only where all have room."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "sample")
        self._now: tuple[SessionReader, RunView, TaskLine, int] | None = None
        self._asked: tuple[object, ...] = ()
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose the panes."""
        yield SamplePane(self._ask, id="sample", classes="pane")
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
        self._now, self._asked, self._shown = None, (), ()
        self.sample.show_nothing(sentence)
        self.failing.show()
        self.texts.show({})

    def show(self, reader: SessionReader, view: RunView, line: TaskLine, number: int) -> None:
        """Show a sample of a task as it is now."""
        if self._now is None or (self._now[2].id, self._now[3]) != (line.id, number):
            self.sample.begin()
        self._now = (reader, view, line, number)
        self._ask()

    def read_again(self) -> None:
        """Something was noted on the sample: read it once more."""
        self._asked = ()
        self._ask()

    @property
    def candidate(self) -> str:
        """The id of the sample that is shown, "" where it was not asked for yet or is still being read."""
        return self.sample.candidate if self._asked == self._shown else ""

    def _ask(self) -> None:
        if self._now is None:
            return
        reader, view, line, number = self._now
        group, tab, limit = view.group, self.sample.tab, self.sample.limit
        texts = () if self.texts.has_class("-off") else TEXTS
        looked = (line.samples[number : number + 1], line.name, line.rechecked, line.disagreeing, line.newest)
        key = (str(reader.path), line.id, group, number, tab, limit, texts, looked)
        if key == self._asked:
            if key == self._shown:
                self.sample.arrive()
            return
        self._asked = key
        others = (*key[:4], *key[6:]) != (*self._shown[:4], *self._shown[6:])  # not the tab alone

        def work() -> _Read | None:
            sample = read_sample(reader, line.id, group, number)
            if sample is None:
                return None
            shown = {name: laid_out(reader, sample, name) for name in texts if others}
            return sample, laid_out(reader, sample, tab, limit), shown, failures_of(reader, sample) if others else None

        def done(read: _Read | None) -> None:
            if key != self._asked:
                return
            if read is None:
                self.show_nothing(GONE)
                return
            sample, document, shown, failing = read

            def whole(name: str) -> Callable[[], Document]:
                return partial(read_all, reader, line.id, group, number, name)

            self.sample.show_sample(line, sample, document, whole, keep_place=key[:5] == self._shown[:5])
            if failing is not None:
                self.texts.show(shown, whole)
                self.failing.show(*failing)
            self._shown = key

        def failed(sentence: str) -> None:
            # What stands there is of another sample: "1 test passed" must not stand under a failed one.
            if key == self._asked:
                self._shown = ()
                self.sample.show_nothing(sentence, f"{one_line(line.name, 40)} · sample {number + 1}")
                self.texts.show({TEXTS[0]: note(sentence)})
                self.failing.show(document=note(sentence))

        self.loader.ask(work, done, failed)

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
