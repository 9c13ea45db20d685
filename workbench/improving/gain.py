"""What a docstring is worth to an evaluator: passed samples before and after, on numbers that its writer never saw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from workbench.regeneration.passk import pass_at_k
from workbench.session.rows import CandidateRow
from workbench.session.verdict_counts import is_counted
from workbench.statistics.intervals import FEWEST, newcombe


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
        said = f"of held-out samples {self.before.words} passed before, {self.after.words} now"
        if self.value <= 0:
            return said
        if self.interval is not None and self.interval[0] <= 0:
            return (
                f"{said}, which may be chance: the gain is between {self.interval[0]:+.2f} and {self.interval[1]:+.2f}"
            )
        return ""

    @property
    def interval_words(self) -> str:
        if self.interval is None:
            return f"no interval: fewer than {FEWEST} samples"
        return f"[{self.interval[0]:+.2f}, {self.interval[1]:+.2f}]"
