"""What the Trajectory mode reads from a session: plain functions for worker threads, no widget in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.amounts import money
from workbench.app.toolkit.header import Header, Part
from workbench.glyphs import STATES
from workbench.rubric.works import works_by_trial
from workbench.session.labels import STAR, in_words, labels_by_part
from workbench.session.pending_work import is_imported, trial_problem
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.results.trials import TrialOrder
    from workbench.rubric.scorecard import Scorecard
    from workbench.rubric.spread import Agreement, PointSpread
    from workbench.rubric.works import Works
    from workbench.session.reader import SessionReader
    from workbench.session.rows import AccessedFileRow, AnnotationRow, RunRow, StepRow, TrialRow

FIRST_STEPS = 120
"""Steps that are read before the list is first shown; the rest follows in pages."""
PAGE_OF_STEPS = 2000
FILES_LIMIT = 20_000
REFRESH_SECONDS = 0.1
"""Time between two looks at a trial that changes: a person sees no difference, a slow machine does."""
TREE_SECONDS = 0.5
"""Time between two looks at the repository of a live trial: its tree may have thousands of files."""
REST_SECONDS = 0.3
"""Time until the rest of a long list of steps is read: what is on the screen comes first."""
NO_SESSION = "No session is open: press {app.sessions} to choose one, or {app.cases} to pick a case and start a run."
NO_TRIALS = "This session has no trials yet: press {app.cases} and {cases.run} to start a run."
GONE = "This trial is not in the open session: press {app.sessions} to choose another session."
_TAIL = 8  # steps at the end that are read again at each look: a retried trial replaces its error steps

Repeats = Mapping[tuple[str, str], "tuple[PointSpread, ...]"]
"""How the points of all repeats of a trial lie, by rubric and judge."""


@dataclass(frozen=True, slots=True)
class TrialState:
    """A trial as the file has it now.

    ``files`` are (path, bytes) that the agent could have seen; ``problem`` says why a judge gave no scores, ``told_apart``
    marks the content where another trial of the same name has other content; ``agreement`` is that of the session's judges,
    where several scored this trial, as of ``scored`` (number of scorecards, time of the last); ``works`` is how much of its
    README holds, None where that was not checked; ``check_run`` is the run that checks it now, "" for none; ``imported_scores``
    are those of the file from which it was imported, in words.
    """

    trial: TrialRow
    run: RunRow | None
    run_state: str
    place: TrialOrder
    step_count: int
    files: tuple[tuple[str, int], ...]
    seen: Mapping[tuple[str, str], AccessedFileRow]
    cards: tuple[Scorecard, ...]
    annotations: tuple[AnnotationRow, ...]
    labels: Mapping[str, tuple[str, ...]]
    problem: str = ""
    told_apart: str = ""
    agreement: tuple[Agreement, ...] = ()
    scored: tuple[int, float] = (0, 0.0)
    works: Works | None = None
    check_run: str = ""
    imported_scores: tuple[str, ...] = ()

    @property
    def live(self) -> bool:
        return self.trial.state in {"queued", "running"} and self.run_state in {"queued", "running"}


def load_trial(reader: SessionReader, trial_id: str, before: TrialState | None = None) -> TrialState | None:
    """Read a trial; what cannot have changed since ``before`` is taken from there. None if it is not in the file."""
    # Imported in the threads that read: the first paint does without.
    from workbench.results.scores import agreement_on, cards_of, scores_version
    from workbench.results.trials import step_count, trial_order

    trial = reader.trial(trial_id)
    if trial is None:
        return None
    if before is not None and before.trial.id != trial_id:
        before = None
    run = reader.run(trial.run_id)
    if before and before.files and before.trial.snapshot == trial.snapshot:
        files = before.files
    else:
        files = tuple(reader.files_of(trial.snapshot)[:FILES_LIMIT]) if trial.snapshot else ()
    cards = cards_of(reader, reader.scores(trial_id))
    scored = scores_version(reader)
    return TrialState(
        trial=trial,
        run=run,
        run_state=reader.run_state(run) if run else trial.state,
        place=trial_order(reader, trial, before.place if before else None),
        step_count=step_count(reader, trial_id),
        files=files,
        seen=_seen(reader, trial_id, before),
        cards=cards,
        annotations=tuple(reader.annotations(trial_id)),
        labels=labels_by_part(reader.labels(trial_id)),
        problem=trial_problem(reader, trial),
        told_apart=reader.told_apart(trial),
        agreement=before.agreement if before and before.scored == scored else agreement_on(reader, cards),
        scored=scored,
        works=works_by_trial(reader, trial_id).get(trial_id),
        check_run=_check_run(reader, trial_id),
        imported_scores=_imported_scores(reader, trial_id) if run and is_imported(run) else (),
    )


def _imported_scores(reader: SessionReader, trial_id: str) -> tuple[str, ...]:
    from workbench.results.scores import imported_scores

    found = imported_scores(reader, trial_id)
    said = (": ".join(filter(None, (f"{one.scorer} {one.value}", one.explanation))) for one in found)
    return tuple(one_line(one, 400) for one in said)


def _check_run(reader: SessionReader, trial_id: str) -> str:
    for row in reversed(reader.checks(trial_id)):
        run = reader.run(row.run_id) if row.state in {"queued", "running"} else None
        if run is not None and reader.run_state(run) in {"queued", "running"}:
            return run.id
    return ""


def tail_start(known: list[StepRow]) -> int:
    """Return how many of the known steps need no re-check."""
    return max(0, len(known) - _TAIL)


def _seen(reader: SessionReader, trial_id: str, before: TrialState | None) -> Mapping[tuple[str, str], AccessedFileRow]:
    known = before.seen if before else {}
    since = max((row.step for row in known.values()), default=-1)
    fresh = {(row.path, row.how): row for row in reader.seen(trial_id, since)}
    return {**known, **fresh} if fresh.keys() - known.keys() else known or fresh


# -- what is said about a trial


def state_of(state: TrialState) -> str:
    """Return the state of the trial as a person should see it, ``interrupted`` and ``unscored`` included."""
    if state.problem:
        return "unscored"
    if state.trial.state in {"queued", "running"} and state.run_state not in {"queued", "running"}:
        return "interrupted" if state.run_state == "interrupted" else state.run_state
    return state.trial.state


def not_taken_up(state: TrialState) -> bool:
    """Return whether the trial's run waits and no engine is on its way to it."""
    return state.run is not None and state.run.state == "queued" and state.run_state == "interrupted"


def waiting_for(state: TrialState) -> str:
    """Return what a trial without a step waits for, "" if it waits for nothing."""
    if state.step_count:
        return ""
    shown = state_of(state)
    if shown == "queued":
        return "waiting for the engine…"
    if shown == "running":
        return one_line(state.run.note, 80) if state.run and state.run.note else "the agent is at its first step…"
    return ""


def marks_of_steps(state: TrialState) -> dict[int, str]:
    """Return a sign for each step that a person marked: a star, else a remark, else a tag."""
    marks = {int(part): "#" for part in state.labels if part.isdecimal()}
    marks |= {row.step: "✎" for row in state.annotations if row.step is not None}
    return marks | {int(part): STAR for part, labels in state.labels.items() if part.isdecimal() and STAR in labels}


def header(state: TrialState, score: str = "", waited: float = 0.0) -> Header:
    """Return the header: agent, model, case, which trial, score, spend and state.

    Args:
        state: The trial.
        score: Its score as it is shown, "" where it has none.
        waited: Seconds since it is waited for the first step, as far as they are known.
    """
    trial = state.trial
    order = state.place.order
    at = order.index(trial.id) + 1 if trial.id in order else 1
    shown = state_of(state)
    words = {
        "queued": "waiting for the engine…",
        "running": "live",
        "interrupted": f"no engine took it up — press {key_of('trajectory.resume')}"
        if not_taken_up(state)
        else f"interrupted — press {key_of('trajectory.resume')} to resume",
        "unscored": f"unscored — press {key_of('trajectory.resume')} to ask the judge again. {state.problem}",
    }.get(shown, shown)
    if shown == "failed":
        words = f"failed: {trial.error or (state.run.error if state.run else '') or 'no reason was recorded'}"
    elif waiting := waiting_for(state):
        clock = f" {waited:.0f} s" if waited >= 1 else ""
        words = f"{'live: ' if shown == 'running' else ''}{waiting}{clock}"
    model = trial.model.rpartition("/")[2] if trial.model.startswith("local/") else trial.model
    of = f"trial {order.index(trial.parent) + 1}" if trial.parent in order else trial.parent[:8]
    return (
        Part(trial.agent, rank=3, name=True),
        Part("local" if trial.model == "local" else model, rank=5, name=True),
        Part(trial.case_name or trial.case_id, rank=1, name=True),
        Part(state.told_apart, rank=4),
        Part(f"trial {at} of {len(order):,}", rank=2),
        Part(f"fork of {of} at step {trial.fork_step}" if trial.parent else "", rank=3),
        Part(one_line(in_words(state.labels.get("", ())), 60), rank=6),
        Part(score),
        Part(money(trial.cost_usd) if trial.cost_usd else ""),
        Part(f"{STATES[shown]} {words}", reason=True),
    )


def working(state: TrialState, steps: int) -> str:
    """Return what stands below the steps of a trial at work, "" below the others."""
    if state.trial.state == "running" and state.run_state == "running":
        return "▸ the model is at work…" if steps else ""
    return ""
