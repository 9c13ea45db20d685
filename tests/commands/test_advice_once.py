"""How a run goes on is said once, and never of a file that is gone."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.commands import watching
from workbench.orders import launching
from workbench.session import SessionReader, SessionWriter, create

FULL = "The disk is full: s.session could not be written. Free some space, then run: workbench resume {}"
GONE = "s.session was removed while it was written. Go on with: workbench resume {}/s.rescued.session"
MOVED = "s.session was moved while it was written; resume it under its new name."


@pytest.mark.parametrize(
    ("words", "happened", "advised"),
    [
        ("it was terminated by SIGKILL", lambda path: None, 1),
        (FULL, lambda path: None, 1),
        (GONE, lambda path: path.unlink(), 1),
        (MOVED, lambda path: path.rename(path.with_name("other.session")), 0),
        (GONE, lambda path: (path.unlink(), create(path)), 1),
    ],
    ids=["killed", "full", "removed", "moved", "replaced"],
)
def test_advice_is_given_once(words, happened, advised, tmp_path, monkeypatch):
    path = tmp_path / "s.session"
    create(path)
    with SessionWriter(path) as writer:
        writer.add_run("one", "document", {})
        writer.set_run("one", state="running")
    said = words.format(tmp_path if "rescued" in words else path)
    monkeypatch.setattr(launching, "end_of", lambda run: said)
    shown: list[dict[str, Any]] = []
    with SessionReader(path) as reader:
        row = reader.run("one")
        assert row is not None
        happened(path)
        if "while it was written" in words:
            with pytest.raises(SystemExit):
                watching._say_end(row, "interrupted", reader, shown.append)
        else:
            watching._say_end(row, "interrupted", reader, shown.append)
    (event,) = shown
    assert event["sentence"].count("workbench resume") == advised
    assert not event["sentence"].endswith(".session.")
