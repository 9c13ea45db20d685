"""The panes of the selected sample: its tabs, its texts below one another where there is room, and its failing tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from workbench.app.regeneration import sample_content
from workbench.app.regeneration.sample_content import GONE, SHOWN_AT_FIRST, TABS, laid_out
from workbench.app.toolkit.document import Document, Subject, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.literal import literal
from workbench.app.toolkit.pane import Pane, TabbedText, TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.texts import Static
from workbench.results.samples import Sample, read_sample
from workbench.results.tasks import TaskLine
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.results.regeneration_runs import RunView
    from workbench.session.reader import SessionReader

TEXTS = ("Candidate", "Docstring", "Prompt")


class SamplePane(TabbedText):
    """Difference, candidate, docstring, prompt and answer of one sample."""

    short = "Sample"
    at_first = SHOWN_AT_FIRST
    candidate = ""

    def __init__(self, detail: Detail) -> None:
        super().__init__(id="sample", classes="pane")
        self._detail = detail
        self.tab = TABS[0]
        self._hit: int | None = None

    @property
    def limit(self) -> int:
        return self._limit

    def compose(self) -> ComposeResult:
        yield TabLine(TABS, id="sample-tabs")
        yield Static("", id="sample-remarks")
        yield TextPane(id="sample-text")

    def begin(self) -> None:
        """Another sample comes: of its text so much is shown as of any at first."""
        self._limit = SHOWN_AT_FIRST

    def show_nothing(self, sentence: str, title: str = "") -> None:
        """Say why there is no sample."""
        self.candidate = ""
        self.titled(title or self.short)
        self._remark(())
        self.text.show(note(sentence))

    def show_sample(self, line: TaskLine, sample: Sample, document: Document, *, keep_place: bool) -> None:
        self.candidate = sample.candidate.id if sample.candidate is not None else ""
        self.titled(f"{one_line(line.name, 40)} · {sample_content.title_of(sample)}", sample_content.detail_of(sample))
        self._remark(sample_content.remarks_of(sample))
        self.query_one(TabLine).empty = sample_content.empty_tabs(sample)
        self.text.show(document, keep_place=keep_place)
        self.arrive()

    def choose(self, tab: str, *, hit: int | None = None, reach: int = 0) -> None:
        """Show a tab, now and of the samples to come, and bring its hit number ``hit`` (from 0) into sight."""
        self.tab = tab
        self._hit = hit
        self._reach(reach)
        self._ask()

    def reading_all(self) -> Callable[[], Document] | None:
        return self._detail.reading_all(self.tab)

    def _ask(self) -> None:
        self.query_one(TabLine).current = self.tab
        self._detail.ask()

    def _remark(self, remarks: tuple[tuple[str, bool], ...]) -> None:
        """Say why the verdict took a slower path, what was suspicious, and what a re-check found."""
        line = self.query_one("#sample-remarks", Static)
        said = Content("\n").join(
            literal(text, "bold $text-error" if alarm else "$text-warning") for text, alarm in remarks
        )
        line.update(said)
        line.display = bool(remarks)

    def arrive(self) -> None:
        """Bring the hit that is wanted into sight."""
        hit, self._hit = self._hit, None
        if hit is not None:
            self.text.go_to_hit(hit)


class TextsPane(Pane):
    """What the tabs of the sample have besides the difference: each in its own part, under its name."""

    short = "Texts"

    def __init__(self, detail: Detail) -> None:
        super().__init__(id="given", classes="pane -off")
        self._detail = detail

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
        return self.query_one(f"#{self.current.lower()}-text", TextPane)

    @property
    def whole(self) -> Callable[[], Document] | None:
        """What reads all of the text with the focus, None where that is shown."""
        return self._detail.reading_all(self.current) if self.text.document.cut else None

    def show(self, documents: Mapping[str, Document]) -> None:
        """Show texts by their names; the others are empty."""
        self.titled("candidate, docstring, prompt")
        for name in TEXTS:
            self.query_one(f"#{name.lower()}-text", TextPane).show(documents.get(name, note("")))


_Read = tuple[Sample, Document, dict[str, Document], "tuple[str, Document] | None"]
_SUFFIXES = {"Diff": ".diff", "Candidate": ".py", "Answer": ".md", "Prompt": ".md"}


class Detail(Container):
    """Three panes of one sample, which is read once for all of them; the one in the middle is there only where all have room."""

    def __init__(self) -> None:
        super().__init__(id="detail", classes="pane-group")
        self.loader = Latest(self, "sample")
        self._now: tuple[SessionReader, RunView, TaskLine, int] | None = None
        self._asked = self._shown = tuple[object, ...]()
        self._whole: Callable[[str], Document] | None = None  # reads all of a text of the sample that is shown

    def compose(self) -> ComposeResult:
        yield SamplePane(self)
        yield TextsPane(self)
        yield Pane(TextPane(id="failing-text"), short="Failing", id="failing", classes="pane")

    sample = getters.query_one(SamplePane)
    texts = getters.query_one(TextsPane)
    failing = getters.query_one("#failing", Pane)
    failing_text = getters.query_one("#failing-text", TextPane)

    def _show_failing(self, title: str, document: Document) -> None:
        self.failing.titled(title)
        self.failing_text.show(document)

    def switch(self, *, off: bool, abreast: bool) -> None:
        """Switch the panes off, or the one in the middle where not all have room."""
        for pane in (self.sample, self.failing):
            pane.set_class(off, "-off")
        self.texts.set_class(off or not abreast, "-off")

    def show_nothing(self, sentence: str) -> None:
        """Say why there is no sample."""
        self._now, self._asked, self._shown, self._whole = None, (), (), None
        self.sample.show_nothing(sentence)
        self._show_failing("failing tests", note(""))
        self.texts.show({})

    def show(self, reader: SessionReader, view: RunView, line: TaskLine, number: int) -> None:
        if self._now is None or (self._now[2].id, self._now[3]) != (line.id, number):
            self.sample.begin()
        self._now = (reader, view, line, number)
        self.ask()

    def reading_all(self, name: str) -> Callable[[], Document] | None:
        """Return what reads in a thread all of a text, None where no sample is shown."""
        return partial(self._whole, name) if self._whole is not None else None

    def read_again(self) -> None:
        """Something was noted on the sample: read it once more."""
        self._asked = ()
        self.ask()

    @property
    def candidate(self) -> str:
        """The id of the sample that is shown, "" where it was not asked for yet or is still being read."""
        return self.sample.candidate if self._asked == self._shown else ""

    def ask(self) -> None:
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
            failing = sample_content.failures_of(reader, sample) if others else None
            return sample, laid_out(reader, sample, tab, limit), shown, failing

        def done(read: _Read | None) -> None:
            if key != self._asked:
                return
            if read is None:
                self.show_nothing(GONE)
                return
            sample, document, shown, failing = read
            self._whole = partial(sample_content.read_all, reader, line.id, group, number)
            self.sample.show_sample(line, sample, document, keep_place=key[:5] == self._shown[:5])
            if failing is not None:
                self.texts.show(shown)
                self._show_failing(*failing)
            self._shown = key

        def failed(sentence: str) -> None:
            # What stands there is of another sample: "1 test passed" must not stand under a failed one.
            if key == self._asked:
                self._shown, self._whole = (), None
                self.sample.show_nothing(sentence, f"{one_line(line.name, 40)} · sample {number + 1}")
                self.texts.show({TEXTS[0]: note(sentence)})
                self._show_failing("failing tests", note(sentence))

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
            return Subject("the failing tests", self.failing_text.document.text, ".txt")
        pane: TextsPane | SamplePane = self.texts if self.texts.has_class("-current") else self.sample
        name = pane.current if isinstance(pane, TextsPane) else pane.tab
        text, suffix = pane.text.document.text, _SUFFIXES.get(name, ".txt")
        return Subject(f"the {name.lower()}", text, suffix, whole=pane.whole)
