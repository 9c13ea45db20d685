"""Follow a run that an engine executes: as lines of JSON, or as a live picture on a terminal."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base import glyphs
from workbench.base.text import clean, fixed, one_line
from workbench.commands.output import print_json, tell
from workbench.commands.terminal import Terminal
from workbench.orders import launching, running
from workbench.orders.order import WorkOrder
from workbench.pages import wording
from workbench.pages.page import Note, Part, table_of
from workbench.plans.arguments import PlanDamaged
from workbench.plans.plan import DocumentPlan
from workbench.results.reasons import Reason, counted
from workbench.results.scores import card_of
from workbench.results.spread import Total
from workbench.session import SessionError, SessionReader
from workbench.session.json_forms import picked
from workbench.session.judges import recorded_as
from workbench.session.moved_files import Fate
from workbench.session.pending_work import judges_of, trial_state
from workbench.session.rows import RunRow, StepRow, TrialRow

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
        "told_apart": reader.told_apart(trial) or None,
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


def _score(case: dict[str, Any]) -> str:
    return wording.own_first(Total(case["score"], case["out_of"] or 0, given=case["given_by_format"] or 0))


def reason_lines(reasons: list[dict[str, Any]]) -> list[str]:
    return [one_line(str(Reason(reason["sentence"], reason["count"])), 600) for reason in reasons]


def summary(session: Path, trials: Iterable[Scored | str]) -> dict[str, Any]:
    """Return the closing line for some trials of a session, one entry for each judge that was asked for."""
    meant = [Scored(one) if isinstance(one, str) else one for one in trials]
    with SessionReader(session) as reader:
        found = [(row, one) for one in meant if (row := reader.trial(one.trial)) is not None]
        lines = [case_line(reader, row, one) for row, one in found]
    rows = {row.id: row for row, _ in found}.values()
    reasons = counted((row.error, 1) for row in rows if row.state == "failed" and row.error)
    told = [reason.to_json() for reason in reasons]
    return {"type": "summary", "session": str(session), "cases": lines, "reasons": told}


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
    when the session has changed and gives events to ``show``; ``end`` says how the part of the run that is followed has
    ended, "" while it has not.
    """
    process = process or launching.engine_of(run)
    with _leaving(session):
        try:
            return _follow(session, run, process, show, look or TrialWatch(), end or (lambda _: ""))
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


def _follow(session: Path, run: str, process: subprocess.Popen[bytes] | None, show: Show, look: Look, end: End) -> str:
    pause = threading.Event()
    with SessionReader(session) as reader:
        version = asked = -1
        due = 0.0
        while True:
            row = reader.run(run)
            if row is None:
                return "failed"
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
    """Shows events on a terminal: a line per step, a table at the end; errors go to standard error."""

    def __init__(self) -> None:
        self.console = Terminal()

    def __call__(self, event: dict[str, Any]) -> None:
        if event["type"] == "step":
            mark = {"invalid": "!", "error": glyphs.VERDICTS["failed"]}.get(event["kind"], " ")
            note = f"  {event['problem']}" if event["problem"] else ""
            line = f"  {event['case']:<20} {event['number']:>3} {mark} {event['action']:<15} {event['target']}{note}"
            self.console.print(one_line_keep(line, self.console.width, self.console.readable("…")))
        elif event["type"] == "trial" and event["status"] in _TOLD:
            # The word stands in the line as well, so nothing takes the sign's place where it cannot be shown.
            lead = "" if self.console.plain else f"{glyphs.STATES[event['status']]} "
            score = "" if event["score"] is None else f"  {_score(event)} ({event['judge']})"
            why = one_line(event["error"] or event["problem"] or "", 200)
            why = f"  {why}" if why else ""
            what = f"{event['case']} · {event['agent']} · {event['model']} · {event['repeat']}"
            self.console.print(f"{lead}{what}  {event['status']}{score}{why}", style="bold")
        elif event["type"] == "error":
            tell(f"workbench: {event['sentence']}")

    def table(self, closing: dict[str, Any]) -> None:
        self.console.parts(closing_parts(closing))


def closing_parts(closing: dict[str, Any]) -> Iterator[Part]:
    """Yield what came of some trials; ``closing`` is their summary."""
    cases: list[dict[str, Any]] = closing["cases"]

    def points(tier: str) -> Callable[[dict[str, Any]], str]:
        return lambda one: wording.points(one["tiers"][tier])

    tiers = {tier: points(tier) for tier in "1234"}
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        # The path of a folder would leave no room for the scores.
        "case": lambda one: " ".join(
            filter(None, (one["case_name" if "/" in one["case"] else "case"], one["told_apart"]))
        ),
        "agent": lambda one: one["agent"],
        "score": _score,
        **tiers,
        "steps": lambda one: str(one["steps"]),
        "tokens": lambda one: fixed(one["tokens"]),
        "cost $": lambda one: fixed(one["cost"], 4),
        "s": lambda one: fixed(one["seconds"], 1),
        "status": lambda one: one["status"],
    }
    yield table_of(cases, columns, columns.keys() - {"case", "agent", "status"})
    told: dict[str, dict[str, None]] = {}
    for case in cases:
        if case["problem"]:
            told.setdefault(case["problem"], {})[case["case"]] = None
    yield from (Note(f"{glyphs.UNSCORED} {', '.join(which)}: {problem}", "advice") for problem, which in told.items())
    if told:
        yield Note(f"Ask the judge again with: workbench resume {closing['session']}", "said")
    yield from (Note(line, "bad") for line in reason_lines(closing["reasons"]))
    models = sorted({str(case["model"]) for case in cases})
    judges = sorted({str(case["judge"]) for case in cases if case["judge"]})
    if models:
        yield Note(f"model: {', '.join(models)}" + (f" · judge: {', '.join(judges)}" if judges else ""))
    yield Note(f"session: {closing['session']}")


def one_line_keep(text: str, width: int, end: str = "…") -> str:
    """Return ``text`` without control sequences and line breaks, its spaces kept, cut to ``width`` with ``end``."""
    flat = clean(text).replace("\n", " ").replace("\t", " ")
    return flat if len(flat) <= width else flat[: max(0, width - len(end))] + end


def planned_trials(order: WorkOrder) -> list[Scored]:
    with SessionReader(order.session) as reader:
        return [one for run in order.runs for one in asked_for(reader, run)]


def watch(order: WorkOrder, as_json: bool, trials: Callable[[], Sequence[Scored | str]]) -> int:
    return watch_runs(order.session, order.runs, order.process, as_json, trials)


def watch_runs(
    session: Path,
    runs: list[str],
    process: subprocess.Popen[bytes] | None,
    as_json: bool,
    trials: Callable[[], Sequence[Scored | str]],
) -> int:
    """Follow runs one after the other, then print the summary of ``trials()``; returns the exit code."""
    terminal = None if as_json else TerminalShow()
    show: Show = print_json if terminal is None else terminal
    states = []
    for key in runs:
        if as_json:
            print_json({"type": "run", "run": key, "session": str(session)})
        try:
            states.append(follow(session, key, process, show))
        except KeyboardInterrupt:
            stop(session, key)
            closing = summary(session, trials())
            done = sum(case["status"] == "done" for case in closing["cases"])
            if as_json:
                print_json(closing)
            sentence = f"Interrupted: {done} of {len(closing['cases'])} trials are done and kept."
            tell(f"{sentence} Go on with: workbench resume {session}")
            return 130
    closing = summary(session, trials())
    if terminal is None:
        print_json(closing)
    else:
        terminal.table(closing)
    good = all(state == "done" for state in states) and all(case["status"] == "done" for case in closing["cases"])
    return 0 if good else 1
