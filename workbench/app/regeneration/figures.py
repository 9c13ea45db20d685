"""pass@k of the tasks in the table, computed by :mod:`workbench.regeneration.outcome`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.regeneration.lines import TaskLine

if TYPE_CHECKING:
    from workbench.regeneration.outcome import PassFigures, TaskResult
    from workbench.regeneration.passk import Estimate


@dataclass(frozen=True, slots=True)
class Figures:
    """What stands above the table; ``development`` is the share of passed samples over the course of the run."""

    passing: PassFigures
    development: tuple[float, ...] = ()

    @property
    def pass_at(self) -> tuple[Estimate, ...]:
        """pass@k for each k, with its interval."""
        return self.passing.pass_at

    @property
    def decided(self) -> int:
        """Tasks whose samples all have a verdict."""
        return self.passing.decided

    @property
    def tasks(self) -> int:
        return self.passing.tasks

    @property
    def leaking(self) -> int:
        """Tasks whose docstring carries the code."""
        return self.passing.leaking

    @property
    def unleaked(self) -> tuple[float | None, ...]:
        """pass@k for the same k without the leaking tasks."""
        return self.passing.without_leaking

    @property
    def doubtful(self) -> int:
        """Passed samples that are marked doubtful."""
        return self.passing.doubtful

    @property
    def undoubted(self) -> tuple[float | None, ...]:
        """pass@k for the same k if these had failed."""
        return self.passing.without_doubtful

    @property
    def partial(self) -> bool:
        """Whether verdicts are still missing from the figures."""
        return self.passing.partial


def compute(lines: Sequence[TaskLine], ks: Sequence[int]) -> Figures:
    """Return the figures over all tasks with a sample; excluded tasks and those never asked for do not count.

    Args:
        lines: The tasks.
        ks: The k of pass@k.
    """
    from workbench.regeneration.outcome import pass_figures

    ready = [result_of(line) for line in lines if not line.excluded and line.cells]
    return Figures(pass_figures(ready, ks))


def result_of(line: TaskLine) -> TaskResult:
    """Return what pass@k takes of a line."""
    from workbench.regeneration.outcome import TaskResult

    return TaskResult(
        line.id,
        line.snapshot,
        line.path,
        line.leaking,
        line.counted,
        line.passed,
        line.doubtful,
        line.waiting,
        line.repaired,
        line.documented,
        line.cut,
    )
