"""A verdict as rows: what a report says about a candidate, and what the controls then say about its task."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from workbench.engine.evaluators import CONTROLS
from workbench.sandbox import Report, Verdict
from workbench.session import SessionWriter


@dataclass(frozen=True, slots=True)
class SecondLook:
    """A fast verdict and what the cold route said about the same candidate.

    Attributes:
        why: ``original``, ``random`` or ``suspicious``.
        fast: The first verdict.
        cold: The report of the cold route; its verdict is the one that counts.
    """

    why: str
    fast: Verdict
    cold: Report

    @property
    def agrees(self) -> bool:
        """Whether both verdicts are the same."""
        return self.fast is self.cold.verdict

    def to_json(self) -> str:
        """Return the ``recheck`` column; ``first`` only where the verdicts differ."""
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


def write_verdict(writer: SessionWriter, candidate: str, report: Report, look: SecondLook | None = None) -> None:
    """Write a report, its failing tests included; the verdict of an earlier report gives way.

    Args:
        writer: The session.
        candidate: The candidate's id.
        report: What the sandbox said; the cold report where there was a second look that disagrees.
        look: The second look, if there was one.
    """
    with writer.transaction() as connection:
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
                "path_taken": str(report.route) if tested else None,
                "tested_s": report.seconds if tested else None,
                "outcomes_blob": writer.blob(json.dumps(outcomes)) if outcomes else None,
                "backend": report.backend if tested else None,
                "slower": (report.slower or None) if tested else None,
                "suspicious": json.dumps(report.suspicious) if report.suspicious else None,
                "recheck": look.to_json() if look is not None else None,
                "at": time.time(),
            },
        )


def decide_task(writer: SessionWriter, task: str) -> bool:
    """Write what the verdicts of a task's controls say about it; return whether it is taken out."""
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
