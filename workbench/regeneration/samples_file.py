"""Read samples files, which hold answers produced elsewhere in EvalPlus style: one JSON line per sample."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.base.errors import UsageError
from workbench.base.files import TooDeep, parse_json, read_bytes

_LARGEST = 1_000_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Sample:
    """One line; ``problem`` says why it cannot be used, and ``task`` is "" where not even that can be read."""

    task: str
    style: Literal["completion", "solution"]
    text: str
    problem: str = ""


def read_samples(path: Path) -> list[Sample]:
    r"""Return the samples of a file (``task_id`` with ``completion`` or ``solution``). Raises UsageError: it has none.

    Only ``\n`` ends a line, as in JSON Lines: texts may contain U+2028, form feeds and similar characters.
    """
    found = []
    data = read_bytes(path, "The samples file", most=_LARGEST).removeprefix(codecs.BOM_UTF8)
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            found.append(_sample(line, f"{path.name}, line {number}"))
    if not found:
        raise UsageError(f"The samples file {path} is empty; it needs one JSON line per sample.")
    if all(sample.problem for sample in found):
        raise UsageError(f"{found[0].problem}.")
    return found


def _sample(line: bytes, place: str) -> Sample:
    try:
        entry = parse_json(line.decode().removeprefix("\ufeff"))
    except UnicodeDecodeError:
        return Sample("", "completion", "", f"{place}: this is not text in UTF-8")
    except TooDeep as problem:
        return Sample("", "completion", "", f"{place}: {problem}")
    except ValueError:
        return Sample("", "completion", "", f"{place}: this is not JSON")
    values = entry if isinstance(entry, dict) else {}
    style: Literal["completion", "solution"] = (
        "solution" if values.get("solution") or "completion" not in values else "completion"
    )
    task, text = values.get("task_id"), values.get(style)
    if isinstance(task, str) and isinstance(text, str):
        return Sample(task, style, text)
    named = task if isinstance(task, str) else ""
    return Sample(named, style, "", f"{place}: it needs task_id, and completion or solution, as texts")
