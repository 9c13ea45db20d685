"""Comparisons on a terminal: the sentences, tables and differences of :mod:`workbench.reports.comparisons`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table

from workbench.commands.terminal import Terminal
from workbench.reports.comparisons import Difference
from workbench.reports.page import Shown

if TYPE_CHECKING:
    from workbench.reports.comparisons import Block


def show(blocks: Iterable[Block]) -> None:
    """Print a comparison."""
    terminal = Terminal(piped_width=160)
    for block in blocks:
        if isinstance(block, Shown):
            terminal.print(_table(block))
        elif isinstance(block, Difference):
            _show_difference(terminal, block)
        else:
            terminal.print(block)


def _show_difference(terminal: Terminal, found: Difference) -> None:
    if found.texts.same:
        terminal.print(f"{found.title}: the same")
        return
    terminal.print(f"{found.title}:")
    for name, why in found.absent:
        terminal.print(f"  {name}: {why}")
    for sign, text in found.lines:
        terminal.print(terminal.foreign(f"  {sign} {text}"))


def _table(shown: Shown) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for place, title in enumerate(shown.headings):
        table.add_column(title, justify="right" if place in shown.right else "left", overflow="fold")
    for row in shown.rows:
        table.add_row(*row)
    return table
