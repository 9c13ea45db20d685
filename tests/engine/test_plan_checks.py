"""Plans, names and files are checked before a session is written, whether they come from the CLI, the app or a program."""

from __future__ import annotations

import asyncio
import json
import math
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workbench import session
from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.cli import main
from workbench.engine.evaluators import SamplesEvaluator
from workbench.engine.task_rows import FunctionItem
from workbench.orders.regenerate import order_regeneration
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan, RegenerationPlan
from workbench.regeneration.extraction import read_samples
from workbench.repository.functions import find_functions
from workbench.session import SessionReader
from workbench.session.session_names import is_writable, new_session, resolve_session, writable_copy

MANY = 10**9


@pytest.mark.parametrize(
    "values",
    [
        *({"repeats": value} for value in (0, 2.7, math.nan, True, "2", MANY, None)),
        {"judge_repeats": 0},
        {"first_repeat": -1},
        {"max_steps": 2.5},
        {"read_limit": -1},
        *({"spend_limit": value} for value in (-1, math.inf)),
        {"cases": ()},
        {"cases": ("",)},
        {"cases": ("/nowhere/at/all",)},
        {"agent": "nobody"},
        {"model": "nosuch/model"},
        {"judge": "nosuch/model"},
        {"model": "openai/\x1b[31m"},
        {"model": "replay:"},
        {"judge": "replay:"},
    ],
    ids=str,
)
def test_a_document_plan_that_makes_no_sense_writes_nothing(home: Path, tmp_path: Path, values: dict[str, Any]) -> None:
    plan = DocumentPlan(**{"cases": ("word_counter",), "model": "local", "judge": "offline", **values})
    with pytest.raises(UsageError):
        plan_document(tmp_path / "s.session", plan)
    assert not (tmp_path / "s.session").exists()


@pytest.mark.parametrize(
    "values",
    [
        *({"samples": value} for value in (-1, 2.7, MANY)),
        {"limit": True},
        *({"k": value} for value in ((), (0,), (1.5,), (MANY,))),
        {"spend_limit": math.nan},
        {"tasks": ("",)},
        {"tasks": ("a\x1b[31m",)},
        {"source": "/nowhere/at/all"},
        {"evaluator": "nosuch/model"},
        {"evaluator": "replay:"},
        {"docs": "llm:nosuch/model"},
        {"docs": "source:/nowhere"},
        {"docs": "oracle"},
        {"prompt": "paper-9"},
        {"context": "nothing"},
        {"evaluator": "samples:/does/not/exist"},
    ],
    ids=str,
)
def test_a_regeneration_plan_that_makes_no_sense_writes_nothing(home, tmp_path, values):
    plan = RegenerationPlan(**{"source": "word_counter", "evaluator": "reference", **values})
    with pytest.raises(UsageError):
        order_regeneration(tmp_path / "s.session", plan)
    assert not (tmp_path / "s.session").exists()


def test_a_plan_is_refused_before_a_session_is_made_where_no_log_can_be_written(home, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_STATE_DIR", "/dev/null/logs")
    with pytest.raises(WorkbenchError, match="folder of logs"):
        plan_document(tmp_path / "s.session", DocumentPlan(("word_counter",), model="local", judge="offline"))
    assert not (tmp_path / "s.session").exists()


# -- samples


def _line(text: str) -> str:
    return json.dumps({"task_id": "a.py::f", "completion": text}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        *((_line(f"a{mark}b") + "\n" + _line("c"), [f"a{mark}b", "c"]) for mark in "\u2028\u2029\x85"),
        ("\ufeff" + _line("a") + "\n", ["a"]),
        (_line("a") + "\r\n" + _line("b") + "\r\n\r\n", ["a", "b"]),
        (_line("a") + "\n\n  \n" + _line("b"), ["a", "b"]),
    ],
    ids=["line-separator", "paragraph-separator", "next-line", "byte-order-mark", "windows", "blank-lines"],
)
def test_valid_json_lines_are_read_as_they_are(tmp_path: Path, content: str, texts: list[str]) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_bytes(content.encode())
    assert [sample.text for sample in read_samples(file)] == texts


def test_one_bad_line_of_a_samples_file_is_one_sentence_and_the_rest_is_read(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    half = '{"task_id": "a.py::f", "completion": "return \'\\ud800\'"}'
    nothing = '{"task_id": "a.py::f"}'
    lines = [_line("return 1"), half, "{cut", nothing, _line("return 2")]
    file.write_bytes("\n".join(lines).encode() + b'\n{"task_id": "a.py::f", "completion": "return \xff"}')
    source = b"def f():\n    return 0\n"
    task = SimpleNamespace(id="a.py::f")
    function = find_functions(source, "a.py")[0]
    item = FunctionItem("i", task, function, source, None, source, function)
    evaluator = SamplesEvaluator(file)
    read = [asyncio.run(evaluator.respond(item, "c", sample)).extraction for sample in range(evaluator.count(item))]
    assert [one.body for one in read if one.valid] == ["return 1", "return 2"]
    assert all(one.reason for one in read if not one.valid)
    assert len(read) == 4
    assert "lone surrogate" in read[1].reason
    assert evaluator.ignored({"a.py::f"}) == (
        "samples.jsonl, line 3: this is not JSON; it was ignored. 1 more of its lines cannot be read."
    )
    file.write_text("{cut\n")
    with pytest.raises(UsageError, match="line 1"):
        SamplesEvaluator(file)


def test_a_samples_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is a pipe"):
        read_samples(tmp_path / "pipe")


# -- names of sessions


@pytest.mark.parametrize("text", ["", " ", ".", "..", "/", "a/", "x" * 300, "a\0b", "a\nb", "\udcff", ".session"])
def test_what_is_no_name_of_a_session_is_refused(home: Path, text: str) -> None:
    with pytest.raises(UsageError):
        resolve_session(text)


def test_odd_names_that_are_names_are_found(home: Path) -> None:
    for name in ("[x]", "ü", "a b", "x" * 150, "...", "-x"):
        session.create(paths.sessions_dir() / f"{name}.session")
        assert resolve_session(name).stem == name


# -- nothing is left behind, and advice is about files that are there


@pytest.mark.slow
def test_an_order_that_the_engine_finds_wrong_leaves_no_session(one_cache, tmp_path, capsys):
    wrong = ["regenerate", "word_counter", "--evaluator", "reference", "--task", "nosuch", "--sandbox", "process"]
    new = tmp_path / "new.session"
    assert main([*wrong, "--session", str(new)]) == 2
    assert "No task is called nosuch" in capsys.readouterr().err
    assert not new.exists()
    # A session that was there stays, whatever becomes of the order.
    session.create(new)
    assert main([*wrong, "--session", str(new)]) == 2
    with SessionReader(new) as reader:
        assert len(reader.runs()) == 1


def test_what_is_refused_for_the_example_names_the_example(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = next(paths.bundled("sessions").glob("*.session"))
    assert main(["rerun", str(example), "nosuch"]) == 2
    said = capsys.readouterr().err
    assert f"`workbench show {example}`" in said
    assert str(paths.sessions_dir()) not in said


def test_every_option_of_an_order_says_what_another_value_of_it_means() -> None:
    from dataclasses import fields

    from workbench.orders.ordered_asks import options_help
    from workbench.plans.arguments import arguments_of
    from workbench.plans.plan import RegenerationPlan

    kept_by_the_engine = {"asks", "acceptances", "snapshot", "import_folders", "weaknesses", "permanent_failure"}
    assert arguments_of(RegenerationPlan).keys() == {one.name for one in fields(RegenerationPlan)} - kept_by_the_engine
    told = options_help()
    assert all(name in told for name in ("SOURCE", "--sandbox", "--rebuild", "--spend-limit", "--task"))


def test_the_first_trial_of_a_case_is_repeat_1_whatever_others_have(home: Path, tmp_path: Path) -> None:
    """One case with two trials made the first trial of every other case of the order its third."""
    session = tmp_path / "repeats.session"
    plan_document(session, DocumentPlan(("word_counter",), model="local", judge="offline", repeats=2))
    both = ("word_counter", "password_generator")
    run = plan_document(session, DocumentPlan(both, model="local", judge="offline", repeats=2, first_repeat=0))
    with SessionReader(session) as reader:
        found = {(row.case_id, row.repeat) for row in reader.trials(run)}
    assert found == {
        ("word_counter", 3),
        ("word_counter", 4),
        ("password_generator", 1),
        ("password_generator", 2),
    }


def test_the_example_is_copied_and_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    example = next(paths.bundled("sessions").glob("*.session"))
    before = example.read_bytes()
    first, second = writable_copy(example), writable_copy(example)
    assert first != second
    assert first.parent == second.parent == paths.sessions_dir()
    assert example.read_bytes() == before
    # The copy is a file of the current schema, and nothing else was left beside it.
    assert sorted(item.name for item in first.parent.iterdir()) == sorted((first.name, second.name))
    with SessionReader(example) as there, SessionReader(first) as here:
        assert (there.runs(), there.trials(), there.scores()) == (here.runs(), here.trials(), here.scores())
    assert is_writable(first)
    assert not is_writable(example)


def test_a_session_of_ones_own_is_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    mine = new_session("mine")
    assert writable_copy(mine) == mine
