"""A report is written whole or not at all, and never over a session."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from samples.sessions import add_trial

from workbench.base.errors import UsageError
from workbench.pages import write_report
from workbench.pages.wording import plan_words
from workbench.pages.writing import ReportError, write_atomically
from workbench.session import SessionWriter, create


@pytest.mark.parametrize("name", ["md", "html", "json", "csv"])
def test_a_report_is_written_with_a_lone_surrogate_and_leaves_nothing_beside_it(tmp_path: Path, name: str) -> None:
    session = tmp_path / "odd.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        add_trial(writer, "run", "alpha", 1, readme="# lone \ud800 surrogate")
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / f"r.{name}"
    assert write_report(session, name, out) == out
    assert list(out.parent.iterdir()) == [out]
    text = out.read_text(encoding="utf-8")
    if name == "json":
        assert json.loads(text)["trials"][0]["readme"] == "# lone \ud800 surrogate"


@pytest.mark.parametrize("way", ["itself", "symlink", "hardlink", "side file", "another session"])
def test_no_report_overwrites_a_session(documented: tuple[Path, dict[str, str]], way: str) -> None:
    session, _ = documented
    before = session.read_bytes()
    out = session.parent / "report.html"
    if way == "itself":
        out = session.parent / "." / session.name
    elif way == "symlink":
        out.symlink_to(session)
    elif way == "hardlink":
        os.link(session, out)
    elif way == "side file":
        out = session.with_name(session.name + "-wal")
    else:
        out.write_bytes(before)
    with pytest.raises(UsageError, match="session file"):
        write_report(session, "html", out)
    assert session.read_bytes() == before


def test_what_cannot_be_written_is_one_sentence(documented: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        write_report(documented[0], "md", tmp_path)
    with pytest.raises(ReportError, match="does not exist"):
        write_report(documented[0], "md", tmp_path / "nowhere" / "r.md")
    with pytest.raises(UsageError, match="choose from md, html, latex, json, csv"):
        write_report(documented[0], "pdf", None)
    with pytest.raises(UsageError, match="has no item"):
        write_report(documented[0], "md", None, item="zzzz")
    # A device is written to and never replaced.
    with pytest.raises(ReportError, match="disk is full"):
        write_report(documented[0], "md", Path("/dev/full"))
    assert Path("/dev/full").is_char_device()


def test_a_full_disk_keeps_the_earlier_report(tmp_path: Path) -> None:
    out = tmp_path / "r.md"
    out.write_text("earlier")

    def filling() -> Iterator[str]:
        yield "half"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ReportError, match="disk is full"):
        write_atomically(out, filling())
    assert out.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"agent": "white", "repeats": 1, "check": "", "check_seconds": 10.0, "check_again": -1}, "agent white"),
        ({"check": "run", "check_seconds": 5.0, "check_again": -1}, "check run · check seconds 5.0"),
        (
            {"agent": "", "imported": {"files": ["a.json"], "importer": "", "count": 1}},
            "imported files a.json · count 1",
        ),
    ],
)
def test_a_plan_shows_what_was_ordered(plan: dict[str, object], words: str) -> None:
    assert plan_words(json.dumps(plan)) == words
