"""The one place where a command writes lines: what came from outside is printed without its control sequences.

Tables and coloured text are :mod:`workbench.commands.terminal`'s.
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
    """Return a line that a terminal shows and does not obey; in ASCII words where the encoding lacks our signs."""
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
    """Write a line over the last one on standard error, which must be a terminal; the next goes over it."""
    sys.stderr.write("\r\x1b[K")
    write(line, sys.stderr)
    sys.stderr.flush()


def say_path(path: Path) -> None:
    """Print a bare path: byte for byte for a program that reads it, without control sequences on a terminal."""
    if sys.stdout.isatty():
        say(str(path))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(os.fsencode(path) + b"\n")
    sys.stdout.buffer.flush()


def sign(glyph: str, word: str) -> str:
    """Return a sign where standard output can show it, else the word that says the same."""
    return glyph if glyphs.shown_by(getattr(sys.stdout, "encoding", None)) else word


def print_json(values: Any) -> None:
    """Print one JSON line at once: exact in any encoding, and harmless on any terminal."""
    print(json_text(values, ascii=not glyphs.shown_by(getattr(sys.stdout, "encoding", None))), flush=True)


def print_page(text: str) -> None:
    """Print a page of Markdown of ours as it is."""
    print(text, end="")


def interrupted(done: str, then: str) -> int:
    """Say what an interrupted command leaves, and how it goes on; return the exit code."""
    tell(f"Interrupted: {done} are done and kept. {then}")
    return 130


_NAMED = 8  # `workbench report` names all


def tell_damage(damage: Sequence[Damage]) -> int:
    """Say what of a session could not be read; return the exit code, 1 if there is any."""
    if not damage:
        return 0
    from workbench.session.row_reader import (
        summary,  # every command imports this module, also the one that opens the app
    )

    tell(f"workbench: {summary(damage, _NAMED)}")
    return 1


def look_for_damage(session: Path) -> int:
    """Say what is damaged in a session that is about to be written to, if there is such a file; return the exit code."""
    if not session.exists():
        return 0
    from workbench.session import SessionReader

    with SessionReader(session) as reader:
        return tell_damage(reader.damage)
