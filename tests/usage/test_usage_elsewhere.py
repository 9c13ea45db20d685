"""Usage runs in commands that regeneration runs share: comparing, merging, exporting and rerunning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples.sessions import regeneration_session
from samples.usage_runs import READER, TASKS, add_usage_run

from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.engine.merging import merge
from workbench.interop.formats.exporting import export
from workbench.orders.rerun import RerunOrder
from workbench.regeneration.extraction import read_samples
from workbench.results.usage import UsageResults
from workbench.session import SessionReader, SessionWriter, create

LINES = {"used": 1, "wrong": 1, "option": 1}


def recorded(path: Path, page: str = "# A", label: str = "README") -> Path:
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        add_usage_run(writer, page, LINES, label=label)
    return path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return recorded(tmp_path / "use.session")


def test_pages_are_compared_by_name(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{session}/none", f"{session}/README"]) == 0
    shown = capsys.readouterr().out
    assert "use@1" in shown
    assert "pass@" not in shown
    assert "wordcount.count_lines" in shown
    assert f"{READER} · none" in shown
    assert f"{READER} · README" in shown
    assert main(["compare", f"{session}/none", f"{session}/README", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pass_at_k"]["1"]["difference"] == pytest.approx(0.2)
    assert main(["compare", f"{session}/{READER}", f"{session}/none"]) == 2
    assert "README" in capsys.readouterr().err


@pytest.mark.parametrize("item", ["", "task"])
def test_what_measures_pages_is_not_compared_with_what_measures_docstrings(
    item: str, session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.session"
    regeneration_session(other)
    sides = []
    for path in (session, other):
        with SessionReader(path) as reader:
            (run,) = (run for run in reader.runs() if run.has_candidates)
            sides.append(f"{path}/{reader.tasks(run.id)[0].id if item else run.id}")
    assert main(["compare", *sides]) == 2
    assert "A belongs to a usage run, B to a regeneration run" in capsys.readouterr().err


def test_merged_sessions_have_all_pages_and_each_answer_of_a_deterministic_reader_once(tmp_path: Path) -> None:
    one, two = recorded(tmp_path / "one.session"), recorded(tmp_path / "two.session", "# B", "mine.md")
    target = tmp_path / "both.session"
    merge([one, two], target)
    with SessionReader(target) as reader:
        (run,) = reader.runs()
        results = UsageResults.read(reader, run)
    (used,) = results.readers
    assert sorted(page.context.partition("@")[0] for page in used.pages) == ["README", "mine.md"]
    assert {page.text for page in used.pages} == {"# A", "# B"}
    assert used.none is not None
    assert used.none.outcome.totals.samples == len(TASKS)
    assert {ask["samples"] for ask in run.plan["asks"]} == {1}


def test_answers_are_exported_by_page_and_read_as_samples(session: Path, tmp_path: Path) -> None:
    export(session, "evalplus", tmp_path / "answers")
    assert {file.name for file in (tmp_path / "answers").iterdir()} >= {"literal_README.jsonl", "literal_source.jsonl"}
    samples = read_samples(tmp_path / "answers" / "literal_source.jsonl")
    assert {one.task: one.text for one in samples} == {task.id: task.target.reference for task in TASKS}
    export(session, "junit", tmp_path / "verdicts.xml")
    assert (tmp_path / "verdicts.xml").read_text().count("<testcase") == 3 * len(TASKS)


@pytest.mark.parametrize("format", ["humaneval", "repotest", "evalplus-results"])
def test_formats_of_functions_have_no_usage_tasks(format: str, session: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no task but usage tasks"):
        export(session, format, tmp_path / "tasks.jsonl")
    assert not (tmp_path / "tasks.jsonl").exists()


def test_more_samples_are_counted_for_each_page(session: Path) -> None:
    (again,) = RerunOrder(session, "*count_lines", samples=2).parts
    assert (again.evaluator, again.asked) == (READER, 3)


def test_metrics_need_docstrings(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", str(session)]) == 2
    assert "no regeneration run" in capsys.readouterr().err
