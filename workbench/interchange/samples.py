"""Tasks, candidates and verdicts as other benchmarks write them, in: EvalPlus, HumanEval, RealCode and repotest.

A file of samples does not say who wrote them; its name does, as EvalPlus names its files: ``openai--gpt-4o.jsonl`` is ``openai/gpt-4o``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench import python_syntax
from workbench.interchange.problems import ForeignProblem, count_of, list_of, object_of, said, text_of
from workbench.text import one_line

_STATUSES = {"pass": "passed", "fail": "failed", "timeout": "timeout"}
_LONGEST_TEST = 500
_RESULTS = "_eval_results"


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """A task: a function that is to be written.

    Attributes:
        name: What the benchmark calls it: ``HumanEval/0``, ``src/a.py::f``.
        path: The file, "" where the benchmark has none.
        function: Qualified name of the function, "" where only samples name the task.
        source: The whole file, None where it is not known.
        body: The original body.
        doc: The docstring.
        tests: Ids of its tests.
        test_count: How many tests it has, where only that is known.
        origin: The repository or benchmark that it belongs to.
        extra: All that the benchmark said.
    """

    name: str
    path: str = ""
    function: str = ""
    source: str | None = None
    body: str | None = None
    doc: str | None = None
    tests: tuple[str, ...] = ()
    test_count: int = 0
    origin: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForeignCandidate:
    """A body, or a whole program, that somebody wrote for a task; ``verdict`` is None where it was not tested.

    ``failing`` has (test, message) pairs; ``extra`` is the entry without its text.
    """

    task: str
    evaluator: str
    text: str
    verdict: str | None = None
    reason: str | None = None
    failing: tuple[tuple[str, str], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


def evaluator_of(file_name: str) -> str:
    """Return the evaluator that the name of a file of samples or results names."""
    stem = file_name
    for ending in (".gz", ".jsonl", ".ndjson", ".json"):
        stem = stem.removesuffix(ending)
    return one_line(stem.removesuffix(_RESULTS).replace("--", "/"), 200) or "unknown"


# -- EvalPlus results


def is_results(value: object) -> bool:
    """Return whether a JSON value is a file of results of EvalPlus."""
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and ("hash" in value or "date" in value)


def read_results(value: Mapping[str, Any], file_name: str) -> Iterator[ForeignCandidate | ForeignProblem]:
    """Return the candidates of a file of results, sample by sample, or what is wrong with one.

    Raises:
        ForeignProblem: The file is of an EvalPlus whose results do not hold the samples.
    """
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


def is_row(value: object) -> bool:
    """Return whether a JSON value is a row of RealCode or repotest."""
    return isinstance(value, dict) and {"left_context", "gt"} <= value.keys()


def is_problem(value: object) -> bool:
    """Return whether a JSON value is a problem of HumanEval."""
    return isinstance(value, dict) and {"task_id", "prompt", "entry_point"} <= value.keys()


def is_sample(value: object) -> bool:
    """Return whether a JSON value is a sample, tested or not."""
    return isinstance(value, dict) and "task_id" in value and bool({"solution", "completion"} & value.keys())


def read_row(value: Mapping[str, Any]) -> ForeignTask:
    """Return the task of a row of RealCode or repotest.

    Raises:
        ForeignProblem: It is none.
    """
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
    """Return the task of a problem of HumanEval.

    Raises:
        ForeignProblem: It is none.
    """
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
    """Return the candidate of a line: a sample, or a result of HumanEval, which adds ``result`` and ``passed``.

    Raises:
        ForeignProblem: It is none.
    """
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
    """Return what is known of a task of which there are only samples: its name, which may be ``path::function``."""
    path, between, function = name.partition("::")
    return ForeignTask(name, path if between else "", function if between else "")
