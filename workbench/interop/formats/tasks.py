"""Tasks of other benchmarks: problems of HumanEval, and rows of RealCode and repotest."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import python_syntax
from workbench.base.errors import UsageError
from workbench.base.files import replaced
from workbench.interop.formats.exporting import CandidateFormat, Written, left_out, write_lines
from workbench.interop.formats.samples import ForeignTask, task_name
from workbench.interop.formats.tables import write_parquet
from workbench.interop.formats.values import count_of, list_of, text_of, text_or_none, without
from workbench.session import SessionReader
from workbench.session.rows import TaskRow

if TYPE_CHECKING:
    from workbench.repository.functions import Function

_REST_OF_LINE = re.compile(r"[ \t]*\r?\n")


class RepotestRows(CandidateFormat):
    """Tasks with the text before and after the body, as JSON lines or Parquet depending on the suffix."""

    about = "tasks as rows of RealCode and repotest, JSON lines or Parquet"

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and {"left_context", "gt"} <= value.keys()

    def item(self, value: Mapping[str, Any], path: Path, place: str) -> ForeignTask:
        left, body = text_of(value.get("left_context"), "left_context"), text_of(value.get("gt"), "gt")
        right = text_of(value.get("right_context", ""), "right_context")
        file = text_of(value.get("path_from_root") or value.get("fn") or "", "path_from_root")
        function = value.get("qualified_name") or str(value.get("intent") or "").removesuffix("[function]").strip()
        tests = value.get("PASS_TO_PASS") or []
        text_of(function, "qualified_name")
        return ForeignTask(
            name=text_or_none(value.get("task_id")) or f"{file}::{function}",
            path=file,
            function=function,
            source=left + body + right,
            body=body,
            doc=text_or_none(value.get("doc")),
            tests=tuple(text_of(one, "PASS_TO_PASS") for one in list_of(tests, "PASS_TO_PASS")),
            test_count=count_of(value.get("total_tests")) or len(tests),
            origin=f"{value.get('repo', '')}@{value.get('snapshot') or value.get('base_commit') or ''}",
            extra=without(value, "left_context", "right_context", "gt") | {"lengths": [len(left), len(body)]},
        )

    def put(self, reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
        rows, left = [], 0
        for task in tasks:
            name, original = task_name(reader, task)
            parts = split(reader, task, original)
            if parts is None:
                left += 1
                continue
            rest = without(original, "name", "lengths")
            contexts = {"left_context": parts[0], "gt": parts[1], "right_context": parts[2]}
            if rest:
                rows.append({**rest, **contexts})
                continue
            run = reader.run(task.run_id)
            plan = reader.decoded(run.config if run else None, dict, f"the plan of run {task.run_id}")
            tests = reader.decoded(task.tests, list, f"the tests of task {task.id}")
            rows.append(
                {
                    "repo": plan.get("source", ""),
                    "fn": task.path,
                    "path_from_root": task.path,
                    "intent": f"{task.qualified_name} [function]",
                    **contexts,
                    "doc": reader.text_or_none(task.docstring_blob, f"the docstring of task {task.id}"),
                    "total_tests": task.test_count,
                    "PASS_TO_PASS": tests,
                    "task_id": name,
                    "qualified_name": task.qualified_name,
                    "occurrence": task.occurrence,
                    "snapshot": task.snapshot,
                }
            )
        if not rows:
            raise UsageError("This session has the file of no task, so there are no rows to write.")
        if output.suffix == ".parquet":
            with replaced(output) as building:
                write_parquet(building, rows)
        else:
            write_lines(output, rows)
        return Written(len(rows), "rows", left_out(left, "tasks without their file were omitted."))


class HumanEvalProblems(CandidateFormat):
    """Tasks that are top-level functions; imported problems are written unchanged.

    ``check`` patches the candidate into its module and runs the task's tests, so it must be run in the repository's
    folder and environment.
    """

    about = "tasks as problems of HumanEval, JSON lines"

    def fits(self, value: Any) -> bool:
        keys = {"task_id", "prompt", "entry_point"}
        return isinstance(value, dict) and keys <= value.keys() and not {"left_context", "gt"} <= value.keys()

    def item(self, value: Mapping[str, Any], path: Path, place: str) -> ForeignTask:
        prompt, entry = text_of(value.get("prompt"), "prompt"), text_of(value.get("entry_point"), "entry_point")
        body = text_or_none(value.get("canonical_solution"))
        return ForeignTask(
            name=text_of(value.get("task_id"), "task_id"),
            function=entry,
            source=prompt + (body or ""),
            body=body,
            doc=_docstring(prompt, entry),
            extra=without(value, "prompt", "canonical_solution") | {"lengths": [len(prompt), len(body or "")]},
        )

    def put(self, reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
        lines, left = [], 0
        for task in tasks:
            name, original = task_name(reader, task)
            parts = split(reader, task, original)
            if parts is not None and "entry_point" in original:
                rest = without(original, "name", "lengths")
                lines.append({**rest, "prompt": parts[0], "canonical_solution": parts[1]})
                continue
            tests = reader.decoded(task.tests, list, f"the tests of task {task.id}")
            if parts is None or "." in task.qualified_name or not task.path.endswith(".py") or not tests:
                left += 1
                continue
            prompt, solution = prompt_and_solution(parts)
            problem = {"task_id": name, "prompt": prompt, "entry_point": task.qualified_name}
            lines.append({**problem, "canonical_solution": solution, "test": _check(task, tests)})
        if not lines:
            raise UsageError("No task is a top-level function with a known file, so there are no problems to write.")
        write_lines(output, lines)
        why = "tasks were omitted, because they are methods or nested functions, or their files are unknown."
        return Written(len(lines), "problems", left_out(left, why))


def _docstring(prompt: str, entry: str) -> str | None:
    try:
        tree = python_syntax.parse(f"{prompt}\n    pass\n")
    except python_syntax.UNREADABLE:
        return None
    found = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == entry]
    return ast.get_docstring(found[-1], clean=False) if found else None


def _check(task: TaskRow, tests: list[str]) -> str:
    path = task.path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    module = path.replace("/", ".")
    return (
        "# Run in the repository's folder, with its environment.\n"
        "def check(candidate):\n"
        "    import importlib, sys\n"
        "    import pytest\n"
        f"    sys.path[:0] = {['src', '.'] if task.path.startswith('src/') else ['.']!r}\n"
        f"    module = importlib.import_module({module!r})\n"
        "    for name, value in vars(module).items():\n"
        "        candidate.__globals__.setdefault(name, value)\n"
        f"    setattr(module, {task.qualified_name!r}, candidate)\n"
        f"    assert pytest.main(['-q', '-p', 'no:cacheprovider', *{tests!r}]) == 0\n"
    )


def function_of(data: bytes, task: TaskRow) -> Function | None:
    from workbench.repository.functions import functions_by_name

    return functions_by_name(data, task.path).get((task.qualified_name, task.occurrence))


def split(reader: SessionReader, task: TaskRow, original: dict[str, Any]) -> tuple[str, str, str] | None:
    source = reader.text_or_none(task.source_blob, f"the file of task {task.id}")
    body = reader.text_or_none(task.body_blob, f"the body of task {task.id}")
    lengths = original.get("lengths")
    if source is None or body is None:
        return None
    if isinstance(lengths, list) and len(lengths) == 2 and all(isinstance(one, int) for one in lengths):
        start, end = lengths[0], lengths[0] + lengths[1]
        return source[:start], source[start:end], source[end:]
    data = source.encode("utf-8", "surrogateescape")
    function = function_of(data, task)
    if function is None:
        return None
    start, end = function.body
    return tuple(part.decode("utf-8", "surrogateescape") for part in (data[:start], data[start:end], data[end:]))  # type: ignore[return-value]


def prompt_and_solution(parts: tuple[str, str, str]) -> tuple[str, str]:
    """Return the prompt and the solution of a problem."""
    line = _REST_OF_LINE.match(parts[1])
    rest = line[0] if line else ""
    return parts[0] + rest, parts[1][len(rest) :]
