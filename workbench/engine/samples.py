"""Read samples files, which hold answers produced elsewhere in EvalPlus style: one JSON line per sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.errors import UsageError
from workbench.files import TooDeep, parse_json, read_text

_LARGEST = 1_000_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: its task, whether it completes the function or is whole code, and its text."""

    task: str
    style: Literal["completion", "solution"]
    text: str


def read_samples(path: Path) -> list[Sample]:
    r"""Return the samples of a file (``task_id`` with ``completion`` or ``solution``), in order.

    Only ``\n`` ends a line, as in JSON Lines: texts may contain U+2028, form feeds and similar characters.

    Raises:
        UsageError: The file is missing or not a regular file, or a line is not valid; the message names the line.
    """
    found = []
    for number, line in enumerate(read_text(path, "The samples file", most=_LARGEST).split("\n"), 1):
        if not line.strip():
            continue
        try:
            entry = parse_json(line)
        except TooDeep as problem:
            raise UsageError(f"{path.name}, line {number}: {problem}.") from None
        except ValueError:
            raise UsageError(f"{path.name}, line {number}: this is not JSON.") from None
        values = entry if isinstance(entry, dict) else {}
        style: Literal["completion", "solution"] = "solution" if "solution" in values else "completion"
        task, text = values.get("task_id"), values.get(style)
        if not isinstance(task, str) or not isinstance(text, str):
            raise UsageError(f"{path.name}, line {number}: it needs task_id, and completion or solution, as texts.")
        if not _storable(task) or not _storable(text):
            raise UsageError(f"{path.name}, line {number}: a text in it holds half a character (a lone surrogate).")
        found.append(Sample(task, style, text))
    if not found:
        raise UsageError(f"The samples file {path} is empty; it needs one JSON line per sample.")
    return found


def _storable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
