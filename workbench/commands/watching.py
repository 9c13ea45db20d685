"""Follow a run that an engine executes: as lines of JSON, or as a live picture on a terminal."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workbench.engine import client
from workbench.session import SessionReader
from workbench.session.rows import ScoreRow, StepRow, TrialRow

_LOOK_SECONDS = 0.1
_GIVE_UP_SECONDS = 15.0
Show = Callable[[dict[str, Any]], None]
Look = Callable[[SessionReader, str, Show], None]


def step_line(trial: TrialRow, step: StepRow) -> dict[str, Any]:
    """Return a step as a script sees it."""
    return {
        "type": "step",
        "trial": trial.id,
        "case": trial.case_id,
        "number": step.number,
        "kind": step.kind,
        "action": step.action,
        "target": step.target,
        "tokens": (step.prompt_tokens or 0) + (step.completion_tokens or 0),
        "cost": step.cost_usd,
        "seconds": step.seconds,
        "problem": step.problem,
    }


def case_line(trial: TrialRow, scores: list[ScoreRow], rubric: str) -> dict[str, Any]:
    """Return a trial as it stands in the summary; an unscored tier is None."""
    card = next((score for score in scores if score.rubric == rubric), scores[0] if scores else None)
    tiers = [card.tier1, card.tier2, card.tier3, card.tier4] if card else [None] * 4
    return {
        "case": trial.case_id,
        "agent": trial.agent,
        "model": trial.model,
        "repeat": trial.repeat,
        "trial": trial.id,
        "score": card.total if card else None,
        "out_of": card.out_of if card else None,
        "rubric": card.rubric if card else None,
        "judge": card.judge if card else None,
        "tiers": {str(number): points for number, points in enumerate(tiers, 1)},
        "steps": trial.steps,
        "tokens": trial.prompt_tokens + trial.completion_tokens,
        "cost": trial.cost_usd,
        "seconds": trial.seconds,
        "status": trial.state,
        "error": trial.error,
    }


def summary(session: Path, trials: list[str], rubric: str = "aeo-bench") -> dict[str, Any]:
    """Return the closing line for some trials of a session."""
    with SessionReader(session) as reader:
        rows = [row for row in map(reader.trial, trials) if row is not None]
        lines = [case_line(row, reader.scores(row.id), rubric) for row in rows]
    return {"type": "summary", "session": str(session), "cases": lines}


class TrialLook:
    """Shows the trials of a run: each new step, and each change of state."""

    def __init__(self) -> None:
        self._shown: dict[str, int] = {}
        self._states: dict[str, str] = {}

    def __call__(self, reader: SessionReader, run: str, show: Show) -> None:
        """Show what is new."""
        for trial in reader.trials(run):
            for step in reader.steps(trial.id, self._shown.get(trial.id, 0)):
                self._shown[trial.id] = step.number
                show(step_line(trial, step))
            if self._states.get(trial.id) != trial.state:
                self._states[trial.id] = trial.state
                show({"type": "trial", **case_line(trial, reader.scores(trial.id), "aeo-bench")})


def follow(
    session: Path, run: str, process: subprocess.Popen[bytes] | None, show: Show, look: Look | None = None
) -> str:
    """Show what a run does until it ends and return its state.

    Args:
        session: The session file.
        run: Id of the run.
        process: The engine, where the caller started it: its end without a word is noticed at once.
        show: Gets a dictionary per event: what ``look`` gives, or ``error``.
        look: Called when the session has changed; by default it gives ``step`` and ``trial``.

    Returns:
        ``done``, ``failed``, ``cancelled`` or ``interrupted``.
    """
    with _leaving(session):
        return _follow(session, run, process, show, look or TrialLook())


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
            print(
                f"This command was ended, the run goes on. Watch it: workbench open {session}; "
                f"stop it: workbench cancel {session}",
                file=sys.stderr,
            )
        raise SystemExit(128 + ended.args[0]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _follow(session: Path, run: str, process: subprocess.Popen[bytes] | None, show: Show, look: Look) -> str:
    pause = threading.Event()
    waited = 0.0
    with SessionReader(session) as reader:
        version = -1
        while True:
            row = reader.run(run)
            if row is None:
                return "failed"
            state = reader.run_state(row)
            current = reader.data_version()
            if current != version or state != "running":
                version = current
                look(reader, run, show)
            if state == "queued":
                waited += _LOOK_SECONDS
                # An engine that lost the race for the lease leaves with 1 while the other one works.
                if process is not None and process.poll() is not None:
                    show(
                        {
                            "type": "error",
                            "sentence": f"The engine did not start: {client.last_words(run) or 'no word'}",
                        }
                    )
                    return "failed"
                if process is None and waited > 4 * _GIVE_UP_SECONDS:
                    show({"type": "error", "sentence": "No engine took up the run; try: workbench resume"})
                    return "failed"
            elif state != "running":
                if row.error:
                    show({"type": "error", "sentence": row.error})
                elif state == "interrupted":
                    words = client.last_words(run)
                    sentence = f"The engine ended in the middle{': ' + words if words else '.'}"
                    show({"type": "error", "sentence": f"{sentence} Go on with: workbench resume {session}"})
                return state
            pause.wait(_LOOK_SECONDS)


def stop(session: Path, run: str) -> None:
    """Cancel a run and wait until its engine has let go."""
    pause = threading.Event()
    client.cancel(session, run)
    with SessionReader(session) as reader:
        for _ in range(int(_GIVE_UP_SECONDS / _LOOK_SECONDS)):
            row = reader.run(run)
            if row is None or reader.holder(run) is None:
                return
            pause.wait(_LOOK_SECONDS)


def print_json(line: dict[str, Any]) -> None:
    """Print one JSON line at once."""
    print(json.dumps(line, ensure_ascii=False), flush=True)


class TerminalShow:
    """Shows events on a terminal: a line per step, a table at the end; errors go to standard error."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(highlight=False)

    def __call__(self, event: dict[str, Any]) -> None:
        """Show one event."""
        from rich.text import Text

        from workbench.text import one_line

        if event["type"] == "step":
            mark = {"invalid": "!", "error": "✗"}.get(event["kind"], " ")
            note = f"  {event['problem']}" if event["problem"] else ""
            line = f"  {event['case']:<20} {event['number']:>3} {mark} {event['action']:<15} {event['target']}{note}"
            self.console.print(Text(one_line_keep(line, self.console.width)))
        elif event["type"] == "trial" and event["status"] in {"running", "done", "failed", "cancelled"}:
            glyph = {"running": "▸", "done": "✓", "failed": "✗", "cancelled": "·"}[event["status"]]
            score = (
                "" if event["score"] is None else f"  {event['score']:.0f} / {event['out_of']:.0f} ({event['judge']})"
            )
            why = f"  {one_line(event['error'], 200)}" if event["error"] else ""
            what = f"{event['case']} · {event['agent']} · {event['model']} · {event['repeat']}"
            self.console.print(Text(f"{glyph} {what}  {event['status']}{score}{why}", style="bold"))
        elif event["type"] == "error":
            print(f"workbench: {event['sentence']}", file=sys.stderr)

    def table(self, closing: dict[str, Any]) -> None:
        """Print the summary."""
        from rich.table import Table

        # Beside the scores, what a narrow terminal has no room for can be had from `workbench show`.
        wide = self.console.width >= 100
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for heading in ("case", "agent"):
            table.add_column(heading, no_wrap=True)
        for heading in ("score", "1", "2", "3", "4", *(("steps", "tokens", "$", "s") if wide else ("s",))):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("status", no_wrap=True)
        for case in closing["cases"]:
            tiers = ["?" if value is None else f"{value:.1f}" for value in case["tiers"].values()]
            score = "?" if case["score"] is None else f"{case['score']:.1f}/{case['out_of']:.0f}"
            cost = "–" if case["cost"] is None else f"{case['cost']:.2f}"
            seconds = "" if case["seconds"] is None else f"{case['seconds']:.0f}"
            more = [str(case["steps"]), f"{case['tokens']:,}", cost] if wide else []
            table.add_row(case["case"], case["agent"], score, *tiers, *more, seconds, case["status"])
        self.console.print(table)
        models = sorted({str(case["model"]) for case in closing["cases"]})
        judges = sorted({str(case["judge"]) for case in closing["cases"] if case["judge"]})
        if models:
            judged = f" · judge: {', '.join(judges)}" if judges else ""
            self.console.print(f"model: {', '.join(models)}{judged}", style="dim")
        # Alone on its line and never wrapped, so that it can be copied.
        self.console.print(f"session: {closing['session']}", style="dim", soft_wrap=True)


def one_line_keep(text: str, width: int) -> str:
    """Return ``text`` without control sequences and line breaks, its spaces kept, cut to ``width``."""
    from workbench.text import clean

    flat = clean(text).replace("\n", " ").replace("\t", " ")
    return flat if len(flat) <= width else flat[: max(0, width - 1)] + "…"
