"""The result of an order: its summary as a JSON line and as parts of a page, and its exit code."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base import glyphs
from workbench.base.text import fixed, one_line, percent, plural, share
from workbench.commands.output import interrupted, print_json, tell
from workbench.commands.terminal import Terminal
from workbench.commands.watching import (
    RegenerationWatch,
    ScoreSelection,
    case_line,
    follow,
    requested_scores,
    score_words,
    showing,
    stop,
)
from workbench.orders.order import WorkOrder
from workbench.orders.ordered_asks import OrderedAsk, OrderedWork, is_finished, last_order, ordered_work, refusal
from workbench.pages import wording
from workbench.pages.page import Note, Part, table_of
from workbench.pages.wording import estimate_words, verdict_words
from workbench.plans.plan import RegenerationPlan
from workbench.plans.task_names import row_id
from workbench.regeneration.outcome import (
    PassFigures,
    TaskResult,
    group_outcomes,
    pass_by,
    pass_figures,
    task_result,
    totals,
)
from workbench.regeneration.self_check import self_check
from workbench.results.contents import cell
from workbench.results.failures import diagnose
from workbench.results.samples import ErrorReason, counted, run_check
from workbench.session import SessionReader
from workbench.session.groups import docs_words
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow, TaskRow
from workbench.session.sample_counts import counts_of, sample_counts

_FAILURES, _FAILURES_SHOWN = 10, 3
_MOST_ROWS = 200


def reason_lines(reasons: list[dict[str, Any]]) -> list[str]:
    return [one_line(str(ErrorReason(reason["sentence"], reason["count"])), 600) for reason in reasons]


def trials_summary(session: Path, trials: Iterable[ScoreSelection | str]) -> dict[str, Any]:
    """Return the summary of trials in a session; each requested judge has its own case."""
    requested = [ScoreSelection(one) if isinstance(one, str) else one for one in trials]
    with SessionReader(session) as reader:
        found = [(row, one) for one in requested if (row := reader.trial(one.trial)) is not None]
        lines = [case_line(reader, row, one) for row, one in found]
    rows = {row.id: row for row, _ in found}.values()
    reasons = counted((row.error, 1) for row in rows if row.state == "failed" and row.error)
    return {
        "type": "summary", "session": str(session), "cases": lines, "reasons": [reason.to_json() for reason in reasons],
    }  # fmt: skip


def trials_parts(closing: dict[str, Any]) -> Iterator[Part]:
    """Yield the summary of trials as parts of a page."""
    cases: list[dict[str, Any]] = closing["cases"]

    def points(tier: str) -> Callable[[dict[str, Any]], str]:
        return lambda one: wording.points(one["tiers"][tier])

    tiers = {tier: points(tier) for tier in "1234"}
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        # Show only the name of a folder, because its path would leave no room for the scores.
        "case": lambda one: " ".join(
            filter(None, (one["case_name" if "/" in one["case"] else "case"], one["content_suffix"]))
        ),
        "agent": lambda one: one["agent"],
        "score": score_words,
        **tiers,
        "steps": lambda one: str(one["steps"]),
        "tokens": lambda one: fixed(one["tokens"]),
        "cost $": lambda one: fixed(one["cost"], 4),
        "s": lambda one: fixed(one["seconds"], 1),
        "status": lambda one: one["status"],
    }
    numbers, droppable = columns.keys() - {"case", "agent", "status"}, ("cost $", "tokens", "steps")
    yield table_of(cases, columns, numbers, droppable=droppable)
    problems: dict[str, dict[str, None]] = {}
    for case in cases:
        if case["problem"]:
            problems.setdefault(case["problem"], {})[case["case"]] = None
    for problem, which in problems.items():
        yield Note(f"{glyphs.UNSCORED} {', '.join(which)}: {problem}", "advice")
    if problems:
        yield Note(f"To retry the judge: workbench resume {closing['session']}", "plain")
    yield from (Note(line, "bad") for line in reason_lines(closing["reasons"]))
    models = sorted({str(case["model"]) for case in cases})
    judges = sorted({str(case["judge"]) for case in cases if case["judge"]})
    if models:
        yield Note(f"model: {', '.join(models)}" + (f" · judge: {', '.join(judges)}" if judges else ""))
    yield Note(f"session: {closing['session']}")


def planned_trials(order: WorkOrder) -> list[ScoreSelection]:
    with SessionReader(order.session) as reader:
        return [one for run in order.runs for one in requested_scores(reader, run)]


def watch(order: WorkOrder, as_json: bool, trials: Callable[[], Sequence[ScoreSelection | str]]) -> int:
    return watch_runs(order.session, order.runs, order.process, as_json, trials)


def watch_runs(
    session: Path,
    runs: list[str],
    process: subprocess.Popen[bytes] | None,
    as_json: bool,
    trials: Callable[[], Sequence[ScoreSelection | str]],
) -> int:
    """Follow runs one after another, then print the summary of ``trials()``; return the exit code."""
    states, key = [], ""
    with showing(as_json) as show:
        try:
            for key in runs:
                show({"type": "run", "run": key, "session": str(session)})
                states.append(follow(session, key, process, show))
        except KeyboardInterrupt:
            states.append("")
            stop(session, key)
    closing = trials_summary(session, trials())
    if as_json:
        print_json(closing)
    else:
        Terminal().parts(trials_parts(closing))
    done = sum(case["status"] == "done" for case in closing["cases"])
    if "" in states:
        return interrupted(
            f"{done} of {plural(len(closing['cases']), 'trial')}", f"To continue: workbench resume {session}"
        )
    return 0 if all(state == "done" for state in states) and done == len(closing["cases"]) else 1


@dataclass(frozen=True, slots=True)
class OrderedTask:
    """A task of an order, with its samples."""

    task: TaskRow
    candidates: tuple[CandidateRow, ...]
    result: TaskResult


def ordered_tasks(reader: SessionReader, work: OrderedWork) -> list[OrderedTask]:
    mine = ((task, work.candidates[task.id]) for task in work.tasks)
    return [OrderedTask(task, found, task_result(task, counts_of(reader, found))) for task, found in mine]


def figures_of(lines: Sequence[OrderedTask], order: OrderedAsk) -> PassFigures:
    """Return the figures of an order, excluding tasks that are excluded."""
    return pass_figures([line.result for line in lines if line.task.state != "excluded"], order.k)


def order_summary(session: Path, run: str | OrderedAsk, began: float = 0.0) -> dict[str, Any]:
    """Return the summary of an order, or of the last order of a run.

    The figures are those of the ordered work; ``groups`` contains the figures of the whole run. Verdicts older than
    ``began`` are counted as ``kept``.
    """
    with SessionReader(session) as reader:
        row = reader.run(run.run if isinstance(run, OrderedAsk) else run)
        assert row is not None, run
        order = run if isinstance(run, OrderedAsk) else last_order(row)
        finished, refused, state = is_finished(reader, order), refusal(reader, order), reader.run_state(row)
        now = time.time() if state in ("queued", "running") else None
        work = ordered_work(reader, order)
        lines = ordered_tasks(reader, work)
        ready = [line for line in lines if line.task.state != "excluded"]
        samples = [one for line in ready for one in line.candidates]
        sums = totals(counts_of(reader, samples), now=now)
        every = [one for each in work.controls.values() for one in each]
        controls = self_check(counts_of(reader, every), len(lines)).controls
        tasks, counts = reader.tasks(row.id), sample_counts(reader, row.id, by_task=True)
        check = run_check(reader, row.id, counts, len(tasks))
        groups = group_outcomes(counts, tasks, order.k, now=now)
        diagnosis = diagnose(reader, row.id, {one.group: one.results for one in groups if not one.control})
        dropped = Counter(entry.stage for entry in reader.dropped(row.id))
    plan, ask = RegenerationPlan.from_json(row.config), order.ask
    figures = figures_of(lines, order)
    errors = [one.verdict_reason or "no reason was recorded" for one in samples if one.verdict == "error"]
    return {
        "type": "summary",
        "session": str(session),
        "run": row.id,
        "state": "done" if finished else "failed" if refused else state,
        **picked(plan, "source", "docs", "docs_scope", "selection"),
        "evaluator": ask.evaluator,
        "prompt": ask.prompt or None,
        "context": ask.context or None,
        "sandbox": plan.sandbox,
        "tasks": len(ready),
        "samples": ask.samples or max((len(line.candidates) for line in ready), default=0),
        "candidates": sums.samples,
        "pass_at_k": {str(e.k): e.value for e in figures.pass_at},
        "interval": {str(e.k): None if e.low is None else [e.low, e.high] for e in figures.pass_at},
        # The rule and unit of the interval, or the reason why there is none.
        "interval_words": {str(e.k): e.interval.words if e.interval else None for e in figures.pass_at},
        "interval_over": {str(e.k): e.interval.over if e.interval else "" for e in figures.pass_at},
        # pass@k is undefined for a task with fewer than k samples.
        "tasks_at_k": {str(e.k): e.tasks for e in figures.pass_at},
        "samples_per_task": list(figures.samples_per_task),
        **figures.more_json(),
        "verdicts": dict(sums.verdicts),
        # The reasons why samples ended in an error, with one entry per kind.
        "reasons": [reason.to_json() for reason in counted((why, 1) for why in errors)],
        "kept": sum(one.verdict is not None and (one.at or 0.0) < began for one in samples),
        # Samples that are being retested are counted above with their earlier verdicts.
        **picked(sums, "unfinished", "retesting"),
        "routes": dict(sums.routes),
        "elapsed_s": sums.elapsed_s,
        "controls": {one.name: one.passed / one.decided for one in controls if one.decided},
        "self_check": check.to_json(),
        "pending_rechecks": work.pending_rechecks if finished else 0,
        "excluded": len(lines) - len(ready),
        "excluded_tasks": [
            {"id": line.task.id, "task_id": row_id(line.task), "reason": line.task.reason}
            for line in lines
            if line.task.state == "excluded"
        ],
        "dropped": dict(dropped),
        **picked(sums, "tokens", "cost_usd:cost"),
        "groups": [group.to_json() for group in groups],
        # The most frequent failures, the tasks without a passing sample, and pass@k by file.
        "failures": [
            {**one.to_json(), "candidates": len(one.candidates), "tests": len(one.tests)}
            for one in diagnosis.groups[:_FAILURES]
        ],
        "unsolved": [one.task for one in diagnosis.unsolved],
        "files": {
            group.name: {"tasks": group.tasks, "pass_at_k": {str(e.k): e.value for e in group.pass_at}}
            for group in pass_by([(line.task.path, line.result) for line in ready if line.candidates], order.k)
        },
        "note": row.note,
        # An error that ended the run after the order was complete does not affect the order.
        "error": None if finished else refused or row.error,
    }


def self_check_line(checked: dict[str, Any]) -> str:
    """Return a line such as ``self-check: reference 38/38 · stub 0/38 · cold re-checks 41, disagreements 0``.

    Return "" if nothing was checked.
    """
    parts = [f"{name} {one['passed']}/{one['tested']}" for name, one in checked["controls"].items()]
    if checked["rechecks"]:
        parts.append(f"cold re-checks {checked['rechecks']}, disagreements {checked['disagreements']}")
    return f"self-check: {' · '.join(parts)}" if parts else ""


def order_parts(reader: SessionReader, run: str | OrderedAsk, closing: dict[str, Any]) -> Iterator[Part]:
    """Yield an order, or the last order of a run, as parts of a page; ``closing`` is its summary."""
    ordered = isinstance(run, OrderedAsk)
    if not isinstance(run, OrderedAsk):
        row = reader.run(run)
        assert row is not None, run
        run = last_order(row)
    every = ordered_tasks(reader, ordered_work(reader, run))
    lines = [line for line in every if line.candidates or line.task.state == "excluded"]

    def failing(line: OrderedTask) -> str:
        if line.task.state == "excluded":
            return f"excluded: {line.task.reason or ''}"
        return first_of([test.test_id for one in line.candidates for test in reader.failing_tests(one.id)])

    def at(k: int) -> Callable[[OrderedTask], str]:
        return lambda one: share(one.result.at(k))

    figures_at = {f"pass@{k}": at(k) for k in run.k}
    columns: dict[str, Callable[[OrderedTask], str]] = {
        "file": lambda one: one.task.path,
        "function": lambda one: row_id(one.task).partition("::")[2],
        "tests": lambda one: str(one.task.test_count),
        "cover": lambda one: "" if one.task.coverage is None else percent(one.task.coverage),
        "samples": lambda one: "".join(map(cell, one.candidates)).replace(glyphs.RUNNING, glyphs.WAITING),
        **figures_at,
        "failing first": failing,
    }
    if len({line.task.path for line in lines}) < 2:
        del columns["file"]
    yield table_of(lines[:_MOST_ROWS], columns, {"tests", "cover", *figures_at}, droppable=("cover",))
    if len(lines) > _MOST_ROWS:
        yield Note(f"… and {len(lines) - _MOST_ROWS:,} more tasks")
    if len(lines) < len(every):
        yield Note(f"{plural(len(every) - len(lines), 'task')} without a sample omitted.")
    yield from (Note(line, "bad") for line in reason_lines(closing["reasons"]))
    if closing["kept"] and ordered:
        kept = f"{closing['kept']:,} of {plural(closing['candidates'], 'verdict')} were already in the session."
        yield Note(f"{kept} To test them again: workbench rerun {closing['session']} '*'", "advice")
    if closing["retesting"]:
        again = f"{closing['retesting']:,} of {plural(closing['candidates'], 'sample')} are still to be tested again;"
        yield Note(f"{again} until then their former verdicts ({glyphs.FORMER}) count.", "advice")
    if closing["note"]:
        yield Note(closing["note"], "advice")
    checked = closing["self_check"]
    yield from (Note(f" {sentence} ", "alarm") for sentence in checked["failed"])
    found = figures_of(every, run)
    yield Note(figures(found, closing), "strong")
    if closing["tasks"]:
        yield from map(Note, filter(None, dict.fromkeys(closing["interval_words"].values())))
    if closing["failures"]:
        found_failures = []
        for one in closing["failures"][:_FAILURES_SHOWN]:
            message = one_line(one["message"].removeprefix(f"{one['exception']}: "), 60)
            found_failures.append(f"{one['candidates']} × {': '.join(filter(None, (one['exception'], message)))}")
        yield Note(f"most frequent failures: {'; '.join(found_failures)}")
    if line := self_check_line(checked):
        yield Note(line, "bad" if checked["failed"] else "")
    if closing["pending_rechecks"]:
        yield Note(
            f"{plural(closing['pending_rechecks'], 'verdict')} will be re-checked on the cold route after the other orders."
        )
    docs = docs_words(closing["docs"], closing["docs_scope"])
    made = f"docs {docs} · {closing['evaluator']} · m = {found.samples_text(closing['samples'])} · {closing['sandbox']}"
    yield Note(f"{made} · session: {closing['session']}")


def first_of(tests: Sequence[str]) -> str:
    tests = list(dict.fromkeys(tests))
    return tests[0].partition("::")[2] + (f" ({len(tests)})" if len(tests) > 1 else "") if tests else ""


def figures(found: PassFigures, closing: dict[str, Any]) -> str:
    parts = []
    for one in found.pass_at:
        # Figures for different tasks are not comparable, so show the number of tasks with each figure if they differ.
        fewer = f" (of {plural(one.tasks, 'task')})" if one.value is not None and one.tasks != closing["tasks"] else ""
        parts.append(f"pass@{one.k} {estimate_words(one)}{fewer}")
    parts.append(plural(closing["tasks"], "task"))
    drawn = found.samples_text(closing["samples"])
    parts += [f"{drawn} samples a task"] if drawn != str(closing["samples"]) else []
    for words, values in found.variants:
        at = [f"pass@{one.k} {share(value)}" for one, value in zip(found.pass_at, values, strict=False)]
        parts.append(": ".join(filter(None, (words, ", ".join(at)))))
    parts += [verdict_words(closing["verdicts"])] if closing["verdicts"] else []
    parts += [f"{closing['excluded']} excluded"] if closing["excluded"] else []
    if closing["dropped"]:
        parts.append("dropped: " + ", ".join(f"{count} {stage}" for stage, count in closing["dropped"].items()))
    return " · ".join(parts)


def watch_order(
    session: Path,
    run: str | OrderedAsk,
    process: subprocess.Popen[bytes] | None,
    watch: RegenerationWatch,
    as_json: bool,
    advice: str = "",
    began: float | None = None,
) -> int:
    """Follow an order, or a run to its end, print its summary and return the exit code.

    The exit code is 0 if every candidate has a verdict, 1 if something failed, 2 if the engine refused the order, and
    130 if interrupted. ``advice`` is printed after an interruption; by default, it explains how to resume. ``began`` is
    when the work was ordered; the default is now.
    """
    order = run if isinstance(run, OrderedAsk) else None
    key = order.run if order else str(run)
    began = time.time() if began is None else began
    with showing(as_json) as show:
        show({"type": "run", "run": key, "session": str(session)})
        try:
            state = follow(session, key, process, show, watch, order_end(order) if order else None)
        except KeyboardInterrupt:
            state = ""
            stop(session, key)
        closing = order_summary(session, run, began)
        if state == "refused":
            show({"type": "error", "sentence": closing["error"]})
    if as_json:
        print_json(closing)
    elif closing["tasks"] or closing["excluded"]:
        print_order(session, run, closing)
    elif not closing["error"]:
        tell(f"workbench: the order has no tasks. To list the session's contents: workbench show {session}")
    if not state:
        done = sum(closing["verdicts"].values())
        counted_done = f"{done:,} of {plural(closing['candidates'], 'candidate')}"
        return interrupted(counted_done, advice or f"To continue: workbench resume {session}")
    return 2 if state == "refused" else exit_code(state, closing)


def print_order(session: Path, run: str | OrderedAsk, closing: dict[str, Any]) -> None:
    with SessionReader(session) as reader:
        Terminal().parts(order_parts(reader, run, closing))


def order_end(order: OrderedAsk) -> Callable[[SessionReader], str]:
    """Return a function that returns how an order ended, ``done`` or ``refused``, or "" if it has not ended."""

    def end(reader: SessionReader) -> str:
        if refusal(reader, order):
            return "refused"
        return "done" if is_finished(reader, order) else ""

    return end


def exit_code(state: str, closing: dict[str, Any]) -> int:
    """Return 0 if every candidate has a verdict and the self-check passed, otherwise 1."""
    missing = closing["unfinished"] or closing["retesting"]
    # An order without tasks does not count as a success.
    something = bool(closing["tasks"] or closing["excluded"])
    complete = something and state == "done" and not missing and "error" not in closing["verdicts"]
    return 0 if complete and not closing["self_check"]["failed"] else 1
