"""Docstring and prompt of the selected sample, one above the other, where there is room beside its difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from workbench.app.regeneration.lines import TaskLine
from workbench.app.regeneration.sample_content import laid_out, load_sample
from workbench.app.toolkit.document import Document, note
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.pane import Pane
from workbench.app.toolkit.text_pane import TextPane
from workbench.app.toolkit.texts import Static

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader


class TextsPane(Pane):
    """What the model was given: the docstring above the whole prompt."""

    short = "Given"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.loader = Latest(self, "texts")
        self._asked: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Compose both texts."""
        yield TextPane(id="docstring-text")
        yield Static("Prompt", id="prompt-heading")
        yield TextPane(id="prompt-text")

    @property
    def text(self) -> TextPane:
        """The text with the focus, else the docstring."""
        prompt = self.query_one("#prompt-text", TextPane)
        return prompt if prompt.has_focus else self.query_one("#docstring-text", TextPane)

    def show_nothing(self) -> None:
        """Show an empty pane."""
        self._asked = ()
        self._show((note(""), note("")))

    def show_sample(self, reader: SessionReader, line: TaskLine, group: Group, number: int) -> None:
        """Show what a sample was made from."""
        key = (str(reader.path), line.id, group, number, line.cells[number : number + 1])
        if key == self._asked:
            return
        self._asked = key

        def work() -> tuple[Document, Document]:
            sample = load_sample(reader, line.id, group, number)
            if sample is None:
                return note("This task is no longer in the session."), note("")
            return laid_out(reader, sample, "Docstring"), laid_out(reader, sample, "Prompt")

        def done(documents: tuple[Document, Document]) -> None:
            if key == self._asked:
                self._show(documents)

        def failed(sentence: str) -> None:
            if key == self._asked:
                self._show((note(sentence), note("")))

        self.loader.ask(work, done, failed)

    def _show(self, documents: tuple[Document, Document]) -> None:
        self.titled("docstring and prompt")
        for selector, document in zip(("#docstring-text", "#prompt-text"), documents, strict=True):
            self.query_one(selector, TextPane).show(document)
