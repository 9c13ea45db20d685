"""Follow a regeneration run: as lines of JSON, or as live bars and a closing table on a terminal."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.base import glyphs
from workbench.base.text import one_line, plural, share
from workbench.commands.output import print_json, say, tell
from workbench.commands.regeneration_summary import Line, figures_of, read_lines, self_check_line, summary
from workbench.commands.terminal import StageBars, Terminal
from workbench.commands.watching import Show, follow, reason_lines, stop
from workbench.orders.orders import Order, belongs, is_finished, last_order, ordered_work, refusal
from workbench.pages.page import Note, Part, table_of
from workbench.pages.wording import estimate_words
from workbench.plans.plan import Ask
from workbench.regeneration.outcome import PassFigures
from workbench.results.contents import cell
from workbench.results.reasons import Reason, kind_of
from workbench.session import SessionReader
from workbench.session.groups import CONTROLS, docs_words
from workbench.session.json_forms import picked
from workbench.session.rows import CandidateRow, StageRow, TaskRow
from workbench.session.task_names import row_id

_MOST_FAILURES = 3
_MOST_ROWS = 200
_NEVER = -1.0


def position(session: Path) -> int:
    """Return where the session's feed stands, for a look that shows only what comes after; 0 without a session."""
    if not session.exists():
        return 0
    with SessionReader(session) as reader:
        return reader.last_change()


class RegenerationWatch:
    """Shows what changes in a regeneration run after ``since``: stages, tasks, verdicts; of ``ask`` alone if there is one."""

    def __init__(self, since: int = 0, ask: Ask | None = None) -> None:
        self._since = since
        self._ask = ask
        # Until an engine has come to a stage, what stands there was told when it was done; a session begun now has none such.
        self._began = time.time() if since else 0.0
        self._stages: dict[str, tuple[object, ...]] = {}
        self._names: dict[str, str] = {}
        self._former: dict[str, float | None] = {}
        self._tasks: dict[str, tuple[object, ...]] = {}
        self._kinds: set[str] = set()

    def __call__(self, reader: SessionReader, run: str, show: Show) -> None:
        for stage in reader.stages(run):
            told = (stage.state, stage.done, stage.total, stage.note)
            if stage.at < self._began:
                continue
            if self._stages.get(stage.name, ("waiting",)) != told and stage.state != "waiting":
                self._stages[stage.name] = told
                show(stage_line(stage))
        while changes := reader.changes(self._since):
            self._since = changes[-1].seq
            for item in dict.fromkeys(change.item for change in changes if change.kind == "task"):
                self._task(reader.task(item), run, show)
            for item in dict.fromkeys(change.item for change in changes if change.kind == "candidate"):
                row = reader.candidate(item)
                if row is not None and row.run_id == run and row.verdict is not None and self._is_meant(row):
                    self._verdict(row, self._name(reader, row.task_id), show)

    def _is_meant(self, row: CandidateRow) -> bool:
        return self._ask is None or row.evaluator in CONTROLS or belongs(row, row.task_id, self._ask)

    def _verdict(self, row: CandidateRow, task: str, show: Show) -> None:
        """Show a verdict that is new; one that only stands again, because its rerun was cancelled, is not."""
        if row.again:
            self._former[row.id] = row.at
        elif row.state == "done" and self._former.pop(row.id, _NEVER) != row.at:
            show(candidate_line(row, task))
            self._reason(row, show)

    def _reason(self, row: CandidateRow, show: Show) -> None:
        """Say why a sample has no verdict of its own, once for each kind of reason; the summary counts them."""
        if row.verdict == "error" and not row.control and row.verdict_reason:
            kind = kind_of(row.verdict_reason)
            if kind not in self._kinds:
                self._kinds.add(kind)
                show({"type": "reason", "count": 1, "sentence": row.verdict_reason})

    def _task(self, task: TaskRow | None, run: str, show: Show) -> None:
        if task is None or task.run_id != run:
            return
        told = (task.state, task.reason)
        if self._tasks.get(task.id) != told:
            self._tasks[task.id] = told
            names = picked(task, "path", "qualified_name:function", "state", "reason")
            show({"type": "task", "id": task.id, "task_id": row_id(task), **names})

    def _name(self, reader: SessionReader, task: str) -> str:
        if task not in self._names:
            row = reader.task(task)
            self._names[task] = row_id(row) if row else task
        return self._names[task]


def stage_line(stage: StageRow) -> dict[str, Any]:
    return {"type": "stage", **picked(stage, "name", "state", "done", "total", "note")}


def candidate_line(row: CandidateRow, task: str) -> dict[str, Any]:
    return {
        "type": "candidate",
        **picked(row, "id", "task_id:task"),
        "task_id": task,
        "evaluator": row.evaluator,
        "control": bool(row.control),
        **picked(row, "sample", "verdict", "verdict_reason:reason", "doubtful", "route"),
        "path": row.route,  # the former name, for one version
        **picked(row, "tested_s:seconds", "asked_s"),
        "tokens": (row.prompt_tokens or 0) + (row.completion_tokens or 0),
        "cost": row.cost_usd,
    }


class TerminalShow:
    """Live bars for the stages, verdicts so far; errors go to standard error."""

    def __init__(self) -> None:
        self.console = Terminal()
        self._live = self.console.is_terminal
        self._bars = StageBars(self.console)
        self._verdicts: Counter[str] = Counter()

    def __enter__(self) -> TerminalShow:
        self._bars.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.__exit__()

    def __call__(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "error":
                self.__exit__()
                tell(f"workbench: {event['sentence']}")
            case "stage":
                self._stage(event["name"], event["state"], event["done"], event["total"], event["note"] or "")
            case "reason":
                said = one_line(str(Reason(event["sentence"], event["count"])), 600)
                if self._live:
                    # Above the bars; standard error would break them.
                    self.console.print(said, style="red")
                else:
                    tell(said)
            case "candidate" if not event["control"]:
                self._verdicts[event["verdict"]] += 1
                words = (f"{glyphs.VERDICTS.get(name, name)} {count}" for name, count in sorted(self._verdicts.items()))
                self._bars.note("candidates", " ".join(words))

    def _stage(self, name: str, state: str, done: int | None, total: int | None, note: str) -> None:
        if self._live:
            self._bars.update(name, state, done=done, total=total, note=note)
        elif state in ("done", "failed"):
            count = f" {done} of {total}" if total else ""
            say(f"{name:<13} {state}{count}  {note.partition(chr(10))[0]}".rstrip(), flush=True)

    def table(self, session: Path, run: str | Order, closing: dict[str, Any]) -> None:
        with SessionReader(session) as reader:
            self.console.parts(list(closing_parts(reader, run, closing)))


def closing_parts(reader: SessionReader, run: str | Order, closing: dict[str, Any]) -> Iterator[Part]:
    """Yield what came of an order, or of what a run was asked for last; ``closing`` is its summary."""
    if not isinstance(run, Order):
        row = reader.run(run)
        assert row is not None, run
        run, again = last_order(row), True
    else:
        again = False
    every = read_lines(reader, ordered_work(reader, run))
    lines = [line for line in every if line.candidates or line.task.state == "excluded"]

    def failing(line: Line) -> str:
        if line.task.state == "excluded":
            return f"taken out: {line.task.reason or ''}"
        return first_of([test.test_id for one in line.candidates for test in reader.failing_tests(one.id)])

    def at(k: int) -> Callable[[Line], str]:
        return lambda one: share(one.result.at(k))

    figures_at = {f"pass@{k}": at(k) for k in run.k}
    columns: dict[str, Callable[[Line], str]] = {
        "file": lambda one: one.task.path,
        "function": lambda one: row_id(one.task).partition("::")[2],
        "tests": lambda one: str(one.task.test_count),
        "cover": lambda one: "" if one.task.coverage is None else f"{one.task.coverage:.0%}",
        "samples": lambda one: "".join(map(cell, one.candidates)).replace(glyphs.RUNNING, glyphs.WAITING),
        **figures_at,
        "failing first": failing,
    }
    if len({line.task.path for line in lines}) < 2:
        del columns["file"]  # a single file goes without saying
    yield table_of(lines[:_MOST_ROWS], columns, {"tests", "cover", *figures_at})
    if len(lines) > _MOST_ROWS:
        yield Note(f"… and {len(lines) - _MOST_ROWS} more tasks")
    if len(lines) < len(every):
        yield Note(f"{len(every) - len(lines)} tasks without a sample are not listed.")
    yield from (Note(said, "bad") for said in reason_lines(closing["reasons"]))
    if closing["kept"] and not again:
        yield Note(kept_words(closing), "advice")
    if closing["again"]:
        yield Note(again_words(closing), "advice")
    if closing["note"]:
        yield Note(closing["note"], "advice")
    checked = closing["self_check"]
    yield from (Note(f" {sentence} ", "alarm") for sentence in checked["failed"])
    found = figures_of(every, run)
    yield Note(figures(found, closing), "strong")
    if closing["tasks"]:
        yield from map(Note, filter(None, dict.fromkeys(closing["interval_words"].values())))
    if closing["failures"]:
        yield Note(failure_words(closing["failures"]))
    if line := self_check_line(checked):
        yield Note(line, "bad" if checked["failed"] else "")
    if closing["pending_rechecks"]:
        later = f"{closing['pending_rechecks']} verdicts are still to be looked at again on the cold route"
        yield Note(f"{later}, after what else was asked for.")
    docs = docs_words(closing["docs"], closing["docs_scope"])
    said = f"docs {docs} · {closing['evaluator']} · m = {found.drawn(closing['samples'])} · {closing['sandbox']}"
    yield Note(f"{said} · session: {closing['session']}")


def failure_words(failures: list[dict[str, Any]]) -> str:
    told = []
    for one in failures[:_MOST_FAILURES]:
        said = one["message"].removeprefix(f"{one['exception']}: ")
        told.append(f"{one['candidates']} × {one['exception']}" + (f": {one_line(said, 60)}" if said else ""))
    return f"most failed so: {'; '.join(told)}"


def again_words(closing: dict[str, Any]) -> str:
    return (
        f"{closing['again']} of {closing['candidates']} samples are still to be tested again; "
        f"their former verdicts ({glyphs.FORMER}) are shown and count."
    )


def kept_words(closing: dict[str, Any]) -> str:
    return (
        f"{closing['kept']} of {closing['candidates']} verdicts were in the session before and are shown as they are. "
        f"Test them again with: workbench rerun {closing['session']} '*'"
    )


def first_of(tests: Sequence[str]) -> str:
    tests = list(dict.fromkeys(tests))
    return tests[0].partition("::")[2] + (f" ({len(tests)})" if len(tests) > 1 else "") if tests else ""


def figures(found: PassFigures, closing: dict[str, Any]) -> str:
    parts = []
    for one in found.pass_at:
        # Figures over different tasks are not to be compared: each says how many are in it, where they differ.
        fewer = f" (of {plural(one.tasks, 'task')})" if one.value is not None and one.tasks != closing["tasks"] else ""
        parts.append(f"pass@{one.k} {estimate_words(one)}{fewer}")
    parts.append(plural(closing["tasks"], "task"))
    drawn = found.drawn(closing["samples"])
    parts += [f"{drawn} samples a task"] if drawn != str(closing["samples"]) else []
    for words, values in found.otherwise:
        at = [f"pass@{one.k} {share(value)}" for one, value in zip(found.pass_at, values, strict=False)]
        parts.append(": ".join(filter(None, (words, ", ".join(at)))))
    parts += [f"{glyphs.VERDICTS.get(name, '')} {name} {count}" for name, count in closing["verdicts"].items()]
    parts += [f"{closing['excluded']} taken out"] if closing["excluded"] else []
    if closing["dropped"]:
        parts.append("dropped: " + ", ".join(f"{count} {stage}" for stage, count in closing["dropped"].items()))
    return " · ".join(parts)


def watch_regeneration(
    session: Path,
    run: str | Order,
    process: subprocess.Popen[bytes] | None,
    watch: RegenerationWatch,
    as_json: bool,
    advice: str = "",
    began: float | None = None,
) -> int:
    """Follow an order, or a run to its end, and print its summary.

    ``advice`` says what to do after an interruption, if not resume; ``began`` is when it was ordered, by default now.

    Returns:
        0 when every candidate has a verdict, 1 when something failed, 2 when the engine refused the order, 130 when
        interrupted.
    """
    key = run.run if isinstance(run, Order) else run
    terminal = None if as_json else TerminalShow()
    show: Show = print_json if terminal is None else terminal
    if as_json:
        print_json({"type": "run", "run": key, "session": str(session)})
    interrupted = False
    state = "interrupted"
    began = time.time() if began is None else began
    with terminal or contextlib.nullcontext():
        try:
            order = run if isinstance(run, Order) else None
            state = follow(session, key, process, show, watch, order_end(order) if order else None)
        except KeyboardInterrupt:
            interrupted = True
            stop(session, key)
    closing = summary(session, run, began)
    if state == "refused":
        show({"type": "error", "sentence": closing["error"]})
    if terminal is None:
        print_json(closing)
    elif closing["tasks"] or closing["excluded"]:
        terminal.table(session, run, closing)
    elif not closing["error"]:
        tell(f"workbench: no task came of this order. Look at what the session has: workbench show {session}")
    if interrupted:
        done = sum(closing["verdicts"].values())
        sentence = f"Interrupted: {done} of {closing['candidates']} candidates have their verdict and are kept."
        tell(f"{sentence} {advice or f'Go on with: workbench resume {session}'}")
        return 130
    return 2 if state == "refused" else exit_code(state, closing)


def order_end(order: Order) -> Callable[[SessionReader], str]:
    """Return what tells how an order ended: ``done``, ``refused``, or nothing while it has not."""

    def end(reader: SessionReader) -> str:
        if refusal(reader, order):
            return "refused"
        return "done" if is_finished(reader, order) else ""

    return end


def exit_code(state: str, closing: dict[str, Any]) -> int:
    """Return 0 for a run whose every candidate has a verdict and whose self-check held, else 1."""
    missing = closing["unfinished"] or closing["again"]
    # Nothing asked for, nothing tested: that is no success.
    something = bool(closing["tasks"] or closing["excluded"])
    complete = something and state == "done" and not missing and "error" not in closing["verdicts"]
    return 0 if complete and not closing["self_check"]["failed"] else 1
