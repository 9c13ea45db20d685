"""``workbench improve SOURCE``: improve docstrings.

It finds functions whose bodies cannot be rewritten from their docstrings, and has better docstrings written.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.read_only import must_write
from workbench.base.text import NOTHING, plural
from workbench.commands.arguments import Argument, path, plan_arguments, plan_of
from workbench.commands.order_command import ORDERING, carry_out, session_path
from workbench.commands.output import print_json, say, tell
from workbench.commands.terminal import Terminal
from workbench.commands.watching import RegenerationWatch, follow, position, showing
from workbench.improving.attempts import DocstringAttempt, Standing, overall_gain
from workbench.improving.changes import (
    Checkout,
    Improved,
    attempts_of,
    check_patch,
    patch_of,
    source_checkout,
    suggested_name,
)
from workbench.orders.improve import ImproveOrder, improved, state_of
from workbench.orders.improve import plan_of as recorded_plan
from workbench.pages.page import Note, Part, table_of
from workbench.plans.plan import ImprovementPlan, RegenerationPlan
from workbench.plans.task_names import row_id
from workbench.results.tasks import DocstringQuality
from workbench.session import SessionReader
from workbench.session.json_forms import picked

ARGUMENTS: dict[str, Argument] = {
    **plan_arguments(RegenerationPlan, "source"),
    **plan_arguments(
        RegenerationPlan,
        *("evaluator", "samples", "tasks", "sandbox", "engine", "prompt", "context", "spend_limit"),
        evaluator="model that writes bodies from docstrings (default: the evaluator of the session's run)",
        samples="samples per function that the writer sees (default: 3)",
        spend_limit="stop asking models above this amount, for the whole order",
    ),
    **plan_arguments(ImprovementPlan),
    "--session SESSION": "a session file or name; its regeneration with the original docs, or its unfinished order, is continued",
    "--patch FILE": ("file for the patch (default: NAME-docstrings.patch)", path),
    "--branch NAME": "also commit the docstrings to a new branch, if SOURCE is a git checkout",
    **ORDERING,
}


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if every function that was tried has a better docstring, 130 if interrupted or cancelled, otherwise 1."""
    checkout = source_checkout(arguments.source)
    if arguments.branch:
        if checkout is None:
            raise UsageError("--branch needs a git checkout as SOURCE; without it a patch is written.")
        checkout.check_branch(arguments.branch)
    patch: Path = arguments.patch or Path(suggested_name(arguments.source))
    check_patch(patch)
    plan = plan_of(ImprovementPlan, arguments, base=plan_of(RegenerationPlan, arguments))
    order = ImproveOrder(session_path(arguments.session), plan)

    def follow() -> int:
        session = order.session
        then = f"To continue: workbench improve {arguments.source} --session {session}"
        try:
            state, problem = _Watch(session, order.id, order.process, arguments.json).to_the_end()
        except KeyboardInterrupt:
            order.cancel()
            tell(f"Interrupted; finished work stays in the session. {then}")
            return 130
        if state != "done":
            tell(f"workbench: {problem or f'The order is {state}.'} {then}")
            return 130 if state == "cancelled" else 1
        improvement = improved(session, order.id)
        result = closing(session, improvement) | _written(improvement, patch, checkout, arguments.branch)
        if arguments.json:
            print_json(result)
        else:
            Terminal().parts(closing_parts(improvement, result))
        return 0 if len(improvement.kept) == len(improvement.tried) else 1

    return carry_out(arguments, order, follow)


_LOOK_SECONDS = 0.1


class _Watch:
    def __init__(self, session: Path, improvement: str, process: subprocess.Popen[bytes] | None, as_json: bool) -> None:
        self._session = session
        self._id = improvement
        self._process = process
        self._as_json = as_json
        self._since = position(session)
        self._told: dict[tuple[str, int], str] = {}

    def to_the_end(self) -> tuple[str, str]:
        shown: tuple[str, str | None] = ("", None)
        watch = RegenerationWatch(self._since)
        with SessionReader(self._session) as reader:
            while True:
                row = reader.improvement(self._id)
                state = state_of(row) if row is not None else "cancelled"
                self._tell_attempts(reader)
                if row is None or state not in ("queued", "running"):
                    return state, (row.problem if row is not None else None) or ""
                now = (row.stage, row.active_run_id)
                if now == shown or not row.active_run_id:
                    time.sleep(_LOOK_SECONDS)
                    continue
                shown = now
                if not self._as_json:
                    say(f"{row.stage}", flush=True)
                with showing(self._as_json) as show:
                    follow(self._session, row.active_run_id, self._process, show, watch, partial(self._moved, now))

    def _moved(self, from_stage: tuple[str, str | None], reader: SessionReader) -> str:
        row = reader.improvement(self._id)
        if row is None or (row.stage, row.active_run_id) != from_stage or row.state not in ("queued", "running"):
            return "over"
        return ""

    def _tell_attempts(self, reader: SessionReader) -> None:
        row = reader.improvement(self._id)
        plan = recorded_plan(row) if row is not None else None
        if row is None or plan is None:
            return
        for attempt in sorted(attempts_of(reader, row, plan), key=lambda one: one.number):
            key = (attempt.task.id, attempt.number)
            if (attempt.refusal is None and not attempt.is_kept) or self._told.get(key) == attempt.words:
                continue
            self._told[key] = attempt.words
            if self._as_json:
                print_json(attempt_json(attempt))
            else:
                say(f"{row_id(attempt.task)}: {attempt.words}", flush=True)


def _written(improved: Improved, file: Path, checkout: Checkout | None, branch: str) -> dict[str, str | None]:
    written: dict[str, str | None] = {"patch": None, "branch": None, "commit": None, "problem": None}
    if not improved.kept:
        return written
    must_write("write a patch")
    message = improved.message
    file.write_bytes(patch_of(improved.changes, message, checkout.prefix if checkout is not None else ""))
    written["patch"] = str(file)
    if branch and checkout is not None:
        try:
            written |= {"commit": checkout.commit(branch, improved.changes, message), "branch": branch}
        except WorkbenchError as error:
            written["problem"] = str(error)
            tell(f"workbench: {error}")
    return written


_MOST_ROWS = 200
_MOST_REASONS = 5


def attempt_json(attempt: DocstringAttempt) -> dict[str, Any]:
    gain = attempt.gain
    shares = {"seen": attempt.seen, "before": gain and gain.before, "after": gain and gain.after}
    return {
        "type": "attempt",
        "task": attempt.task.id,
        "task_id": row_id(attempt.task),
        **picked(attempt, "number:attempt", "is_kept:kept"),
        **picked(attempt.refusal, "gate", "reason"),
        **{name: getattr(attempt, name) or None for name in ("docstring", "run", "held_out_evaluator")},
        **{name: [share.passed, share.counted] if share else None for name, share in shares.items()},
        **picked(gain, "value:gain", "interval"),
    }


def closing(session: Path, improved: Improved) -> dict[str, Any]:
    plan = improved.plan
    counts = Counter(str(one.kind) for one in improved.standings)
    return {
        "type": "summary",
        "session": str(session),
        "run": improved.run,
        "second_evaluator": plan.second_evaluator or None,
        **picked(plan.base, "evaluator", "samples"),
        **picked(plan, "writer", "held_out", "below"),
        "functions": {str(kind): counts[str(kind)] for kind in DocstringQuality},
        "tried": len(improved.tried),
        "kept": len(improved.kept),
        "attempts": len(improved.attempts),
        "gain": overall_gain(improved.attempts).to_json(),
        "standings": [
            {
                "task_id": one.name,
                "documented": str(one.kind),
                **picked(one.seen, "passed", "counted"),
                "reason": one.why or None,
            }
            for one in improved.standings
        ],
    }


def closing_parts(improved: Improved, result: dict[str, Any]) -> Iterator[Part]:
    last = {attempt.task.id: attempt for attempt in improved.attempts}
    second = result["second_evaluator"]

    def attempt_of(one: Standing) -> DocstringAttempt | None:
        return last.get(one.task.id) if one.task is not None else None

    def held_out(one: Standing) -> str:
        gain = attempt.gain if (attempt := attempt_of(one)) else None
        return f"{gain.before.words} → {gain.after.words}" if gain else ""

    columns: dict[str, Callable[[Standing], str]] = {
        "function": lambda one: one.name,
        "documented": lambda one: str(one.kind),
        "passed": lambda one: one.seen.words if one.seen.counted else NOTHING,
        f"held out ({second})" if second else "held out": held_out,
        "new docstring": lambda one: _became(attempt) if (attempt := attempt_of(one)) else one.why,
    }
    tasks = [one for one in improved.standings if one.task is not None]
    yield table_of(tasks[:_MOST_ROWS], columns)
    if len(tasks) > _MOST_ROWS:
        yield Note(f"… and {len(tasks) - _MOST_ROWS:,} more functions")
    reasons = Counter(one.why for one in improved.standings if one.task is None)
    for reason, count in reasons.most_common(_MOST_REASONS):
        yield Note(f"untestable: {plural(count, 'function')}, {reason}")
    if (more := len(reasons) - _MOST_REASONS) > 0:
        yield Note(f"untestable for {plural(more, 'other reason')}; --json lists them")
    counts = result["functions"]
    kinds = ", ".join(
        f"{counts[str(kind)]} {kind}{'' if kind is DocstringQuality.UNTESTABLE else ' documented'}"
        for kind in DocstringQuality
    )
    yield Note(kinds, "plain")
    yield Note(
        f"{result['kept']} of {result['tried']} docstrings improved in {result['attempts']} attempts by {result['writer']}, "
        f"tested with {result['evaluator']}"
        + (f"; held-out samples and gains are those of {second}" if second else ""),
        "strong",
    )
    gain = result["gain"]
    if gain["value"] is not None:
        bounds = "" if gain["low"] is None else f" [{gain['low']:+.2f}, {gain['high']:+.2f}]"
        yield Note(f"mean gain on held-out samples: {gain['value']:+.2f}{bounds}. {gain['interval']}")
    if result["patch"]:
        yield Note(f"patch: {result['patch']}")
    if result["branch"]:
        yield Note(f"branch: {result['branch']} (commit {result['commit']})")
    yield Note(f"session: {result['session']}")


def _became(attempt: DocstringAttempt) -> str:
    if attempt.gain is not None and attempt.is_kept:
        return f"kept, {attempt.gain.value:+.2f} {attempt.gain.interval_words}"
    assert attempt.refusal is not None
    return f"refused ({attempt.refusal.gate}): {attempt.refusal.reason}"
