"""Session files for tests of what reads them, made by the writer that engines use."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from workbench.rubric.scorecard import Criterion, Evidence, Scorecard
from workbench.session import SessionWriter, create, log
from workbench.session.file import connect
from workbench.session.identity import candidate_id, task_id, trial_id
from workbench.session.rows import AccessedFileRow, ScoreRow, StepRow

HOSTILE = (
    "# <script>alert(1)</script> Title\n\n"
    '![tracker](https://evil.example/pixel.png) and ![x](javascript:alert(2) "t")\n\n'
    "[web](https://example.org/a?b=1&c=2) [js](javascript:alert(3)) [file](docs/usage.md) [top](#runs)\n\n"
    '<img src="https://evil.example/x.png" onerror="alert(4)"><iframe src=//evil.example></iframe>\n\n'
    "```python\nprint('in')\n```\n\n````\n``` inner\n````\n\n~~~\n</pre></details></section>\n~~~\n\n"
    "| a | b |\n| - | - |\n| 1 | `x|y` |\n\n\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eright to left\u202c `` ` `` \\ end\n"
)
Names = dict[str, str]
_MADE: dict[Callable[[Path], Names], tuple[bytes, Names]] = {}
TOOL_CALL = 'I look first.\n<json>{"name": "read_file", "kwargs": {"path": "a.py"}}</json>'


def card(points: float | None, rubric: str = "aeo-bench", judge: str = "offline") -> Scorecard:
    """Return a small scorecard; ``points`` are tier 3's, None = unscored."""
    return Scorecard(
        rubric,
        judge,
        (
            Criterion(1, "json", "Answer parses", 5.0, 5.0, "the answer parses as JSON"),
            Criterion(2, "usage", "Usage", 0.0, 9.0, "no <usage> section | none"),
            Criterion(
                3, "purpose", "Main purpose", points, 12.0, "names <b>it</b>",
                (Evidence("readme", "<script>alert(5)</script>", 0, 5, None, 1), Evidence("file", "x", path="a.py", line=3)),
                judge,
            ),
        ),
    )  # fmt: skip


def add_scores(writer: SessionWriter, trial: str, scorecard: Scorecard) -> None:
    """Record a scorecard as the engine does."""
    tiers = {number: tier.points for number, tier in scorecard.tiers.items()}
    writer.put_score(
        ScoreRow(
            trial, scorecard.rubric, scorecard.judge, scorecard.total, scorecard.out_of, tiers.get(1), tiers.get(2),
            tiers.get(3), tiers.get(4), writer.blob(json.dumps(scorecard.to_json())), 1_700_000_100.0,
        )
    )  # fmt: skip


def add_call(writer: SessionWriter, run: str, scope: str, answer: str) -> int:
    """Record a model call that took two attempts and return its id."""
    messages = [["system", writer.blob("You document.")], ["user", writer.blob("Go \x1b[2Jon.")]]
    attempts = [
        {"started_at_unix": 1.0, "seconds": 0.5, "error": "HTTP 429 rate limited", "waited_s": 1.0},
        {"started_at_unix": 2.5, "seconds": 0.8, "error": None, "waited_s": 0.0},
    ]
    return writer.insert(
        "calls",
        {
            "run_id": run, "scope": scope, "purpose": "agent", "model": "local", "digest": "d", "sample": 1, "nth": 0,
            "messages_blob": writer.blob(json.dumps(messages)), "sampling": "{}", "answer_blob": writer.blob(answer),
            "attempts": json.dumps(attempts), "latency_s": 0.8, "source": "live", "started_at": 1_700_000_000.0,
        },
    )  # fmt: skip


def add_trial(
    writer: SessionWriter, run: str, case: str, repeat: int, *, model: str = "local", readme: str = HOSTILE,
    observation: str = "def f():\n    return '<b>'\n", steps: int = 2, agent: str = "white", parent: str = "",
    fork_step: int = 0, position: int | None = None,
) -> str:  # fmt: skip
    """Record a finished trial without scores and return its id."""
    name = trial_id(agent, model, case, repeat)
    place = repeat if position is None else position
    writer.add_trial(name, run, place, (case, case), agent, model, repeat, parent=parent, fork_step=fork_step)
    snapshot = "5" * 64
    writer.add_snapshot(snapshot, "folder", "", [("a.py", 100), ("b/c.py", 300)])
    call = add_call(writer, run, name, TOOL_CALL)
    for number in range(1, steps + 1):
        last = number == steps
        writer.add_step(
            StepRow(
                name, number, "respond" if last else "tool", "respond" if last else "read_file",
                "README 0.7 kB" if last else "a.py</summary>", call if number == 1 else None, writer.blob(TOOL_CALL),
                None if last else writer.blob(observation), 0 if last else len(observation.encode()), None, 100, 20,
                0.001, 1.5, "local", "{}", 1_700_000_000.0 + number,
            )
        )  # fmt: skip
    writer.add_accessed_files([AccessedFileRow(name, "a.py", "read", 1, 100, None)])
    writer.set_trial(
        name, state="done", snapshot=snapshot, parsed=1, readme_blob=writer.blob(readme),
        metadata_blob=writer.blob('{"@type": "SoftwareSourceCode", "name": "</pre><script>"}'), steps=steps,
        prompt_tokens=100 * steps, completion_tokens=20 * steps, cost_usd=0.002, started_at=1_700_000_000.0,
        finished_at=1_700_000_030.0, seconds=30.0,
    )  # fmt: skip
    return name


def copied(path: Path, make: Callable[[Path], Names]) -> Names:
    """Write what ``make`` wrote the first time; its file is kept for the process."""
    if make not in _MADE:
        with tempfile.TemporaryDirectory() as folder:
            names = make(Path(folder) / "made.session")
            _MADE[make] = (Path(folder) / "made.session").read_bytes(), names
    path.write_bytes(_MADE[make][0])
    return dict(_MADE[make][1])


def document_session(path: Path) -> Names:
    return copied(path, _document_session)


def regeneration_session(path: Path) -> Names:
    return copied(path, _regeneration_session)


def _document_session(path: Path) -> Names:
    """Make a session with two repeats of one case, a failed trial, and return names → trial ids."""
    create(path, "demo <i>name</i>")
    with SessionWriter(path) as writer:
        plan = {"cases": ["alpha", "=cmd|'/c calc'!A1"], "agent": "white", "model": "local", "repeats": 2}
        writer.add_run("run1", "document", plan)
        first = add_trial(writer, "run1", "alpha", 1)
        second = add_trial(writer, "run1", "alpha", 2)
        add_scores(writer, first, card(6.0))
        add_scores(writer, first, card(3.0, rubric="strict"))
        add_scores(writer, second, card(10.0))
        failed = trial_id("white", "local", "=cmd|'/c calc'!A1", 1)
        writer.add_trial(failed, "run1", 9, ("=cmd|'/c calc'!A1", "=cmd|'/c calc'!A1"), "white", "local", 1)
        writer.set_trial(failed, state="failed", error_kind="timeout", error="The model took longer than 180 s, retry.")
        writer.annotate(first, "look <here>", 1)
        writer.set_run("run1", state="done", finished_at=1_700_000_100.0)
    return {"first": first, "second": second, "failed": failed}


def _regeneration_session(path: Path) -> Names:
    """Make a regeneration session: a task with ✓✗↯✓ (our error not counted), an excluded one, controls, dropped ones."""
    create(path)
    with SessionWriter(path) as writer:
        plan = {"source": "alpha", "docs": "original", "evaluator": "local", "samples": 4, "k": [1, 3]}
        writer.add_run("reg1", "regenerate", plan)
        names = {}
        for position, function in enumerate(("count_text", "Class.method")):
            name = names[function] = task_id("snap", "pkg/a.py", function, 0, "original")
            writer.insert(
                "tasks",
                {
                    "id": name, "run_id": "reg1", "position": position, "snapshot": "snap", "path": "pkg/a.py",
                    "qualified_name": function, "occurrence": 0, "start_line": 3, "end_line": 9, "coverage": 0.91,
                    "tests": json.dumps(["tests/test_a.py::test_one", "tests/test_a.py::test_two"]), "test_count": 2,
                    "body_blob": writer.blob("    return text.count('<')\n"), "docstring_blob": writer.blob("Count <it>."),
                    "controls": json.dumps({"reference": True, "stub": position == 0}),
                    "state": "ready" if position == 0 else "excluded",
                    "reason": None if position == 0 else "the stub passed",
                },
            )  # fmt: skip
        main = names["count_text"]
        outcomes = [("local", 0, v) for v in ("passed", "failed", "error", "passed")]
        outcomes += [("reference", 1, "passed"), ("stub", 1, "failed")]
        samples: dict[str, int] = {}
        for evaluator, control, verdict in outcomes:
            sample = samples[evaluator] = samples.get(evaluator, -1) + 1
            name = candidate_id(main, evaluator, "p1", sample)
            names[f"{evaluator}{sample}"] = name
            writer.insert(
                "candidates",
                {
                    "id": name, "run_id": "reg1", "task_id": main, "evaluator": evaluator, "sample": sample,
                    "control": control, "state": "done", "body_blob": writer.blob(f"    return '</pre>' * {sample}\n"),
                    "prompt_tokens": 10, "completion_tokens": 5, "verdict": verdict, "tested_s": 0.25, "at": 1.0,
                    "verdict_reason": "1 test fails" if verdict == "failed" else None,
                },
            )  # fmt: skip
            if verdict == "failed":
                writer.insert(
                    "failing_tests",
                    {
                        "candidate_id": name, "test_id": "tests/test_a.py::test_one", "outcome": "failed",
                        "message": "assert '<' == \x1b[31m1", "traceback_blob": writer.blob("E  assert </pre>"),
                    },
                )  # fmt: skip
        writer.insert(
            "dropped",
            {
                "run_id": "reg1",
                "path": "pkg/b.py",
                "qualified_name": "main",
                "occurrence": 0,
                "stage": "trace",
                "reason": "no test runs it",
            },
        )
        writer.insert(
            "stages",
            {"run_id": "reg1", "name": "trace", "position": 1, "state": "done", "done": 3, "total": 3, "at": 1.0},
        )
        writer.set_run("reg1", state="done")
    return names


def integrity_problem(path: Path) -> str | None:
    connection = connect(path, write=False)
    try:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        return str(error)
    finally:
        connection.close()
        log.tidy(path)
    return None if found == "ok" else str(found)
