"""Follow a run that an engine executes: report its changes as events, as JSON lines or live on a terminal."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base import glyphs
from workbench.base.text import clean, one_line
from workbench.commands.output import print_json, say, tell
from workbench.commands.terminal import StageBars, Terminal
from workbench.orders import launching, running
from workbench.orders.ordered_asks import belongs
from workbench.pages import wording
from workbench.plans.arguments import PlanDamaged
from workbench.plans.plan import Ask, DocumentPlan
from workbench.plans.task_names import row_id
from workbench.results.samples import ErrorReason, kind_of
from workbench.results.scores import card_of
from workbench.results.spread import Total
from workbench.session import SessionError, SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked
from workbench.session.judges import recorded_as
from workbench.session.moved_files import Fate
from workbench.session.pending_work import judges_of, trial_state
from workbench.session.rows import CandidateRow, RunRow, StepRow, TaskRow, TrialRow

_NEVER = -1.0
_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 15.0
#: Longer than the 30 seconds within which an engine exits after it is cancelled.
_GIVE_UP_SECONDS = 45.0
_REPORTED = {"running", "done", "unscored", "failed", "cancelled"}
Show = Callable[[dict[str, Any]], None]
Look = Callable[[SessionReader, str, Show], None]
End = Callable[[SessionReader], str]


def step_line(trial: TrialRow, step: StepRow) -> dict[str, Any]:
    return {
        "type": "step",
        **picked(trial, "id:trial", "case_id:case"),
        **picked(step, "number", "kind", "action", "target", "tokens", "cost_usd:cost", "seconds", "problem"),
        "tokens": (step.prompt_tokens or 0) + (step.completion_tokens or 0),
    }


@dataclass(frozen=True, slots=True)
class ScoreSelection:
    """Selects the scores of a trial by judge ("" for the run's judge), rubric and age (not older than ``since``)."""

    trial: str
    judge: str = ""
    rubric: str = "aeo-bench"
    since: float = 0.0


def requested_scores(reader: SessionReader, run: str) -> list[ScoreSelection]:
    """Return the requested scores of a document run.

    These are the scores of all its trials, including those from other runs, by each of its judges.
    """
    row = reader.run(run)
    if row is None or row.kind != "document":
        return []
    try:
        plan = DocumentPlan.from_json(row.config)
    except PlanDamaged:
        return [ScoreSelection(trial.id) for trial in reader.trials(run)]
    rubric = "aeo-bench" if "aeo-bench" in plan.rubrics or not plan.rubrics else plan.rubrics[0]
    since = row.created_at if plan.rescore == "anew" else 0.0
    return [
        ScoreSelection(trial, recorded_as(judge), rubric, since) for judge in plan.asked_judges for trial in plan.trials
    ]


def case_line(reader: SessionReader, trial: TrialRow, scored: ScoreSelection) -> dict[str, Any]:
    """Return the summary line of a trial; an unscored tier is None, and ``problem`` says why a judge failed."""
    judges = (scored.judge,) if scored.judge else judges_of(reader.run(trial.run_id))
    scores = [one for one in reader.scores(trial.id) if one.at >= scored.since and (not judges or one.judge in judges)]
    # No plan mentions the judge of an imported trial, so show all of its scores.
    scores = scores or ([] if scored.judge else reader.scores(trial.id))
    problem = next((score.problem for score in scores if score.problem), "") if trial.state == "done" else ""
    card = next((score for score in scores if score.rubric == scored.rubric), scores[0] if scores else None)
    if card is None and scored.judge and trial.state == "done":
        problem = f"The judge {scored.judge} has not scored it."
    scorecard = card_of(reader, card) if card is not None else None
    tiers = card.tiers if card is not None else (None,) * 4
    return {
        **picked(trial, "case_id:case", "case_name"),
        "content": trial.content or None,
        "content_suffix": reader.content_suffix(trial) or None,
        **picked(trial, "agent", "model", "repeat", "id:trial"),
        **picked(card, "total:score", "out_of"),
        **picked(scorecard, "given:given_by_format"),
        **picked(card, "rubric", "judge"),
        "tiers": {str(number): points for number, points in enumerate(tiers, 1)},
        "steps": trial.steps,
        "tokens": trial.prompt_tokens + trial.completion_tokens,
        **picked(trial, "cost_usd:cost", "seconds"),
        "status": "unscored" if problem else trial.state,
        "error": trial.error,
        "problem": problem or None,
    }


def score_words(case: dict[str, Any]) -> str:
    return wording.own_first(Total(case["score"], case["out_of"] or 0, given=case["given_by_format"] or 0))


class TrialWatch:
    """Reports new steps and state changes of a run's trials."""

    def __init__(self) -> None:
        self._shown: dict[str, int] = {}
        self._states: dict[str, str] = {}
        self._scored: dict[ScoreSelection, float] = {}

    def __call__(self, reader: SessionReader, run: str, show: Show) -> None:
        for trial in reader.trials(run):
            for step in reader.steps(trial.id, self._shown.get(trial.id, 0)):
                self._shown[trial.id] = step.number
                show(step_line(trial, step))
            if trial.state == self._states.get(trial.id) == "done":
                continue
            state = trial_state(reader, trial)
            if self._states.get(trial.id) != state:
                self._states[trial.id] = state
                show({"type": "trial", **case_line(reader, trial, ScoreSelection(trial.id))})
        for one in requested_scores(reader, run):
            self._score(reader, run, one, show)

    def _score(self, reader: SessionReader, run: str, one: ScoreSelection, show: Show) -> None:
        cards = [score for score in reader.scores(one.trial) if (score.rubric, score.judge) == (one.rubric, one.judge)]
        if not cards or cards[0].at < one.since or self._scored.get(one) == cards[0].at:
            return
        self._scored[one] = cards[0].at
        trial = reader.trial(one.trial)
        if trial is not None and trial.run_id != run and trial.state == "done":
            show({"type": "trial", **case_line(reader, trial, one)})


def position(session: Path) -> int:
    """Return the number of a session's last change (0 without a session).

    A watch that starts there reports later changes.
    """
    if not session.exists():
        return 0
    with SessionReader(session) as reader:
        return reader.last_change()


class RegenerationWatch:
    """Reports the changes of a regeneration run after change number ``since``: stages, tasks and verdicts.

    With an ``ask``, only verdicts on its candidates and on controls are reported.
    """

    def __init__(self, since: int = 0, ask: Ask | None = None) -> None:
        self._since = since
        self._ask = ask
        # The stages of an earlier execution stay in the session until the engine reaches them; they have already been
        # reported.
        self._began = time.time() if since else 0.0
        self._stages: dict[str, tuple[object, ...]] = {}
        self._names: dict[str, str] = {}
        self._former: dict[str, float | None] = {}
        self._tasks: dict[str, tuple[object, ...]] = {}
        self._kinds: set[str] = set()

    def __call__(self, reader: SessionReader, run: str, show: Show) -> None:
        for stage in reader.stages(run):
            state = (stage.state, stage.done, stage.total, stage.note)
            if stage.at < self._began:
                continue
            if self._stages.get(stage.name, ("waiting",)) != state and stage.state != "waiting":
                self._stages[stage.name] = state
                show({"type": "stage", **picked(stage, "name", "state", "done", "total", "note")})
        while changes := reader.changes(self._since):
            self._since = changes[-1].seq
            for item in dict.fromkeys(change.item for change in changes if change.kind == "task"):
                self._task(reader.task(item), run, show)
            for item in dict.fromkeys(change.item for change in changes if change.kind == "candidate"):
                row = reader.candidate(item)
                if row is None or row.run_id != run or row.verdict is None:
                    continue
                if self._ask is None or row.evaluator in CONTROLS or belongs(row, row.task_id, self._ask):
                    self._verdict(row, self._name(reader, row.task_id), show)

    def _verdict(self, row: CandidateRow, task: str, show: Show) -> None:
        # An earlier verdict that counts again because its rerun was cancelled is not new.
        if row.retesting:
            self._former[row.id] = row.at
        elif row.state == "done" and self._former.pop(row.id, _NEVER) != row.at:
            show(candidate_line(row, task))
            self._reason(row, show)

    def _reason(self, row: CandidateRow, show: Show) -> None:
        # Report each kind of reason once; the summary counts them.
        if row.verdict == "error" and not row.control and row.verdict_reason:
            kind = kind_of(row.verdict_reason)
            if kind not in self._kinds:
                self._kinds.add(kind)
                show({"type": "reason", "count": 1, "sentence": row.verdict_reason})

    def _task(self, task: TaskRow | None, run: str, show: Show) -> None:
        if task is None or task.run_id != run:
            return
        state = (task.state, task.reason)
        if self._tasks.get(task.id) != state:
            self._tasks[task.id] = state
            names = picked(task, "path", "qualified_name:function", "state", "reason")
            show({"type": "task", "id": task.id, "task_id": row_id(task), **names})

    def _name(self, reader: SessionReader, task: str) -> str:
        if task not in self._names:
            row = reader.task(task)
            self._names[task] = row_id(row) if row else task
        return self._names[task]


def candidate_line(row: CandidateRow, task: str) -> dict[str, Any]:
    return {
        "type": "candidate",
        **picked(row, "id", "task_id:task"),
        "task_id": task,
        "evaluator": row.evaluator,
        "control": bool(row.control),
        **picked(row, "sample", "verdict", "verdict_reason:reason", "doubtful", "route"),
        **picked(row, "tested_s:seconds", "asked_s"),
        "tokens": (row.prompt_tokens or 0) + (row.completion_tokens or 0),
        "cost": row.cost_usd,
    }


def follow(
    session: Path,
    run: str,
    process: subprocess.Popen[bytes] | None,
    show: Show,
    look: Look | None = None,
    end: End | None = None,
) -> str:
    """Report the changes of a run until it ends; return its state, or the result of ``end``.

    ``process`` is the engine if the caller started it, so that its death is noticed at once. ``look`` is called after
    each change of the session and passes events to ``show``; the default depends on the kind of run. ``end`` returns
    how the followed part of the run ended, or "" while it has not ended.
    """
    process = process or launching.engine_of(run)
    with _leaving(session):
        try:
            return _follow(session, run, process, show, look, end or (lambda _: ""))
        except SessionError:
            # The engine encounters the same problem with the file and reports what it saved, so wait for it.
            with contextlib.suppress(subprocess.TimeoutExpired):
                if (
                    process is not None
                    and process.wait(_PATIENCE_SECONDS) is not None
                    and (words := launching.last_words(run))
                ):
                    show({"type": "error", "sentence": f"The engine ended prematurely: {words}"})
                    raise SystemExit(1) from None
            raise


class _Terminated(BaseException):
    """The command was terminated by a signal."""


@contextlib.contextmanager
def _leaving(session: Path) -> Iterator[None]:
    """If the command is terminated or its terminal is closed, report that the run continues."""

    def end(number: int, _frame: object) -> None:
        raise _Terminated(number)

    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)} if main else {}
    try:
        yield
    except _Terminated as ended:
        with contextlib.suppress(OSError):
            tell(
                f"The command was terminated, but the run continues. To watch: workbench open {session}. "
                f"To stop: workbench cancel {session}"
            )
        raise SystemExit(128 + ended.args[0]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _follow(
    session: Path, run: str, process: subprocess.Popen[bytes] | None, show: Show, look: Look | None, end: End
) -> str:
    pause = threading.Event()
    with SessionReader(session) as reader:
        version = checked = -1
        due = 0.0
        while True:
            row = reader.run(run)
            if row is None:
                return "failed"
            look = look or (TrialWatch() if row.kind == "document" else RegenerationWatch(reader.last_change()))
            # While the caller's own engine is starting, the session does not list it.
            coming = row.state == "queued" and process is not None
            state = _waiting(reader, row, process) if coming else reader.run_state(row)
            current = reader.data_version()
            over = state not in {"running", "queued"}
            if current != version or over:
                version = current
                look(reader, run, show)
            # ``end`` reads all rows of an order, so in a large run it is limited to a twentieth of one core.
            if over or (current != checked and time.monotonic() >= due):
                checked, began = current, time.monotonic()
                if ended := end(reader):
                    look(reader, run, show)
                    return ended
                due = time.monotonic() + min(5.0, 20 * (time.monotonic() - began))
            # The caller's own engine, which waits in the queue, may take over work that another engine left.
            may_go_on = row.has_candidates and state != "cancelled"
            if over and (process is None or process.poll() is not None or not may_go_on):
                _say_end(reader.run(run) or row, state, reader, show)
                return state
            pause.wait(_LOOK_SECONDS)


def _waiting(reader: SessionReader, row: RunRow, process: subprocess.Popen[bytes] | None) -> str:
    """Return ``queued`` while the engine of a waiting run is alive or another engine holds the run.

    Otherwise, return the state of the run.
    """
    if process is None or process.poll() is None or reader.holder(row.id) is not None:
        return "queued"
    now = reader.run(row.id)
    return "interrupted" if now is None or now.state == "queued" else reader.run_state(now)


def _say_end(row: RunRow, state: str, reader: SessionReader, show: Show) -> None:
    if state == "interrupted" and row.state == "queued":
        ended = launching.engine_of(row.id) is not None
        sentence = f"The engine ended before it started the run: {launching.end_of(row.id)}" if ended else ""
        sentence = sentence or "No engine started the run"
    elif row.error:
        show({"type": "error", "sentence": row.error})
        return
    elif state == "interrupted":
        sentence = f"The engine ended prematurely: {launching.end_of(row.id)}"
    elif state == "cancelled":
        sentence = "The run was cancelled."
    else:
        return
    resume, fate = f"workbench resume {reader.path}", reader.fate()
    if fate is Fate.IN_PLACE and resume not in sentence:
        sentence += "" if sentence.endswith((".", "!", "?")) else "."
        sentence = f"{sentence} To continue: {resume}"
    show({"type": "error", "sentence": sentence})
    if fate in (Fate.MOVED, Fate.REMOVED, Fate.OVERWRITTEN):
        # The engine has reported where the data is, because it is no longer at the session's path.
        raise SystemExit(1)


def stop(session: Path, run: str) -> None:
    pause = threading.Event()
    running.cancel(session, run)
    with SessionReader(session) as reader:
        for _ in range(int(_GIVE_UP_SECONDS / _LOOK_SECONDS)):
            row = reader.run(run)
            if row is None or reader.holder(run) is None:
                return
            pause.wait(_LOOK_SECONDS)


class TerminalShow:
    """Prints events on a terminal: a line for each step and trial, live bars for stages, errors on standard error."""

    def __init__(self) -> None:
        self.console = Terminal()
        self._live = self.console.is_terminal
        self._bars = StageBars(self.console)
        self._verdicts: Counter[str] = Counter()

    def __enter__(self) -> TerminalShow:
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.__exit__()

    def __call__(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "step":
                mark = {"invalid": "!", "error": glyphs.VERDICTS["failed"]}.get(event["kind"], " ")
                note = f"  {event['problem']}" if event["problem"] else ""
                line = (
                    f"  {event['case']:<20} {event['number']:>3} {mark} {event['action']:<15} {event['target']}{note}"
                )
                self.console.print(one_line_keep(line, self.console.width, self.console.readable("…")))
            case "trial" if event["status"] in _REPORTED:
                # The line also contains the word, so a sign that cannot be shown needs no replacement.
                lead = "" if self.console.plain else f"{glyphs.STATES[event['status']]} "
                score = "" if event["score"] is None else f"  {score_words(event)} ({event['judge']})"
                why = one_line(event["error"] or event["problem"] or "", 200)
                why = f"  {why}" if why else ""
                what = f"{event['case']} · {event['agent']} · {event['model']} · {event['repeat']}"
                self.console.print(f"{lead}{what}  {event['status']}{score}{why}", style="bold")
            case "error":
                self.__exit__()
                tell(f"workbench: {event['sentence']}")
            case "stage":
                self._stage(event["name"], event["state"], event["done"], event["total"], event["note"] or "")
            case "reason":
                line = one_line(str(ErrorReason(event["sentence"], event["count"])), 600)
                if self._live:
                    # Print this above the bars; output on standard error would break them.
                    self.console.print(line, style="red")
                else:
                    tell(line)
            case "candidate" if not event["control"]:
                self._verdicts[event["verdict"]] += 1
                words = (f"{glyphs.VERDICTS.get(name, name)} {count}" for name, count in sorted(self._verdicts.items()))
                self._bars.note("candidates", " ".join(words))

    def _stage(self, name: str, state: str, done: int | None, total: int | None, note: str) -> None:
        if self._live:
            self._bars.__enter__()
            self._bars.update(name, state, done=done, total=total, note=note)
        elif state in ("done", "failed"):
            count = f" {done} of {total}" if total else ""
            say(f"{name:<13} {state}{count}  {note.partition(chr(10))[0]}".rstrip(), flush=True)


@contextlib.contextmanager
def showing(as_json: bool) -> Iterator[Show]:
    """Yield a function that prints events, either as JSON lines or live on a terminal."""
    if as_json:
        yield print_json
    else:
        with TerminalShow() as terminal:
            yield terminal


def one_line_keep(text: str, width: int, end: str = "…") -> str:
    """Return ``text`` on one line of at most ``width`` characters.

    Spaces are preserved, and control sequences are removed.
    """
    flat = clean(text).replace("\n", " ").replace("\t", " ")
    return flat if len(flat) <= width else flat[: max(0, width - len(end))] + end
