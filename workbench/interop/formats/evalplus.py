"""Samples and verdicts of EvalPlus and HumanEval, and verdicts as JUnit XML (export only).

As in EvalPlus, a samples file is named after its model: ``openai--gpt-4o.jsonl`` is ``openai/gpt-4o``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from workbench.base.files import replaced
from workbench.base.text import clean, one_line
from workbench.interop.formats.exporting import CandidateFormat, Written, left_out, write_lines, write_text
from workbench.interop.formats.reading import Read
from workbench.interop.formats.samples import Entry, ForeignCandidate, by_evaluator, files_of, task_name
from workbench.interop.formats.tasks import function_of, prompt_and_solution, split
from workbench.interop.formats.values import ForeignProblem, list_of, object_of, quoted_value, text_of, without
from workbench.session import SessionReader
from workbench.session.rows import TaskRow
from workbench.session.sample_counts import is_counted

_STATUSES = {"pass": "passed", "fail": "failed", "timeout": "timeout"}
_LONGEST_TEST = 500
_RESULTS = "_eval_results"
# Matches characters that XML 1.0 does not allow.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def evaluator_of(file_name: str) -> str:
    stem = file_name
    for ending in (".gz", ".jsonl", ".ndjson", ".json"):
        stem = stem.removesuffix(ending)
    return one_line(stem.removesuffix(_RESULTS).replace("--", "/"), 200) or "unknown"


# -- samples


class EvalPlusSamples(CandidateFormat):
    """One file per evaluator; lines may contain HumanEval's verdict, ``result`` and ``passed``."""

    about = "samples of EvalPlus, JSON lines"
    kinds = ("regenerate", "usage")

    def fits(self, value: Any) -> bool:
        if not isinstance(value, dict) or {"left_context", "gt"} <= value.keys():
            return False
        problem = {"prompt", "entry_point"} <= value.keys()
        return "task_id" in value and bool({"solution", "completion"} & value.keys()) and not problem

    def item(self, value: Mapping[str, Any], path: Path, place: str) -> ForeignCandidate:
        style = "solution" if "solution" in value else "completion"
        verdict = reason = None
        if isinstance(value.get("passed"), bool):
            reason = one_line(str(value.get("result") or ""), 400) or None
            verdict = "passed" if value["passed"] else "timeout" if reason == "timed out" else "failed"
        return ForeignCandidate(
            task=text_of(value.get("task_id"), "task_id"),
            evaluator=evaluator_of(path.name),
            text=text_of(value.get(style), style),
            verdict=verdict,
            reason=reason,
            extra={"line": without(value, style), "style": style},
        )

    def put(self, reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
        count = left = 0
        for path, group in files_of(reader, tasks, output, ".jsonl"):
            with_body = [one for one in group if one.row.body_blob is not None]
            left += len(group) - len(with_body)
            count += write_lines(path, [_sample(reader, one) for one in with_body])
        return Written(count, "samples", left_out(left, "candidates without a body were left out."))


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
    """Return a body as it follows the prompt in its file, and the complete file (None if the file is unknown).

    Sessions store bodies without indentation, but harnesses concatenate prompt and completion verbatim.
    """
    from workbench.repository.splicing import SpliceError, splice

    parts = split(reader, one.task, task_name(reader, one.task)[1])
    if parts is None:
        return None
    data = "".join(parts).encode("utf-8", "surrogateescape")
    function = function_of(data, one.task)
    if function is None:
        return None
    try:
        whole = splice(data, function, one.text).decode("utf-8", "surrogateescape")
    except SpliceError:
        return None
    prompt, _ = prompt_and_solution(parts)
    if not whole.startswith(prompt):
        # The body is on the same line as the header or docstring.
        prompt = parts[0]
    end = len(whole) - len(parts[2])
    completion = whole[len(prompt) : end] if whole.startswith(prompt) else f"\n{one.text}"
    return completion if completion.endswith("\n") else f"{completion}\n", whole


# -- results


class EvalPlusResults(CandidateFormat):
    """One file per evaluator, without samples that have no verdict or an infrastructure error."""

    about = "verdicts as EvalPlus writes them, one JSON file"

    def fits(self, value: Any) -> bool:
        return (
            isinstance(value, dict)
            and isinstance(value.get("eval"), dict)
            and ("hash" in value or "date" in value)
            and not {"status", "version"} <= value.keys()
        )

    def found(self, value: Any, path: Path, place: str) -> Iterator[Read]:
        if value["eval"] and all(isinstance(entries, dict) for entries in value["eval"].values()):
            raise ForeignProblem("contains results of an older EvalPlus, which lack the samples; rerun the evaluation")
        head = without(value, "eval")
        for task, entries in value["eval"].items():
            try:
                listed = list_of(entries, f"the results of {quoted_value(task)}")
            except ForeignProblem as problem:
                yield Read(self.name, None, str(problem))
                continue
            for number, each in enumerate(listed, 1):
                try:
                    entry = object_of(each, f"result {number} of {quoted_value(task)}")
                    yield Read(self.name, _candidate(entry, task, path.name, head))
                except ForeignProblem as problem:
                    yield Read(self.name, None, str(problem))

    def put(self, reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
        count = left = 0
        for path, group in files_of(reader, tasks, output, "_eval_results.json"):
            tested = [one for one in group if is_counted(one.row.verdict)]
            left += len(group) - len(tested)
            if not tested:
                continue
            found: dict[str, list[dict[str, Any]]] = {}
            for one in tested:
                found.setdefault(one.name, []).append(_result(reader, one))
            head = next((one.origin["head"] for one in tested if isinstance(one.origin.get("head"), dict)), None)
            head = head or {"date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "hash": ""}
            write_text(path, json.dumps({**head, "eval": found}, ensure_ascii=False))
            count += len(tested)
        return Written(count, "verdicts", left_out(left, "candidates without a verdict were left out."))


def _candidate(entry: Mapping[str, Any], task: str, file_name: str, head: Mapping[str, Any]) -> ForeignCandidate:
    statuses = {name: entry.get(f"{name}_status") for name in ("base", "plus")}
    stated = {name: status for name, status in statuses.items() if status is not None}
    unknown = [status for status in stated.values() if not (isinstance(status, str) and status in _STATUSES)]
    if unknown or "base" not in stated:
        raise ForeignProblem(
            f"has the status {quoted_value(unknown[0] if unknown else None)} at {quoted_value(task)}; expected pass, fail or timeout"
        )
    verdicts = [_STATUSES[status] for status in stated.values()]
    verdict = next((one for one in ("timeout", "failed") if one in verdicts), "passed")
    failing = [
        (f"{kind}: {one_line(json.dumps(arguments, ensure_ascii=False), _LONGEST_TEST)}", "")
        for kind in ("base", "plus")
        for arguments in list_of(entry.get(f"{kind}_fail_tests") or [], f"the failing tests of {quoted_value(task)}")
    ]
    return ForeignCandidate(
        task=task,
        evaluator=evaluator_of(file_name),
        text=text_of(entry.get("solution"), f"the solution of {quoted_value(task)}"),
        verdict=verdict,
        reason=", ".join(f"{name} tests: {status}" for name, status in stated.items()),
        failing=tuple(dict.fromkeys(failing)),
        extra={"entry": without(entry, "solution"), "head": dict(head)},
    )


def _result(reader: SessionReader, one: Entry) -> dict[str, Any]:
    entry = one.origin.get("entry")
    if isinstance(entry, dict):
        return {**entry, "solution": one.text}
    written = _written(reader, one)
    failing = [row.test_id for row in reader.failing_tests(one.row.id)]
    status = {"passed": "pass", "timeout": "timeout"}.get(str(one.row.verdict), "fail")
    return {
        "task_id": one.name,
        "solution": one.text if written is None else written[1],
        "base_status": status,
        "plus_status": None,
        "base_fail_tests": failing,
        "plus_fail_tests": [],
    }


# -- JUnit


class JUnit(CandidateFormat):
    """One suite per evaluator, with one case per task and sample."""

    about = "verdicts as JUnit XML"
    kinds = ("regenerate", "usage")

    def put(self, reader: SessionReader, tasks: list[TaskRow], output: Path) -> Written:
        groups = by_evaluator(reader, tasks)
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
    details = "\n".join(f"{test.test_id}: {test.outcome}: {test.message}" for test in failing)
    kind = "error" if row.verdict == "error" else "failure"
    message = _attribute(row.verdict_reason or str(row.verdict))
    return f"{head}><{kind} type={_attribute(str(row.verdict))} message={message}>{escape(_xml(details))}</{kind}></testcase>\n"
