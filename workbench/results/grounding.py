"""Grounding counts of many trials, cached in ``grounding.db`` in the cache folder, because a session may be read-only.

The key of a count contains everything it depends on (README, steps, repository, rules), so entries never go stale and
the file may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.grounding.items import NOWHERE, SEEN, UNSEEN
from workbench.grounding.reading import Why, read_trial, repository_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TrialRow

RULES = 2
"""Version of the rules that define items and where to search for them; it must increase with every change."""


@dataclass(frozen=True, slots=True)
class GroundingCounts:
    """A trial's grounding as shown in a table.

    ``share`` is the share of the repository's bytes that were shown to the agent. All other fields are numbers of
    items. They are None if there is no README, and ``unseen`` and ``nowhere`` also if the repository is not on this
    machine.
    """

    seen: int | None
    unseen: int | None
    nowhere: int | None
    share: float | None


def counts_of(why: Why) -> GroundingCounts:
    found, share = why.grounding, why.exploration.share
    if found is None:
        return GroundingCounts(None, None, None, share)
    if not found.repository:
        return GroundingCounts(found.counts[SEEN], None, None, share)
    return GroundingCounts(found.counts[SEEN], found.counts[UNSEEN], found.counts[NOWHERE], share)


class KeptGroundings:
    """A cache of trials' counts."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path if path is not None else paths.cache_dir() / "grounding.db"

    def all_of(
        self, reader: SessionReader, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[str, GroundingCounts]]:
        """Yield (trial, counts) for the completed trials of a session, cached ones first."""
        trials = [trial for trial in reader.trials() if trial.readme_blob or trial.state == "done"]
        keys = _keys(reader, trials)
        with contextlib.closing(self._connected()) as connection:
            known = _known(connection)
            missing = []
            for trial in trials:
                counts = known.get(keys[trial.id])
                if counts is None:
                    missing.append(trial)
                else:
                    yield trial.id, counts
            for trial in missing:
                if stopped():
                    return
                counts = counts_of(read_trial(reader, trial))
                _keep(connection, keys[trial.id], counts)
                yield trial.id, counts

    def _connected(self) -> sqlite3.Connection:
        """Open the file; if that fails, counts are cached in memory until this object is closed."""
        for attempt in range(2):
            connection = None
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self._path, isolation_level=None, timeout=5.0)
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("CREATE TABLE IF NOT EXISTS counts (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
                return connection
            except (sqlite3.Error, OSError):
                if connection is not None:
                    connection.close()
                if attempt == 0:
                    with contextlib.suppress(OSError):
                        self._path.unlink(missing_ok=True)
        memory = sqlite3.connect(":memory:", isolation_level=None)
        memory.execute("CREATE TABLE counts (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        return memory


def _known(connection: sqlite3.Connection) -> dict[str, GroundingCounts]:
    found: dict[str, GroundingCounts] = {}
    with contextlib.suppress(sqlite3.Error):
        for key, value in connection.execute("SELECT key, value FROM counts"):
            with contextlib.suppress(ValueError, TypeError):
                found[str(key)] = GroundingCounts(*json.loads(value))
    return found


def _keep(connection: sqlite3.Connection, key: str, counts: GroundingCounts) -> None:
    value = json.dumps([counts.seen, counts.unseen, counts.nowhere, counts.share])
    # This is only a cache: if the disk is full or locked by another program, the count is computed again.
    with contextlib.suppress(sqlite3.Error):
        connection.execute("INSERT OR REPLACE INTO counts VALUES (?, ?)", (key, value))


def _keys(reader: SessionReader, trials: Sequence[TrialRow]) -> dict[str, str]:
    steps: dict[str, list[object]] = {}
    for trial, *step in reader.query(
        "SELECT trial_id, number, kind, action, target, observation_blob FROM steps ORDER BY trial_id, number"
    ):
        steps.setdefault(trial, []).append(step)
    here: dict[tuple[str | None, str], bool] = {}
    keys = {}
    for trial in trials:
        place = (trial.snapshot, trial.case_id)
        if place not in here:
            here[place] = repository_of(trial) is not None
        parts = [
            RULES,
            trial.case_name,
            trial.state,
            trial.readme_blob,
            trial.snapshot,
            here[place],
            steps.get(trial.id),
        ]
        keys[trial.id] = hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return keys
