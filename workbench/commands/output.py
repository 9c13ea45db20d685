"""All plain output of commands; control sequences are removed from external text.

Tables and styled text are printed by :mod:`workbench.commands.terminal`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from workbench.base import glyphs
from workbench.base.text import clean, json_text

if TYPE_CHECKING:
    from workbench.session.row_reader import Damage


def readable(text: str, encoding: str | None) -> str:
    """Return a line without control characters; signs that the encoding lacks are replaced by words."""
    text = clean(text)
    return text if glyphs.shown_by(encoding) else glyphs.worded(text)


def write(text: str, stream: IO[str]) -> None:
    stream.write(readable(text, getattr(stream, "encoding", None)))


def say(line: str = "", *, flush: bool = False) -> None:
    write(f"{line}\n", sys.stdout)
    if flush:
        sys.stdout.flush()


def tell(line: str) -> None:
    write(f"{line}\n", sys.stderr)
    sys.stderr.flush()


def tell_over(line: str) -> None:
    """Overwrite the last line of standard error, which must be a terminal."""
    sys.stderr.write("\r\x1b[K")
    write(line, sys.stderr)
    sys.stderr.flush()


def say_path(path: Path) -> None:
    """Print only a path: its exact bytes if the output goes to a program, without control characters on a terminal."""
    if sys.stdout.isatty():
        say(str(path))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(os.fsencode(path) + b"\n")
    sys.stdout.buffer.flush()


def sign(glyph: str, word: str) -> str:
    """Return the sign if the encoding of standard output has it, otherwise the word."""
    return glyph if glyphs.shown_by(getattr(sys.stdout, "encoding", None)) else word


def print_json(values: Any) -> None:
    """Print and flush one line of JSON, which preserves the values in any encoding and has no control characters."""
    print(json_text(values, ascii=not glyphs.shown_by(getattr(sys.stdout, "encoding", None))), flush=True)


def print_page(text: str) -> None:
    """Print a rendered page without changes."""
    print(text, end="")


def interrupted(done: str, then: str) -> int:
    """Report what an interrupted command has done and how to continue; return the exit code."""
    tell(f"Interrupted: {done} are done and stay in the session. {then}")
    return 130


_NAMED = 8  # number of damaged items to name; `workbench report` lists all of them


def tell_damage(damage: Sequence[Damage]) -> int:
    """Report which parts of a session could not be read; return the exit code."""
    if not damage:
        return 0
    from workbench.session.row_reader import (
        summary,  # imported here, because every command imports this module, including the one that opens the app
    )

    tell(f"workbench: {summary(damage, _NAMED)}")
    return 1


def look_for_damage(session: Path) -> int:
    """If the session to be written exists, report any damage to it; return the exit code."""
    if not session.exists():
        return 0
    from workbench.session import SessionReader

    with SessionReader(session) as reader:
        return tell_damage(reader.damage)
