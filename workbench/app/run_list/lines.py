"""What the list of runs shows: a line per run, in any order; no widget in sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.engine.plan_title import plan_title
from workbench.engine.queue import waiting
from workbench.glyphs import STATES, counted
from workbench.session.labels import in_words, labels_by_item
from workbench.session.pending_work import is_check, is_rescored, lacking, scores_asked
from workbench.session.spend import spend_of

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow

RESUMABLE = frozenset({"interrupted", "unscored", "failed", "cancelled"})
"""States of a run in which something is missing and no engine is at work on it."""
_OVER = ("done", "failed")
_TRIALS = "SELECT run_id, state, count(*) FROM trials GROUP BY run_id, state"


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run.

    Attributes:
        id: The run.
        kind: ``document`` or ``regenerate``.
        name: What a person called it, "" for nothing.
        asked: What was asked for, in a few words.
        state: As a person should see it, see :meth:`SessionReader.run_state`.
        done: Trials that are over, or samples that have a verdict.
        total: Of how many.
        unit: ``trials``, ``samples`` or ``scores``.
        first_trial: The trial to go to, None where the run has none of its own.
        spend_usd: What it cost so far, None where nothing in it has a price.
        failed: Trials that failed.
        created_at: When it was asked for, in unix seconds.
        seconds: How long it took, or takes; None before it was begun.
        error: Why it failed, "" if it did not.
        put_away: Whether a person put it away.
        labels: Its star and its tags.
        place: Its place in the queue, from 1; 0 where it does not wait for its turn.
        paused: Whether it stays back in the queue.
    """

    id: str
    kind: str
    name: str
    asked: str
    state: str
    done: int
    total: int
    unit: str
    first_trial: str | None
    spend_usd: float | None
    created_at: float
    seconds: float | None
    failed: int = 0
    error: str = ""
    put_away: bool = False
    labels: tuple[str, ...] = ()
    place: int = 0
    paused: bool = False

    @property
    def title(self) -> str:
        """Its name, else what was asked for; its star and its tags before it."""
        tags = in_words(self.labels)
        return f"{tags} · {self.name or self.asked}" if tags else self.name or self.asked


def load_runs(reader: SessionReader, now: float) -> tuple[RunLine, ...]:
    """Read all runs of a session, those that were put away too, the newest first."""
    trials: dict[str, Counter[str]] = {}
    for run, state, count in reader.query(_TRIALS):
        trials.setdefault(str(run), Counter())[str(state)] += int(count)
    first = dict(reader.query("SELECT run_id, id FROM trials GROUP BY run_id HAVING position = min(position)"))
    lines = [_line(reader, run, trials.get(run.id, Counter()), first.get(run.id), now) for run in reader.every_run()]
    labels = labels_by_item(reader.labels())
    queue = {run.id: (place, bool(run.paused)) for place, run in enumerate(waiting(reader), 1)}
    told = []
    for line in reversed(lines):
        place, paused = queue.get(line.id, (0, False))
        told.append(replace(line, labels=labels.get(line.id, ()), place=place, paused=paused))
    return tuple(told)


def _line(reader: SessionReader, run: RunRow, trials: Counter[str], first: str | None, now: float) -> RunLine:
    state = reader.run_state(run)
    done, total, unit = _progress(reader, run, trials)
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
        first_trial=first,
        spend_usd=spend_of(reader, run),
        created_at=run.created_at,
        seconds=max(0.0, end - run.started_at) if end is not None and run.started_at is not None else None,
        failed=trials["failed"],
        error=run.error or "",
        put_away=run.deleted_at is not None,
    )


def _progress(reader: SessionReader, run: RunRow, trials: Counter[str]) -> tuple[int, int, str]:
    if run.kind == "regenerate":
        from workbench.regeneration.outcome import totals
        from workbench.session.sample_counts import sample_counts

        sums = totals(count for count in sample_counts(reader, run.id) if not count.control)
        return sums.decided, sums.samples, "samples"
    if is_check(run):
        checks = Counter(row.state for row in reader.checks(run_id=run.id))
        return sum(checks[state] for state in _OVER), sum(checks.values()), "READMEs"
    if is_rescored(run) and not trials:
        total = scores_asked(run)
        return total - min(total, len(lacking(reader, run))), total, "scores"
    return sum(trials[state] for state in _OVER), sum(trials.values()), "trials"


def sentence(lines: Sequence[RunLine]) -> str:
    """Return how many runs there are, in which state, and what they cost."""
    kept = [line for line in lines if not line.put_away]
    counts = Counter(line.state for line in kept)
    parts = [counted(state, counts[state]) for state in STATES if counts[state]]
    total = f"{len(kept):,} run" + ("" if len(kept) == 1 else "s")
    failed = sum(line.failed for line in kept)
    parts += [f"{failed:,} failed trial{'' if failed == 1 else 's'}"] if failed else []
    priced = [line.spend_usd for line in kept if line.spend_usd is not None]
    return " · ".join([total, *parts, *([f"${sum(priced):.3f}"] if priced else [])])
