"""A small usage run as an engine would have written it: five tasks, one page beside no page and the sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial

from workbench.session import SessionWriter
from workbench.session.identity import candidate_id, task_id
from workbench.usage.gaps import Gap
from workbench.usage.statements import statement
from workbench.usage.tasks import Call, CallTarget, UsageTask
from workbench.usage.verdicts import call_names, call_text, hidden_calls

RUN, READER, FROZEN = "usage-1", "literal", 1_700_000_000.0


def _function(name: str, *pairs: tuple[str, str], line: int = 10) -> UsageTask:
    reference = f"import wordcount\n\n\ndef answer(a):\n    return wordcount.{name}(a)\n"
    target = CallTarget("function", f"wordcount.{name}", "wordcount.py", line, reference=reference)
    calls = tuple(Call((text,), expected) for text, expected in pairs)
    return UsageTask(f"wordcount.py::wordcount.{name}", target, "wordcount", ("a",), calls[:2], calls[2:])


def _command(form: str, reference: str, *outputs: str) -> UsageTask:
    target = CallTarget("command", form, "wordcount.py", 30, words=("--words",), reference=reference)
    calls = tuple(
        Call(("'notes.txt'",), repr({"stdout": text, "exit": 0}), {"notes.txt": "one two\n" * n})
        for n, text in enumerate(outputs, 1)
    )
    return UsageTask(f"wordcount.py::{form}", target, "wordcount", ("a",), calls[:2], calls[2:])


TASKS = (
    _function("count_lines", ("'a'", "1"), ("'a\\nb'", "2"), ("''", "0"), ("'a\\n\\nb'", "3")),
    _function("count_words", ("'a'", "1"), ("'a b'", "2"), ("''", "0"), ("'a  b c'", "3")),
    _command("wordcount --words FILE", 'wordcount --words "$1"', "2\n", "4\n", "6\n", "8\n"),
    _function("is_blank", ("''", "True"), ("'a'", "False"), ("' '", "True")),
    _function("total", ("[1]", "1"), ("[1, 2]", "3"), ("[]", "0")),
)
"""With the README of a test: passed, failed by a wrong example, failed by an option, unnamed, bypassed."""


def add_usage_run(
    writer: SessionWriter,
    page: str,
    lines: Mapping[str, int],
    *,
    label: str = "README",
    reader: str = READER,
    prompt: str = "",
    run: str = RUN,
    state: str = "done",
    decided: int = len(TASKS),
    source: str = "word_counter",
) -> None:
    """Record a usage run; ``lines`` are lines of the page: ``used``, ``wrong`` and ``option``, each counted from 1."""
    digest = writer.blob(page)
    context = f"{label}@{digest[:12]}" if label != "README" else label
    sources = writer.blob("def count_lines(text): ...\ndef count_words(text): ...\n")
    pages = ((context, digest), ("none", ""), ("source", ""))
    asks = [
        {"evaluator": reader, "samples": 1, "prompt": prompt, "context": name, "page": page} for name, page in pages
    ]
    plan = {
        "source": source, "evaluator": reader, "samples": 1, "k": [1], "sandbox": "bubblewrap", "asks": asks,
        "page_digests": {context: digest, "source": sources}, "should_be_named": ["wordcount"],
    }  # fmt: skip
    ended = {"started_at": 100.0, "finished_at": 114.0} if state == "done" else {}
    writer.add_run(run, "usage", plan)
    writer.set_run(run, state=state, **ended)
    stages = "fetch", "environment", "suite", "trace", "filter", "documentation", "controls", "candidates", "rechecks"
    for place, name in enumerate(stages):
        row = {"run_id": run, "name": name, "position": place, "state": "done", "done": 5, "total": 5, "at": 1.0}
        writer.insert("stages", row)
    dropped = {"path": "wordcount.py", "occurrence": 1, "stage": "literal", "reason": "It is a generator."}
    writer.insert("dropped", {"run_id": run, "qualified_name": "wordcount.iter_words", **dropped})
    keys = [_add_task(writer, run, place, task) for place, task in enumerate(TASKS)]
    wrong = Gap("wrong example", lines["wrong"], "Usage", "count_words('a b')", "3", "2")
    answers: list[tuple[str, int | None, Gap | None, str | None]] = [
        ("passed", lines["used"], None, None),
        ("failed", lines["wrong"], wrong, "1 of 2 calls gave another result."),
        ("failed", lines["option"], Gap("no example", lines["option"], "Usage"), "2 of 2 calls gave another result."),
        ("invalid", None, Gap("unnamed"), "Nothing that the page names fits: 3 calls were tried."),
        ("bypassed", None, Gap("stumbled", lines["used"], "Usage"), "It gives the right results without calling the package."),
    ]  # fmt: skip
    for place, (key, task) in enumerate(zip(keys, TASKS, strict=True)):
        for control, verdict in (("reference", "passed"), ("stub", "failed")):
            _add_answer(writer, run, key, task, control, "", verdict, control=1)
        verdict, line, gap, reason = answers[place] if place < decided else (None, None, None, None)
        of_reader = partial(_add_answer, writer, run, key, task, reader, prompt=prompt)
        of_reader(context, verdict, line, gap, reason)
        of_reader("none", "invalid", reason="There is no page.")
        of_reader("source", "passed", 1)


def _add_task(writer: SessionWriter, run: str, position: int, task: UsageTask) -> str:
    calls = [call_text(call) for call in task.hidden]
    key = task_id("snapshot-1", task.target.path, task.target.name, 1, f"usage:{run}", "tests")
    writer.insert("tasks", {
        "id": key, "run_id": run, "position": position, "snapshot": "snapshot-1", "path": task.target.path,
        "qualified_name": task.target.name, "occurrence": 1, "start_line": task.target.line, "tests": json.dumps(calls),
        "test_count": len(calls), "seconds": 0.01, "body_blob": writer.blob(task.target.reference),
        "docstring_blob": writer.blob(statement(task)), "docs": "usage", "docs_scope": "repository",
        "usage_blob": writer.blob(json.dumps(asdict(task))),
    })  # fmt: skip
    return key


def _add_answer(
    writer: SessionWriter,
    run: str,
    task: str,
    of: UsageTask,
    evaluator: str,
    context: str,
    verdict: str | None,
    line: int | None = None,
    gap: Gap | None = None,
    reason: str | None = None,
    *,
    prompt: str = "",
    control: int = 0,
) -> None:
    key = candidate_id(task, evaluator, f"/{context}", 0)
    answered = verdict not in (None, "invalid")
    body = of.target.reference if verdict == "passed" else "def answer(a):\n    return 0\n"
    writer.insert("candidates", {
        "id": key, "run_id": run, "task_id": task, "evaluator": evaluator, "sample": 0, "control": control,
        "prompt": prompt, "context": context, "state": "done" if verdict else "queued", "verdict": verdict, "verdict_reason": reason,
        "body_blob": writer.blob(body) if answered else None, "page_line": line,
        "gap": json.dumps(asdict(gap)) if gap is not None else None, "at": FROZEN if verdict else None,
        "notes": json.dumps([f"Line {line} of the page names `{of.target.name}`."]) if line else None,
        "route": "hot" if answered else None, "backend": "bubblewrap" if answered else None,
        "tested_s": 0.03 if answered else None,
    })  # fmt: skip
    hidden = hidden_calls(of)
    for number, name in list(call_names(hidden).items())[1:] if verdict == "failed" and not control else ():
        call = hidden[number]
        got = repr({"stdout": "", "exit": 2}) if of.target.kind == "command" else "0"
        message = f"expected {call.expected}, got {got}"
        row = {"candidate_id": key, "test_id": name, "outcome": "failed", "message": message}
        writer.insert("failing_tests", row)
