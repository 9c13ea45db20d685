"""What the Trajectory mode reads from a session, in worker threads, and what it says of a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from workbench.agents.protocol import split_answer
from workbench.app.key_table import key_of, with_keys
from workbench.app.toolkit.header import Header, Part
from workbench.app.trajectory.repository_pane import Entry, entries_of
from workbench.app.trajectory.scores import shown_card
from workbench.base.glyphs import STATES
from workbench.base.text import money, one_line
from workbench.results.works import works_by_trial
from workbench.session.labels import STAR, in_words, labels_by_part
from workbench.session.pending_work import is_imported, trial_problem

if TYPE_CHECKING:
    from workbench.app.toolkit.run_screen import Needle
    from workbench.results.scores import ImportedScore
    from workbench.results.spread import Agreement
    from workbench.results.trials import TrialOrder
    from workbench.results.works import Works
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.reader import SessionReader
    from workbench.session.rows import AccessedFileRow, AnnotationRow, RunRow, StepRow, TrialRow

FIRST_STEPS = 120
"""Steps that are read before the list is first shown; the rest follows in pages."""
PAGE_OF_STEPS = 2000
FILES_LIMIT = 20_000
NO_TRIALS = "This session has no trials yet: press {app.cases} and {cases.run} to start a run."
GONE = "This trial is not in the open session: press {app.sessions} to choose another session."
OUTCOME = 10**9
"""Stands after every step: where the outcome is searched."""


@dataclass(frozen=True, slots=True)
class TrialState:
    """A trial as the file has it now.

    ``files`` are (path, bytes) that the agent could have seen; ``problem`` says why a judge gave no scores, ``content_suffix``
    marks the content where another trial of the same name has other content; ``agreement`` is that of the session's judges,
    where several scored this trial, as of ``scored`` (number of scorecards, time of the last); ``works`` is how much of its
    README holds, None where that was not checked; ``check_run`` is the run that checks it now, "" for none; ``imported_scores``
    are those of the file from which it was imported.
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
    content_suffix: str = ""
    agreement: tuple[Agreement, ...] = ()
    scored: tuple[int, float] = (0, 0.0)
    works: Works | None = None
    check_run: str = ""
    imported_scores: tuple[ImportedScore, ...] = ()

    @property
    def live(self) -> bool:
        return self.trial.state in {"queued", "running"} and self.run_state in {"queued", "running"}


def load_trial(reader: SessionReader, trial_id: str, before: TrialState | None = None) -> TrialState | None:
    """Read a trial; what cannot have changed since ``before`` is taken from there. None if it is not in the file."""
    # Imported in the threads that read: the first paint does without.
    from workbench.results.scores import agreement_on, cards_of, imported_scores, scores_version
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
    cards = tuple(map(shown_card, cards_of(reader, reader.scores(trial_id))))
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
        content_suffix=reader.content_suffix(trial),
        agreement=before.agreement if before and before.scored == scored else agreement_on(reader, cards),
        scored=scored,
        works=works_by_trial(reader, trial_id).get(trial_id),
        check_run=_check_run(reader, trial_id),
        imported_scores=imported_scores(reader, trial_id) if run and is_imported(run) else (),
    )


def _check_run(reader: SessionReader, trial_id: str) -> str:
    going = {"queued", "running"}
    runs = (reader.run(row.run_id) for row in reversed(reader.checks(trial_id)) if row.state in going)
    return next((run.id for run in runs if run is not None and reader.run_state(run) in going), "")


def _seen(reader: SessionReader, trial_id: str, before: TrialState | None) -> Mapping[tuple[str, str], AccessedFileRow]:
    known = before.seen if before else {}
    since = max((row.step for row in known.values()), default=-1)
    fresh = {(row.path, row.access): row for row in reader.accessed_files(trial_id, since)}
    return {**known, **fresh} if fresh.keys() - known.keys() else known or fresh


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a trial found: ``steps`` stand behind the first ``after`` ones that are known; no ``tree`` is the known one."""

    state: TrialState
    steps: list[StepRow]
    after: int
    tree: tuple[list[Entry], str] | None


def first_look(reader: SessionReader, trial: str | None) -> Look | None:
    """Read a trial from its beginning, by default the session's most telling one; None if it is not there."""
    from workbench.results.trials import latest_trial

    key = trial or latest_trial(reader)
    state = load_trial(reader, key) if key else None
    if state is None:
        return None
    return Look(state, reader.steps(state.trial.id, 0, FIRST_STEPS), 0, entries_of(state.files, state.seen))


def next_look(
    reader: SessionReader, before: TrialState, tail: tuple[int, int], tree_of: TrialState | None
) -> Look | None:
    """Read a trial again; ``tail`` are how many steps are known and the number of the last of them, and where ``tree_of`` is given the tree if it has grown since."""
    state = load_trial(reader, before.trial.id, before)
    if state is None:
        return None
    grown = tree_of is not None and not (state.seen is tree_of.seen and state.files is tree_of.files)
    tree = entries_of(state.files, state.seen) if grown else None
    return Look(state, reader.steps(state.trial.id, tail[1], PAGE_OF_STEPS), tail[0], tree)


class Hit(NamedTuple):
    """A place in the tab of a step (``step`` its number) or, with step 0, of the outcome.

    ``ordinal`` counts the hits of the same tab from 0; ``reach`` is how many characters must be shown to see it.
    """

    step: int
    tab: str
    ordinal: int = 0
    reach: int = 0


def hits_of(reader: SessionReader, trial: TrialRow, needle: Needle, stopped: Callable[[], bool]) -> Iterator[Hit]:
    """Yield where a text stands in steps, thoughts, observations, the first messages, README and metadata."""
    after, page = 0, reader.steps(trial.id, 0, PAGE_OF_STEPS)
    while page:
        for step in page:
            if stopped():
                return
            if not after and step is page[0]:
                call = reader.call(step.call_id) if step.call_id is not None else None
                messages = reader.message_digests(call) if call is not None else ()
                yield from _hits(step.number, "Prompt", [at for _, digest in messages for at in needle.in_blob(digest)])
            yield from _hits_of_step(reader, step, needle)
        after = page[-1].number
        page = reader.steps(trial.id, after, PAGE_OF_STEPS) if len(page) == PAGE_OF_STEPS else []
    yield from _hits(0, "README", needle.in_blob(trial.readme_blob))
    yield from _hits(0, "Metadata", needle.in_blob(trial.metadata_blob))


def _hits_of_step(reader: SessionReader, step: StepRow, needle: Needle) -> Iterator[Hit]:
    answer = split_answer(reader.kept(step.answer_blob, "a text of this trial") or "")
    thought, action = map(needle.in_text, answer)
    # What is only in the row (a target without an answer) leads to the step without a tab of its own.
    if not thought and not action and needle.in_text(f"{step.action} {step.target} {step.problem or ''}"):
        yield Hit(step.number, "Action")
    yield from _hits(step.number, "Thought", thought)
    yield from _hits(step.number, "Action", action)
    yield from _hits(step.number, "Observation", needle.in_blob(step.observation_blob))


def _hits(step: int, tab: str, places: Sequence[int]) -> Iterator[Hit]:
    return (Hit(step, tab, ordinal, place) for ordinal, place in enumerate(places))


# -- what is said about a trial


def state_of(state: TrialState) -> str:
    """Return the state of the trial as a person should see it, ``interrupted`` and ``unscored`` included."""
    if state.problem:
        return "unscored"
    if state.trial.state in {"queued", "running"} and state.run_state not in {"queued", "running"}:
        return state.run_state
    return state.trial.state


def _not_taken_up(state: TrialState) -> bool:
    """Whether the trial's run waits and no engine is on its way to it."""
    return state.run is not None and state.run.state == "queued" and state.run_state == "interrupted"


def _reason(state: TrialState) -> str:
    return one_line(state.trial.error or (state.run.error if state.run else "") or "no reason was recorded", 600)


def why_not(state: TrialState, before: str) -> tuple[str, ...]:
    """Return why a trial ended before something, and what to do about it; () where it did not end early."""
    shown = state_of(state)
    if shown == "interrupted" and _not_taken_up(state):
        return "No engine took the run up.", with_keys("Press {trajectory.resume} to start one.")
    said = {
        "interrupted": f"The engine stopped before {before}.",
        "cancelled": f"The trial was cancelled before {before}.",
        "failed": f"The trial failed before {before}: {_reason(state)}",
    }.get(shown)
    key = "{trajectory.resume} to resume." if shown == "interrupted" else "{trajectory.rerun} to run it again."
    return (said, with_keys(f"Press {key}")) if said else ()


def waiting_for(state: TrialState, waited: float = 0.0) -> str:
    """Return what a trial without a step waits for, and for how many seconds; "" if it waits for nothing."""
    shown = state_of(state)
    if state.step_count or shown not in {"queued", "running"}:
        return ""
    said = "waiting for the engine…"
    if shown == "running":
        said = one_line(state.run.note, 80) if state.run and state.run.note else "the agent is at its first step…"
    return f"{said} {waited:.0f} s" if waited >= 1 else said


def marks_of_steps(state: TrialState) -> dict[int, str]:
    """Return a sign for each step that a person marked: a star, else a remark, else a tag."""
    marks = {int(part): "#" for part in state.labels if part.isdecimal()}
    marks |= {row.step: "✎" for row in state.annotations if row.step is not None}
    return marks | {int(part): STAR for part, labels in state.labels.items() if part.isdecimal() and STAR in labels}


def header(state: TrialState, score: str = "", waited: float = 0.0) -> Header:
    """Return the header: agent, model, case, which trial, ``score``, spend and state; its first step was ``waited`` seconds for."""
    trial, order = state.trial, state.place.order
    at = order.index(trial.id) + 1 if trial.id in order else 1
    shown, resume, waiting = state_of(state), key_of("trajectory.resume"), waiting_for(state, waited)
    words = {
        "running": f"live: {waiting}" if waiting else "live",
        "queued": waiting or shown,
        "interrupted": f"no engine took it up — press {resume}"
        if _not_taken_up(state)
        else f"interrupted — press {resume} to resume",
        "unscored": f"unscored — press {resume} to ask the judge again. {state.problem}",
        "failed": f"failed: {_reason(state)}",
    }.get(shown, shown)
    model = trial.model.rpartition("/")[2] if trial.model.startswith("local/") else trial.model
    of = f"trial {order.index(trial.parent) + 1}" if trial.parent in order else trial.parent[:8]
    return (
        Part(trial.agent, rank=3, name=True),
        Part(model, rank=5, name=True),
        Part(trial.case_name or trial.case_id, rank=1, name=True),
        Part(state.content_suffix, rank=4),
        Part(f"trial {at} of {len(order):,}", rank=2),
        Part(f"fork of {of} at step {trial.fork_step}" if trial.parent else "", rank=3),
        Part(one_line(in_words(state.labels.get("", ())), 60), rank=6),
        Part(score),
        Part(money(trial.cost_usd) if trial.cost_usd else ""),
        Part(f"{STATES[shown]} {words}", reason=True),
    )
