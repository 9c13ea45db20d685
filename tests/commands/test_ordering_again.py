"""The same work ordered again into a session, with each option that may differ: new work, or the results that exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import BAD, GOOD, samples_file

from workbench.cli import main
from workbench.session import SessionReader

pytestmark = [pytest.mark.sandbox, pytest.mark.network]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "again.session"


def recorded(session: Path) -> list[tuple[Any, ...]]:
    with SessionReader(session) as reader:
        return [
            (run.config, [(row.id, row.verdict, row.at) for row in reader.candidates(run.id)]) for run in reader.runs()
        ]


class Orders:
    def __init__(self, repository: str, session: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.repository, self.session, self._capsys = repository, session, capsys

    def __call__(self, *options: str, code: int = 0) -> dict[str, Any]:
        command = ["regenerate", self.repository, "--session", str(self.session), "--json", *options]
        assert main(command) == code, self._capsys.readouterr()
        closing: dict[str, Any] = json.loads(self._capsys.readouterr().out.splitlines()[-1])
        assert closing["type"] == "summary"
        return closing


@pytest.fixture
def order(repository: str, session: Path, capsys: pytest.CaptureFixture[str]) -> Orders:
    return Orders(repository, session, capsys)


def outcome(closing: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(closing[key] for key in ("state", "tasks", "candidates", "pass_at_k", "verdicts", "controls"))


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--sandbox", "bubblewrap"],
        ["--rebuild"],
        ["--engine", "local"],
        ["--spend-limit", "1"],
        ["--no-controls"],
        ["--docs", "original"],
    ],
    ids=" ".join,
)
def test_what_changes_no_result_shows_those_that_exist(
    order: Orders, options: list[str], needs_bubblewrap: None
) -> None:
    first = order("--sandbox", "bubblewrap", "--evaluator", "reference")
    again = order("--evaluator", "reference", *options)
    assert outcome(again) == outcome(first)
    assert (first["kept"], again["kept"]) == (0, 3)
    assert again["run"] == first["run"]
    with SessionReader(order.session) as reader:
        assert len(reader.runs()) == 1


@pytest.mark.parametrize("options", [["--sandbox", "process"], ["--docs", "none"], ["--samples", "2"]], ids=" ".join)
def test_what_changes_a_result_is_new_work(order: Orders, options: list[str], needs_bubblewrap: None) -> None:
    first = order("--sandbox", "bubblewrap", "--evaluator", "reference", "--k", "1")
    again = order("--evaluator", "reference", "--k", "1", *options)
    wanted = 6 if "--samples" in options else 3
    assert (again["state"], again["tasks"], again["candidates"]) == ("done", 3, wanted)
    assert again["pass_at_k"] == first["pass_at_k"] == {"1": 1.0}
    assert again["kept"] == (3 if "--samples" in options else 0)
    assert again["verdicts"] == {"passed": wanted}
    # Both stand in the session, each with its own.
    assert outcome(order("--sandbox", "bubblewrap", "--evaluator", "reference", "--k", "1"))[:2] == outcome(first)[:2]
    with SessionReader(order.session) as reader:
        tested = {row.backend for run in reader.runs() for row in reader.candidates(run.id)}
        assert tested == ({"bubblewrap", "process"} if "process" in options else {"bubblewrap"})


def test_a_rebuild_that_finds_other_tests_asks_anew_only_what_rests_on_them(
    order: Orders, tmp_path: Path, needs_bubblewrap: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = order("--sandbox", "bubblewrap", "--evaluator", "reference")
    assert first["tasks"] == 3
    from workbench.base import paths

    # What the cache says is not what a building says now, as after one that met a flaky test.
    for kept in (paths.cache_dir() / "tasks").glob("*.json"):
        built = json.loads(kept.read_text())
        for task in built["tasks"]:
            if task["qualified_name"] == "add":
                task["tests"] = task["tests"][:1]
        kept.write_text(json.dumps(built))
    with SessionReader(order.session) as reader:
        before = {task.qualified_name: task.id for task in reader.tasks(first["run"])}
    fewer = order("--evaluator", "reference")
    assert (fewer["tasks"], fewer["kept"], fewer["excluded"]) == (3, 2, 1)
    again = order("--evaluator", "reference", "--rebuild")
    assert (again["tasks"], again["kept"], again["excluded"]) == (3, 3, 1)
    assert again["pass_at_k"]["1"] == 1.0
    with SessionReader(order.session) as reader:
        ready = {task.qualified_name: task.id for task in reader.tasks(first["run"]) if task.state == "ready"}
    assert ready == before


def test_a_samples_file_that_says_something_else_is_refused_and_one_that_grew_is_not(
    order: Orders, tmp_path: Path, needs_bubblewrap: None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.jsonl"
    given = samples_file(path, BAD)
    assert order("--evaluator", given, "--k", "1")["pass_at_k"] == {"1": 0.0}
    path.write_text(path.read_text() + Path(samples_file(tmp_path / "more.jsonl", GOOD)[8:]).read_text())
    assert order("--evaluator", given, "--k", "1")["pass_at_k"] == {"1": 0.5}
    samples_file(path, GOOD)
    before = recorded(order.session)
    assert main(["regenerate", order.repository, "--session", str(order.session), "--evaluator", given]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "answers.jsonl says something else" in told
    assert recorded(order.session) == before


def test_the_line_says_that_results_exist_and_how_to_test_them_again(
    order: Orders, needs_bubblewrap: None, capsys: pytest.CaptureFixture[str]
) -> None:
    order("--sandbox", "bubblewrap", "--evaluator", "reference")
    assert main(["regenerate", order.repository, "--session", str(order.session), "--evaluator", "reference"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "3 of 3 verdicts were in the session before" in told
    assert f"workbench rerun {order.session} '*'" in told.replace(" ", " ")
    assert main(["rerun", str(order.session), "*"]) == 0
