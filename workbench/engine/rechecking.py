"""The re-check: originals and a random share of fast verdicts are tested again on the cold route, always.

A candidate and its reporter share a process on every route, and the hot route patches memory: no rule proves by itself that
its verdict is the cold one. So the claim is tested in every run, and a disagreement is shown. The cold verdict counts.

Which candidates are looked at again follows from their ids: the same ones after a kill, in a replay, on any machine.
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
from workbench.engine.task_rows import TaskItem, decide_task
from workbench.orders.orders import why_again
from workbench.repository.splicing import SpliceError, splice
from workbench.sandbox import Job, Limits, Report, Route, Verdict
from workbench.session import SessionReader, SessionWriter
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow

if TYPE_CHECKING:
    from workbench.engine.regenerate import Sandboxes


@dataclass(frozen=True, slots=True)
class Recheck:
    """A fast verdict and the report of the cold route on the same candidate."""

    why: str  # `original`, `random` or `suspicious`
    fast: Verdict
    cold: Report  # The report of the cold route, whose verdict counts

    @property
    def agrees(self) -> bool:
        return self.fast is self.cold.verdict

    def to_json(self) -> str:
        """Return the ``recheck`` column; it includes ``first`` only if the verdicts differ."""
        told: dict[str, object] = {
            "why": self.why,
            "verdict": str(self.cold.verdict),
            "route": str(self.cold.route),
            "seconds": round(self.cold.seconds, 4),
            "agrees": self.agrees,
        }
        if not self.agrees:
            told["first"] = str(self.fast)
        return json.dumps(told)


def write_verdict(writer: SessionWriter, candidate: str, report: Report, look: Recheck | None = None) -> None:
    """Write a report with its failing tests, and move an earlier verdict to the history, in one transaction.

    A fast verdict that a cold one overrides, the report then, is kept there, too, because it was already shown.
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
                "recheck": look.to_json() if look is not None else None,
                "agrees": int(look.agrees) if look is not None else None,
                "at": time.time(),
            },
        )


def _keep_former(writer: SessionWriter, candidate: str) -> None:
    kept = "verdict, verdict_reason, route, tested_s, outcomes_blob, backend, route_fallback_reason, suspicious, recheck, doubtful, at"
    with writer.transaction() as connection:
        if connection.execute("SELECT verdict FROM candidates WHERE id = ?", (candidate,)).fetchone()[0] is None:
            return
        failing = connection.execute(
            "SELECT test_id, outcome, message, traceback_blob FROM failing_tests WHERE candidate_id = ? ORDER BY test_id",
            (candidate,),
        ).fetchall()
        blob = writer.blob(json.dumps([list(test) for test in failing], ensure_ascii=False)) if failing else None
        connection.execute(
            f"INSERT INTO former_verdicts (candidate_id, number, failing_blob, replaced_at, {kept}) "
            "SELECT id, (SELECT coalesce(max(number), 0) + 1 FROM former_verdicts WHERE candidate_id = candidates.id), "
            f"?, ?, {kept} FROM candidates WHERE id = ?",
            (blob, time.time(), candidate),
        )


@dataclass(frozen=True, slots=True)
class _Due:
    row: CandidateRow
    item: TaskItem
    why: str
    body: str


@dataclass(eq=False)
class Rechecks:
    """The re-checks of one run."""

    _writer: SessionWriter
    _run: str
    _pool: Sandboxes
    _limits: Limits
    _progress: StageProgress
    _originals: dict[tuple[str, ...], asyncio.Task[Report]] = field(default_factory=dict, init=False)

    async def run(self, items: Mapping[str, TaskItem], goes_on: Callable[[], bool]) -> bool:
        """Look again at what is due, until it is done or ``goes_on`` says no; return whether it is done."""
        due, done, disagreeing = await asyncio.to_thread(self._due, items)
        total = done + len(due)
        if not total:
            return True
        waiting = list(reversed(due))

        def tell(state: str = "running") -> None:
            words = f"{disagreeing} disagree" if disagreeing else "all agree" if done else ""
            self._progress.update("rechecks", state, done=done, total=total, note=words)

        async def look() -> None:
            nonlocal done, disagreeing
            while waiting and goes_on():
                entry = waiting.pop()
                agrees = await self._again(entry)
                done += agrees is not None
                disagreeing += agrees is False
                tell()

        tell()
        async with task_group() as group:
            for _ in self._pool.workers:
                group.create_task(look())
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
                why = why_again(row.id, row.evaluator, row.route, row.verdict) if row.state == "done" else ""
                # A body that cannot be read again cannot be looked at again.
                body = reader.kept(row.body_blob, f"the body of candidate {row.id}")
                if why and item is not None and body is not None:
                    due.append(_Due(row, item, why, body))
        return due, done, disagreeing

    async def _again(self, due: _Due) -> bool | None:
        item, row = due.item, due.row
        try:
            content = splice(item.source, item.function, due.body)
        except SpliceError:
            return None
        # A cold start imports everything again, which the limit of a fast verdict leaves no time for; only what ran out of
        # time once is kept to it.
        job = Job(
            id=row.id,
            tests=item.task.tests,
            path=item.task.path,
            content=content,
            limits=item.task.limits(self._limits) if row.verdict == "timeout" else self._limits,
            route=Route.COLD,
            function=(item.task.qualified_name, item.task.occurrence),
        )
        cold = await (self._original(job) if content == item.source else self._pool.run(job))
        if cold.verdict is Verdict.ERROR:
            return None
        look = Recheck(due.why, Verdict(str(row.verdict)), cold)
        if look.agrees:
            self._writer.update("candidates", {"id": row.id}, {"recheck": look.to_json(), "agrees": int(look.agrees)})
            return True
        with self._writer.transaction():
            write_verdict(self._writer, row.id, replace(cold, job=row.id), look)
            if row.evaluator in CONTROLS and row.sample == 0:
                decide_task(self._writer, row.task_id)
        return False

    async def _original(self, job: Job) -> Report:
        known = self._originals.get(job.tests)
        if known is None:
            known = self._originals[job.tests] = asyncio.ensure_future(self._pool.run(job))
        return await known
