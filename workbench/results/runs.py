"""Runs: their state, progress and cost, and the queue of waiting runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from workbench.base.glyphs import STATES, counted
from workbench.base.text import one_line, plural
from workbench.results.costs import spend_of
from workbench.results.trials import RunTrials, trials_by_run
from workbench.session import engine_starts
from workbench.session.groups import planned_docs
from workbench.session.labels import in_words, labels_by_item
from workbench.session.pending_work import is_check, is_rescored, judges_of, lacking

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow
if TYPE_CHECKING:
    from workbench.session.rows import RunRow

RESUMABLE = frozenset({"interrupted", "unscored", "failed", "cancelled"})
"""States of an unfinished run without an engine."""
_OVER = ("done", "failed")
_SAMPLES = """
SELECT coalesce(sum(samples - waiting), 0), coalesce(sum(samples), 0) FROM tasks JOIN verdict_counts ON task_id = tasks.id
WHERE run_id = ? AND state != 'excluded' AND control = 0
"""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as one line of a list."""

    id: str
    kind: str
    name: str
    asked: str  # the plan in a few words
    state: str  # the displayed state, see :meth:`SessionReader.run_state`
    done: int  # finished trials, or samples with a verdict
    total: int
    unit: str  # ``trials``, ``samples`` or ``scores``
    first_trial: str | None
    spend_usd: float | None  # None if no price is known
    created_at: float  # unix seconds
    seconds: float | None  # None before the start
    failed: int = 0  # number of failed trials
    error: str = ""
    archived: bool = False
    labels: tuple[str, ...] = ()  # star and tags
    place: int = 0  # position in the queue, from 1; 0 if not queued
    paused: bool = False  # whether the run is paused in the queue

    @property
    def title(self) -> str:
        tags = in_words(self.labels)
        return f"{tags} · {self.name or self.asked}" if tags else self.name or self.asked


def waiting_runs(reader: SessionReader) -> list[RunRow]:
    """Return the queued runs with a living engine in the order of the queue."""
    queued = [run for run in reader.runs() if run.state == "queued" and run.queue_position is not None]
    living = [run for run in queued if engine_starts.is_coming(run.id) and reader.holder(run.id) is None]
    return sorted(living, key=lambda run: (run.queue_position or 0.0, run.created_at))


def latest_regeneration(reader: SessionReader) -> str | None:
    """Return the run to show when a session is opened: a running one, else the last one with tasks, else the last."""
    found = reader.query(
        "SELECT id FROM runs WHERE kind IN ('regenerate', 'usage') AND archived_at IS NULL ORDER BY "
        "EXISTS (SELECT 1 FROM tasks WHERE run_id = runs.id) OR EXISTS (SELECT 1 FROM stages WHERE run_id = runs.id) DESC, "
        "state IN ('running', 'queued') DESC, created_at DESC, id LIMIT 1"
    )
    return str(found[0][0]) if found else None


def snapshot_sources(reader: SessionReader) -> dict[str, tuple[str, str]]:
    return {row[0]: (row[1], row[2]) for row in reader.query("SELECT digest, source, revision FROM snapshots")}


def load_runs(reader: SessionReader, now: float) -> tuple[RunLine, ...]:
    """Read all runs of a session, including archived ones, newest first."""
    trials = trials_by_run(reader)
    lines = [_line(reader, run, trials.get(run.id), now) for run in reader.all_runs()]
    labels = labels_by_item(reader.labels())
    queue = {run.id: (place, bool(run.paused)) for place, run in enumerate(waiting_runs(reader), 1)}
    numbered = []
    for line in reversed(lines):
        place, paused = queue.get(line.id, (0, False))
        numbered.append(replace(line, labels=labels.get(line.id, ()), place=place, paused=paused))
    return tuple(numbered)


def _line(reader: SessionReader, run: RunRow, trials: RunTrials | None, now: float) -> RunLine:
    states = trials.states if trials is not None else Counter[str]()
    state = reader.run_state(run)
    done, total, unit = _progress(reader, run, states)
    end = run.finished_at if state != "running" else now
    return RunLine(
        id=run.id,
        kind=run.kind,
        name=run.name or "",
        asked=plan_title(run),
        state=state,
        done=done,
        total=total,
        unit=unit,
        first_trial=trials.first if trials is not None else None,
        spend_usd=spend_of(reader, run),
        created_at=run.created_at,
        seconds=max(0.0, end - run.started_at) if end is not None and run.started_at is not None else None,
        failed=states["failed"],
        error=run.error or "",
        archived=run.archived_at is not None,
    )


def _progress(reader: SessionReader, run: RunRow, trials: Counter[str]) -> tuple[int, int, str]:
    if run.has_candidates:
        return (*reader.query(_SAMPLES, (run.id,))[0], "samples")
    if is_check(run):
        checks = Counter(row.state for row in reader.checks(run_id=run.id))
        return sum(checks[state] for state in _OVER), sum(checks.values()), "READMEs"
    if is_rescored(run) and not trials:
        total = scores_asked(run)
        return total - min(total, len(lacking(reader, run))), total, "scores"
    return sum(trials[state] for state in _OVER), sum(trials.values()), "trials"


def scores_asked(run: RunRow) -> int:
    """Return the number of scorecards that a run requests for other runs' trials: trials × rubrics × judges."""
    plan = run.plan
    trials, rubrics = plan.get("trials"), plan.get("rubrics")
    if not (isinstance(trials, list) and isinstance(rubrics, list)):
        return 0
    return len(trials) * len(rubrics) * len(judges_of(run))


def sentence(lines: Sequence[RunLine]) -> str:
    current = [line for line in lines if not line.archived]
    counts = Counter(line.state for line in current)
    parts = [counted(state, counts[state]) for state in STATES if counts[state]]
    total = plural(len(current), "run")
    failed = sum(line.failed for line in current)
    parts += [plural(failed, "failed trial")] if failed else []
    priced = [line.spend_usd for line in current if line.spend_usd is not None]
    return " · ".join([total, *parts, *([f"${sum(priced):.3f}"] if priced else [])])


_NAMED = 2  # number of cases listed by name


def plan_title(run: RunRow) -> str:
    """Return the plan on one line, or the kind of the run if the plan is damaged.

    ``word_counter × 3 · white · gpt-4o``, ``score 12 trials · aeo-bench, strict · offline``, ``check 12 READMEs``, or
    ``word_counter · docs original · gpt-5-mini × 3``.
    """
    plan = run.plan
    if run.has_candidates:
        parts = _regenerate(plan)
    elif plan.get("check_only"):
        parts = _check(plan)
    elif plan.get("rescore") and not plan.get("cases"):
        parts = _score(plan)
    else:
        parts = _document(plan)
    return " · ".join(part for part in parts if part) or run.kind


def _document(plan: Mapping[str, Any]) -> list[str]:
    cases = [source_name(case) for case in _texts(plan.get("cases"))]
    named, more = cases[:_NAMED], len(cases) - _NAMED
    title = ", ".join(named) + (f" and {more:,} more" if more > 0 else "")
    repeats = plan.get("repeats")
    times = f" × {repeats}" if isinstance(repeats, int) and repeats > 1 else ""
    of, step = _text(plan.get("fork_of")), plan.get("fork_step")
    fork = f"fork of {of[:8]} at step {step}" if of else ""
    return [f"{title}{times}" if title else "", fork, _text(plan.get("agent")), _text(plan.get("model"))]


def _check(plan: Mapping[str, Any]) -> list[str]:
    count, block = len(_texts(plan.get("trials"))), plan.get("check_again")
    again = "one block once more" if isinstance(block, int) and block >= 0 else ""
    only = "claims only" if plan.get("check") == "claims" else ""
    return [f"check {plural(count, 'README')}", again, only]


def _score(plan: Mapping[str, Any]) -> list[str]:
    count = len(_texts(plan.get("trials")))
    judges = _texts(plan.get("judges")) or _texts([plan.get("judge")])
    noun = "trial" if count == 1 else "trials"
    return [f"score {count:,} {noun}", ", ".join(_texts(plan.get("rubrics"))), ", ".join(judges)]


def _regenerate(plan: Mapping[str, Any]) -> list[str]:
    docs, asks = _text(planned_docs(plan)), plan.get("asks")
    listed: list[Mapping[str, Any]] = [ask for ask in asks if isinstance(ask, dict)] if isinstance(asks, list) else []
    most: dict[str, int] = {}
    for ask in listed or (plan,):
        evaluator, samples = _text(ask.get("evaluator")), ask.get("samples")
        if evaluator:
            most[evaluator] = max(most.get(evaluator, 0), samples if isinstance(samples, int) else 0)
    evaluators = [f"{evaluator} × {samples}" if samples > 1 else evaluator for evaluator, samples in most.items()]
    return [source_name(_text(plan.get("source"))), f"docs {docs}" if docs else "", ", ".join(evaluators)]


def source_name(source: str) -> str:
    return PurePath(source.rstrip("/")).name or source


def _text(value: object) -> str:
    return one_line(value, 200) if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [text for one in value if (text := _text(one))] if isinstance(value, list) else []
