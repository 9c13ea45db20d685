"""The one place where a command's text becomes styled: no string is ever read as markup, no control sequence passes."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Sequence
from typing import Any, Literal

from rich.console import Console, OverflowMethod, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from workbench.base import glyphs
from workbench.base.text import clean, one_line
from workbench.commands.output import readable


class Terminal(Console):
    """Prints strings literally, wherever they stand; ``piped_width`` is used where the output is no terminal."""

    def __init__(self, *, stderr: bool = False, piped_width: int | None = None) -> None:
        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() else piped_width
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
        self.plain = not glyphs.shown_by(self.encoding)

    @property
    def cut(self) -> OverflowMethod:
        """How a cell is cut: with rich's ellipsis, which is no ASCII, or without."""
        return "crop" if self.plain else "ellipsis"

    def readable(self, text: str) -> str:
        return readable(text, self.encoding)

    def literal(self, text: str, style: str = "") -> Text:
        return Text(self.readable(text), style=style)

    def foreign(self, text: str) -> Text:
        """Return a text from outside that is printed for itself, such as a README: none of its signs are ours."""
        text = clean(text)
        return Text(glyphs.escaped(text) if self.plain else text)

    def cells(self, signs: str) -> Text:
        return Text(glyphs.lettered(signs) if self.plain else clean(signs))

    def table(
        self,
        headings: Sequence[str],
        rows: Iterable[Sequence[RenderableType]],
        right: Container[int] = (),
        *,
        whole: Container[int] = (),
        bold: Container[int] = (),
    ) -> None:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for place, heading in enumerate(headings):
            justify: Literal["right", "left"] = "right" if place in right else "left"
            table.add_column(heading, justify=justify, overflow="fold", no_wrap=place in whole)
        for place, row in enumerate(rows):
            table.add_row(*row, style="bold" if place in bold else "")
        self.print(table)

    def legend(self, cells: list[str]) -> str:
        return glyphs.legend(cells, letters=True) if self.plain else ""

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a string as rich prints it, in a cell as anywhere: literally."""
        return super().render_str(self.readable(text), **{**how, "markup": False, "emoji": False, "highlight": False})


class _Field(ProgressColumn):
    """One of a bar's texts, literally; rich's own column reads markup."""

    def __init__(self, terminal: Terminal, name: str, width: int = 0) -> None:
        super().__init__()
        self._terminal, self._name, self._width = terminal, name, width

    def render(self, task: Task) -> Text:
        text = task.description if self._name == "description" else str(task.fields.get(self._name, ""))
        return self._terminal.literal(text.ljust(self._width))


class StageBars:
    """A bar for each stage with its counts, the time and a note; shown on a terminal only."""

    def __init__(self, terminal: Terminal, title: str = "", *, transient: bool = False) -> None:
        self._width = max(20, terminal.width - 66)
        self._bars: dict[str, TaskID] = {}
        self.progress = Progress(
            _Field(terminal, "description", 13),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _Field(terminal, "note"),
            console=terminal,
            disable=not terminal.is_terminal,
            transient=transient,
        )
        if title and terminal.is_terminal:
            terminal.print(title, style="bold")

    def __enter__(self) -> StageBars:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        if name not in self._bars:
            self._bars[name] = self.progress.add_task(name, total=None, note="")
        if state == "done" and not total:
            done = total = 1
        self.progress.update(self._bars[name], completed=done, total=total)
        if note:
            self.note(name, note.partition("\n")[0])

    def note(self, name: str, words: str) -> None:
        if name in self._bars:
            self.progress.update(self._bars[name], note=one_line(words, self._width))
