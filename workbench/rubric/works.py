"""*Works*: how much of a README holds, as two shares; a figure of its own, in no rubric's points.

Of blocks those count that were run: *not run* says nothing for or against a page. Of claims those that can be said. What could
not be judged stands beside the share, for a share of one in ninety is worth little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Works:
    """How much of a README holds.

    Attributes:
        works: Blocks that work.
        run: Blocks that were run: they work, fail or differ.
        blocks: All blocks.
        true: Claims that are true.
        said: Claims that are true or untrue.
        claims: All claims.
    """

    works: int
    run: int
    blocks: int
    true: int
    said: int
    claims: int

    @classmethod
    def of(cls, counts: Mapping[str, int | None]) -> Works:
        """Return the figure of the counts that :func:`workbench.checking.stored.columns` names; None counts as 0."""

        def sum_of(*names: str) -> int:
            return sum(counts[name] or 0 for name in names)

        return cls(
            sum_of("works"),
            sum_of("works", "fails", "differs"),
            sum_of("works", "fails", "differs", "not_run"),
            sum_of("claims_true"),
            sum_of("claims_true", "claims_untrue"),
            sum_of("claims_true", "claims_untrue", "claims_unknown"),
        )

    @property
    def blocks_share(self) -> float | None:
        """Share of the blocks that were run, 0 to 1; None where none was."""
        return self.works / self.run if self.run else None

    @property
    def claims_share(self) -> float | None:
        """Share of the claims of which something can be said, 0 to 1; None where there is none."""
        return self.true / self.said if self.said else None

    def words(self) -> str:
        """Return it in words: ``4 of 5 blocks work (2 not run), 26 of 27 claims are true (3 cannot be said)``."""
        found = []
        if self.blocks:
            left = self.blocks - self.run
            found.append(f"{self.works:,} of {self.run:,} blocks work" + (f" ({left:,} not run)" if left else ""))
        if self.claims:
            left = self.claims - self.said
            found.append(
                f"{self.true:,} of {self.said:,} claims are true" + (f" ({left:,} cannot be said)" if left else "")
            )
        return ", ".join(found) or "it has neither blocks nor claims"

    def short(self) -> str:
        """Return it for a table: ``4/5 · 26/27``, blocks before claims, – where there is none to count."""
        return f"{_of(self.works, self.run)} · {_of(self.true, self.said)}"

    def to_json(self) -> dict[str, int | float | None]:
        """Return it as JSON values, shares included."""
        return {**asdict(self), "blocks_share": self.blocks_share, "claims_share": self.claims_share}


def _of(some: int, all_of_them: int) -> str:
    return f"{some:,}/{all_of_them:,}" if all_of_them else "–"
