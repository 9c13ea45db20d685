"""Tags from the command line, and sessions merged from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))

import recorded

from workbench.cli import main
from workbench.search.index import SearchIndex
from workbench.search.query import parse
from workbench.session import SessionReader
from workbench.session.labels import SESSION, STAR


@pytest.fixture
def session(home: Path, tmp_path: Path) -> Path:
    made = recorded.Recorder(tmp_path / "demo.session")
    made.run()
    recorded.word_counter(made, "4f2100aa")
    made.close()
    return made.path


def labels(path: Path) -> set[tuple[str, str, str]]:
    with SessionReader(path) as reader:
        return {(row.item, row.part, row.label) for row in reader.labels()}


def test_a_session_and_its_items_are_tagged_and_that_is_in_reports(session: Path, capsys, tmp_path: Path) -> None:
    assert main(["tag", str(session), "paper, final", "best", "--star", "--note", "see \x1b[31mfigure 3"]) == 2
    assert main(["tag", str(session), "paper, final", "best", "--star", "--note", "see figure 3"]) == 0
    assert main(["tag", str(session), "odd", "--item", "4f21:2"]) == 0
    assert labels(session) == {
        (SESSION, "", "paper"), (SESSION, "", "final"), (SESSION, "", "best"), (SESSION, "", STAR), ("4f2100aa", "2", "odd"),
    }  # fmt: skip
    assert main(["tag", str(session), "final", "--remove"]) == 0
    assert (SESSION, "", "final") not in labels(session)
    capsys.readouterr()
    assert main(["tag", str(session), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "type": "marks", "item": SESSION, "step": None, "criterion": None, "labels": [STAR, "best", "paper"], "remarks": ["see figure 3"],
    }  # fmt: skip
    for ending in ("md", "html"):
        out = tmp_path / f"report.{ending}"
        assert main(["report", str(session), "-o", str(out)]) == 0
        assert "paper" in out.read_text()
        assert "see figure 3" in out.read_text()


def test_a_criterion_of_a_trial_is_tagged_by_its_key(session: Path, capsys, tmp_path: Path) -> None:
    assert main(["tag", str(session), "unfair", "--item", "4f21:purpose"]) == 2
    assert "several criteria are called 'purpose'" in capsys.readouterr().err
    one = "4f21:aeo-bench:3.purpose"
    assert main(["tag", str(session), "unfair", "--item", one, "--note", "the facts are wrong"]) == 0
    assert "criterion purpose (aeo-bench): unfair" in capsys.readouterr().out
    assert main(["tag", str(session), "--item", "4f21:no such"]) == 2
    assert "no criterion is called 'no such'" in capsys.readouterr().err
    out = tmp_path / "report.json"
    assert main(["report", str(session), "--format", "json", "-o", str(out)]) == 0
    [label] = json.loads(out.read_text())["labels"]
    assert (label["item"], label["step"], label["criterion"]) == ("4f2100aa", None, "aeo-bench:3.purpose")
    [remark] = json.loads(out.read_text())["annotations"]
    assert (remark["item"], remark["criterion"], remark["text"]) == (
        "4f2100aa",
        "aeo-bench:3.purpose",
        "the facts are wrong",
    )
    for form in ("md", "html"):
        assert main(["report", str(session), "--format", form, "-o", str(out)]) == 0
        assert "on criterion purpose (aeo-bench): the facts are wrong" in out.read_text()


def test_what_cannot_be_tagged_is_said(session: Path, capsys) -> None:
    assert main(["tag", str(session), "x" * 300]) == 2
    assert "at most 40 characters" in capsys.readouterr().err
    assert main(["tag", str(session), "--remove"]) == 2
    assert "--remove needs the tags" in capsys.readouterr().err
    assert main(["tag", str(session), "x", "--item", "nothing"]) == 2
    assert "has no item" in capsys.readouterr().err
    assert main(["tag", "example", "x"]) == 2
    assert "read-only" in capsys.readouterr().err
    assert main(["tag", str(session), "--note", "x" * 30_000]) == 2
    assert labels(session) == set()


def test_a_session_is_found_by_its_tag(session: Path, tmp_path: Path) -> None:
    assert main(["tag", str(session), "paper"]) == 0
    index = SearchIndex(tmp_path / "search.db")
    try:
        with SessionReader(session) as reader:
            index.update(reader)
        found = index.search(parse("tag:paper"))
        assert [(hit.item.kind, hit.item.title) for hit in found.hits] == [("session", "demo")]
    finally:
        index.close()


def test_sessions_are_merged_into_a_named_one(session: Path, tmp_path: Path, capsys) -> None:
    other = recorded.Recorder(tmp_path / "other.session")
    other.run("run-2")
    other.trial("feedbeef", run_id="run-2", repeat=2)
    other.close()
    assert main(["merge", str(session), str(other.path), "-o", "both", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["rows"]["trials"], told["rows"]["runs"]) == (2, 2)
    assert Path(told["session"]).name == "both.session"
    assert main(["merge", str(session), str(other.path), "-o", "both"]) == 1
    assert "exists already" in capsys.readouterr().err
    assert main(["merge", str(session), "-o", "alone"]) == 2
