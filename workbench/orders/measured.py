"""Measure the earlier work in this machine's sessions, for :mod:`workbench.orders.estimate`. Cheap to import."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.session import SUFFIX, SessionReader
from workbench.session.sample_counts import COUNTS
from workbench.session.schema import WRITTEN

if TYPE_CHECKING:
    from workbench.repository import Snapshot

NEWEST = 30
"""The number of most recent sessions to read; older sessions may reflect outdated prices or a different machine."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The measured cost of one item."""

    agent: str  # The agent of a trial; "" for other items
    model: str  # The model of the trial, the evaluator of the candidate, or the judge
    case: str  # The id of the case, or the source of the regenerated functions
    requests: float
    seconds: float  # Trial: wall time including scoring. Candidate: its share of the wall time of the run
    dollars: float | None  # None if the price is unknown
    tested: float = 0.0  # Seconds for the tests of a candidate; 0 for a trial


@dataclass(frozen=True, slots=True)
class DocsRate:
    """The requests of a doc system for one repository."""

    docs: str
    source: str  # "" if unknown
    requests: float
    tokens: float  # Mean per request, including the answer
    seconds: float  # Wall time per request
    dollars: float | None  # Per request; None if the price is unknown
    complete: bool  # Whether the documentation was finished
    definitions: int = 0  # Functions, classes and modules; 0 if unknown


@dataclass(frozen=True, slots=True)
class MeasuredRates:
    """The measurements of earlier runs, and the number of tasks of each source.

    ``builds`` maps a source to the cached build of its tasks. ``had`` maps a source and evaluator to the target
    session's number of candidates for each sample number.
    """

    trials: tuple[Rate, ...] = ()
    judging: tuple[Rate, ...] = ()
    candidates: tuple[Rate, ...] = ()
    documenting: tuple[DocsRate, ...] = ()
    checks: tuple[tuple[float, ...], tuple[float, ...]] = (
        (),
        (),
    )  # Seconds per README when its blocks are not run, and when they are
    imports: tuple[float, ...] = ()  # Seconds per file
    tasks: Mapping[str, int] = field(default_factory=dict)
    had: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    builds: Mapping[str, Build] = field(default_factory=dict)

    def tested(self, source: str) -> list[float]:
        """Return the seconds spent testing a candidate of a source, with one value per run."""
        return [rate.tested for rate in self.candidates if rate.case == source]


_TRIALS = f"""
SELECT agent, model, case_id, (SELECT count(*) FROM steps WHERE trial_id = trials.id AND answer_blob IS NOT NULL), seconds, cost_usd
FROM trials WHERE {WRITTEN} AND state = 'done' AND parent = '' AND seconds > 0 AND run_id NOT IN (SELECT value FROM json_each(?))
"""
_JUDGING = """
SELECT model, count(*), sum(latency_s), sum(cost_usd), count(cost_usd) FROM calls
WHERE purpose = 'judge' AND source = 'live' AND answer_blob IS NOT NULL AND run_id NOT IN (SELECT value FROM json_each(?))
GROUP BY scope, model
"""
_CANDIDATES = f"""
SELECT run_id, evaluator, count(*), count(call_id), max(at) - min(at), sum(coalesce(asked_s, 0) + coalesce(tested_s, 0)),
       sum(cost_usd), count(cost_usd), sum(coalesce(tested_s, 0)),
       total(coalesce((SELECT steps FROM trials WHERE trials.id = candidates.id), call_id IS NOT NULL))
FROM candidates WHERE {COUNTS.format("")} AND run_id NOT IN (SELECT value FROM json_each(?))
GROUP BY run_id, evaluator
"""
_CHECKS = """
SELECT executed, seconds FROM checks WHERE state = 'done' AND seconds > 0 AND run_id NOT IN (SELECT value FROM json_each(?))
"""
_IMPORTS = """
SELECT (finished_at - started_at) / json_extract(config, '$.imported.count') FROM runs
WHERE state = 'done' AND json_extract(config, '$.imported.count') > 0 AND id NOT IN (SELECT value FROM json_each(?))
"""
_DOCUMENTING = """
SELECT run_id, count(*), total(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), min(started_at),
       max(started_at + coalesce(latency_s, 0)), total(latency_s), sum(cost_usd), count(cost_usd)
FROM calls WHERE purpose = 'documenter' AND answer_blob IS NOT NULL AND source = 'live'
AND run_id NOT IN (SELECT value FROM json_each(?)) GROUP BY run_id
"""
_DOCUMENTED = "SELECT run_id FROM stages WHERE name = 'documentation' AND state = 'done'"
_SAMPLES = (
    "SELECT run_id, evaluator, sample, count(*) FROM candidates WHERE control = 0 AND sample >= 0 "
    "GROUP BY run_id, evaluator, sample"
)
_TASKS = """
SELECT run_id, count(*) FROM tasks WHERE state = 'ready' AND run_id NOT IN (SELECT value FROM json_each(?)) GROUP BY run_id
"""


def measure(also: Path | None = None, into: Path | None = None) -> MeasuredRates:
    """Measure the most recent sessions and ``also``; ``into`` is the session that the new work is written to."""
    try:
        found = sorted(paths.sessions_dir().glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        found = []
    chosen = dict.fromkeys(([also] if also is not None and also.exists() else []) + found[:NEWEST])
    had = _had(into) if into is not None and into.exists() else {}
    return replace(measured_in(chosen), had=had, builds=builds())


def measured_in(sessions: Iterable[Path]) -> MeasuredRates:
    """Measure these sessions; the number of a source's tasks is taken from the first session that contains any."""
    found: list[MeasuredRates] = []
    for path in sessions:
        try:
            parts = (path, path.with_name(f"{path.name}-wal"))
            state = tuple((part.stat().st_mtime_ns, part.stat().st_size) for part in parts if part.exists())
            if path not in _known or _known[path][0] != state:
                with SessionReader(path, surveyed=False) as reader:
                    _known[path] = state, _measured(reader)
            found.append(_known[path][1])
        except (WorkbenchError, OSError):
            continue
    rates: dict[str, Any] = {
        name: tuple(rate for one in found for rate in getattr(one, name))
        for name in ("trials", "judging", "candidates", "documenting", "imports")
    }
    rates["checks"] = tuple(tuple(rate for one in found for rate in one.checks[at]) for at in (0, 1))
    return MeasuredRates(
        **rates, tasks={source: count for one in reversed(found) for source, count in one.tasks.items()}
    )


_known: dict[Path, tuple[tuple[tuple[int, int], ...], MeasuredRates]] = {}
"""Cached measurements of sessions, with the modification times and sizes of their files."""


def _had(session: Path) -> dict[tuple[str, str], tuple[int, ...]]:
    try:
        with SessionReader(session, surveyed=False) as reader:
            sources = {run.id: str(run.plan.get("source") or "") for run in reader.runs() if run.kind == "regenerate"}
            found: dict[tuple[str, str], dict[int, int]] = {}
            for run, evaluator, sample, count in reader.query(_SAMPLES):
                if run in sources:
                    counts = found.setdefault((sources[run], str(evaluator)), {})
                    counts[int(sample)] = max(counts.get(int(sample), 0), int(count))
    except (WorkbenchError, OSError):
        return {}
    return {key: tuple(counts.get(at, 0) for at in range(max(counts) + 1)) for key, counts in found.items()}


def _measured(reader: SessionReader) -> MeasuredRates:
    sources = {run.id: str(run.plan.get("source") or "") for run in reader.runs() if run.kind == "regenerate"}
    elsewhere = (json.dumps(_example_runs(paths.bundled("sessions"))),)
    trials = [
        Rate(
            str(agent),
            str(model),
            str(case),
            _number(requests),
            _number(seconds),
            None if cost is None else _number(cost),
        )
        for agent, model, case, requests, seconds, cost in reader.query(_TRIALS, elsewhere)
    ]
    judging = [
        Rate("", str(model), "", _number(count), _number(seconds), _number(cost) if priced == count else None)
        for model, count, seconds, cost, priced in reader.query(_JUDGING, elsewhere)
    ]
    candidates = []
    for run, evaluator, count, asked, span, alone, cost, priced, tests, requests in reader.query(
        _CANDIDATES, elsewhere
    ):
        # Candidates run concurrently. A later retest lengthens the span of a run, so the sequential time is an upper
        # bound.
        together = _number(span) / (count - 1) if count > 1 else _number(alone)
        seconds = min(together, _number(alone) / count) if _number(alone) else together
        price = _number(cost) / count if priced >= asked else None
        candidates.append(
            Rate("", str(evaluator), sources.get(run, ""), requests / count, seconds, price, _number(tests) / count)
        )
    whole = {run.id for run in reader.runs() if _is_whole(run.plan)}
    tasks = {
        sources[run]: int(count) for run, count in reader.query(_TASKS, elsewhere) if run in whole and sources.get(run)
    }
    documenting = tuple(_documenting(reader, sources, elsewhere))
    checked = [(bool(ran), _number(seconds)) for ran, seconds in reader.query(_CHECKS, elsewhere)]
    without, run = (tuple(seconds for ran, seconds in checked if ran is blocks) for blocks in (False, True))
    imports = tuple(_number(seconds) for (seconds,) in reader.query(_IMPORTS, elsewhere))
    return MeasuredRates(tuple(trials), tuple(judging), tuple(candidates), documenting, (without, run), imports, tasks)


@functools.cache
def _example_runs(folder: Path) -> tuple[str, ...]:
    """Return the runs of the bundled sessions, which are not measured because they were executed on another machine."""
    found: list[str] = []
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(WorkbenchError, OSError), SessionReader(path, surveyed=False) as reader:
            found += [run.id for run in reader.all_runs()]
    return tuple(found)


def _is_whole(plan: Mapping[str, Any]) -> bool:
    asks = plan.get("asks") or [plan]
    return isinstance(asks, list) and any(
        isinstance(ask, dict) and not ask.get("limit") and not ask.get("tasks") for ask in asks
    )


def _documenting(reader: SessionReader, sources: Mapping[str, str], elsewhere: tuple[str]) -> Iterator[DocsRate]:
    rows = reader.query(_DOCUMENTING, elsewhere)
    systems = {run.id: str(run.plan.get("docs") or "") for run in reader.runs()} if rows else {}
    done = {str(run) for (run,) in reader.query(_DOCUMENTED)} if rows else set()
    for run, count, tokens, began, ended, waited, cost, priced in rows:
        if systems.get(run):
            # A run that was resumed can span more time than its requests take in sequence, so use the smaller of the
            # two.
            together = min(_number(ended) - _number(began), _number(waited) or math.inf)
            price = _number(cost) / count if priced == count else None
            yield DocsRate(
                systems[run], sources.get(run, ""), count, _number(tokens) / count, together / count, price, run in done
            )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


# -- builds of tasks on this machine


@dataclass(frozen=True, slots=True)
class Build:
    """The latest build of a source's tasks."""

    seconds: float | None  # Wall time of a complete build; None if none was measured
    tasks: Path | None  # The cached file, or None if it no longer exists. A folder that has changed is built again


def note_build(source: str, tasks: Path, seconds: float | None) -> None:
    """Record the cached file of a source's tasks; if ``seconds`` is None, the time of an earlier build is retained."""
    name = hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:40]
    file = paths.state_dir() / "builds" / f"{name}.json"
    seconds = _note(file).get("seconds") if seconds is None else seconds
    with contextlib.suppress(OSError, UnicodeError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"source": source, "tasks": str(tasks), "seconds": seconds}), encoding="utf-8")


def builds() -> dict[str, Build]:
    """Return the latest build of each source; unreadable records are ignored."""
    found = {}
    with contextlib.suppress(OSError):
        for note in map(_note, sorted((paths.state_dir() / "builds").glob("*.json"))):
            source, seconds, tasks = note.get("source"), note.get("seconds"), note.get("tasks")
            if isinstance(source, str):
                valid = isinstance(seconds, int | float) and math.isfinite(seconds) and seconds > 0
                found[source] = Build(seconds if valid else None, _existing_file(tasks))
    return found


def _note(file: Path) -> Mapping[str, Any]:
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}


def _existing_file(text: object) -> Path | None:
    with contextlib.suppress(OSError, ValueError):
        if isinstance(text, str) and Path(text).is_file():
            return Path(text)
    return None


def tasks_in_cache(build: Build | None) -> tuple[str, ...] | None:
    """Return the path of each task's source file, in order, or None if the cache has no readable tasks."""
    with contextlib.suppress(OSError):
        if build is not None and build.tasks is not None:
            return _files_of_tasks(build.tasks, build.tasks.stat().st_mtime_ns)
    return None


@functools.lru_cache(64)
def _files_of_tasks(file: Path, _modified: int) -> tuple[str, ...] | None:
    try:
        return tuple(str(task["path"]) for task in json.loads(file.read_text(encoding="utf-8"))["tasks"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def snapshot_here(source: str) -> Snapshot | None:
    """Return the cached snapshot of a source, or None if it would have to be fetched."""
    from workbench.repository import cached

    try:
        case = catalog.resolve_case(source)
        found = catalog.current_snapshot(case)
        if found is None and case.source:
            found = cached(case.source, expected_sha256=case.sha256.get(case.source))
    except (WorkbenchError, OSError):
        return None
    return found if found is not None and Path(found.root).is_dir() else None


def most_tasks(source: str, limit: int = 0) -> int | None:
    """Return an upper bound on a source's number of tasks: the smaller of its number of functions and ``limit``.

    None if neither is known.
    """
    snapshot = snapshot_here(source)
    functions = None if snapshot is None else _functions(snapshot)
    return min(filter(None, (functions, limit)), default=None)


@functools.lru_cache(64)
def _functions(snapshot: Snapshot) -> int:
    from workbench.regeneration.building import may_be_source
    from workbench.repository.functions import find_functions

    files = [one.path for one in snapshot.files if one.path.endswith(".py") and may_be_source(PurePosixPath(one.path))]
    return sum(len(find_functions((snapshot.root / path).read_bytes(), path)) for path in files)
