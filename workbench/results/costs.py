"""Costs of runs and models: requests, tokens, dollars and seconds.

An unknown price does not count as 0: each figure states how many calls it leaves out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.base import paths

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow

_PRICED = """
SELECT EXISTS (SELECT 1 FROM trials WHERE run_id = ? AND cost_usd IS NOT NULL)
    OR EXISTS (SELECT 1 FROM candidates WHERE run_id = ? AND cost_usd IS NOT NULL)
"""


def spend_of(reader: SessionReader, run: RunRow) -> float | None:
    """Return the cost of a run so far in US dollars, or None if none of its calls has a known price."""
    if run.spend_usd or reader.query(_PRICED, (run.id, run.id))[0][0]:
        return run.spend_usd
    return None


def total_spend(reader: SessionReader, runs: Iterable[RunRow]) -> float | None:
    runs = list(runs)
    total = sum(run.spend_usd for run in runs)
    return total if total or any(spend_of(reader, run) is not None for run in runs) else None


class CallSum(NamedTuple):
    """The total of a group of similar calls; ``cost_usd`` covers those with a known price, or is None without any."""

    purpose: str
    model: str
    answered_by: str
    sampling: str
    source: str
    requests: int
    tokens: int
    cost_usd: float | None


def calls_of(reader: SessionReader, runs: Iterable[str]) -> list[CallSum]:
    rows = reader.query(
        "SELECT purpose, model, coalesce(answered_by, ''), sampling, source, count(*), "
        "sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), sum(cost_usd) FROM calls "
        "WHERE run_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5",
        (json.dumps(list(runs)),),
    )
    return list(map(CallSum._make, rows))


@dataclass(slots=True)
class ModelCost:
    """The cost and usage of a model in runs of one kind."""

    model: str
    kind: str  # "" for calls outside any run
    sessions: int = 0
    requests: int = 0
    tokens_in: int = 0  # counted by the provider, like tokens_out
    tokens_out: int = 0
    cost_usd: float | None = None  # cost of the requests with a known price, or None if there are none
    seconds: float = 0.0  # requests overlap, so this may exceed the duration of the runs
    failed: int = 0  # requests without a usable answer
    unpriced: int = 0  # requests not included in cost_usd
    uncounted: int = 0  # requests not included in either token count

    def __iadd__(self, other: ModelCost) -> ModelCost:
        for name in ("sessions", "requests", "tokens_in", "tokens_out", "seconds", "failed", "unpriced", "uncounted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + other.cost_usd
        return self

    @property
    def missing(self) -> str:
        parts = ((self.unpriced, "without a price"), (self.uncounted, "without counts of tokens"))
        return ", ".join(f"{count:,} {what}" for count, what in parts if count)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


_CALLS = """
SELECT coalesce(runs.kind, ''), model, prompt_tokens, completion_tokens, cost_usd, latency_s, calls.error_kind IS NOT NULL,
       scope, digest, sample, nth, calls.started_at
FROM calls LEFT JOIN runs ON runs.id = calls.run_id WHERE source IN ('live', 'error')
"""


class Costs:
    """The cost of each model over sessions; a call found in several of them (copied or merged) counts once."""

    def __init__(self) -> None:
        self._met: set[tuple[object, ...]] = set()
        self._sums: dict[tuple[str, str], ModelCost] = {}

    def add(self, reader: SessionReader) -> None:
        """Add the calls of a session, including those of archived runs, which were also paid for."""
        here: dict[tuple[str, str], ModelCost] = {}
        for kind, model, tokens_in, tokens_out, cost, seconds, failed, *call in reader.query(_CALLS):
            if (identity := tuple(call)) not in self._met:
                self._met.add(identity)
                here.setdefault((model, kind), ModelCost(model, kind, sessions=1))
                here[model, kind] += ModelCost(
                    model, kind, 0, 1, tokens_in or 0, tokens_out or 0, cost, seconds or 0.0, failed, cost is None,
                    tokens_in is None and tokens_out is None,
                )  # fmt: skip
        for key, one in here.items():
            self._sums.setdefault(key, ModelCost(*key)).__iadd__(one)

    @property
    def rows(self) -> list[ModelCost]:
        """Rows by model and kind of run, sorted by cost and then by number of tokens, both descending."""
        return sorted(
            self._sums.values(),
            key=lambda one: (-(one.cost_usd or 0.0), -(one.tokens_in + one.tokens_out), one.model, one.kind),
        )


def total_of(rows: Iterable[ModelCost]) -> ModelCost:
    total = ModelCost("", "")
    for row in rows:
        total += row
    return total


def own_sessions(*also: Path | None) -> list[Path]:
    """Return the user's session files and those in ``also``, without the bundled examples."""
    from workbench.session.file import SUFFIX

    named = {path.resolve(): path for path in also if path is not None and path.exists()}
    try:
        here = sorted(paths.sessions_dir().iterdir())
    except OSError:
        here = []
    found = {path.resolve(): path for path in here if path.suffix == SUFFIX and not path.name.startswith(".")}
    return list((named | found).values())


def costs_of(sessions: Iterable[Path]) -> tuple[list[ModelCost], dict[Path, str]]:
    """Return the cost of each model over sessions, and the reason for each session that cannot be read."""
    from workbench.session import SessionError, SessionReader

    costs, problems = Costs(), dict[Path, str]()
    for path in sessions:
        try:
            with SessionReader(path) as reader:
                costs.add(reader)
        except SessionError as error:
            problems[path] = str(error)
    return costs.rows, problems
