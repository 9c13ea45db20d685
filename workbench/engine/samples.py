"""Files of answers that were written elsewhere, EvalPlus style: one JSON line per sample."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: whose body, whether it continues the file or is whole code, and its text."""

    task: str
    style: Literal["completion", "solution"]
    text: str


def read_samples(path: Path) -> list[Sample]:
    """Return the lines of a samples file (``task_id`` with ``completion`` or ``solution``), in their order.

    Raises:
        UsageError: The file is missing, or a line is not as described; the sentence names it.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"The samples file {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"The samples file {path} is not text in UTF-8.") from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except ValueError:
            raise UsageError(f"{path.name}, line {number}: this is not JSON.") from None
        values = entry if isinstance(entry, dict) else {}
        style: Literal["completion", "solution"] = "solution" if "solution" in values else "completion"
        task, text = values.get("task_id"), values.get(style)
        if not isinstance(task, str) or not isinstance(text, str):
            raise UsageError(f"{path.name}, line {number}: it needs task_id, and completion or solution, as texts.")
        found.append(Sample(task, style, text))
    if not found:
        raise UsageError(f"The samples file {path} is empty; it needs one JSON line per sample.")
    return found
