"""pass@k over the tasks that are decided, with its interval, by :mod:`workbench.regeneration.passk`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.regeneration.lines import TaskLine

if TYPE_CHECKING:
    from workbench.regeneration.passk import TaskCount

LIVE_RESAMPLES = 200
"""While samples still come in an interval of a few draws does; the last one is exact."""


@dataclass(frozen=True, slots=True)
class PassAt:
    """pass@k: the mean over ``tasks`` tasks, None where none has k samples; the interval is None until it was drawn."""

    k: int
    value: float | None
    tasks: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What stands above the table; ``decided`` of ``tasks`` tasks went in.

    ``unleaked`` is pass@k for the same k without the ``leaking`` tasks, whose docstrings carry the code;
    ``development`` is the share of passed samples over the course of the run.
    """

    pass_at: tuple[PassAt, ...]
    decided: int
    tasks: int
    leaking: int
    unleaked: tuple[float | None, ...]
    development: tuple[float, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether tasks are still missing from the figures."""
        return self.decided < self.tasks


def compute(lines: Sequence[TaskLine], ks: Sequence[int], *, resamples: int | None = None) -> Figures:
    """Return the figures over all tasks whose samples are all decided; excluded tasks and those never asked for do not count.

    Args:
        lines: The tasks.
        ks: The k of pass@k.
        resamples: Draws for the interval of the first k; 0 for none, None for as many as a report takes.
    """
    from workbench.regeneration.passk import RESAMPLES, TaskCount, bootstrap_interval, summarise

    ready = [line for line in lines if not line.excluded and line.cells]
    decided = [line for line in ready if line.decided]

    def counts(chosen: Sequence[TaskLine]) -> list[TaskCount]:
        return [TaskCount(line.id, line.snapshot, line.path, line.counted, line.passed) for line in chosen]

    overall = summarise(counts(decided), ks).overall
    low = high = None
    # One task has no spread to draw from; an interval of no width would look like certainty.
    if resamples != 0 and overall[ks[0]].tasks > 1:
        low, high = bootstrap_interval(counts(decided), ks[0], resamples=resamples or RESAMPLES)
    clean = [line for line in decided if not line.leaking]
    leaking = len(decided) - len(clean)
    return Figures(
        pass_at=tuple(PassAt(k, overall[k].value, overall[k].tasks, *((low, high) if k == ks[0] else ())) for k in ks),
        decided=len(decided),
        tasks=len(ready),
        leaking=leaking,
        unleaked=_values(counts(clean), ks) if leaking else (),
    )


def _values(counts: Sequence[TaskCount], ks: Sequence[int]) -> tuple[float | None, ...]:
    from workbench.regeneration.passk import summarise

    overall = summarise(counts, ks).overall
    return tuple(overall[k].value for k in ks)
