"""Why the candidates of a run fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.regeneration.failure_groups import (
    WRONG_VERDICTS,
    FailedCandidate,
    FailedTest,
    FailingTestCount,
    FailureGroup,
    FailureLocation,
    failing_most,
    failure_groups,
    lead_of,
    place_of,
)
from workbench.regeneration.outcome import Unsolved, VerdictSequence, unsolved
from workbench.session.groups import OF_GROUP, Group
from workbench.session.sample_counts import is_counted

if TYPE_CHECKING:
    from workbench.regeneration.outcome import TaskResult
    from workbench.session.reader import SessionReader

_CHUNK = 200  # tasks per query, so that not all their failing tests are in memory at once
_BODY, _TRACEBACK = 200_000, 40_000  # maximum number of bytes to read of each text
_WRONG = ", ".join(f"'{verdict}'" for verdict in WRONG_VERDICTS)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why candidates fail, by kind of failure and by test, most frequent first."""

    failed: tuple[FailedCandidate, ...]
    groups: tuple[FailureGroup, ...]
    tests: tuple[FailingTestCount, ...]
    unsolved: tuple[Unsolved, ...]  # tasks that no group solves

    @property
    def candidates(self) -> int:
        return len(self.failed)


def diagnose(
    reader: SessionReader,
    run_id: str,
    results: Mapping[Group, Sequence[TaskResult]],
    group: Group | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Diagnosis:
    """Return why the candidates of a run fail, without excluded tasks and controls.

    ``results`` (the tasks of each group) serves to find tasks that no group solves. Once ``stopped`` returns true, the
    result covers what was read so far.
    """
    candidates = tuple(failed_candidates(reader, run_id, group, stopped))
    return Diagnosis(candidates, failure_groups(candidates), failing_most(candidates), unsolved(results))


def failed_candidates(
    reader: SessionReader, run_id: str, group: Group | None = None, stopped: Callable[[], bool] = lambda: False
) -> Iterator[FailedCandidate]:
    """Yield the candidates of a run that did not pass, in the order of its tasks; see :func:`diagnose`."""
    tasks = [row[0] for row in reader.query(
        "SELECT id FROM tasks WHERE run_id = ? AND state != 'excluded' ORDER BY position, id", (run_id,)
    )]  # fmt: skip
    texts = _Texts(reader)
    for start in range(0, len(tasks), _CHUNK):
        if stopped():
            return
        yield from _of_tasks(reader, tasks[start : start + _CHUNK], group, texts)


def _of_tasks(
    reader: SessionReader, tasks: Sequence[str], group: Group | None, texts: _Texts
) -> Iterator[FailedCandidate]:
    chosen = f"task_id IN ({', '.join('?' * len(tasks))}) AND control = 0 AND verdict IN ({_WRONG})"
    arguments: list[object] = [*tasks]
    if group is not None:
        chosen += f" AND {OF_GROUP}"
        arguments += group.arguments
    failing: dict[str, list[tuple[FailedTest, str | None]]] = {}
    for candidate, test, outcome, message, trace in reader.query(
        "SELECT candidate_id, test_id, outcome, message, traceback_blob FROM failing_tests "
        f"WHERE candidate_id IN (SELECT id FROM candidates WHERE {chosen}) ORDER BY candidate_id, test_id",
        arguments,
    ):
        failing.setdefault(candidate, []).append((FailedTest(texts.one(test), outcome, texts.one(message)), trace))
    places = {task: place for place, task in enumerate(tasks)}
    rows = reader.query(
        "SELECT candidates.id, task_id, path, qualified_name || CASE WHEN occurrence > 1 THEN '#' || occurrence ELSE '' END, "
        "candidates.sample, verdict, coalesce(verdict_reason, ''), tasks.body_blob || ' ' || coalesce(candidates.body_blob, ''), "
        "docs, evaluator, prompt, context, settings, docs_scope "
        f"FROM candidates JOIN tasks ON tasks.id = task_id WHERE {chosen}",
        arguments,
    )
    for row in sorted(rows, key=lambda row: (places[row[1]], row[9:13], row[4], row[0])):
        mine = failing.get(row[0], [])
        yield FailedCandidate(
            id=row[0],
            task=row[1],
            path=row[2],
            function=row[3],
            group=Group(*row[8:14]),
            sample=row[4],
            verdict=row[5],
            reason=row[6],
            tests=texts.same(tuple(test.test for test, _ in mine)),
            lead=texts.lead(mine),
            changed=texts.changed(row[7]),
        )


class _Texts:
    """Reads each distinct text once, and keeps one copy of data that many candidates share."""

    def __init__(self, reader: SessionReader) -> None:
        self._reader = reader
        self._places: dict[str, FailureLocation] = {}
        self._changed: dict[str, int] = {}
        self._tests: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._texts: dict[str, str] = {}

    def one(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    def same(self, tests: tuple[str, ...]) -> tuple[str, ...]:
        return self._tests.setdefault(tests, tests)

    def lead(self, failing: Sequence[tuple[FailedTest, str | None]]) -> FailedTest | None:
        """Return the leading test with its position.

        Among tests with the same error, a test with a traceback is preferred.
        """
        lead = lead_of([test for test, trace in failing if trace] or [test for test, _ in failing])
        trace = next((trace for test, trace in failing if test is lead), None)
        # For a wrong value, the test and the value suffice, so omit the traceback.
        return lead if lead is None or trace is None or lead.wrong_value else replace(lead, place=self._place(trace))

    def _place(self, digest: str) -> FailureLocation:
        found = self._places.get(digest)
        if found is None:
            size = self._reader.size(digest)
            text = (
                self._reader.text_or_none(digest, "a traceback")
                if size <= _TRACEBACK
                else self._reader.shown(digest, "a traceback", _TRACEBACK)
            )
            found = self._places[digest] = place_of(text or "")
        return found

    def changed(self, bodies: str | None) -> int:
        """Return the distance between two bodies.

        ``bodies`` has their digests: the original's, a space, and the candidate's or "".
        """
        if bodies is None:
            return 0
        if bodies not in self._changed:
            old, new = (Counter(self._lines(digest)) for digest in bodies.split(" ", 1))
            self._changed[bodies] = ((old - new) + (new - old)).total()
        return self._changed[bodies]

    def _lines(self, digest: str) -> list[str]:
        text = "" if not digest else self._reader.shown(digest, "a body", _BODY)
        return [line.strip() for line in text.split("\n") if line.strip()]


def verdict_sequences(reader: SessionReader, run_id: str, group: Group) -> tuple[VerdictSequence, ...]:
    """Return the samples of each task that is not excluded, by number."""
    rows = reader.query(
        "SELECT tasks.id, snapshot, path, verdict FROM tasks JOIN candidates ON task_id = tasks.id "
        f"WHERE tasks.run_id = ? AND tasks.state != 'excluded' AND {OF_GROUP} AND control = 0 "
        "ORDER BY tasks.position, tasks.id, candidates.sample",
        (run_id, *group.arguments),
    )
    found: dict[str, tuple[str, str, list[bool | None]]] = {}
    for task, snapshot, path, verdict in rows:
        found.setdefault(task, (snapshot, path, []))[2].append(verdict == "passed" if is_counted(verdict) else None)
    return tuple(
        VerdictSequence(task, snapshot, path, tuple(passed)) for task, (snapshot, path, passed) in found.items()
    )
