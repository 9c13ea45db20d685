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


@pytest.mark.parametrize(
    ("name", "start"), [("md", "# Session demo"), ("html", "<!doctype html>"), ("json", "{"), ("csv", "trial,run,case")]
)
def test_each_format_goes_to_standard_output(
    session: str, name: str, start: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["report", session, "--format", name]) == 0
    out, err = capfdbinary.readouterr()
    assert out.decode("utf-8").startswith(start)
    assert err == b""


def test_a_file_is_written_in_the_format_of_its_name(
    session: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.json"
    assert main(["report", session, "-o", str(out)]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["type"] == "report"
    captured = capsys.readouterr()
    assert captured.out == ""
    assert str(out) in captured.err


def test_one_item_and_its_absence(session: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "one.csv"
    assert main(["report", session, "--format", "csv", "--item", "zzzz", "-o", str(out)]) == 2
    assert "has no item 'zzzz'" in capsys.readouterr().err
    assert not out.exists()


def test_the_session_itself_is_no_place_for_a_report(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(session).read_bytes()
    assert main(["report", session, "--format", "html", "-o", session]) == 2
    assert "is a session file" in capsys.readouterr().err
    assert Path(session).read_bytes() == before


def test_an_unknown_format_is_wrong_usage(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", session, "--format", "pdf"]) == 2
    assert "md" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_traceback(session: str) -> None:
    command = f"{sys.executable} -m workbench report {session} --format json | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{")
    assert "Traceback" not in done.stderr
