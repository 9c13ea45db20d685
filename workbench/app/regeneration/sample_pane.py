"""The panes of the selected sample: the tabs, a stack of texts where there is room, and the failing tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from workbench.app.regeneration import sample_content
from workbench.app.regeneration.sample_content import GONE, SHOWN_AT_FIRST
from workbench.app.regeneration.wording import REGENERATE, words_of
from workbench.app.toolkit.document import PaneContent, TextDocument, note
from workbench.app.toolkit.literal import literal
from workbench.app.toolkit.pane import Pane, TabbedText, TabLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.text_widgets import Static
from workbench.app.toolkit.workers import LatestWorker
from workbench.base.text import one_line
from workbench.results.samples import SampleView
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
    from workbench.results.regeneration_runs import RunView
    from workbench.session.reader import SessionReader


class SamplePane(TabbedText):
    """The pane with the diff, candidate, docstring, prompt and answer of a sample."""

    short = "Sample"
    at_first = SHOWN_AT_FIRST

    def __init__(self, detail: SampleDetail) -> None:
        super().__init__(id="sample", classes="pane")
        self._detail = detail

    @property
    def tab(self) -> str:
        names = self.query_one(TabLine).names
        return self.wanted if self.wanted in names else names[0]

    @property
    def limit(self) -> int:
        return self._limit

    def compose(self) -> ComposeResult:
        yield TabLine(REGENERATE.tabs, id="sample-tabs")
        yield Static("", id="sample-remarks")
        yield TextPane(id="sample-text")

    def begin(self) -> None:
        """Prepare for another sample by resetting the limit."""
        self._limit = SHOWN_AT_FIRST

    def show_nothing(self, sentence: str, title: str = "") -> None:
        self.titled(title or self.short)
        self._remark(())
        self.text.show(note(sentence))

    def show_sample(self, name: str, sample: SampleView, document: TextDocument, *, keep_place: bool) -> None:
        self.titled(f"{one_line(name, 40)} · {sample_content.title_of(sample)}", sample_content.detail_of(sample))
        self._remark(sample_content.remarks_of(sample))
        self.query_one(TabLine).empty = sample_content.empty_tabs(sample)
        self.text.show(document, keep_place=keep_place)
        if not keep_place:
            _go_to_mark(self.text)
        self.arrive()

    def reading_all(self) -> Callable[[], TextDocument] | None:
        return self._detail.reading_all(self.tab)

    def _ask(self) -> None:
        self.query_one(TabLine).current = self.tab
        self._detail.ask()

    def _remark(self, remarks: tuple[tuple[str, bool], ...]) -> None:
        line = self.query_one("#sample-remarks", Static)
        message = Content("\n").join(
            literal(text, "bold $text-error" if alarm else "$text-warning") for text, alarm in remarks
        )
        line.update(message)
        line.display = bool(remarks)


def _go_to_mark(text: TextPane) -> None:
    """Scroll to the first mark in the margin."""
    lines = text.document.lines
    text.mark_line(next((at for at, line in enumerate(lines) if line.mark), len(lines)))


class TextsPane(Pane):
    """The candidate, docstring and prompt stacked vertically; shown on large terminals only."""

    def __init__(self) -> None:
        super().__init__(short="Texts", id="texts", classes="pane -off")
        self.names = REGENERATE.texts

    def compose(self) -> ComposeResult:
        for name in self.names:
            yield Static(name, classes="text-heading")
            yield TextPane()

    @property
    def current(self) -> tuple[str, TextPane]:
        """The name and pane of the focused text, or of the first text if none has the focus."""
        texts = list(zip(self.names, self.query(TextPane), strict=True))
        return next((one for one in texts if one[1].has_focus), texts[0])

    def show(self, documents: Mapping[str, TextDocument], *, keep_place: bool = False) -> None:
        self.titled(", ".join(self.names).lower())
        headings = self.query(".text-heading").results(Static)
        for name, heading, text in zip(self.names, headings, self.query(TextPane), strict=True):
            heading.update(name)
            text.show(documents.get(name, note("")), keep_place=keep_place)
            if not keep_place:
                _go_to_mark(text)


_SUFFIXES = {"Diff": ".diff", "Candidate": ".py", "Answer": ".md", "Prompt": ".md", "Page": ".md"}


class SampleDetail(Container):
    """Three panes of a sample that is loaded once for all of them; the middle one needs a large terminal."""

    def __init__(self) -> None:
        super().__init__(id="detail", classes="pane-group")
        self.loader = LatestWorker(self, "sample")
        self._now: tuple[SessionReader, RunView, TaskLine, int] | None = None
        self._candidate = ""
        self._whole: Callable[[str], TextDocument] | None = (
            None  # function that reads a text of the displayed sample in full
        )

    def compose(self) -> ComposeResult:
        yield SamplePane(self)
        yield TextsPane()
        yield Pane(TextPane(id="failing-text"), short="Failing", id="failing", classes="pane")

    sample = getters.query_one(SamplePane)
    texts = getters.query_one(TextsPane)
    failing = getters.query_one("#failing", Pane)
    failing_text = getters.query_one("#failing-text", TextPane)

    def switch(self, *, off: bool, abreast: bool) -> None:
        """Show or hide the panes; the middle one is hidden unless ``abreast``."""
        for pane in (self.sample, self.failing):
            pane.set_class(off, "-off")
        self.texts.set_class(off or not abreast, "-off")

    def show_nothing(self, sentence: str) -> None:
        self._now, self.loader.requested_key, self.loader.shown_key = None, (), ()
        self._show_message(sentence, "", note(""))

    def _show_message(self, sentence: str, title: str, beside: TextDocument) -> None:
        self._whole, self._candidate = None, ""
        self.sample.show_nothing(sentence, title)
        self.texts.show({self.texts.names[0]: beside})
        self.failing.titled(words_of(self._now[1] if self._now is not None else None).failing)
        self.failing_text.show(beside)

    def show(self, reader: SessionReader, view: RunView, line: TaskLine, number: int) -> None:
        if self._now is None or (self._now[2].id, self._now[3]) != (line.id, number):
            self.sample.begin()
        words = words_of(view)
        self.sample.query_one(TabLine).names, self.texts.names = words.tabs, words.texts
        self._now = (reader, view, line, number)
        self.ask()

    def reading_all(self, name: str) -> Callable[[], TextDocument] | None:
        """Return a function that reads a text in full, to be run in a thread, or None if no sample is shown."""
        return partial(self._whole, name) if self._whole is not None else None

    def reload(self) -> None:
        """Reload the sample after its labels have changed."""
        self.loader.requested_key = ()
        self.ask()

    @property
    def candidate(self) -> str:
        """The id of the displayed candidate, or "" if there is none or it is loading."""
        return self._candidate if self.loader.requested_key == self.loader.shown_key else ""

    def ask(self) -> None:
        if self._now is None:
            return
        reader, view, line, number = self._now
        group, tab, limit = view.group, self.sample.tab, self.sample.limit
        names = dict.fromkeys((tab, *(() if self.texts.has_class("-off") else self.texts.names)))
        looked = (line.samples[number : number + 1], line.name, line.rechecked, line.disagreeing, line.newest)
        key = (str(reader.path), line.id, group, number, tab, tuple(names), limit, looked)
        if key == self.loader.shown_key:
            self.sample.arrive()

        def done(read: tuple[SampleView, dict[str, TextDocument], tuple[str, TextDocument]] | None) -> None:
            if read is None:
                self.show_nothing(GONE)
                return
            (sample, documents, (title, failing)), before = read, self.loader.shown_key
            self._whole = partial(sample_content.read_all, reader, line.id, group, number)
            self._candidate = sample.candidate.id if sample.candidate is not None else ""
            self.sample.show_sample(line.name, sample, documents[tab], keep_place=key[:5] == before[:5])
            self.texts.show(documents, keep_place=key[:4] == before[:4])
            self.failing.titled(title)
            self.failing_text.show(failing, keep_place=key[:4] == before[:4])

        def failed(sentence: str) -> None:
            # Clear the panes, which still show another sample.
            self._show_message(sentence, f"{one_line(line.name, 40)} · sample {number + 1}", note(sentence))

        read = partial(sample_content.read_texts, reader, line.id, group, number, names, limit)
        self.loader.ask_for(key, read, done, failed)

    def mark(self, needle: str) -> None:
        for text in self.query(TextPane):
            text.find(needle)

    @property
    def in_front(self) -> str:
        """The name of the focused tab or text, such as ``Diff`` or ``Docstring``, or "" if none has the focus."""
        if self.texts.has_class("-current"):
            return self.texts.current[0]
        return self.sample.tab if self.sample.has_class("-current") else ""

    def subject(self) -> PaneContent:
        """Return the content of the focused text, or of the current tab if no text has the focus."""
        if self.failing.has_class("-current"):
            return PaneContent("the failing tests", self.failing_text.document.text, ".txt")
        in_texts = self.texts.has_class("-current")
        name, text = self.texts.current if in_texts else (self.sample.tab, self.sample.text)
        # While a tab is loading, the pane shows another one.
        partly = text.document.cut or self.loader.requested_key != self.loader.shown_key
        whole, suffix = self.reading_all(name) if partly else None, _SUFFIXES.get(name, ".txt")
        return PaneContent(f"the {name.lower()}", text.document.text, suffix, whole=whole)
