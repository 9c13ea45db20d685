"""The state of a trial: loading it in worker threads, searching it, and describing it in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from workbench.agents.protocol import split_answer
from workbench.app.keys import key_of, with_keys
from workbench.app.toolkit.header import Header, HeaderPart
from workbench.app.trajectory.scores import shown_card
from workbench.app.trajectory.use_list import headline as use_headline
from workbench.base.glyphs import STATES
from workbench.base.text import money, one_line
from workbench.results.check_summary import check_summaries
from workbench.session.labels import STAR, in_words, labels_by_part
from workbench.session.pending_work import is_imported, trial_problem

if TYPE_CHECKING:
    from workbench.app.toolkit.run_screen import SearchText
    from workbench.results.check_summary import CheckSummary
    from workbench.results.scores import ImportedScore
    from workbench.results.spread import Agreement
    from workbench.results.trials import TrialOrder
    from workbench.results.usage import ReadmeUse
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.reader import SessionReader
    from workbench.session.rows import AccessedFileRow, AnnotationRow, RunRow, StepRow, TrialRow

READ, LISTED, NEVER = "●", "○", "·"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A directory or file; ``step`` is the first step that read it or, if no step read it, the first that listed it."""

    path: str
    name: str
    depth: int
    directory: bool
    mark: str
    step: int | None


def entries_of(
    files: tuple[tuple[str, int], ...], seen: Mapping[tuple[str, str], AccessedFileRow]
) -> tuple[list[TreeEntry], str]:
    """Return the tree as rows, directories first, and a legend with the signs and the share that was read."""
    sizes = dict(files)
    read = {path.rstrip("/"): row for (path, how), row in seen.items() if how == "read"}
    listed = {path.rstrip("/"): row for (path, how), row in seen.items() if how == "listed"}
    # Until the snapshot is known, the tree consists of the files that the agent saw.
    names = set(sizes) | set(read) | {p.rstrip("/") for (p, _) in seen if not p.endswith("/") and p != "."}
    tree: dict[str, set[str]] = {"": set()}
    for path in names - {"", "."}:
        for parent, child in pairwise(("", *accumulate(filter(None, path.split("/")), "{}/{}".format))):
            tree.setdefault(parent, set()).add(child)
    rows: list[TreeEntry] = []

    def walk(folder: str, depth: int) -> None:
        for path in sorted(tree[folder], key=lambda item: (item not in tree, item)):
            directory = path in tree
            row = read.get(path) or listed.get(path)
            mark = READ if path in read else LISTED if path in listed else NEVER
            rows.append(TreeEntry(path, path.rpartition("/")[2], depth, directory, mark, row.step if row else None))
            if directory:
                walk(path, depth + 1)

    walk("", 0)
    lines = ["● read  ○ listed", "· never opened"]
    if sizes:
        # Count each file once, at most for the number of bytes shown to the agent.
        shown = sum(min(row.size, sizes.get(path, row.size)) for path, row in read.items())
        share = round(100 * shown / (sum(sizes.values()) or 1))
        percent = "<1" if shown and not share else str(min(share, 100))
        lines += ["", f"seen {len(read.keys() & sizes):,} of {len(sizes):,} files", f"{percent} % of the bytes"]
    return rows, "\n".join(lines)


FIRST_STEPS = 120
"""The number of steps loaded before the list is first shown."""
PAGE_OF_STEPS = 2000
FILES_LIMIT = 20_000
NO_TRIALS = "This session has no trials yet: press {app.cases} and {cases.run} to start a run."
GONE = "This trial is not in the open session: press {app.sessions} to choose another session."
OUTCOME = 10**9
"""The position of hits in the outcome, which sorts after every step."""


@dataclass(frozen=True, slots=True)
class TrialState:
    """The current state of a trial in the session.

    ``files`` are the (path, bytes) pairs that the agent could have seen. ``problem`` says why judging failed.
    ``content_suffix`` distinguishes the content from that of a trial with the same name but different content.
    ``agreement`` is the agreement between judges, computed for ``scored`` (number of scorecards, time of the last).
    ``works`` is the check summary, or None without a check; ``check_run`` is the run that is checking the README now,
    or "". ``imported_scores`` are the scores found in the imported file. ``use`` is the usage result of the README, or
    None if it was not measured.
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
    works: CheckSummary | None = None
    check_run: str = ""
    imported_scores: tuple[ImportedScore, ...] = ()
    use: ReadmeUse | None = None

    @property
    def live(self) -> bool:
        return self.trial.state in {"queued", "running"} and self.run_state in {"queued", "running"}


def load_trial(reader: SessionReader, trial_id: str, before: TrialState | None = None) -> TrialState | None:
    """Load a trial, reusing unchangeable parts of ``before``. Returns None if the session does not have it."""
    # Imported lazily in this thread, because the first paint does not need them.
    from workbench.results.page_scores import page_key
    from workbench.results.scores import agreement_on, cards_of, imported_scores, scores_version
    from workbench.results.trials import step_count, trial_order
    from workbench.results.usage import readme_use

    trial = reader.trajectory(trial_id)
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
        works=check_summaries(reader, trial_id).get(trial_id),
        check_run=_check_run(reader, trial_id),
        imported_scores=imported_scores(reader, trial_id) if run and is_imported(run) else (),
        use=readme_use(reader, page_key(trial.case_id, trial.readme_blob), before.use if before else None)
        if trial.readme_blob
        else None,
    )


def _check_run(reader: SessionReader, trial_id: str) -> str:
    active = {"queued", "running"}
    runs = (reader.run(row.run_id) for row in reversed(reader.checks(trial_id)) if row.state in active)
    return next((run.id for run in runs if run is not None and reader.run_state(run) in active), "")


def _seen(reader: SessionReader, trial_id: str, before: TrialState | None) -> Mapping[tuple[str, str], AccessedFileRow]:
    known = before.seen if before else {}
    since = max((row.step for row in known.values()), default=-1)
    fresh = {(row.path, row.access): row for row in reader.accessed_files(trial_id, since)}
    return {**known, **fresh} if fresh.keys() - known.keys() else known or fresh


@dataclass(frozen=True, slots=True)
class TrialSnapshot:
    """A loaded state of a trial.

    ``steps`` replace all known steps after the first ``after``, and ``tree`` is None if it is unchanged.
    """

    state: TrialState
    steps: list[StepRow]
    after: int
    tree: tuple[list[TreeEntry], str] | None


def first_snapshot(reader: SessionReader, trial: str | None) -> TrialSnapshot | None:
    """Load the start of a trial, by default the most informative one of the session, or None if there is none."""
    from workbench.results.trials import latest_trial

    key = trial or latest_trial(reader)
    state = load_trial(reader, key) if key else None
    if state is None:
        return None
    return TrialSnapshot(state, reader.steps(state.trial.id, 0, FIRST_STEPS), 0, entries_of(state.files, state.seen))


def next_snapshot(
    reader: SessionReader, before: TrialState, tail: tuple[int, int], tree_of: TrialState | None
) -> TrialSnapshot | None:
    """Reload a trial; returns None if it no longer exists.

    ``tail`` is the count of steps to keep and the step number of the last of these. ``tree_of`` is the state that the
    displayed tree belongs to, or None to skip the tree.
    """
    state = load_trial(reader, before.trial.id, before)
    if state is None:
        return None
    grown = tree_of is not None and not (state.seen is tree_of.seen and state.files is tree_of.files)
    tree = entries_of(state.files, state.seen) if grown else None
    return TrialSnapshot(state, reader.steps(state.trial.id, tail[1], PAGE_OF_STEPS), tail[0], tree)


class StepHit(NamedTuple):
    """A search hit in a tab of a step or, with step 0, of the outcome.

    ``ordinal`` is the index of the hit in its tab; ``reach`` is the number of characters to load to include it.
    """

    step: int
    tab: str
    ordinal: int = 0
    reach: int = 0


def hits_of(
    reader: SessionReader, trial: TrialRow, needle: SearchText, stopped: Callable[[], bool]
) -> Iterator[StepHit]:
    """Yield the hits in the first messages, steps, thoughts, observations, README and metadata, in this order."""
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


def _hits_of_step(reader: SessionReader, step: StepRow, needle: SearchText) -> Iterator[StepHit]:
    answer = split_answer(reader.text_or_none(step.answer_blob, "a text of this trial") or "")
    thought, action = map(needle.in_text, answer)
    # If only the step's row matches (its target, not its answer), go to the Action tab.
    if not thought and not action and needle.in_text(f"{step.action} {step.target} {step.problem or ''}"):
        yield StepHit(step.number, "Action")
    yield from _hits(step.number, "Thought", thought)
    yield from _hits(step.number, "Action", action)
    yield from _hits(step.number, "Observation", needle.in_blob(step.observation_blob))


def _hits(step: int, tab: str, places: Sequence[int]) -> Iterator[StepHit]:
    return (StepHit(step, tab, ordinal, place) for ordinal, place in enumerate(places))


# -- in words


def state_of(state: TrialState) -> str:
    """Return the state of the trial for display, which may also be ``interrupted`` or ``unscored``."""
    if state.problem:
        return "unscored"
    if state.trial.state in {"queued", "running"} and state.run_state not in {"queued", "running"}:
        return state.run_state
    return state.trial.state


def _not_taken_up(state: TrialState) -> bool:
    """Return whether the trial's run is queued but no engine will execute it."""
    return state.run is not None and state.run.state == "queued" and state.run_state == "interrupted"


def _reason(state: TrialState) -> str:
    return one_line(state.trial.error or (state.run.error if state.run else "") or "no reason was recorded", 600)


def why_not(state: TrialState, before: str) -> tuple[str, ...]:
    """Return why a trial ended early and what to do about it, or () if it did not end early."""
    shown = state_of(state)
    if shown == "interrupted" and _not_taken_up(state):
        return "No engine started.", with_keys("Press {trajectory.resume} to start one.")
    text = {
        "interrupted": f"The engine stopped before {before}.",
        "cancelled": f"The trial was cancelled before {before}.",
        "failed": f"The trial failed before {before}: {_reason(state)}",
    }.get(shown)
    key = "{trajectory.resume} to resume." if shown == "interrupted" else "{trajectory.rerun} to run it again."
    return (text, with_keys(f"Press {key}")) if text else ()


def waiting_for(state: TrialState, waited: float = 0.0) -> str:
    """Return what a trial without steps is waiting for and for how long, or "" if it is not waiting."""
    shown = state_of(state)
    if state.step_count or shown not in {"queued", "running"}:
        return ""
    text = "waiting for the engine…"
    if shown == "running":
        text = one_line(state.run.note, 80) if state.run and state.run.note else "waiting for the first step…"
    return f"{text} {waited:.0f} s" if waited >= 1 else text


def marks_of_steps(state: TrialState) -> dict[int, str]:
    """Return a sign per labelled step: a star takes precedence over a remark, and a remark over a tag."""
    marks = {int(part): "#" for part in state.labels if part.isdecimal()}
    marks |= {row.step: "✎" for row in state.annotations if row.step is not None}
    return marks | {int(part): STAR for part, labels in state.labels.items() if part.isdecimal() and STAR in labels}


def header(state: TrialState, score: str = "", waited: float = 0.0) -> Header:
    """Return the header: agent, model, case, number, ``score``, cost and state.

    ``waited`` is the number of seconds spent waiting for the first step.
    """
    trial, order = state.trial, state.place.order
    at = order.index(trial.id) + 1 if trial.id in order else 1
    shown, resume, waiting = state_of(state), key_of("trajectory.resume"), waiting_for(state, waited)
    words = {
        "running": f"live: {waiting}" if waiting else "live",
        "queued": waiting or shown,
        "interrupted": f"no engine started — press {resume}"
        if _not_taken_up(state)
        else f"interrupted — press {resume} to resume",
        "unscored": f"unscored — press {resume} to retry the judge. {state.problem}",
        "failed": f"failed: {_reason(state)}",
    }.get(shown, shown)
    model = trial.model.rpartition("/")[2] if trial.model.startswith("local/") else trial.model
    of = f"trial {order.index(trial.parent) + 1}" if trial.parent in order else trial.parent[:8]
    return (
        HeaderPart(trial.agent, rank=3, name=True),
        HeaderPart(model, rank=5, name=True),
        HeaderPart(trial.case_name or trial.case_id, rank=1, name=True),
        HeaderPart(state.content_suffix, rank=4),
        HeaderPart(f"trial {at} of {len(order):,}", rank=2),
        HeaderPart(f"fork of {of} at step {trial.fork_step}" if trial.parent else "", rank=3),
        HeaderPart(one_line(in_words(state.labels.get("", ())), 60), rank=6),
        HeaderPart(score),
        HeaderPart(use_headline(state.use) if state.use is not None else "", rank=2),
        HeaderPart(money(trial.cost_usd) if trial.cost_usd else ""),
        HeaderPart(f"{STATES[shown]} {words}", reason=True),
    )
