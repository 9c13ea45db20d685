"""Follow a run that an engine executes: what changes in it as events, shown as lines of JSON or live on a terminal."""

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
from workbench.orders.orders import belongs
from workbench.pages import wording
from workbench.plans.arguments import PlanDamaged
from workbench.plans.plan import Ask, DocumentPlan
from workbench.results.samples import ErrorReason, kind_of
from workbench.results.scores import card_of
from workbench.results.spread import Total
from workbench.session import SessionError, SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked
from workbench.session.judges import recorded_as
from workbench.session.moved_files import Fate
from workbench.session.pending_work import judges_of, trial_state
from workbench.session.rows import CandidateRow, RunRow, StageRow, StepRow, TaskRow, TrialRow
from workbench.session.task_names import row_id

_NEVER = -1.0
_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 15.0
#: An engine ends itself after 30 seconds in which its work did not end.
_GIVE_UP_SECONDS = 45.0
_TOLD = {"running", "done", "unscored", "failed", "cancelled"}
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
class Scored:
    """A trial with whose scores of it are meant: by which judge ("" for that of its own run) and rubric, and since when."""

    trial: str
    judge: str = ""
    rubric: str = "aeo-bench"
    since: float = 0.0


def asked_for(reader: SessionReader, run: str) -> list[Scored]:
    """Return what a document run asked for: its trials, also those of other runs, each with each of its judges."""
    row = reader.run(run)
    if row is None or row.kind != "document":
        return []
    try:
        plan = DocumentPlan.from_json(row.config)
    except PlanDamaged:
        return [Scored(trial.id) for trial in reader.trials(run)]
    rubric = "aeo-bench" if "aeo-bench" in plan.rubrics or not plan.rubrics else plan.rubrics[0]
    since = row.created_at if plan.rescore == "anew" else 0.0
    return [Scored(trial, recorded_as(judge), rubric, since) for judge in plan.asked_judges for trial in plan.trials]


def case_line(reader: SessionReader, trial: TrialRow, meant: Scored) -> dict[str, Any]:
    """Return a trial as it stands in the summary; an unscored tier is None, and ``problem`` says why where a judge failed."""
    judges = (meant.judge,) if meant.judge else judges_of(reader.run(trial.run_id))
    scores = [
        score for score in reader.scores(trial.id) if score.at >= meant.since and (not judges or score.judge in judges)
    ]
    # A trial that was imported was judged by whom no plan names.
    scores = scores or ([] if meant.judge else reader.scores(trial.id))
    problem = next((score.problem for score in scores if score.problem), "") if trial.state == "done" else ""
    card = next((score for score in scores if score.rubric == meant.rubric), scores[0] if scores else None)
    if card is None and meant.judge and trial.state == "done":
        problem = f"The judge {meant.judge} did not score it."
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
    """Shows the trials of a run: each new step, and each change of state."""

    def __init__(self) -> None:
        self._shown: dict[str, int] = {}
        self._states: dict[str, str] = {}
        self._scored: dict[Scored, float] = {}

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
                show({"type": "trial", **case_line(reader, trial, Scored(trial.id))})
        for one in asked_for(reader, run):
            self._score(reader, run, one, show)

    def _score(self, reader: SessionReader, run: str, one: Scored, show: Show) -> None:
        cards = [score for score in reader.scores(one.trial) if (score.rubric, score.judge) == (one.rubric, one.judge)]
        if not cards or cards[0].at < one.since or self._scored.get(one) == cards[0].at:
            return
        self._scored[one] = cards[0].at
        trial = reader.trial(one.trial)
        if trial is not None and trial.run_id != run and trial.state == "done":
            show({"type": "trial", **case_line(reader, trial, one)})


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
        if row.retesting:
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
    """Show what a run does until it ends and return its state, or what ``end`` said.

    ``process`` is the engine where the caller started it: its end without a word is noticed at once. ``look`` is called
    when the session has changed and gives events to ``show``, by default those of the run's kind; ``end`` says how the part of the run that is followed has
    ended, "" while it has not.
    """
    process = process or launching.engine_of(run)
    with _leaving(session):
        try:
            return _follow(session, run, process, show, look, end or (lambda _: ""))
        except SessionError:
            # The engine meets what is wrong with the file as well, and says what it has saved.
            with contextlib.suppress(subprocess.TimeoutExpired):
                if (
                    process is not None
                    and process.wait(_PATIENCE_SECONDS) is not None
                    and (words := launching.last_words(run))
                ):
                    show({"type": "error", "sentence": f"The engine ended in the middle: {words}"})
                    raise SystemExit(1) from None
            raise


class _Ended(BaseException):
    """Somebody ended this command by a signal."""


@contextlib.contextmanager
def _leaving(session: Path) -> Iterator[None]:
    """Say what becomes of the run when this command is ended by SIGTERM or its terminal closes: the engine goes on."""

    def end(number: int, _frame: object) -> None:
        raise _Ended(number)

    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)} if main else {}
    try:
        yield
    except _Ended as ended:
        with contextlib.suppress(OSError):
            tell(
                f"This command was ended, the run goes on. Watch it: workbench open {session}; "
                f"stop it: workbench cancel {session}"
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
        version = asked = -1
        due = 0.0
        while True:
            row = reader.run(run)
            if row is None:
                return "failed"
            look = look or (TrialWatch() if row.kind == "document" else RegenerationWatch(reader.last_change()))
            # Who started the engine need not be told by others that it is on its way.
            coming = row.state == "queued" and process is not None
            state = _waiting(reader, row, process) if coming else reader.run_state(row)
            current = reader.data_version()
            over = state not in {"running", "queued"}
            if current != version or over:
                version = current
                look(reader, run, show)
            # Whether an order has ended is read from all its rows: in a large run that takes a twentieth of a core at most.
            if over or (current != asked and time.monotonic() >= due):
                asked, began = current, time.monotonic()
                if ended := end(reader):
                    look(reader, run, show)
                    return ended
                due = time.monotonic() + min(5.0, 20 * (time.monotonic() - began))
            # An engine of one's own that waits for its turn takes up what another one left.
            may_go_on = row.kind == "regenerate" and state != "cancelled"
            if over and (process is None or process.poll() is not None or not may_go_on):
                _say_end(reader.run(run) or row, state, reader, show)
                return state
            pause.wait(_LOOK_SECONDS)


def _waiting(reader: SessionReader, row: RunRow, process: subprocess.Popen[bytes] | None) -> str:
    """Return ``queued`` while the engine that was started for a waiting run lives, or another one holds the run."""
    if process is None or process.poll() is None or reader.holder(row.id) is not None:
        return "queued"
    now = reader.run(row.id)
    return "interrupted" if now is None or now.state == "queued" else reader.run_state(now)


def _say_end(row: RunRow, state: str, reader: SessionReader, show: Show) -> None:
    """Say why a run did not come to its end, where it did not, and how it goes on, once."""
    if state == "interrupted" and row.state == "queued":
        ended = launching.engine_of(row.id) is not None
        sentence = f"The engine ended before it took up the run: {launching.end_of(row.id)}" if ended else ""
        sentence = sentence or "No engine took up the run"
    elif row.error:
        show({"type": "error", "sentence": row.error})
        return
    elif state == "interrupted":
        sentence = f"The engine ended in the middle: {launching.end_of(row.id)}"
    elif state == "cancelled":
        sentence = "The run was cancelled."
    else:
        return
    resume, fate = f"workbench resume {reader.path}", reader.fate()
    if fate is Fate.IN_PLACE and resume not in sentence:
        sentence = f"{one_sentence(sentence)} Go on with: {resume}"
    show({"type": "error", "sentence": sentence})
    if fate in (Fate.MOVED, Fate.REMOVED, Fate.OVERWRITTEN):
        # The engine has said where everything is; at the session's path is nothing, or something else.
        raise SystemExit(1)


def one_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


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
    """Shows events on a terminal: a line per step and trial, live bars for stages; errors go to standard error."""

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
            case "trial" if event["status"] in _TOLD:
                # The word stands in the line as well, so nothing takes the sign's place where it cannot be shown.
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
                said = one_line(str(ErrorReason(event["sentence"], event["count"])), 600)
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
            self._bars.__enter__()
            self._bars.update(name, state, done=done, total=total, note=note)
        elif state in ("done", "failed"):
            count = f" {done} of {total}" if total else ""
            say(f"{name:<13} {state}{count}  {note.partition(chr(10))[0]}".rstrip(), flush=True)


@contextlib.contextmanager
def showing(as_json: bool) -> Iterator[Show]:
    """Give what shows events: as lines of JSON, or live on a terminal."""
    if as_json:
        yield print_json
    else:
        with TerminalShow() as terminal:
            yield terminal


def one_line_keep(text: str, width: int, end: str = "…") -> str:
    """Return ``text`` without control sequences and line breaks, its spaces kept, cut to ``width`` with ``end``."""
    flat = clean(text).replace("\n", " ").replace("\t", " ")
    return flat if len(flat) <= width else flat[: max(0, width - len(end))] + end
