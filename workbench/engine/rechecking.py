"""Re-checks: originals and a random share of fast verdicts are tested again on the cold route.

On every route, a candidate shares a process with its reporter, and the hot route patches memory, so no rule can prove
that a fast verdict equals the cold one. Therefore every run tests this and shows disagreements. The cold verdict
counts.

The selection depends only on the ids, so it is the same after a kill, in a replay, and on any machine.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.base.task_groups import task_group
from workbench.engine.stages import StageProgress
from workbench.engine.task_rows import FunctionItem, TaskItem, decide_task
from workbench.orders.ordered_asks import recheck_reason
from workbench.repository.splicing import SpliceError
from workbench.sandbox import Job, Limits, Report, Route, Verdict
from workbench.session import SessionReader, SessionWriter
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow

if TYPE_CHECKING:
    from workbench.engine.regenerate import Sandboxes


@dataclass(frozen=True, slots=True)
class Recheck:
    """A fast verdict and the cold report on the same candidate."""

    why: str  # `original`, `random` or `suspicious`
    fast: Verdict
    cold: Report  # The report with the verdict that counts

    @property
    def agrees(self) -> bool:
        return self.fast is self.cold.verdict

    def to_json(self) -> str:
        """Return the value of the ``recheck`` column; ``first`` is included only if the verdicts differ."""
        values: dict[str, object] = {
            "why": self.why,
            "verdict": str(self.cold.verdict),
            "route": str(self.cold.route),
            "seconds": round(self.cold.seconds, 4),
            "agrees": self.agrees,
        }
        if not self.agrees:
            values["first"] = str(self.fast)
        return json.dumps(values)


def write_verdict(writer: SessionWriter, candidate: str, report: Report, recheck: Recheck | None = None) -> None:
    """Write a report with its failing tests, and move the earlier verdict to the history, in one transaction.

    A fast verdict that is overridden is also moved to the history, because users may have seen it.
    """
    with writer.transaction() as connection:
        _keep_former(writer, candidate)
        connection.execute("DELETE FROM failing_tests WHERE candidate_id = ?", (candidate,))
        for test in report.failing:
            text = writer.blob(test.traceback) if test.traceback else None
            values = {**picked(test, "id:test_id", "outcome", "message"), "traceback_blob": text}
            writer.insert("failing_tests", {"candidate_id": candidate, **values}, conflict="REPLACE")
        tested = bool(report.backend) and (report.verdict is not Verdict.INVALID or bool(report.tests))
        outcomes = [[test.id, test.outcome, round(test.seconds, 6)] for test in report.tests]
        writer.update(
            "candidates",
            {"id": candidate},
            {
                "state": "done",
                "verdict": str(report.verdict),
                "verdict_reason": report.detail or None,
                "route": str(report.route) if tested else None,
                "tested_s": report.seconds if tested else None,
                "outcomes_blob": writer.blob(json.dumps(outcomes)) if outcomes else None,
                "backend": report.backend if tested else None,
                "route_fallback_reason": (report.slower or None) if tested else None,
                "suspicious": json.dumps(report.suspicious) if report.suspicious else None,
                "plain": None if report.plain is None else int(report.plain),
                "doubtful": report.doubtful or None,
                "recheck": recheck.to_json() if recheck is not None else None,
                "agrees": int(recheck.agrees) if recheck is not None else None,
                "at": time.time(),
            },
        )


def _keep_former(writer: SessionWriter, candidate: str) -> None:
    columns = "verdict, verdict_reason, route, tested_s, outcomes_blob, backend, route_fallback_reason, suspicious, recheck, doubtful, at"
    with writer.transaction() as connection:
        if connection.execute("SELECT verdict FROM candidates WHERE id = ?", (candidate,)).fetchone()[0] is None:
            return
        failing = connection.execute(
            "SELECT test_id, outcome, message, traceback_blob FROM failing_tests WHERE candidate_id = ? ORDER BY test_id",
            (candidate,),
        ).fetchall()
        blob = writer.blob(json.dumps([list(test) for test in failing], ensure_ascii=False)) if failing else None
        connection.execute(
            f"INSERT INTO former_verdicts (candidate_id, number, failing_blob, replaced_at, {columns}) "
            "SELECT id, (SELECT coalesce(max(number), 0) + 1 FROM former_verdicts WHERE candidate_id = candidates.id), "
            f"?, ?, {columns} FROM candidates WHERE id = ?",
            (blob, time.time(), candidate),
        )


@dataclass(frozen=True, slots=True)
class _Due:
    row: CandidateRow
    item: TaskItem
    why: str
    body: str


@dataclass(eq=False)
class RecheckRunner:
    """The re-checks of a run."""

    _writer: SessionWriter
    _run: str
    _pool: Sandboxes
    _limits: Limits
    _progress: StageProgress
    _originals: dict[tuple[str, ...], asyncio.Task[Report]] = field(default_factory=dict, init=False)

    async def run(self, items: Mapping[str, TaskItem], goes_on: Callable[[], bool]) -> bool:
        """Test pending candidates until all are done or ``goes_on`` returns False; return whether all are done."""
        due, done, disagreeing = await asyncio.to_thread(self._due, items)
        total = done + len(due)
        if not total:
            return True
        waiting = list(reversed(due))

        def tell(state: str = "running") -> None:
            words = f"{disagreeing} disagree" if disagreeing else "all agree" if done else ""
            self._progress.update("rechecks", state, done=done, total=total, note=words)

        async def recheck() -> None:
            nonlocal done, disagreeing
            while waiting and goes_on():
                entry = waiting.pop()
                agrees = await self._recheck(entry)
                done += agrees is not None
                disagreeing += agrees is False
                tell()

        tell()
        async with task_group() as group:
            for _ in self._pool.workers:
                group.create_task(recheck())
        if not waiting:
            tell("done")
        return not waiting

    def _due(self, items: Mapping[str, TaskItem]) -> tuple[Sequence[_Due], int, int]:
        due, done, disagreeing = [], 0, 0
        with SessionReader(self._writer.path) as reader:
            for row in reader.candidates(self._run):
                if row.recheck:
                    done += 1
                    disagreeing += row.agrees == 0
                    continue
                item = items.get(row.task_id)
                replayed = item is not None and not isinstance(item, FunctionItem)
                why = (
                    recheck_reason(row.id, row.evaluator, row.route, row.verdict, replayed=replayed)
                    if row.state == "done"
                    else ""
                )
                # An unreadable body cannot be tested, so the fast verdict stays.
                body = reader.text_or_none(row.body_blob, f"the body of candidate {row.id}")
                if why and item is not None and body is not None:
                    due.append(_Due(row, item, why, body))
        return due, done, disagreeing

    async def _recheck(self, due: _Due) -> bool | None:
        item, row = due.item, due.row
        try:
            # A cold start imports everything, which takes longer than the limit of a fast verdict allows. Only a
            # candidate that timed out is tested again with the shorter limit.
            job = item.job(row.id, due.body, self._limits, cold=row.verdict != "timeout")
        except SpliceError:
            return None
        job = replace(job, route=Route.COLD)
        is_original = isinstance(item, FunctionItem) and job.content == item.source
        cold = item.judge(await (self._original(job) if is_original else self._pool.run(job)))
        if cold.verdict is Verdict.ERROR:
            return None
        recheck = Recheck(due.why, Verdict(str(row.verdict)), cold)
        if recheck.agrees:
            self._writer.update(
                "candidates", {"id": row.id}, {"recheck": recheck.to_json(), "agrees": int(recheck.agrees)}
            )
            return True
        with self._writer.transaction():
            write_verdict(self._writer, row.id, replace(cold, job=row.id), recheck)
            if row.evaluator in CONTROLS and row.sample == 0:
                decide_task(self._writer, row.task_id)
        return False

    async def _original(self, job: Job) -> Report:
        known = self._originals.get(job.tests)
        if known is None:
            known = self._originals[job.tests] = asyncio.ensure_future(self._pool.run(job))
        return await known
