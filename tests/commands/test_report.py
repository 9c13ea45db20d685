"""``workbench report``: formats, places, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from samples.sessions import document_session

from workbench.cli import main


@pytest.fixture
def session(tmp_path: Path) -> str:
    document_session(tmp_path / "demo.session")
    return str(tmp_path / "demo.session")


@pytest.mark.parametrize(("name", "start"), [("md", "# Session demo"), ("csv", "trial,run,case")])
def test_each_format_goes_to_standard_output(session, name, start, capfdbinary):
    assert main(["report", session, "--format", name]) == 0
    out, err = capfdbinary.readouterr()
    assert out.decode("utf-8").startswith(start)
    assert err == b""


def test_a_file_is_written_in_the_format_of_its_name(session, tmp_path, capsys):
    out = tmp_path / "report.json"
    assert main(["report", session, "-o", str(out)]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["type"] == "report"
    captured = capsys.readouterr()
    assert captured.out == ""
    assert str(out) in captured.err


def test_what_cannot_be_written_is_wrong_usage(session, tmp_path, capsys):
    before, out = Path(session).read_bytes(), tmp_path / "one.csv"
    for arguments, words in (
        (["--format", "csv", "--item", "zzzz", "-o", str(out)], "has no item 'zzzz'"),
        (["--format", "html", "-o", session], "is a session file"),
        (["--format", "pdf"], "md"),
    ):
        assert main(["report", session, *arguments]) == 2
        assert words in capsys.readouterr().err
    assert not out.exists()
    assert Path(session).read_bytes() == before


def test_a_reader_that_goes_away_is_no_traceback(session: str) -> None:
    command = f"{sys.executable} -m workbench report {session} --format json | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{")
    assert "Traceback" not in done.stderr
