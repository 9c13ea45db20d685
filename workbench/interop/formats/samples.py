"""Tasks, candidates and verdicts of other benchmarks: data model, recording and export."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from workbench.base.errors import UsageError
from workbench.base.files import shown
from workbench.base.glyphs import VERDICTS
from workbench.base.text import one_line
from workbench.interop.formats.trajectory import Count
from workbench.results.samples import next_sample
from workbench.results.tasks import task_states
from workbench.session import SessionReader, SessionWriter
from workbench.session.blobs import put
from workbench.session.groups import CONTROLS
from workbench.session.identity import imported_id
from workbench.session.rows import CandidateRow, TaskRow

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """A function to implement, as defined by another benchmark."""

    name: str  # the benchmark's id of the task: ``HumanEval/0``, ``src/a.py::f``
    path: str = ""  # file path, or "" if the benchmark has no files
    function: str = ""  # qualified name, or "" if the task is known only from samples
    source: str | None = None  # the complete file, if known
    body: str | None = None
    doc: str | None = None
    tests: tuple[str, ...] = ()
    test_count: Count = 0  # number of tests, if the tests themselves are unknown
    origin: str = ""  # name of the repository or benchmark
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForeignCandidate:
    """A body or whole program for a task; ``verdict`` is None if it was not tested."""

    task: str
    evaluator: str
    text: str
    verdict: Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(VERDICTS)})$")] | None = None
    reason: str | None = None
    failing: tuple[tuple[str, str], ...] = ()  # failed tests, as (test, message)
    extra: Mapping[str, Any] = field(default_factory=dict)  # the original entry without its text


def task_of_sample(name: str) -> ForeignTask:
    path, between, function = name.partition("::")
    return ForeignTask(name, path if between else "", function if between else "")


class SampleRecorder:
    """Records tasks and candidates, each in its own transaction.

    A task has the same identity in all files, so samples of several models share it; a results file adds verdicts to
    existing samples. ``run`` returns the run for new tasks, and is called for the first one. ``origin`` contains the
    ``format``, ``source`` and ``digest`` of the file.
    """

    def __init__(
        self, reader: SessionReader, writer: SessionWriter, run: Callable[[], str], origin: Mapping[str, str]
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._run = run
        self._origin = origin
        self._samples: dict[tuple[str, str, str], int] = {}

    def task(self, task: ForeignTask) -> bool:
        """Record a task, or complete one known only from samples; return whether anything was new."""
        key = _task_id(task)
        known = self._reader.imported(key)
        if known is not None and (known.extra_blob is not None or not task.extra):
            return False
        run = self._run() if known is None else ""
        with self._writer.transaction() as connection:
            values: dict[str, Any] = {
                "path": one_line(task.path or task.name, 500),
                "qualified_name": one_line(task.function or task.name, 300),
                "tests": json.dumps(list(task.tests)),
                "test_count": task.test_count or len(task.tests),
                "source_blob": put(connection, task.source) if task.source is not None else None,
                "body_blob": put(connection, task.body) if task.body is not None else None,
                "docstring_blob": put(connection, task.doc) if task.doc is not None else None,
            }
            noted = json.dumps({"name": task.name, **task.extra}, ensure_ascii=False) if task.extra else None
            extra = put(connection, noted) if noted else None
            if known is not None:
                self._writer.update("tasks", {"id": key}, values)
                self._writer.update("imported", {"item": key}, {**self._origin, "extra_blob": extra})
                return True
            place = task_states(self._reader, run).total()
            values |= {"snapshot": one_line(task.origin, 200), "occurrence": 1, "docs": "original"}
            self._writer.insert("tasks", {"id": key, "run_id": run, "position": place, **values})
            self._note(key, extra)
        return True

    def candidate(self, candidate: ForeignCandidate) -> bool:
        """Record a candidate, or the verdict of an untested candidate; return whether anything was new."""
        task = task_of_sample(candidate.task)
        self.task(task)
        # Equal texts are distinct samples, and their order in a file does not matter.
        of = (_task_id(task), candidate.evaluator, candidate.text)
        nth = self._samples[of] = self._samples.get(of, 0) + 1
        key = imported_id(json.dumps(["candidate", *of, nth], ensure_ascii=False))
        row = self._reader.candidate(key)
        if row is not None and (row.verdict is not None or candidate.verdict is None):
            return False
        recorded = self._reader.task(of[0])
        sample = next_sample(self._reader, of[0], candidate.evaluator)
        with self._writer.transaction() as connection:
            verdict: dict[str, Any] = {
                "state": "cancelled" if candidate.verdict is None else "done",
                "verdict": candidate.verdict,
                "verdict_reason": candidate.reason,
            }
            extra = put(connection, json.dumps(dict(candidate.extra), ensure_ascii=False))
            if row is None:
                run = recorded.run_id if recorded is not None else self._run()
                values = {
                    "id": key,
                    "run_id": run,
                    "task_id": of[0],
                    "evaluator": candidate.evaluator,
                    "sample": sample,
                }
                body = put(connection, candidate.text)
                self._writer.insert("candidates", {**values, "body_blob": body, **verdict})
                self._note(key, extra)
            else:
                self._writer.update("candidates", {"id": key}, verdict)
                self._writer.update("imported", {"item": key}, {**self._origin, "extra_blob": extra})
            for test, message in candidate.failing:
                failing = {"candidate_id": key, "test_id": test, "outcome": "failed", "message": message}
                self._writer.insert("failing_tests", failing, conflict="IGNORE")
        return True

    def _note(self, item: str, extra: str | None) -> None:
        self._writer.insert("imported", {"item": item, **self._origin, "extra_blob": extra, "at": time.time()})


def _task_id(task: ForeignTask) -> str:
    return imported_id(json.dumps(["task", task.name, task.origin], ensure_ascii=False))


# -- export


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate with its task and texts.

    ``name`` is the task's name, and ``origin`` the stored original of an import.
    """

    task: TaskRow
    row: CandidateRow
    name: str
    text: str
    origin: dict[str, Any]


def tasks_of(
    reader: SessionReader, session: Path, items: Sequence[str], kinds: Sequence[str] = ("regenerate",)
) -> list[TaskRow]:
    """Return the ready tasks of a session's runs of some kinds, or of the runs in ``items``.

    Raises UsageError if there are none.
    """
    runs = {run.id: run.kind for run in reader.runs() if run.has_candidates}
    for item in items:
        if not any(run.startswith(item) for run in runs):
            raise UsageError(f"{session.name} has no run of tasks {item!r}; `workbench show {session}` lists them.")
    chosen = {run: kind for run, kind in runs.items() if not items or any(run.startswith(item) for item in items)}
    tasks = [
        task for run, kind in chosen.items() if kind in kinds for task in reader.tasks(run) if task.state == "ready"
    ]
    if not tasks:
        only = " but usage tasks, which this format cannot hold" if "usage" in chosen.values() else " to export"
        raise UsageError(f"{session.name} has no task{only}.")
    return tasks


def task_name(reader: SessionReader, task: TaskRow) -> tuple[str, dict[str, Any]]:
    """Return a task's name in exported files, and the stored original if it was imported."""
    origin = reader.imported(task.id)
    number = f"#{task.occurrence}" if task.occurrence > 1 else ""
    if origin is None:
        return f"{task.path}::{task.qualified_name}{number}", {}
    original = reader.decoded(
        reader.text_or_none(origin.extra_blob, f"the origin of task {task.id}"), dict, f"the origin of task {task.id}"
    )
    if original:
        return str(original.get("name")), original
    return task.path if task.path == task.qualified_name else f"{task.path}::{task.qualified_name}", {}


def entries(reader: SessionReader, tasks: list[TaskRow]) -> Iterator[Entry]:
    for task in tasks:
        name, _ = task_name(reader, task)
        for row in reader.candidates(task.run_id, task.id):
            if row.control or row.evaluator in CONTROLS:
                continue
            origin = reader.imported(row.id)
            of = f"the origin of candidate {row.id}"
            original = reader.decoded(reader.text_or_none(origin.extra_blob, of), dict, of) if origin else {}
            yield Entry(
                task, row, name, reader.text_or_none(row.body_blob, f"the body of candidate {row.id}") or "", original
            )


def by_evaluator(reader: SessionReader, tasks: list[TaskRow]) -> dict[str, list[Entry]]:
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for one in entries(reader, tasks):
        row, task = one.row, one.task
        groups.setdefault((row.evaluator, task.docs_words, row.prompt, row.context, row.settings), []).append(one)
    if not groups:
        raise UsageError("There are no candidates to export (controls are not exported).")
    named: dict[str, list[Entry]] = {}
    for key, group in groups.items():
        first = name = f"{key[0]} {key[3]}" if key[1] == "usage" else key[0]
        number = 1
        while name in named:
            number += 1
            name = f"{first} ({number})"
        named[name] = group
    return named


def files_of(
    reader: SessionReader, tasks: list[TaskRow], output: Path, ending: str
) -> Iterator[tuple[Path, list[Entry]]]:
    """Yield a file for each evaluator with its candidates; as in EvalPlus, the file is named after the model."""
    groups = by_evaluator(reader, tasks)
    special = output.exists() and not output.is_file() and not output.is_dir()
    one_file = output.suffix in {".json", ".jsonl"}
    if one_file and len(groups) > 1:
        raise UsageError(
            f"There are {len(groups)} evaluators or groups, but {shown(output)} is a file; name a folder or one run."
        )
    for name, group in groups.items():
        file = f"{_UNSAFE.sub('_', name.replace('/', '--'))[:120]}{ending}"
        yield (output if one_file or (special and len(groups) == 1) else output / file), group
