"""What came of an order to improve docstrings: a table of the whole repository, or JSON."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.commands.output import say
from workbench.commands.terminal import Terminal
from workbench.improving.attempts import overall_gain
from workbench.results.kinds import Kind
from workbench.session.task_names import row_id

if TYPE_CHECKING:
    from workbench.engine.improvement_result import Improved
    from workbench.improving.attempts import Attempt

_MOST_ROWS = 200
_MOST_REASONS = 5


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt as a script sees it."""
    gain = attempt.gain
    return {
        "type": "attempt",
        "task": attempt.task.id,
        "task_id": row_id(attempt.task),
        "attempt": attempt.number,
        "docstring": attempt.docstring or None,
        "kept": attempt.is_kept,
        "gate": attempt.refusal.gate if attempt.refusal else None,
        "reason": attempt.refusal.reason if attempt.refusal else None,
        "run": attempt.run or None,
        "seen": [attempt.seen.passed, attempt.seen.counted] if attempt.seen else None,
        "before": [gain.before.passed, gain.before.counted] if gain else None,
        "held_out_by": attempt.held_out_by or None,
        "after": [gain.after.passed, gain.after.counted] if gain else None,
        "gain": gain.value if gain else None,
        "interval": gain.interval if gain else None,
    }


def closing(session: Path, improved: Improved) -> dict[str, Any]:
    """Return the summary as JSON values."""
    plan = improved.plan
    counts = Counter(str(one.kind) for one in improved.standings)
    return {
        "type": "summary",
        "session": str(session),
        "run": improved.run,
        "evaluator": plan.base.evaluator,
        "second_evaluator": plan.second_evaluator or None,
        "writer": plan.writer,
        "samples": plan.base.samples,
        "held_out": plan.held_out,
        "below": plan.below,
        "functions": {str(kind): counts[str(kind)] for kind in Kind},
        "tried": len(improved.tried),
        "kept": len(improved.kept),
        "attempts": len(improved.attempts),
        "gain": overall_gain(improved.attempts).to_json(),
        "standings": [
            {
                "task_id": one.name,
                "documented": str(one.kind),
                "passed": one.seen.passed,
                "counted": one.seen.counted,
                "reason": one.why or None,
            }
            for one in improved.standings
        ],
    }


def print_table(session: Path, improved: Improved, result: dict[str, Any]) -> None:
    """Print a line per function, what was kept of it, and where the change is."""
    from rich.table import Table

    console = Terminal(piped_width=120)
    last = {attempt.task.id: attempt for attempt in improved.attempts}
    table = Table(box=None, pad_edge=False)
    second = result["second_evaluator"]
    held_out = f"held out ({second})" if second else "held out"
    for heading in ("function", "documented", "passed", held_out, "new docstring"):
        cut = heading in ("function", "new docstring")
        table.add_column(
            heading, overflow="fold" if cut else console.cut, no_wrap=not cut, max_width=44 if cut else None
        )
    tasks = [one for one in improved.standings if one.task is not None]
    for one in tasks[:_MOST_ROWS]:
        attempt = last.get(one.task.id) if one.task is not None else None
        gain = attempt.gain if attempt else None
        table.add_row(
            one.name,
            str(one.kind),
            one.seen.words if one.seen.counted else "–",
            f"{gain.before.words} → {gain.after.words}" if gain else "",
            _became(attempt) if attempt else one.why,
        )
    console.print(table)
    if len(tasks) > _MOST_ROWS:
        say(f"… and {len(tasks) - _MOST_ROWS} more functions")
    reasons = Counter(one.why for one in improved.standings if one.task is None)
    for reason, count in reasons.most_common(_MOST_REASONS):
        say(f"untestable: {count} function{'' if count == 1 else 's'}, {reason}")
    if (more := len(reasons) - _MOST_REASONS) > 0:
        say(f"untestable for {more} other reason{'' if more == 1 else 's'}; --json lists them")
    counts = result["functions"]
    say(", ".join(f"{counts[str(kind)]} {kind}{'' if kind is Kind.UNTESTABLE else ' documented'}" for kind in Kind))
    say(
        f"{result['kept']} of {result['tried']} docstrings improved in {result['attempts']} attempts by {result['writer']}, "
        f"tested with {result['evaluator']}" + (f"; held-out samples and gains are those of {second}" if second else "")
    )
    gain = result["gain"]
    if gain["value"] is not None:
        bounds = "" if gain["low"] is None else f" [{gain['low']:+.2f}, {gain['high']:+.2f}]"
        say(f"gain of what came to held-out samples: {gain['value']:+.2f}{bounds}. {gain['interval']}")
    if result["patch"]:
        say(f"patch: {result['patch']}")
    if result["branch"]:
        say(f"branch: {result['branch']} (commit {result['commit']})")
    say(f"session: {session}")


def _became(attempt: Attempt) -> str:
    if attempt.gain is not None and attempt.is_kept:
        return f"kept, {attempt.gain.value:+.2f} {attempt.gain.interval_words}"
    assert attempt.refusal is not None
    return f"refused ({attempt.refusal.gate}): {attempt.refusal.reason}"
