"""What was answered last in each dialog, kept in the state folder; what cannot be read or written is as if never answered."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from workbench import paths

_LONGEST = 2_000


def _file() -> Path:
    return paths.state_dir() / "answers.json"


def remembered(dialog: str, defaults: Mapping[str, str]) -> dict[str, str]:
    """Return the last answers of a dialog, by field.

    An answer counts as long as the default is the one that it was given instead of: who changes a setting, or sets a key,
    gets the new default.
    """
    kept = _read().get(dialog)
    found = dict(defaults)
    for field, pair in kept.items() if isinstance(kept, dict) else ():
        if field in found and isinstance(pair, list) and len(pair) == 2 and pair[1] == found[field]:
            answer = pair[0]
            if isinstance(answer, str) and len(answer) <= _LONGEST and answer.isprintable():
                found[field] = answer
    return found


def remember(dialog: str, answers: Mapping[str, str], defaults: Mapping[str, str]) -> None:
    """Keep the answers that differ from their defaults."""
    every = _read()
    every[dialog] = {
        field: [answer, defaults[field]] for field, answer in answers.items() if answer != defaults.get(field, answer)
    }
    file = _file()
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(every, indent=1), encoding="utf-8")
        fresh.replace(file)


def _read() -> dict[str, object]:
    try:
        values = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
