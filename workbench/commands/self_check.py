"""What a regeneration run proves about itself, for the end of a command: controls, cold re-checks, and what failed."""

from __future__ import annotations

from typing import Any

from workbench.app.regeneration.selfcheck import banner, load_checks, load_problems
from workbench.session import SessionReader


def self_check(reader: SessionReader, run: str) -> dict[str, Any]:
    """Return how the controls and the re-checks of a run came out; ``failed`` has a sentence for each that did not hold."""
    controls, rechecks = load_checks(reader, run)
    suspect = rechecks.disagreeing or any(control.wrong or control.errors for control in controls)
    problems = load_problems(reader, run) if suspect else ()
    failed = banner(controls, rechecks, problems, live=False)
    return {
        "controls": {
            one.name: {"passed": one.passed, "tested": one.decided, "errors": one.errors, "tasks": one.tasks}
            for one in controls
        },
        "rechecks": rechecks.done,
        "disagreements": rechecks.disagreeing,
        "failed": failed.split("\n") if failed else [],
        "tasks": [
            {"id": one.task, "function": one.name, "check": one.check, "evaluator": one.evaluator, "sample": one.sample}
            for one in problems
        ],
    }


def self_check_line(checked: dict[str, Any]) -> str:
    """Return the quiet line: ``self-check: reference 38/38 · stub 0/38 · cold re-checks 41, disagreements 0``; "" for none."""
    parts = [f"{name} {one['passed']}/{one['tested']}" for name, one in checked["controls"].items()]
    if checked["rechecks"]:
        parts.append(f"cold re-checks {checked['rechecks']}, disagreements {checked['disagreements']}")
    return f"self-check: {' · '.join(parts)}" if parts else ""
