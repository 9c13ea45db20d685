"""Write verdicts as rows: a report's result for a candidate, and what the controls imply for its task."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from workbench.sandbox import Report, Verdict
from workbench.session import SessionWriter
from workbench.session.groups import CONTROLS


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
            writer.insert(
                "failing_tests",
                {
                    "candidate_id": candidate,
                    "test_id": test.id,
                    "outcome": test.outcome,
                    "message": test.message,
                    "traceback_blob": writer.blob(test.traceback) if test.traceback else None,
                },
                conflict="REPLACE",
            )
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
                "slower": (report.slower or None) if tested else None,
                "suspicious": json.dumps(report.suspicious) if report.suspicious else None,
                "plain": None if report.plain is None else int(report.plain),
                "doubtful": report.doubtful or None,
                "recheck": look.to_json() if look is not None else None,
                "agrees": int(look.agrees) if look is not None else None,
                "at": time.time(),
            },
        )


def _keep_former(writer: SessionWriter, candidate: str) -> None:
    kept = "verdict, verdict_reason, route, tested_s, outcomes_blob, backend, slower, suspicious, recheck, doubtful, at"
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


def decide_task(writer: SessionWriter, task: str) -> bool:
    """Record what the verdicts of its controls imply for a task; return whether it is excluded."""
    held: dict[str, bool] = {}
    reasons = []
    with writer.transaction() as connection:
        rows = connection.execute(
            "SELECT evaluator, verdict, verdict_reason FROM candidates WHERE task_id = ? AND sample = 0 "
            "AND verdict IS NOT NULL AND evaluator IN (?, ?) ORDER BY evaluator",
            (task, *CONTROLS),
        ).fetchall()
        for name, verdict, reason in rows:
            held[name] = verdict != "error" and (verdict == "passed") == (name == "reference")
            if verdict == "error":
                reasons.append(f"The control {name} could not be tested: {reason}")
            elif not held[name]:
                words = f"{verdict} with the original body" if name == "reference" else "passed with a stub"
                reasons.append(f"Its tests: {words}.")
        values = {"controls": json.dumps(held), "reason": " ".join(reasons) or None}
        writer.update("tasks", {"id": task}, {**values, "state": "excluded" if reasons else "ready"})
    return bool(reasons)
