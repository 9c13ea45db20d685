"""*Works*: how much of a README holds, as two shares; a figure of its own, in no rubric's points.

Only blocks that were run and decidable claims count. What could not be judged is beside the share, for a share of one
in ninety is worth little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CheckRow

COLUMNS = ("works", "fails", "differs", "not_run", "claims_true", "claims_untrue", "claims_unknown")
"""Columns of a session's checks that count blocks and claims."""


@dataclass(frozen=True, slots=True)
class Works:
    """Blocks that work of those that were run, claims that are true of the decidable ones."""

    works: int
    run: int
    blocks: int
    true: int
    said: int
    claims: int

    @classmethod
    def of(cls, counts: Mapping[str, int | None]) -> Works:
        """Return the figure of the counts that :func:`workbench.checking.verdicts.columns` names; None counts as 0."""

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
        return self.works / self.run if self.run else None

    @property
    def claims_share(self) -> float | None:
        return self.true / self.said if self.said else None

    def words(self) -> str:
        """Return ``4 of 5 blocks work (2 not run), 26 of 27 claims are true (3 cannot be said)``."""
        found = []
        if self.blocks and not self.run:
            found.append(f"none of {self.blocks:,} blocks was run")
        elif self.blocks:
            left = self.blocks - self.run
            found.append(f"{self.works:,} of {self.run:,} blocks work" + (f" ({left:,} not run)" if left else ""))
        if self.claims and not self.said:
            found.append(f"nothing can be said of {self.claims:,} claims")
        elif self.claims:
            left = self.claims - self.said
            found.append(
                f"{self.true:,} of {self.said:,} claims are true" + (f" ({left:,} cannot be said)" if left else "")
            )
        return ", ".join(found) or "it has neither blocks nor claims"

    def brief(self) -> str:
        return f"{_of(self.works, self.run)} blocks · {_of(self.true, self.said)} claims"

    def short(self) -> str:
        return f"{_of(self.works, self.run)} · {_of(self.true, self.said)}"

    def to_json(self) -> dict[str, int | float | None]:
        return {**asdict(self), "blocks_share": self.blocks_share, "claims_share": self.claims_share}


def _of(some: int, all_of_them: int) -> str:
    return f"{some:,}/{all_of_them:,}" if all_of_them else "–"


def counting(rows: Iterable[CheckRow]) -> CheckRow | None:
    """Return the check that counts: the last undamaged one that ended, with blocks, by the newest rules."""
    ended = [row for row in rows if row.result_blob is not None and _counted(row)]
    return max(ended, key=lambda row: (row.executed, row.rules, row.at), default=None)


def _counted(row: CheckRow) -> bool:
    """Return whether all numbers of a row are numbers: SQLite stores text in numeric columns as well."""
    whole = [getattr(row, name) for name in (*COLUMNS, "executed", "rules")]
    return all(isinstance(one, int) and one >= 0 for one in whole) and isinstance(row.at, float | int)


def works_by_trial(reader: SessionReader, trial: str | None = None) -> dict[str, Works]:
    """Return *Works* of each trial, or of one, whose README was checked."""
    rows: dict[str, list[CheckRow]] = {}
    for row in reader.checks(trial):
        rows.setdefault(row.trial_id, []).append(row)
    found = {key: counting(mine) for key, mine in rows.items()}
    return {
        key: Works.of({name: getattr(row, name) for name in COLUMNS}) for key, row in found.items() if row is not None
    }
