"""The same work ordered again into a session: new work where an option changes the result, else the existing results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import BAD, GOOD, samples_file

from workbench.base import paths
from workbench.cli import main
from workbench.session import SessionReader

pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]
FIRST = ("--sandbox", "bubblewrap", "--evaluator", "reference")


class Orders:
    def __init__(self, repository: str, session: Path, lines: Any) -> None:
        self.command, self.session, self._lines = ["regenerate", repository, "--session", str(session)], session, lines

    def __call__(self, *options: str) -> dict[str, Any]:
        closing: dict[str, Any] = self._lines(*self.command, *options)[-1]
        assert closing["type"] == "summary"
        return closing

    def runs(self) -> list[tuple[str, list[tuple[Any, ...]]]]:
        with SessionReader(self.session) as reader:
            return [
                (run.config, [(row.id, row.verdict, row.at, row.backend) for row in reader.candidates(run.id)])
                for run in reader.runs()
            ]


@pytest.fixture
def order(repository: str, tmp_path: Path, lines: Any) -> Orders:
    return Orders(repository, tmp_path / "again.session", lines)


def outcome(closing: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(closing[key] for key in ("state", "tasks", "candidates", "pass_at_k", "verdicts", "controls"))


@pytest.mark.slow
def test_what_changes_no_result_shows_the_existing_ones(order: Orders, capsys: pytest.CaptureFixture[str]) -> None:
    first = order(*FIRST)
    same = ("--rebuild", "--engine", "local", "--spend-limit", "1", "--no-controls", "--docs", "original")
    again = order("--evaluator", "reference", *same)
    assert outcome(again) == outcome(first)
    assert (first["kept"], again["kept"]) == (0, 3)
    assert len(order.runs()) == 1
    assert main([*order.command, "--evaluator", "reference"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "3 of 3 verdicts" in printed
    assert f"workbench rerun {order.session} '*'" in printed
    assert main(["rerun", str(order.session), "*"]) == 0


@pytest.mark.slow
def test_what_changes_a_result_is_new_work(order: Orders) -> None:
    first = order(*FIRST, "--k", "1")
    for options in (["--sandbox", "process"], ["--docs", "none"], ["--samples", "2"]):
        again = order("--evaluator", "reference", "--k", "1", *options)
        kept = 3 if "--samples" in options else 0
        assert (again["state"], again["tasks"], again["candidates"], again["kept"]) == ("done", 3, 3 + kept, kept)
        assert again["pass_at_k"] == first["pass_at_k"] == {"1": 1.0}
    # All stand in the session, each with its own results.
    assert outcome(order(*FIRST, "--k", "1"))[:2] == outcome(first)[:2]
    assert {row[3] for _, rows in order.runs() for row in rows} == {"bubblewrap", "process"}


@pytest.mark.slow
def test_a_rebuild_that_finds_other_tests_asks_only_for_what_rests_on_them(order: Orders) -> None:
    run = order(*FIRST)["run"]
    # The cache differs from what a build finds now, as after one that met a flaky test.
    for kept in (paths.cache_dir() / "tasks").glob("*.json"):
        built = json.loads(kept.read_text())
        for task in built["tasks"]:
            if task["qualified_name"] == "add":
                task["tests"] = task["tests"][:1]
        kept.write_text(json.dumps(built))
    with SessionReader(order.session) as reader:
        before = {task.qualified_name: task.id for task in reader.tasks(run)}
    fewer = order("--evaluator", "reference")
    assert (fewer["tasks"], fewer["kept"], fewer["excluded"]) == (3, 2, 1)
    again = order("--evaluator", "reference", "--rebuild")
    assert (again["tasks"], again["kept"], again["excluded"]) == (3, 3, 1)
    with SessionReader(order.session) as reader:
        assert {task.qualified_name: task.id for task in reader.tasks(run) if task.state == "ready"} == before


def test_a_samples_file_that_changed_is_refused_and_one_that_grew_is_not(order, tmp_path, capsys):
    path = tmp_path / "answers.jsonl"
    given = samples_file(path, BAD)
    assert order("--evaluator", given, "--k", "1")["pass_at_k"] == {"1": 0.0}
    path.write_text(path.read_text() + Path(samples_file(tmp_path / "more.jsonl", GOOD)[8:]).read_text())
    assert order("--evaluator", given, "--k", "1")["pass_at_k"] == {"1": 0.5}
    samples_file(path, GOOD)
    before = order.runs()
    assert main([*order.command, "--evaluator", given]) == 2
    assert "answers.jsonl" in capsys.readouterr().err
    assert order.runs() == before
