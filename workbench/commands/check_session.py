"""``workbench check --session NAME``: check the READMEs of recorded trials; an engine does it and keeps the results there."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.checking.verdicts import CheckDamaged, result_of
from workbench.commands import check_formats
from workbench.commands.output import print_json, say, tell
from workbench.errors import UsageError
from workbench.session import SessionReader

if TYPE_CHECKING:
    from workbench.checking import Checked
    from workbench.session.rows import CheckRow, TrialRow

FORMATS = ("text", "json")


def run_on_session(arguments: argparse.Namespace) -> int:
    """Plan, launch, follow, print; 0 when nothing is wrong, 1 where something is or could not be checked, 130 if interrupted."""
    from workbench.commands.damaged import tell_damage
    from workbench.commands.watching import follow, stop
    from workbench.engine import launching
    from workbench.engine.checks import plan_check
    from workbench.engine.session_names import resolve_session
    from workbench.engine.writable_copy import working_copy
    from workbench.sandbox.errors import NoIsolation

    if arguments.pages or arguments.source or arguments.fix_claims:
        raise UsageError(
            "With --session the READMEs of its trials are checked: name no page, no --source, no --fix-claims."
        )
    if arguments.format not in FORMATS:
        raise UsageError(f"With --session the format is {' or '.join(FORMATS)}.")
    original = resolve_session(arguments.session)
    with SessionReader(original) as reader:
        damaged = tell_damage(reader.damage)
    execute, seconds = not arguments.no_run, float(arguments.seconds)
    with working_copy(original) as session:
        try:
            new_run, meant = plan_check(
                session, arguments.trial, execute=execute, seconds=seconds, anew=arguments.again
            )
        except NoIsolation as error:
            tell(f"{error} Names are looked up all the same.")
            execute = False
            new_run, meant = plan_check(session, arguments.trial, execute=False, seconds=seconds, anew=arguments.again)
    shown = _Shown(execute, seconds, arguments)
    if new_run:
        process = launching.launch(session, new_run)
        try:
            follow(session, new_run, process, _say_error, shown.look)
        except KeyboardInterrupt:
            stop(session, new_run)
            tell(f"Interrupted; what was checked is kept. Go on with: workbench resume {session} {new_run}")
            return 130
    with SessionReader(session) as reader:
        return max(damaged, shown.rest(reader, meant))


def _say_error(event: dict[str, Any]) -> None:
    if event["type"] == "error":
        tell(event["sentence"])


class _Shown:
    """Prints what came out of each README, once."""

    def __init__(self, execute: bool, seconds: float, arguments: argparse.Namespace) -> None:
        self._key = (int(execute), seconds)
        self._arguments = arguments
        self._printed: set[str] = set()
        self._code = 0

    def look(self, reader: SessionReader, run: str, _show: object) -> None:
        """Print what a run has come to the end of."""
        for row in reader.checks(run_id=run):
            if row.state in ("done", "failed") and row.trial_id not in self._printed:
                self._print(reader, row)

    def rest(self, reader: SessionReader, meant: Sequence[str]) -> int:
        """Print what is left of the trials that were meant; returns the exit code."""
        for trial in meant:
            rows = [row for row in reader.checks(trial) if (row.executed, row.step_seconds) == self._key]
            if trial not in self._printed and rows:
                self._print(reader, rows[-1])
        return 1 if len(self._printed) < len(meant) else self._code

    def _print(self, reader: SessionReader, row: CheckRow) -> None:
        self._printed.add(row.trial_id)
        trial, checked, problem = reader.trial(row.trial_id), None, row.problem or ""
        if row.state == "done":
            try:
                checked = result_of(reader, row)
            except CheckDamaged as error:
                problem = str(error)
        if checked is None or checked.alarms:
            self._code = 1
        if self._arguments.format == "json":
            self._json(row, trial, checked, problem)
            return
        name = f"{trial.case_name} · {trial.agent} · {trial.model} · trial {trial.id}" if trial else row.trial_id
        say(name)
        if checked is None:
            say(f"  {problem or 'It was not checked.'}")
            return
        for line in check_formats.text(checked, verbose=self._arguments.verbose):
            say(f"  {line}" if line else "")

    @staticmethod
    def _json(row: CheckRow, trial: TrialRow | None, checked: Checked | None, problem: str) -> None:
        if checked is None:
            print_json({"type": "check", "trial": row.trial_id, "state": row.state, "problem": problem or None})
            return
        for line in check_formats.values(checked):
            print_json({**line, "trial": row.trial_id})
