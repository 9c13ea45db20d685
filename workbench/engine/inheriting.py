"""Read from a session what a fork inherits of its parent, and of what that is a fork of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.agents.inherited import ForkDiverged, Given, Inherited
from workbench.engine.records import recorded_answer
from workbench.session import SessionReader
from workbench.session.rows import TrialRow

MESSAGE, OBSERVATION = "message", "observation"
"""What of a step can be edited: the model's answer, or what the agent was told after it."""


def inherited_by(reader: SessionReader, fork: TrialRow, took: Callable[[int], None]) -> Inherited:
    """Return the steps that a fork inherits.

    Raises:
        ForkDiverged: The parent is not in the session any more, or its answers cannot be read.
    """
    given, observations = _up_to(reader, fork, fork.fork_step)
    edited_call = _call_of(reader, fork.parent, fork.fork_step) if fork.edited == MESSAGE else None
    return Inherited(fork.parent, fork.fork_step, given, observations, fork.edited, edited_call, took)


def _up_to(reader: SessionReader, trial: TrialRow, step: int) -> tuple[tuple[Given, ...], dict[int, str]]:
    given: list[Given] = []
    observations: dict[int, str] = {}
    if trial.parent:
        parent = reader.trial(trial.parent)
        if parent is None:
            raise ForkDiverged(f"The fork does not start, because trial {trial.parent} is not in the session any more.")
        last = min(step, trial.fork_step)
        before, observations = _up_to(reader, parent, last)
        given = list(before)
        if last == trial.fork_step and trial.edited:
            text = reader.text(trial.edit_blob)
            if trial.edited == OBSERVATION:
                observations[last] = text
            else:
                call = _call_of(reader, parent.id, last)
                given = [_reworded(one, text) if one.call == call else one for one in given]
    own = _last_own_call(reader, trial.id, step) or 0  # calls count from 1
    for row in reader.calls(trial.id) if own else ():
        if row.answer_blob is not None and row.id <= own:
            answer = recorded_answer(reader, row)
            if answer is None:
                raise ForkDiverged(f"The fork does not start, because an answer of trial {trial.id} cannot be read.")
            given.append(Given(row.id, row.digest, answer))
    return tuple(given), observations


def _reworded(given: Given, text: str) -> Given:
    return replace(given, answer=replace(given.answer, text=text))


def _call_of(reader: SessionReader, trial: str, step: int) -> int | None:
    found = reader.query("SELECT call_id FROM steps WHERE trial_id = ? AND number = ?", (trial, step))
    return found[0][0] if found else None


def _last_own_call(reader: SessionReader, trial: str, step: int) -> int | None:
    """Return the last call up to a step that the trial made itself, None where all of them are inherited."""
    found = reader.query(
        "SELECT max(call_id) FROM steps JOIN calls ON calls.id = call_id WHERE trial_id = ? AND number <= ? AND scope = trial_id",
        (trial, step),
    )
    return found[0][0] if found else None
