"""Tasks, candidates and verdicts of a session for other benchmarks: EvalPlus, HumanEval, RealCode and repotest, JUnit XML."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from workbench.base.errors import UsageError
from workbench.base.files import replaced, shown
from workbench.base.text import clean
from workbench.interop.formats.exporting import Written, write_text
from workbench.interop.formats.problems import without
from workbench.session import SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.rows import CandidateRow, TaskRow
from workbench.session.verdict_counts import is_counted

if TYPE_CHECKING:
    from workbench.repository.functions import Function

_STATUS = {"passed": "pass", "timeout": "timeout"}
_REST_OF_LINE = re.compile(r"[ \t]*\r?\n")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# What XML 1.0 cannot hold at all.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate with its task and texts; ``name`` is the task's, ``origin`` what an import kept of it."""

    task: TaskRow
    row: CandidateRow
    name: str
    text: str
    origin: dict[str, Any]


def write_candidates(session: Path, to: str, output: Path, items: Sequence[str]) -> Written:
    with SessionReader(session) as reader:
        runs = _runs(reader, session, items)
        tasks = [task for run in runs for task in reader.tasks(run) if task.state == "ready"]
        if not tasks:
            raise UsageError(f"{session.name} has no task to export.")
        writers: dict[str, Callable[[SessionReader, list[TaskRow], Path], Written]] = {
            "humaneval": write_problems,
            "repotest": write_rows,
            "evalplus": write_samples,
            "evalplus-results": write_results,
            "junit": write_junit,
        }
        return writers[to](reader, tasks, output)


def _runs(reader: SessionReader, session: Path, items: Sequence[str]) -> list[str]:
    runs = [run.id for run in reader.runs() if run.kind == "regenerate"]
    for item in items:
        if not any(run.startswith(item) for run in runs):
            raise UsageError(f"{session.name} has no regeneration run {item!r}; `workbench show {session}` lists them.")
    return [run for run in runs if not items or any(run.startswith(item) for item in items)]


def task_name(reader: SessionReader, task: TaskRow) -> tuple[str, dict[str, Any]]:
    """Return the name of a task in files, and what an import kept of it."""
    origin = reader.imported(task.id)
    number = f"#{task.occurrence}" if task.occurrence > 1 else ""
    if origin is None:
        return f"{task.path}::{task.qualified_name}{number}", {}
    kept = reader.decoded(
        reader.kept(origin.extra_blob, f"the origin of task {task.id}"), dict, f"the origin of task {task.id}"
    )
    if kept:
        return str(kept.get("name")), kept
    return task.path if task.path == task.qualified_name else f"{task.path}::{task.qualified_name}", {}


def entries(reader: SessionReader, tasks: list[TaskRow]) -> Iterator[Entry]:
    for task in tasks:
        name, _ = task_name(reader, task)
        for row in reader.candidates(task.run_id, task.id):
            if row.control or row.evaluator in CONTROLS:
                continue
            origin = reader.imported(row.id)
            of = f"the origin of candidate {row.id}"
            kept = reader.decoded(reader.kept(origin.extra_blob, of), dict, of) if origin else {}
            yield Entry(task, row, name, reader.kept(row.body_blob, f"the body of candidate {row.id}") or "", kept)


def _by_evaluator(reader: SessionReader, tasks: list[TaskRow]) -> dict[str, list[Entry]]:
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for one in entries(reader, tasks):
        row, task = one.row, one.task
        groups.setdefault((row.evaluator, task.docs_words, row.prompt, row.context, row.settings), []).append(one)
    if not groups:
        raise UsageError("There is no candidate to export; controls are none.")
    named: dict[str, list[Entry]] = {}
    for key, group in groups.items():
        name, number = key[0], 1
        while name in named:
            number += 1
            name = f"{key[0]} ({number})"
        named[name] = group
    return named


def _files(
    reader: SessionReader, tasks: list[TaskRow], output: Path, ending: str
) -> Iterator[tuple[Path, list[Entry]]]:
    """Yield the file of each evaluator with its candidates: EvalPlus' files hold one each, named after it."""
    groups = _by_evaluator(reader, tasks)
    special = output.exists() and not output.is_file() and not output.is_dir()
    one_file = output.suffix in {".json", ".jsonl"}
    if one_file and len(groups) > 1:
        raise UsageError(
            f"These are {len(groups)} evaluators or groups, and {shown(output)} is one file; name a folder or one run."
        )
    for name, group in groups.items():
        file = f"{_UNSAFE.sub('_', name.replace('/', '--'))[:120]}{ending}"
        yield (output if one_file or (special and len(groups) == 1) else output / file), group


def _told(count: int, what: str, left: int, why: str) -> Written:
    return Written(count, what, [f"{left:,} {why}"] if left else [])


def _lines(path: Path, lines: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> int:
    count = 0
    with replaced(path) as building, building.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1
    return count


# -- EvalPlus


def write_samples(reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
    count = left = 0
    for path, group in _files(reader, tasks, output, ".jsonl"):
        kept = [one for one in group if one.row.body_blob is not None]
        left += len(group) - len(kept)
        count += _lines(path, [_sample(reader, one) for one in kept])
    return _told(count, "samples", left, "candidates without a body were left out.")


def _sample(reader: SessionReader, one: Entry) -> dict[str, Any]:
    style = one.origin.get("style")
    line = one.origin.get("line")
    if isinstance(line, dict) and isinstance(style, str):
        return {"task_id": one.name, style: one.text, **line}
    if "entry" in one.origin:
        return {"task_id": one.name, "solution": one.text}
    written = _written(reader, one)
    return {"task_id": one.name, "completion": one.text if written is None else written[0]}


def _written(reader: SessionReader, one: Entry) -> tuple[str, str] | None:
    """Return a body as it is in the file behind a problem's prompt, and the whole file; None without the file.

    A session keeps bodies without indentation; harnesses concatenate prompt and completion as they are.
    """
    from workbench.repository.splicing import SpliceError, splice

    parts = _split(reader, one.task, task_name(reader, one.task)[1])
    if parts is None:
        return None
    data = "".join(parts).encode("utf-8", "surrogateescape")
    function = _function(data, one.task)
    if function is None:
        return None
    try:
        whole = splice(data, function, one.text).decode("utf-8", "surrogateescape")
    except SpliceError:
        return None
    prompt, _ = _prompt_and_solution(parts)
    if not whole.startswith(prompt):
        # One line of header and body, or a body that its own docstring shares a line with.
        prompt = parts[0]
    end = len(whole) - len(parts[2])
    completion = whole[len(prompt) : end] if whole.startswith(prompt) else f"\n{one.text}"
    return completion if completion.endswith("\n") else f"{completion}\n", whole


def write_results(reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
    """Write verdicts, a file for each evaluator, without samples that have no verdict or an error of ours."""
    count = left = 0
    for path, group in _files(reader, tasks, output, "_eval_results.json"):
        told = [one for one in group if is_counted(one.row.verdict)]
        left += len(group) - len(told)
        if not told:
            continue
        found: dict[str, list[dict[str, Any]]] = {}
        for one in told:
            found.setdefault(one.name, []).append(_result(reader, one))
        head = next((one.origin["head"] for one in told if isinstance(one.origin.get("head"), dict)), None)
        head = head or {"date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "hash": ""}
        write_text(path, json.dumps({**head, "eval": found}, ensure_ascii=False))
        count += len(told)
    return _told(count, "verdicts", left, "candidates without a verdict were left out.")


def _result(reader: SessionReader, one: Entry) -> dict[str, Any]:
    entry = one.origin.get("entry")
    if isinstance(entry, dict):
        return {**entry, "solution": one.text}
    written = _written(reader, one)
    failing = [row.test_id for row in reader.failing_tests(one.row.id)]
    status = _STATUS.get(str(one.row.verdict), "fail")
    return {
        "task_id": one.name,
        "solution": one.text if written is None else written[1],
        "base_status": status,
        "plus_status": None,
        "base_fail_tests": failing,
        "plus_fail_tests": [],
    }


# -- tasks


def _function(data: bytes, task: TaskRow) -> Function | None:
    from workbench.repository.functions import functions_by_name

    return functions_by_name(data, task.path).get((task.qualified_name, task.occurrence))


def _split(reader: SessionReader, task: TaskRow, kept: dict[str, Any]) -> tuple[str, str, str] | None:
    source = reader.kept(task.source_blob, f"the file of task {task.id}")
    body = reader.kept(task.body_blob, f"the body of task {task.id}")
    lengths = kept.get("lengths")
    if source is None or body is None:
        return None
    if isinstance(lengths, list) and len(lengths) == 2 and all(isinstance(one, int) for one in lengths):
        start, end = lengths[0], lengths[0] + lengths[1]
        return source[:start], source[start:end], source[end:]
    data = source.encode("utf-8", "surrogateescape")
    function = _function(data, task)
    if function is None:
        return None
    start, end = function.body
    return tuple(part.decode("utf-8", "surrogateescape") for part in (data[:start], data[start:end], data[end:]))  # type: ignore[return-value]


def _prompt_and_solution(parts: tuple[str, str, str]) -> tuple[str, str]:
    """Return prompt and solution of a problem; the first line of a body is ours or, imported, HumanEval's."""
    line = _REST_OF_LINE.match(parts[1])
    rest = line[0] if line else ""
    return parts[0] + rest, parts[1][len(rest) :]


def write_rows(reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
    """Write tasks as rows of RealCode and repotest, JSON lines or Parquet by the suffix."""
    rows, left = [], 0
    for task in tasks:
        name, kept = task_name(reader, task)
        parts = _split(reader, task, kept)
        if parts is None:
            left += 1
            continue
        rest = without(kept, "name", "lengths")
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
                "doc": reader.kept(task.docstring_blob, f"the docstring of task {task.id}"),
                "total_tests": task.test_count,
                "PASS_TO_PASS": tests,
                "task_id": name,
                "qualified_name": task.qualified_name,
                "occurrence": task.occurrence,
                "snapshot": task.snapshot,
            }
        )
    if not rows:
        raise UsageError("No task has its file in this session, so there are no rows to write.")
    if output.suffix == ".parquet":
        from workbench.interop.formats.tables import write_parquet

        with replaced(output) as building:
            write_parquet(building, rows)
    else:
        _lines(output, rows)
    return _told(len(rows), "rows", left, "tasks whose file is not known were left out.")


def write_problems(reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
    """Write tasks as problems of HumanEval: those of functions at the top of a module.

    ``check`` puts the candidate into the module of the repository and runs the task's tests there, so it is to be run
    in the repository's folder with its environment. Imported problems are written as they were.
    """
    lines, left = [], 0
    for task in tasks:
        name, kept = task_name(reader, task)
        parts = _split(reader, task, kept)
        if parts is not None and "entry_point" in kept:
            rest = without(kept, "name", "lengths")
            lines.append({**rest, "prompt": parts[0], "canonical_solution": parts[1]})
            continue
        tests = reader.decoded(task.tests, list, f"the tests of task {task.id}")
        if parts is None or "." in task.qualified_name or not task.path.endswith(".py") or not tests:
            left += 1
            continue
        prompt, solution = _prompt_and_solution(parts)
        problem = {"task_id": name, "prompt": prompt, "entry_point": task.qualified_name}
        lines.append({**problem, "canonical_solution": solution, "test": _check(task, tests)})
    if not lines:
        raise UsageError(
            "No task is a function at the top of a module whose file is known, so there are no problems to write."
        )
    _lines(output, lines)
    return _told(
        len(lines), "problems", left, "tasks were left out: methods, nested functions, files that are not known."
    )


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


# -- JUnit


def write_junit(reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
    groups = _by_evaluator(reader, tasks)
    count = 0
    with replaced(output) as building, building.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="workbench">\n')
        for name, group in groups.items():
            verdicts = [one.row.verdict for one in group]
            failed = sum(is_counted(verdict) and verdict != "passed" for verdict in verdicts)
            file.write(
                f'<testsuite name={_attribute(name)} tests="{len(group)}" failures="{failed}" errors="{verdicts.count("error")}" '
                f'skipped="{verdicts.count(None)}">\n'
            )
            for one in group:
                file.write(_case(reader, one))
                count += 1
            file.write("</testsuite>\n")
        file.write("</testsuites>\n")
    return Written(count, "verdicts")


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", clean(text))


def _attribute(text: str) -> str:
    return quoteattr(_xml(text))


def _case(reader: SessionReader, one: Entry) -> str:
    row, seconds = one.row, f' time="{one.row.tested_s:.6f}"' if one.row.tested_s is not None else ""
    head = f"<testcase classname={_attribute(one.name)} name={_attribute(f'sample {row.sample}')}{seconds}"
    if row.verdict == "passed":
        return f"{head}/>\n"
    if row.verdict is None:
        return f"{head}><skipped/></testcase>\n"
    failing = reader.failing_tests(row.id)
    told = "\n".join(f"{test.test_id}: {test.outcome}: {test.message}" for test in failing)
    kind = "error" if row.verdict == "error" else "failure"
    message = _attribute(row.verdict_reason or str(row.verdict))
    return f"{head}><{kind} type={_attribute(str(row.verdict))} message={message}>{escape(_xml(told))}</{kind}></testcase>\n"
