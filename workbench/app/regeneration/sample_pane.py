"""The panes of the selected sample: its tabs, its texts below one another where there is room, and its failing tests.

What they show is read by :class:`workbench.app.regeneration.detail.Detail`, once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from workbench.app.regeneration.sample_content import SHOWN_AT_FIRST, TABS, detail_of, empty_tabs, remarks_of, title_of
from workbench.app.toolkit.document import Document, note
from workbench.app.toolkit.literal import literal
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.tab_line import TabLine
from workbench.app.toolkit.tabbed_text import TabbedText
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.texts import Static
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.results.samples import Sample
    from workbench.results.tasks import TaskLine

TEXTS = ("Candidate", "Docstring", "Prompt")
Whole = Callable[[str], Callable[[], Document]]
"""What returns, for the name of a text, what reads all of it."""


class SamplePane(TabbedText):
    """Difference, candidate, docstring, prompt and answer of one sample.

    Args:
        read: Reads what is wanted of it and shows that.
    """

    short = "Sample"
    at_first = SHOWN_AT_FIRST

    def __init__(self, read: Callable[[], None], *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.tab = TABS[0]
        self._read = read
        self.candidate = ""
        self._whole: Whole | None = None
        self._hit: int | None = None

    @property
    def limit(self) -> int:
        """Bytes of a text that are shown."""
        return self._limit

    def compose(self) -> ComposeResult:
        """Compose the tabs, what is to know of the verdict, and the text."""
        yield TabLine(TABS, id="sample-tabs")
        yield Static("", id="sample-remarks")
        yield TextPane(id="sample-text")

    def begin(self) -> None:
        """Another sample comes: of its text so much is shown as of any at first."""
        self._limit = SHOWN_AT_FIRST

    def show_nothing(self, sentence: str, title: str = "") -> None:
        """Say why there is no sample."""
        self._whole, self.candidate = None, ""
        self.titled(title or self.short)
        self._remark(())
        self.text.show(note(sentence))

    def show_sample(
        self, line: TaskLine, sample: Sample, document: Document, whole: Whole, *, keep_place: bool
    ) -> None:
        """Show a tab of a sample."""
        self._whole = whole
        self.candidate = sample.candidate.id if sample.candidate is not None else ""
        self.titled(f"{one_line(line.name, 40)} · {title_of(sample)}", detail_of(sample))
        self._remark(remarks_of(sample))
        self.query_one(TabLine).empty = empty_tabs(sample)
        self.text.show(document, keep_place=keep_place)
        self.arrive()

    def choose(self, tab: str, *, hit: int | None = None, reach: int = 0) -> None:
        """Show a tab, now and of the samples to come, and bring its hit number ``hit`` (from 0) into sight."""
        self.tab = tab
        self._hit = hit
        self._reach(reach)
        self._ask()

    def reading_all(self) -> Callable[[], Document] | None:
        """Return what reads all that the tab has."""
        return None if self._whole is None else self._whole(self.tab)

    def _ask(self) -> None:
        self.query_one(TabLine).current = self.tab
        self._read()

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

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._whole: Whole | None = None

    def compose(self) -> ComposeResult:
        """Compose the texts."""
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
        return None if self._whole is None or not self.text.document.cut else self._whole(self.current)

    def show(self, documents: Mapping[str, Document], whole: Whole | None = None) -> None:
        """Show texts by their names; the others are empty."""
        self._whole = whole
        self.titled("candidate, docstring, prompt")
        for name in TEXTS:
            self.query_one(f"#{name.lower()}-text", TextPane).show(documents.get(name, note("")))


class FailingPane(Pane):
    """The tests that the selected sample did not pass."""

    short = "Failing"

    def compose(self) -> ComposeResult:
        """Compose the text."""
        yield TextPane(id="failing-text")

    @property
    def text(self) -> TextPane:
        """What is shown."""
        return self.query_one(TextPane)

    def show(self, title: str = "failing tests", document: Document | None = None) -> None:
        """Show failing tests under a title, or nothing."""
        self.titled(title)
        self.text.show(document or note(""))
