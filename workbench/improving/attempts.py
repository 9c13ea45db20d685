"""An attempt at a better docstring: why it was refused, or what it is worth on samples that its writer never saw."""

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

#: Gates in the order in which a docstring passes them, the cheapest first.
GATES = ("answer", "length", "code", "leakage", "claims", "seen samples", "held-out samples")


@dataclass(frozen=True, slots=True)
class Refusal:
    """At which of :data:`GATES` a docstring was refused, and why, without a full stop."""

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
    number: int  # Which attempt at this function, from 1
    docstring: str = ""  # As laid out in the file; "" if the answer has none
    refusal: Refusal | None = None  # Why it does not count; None where it does
    run: str = ""  # The run with its samples, "" without any
    seen: Share | None = None  # Samples of the numbers that the writer saw, with the new docstring
    gain: Gain | None = None  # What held-out samples say; None where it did not come to them
    held_out_evaluator: str = ""  # Whose samples these are, "" where there are none

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
    """Return the paired difference of pass@1 over functions whose docstrings came to held-out samples, refused ones too.

    Of several docstrings of one function the mean counts, for the best of them would flatter.
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
    """Samples of one function that count, and how many of them passed."""

    passed: int
    counted: int

    def at(self, k: int) -> float | None:
        """Return pass@k, None where fewer than k samples count."""
        return pass_at_k(self.counted, self.passed, k)

    @property
    def words(self) -> str:
        return f"{self.passed} of {self.counted}"


def share_of(rows: Iterable[CandidateRow], numbers: range) -> Share:
    """Return the share among samples of these numbers; what failed for a reason of our own does not count."""
    verdicts = [row.verdict for row in rows if row.sample in numbers and is_counted(row.verdict)]
    return Share(verdicts.count("passed"), len(verdicts))


@dataclass(frozen=True)
class Gain:
    """What held-out samples of one function say of two docstrings."""

    before: Share
    after: Share  # With the new one, on samples of the same numbers

    @property
    def value(self) -> float | None:
        """pass@1 after minus before; None where a side has no sample that counts."""
        before, after = self.before.at(1), self.after.at(1)
        return None if before is None or after is None else after - before

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Newcombe's 95 % interval of the gain; None where a side has fewer than three samples."""
        return newcombe(self.before.passed, self.before.counted, self.after.passed, self.after.counted)

    @property
    def problem(self) -> str:
        """Why this does not count as a gain, without a full stop; "" where it does."""
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
    """A function."""

    name: str  # Its readable id, `path::qualified_name`
    kind: DocstringQuality
    task: TaskRow | None
    seen: Share
    why: str = ""  # Why it is untestable, "" where it is not


def standings(
    tasks: Sequence[TaskRow],
    candidates: Mapping[str, Sequence[CandidateRow]],
    dropped: Iterable[DroppedRow],
    *,
    below: float,
    samples: int,
) -> tuple[Standing, ...]:
    """Return every function, those that became no task last; samples of numbers from ``samples`` on are held out."""
    found = []
    for task in tasks:
        seen = share_of(candidates.get(task.id, ()), range(samples))
        kind = kind_of(seen.passed, seen.counted, excluded=task.state == "excluded", below=below)
        why = "no sample of the evaluator has a verdict" if kind is DocstringQuality.UNTESTABLE else ""
        why = (task.reason or "taken out") if task.state == "excluded" else why
        found.append(Standing(row_id(task), kind, task, seen, why))
    for row in dropped:
        name = readable_id(row.path, row.qualified_name, row.occurrence)
        found.append(Standing(name, DocstringQuality.UNTESTABLE, None, Share(0, 0), row.reason))
    return tuple(found)
