"""Candidate, docstring and prompt of the selected sample below one another, where there is room beside its difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from workbench.app.regeneration.sample_content import laid_out, load_sample, read_all
from workbench.app.toolkit.document import Document, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.texts import Static
from workbench.results.tasks import TaskLine

if TYPE_CHECKING:
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
        if self._now is None or not self.text.document.cut:
            return None
        return partial(read_all, *self._now, self.current)

    def show_nothing(self) -> None:
        """Show an empty pane."""
        self._asked, self._now = (), None
        self._show([note("")] * len(TEXTS))

    def show_sample(self, reader: SessionReader, line: TaskLine, group: Group, number: int) -> None:
        """Show what a sample was made from."""
        key = (str(reader.path), line.id, group, number, line.samples[number : number + 1])
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
