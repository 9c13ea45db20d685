"""Terminals that can do little: one that cannot place text is told so, and what little it can do is enough for the app."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

from workbench import glyphs


def output_in(tmp_path: Path, **environment: str) -> tuple[int, str]:
    """Run the app in a terminal of its own until it ends; return its exit code and all that it wrote there."""
    master, other = pty.openpty()
    names = ("DATA", "CACHE", "STATE", "CONFIG")
    folders = {f"WORKBENCH_{name}_DIR": str(tmp_path / name.lower()) for name in names}
    with subprocess.Popen(
        [sys.executable, "-m", "workbench"],
        stdin=other,
        stdout=other,
        stderr=other,
        env={**os.environ, **folders, **environment},
    ) as program:
        os.close(other)
        said = b""
        with contextlib.suppress(OSError):  # the other end was closed
            while part := os.read(master, 65_536):
                said += part
        os.close(master)
    return program.returncode, said.decode()


def test_a_dumb_terminal_gets_one_sentence_and_no_control_sequence(tmp_path: Path) -> None:
    code, said = output_in(tmp_path, TERM="dumb")
    assert code == 2
    assert "TERM is dumb" in said
    assert "\x1b" not in said


def test_bars_keep_their_heights_in_ascii() -> None:
    assert [glyphs.narrow(sign) for sign in "▁▂▃▄▅▆▇█"] == [".", ".", ":", ":", "o", "o", "#", "#"]
