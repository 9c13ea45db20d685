"""*Works*: the shares of a README's working blocks and true claims, independent of any rubric.

Only executed blocks and decidable claims count; the number of the others is stated with each share.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CheckRow


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """Numbers of blocks and claims by verdict, with the same names as the columns of the table of checks."""

    works: int = 0
    fails: int = 0
    differs: int = 0
    not_run: int = 0
    claims_true: int = 0
    claims_untrue: int = 0
    claims_unknown: int = 0

    @property
    def run(self) -> int:
        return self.works + self.fails + self.differs

    @property
    def blocks(self) -> int:
        return self.run + self.not_run

    @property
    def claims_decided(self) -> int:
        return self.claims_true + self.claims_untrue

    @property
    def claims(self) -> int:
        return self.claims_decided + self.claims_unknown

    @property
    def blocks_share(self) -> float | None:
        return self.works / self.run if self.run else None

    @property
    def claims_share(self) -> float | None:
        return self.claims_true / self.claims_decided if self.claims_decided else None

    def words(self) -> str:
        """Return ``4 of 5 blocks work (2 not run), 26 of 27 claims are true (3 undecided)``."""
        found = []
        if self.run:
            left = f" ({self.not_run:,} not run)" if self.not_run else ""
            found.append(f"{self.works:,} of {self.run:,} blocks work{left}")
        elif self.not_run:
            found.append(f"none of {self.not_run:,} blocks was run")
        if self.claims_decided:
            left = f" ({self.claims_unknown:,} undecided)" if self.claims_unknown else ""
            found.append(f"{self.claims_true:,} of {self.claims_decided:,} claims are true{left}")
        elif self.claims_unknown:
            found.append(f"all {self.claims_unknown:,} claims are undecided")
        return ", ".join(found) or "it has neither blocks nor claims"

    def brief(self) -> str:
        return f"{_of(self.works, self.run)} blocks · {_of(self.claims_true, self.claims_decided)} claims"

    def short(self) -> str:
        return f"{_of(self.works, self.run)} · {_of(self.claims_true, self.claims_decided)}"

    def to_json(self) -> dict[str, int | float | None]:
        names = ("works", "run", "blocks", "claims_true", "claims_decided", "claims", "blocks_share", "claims_share")
        renamed = {"claims_true": "true", "claims_decided": "decided"}
        return {renamed.get(name, name): getattr(self, name) for name in names}


def _of(some: int, all_of_them: int) -> str:
    return f"{some:,}/{all_of_them:,}" if all_of_them else "–"


def counting_check(rows: Iterable[CheckRow]) -> CheckRow | None:
    """Return the authoritative check: the last completed, undamaged one with blocks, by the newest rules."""
    ended = [row for row in rows if row.result_blob is not None and _counted(row)]
    return max(ended, key=lambda row: (row.executed, row.rules, row.at), default=None)


def _counted(row: CheckRow) -> bool:
    """Return whether all numeric columns of a row hold numbers, because SQLite also accepts text there."""
    whole = [getattr(row, name) for name in (*CheckSummary.__slots__, "executed", "rules")]
    return all(isinstance(one, int) and one >= 0 for one in whole) and isinstance(row.at, float | int)


def check_summaries(reader: SessionReader, trial: str | None = None) -> dict[str, CheckSummary]:
    """Return *Works* for each trial with a checked README, or for one trial."""
    rows: dict[str, list[CheckRow]] = {}
    for row in reader.checks(trial):
        rows.setdefault(row.trial_id, []).append(row)
    found = {key: counting_check(mine) for key, mine in rows.items()}
    return {
        key: CheckSummary(*(getattr(row, name) for name in CheckSummary.__slots__))
        for key, row in found.items()
        if row is not None
    }
