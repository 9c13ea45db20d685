"""An attempt to improve a docstring: why it was rejected, or how it performs on held-out samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.base.errors import WorkbenchError
from workbench.plans.task_names import readable_id, row_id
from workbench.regeneration.passk import pass_at_k
from workbench.results.tasks import DocstringQuality, kind_of
from workbench.session.rows import CandidateRow, DroppedRow, TaskRow
from workbench.session.sample_counts import is_counted
from workbench.statistics.intervals import FEWEST, Value, newcombe
from workbench.statistics.paired import Difference, paired_difference

#: Gates in the order in which a docstring passes them, cheapest first.
GATES = ("answer", "length", "code", "leakage", "claims", "seen samples", "held-out samples")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The gate (one of :data:`GATES`) that rejected a docstring, and the reason, without a full stop."""

    gate: str
    reason: str


class Refused(WorkbenchError):
    """A docstring does not pass a gate."""

    def __init__(self, gate: str, reason: str) -> None:
        super().__init__(f"The docstring is refused ({gate}): {reason}.")
        self.refusal = Refusal(gate, reason)


@dataclass(frozen=True, slots=True)
class DocstringAttempt:
    """A docstring that a writer proposed for a function, with its result."""

    task: TaskRow
    number: int  # number of the attempt for this function, from 1
    docstring: str = ""  # the docstring as formatted in the file, or "" if the answer has none
    refusal: Refusal | None = None  # why it does not count, or None if it does
    run: str = ""  # the run with its samples, or "" without any
    seen: Share | None = None  # samples with the numbers that the writer saw, with the new docstring
    gain: Gain | None = None  # result on held-out samples, or None if it was not tested on them
    held_out_evaluator: str = ""  # evaluator of the held-out samples, or "" without any

    @property
    def is_kept(self) -> bool:
        return self.refusal is None and self.gain is not None

    @property
    def words(self) -> str:
        if self.refusal is not None:
            return f"attempt {self.number} refused ({self.refusal.gate}): {self.refusal.reason}"
        if self.gain is None:
            return f"attempt {self.number} is {'under way' if self.docstring else 'being written'}"
        return (
            f"attempt {self.number} kept: pass@1 {self.gain.before.at(1):.2f} → {self.gain.after.at(1):.2f} "
            f"on {self.gain.after.counted} held-out samples"
            f"{f' of {self.held_out_evaluator}' if self.held_out_evaluator else ''}, {self.gain.interval_words}"
        )


def overall_gain(attempts: Iterable[DocstringAttempt]) -> Difference:
    """Return the paired difference of pass@1 over functions with held-out samples, including rejected docstrings.

    For several docstrings of one function, their mean counts, because the best of them would be biased upwards.
    """
    found: dict[tuple[str, str, str], list[float]] = {}
    for one in attempts:
        if one.gain is not None and one.gain.value is not None:
            found.setdefault((one.task.snapshot, one.task.path, one.task.id), []).append(one.gain.value)
    return paired_difference(
        Value(repository, file, math.fsum(values) / len(values)) for (repository, file, _), values in found.items()
    )


@dataclass(frozen=True, slots=True)
class Share:
    """Counted samples of one function, and the number of them that passed."""

    passed: int
    counted: int

    def at(self, k: int) -> float | None:
        """Return pass@k, or None with fewer than k counted samples."""
        return pass_at_k(self.counted, self.passed, k)

    @property
    def words(self) -> str:
        return f"{self.passed} of {self.counted}"


def share_of(rows: Iterable[CandidateRow], numbers: range) -> Share:
    """Return the share among samples with the given numbers; failures caused by the Workbench do not count."""
    verdicts = [row.verdict for row in rows if row.sample in numbers and is_counted(row.verdict)]
    return Share(verdicts.count("passed"), len(verdicts))


@dataclass(frozen=True)
class Gain:
    """The result of two docstrings on held-out samples of one function."""

    before: Share
    after: Share  # with the new docstring, on samples of the same numbers

    @property
    def value(self) -> float | None:
        """pass@1 after minus before, or None if either side has no counted samples."""
        before, after = self.before.at(1), self.after.at(1)
        return None if before is None or after is None else after - before

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Newcombe's 95% interval of the gain, or None if either side has fewer than three samples."""
        return newcombe(self.before.passed, self.before.counted, self.after.passed, self.after.counted)

    @property
    def problem(self) -> str:
        """Why this does not count as a gain, without a full stop; "" if it does."""
        if self.value is None:
            return "no held-out sample has a verdict"
        text = f"of held-out samples {self.before.words} passed before, {self.after.words} now"
        if self.value <= 0:
            return text
        if self.interval is not None and self.interval[0] <= 0:
            return (
                f"{text}, which may be chance: the gain is between {self.interval[0]:+.2f} and {self.interval[1]:+.2f}"
            )
        return ""

    @property
    def interval_words(self) -> str:
        if self.interval is None:
            return f"no interval: fewer than {FEWEST} samples"
        return f"[{self.interval[0]:+.2f}, {self.interval[1]:+.2f}]"


@dataclass(frozen=True, slots=True)
class Standing:
    """A function with its results."""

    name: str  # its readable id, `path::qualified_name`
    kind: DocstringQuality
    task: TaskRow | None
    seen: Share
    why: str = ""  # why it is untestable, or "" if it is testable


def standings(
    tasks: Sequence[TaskRow],
    candidates: Mapping[str, Sequence[CandidateRow]],
    dropped: Iterable[DroppedRow],
    *,
    below: float,
    samples: int,
) -> tuple[Standing, ...]:
    """Return every function, with those that yield no task last; samples numbered from ``samples`` on are held out."""
    found = []
    for task in tasks:
        seen = share_of(candidates.get(task.id, ()), range(samples))
        kind = kind_of(seen.passed, seen.counted, excluded=task.state == "excluded", below=below)
        why = "no sample of the evaluator has a verdict" if kind is DocstringQuality.UNTESTABLE else ""
        why = (task.reason or "excluded") if task.state == "excluded" else why
        found.append(Standing(row_id(task), kind, task, seen, why))
    for row in dropped:
        name = readable_id(row.path, row.qualified_name, row.occurrence)
        found.append(Standing(name, DocstringQuality.UNTESTABLE, None, Share(0, 0), row.reason))
    return tuple(found)
