"""The searchable texts of a session, each with its location and the values that conditions filter by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.regeneration.failure_groups import FailedTest
from workbench.results.scores import card_of, lost_points
from workbench.session.labels import SESSION, criterion_part, star_first

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change, TrialRow


@dataclass(frozen=True, slots=True)
class IndexedItem:
    """A trial, task, candidate or session, with the values that conditions filter by."""

    id: str
    kind: str  # ``trial``, ``task``, ``candidate`` or ``session``
    run: str
    title: str
    agent: str = ""  # for a trial
    model: str = ""  # the model of the agent, or of the evaluator
    case: str = ""  # the case of a trial, or the function of a task
    state: str = ""
    verdict: str = ""  # for a candidate
    score: float | None = None  # out of 100, or None if tiers are unscored
    cost: float | None = None  # US dollars
    at: float | None = None  # end time in Unix seconds
    files: str = ""  # paths that the agent read, one per line
    lost: str = ""  # titles of the criteria that lost points, one per line
    order: int = 0  # position in the session
    task: str = ""  # for a candidate
    tag: str = ""  # tags and star, including those of parts of the item, one per line
    error: str = ""  # exceptions of failing tests, or the error of a trial, one per line


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A searchable text: a blob of the session, or ``text`` if it is short."""

    item: str
    kind: str  # one of :data:`workbench.search.query.FIELDS`
    number: int  # step or sample, or 0 if there is none
    blob: str | None = None
    text: str = ""
    criterion: str = ""  # see :func:`workbench.session.labels.criterion_part`


@dataclass(frozen=True, slots=True)
class IndexPart:
    """The unit of indexing, identified by its kind and key in the session's change feed; it is replaced as a whole."""

    kind: str
    item: str
    number: int = 0


def parts_of(changes: Iterable[Change]) -> list[IndexPart]:
    """Return the changed parts, each once, in the order of their first change."""
    found: dict[IndexPart, None] = {}
    for change in changes:
        match change.kind:
            case "trial" | "score" | "accessed_file":
                found[IndexPart("trial", change.item)] = None
            case "step" if change.part and str(change.part).isdecimal():
                found[IndexPart("step", change.item, int(change.part))] = None
            case "annotation" | "label":
                found[IndexPart(change.kind, change.item)] = None
            case "task" | "candidate":
                found[IndexPart(change.kind, change.item)] = None
    return list(found)


def read_part(reader: SessionReader, part: IndexPart) -> tuple[IndexedItem | None, list[IndexEntry]]:
    match part.kind:
        case "trial":
            trial = reader.trial(part.item)
            return (_trial(reader, trial), list(_of_trial(reader, trial))) if trial is not None else (None, [])
        case "step" if reader.trial(part.item) is None:
            return None, []  # of a reader agent, whose answer is found by its candidate
        case "step":
            return None, list(_of_step(reader, part.item, part.number))
        case "annotation" | "label" if part.item == SESSION:
            return _session(reader), list(_of_session(reader, part.kind))
        case "annotation":
            return None, [
                IndexEntry(part.item, "remark", note.step or 0, text=note.text, criterion=note.part)
                for note in reader.annotations(part.item)
            ]
        case "label":
            return _tagged(reader, part.item), []
        case "task":
            return _task(reader, part.item)
    return _candidate(reader, part.item)


def _tagged(reader: SessionReader, key: str) -> IndexedItem | None:
    trial = reader.trial(key)
    return _trial(reader, trial) if trial is not None else _task(reader, key)[0] or _candidate(reader, key)[0]


def _session(reader: SessionReader) -> IndexedItem:
    return IndexedItem(SESSION, "session", "", reader.path.stem, tag=_tags(reader, SESSION))


def _of_session(reader: SessionReader, kind: str) -> Iterator[IndexEntry]:
    if kind == "label":
        yield IndexEntry(SESSION, "name", 0, text=reader.path.stem)
    else:
        yield from (IndexEntry(SESSION, "remark", 0, text=note.text) for note in reader.annotations(SESSION))


def _tags(reader: SessionReader, key: str) -> str:
    # Include the labels of steps and criteria, which are not items themselves.
    return "\n".join(star_first({row.label for row in reader.labels(key)}))


def _trial(reader: SessionReader, trial: TrialRow) -> IndexedItem:
    score, lost = None, ""
    # Use the first judge's scores under the rubric that comparisons use.
    cards = [card for card in reader.scores(trial.id) if card.rubric == "aeo-bench"] or reader.scores(trial.id)
    if cards:
        score = cards[0].points
        lost = "\n".join(title for title, _ in lost_points(card_of(reader, cards[0])))
    read = [seen.path for seen in reader.accessed_files(trial.id) if seen.access == "read"]
    run = reader.run(trial.run_id)
    return IndexedItem(
        trial.id, "trial", trial.run_id, f"{trial.case_name or trial.case_id} · {trial.agent} #{trial.repeat}", trial.agent,
        trial.model, trial.case_name or trial.case_id, trial.state, "", score, trial.cost_usd, trial.finished_at,
        "\n".join(read), lost, int((run.created_at if run is not None else 0.0) * 1e6) + trial.position,
        tag=_tags(reader, trial.id), error=f"{trial.error_kind or ''}\n{trial.error or ''}".strip(),
    )  # fmt: skip


def _of_trial(reader: SessionReader, trial: TrialRow) -> Iterator[IndexEntry]:
    yield IndexEntry(
        trial.id, "name", 0, text=f"{trial.case_name} {trial.agent} {trial.model} {trial.error or ''}".strip()
    )
    for kind, blob in (("readme", trial.readme_blob), ("metadata", trial.metadata_blob)):
        if blob:
            yield IndexEntry(trial.id, kind, 0, blob)
    for score in reader.scores(trial.id):
        card = card_of(reader, score)
        for criterion in card.criteria if card is not None else ():
            if criterion.reason:
                reason = f"{criterion.title} ({score.rubric}): {criterion.reason}"
                part = criterion_part(score.rubric, criterion.tier, criterion.key)
                yield IndexEntry(trial.id, "reason", 0, text=reason, criterion=part)


def _of_step(reader: SessionReader, trial: str, number: int) -> Iterator[IndexEntry]:
    for step in reader.steps(trial, number - 1):
        if step.number != number:
            return
        yield IndexEntry(trial, "step", number, text=f"{step.action} {step.target} {step.problem or ''}".strip())
        if step.answer_blob:
            yield IndexEntry(trial, "step", number, step.answer_blob)
        if step.observation_blob:
            yield IndexEntry(trial, "file" if step.action == "read_file" else "step", number, step.observation_blob)
        call = reader.call(step.call_id) if number == 1 and step.call_id is not None else None
        if call is not None:
            for _, digest in reader.message_digests(call):
                yield IndexEntry(trial, "message", number, digest)
        return


def _task(reader: SessionReader, key: str) -> tuple[IndexedItem | None, list[IndexEntry]]:
    task = reader.task(key)
    if task is None:
        return None, []
    name = f"{task.path}::{task.qualified_name}"
    item = IndexedItem(
        key, "task", task.run_id, name, case=name, state=task.state, order=task.position, tag=_tags(reader, key)
    )
    entries = [IndexEntry(key, "name", 0, text=f"{name} {task.reason or ''}".strip())]
    if task.docstring_blob:
        entries.append(IndexEntry(key, "docstring", 0, task.docstring_blob))
    return item, entries


def _candidate(reader: SessionReader, key: str) -> tuple[IndexedItem | None, list[IndexEntry]]:
    row = reader.candidate(key)
    if row is None or row.control:
        return None, []
    task = reader.task(row.task_id)
    short = task.qualified_name if task is not None else row.task_id
    name = f"{task.path}::{short}" if task is not None else short
    failing = reader.failing_tests(key)
    raised = (FailedTest(test.test_id, test.outcome, test.message).exception for test in failing)
    item = IndexedItem(
        key, "candidate", row.run_id, f"{short} · sample {row.sample + 1}", model=row.evaluator, case=name, state=row.state,
        verdict=row.verdict or "", cost=row.cost_usd, at=row.at, order=task.position if task is not None else 0,
        task=row.task_id, tag=_tags(reader, key), error="\n".join(dict.fromkeys(filter(None, raised))),
    )  # fmt: skip
    entries = [IndexEntry(key, "candidate", row.sample, row.body_blob)] if row.body_blob else []
    for test in failing:
        entries.append(IndexEntry(key, "failing", row.sample, text=f"{test.test_id} {test.message}".strip()))
        if test.traceback_blob:
            entries.append(IndexEntry(key, "failing", row.sample, test.traceback_blob))
    return item, entries
