"""What was found in session files, remembered by the file: one that was not written since is not looked into again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from workbench import __version__, paths
from workbench.app.sessions.listing import SessionEntry
from workbench.files import building_beside
from workbench.results.sessions import SessionFacts

_FORM = f"{__version__}/1"
_LIVING = frozenset({"running", "queued", "interrupted"})
"""States that depend on a process: they change without a write, so the file alone does not tell them."""


class Remembered:
    """Entries by path; kept in the cache folder from one start to the next."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[tuple[int, ...], dict[str, Any]]] | None = None
        self._dirty = False

    def recall(self, entry: SessionEntry) -> SessionEntry | None:
        """Return the entry with what was found in that very file, None where it must be looked into."""
        known = self._all().get(str(entry.path))
        if known is None or known[0] != entry.identity:
            return None
        return _with_values(entry, known[1])

    def note(self, entry: SessionEntry) -> None:
        """Remember what was found, as far as the file alone decides it."""
        if entry.facts is not None and not any(entry.facts.count(state) for state in _LIVING):
            self._all()[str(entry.path)] = (entry.identity, _values(entry))
            self._dirty = True

    def save(self, there: Iterable[SessionEntry]) -> None:
        """Write it down for the next start; what is not there any more is forgotten."""
        kept = {str(entry.path) for entry in there}
        entries = {path: values for path, values in self._all().items() if path in kept}
        if not self._dirty and len(entries) == len(self._all()):
            return
        self._entries, self._dirty = entries, False
        place = _place()
        building = building_beside(place, "new")
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            building.write_text(json.dumps({"form": _FORM, "entries": entries}), encoding="utf-8")
            building.replace(place)

    def _all(self) -> dict[str, tuple[tuple[int, ...], dict[str, Any]]]:
        if self._entries is None:
            self._entries = {}
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                read = json.loads(_place().read_text(encoding="utf-8"))
                if read["form"] == _FORM:
                    self._entries = {str(path): (tuple(key), values) for path, (key, values) in read["entries"].items()}
        return self._entries


def _place() -> Path:
    return paths.cache_dir() / "session-facts.json"


def _values(entry: SessionEntry) -> dict[str, Any]:
    assert entry.facts is not None
    facts = asdict(entry.facts)
    del facts["path"]
    return {
        "facts": facts,
        "changed_at": entry.changed_at,
        "labels": entry.labels,
        "remarks": entry.remarks,
        "warnings": entry.warnings,
    }


def _with_values(entry: SessionEntry, values: dict[str, Any]) -> SessionEntry | None:
    try:
        facts = dict(values["facts"])
        for name in ("models", "running", "about"):
            facts[name] = tuple(facts[name])
        facts["states"] = tuple((state, count) for state, count in facts["states"])
        return replace(
            entry,
            facts=SessionFacts(path=entry.path, **facts),
            changed_at=float(values["changed_at"]),
            labels=tuple(values["labels"]),
            remarks=tuple(values["remarks"]),
            warnings=tuple(values["warnings"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
