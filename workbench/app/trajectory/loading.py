"""What the Trajectory mode reads from a session: plain functions for worker threads, no widget in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.app.key_table import key_of
from workbench.app.toolkit.amounts import money
from workbench.app.toolkit.header import Header, Part
from workbench.glyphs import STATES
from workbench.rubric.works import works_by_trial
from workbench.session.labels import STAR, in_words, labels_by_part
from workbench.session.pending_work import is_imported, trial_problem
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.rubric.agreement import Agreement
    from workbench.rubric.spread import PointSpread
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
REPEATS = 200
"""Repeats of a trial over which the spread of points is told, the newest ones."""
_TAIL = 8  # steps at the end that are read again at each look: a retried trial replaces its error steps

Card = Mapping[str, Any]
"""A decoded scorecard, see :meth:`workbench.rubric.Scorecard.to_json`."""
Repeats = Mapping[tuple[str, str], "tuple[PointSpread, ...]"]
"""How the points of all repeats of a trial lie, by rubric and judge."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trial stands: all trials of the session in order, and the one before it on the same case."""

    order: tuple[str, ...]
    previous: str | None

    def beside(self, trial_id: str, step: int) -> str | None:
        """Return the trial ``step`` places after this one, None at the ends."""
        at = self.order.index(trial_id) + step if trial_id in self.order else -1
        return self.order[at] if 0 <= at < len(self.order) else None


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
    place: Place
    step_count: int
    files: tuple[tuple[str, int], ...]
    seen: Mapping[tuple[str, str], AccessedFileRow]
    cards: tuple[Card, ...]
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
        """Whether an engine is at work on the trial, or will be."""
        return self.trial.state in {"queued", "running"} and self.run_state in {"queued", "running"}


def load_trial(reader: SessionReader, trial_id: str, before: TrialState | None = None) -> TrialState | None:
    """Read a trial; what cannot have changed since ``before`` is taken from there. None if it is not in the file."""
    trial = reader.trial(trial_id)
    if trial is None:
        return None
    if before is not None and before.trial.id != trial_id:
        before = None
    run = reader.run(trial.run_id)
    count = reader.query("SELECT count(*) FROM steps WHERE trial_id = ?", (trial_id,))[0][0]
    if before and before.files and before.trial.snapshot == trial.snapshot:
        files = before.files
    else:
        files = tuple(reader.files_of(trial.snapshot)[:FILES_LIMIT]) if trial.snapshot else ()
    cards = _cards(reader, trial_id)
    scored = reader.query("SELECT count(*), coalesce(max(at), 0) FROM scorecards")[0]
    return TrialState(
        trial=trial,
        run=run,
        run_state=reader.run_state(run) if run else trial.state,
        place=_place(reader, trial, before),
        step_count=int(count),
        files=files,
        seen=_seen(reader, trial_id, before),
        cards=cards,
        annotations=tuple(reader.annotations(trial_id)),
        labels=labels_by_part(reader.labels(trial_id)),
        problem=trial_problem(reader, trial),
        told_apart=reader.told_apart(trial),
        agreement=before.agreement if before and before.scored == scored else _agreement(reader, cards),
        scored=scored,
        works=works_by_trial(reader, trial_id).get(trial_id),
        check_run=_check_run(reader, trial_id),
        imported_scores=_imported_scores(reader, trial_id) if run and is_imported(run) else (),
    )


def _imported_scores(reader: SessionReader, trial_id: str) -> tuple[str, ...]:
    from workbench.reports.contents import imported_scores

    found = imported_scores(reader, trial_id)
    said = (": ".join(filter(None, (f"{one.scorer} {one.value}", one.explanation))) for one in found)
    return tuple(one_line(one, 400) for one in said)


def _check_run(reader: SessionReader, trial_id: str) -> str:
    for row in reversed(reader.checks(trial_id)):
        run = reader.run(row.run_id) if row.state in {"queued", "running"} else None
        if run is not None and reader.run_state(run) in {"queued", "running"}:
            return run.id
    return ""


def latest_trial(reader: SessionReader) -> str | None:
    """Return the trial to show when a session is opened: a running one, else the last that has steps, else the last."""
    found = reader.query(
        "SELECT trials.id FROM trials JOIN runs ON runs.id = trials.run_id WHERE deleted_at IS NULL "
        "ORDER BY trials.state = 'running' DESC, trials.started_at IS NOT NULL DESC, runs.created_at DESC, "
        "trials.started_at DESC, position LIMIT 1"
    )
    return found[0][0] if found else None


def load_steps(reader: SessionReader, trial_id: str, after: int, limit: int) -> list[StepRow]:
    """Read up to ``limit`` steps after number ``after``."""
    # Imported in the threads that read: the first paint does without rows.
    from workbench.session.rows import StepRow, columns

    found = reader.query(
        f"SELECT {columns(StepRow)} FROM steps WHERE trial_id = ? AND number > ? ORDER BY number LIMIT ?",
        (trial_id, after, limit),
    )
    return [StepRow(*row) for row in found]


def tail_start(known: list[StepRow]) -> int:
    """Return how many of the known steps need no re-check."""
    return max(0, len(known) - _TAIL)


def _place(reader: SessionReader, trial: TrialRow, before: TrialState | None) -> Place:
    """Return where a trial stands among those that count; one of a run that was put away stands there as well."""
    from workbench.session.schema import PUT_AWAY_RUNS

    meant = f"run_id NOT IN {PUT_AWAY_RUNS} OR trials.id = ?"
    count = reader.query(f"SELECT count(*) FROM trials WHERE {meant}", (trial.id,))[0][0]
    if before and len(before.place.order) == count:
        return before.place
    found = reader.query(
        f"SELECT trials.id, case_id, parent FROM trials JOIN runs ON runs.id = trials.run_id WHERE {meant} "
        "ORDER BY runs.created_at, run_id, position",
        (trial.id,),
    )
    previous = trial.parent or None
    for key, case, parent in found if previous is None else ():
        if key == trial.id:
            break
        if case == trial.case_id and not parent:
            previous = key
    return Place(tuple(key for key, *_ in found), previous)


def _seen(reader: SessionReader, trial_id: str, before: TrialState | None) -> Mapping[tuple[str, str], AccessedFileRow]:
    from workbench.session.rows import AccessedFileRow, columns

    known = before.seen if before else {}
    since = max((row.step for row in known.values()), default=-1)
    found = reader.query(
        f"SELECT {columns(AccessedFileRow)} FROM seen WHERE trial_id = ? AND step >= ?", (trial_id, since)
    )
    fresh = {(row[1], row[2]): AccessedFileRow(*row) for row in found}
    return {**known, **fresh} if fresh.keys() - known.keys() else known or fresh


def _agreement(reader: SessionReader, cards: tuple[Card, ...]) -> tuple[Agreement, ...]:
    """Return how the judges of a trial agree over the trials of the session; nothing where it has one judge a rubric."""
    rubrics = [card.get("rubric") for card in cards]
    several = {rubric for rubric in rubrics if rubrics.count(rubric) > 1}
    if not several:
        return ()
    from workbench.rubric.agreement import agreements

    trials: dict[str, list[Card]] = {}
    for score in reader.scores():
        if score.rubric in several:
            trials.setdefault(score.trial_id, []).append(reader.card(score))
    return tuple(agreements(trials.values()))


def load_repeats(reader: SessionReader, trial: TrialRow) -> Repeats:
    """Return how the points lie over the repeats of a trial: the same case, content, agent and model."""
    from workbench.session.schema import PUT_AWAY_RUNS

    found = reader.query(
        f"SELECT id FROM trials WHERE case_id = ? AND content = ? AND agent = ? AND model = ? AND (run_id NOT IN {PUT_AWAY_RUNS} "
        "OR id = ?) ORDER BY started_at DESC LIMIT ?",
        (trial.case_id, trial.content, trial.agent, trial.model, trial.id, REPEATS),
    )
    if len(found) < 2:
        return {}
    from workbench.rubric.spread import point_spreads

    cards: dict[tuple[str, str], list[Card]] = {}
    for (key,) in found:
        for score in reader.scores(key):
            cards.setdefault((score.rubric, score.judge), []).append(reader.card(score))
    return {scale: point_spreads(mine) for scale, mine in cards.items() if len(mine) > 1}


def _cards(reader: SessionReader, trial_id: str) -> tuple[Card, ...]:
    found = (reader.card(row) for row in reader.scores(trial_id))
    return tuple(card for card in found if card)


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
