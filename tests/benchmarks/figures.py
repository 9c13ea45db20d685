"""What every benchmark ends with: figures beside their baselines, printed as a table and collected by ``make bench``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

COLLECTED = "WORKBENCH_BENCH_FIGURES"
"""Environment variable with the file to which figures are appended as JSON lines."""


@dataclass(frozen=True)
class Figure:
    """A measured figure and its ratio to a baseline of the same run.

    Attributes:
        value: The figure with its unit.
        baseline: What the ratio divides by: another program, a smaller size, or the limit itself.
        target: The largest ratio that is good, or the smallest if ``at_least``; None if there is no target.
    """

    what: str
    value: str
    baseline: str
    ratio: float
    target: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the ratio reaches its target; True without a target."""
        if self.target is None:
            return True
        return self.ratio >= self.target if self.at_least else self.ratio <= self.target


def publish(figures: Iterable[Figure]) -> int:
    """Print figures and hand them to ``make bench``; return the exit code, 1 if a target is missed."""
    rows = list(figures)
    print_figures(rows)
    if collected := os.environ.get(COLLECTED):
        with Path(collected).open("a") as file:
            file.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
    return int(not all(row.met for row in rows))


def print_figures(figures: Iterable[Figure]) -> None:
    """Print figures as a table."""
    table = Table("what", "figure", "baseline", "ratio", "target", "", box=box.SIMPLE)
    for figure in figures:
        sign = "≥" if figure.at_least else "≤"
        target = "" if figure.target is None else f"{sign} {figure.target:g}"
        missed = "" if figure.met else "missed"
        table.add_row(figure.what, figure.value, figure.baseline, f"{figure.ratio:.2f}", target, missed)
    Console(width=None if Console().is_terminal else 160).print(table)
