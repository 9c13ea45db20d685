"""All styled output of commands: pages, tables and progress bars.

No string is interpreted as markup, and no control sequence is passed on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from workbench.base import glyphs
from workbench.base.text import clean, one_line
from workbench.commands.output import readable
from workbench.pages import page
from workbench.pages.table_layout import BETWEEN, cell_widths, fitted

_PIPED = 200  # width in columns if the output is not a terminal
_LONG = 80  # at this width and above, values are printed one per line
_SHORT = 12  # a column up to this width is not wrapped
_STYLES = {
    **dict.fromkeys((glyphs.VERDICTS["failed"], glyphs.VERDICTS["crashed"]), "red"),
    **dict.fromkeys((glyphs.VERDICTS[name] for name in ("timeout", "bypassed", "error")), "yellow"),
    **dict.fromkeys((glyphs.INTERRUPTED, glyphs.UNSCORED), "yellow"),
    glyphs.VERDICTS["passed"]: "green",
    glyphs.RUNNING: "cyan",
}
_NOTES = {"": "dim", "advice": "yellow", "remark": "italic", "plain": "", "strong": "bold", "bad": "red", "alarm": "bold reverse red"}  # fmt: skip


class Terminal(Console):
    """A console that prints strings literally, and can print pages."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)
        if not self.file.isatty():
            self.width = max(self.width, _PIPED)
        self.plain = not glyphs.shown_by(self.encoding)
        self._begun = False

    def readable(self, text: str) -> str:
        return readable(text, self.encoding)

    def literal(self, text: str, style: str = "") -> Text:
        return Text(self.readable(text), style=style)

    def render_str(self, text: str, **how: Any) -> Text:
        """Print strings and cells literally, instead of interpreting rich's markup."""
        return super().render_str(self.readable(text), **{**how, "markup": False, "emoji": False, "highlight": False})

    def print_page(self, whole: page.ReportPage) -> None:
        if whole.title:
            self._line(whole.title, "bold")
        self.parts(whole.lead)
        for section in whole.sections:
            self._heading(section.title, section.small)
            self.parts(section.parts)

    def parts(self, parts: Iterable[page.Part]) -> None:
        for part in parts:
            self._part(part)

    def _line(self, text: str = "", style: str = "") -> None:
        self._begun = True
        self.print(text, style=style, soft_wrap=True)

    def _part(self, part: page.Part) -> None:
        match part:
            case page.Note():
                self._line(part.text, _NOTES[part.kind] if part.kind in _NOTES else _style(part.text) or "yellow")
            case page.BulletList():
                for item in part.items:
                    self._line(f"  {item}")
            case page.FactList():
                pairs = tuple((label, value) for label, value in part.pairs if value not in ("", "–"))
                if any(len(value) > _LONG for _, value in pairs):
                    self._table(page.PageTable(("", ""), pairs))
                else:
                    self._line(" · ".join(f"{label} {value}" for label, value in pairs), "dim")
            case page.PageTable() if part.rows or not part.caption:
                self._table(part)
            case page.Subheading():
                self._heading(part.title, part.small)
            case page.Preformatted():
                if part.title:
                    self._heading(part.title, part.small)
                # External text is printed unchanged and unwrapped, so that it can be copied.
                text = clean(part.text.rstrip("\n"))
                self.print(Text(glyphs.escaped(text) if self.plain else text), soft_wrap=True)
            case page.Folded():
                self._heading(part.title, part.small)
                self.parts(part.parts)
            case page.Card():
                from workbench.pages.session_page import criteria

                self._heading(f"{part.rubric} {part.points}, {part.judge}")
                unread = page.Note("The criteria of this score cannot be read.", "advice")
                self._part(criteria(part.scorecard) if part.scorecard else unread)
            case page.Readme():
                self.parts(part.scores)
                self._heading("README" if part.text else "No README was submitted.")
                if part.text:
                    self._part(page.Preformatted(part.text.text))
            case _:
                # Figures and text differences are left out, because the tables and texts beside them have the same
                # content.
                pass

    def _heading(self, title: str, small: str = "") -> None:
        if self._begun:
            self._line()
        self._line(f"{title}  {small}" if small else title, "bold")

    def _table(self, table: page.PageTable) -> None:
        self._begun = True
        for part in fitted(table, self.width):
            if isinstance(part, page.BulletList):
                self._part(part)
            else:
                if part.caption:
                    self._line(part.caption)
                self._rows(part)

    def _rows(self, shown: page.PageTable) -> None:
        widths = cell_widths((shown.headings, *shown.rows))
        whole = sum(min(width, _SHORT) for width in widths) + BETWEEN * (len(widths) - 1) <= self.width
        table = Table(box=None, pad_edge=False, header_style="dim", show_header=any(shown.headings))
        for place, heading in enumerate(shown.headings):
            side: Literal["right", "left"] = "right" if place in shown.right else "left"
            table.add_column(heading, justify=side, overflow="fold", no_wrap=whole and widths[place] <= _SHORT)
        for number, row in enumerate(shown.rows, shown.closing - len(shown.rows)):
            cells = (
                Text(glyphs.lettered(cell) if self.plain else clean(cell))
                if heading == "samples"
                else self.literal(cell, _style(cell))
                for heading, cell in zip(shown.headings, row, strict=True)
            )
            table.add_row(*cells, style="bold" if number >= 0 else "")
        self.print(table)
        if self.plain and "samples" in shown.headings:
            place = shown.headings.index("samples")
            if legend := glyphs.legend([row[place] for row in shown.rows], letters=True):
                self._line(f"samples: {legend}", "dim")


def _style(text: str) -> str:
    return _STYLES.get(text[:1], "") if text[1:2] in {"", " "} else ""


class _Field(ProgressColumn):
    """A text of a progress bar that is shown literally; rich's own column would interpret markup."""

    def __init__(self, terminal: Terminal, name: str, width: int = 0) -> None:
        super().__init__()
        self._terminal, self._name, self._width = terminal, name, width

    def render(self, task: Task) -> Text:
        text = task.description if self._name == "description" else str(task.fields.get(self._name, ""))
        return self._terminal.literal(text.ljust(self._width))


class StageBars:
    """A progress bar for each stage with counts, time and a note, shown only on a terminal."""

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
