"""Terminals that can do little: one that cannot place text is told so, and what little it can do is enough for the app."""

import contextlib
import os
import pty
import re
import select
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

from workbench.base import glyphs

_SEQUENCES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[P^_\]][^\x1b\x07]*(\x07|\x1b\\)|[()].|.)")


def output_in(
    tmp_path: Path, *arguments: str, keys: Sequence[tuple[str, str]] = (), **environment: str
) -> tuple[int, str]:
    """Run the app in a terminal of its own until it ends; return its exit code and all that it wrote there.

    ``keys`` are pressed, each as soon as the words before it were written since the key before.
    """
    master, other = pty.openpty()
    termios.tcsetwinsize(master, (40, 120))
    left = list(keys)
    names = ("DATA", "CACHE", "STATE", "CONFIG")
    folders = {f"WORKBENCH_{name}_DIR": str(tmp_path / name.lower()) for name in names}
    # Workers of pytest-xdist have COLUMNS and LINES, which Textual believes rather than the terminal.
    inherited = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
    with subprocess.Popen(
        [sys.executable, "-m", "workbench", *arguments],
        stdin=other,
        stdout=other,
        stderr=other,
        env={**inherited, **folders, **environment},
    ) as program:
        os.close(other)
        said, since = b"", 0
        with contextlib.suppress(OSError):  # the other end was closed
            while select.select([master], [], [], 30)[0] and (part := os.read(master, 65_536)):
                said += part
                if left and left[0][0] in _SEQUENCES.sub("", said[since:].decode(errors="ignore")):
                    os.write(master, left.pop(0)[1].encode())
                    since = len(said)
        os.close(master)
        if left:
            program.kill()
    assert not left, f"{left[0][0]!r} was never written: {_SEQUENCES.sub('', said[since:].decode())}"
    return program.returncode, said.decode()


def test_a_dumb_terminal_gets_one_sentence_and_no_control_sequence(tmp_path):
    code, said = output_in(tmp_path, TERM="dumb")
    assert code == 2
    assert "TERM is dumb" in said
    assert "\x1b" not in said


def test_a_locale_without_signs_is_believed_though_python_writes_utf_8_there():
    ascii = [{"LC_ALL": "C"}, {"LANG": "C", "LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}]
    assert [glyphs.shown_in(one) for one in ascii] == [False] * 3
    signs = [{}, {"LC_CTYPE": "C.UTF-8"}, {"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, {"LC_ALL": "C", "PYTHONUTF8": "1"}]
    assert [glyphs.shown_in(one) for one in signs] == [True] * 4
