"""Regeneration runs as an engine would have written them, for tests and benchmarks of the Regeneration mode."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.base import glyphs
from workbench.session import SessionWriter, create, engine_starts

RUN = "regen-1"
EVALUATOR = "openai/gpt-5-mini"
VERDICTS = {glyph: verdict for verdict, glyph in glyphs.VERDICTS.items()}
BODY = (
    '    lines = text.count("\\n")\n    if text and not text.endswith("\\n"):\n        lines += 1\n    return lines\n'
)
WRONG = '    lines = text.count("\\n")\n    return lines\n'
TRACE = 'def test_counts_trailing_line():\n>   assert count_text("a\\nb").lines == 2\nE   assert 1 == 2'


class Recorder:
    """Writes what an engine writes; each method is one thing that happens."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            create(path)
        self.writer = SessionWriter(path)

    def close(self) -> None:
        self.writer.close()

    def run(
        self, *, run_id: str = RUN, state: str = "done", samples: int = 3, evaluator: str = EVALUATOR,
        coming: bool = True, **more: object,
    ) -> None:  # fmt: skip
        ask = {"evaluator": evaluator, "samples": samples}
        plan = {"source": "word_counter", "docs": "original", "docs_scope": "repository", "k": [1, 3],
                "sandbox": "bubblewrap", **ask, "asks": [ask], **more}  # fmt: skip
        self.writer.add_run(run_id, "regenerate", plan)
        self.writer.set_run(run_id, state=state, started_at=100.0, finished_at=114.0 if state == "done" else None)
        if state == "queued" and coming:
            engine_starts.started(run_id, os.getpid())

    def stage(
        self, name: str, position: int, state: str, done: int = 0, total: int | None = None, note: str = ""
    ) -> None:
        row = {"run_id": RUN, "name": name, "position": position, "state": state, "done": done, "total": total}
        self.writer.insert("stages", {**row, "note": note or None, "at": 1.0}, conflict="REPLACE")

    def unused(self, tests: Sequence[tuple[str, str, str]]) -> None:
        for place, (kind, test, why) in enumerate(tests):
            row = {"run_id": RUN, "position": place, "kind": kind, "test_id": test, "message": why}
            self.writer.insert("unused_tests", row, conflict="REPLACE")

    def dropped(self, name: str, stage: str, reason: str, path: str = "wordcount.py") -> None:
        row = {"run_id": RUN, "path": path, "qualified_name": name, "occurrence": 1, "stage": stage, "reason": reason}
        self.writer.insert("dropped", row, conflict="REPLACE")

    def task(
        self, name: str, position: int, *, path: str = "wordcount.py", tests: int = 14, run_id: str = RUN,
        body: str = BODY, docstring: str | None = "Count the lines of a text.", **more: object,
    ) -> str:  # fmt: skip
        writer, key = self.writer, str(more.pop("id", f"{run_id}-{name}"))
        prompt = {"prompt": "paper-1", "context": "prefix-1", "messages": [["user", f"def {name}(text): ..."]]}
        with writer.transaction():
            values: dict[str, object] = {
                "id": key, "run_id": run_id, "position": position, "snapshot": "snapshot-1", "path": path,
                "qualified_name": name, "occurrence": 1, "start_line": 10, "end_line": 14,
                "tests": json.dumps([f"tests/test_count.py::test_{name}_{n}" for n in range(tests)]),
                "coverage": 0.91, "seconds": 0.02, "leak": 0.05, "docs": "original", "docs_scope": "repository",
                "body_blob": writer.blob(body), "prompt_blob": writer.blob(json.dumps(prompt)),
                "docstring_blob": writer.blob(docstring) if docstring is not None else None, **more,
            }  # fmt: skip
            values.setdefault("test_count", len(json.loads(str(values["tests"]))))
            writer.insert("tasks", values)
        return key

    def cells(self, task: str, cells: str, *, at: float = 100.0, **more: Any) -> None:
        """Record samples of a task by their glyphs."""
        for number, glyph in enumerate(cells):
            self.sample(task, number, glyph, at=at + number, **more)

    def sample(
        self, task: str, sample: int, glyph: str, evaluator: str = EVALUATOR, *, control: bool = False, at: float = 100.0,
        run_id: str = RUN, body: str | None = None, answer: str | None = None, **more: object,
    ) -> None:  # fmt: skip
        """Record a sample by its glyph; ``more`` are columns of the candidate."""
        writer = self.writer
        key = str(more.pop("id", "")) or f"{task}/{evaluator}/{sample}"
        verdict = VERDICTS.get(glyph)
        if body is None:
            body = BODY if glyph == "✓" else WRONG
        tested = verdict not in {None, "invalid", "error"}
        values: dict[str, object] = {
            "id": key, "run_id": run_id, "task_id": task, "evaluator": evaluator, "sample": sample,
            "control": int(control),
            "state": "done" if verdict else {"·": "queued", "▸": "asking", "⊘": "cancelled"}[glyph],
        }  # fmt: skip
        with writer.transaction() as connection:
            # A replaced row would be counted twice: SQLite fires no trigger for it.
            connection.execute("DELETE FROM failing_tests WHERE candidate_id = ?", (key,))
            connection.execute("DELETE FROM candidates WHERE id = ?", (key,))
            if verdict:
                reasons = {"failed": "1 of 14 tests failed.", "invalid": "There is no code in it."}
                values |= {
                    "answer_blob": writer.blob(answer if answer is not None else f"```python\n{body}```"),
                    "prompt_tokens": 900, "completion_tokens": 60, "cost_usd": 0.0004, "asked_s": 3.1,
                    "verdict": verdict, "verdict_reason": reasons.get(verdict), "at": at,
                }  # fmt: skip
                if tested:
                    values |= {
                        "body_blob": writer.blob(body),
                        "route": "hot",
                        "backend": "bubblewrap",
                        "tested_s": 0.03,
                    }
                values |= more
                if "recheck" in more:
                    values["agrees"] = json.loads(str(more["recheck"]))["agrees"]
            writer.insert("candidates", values)
            if verdict == "failed":
                self.failing(key, "tests/test_count.py::test_counts_trailing_line", "assert 1 == 2", TRACE)

    def failing(self, candidate: str, test: str, message: str, trace: str) -> None:
        row = {"candidate_id": candidate, "test_id": test, "outcome": "failed", "message": message}
        self.writer.insert("failing_tests", {**row, "traceback_blob": self.writer.blob(trace)}, conflict="REPLACE")

    def controls(self, tasks: Sequence[str], reference: str = "✓", stub: str = "✗") -> None:
        for task in tasks:
            self.cells(task, reference, evaluator="reference", control=True)
            self.cells(task, stub, evaluator="stub", control=True)


def word_counter(recorder: Recorder, *, state: str = "done") -> None:
    """Record a whole run: four tasks of two files, three samples each, both controls, one function dropped."""
    recorder.run(state=state)
    stages = "fetch", "environment", "suite", "trace", "filter", "documentation", "controls", "candidates"
    for place, name in enumerate(stages):
        recorder.stage(name, place, "done", 4, 4)
    recorder.dropped("main", "trace", "No stable test executes it.")
    tasks = [
        recorder.task("count_text", 0, coverage=1.0),
        recorder.task("format_stats", 1, path="report/format.py", tests=6),
        recorder.task("Table.add_row", 2, path="report/format.py", tests=3, coverage=0.996),
        recorder.task("total", 3, tests=1, leak=0.7, docstring="return sum(counts.lines for counts in all_counts)"),
    ]
    recorder.controls(tasks)
    for place, (task, cells) in enumerate(zip(tasks, ("✓✗✓", "✗⧖✗", "!∅✓", "✓✓✓"), strict=True)):
        recorder.cells(task, cells, at=100.0 + 3 * place)
    recorder.writer.set_run(RUN, spend_usd=0.0048)


def building(recorder: Recorder) -> None:
    """Record a run whose tasks are being built: six stages of eight, quarantined tests, functions dropped at three stages."""
    recorder.run(state="running")
    suite = "589 tests are stable, 2 unstable, 14 failing"
    recorder.unused(
        [
            ("unstable", "tests/test_requests.py::TestTimeout::test_connect", "passed, failed, passed"),
            ("unstable", "tests/test_lowlevel.py::test_close", "failed, passed, passed"),
            *(("failing", f"tests/test_online.py::test_{n}", "ConnectionError: no network") for n in range(14)),
        ]
    )
    stages = (
        ("fetch", "done", 214, 214, "requests==2.31.0 942c5a758f98"),
        ("environment", "done", 0, None, "23 packages, Python in bubblewrap"),
        ("suite", "done", 589, 605, suite),
        ("trace", "done", 231, 231, "231 functions in 18 files"),
        ("filter", "running", 140, 231, "src/requests/sessions.py::Session.request: 263 tests"),
        *((name, "waiting", 0, None, "") for name in ("documentation", "controls", "candidates")),
    )
    for place, (name, state, done, total, note) in enumerate(stages):
        recorder.stage(name, place, state, done, total, note)
    for n in range(30):
        path = f"src/requests/module_{n % 5}.py"
        recorder.dropped(f"helper_{n:02}", "trace", "No stable test executes it.", path)
    for n in range(9):
        reason = f"Its {n + 1} tests also pass with the body 'pass'."
        recorder.dropped(f"getter_{n}", "stub", reason, "src/requests/get.py")
    recorder.dropped("slow", "time", "Its tests take 31.2 s, more than 10 s.", "src/requests/sessions.py")


def troubled(recorder: Recorder) -> None:
    """Record a run in which both controls fail, a re-check disagrees, and tasks differ in all that the table shows."""
    recorder.run()
    cold = {"why": "random", "verdict": "failed", "route": "cold", "seconds": 1.2, "agrees": False}
    agrees = json.dumps({**cold, "why": "original", "verdict": "passed", "agrees": True})
    names = ("count_text", "format_stats", "Table.add_row", "total", "render")
    tasks = [
        recorder.task(
            name, place, path=("wordcount.py", "report/tables/format.py")[place % 2], tests=3 + 40 * place,
            coverage=(1.0, 0.996, 0.42, 0.91, 0.3)[place], branches=4 * (place % 3), branches_covered=2 * (place % 3),
            unstable=(0, 13, 0, 2, 0)[place], leak=0.7 if place == 3 else 0.03,
        )
        for place, name in enumerate(names)
    ]  # fmt: skip
    for place, task in enumerate(tasks):
        reference, stub = ("✗" if place == 1 else "✓"), ("✓" if place == 4 else "✗")
        recorder.cells(task, reference, evaluator="reference", control=True, recheck=agrees)
        recorder.cells(task, stub, evaluator="stub", control=True)
    for place, reason in ((1, "Its tests: failed with the original body."), (4, "Its tests: passed with a stub.")):
        recorder.writer.update("tasks", {"id": tasks[place]}, {"state": "excluded", "reason": reason})
        recorder.cells(tasks[place], "⊘⊘⊘")
    recorder.cells(tasks[0], "✓✗✓")
    recorder.cells(
        tasks[2], "!∅✓", route="warm", route_fallback_reason="it runs while its module is imported", backend="docker"
    )
    recorder.cells(tasks[3], "✓✓✓")
    recorder.sample(tasks[3], 1, "✗", recheck=json.dumps(cold), suspicious='["pytest was patched"]')


def now() -> float:
    """Return the time that an engine writes now."""
    return time.time()
