"""``workbench pack``: one complete file of a session that is being written, has a log beside it, or is old."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from samples.sessions import integrity_problem

from workbench.cli import main
from workbench.session import SessionReader, SessionWriter, create


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "demo.session"
    create(path)
    return path


def test_a_live_session_is_copied_whole_and_nobody_executes_the_copy(session, tmp_path, capsys):
    target = tmp_path / "sent.session"
    with SessionWriter(session) as writer:
        writer.add_run("one", "document", {})
        writer.set_run("one", state="running")
        held = writer.acquire("one")
        assert main(["pack", str(session), "-o", str(target)]) == 0
        out, err = capsys.readouterr()
        assert out == f"{target}\n"
        assert err.startswith("demo.session is still being written")
        # A plain copy of the file alone and one with its log: neither is taken for what the engine writes.
        writer.checkpoint()
        shutil.copy(session, tmp_path / "plain.session")
        for copy in (target, tmp_path / "plain.session"):
            with SessionReader(copy) as reader:
                assert [reader.run_state(run) for run in reader.runs()] == ["interrupted"]
            assert integrity_problem(copy) is None
        with SessionReader(session) as reader:
            assert [reader.run_state(run) for run in reader.runs()] == ["running"]
        writer.release(held)
    assert not list(tmp_path.glob(".*"))
    assert not list(tmp_path.glob("sent.session-*"))


def test_a_copy_that_cannot_be_made_is_one_sentence(session, tmp_path, capsys):
    (tmp_path / "there.session").write_text("mine")
    for arguments, words in (
        ([str(session), "-o", str(tmp_path / "there")], "exists already"),
        ([str(session), "-o", str(tmp_path / "nowhere" / "x")], "There is no folder"),
        (["nosuch"], "There is no session"),
    ):
        assert main(["pack", *arguments]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1
    assert (tmp_path / "there.session").read_text() == "mine"


def test_show_warns_of_a_log_beside_the_file(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SessionWriter(session) as writer:
        writer.add_run("one", "document", {})
        held = writer.acquire("one")
        assert main(["show", str(session)]) == 0
        assert f"workbench pack {session}" in capsys.readouterr().out
        writer.release(held)
    assert main(["show", str(session)]) == 0
    assert "workbench pack" not in capsys.readouterr().out
    Path(f"{session}.foreign-log-1").write_bytes(b"x")
    assert main(["show", str(session)]) == 0
    assert "demo.session.foreign-log-1 is a log that belonged to another file" in capsys.readouterr().out
