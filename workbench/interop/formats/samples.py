"""Import tasks, candidates and verdicts of other benchmarks: EvalPlus, HumanEval, RealCode and repotest.

The model of a file of samples is in its name, as EvalPlus names its files: ``openai--gpt-4o.jsonl`` is
``openai/gpt-4o``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.base import python_syntax
from workbench.base.text import one_line
from workbench.interop.formats.problems import ForeignProblem, count_of, list_of, object_of, said, text_of
from workbench.results.samples import next_sample
from workbench.results.tasks import task_states
from workbench.session import SessionReader, SessionWriter
from workbench.session.blobs import put
from workbench.session.identity import imported_id

_STATUSES = {"pass": "passed", "fail": "failed", "timeout": "timeout"}
_LONGEST_TEST = 500
_RESULTS = "_eval_results"


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """A function that is to be written."""

    name: str  # the benchmark's: ``HumanEval/0``, ``src/a.py::f``
    path: str = ""  # of the file, "" if the benchmark has none
    function: str = ""  # qualified name, "" if only samples name the task
    source: str | None = None  # the whole file, if known
    body: str | None = None
    doc: str | None = None
    tests: tuple[str, ...] = ()
    test_count: int = 0  # number of tests, if only that is known
    origin: str = ""  # its repository or benchmark
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForeignCandidate:
    """A body, or a whole program, for a task; ``verdict`` None is untested."""

    task: str
    evaluator: str
    text: str
    verdict: str | None = None
    reason: str | None = None
    failing: tuple[tuple[str, str], ...] = ()  # (test, message)
    extra: Mapping[str, Any] = field(default_factory=dict)  # the entry without its text


def evaluator_of(file_name: str) -> str:
    stem = file_name
    for ending in (".gz", ".jsonl", ".ndjson", ".json"):
        stem = stem.removesuffix(ending)
    return one_line(stem.removesuffix(_RESULTS).replace("--", "/"), 200) or "unknown"


# -- EvalPlus results


def is_results(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and ("hash" in value or "date" in value)


def read_results(value: Mapping[str, Any], file_name: str) -> Iterator[ForeignCandidate | ForeignProblem]:
    if value["eval"] and all(isinstance(entries, dict) for entries in value["eval"].values()):
        raise ForeignProblem("has results of an older EvalPlus, which do not hold the samples; evaluate them anew")
    head = {key: one for key, one in value.items() if key not in {"eval"}}
    for task, entries in value["eval"].items():
        try:
            listed = list_of(entries, f"the results of {said(task)}")
        except ForeignProblem as problem:
            yield problem
            continue
        for number, each in enumerate(listed, 1):
            try:
                yield _result(object_of(each, f"result {number} of {said(task)}"), task, file_name, head)
            except ForeignProblem as problem:
                yield problem


def _result(entry: Mapping[str, Any], task: str, file_name: str, head: Mapping[str, Any]) -> ForeignCandidate:
    statuses = {name: entry.get(f"{name}_status") for name in ("base", "plus")}
    told = {name: status for name, status in statuses.items() if status is not None}
    unknown = [status for status in told.values() if not (isinstance(status, str) and status in _STATUSES)]
    if unknown or "base" not in told:
        raise ForeignProblem(
            f"has the status {said(unknown[0] if unknown else None)} at {said(task)}; EvalPlus has pass, fail and timeout"
        )
    verdicts = [_STATUSES[status] for status in told.values()]
    verdict = next((one for one in ("timeout", "failed") if one in verdicts), "passed")
    failing = [
        (f"{kind}: {one_line(json.dumps(given, ensure_ascii=False), _LONGEST_TEST)}", "")
        for kind in ("base", "plus")
        for given in list_of(entry.get(f"{kind}_fail_tests") or [], f"the failing tests of {said(task)}")
    ]
    return ForeignCandidate(
        task=task,
        evaluator=evaluator_of(file_name),
        text=text_of(entry.get("solution"), f"the solution of {said(task)}"),
        verdict=verdict,
        reason=", ".join(f"{name} tests: {status}" for name, status in told.items()),
        failing=tuple(dict.fromkeys(failing)),
        extra={"entry": {key: one for key, one in entry.items() if key != "solution"}, "head": dict(head)},
    )


# -- lines


def read_item(value: object, file_name: str) -> tuple[str, ForeignTask | ForeignCandidate] | None:
    """Return the format of a JSON value with its task or candidate; None if it is neither."""
    if not isinstance(value, dict):
        return None
    if {"left_context", "gt"} <= value.keys():
        return "repotest", read_row(value)
    if {"task_id", "prompt", "entry_point"} <= value.keys():
        return "humaneval", read_problem(value)
    if "task_id" in value and {"solution", "completion"} & value.keys():
        return "evalplus", read_sample(value, file_name)
    return None


def read_row(value: Mapping[str, Any]) -> ForeignTask:
    left, body = text_of(value.get("left_context"), "left_context"), text_of(value.get("gt"), "gt")
    right = text_of(value.get("right_context", ""), "right_context")
    path = text_of(value.get("path_from_root") or value.get("fn") or "", "path_from_root")
    function = value.get("qualified_name") or str(value.get("intent") or "").removesuffix("[function]").strip()
    tests = value.get("PASS_TO_PASS") or []
    doc = value.get("doc")
    text_of(function, "qualified_name")
    name = value.get("task_id")
    return ForeignTask(
        name=name if isinstance(name, str) and name else f"{path}::{function}",
        path=path,
        function=function,
        source=left + body + right,
        body=body,
        doc=doc if isinstance(doc, str) else None,
        tests=tuple(text_of(one, "PASS_TO_PASS") for one in list_of(tests, "PASS_TO_PASS")),
        test_count=count_of(value.get("total_tests")) or len(tests),
        origin=f"{value.get('repo', '')}@{value.get('snapshot') or value.get('base_commit') or ''}",
        extra={key: one for key, one in value.items() if key not in {"left_context", "right_context", "gt"}}
        | {"lengths": [len(left), len(body)]},
    )


def read_problem(value: Mapping[str, Any]) -> ForeignTask:
    prompt, entry = text_of(value.get("prompt"), "prompt"), text_of(value.get("entry_point"), "entry_point")
    solution = value.get("canonical_solution")
    body = solution if isinstance(solution, str) else None
    return ForeignTask(
        name=text_of(value.get("task_id"), "task_id"),
        function=entry,
        source=prompt + (body or ""),
        body=body,
        doc=_docstring(prompt, entry),
        extra={key: one for key, one in value.items() if key not in {"prompt", "canonical_solution"}}
        | {"lengths": [len(prompt), len(body or "")]},
    )


def _docstring(prompt: str, entry: str) -> str | None:
    import ast

    try:
        tree = python_syntax.parse(f"{prompt}\n    pass\n")
    except python_syntax.UNREADABLE:
        return None
    found = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == entry]
    return ast.get_docstring(found[-1], clean=False) if found else None


def read_sample(value: Mapping[str, Any], file_name: str) -> ForeignCandidate:
    """Return the candidate of a line: a sample, or a result of HumanEval, which adds ``result`` and ``passed``."""
    style = "solution" if "solution" in value else "completion"
    verdict = reason = None
    if isinstance(value.get("passed"), bool):
        reason = one_line(str(value.get("result") or ""), 400) or None
        verdict = "passed" if value["passed"] else "timeout" if reason == "timed out" else "failed"
    return ForeignCandidate(
        task=text_of(value.get("task_id"), "task_id"),
        evaluator=evaluator_of(file_name),
        text=text_of(value.get(style), style),
        verdict=verdict,
        reason=reason,
        extra={"line": {key: one for key, one in value.items() if key != style}, "style": style},
    )


def task_of_sample(name: str) -> ForeignTask:
    path, between, function = name.partition("::")
    return ForeignTask(name, path if between else "", function if between else "")


class SampleRecorder:
    """Records tasks and candidates, each in one transaction.

    A task has the same identity in every file that names it, so samples of several models are side by side; a file of
    results gives verdicts to existing samples. ``run`` returns the run for new tasks and is called with the first;
    ``origin`` has ``format``, ``source`` and ``digest`` of the file.
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
        """Record a task, or complete one known only by samples; return whether it was new."""
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
        """Record a candidate, or the verdict of one without any; return whether something was new."""
        task = task_of_sample(candidate.task)
        self.task(task)
        # The same text twice is two samples; in which order a file has them is nothing.
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
