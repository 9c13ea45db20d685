"""Commands on a damaged session: they name the item, give the rest, and end with 1."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from faults.damaging import faces, invoke, problem_of, put, without_constraints
from samples.sessions import document_session

from workbench.session import SessionReader


@pytest.fixture
def documented(tmp_path: Path, home: Path) -> tuple[Path, dict[str, str]]:
    names = document_session(tmp_path / "sound.session")
    without_constraints(tmp_path / "sound.session", tmp_path / "demo.session")
    return tmp_path / "demo.session", names


def forget(path: Path, trial: str, column: str) -> None:
    """Delete the text of a trial from the blobs."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"DELETE FROM blobs WHERE digest = (SELECT {column} FROM trials WHERE id = ?)", (trial,))
    connection.close()


def test_a_missing_readme_is_named_and_the_rest_given(documented: tuple[Path, dict[str, str]]) -> None:
    path, names = documented
    forget(path, names["first"], "readme_blob")
    with SessionReader(path) as reader:
        other = reader.trial(names["second"])
    assert other is not None
    for words in (
        ("show", str(path), names["first"]),
        ("report", str(path)),
        ("report", str(path), "--format", "html"),
    ):
        answer = invoke(*words)
        assert answer.code == 1
        sentence = f"README of trial {names['first']} cannot be read: it is missing from the session file."
        assert sentence in answer.out.replace("\\", "")
        assert f"damaged: the README of trial {names['first']}: cannot be read" in answer.err
        assert "aeo-bench" in answer.out.replace("\\", ""), "its score is still there"
    report = invoke("report", str(path), "--format", "json")
    values = json.loads(report.out)
    trials = {trial["trial"]: trial for trial in values["trials"]}
    assert trials[names["first"]]["readme"] is None, "no sentence of ours where a text of theirs should be"
    assert trials[names["first"]]["trajectory"]
    assert any(names["first"] in one["item"] for one in values["damaged"])
    assert report.code == 1


def test_a_damaged_row_is_named_by_every_face(documented: tuple[Path, dict[str, str]]) -> None:
    path, names = documented
    put(path, "trials", "seconds", "garbage")
    for name, answer in faces(path, (names["second"],)):
        assert not problem_of(name, answer, (1,))
        assert f"damaged: trial {names['first']}: column seconds holds the text 'garbage'" in answer.err
        if not (name.startswith("show ") and names["second"] in name):
            assert "alpha" in answer.out, name
        if name in {"report md", "report html"}:
            assert "could not be read; everything else is shown" in answer.out


def test_commands_that_write_say_it_too(documented: tuple[Path, dict[str, str]]) -> None:
    path, names = documented
    put(path, "trials", "seconds", "garbage")
    answer = invoke("cancel", str(path))
    assert (answer.code, answer.out) == (1, "Nothing was running.\n")
    assert f"damaged: trial {names['first']}" in answer.err
