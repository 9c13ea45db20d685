"""Session files with their contents and state; a broken file does not affect the others."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.files import building_beside
from workbench.results.sessions import SessionFacts, gather
from workbench.session import SUFFIX, SessionReader
from workbench.session.labels import SESSION, labels_by_item
from workbench.session.session_folder import Deleted, deleted_sessions


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A listed session file.

    ``facts`` is None while they are being loaded, and if there is a ``problem``. ``identity`` changes whenever the file
    is written.
    """

    path: Path
    example: bool
    changed_at: float
    size: int
    facts: SessionFacts | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    identity: tuple[int, ...] = ()
    deleted: Deleted | None = None


def found_sessions(also: Path | None = None) -> list[SessionEntry]:
    """Return the session files in the user's folder and ``also``, newest first, followed by the bundled examples."""
    own = _in_folder(paths.sessions_dir(), example=False)
    examples = _in_folder(paths.bundled("sessions"), example=True)
    if also is not None and also.resolve() not in {entry.path.resolve() for entry in (*own, *examples)}:
        own += [entry for entry in [_entry(also, example=False)] if entry is not None]
    own.sort(key=lambda entry: entry.changed_at, reverse=True)
    return own + examples


def _in_folder(folder: Path, *, example: bool) -> list[SessionEntry]:
    try:
        names = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and not path.name.startswith("."))
    except OSError:
        return []
    return [entry for entry in (_entry(path, example=example) for path in names) if entry is not None]


def _entry(path: Path, *, example: bool) -> SessionEntry | None:
    try:
        status = path.stat()
    except OSError:
        return None
    newest = status.st_mtime
    identity: tuple[int, ...] = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    with contextlib.suppress(OSError):
        # The latest writes may still be in the WAL; an empty WAL only means that a reader is open.
        log = Path(f"{path}-wal").stat()
        if log.st_size:
            newest, identity = max(newest, log.st_mtime), (*identity, log.st_mtime_ns, log.st_size)
    return SessionEntry(path, example, newest, status.st_size, identity=identity)


def deleted_entries() -> list[SessionEntry]:
    found = deleted_sessions(paths.sessions_dir())
    return [SessionEntry(one.path, False, one.at, one.size, deleted=one) for one in found]


def with_facts(entry: SessionEntry) -> SessionEntry:
    """Return the entry with the facts of its session, or with an error message if the session cannot be read."""
    try:
        with SessionReader(entry.path) as reader:
            facts = gather(reader)
            return replace(
                entry,
                facts=facts,
                problem="",
                warnings=tuple(reader.warnings()),
                changed_at=facts.changed_at if facts.changed_at is not None else entry.changed_at,
                labels=labels_by_item(reader.labels(SESSION)).get(SESSION, ()),
                remarks=tuple(note.text for note in reader.annotations(SESSION)),
            )
    except WorkbenchError as error:
        problem = str(error)
    except Exception as error:
        # A broken file must not break the whole list.
        problem = f"{entry.path.name} cannot be read ({type(error).__name__}: {error})."
    return replace(entry, facts=None, problem=problem)


def latest_session() -> Path | None:
    """Return the most recently changed session that can be opened, otherwise a bundled example, otherwise None."""
    for entry in found_sessions():
        try:
            SessionReader(entry.path, surveyed=False).close()
        except WorkbenchError:
            continue
        return entry.path
    return None


def size_text(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3)):,} kB"


_FORM = f"{__version__}/1"
_LIVING = frozenset({"running", "queued", "interrupted"})
"""States that depend on a process: they can change without a write, so they must not be cached by file identity."""


class SessionCache:
    """A cache for the contents of session files that persists when the app exits."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[tuple[int, ...], dict[str, Any]]] | None = None
        self._dirty = False

    def get(self, entry: SessionEntry) -> SessionEntry | None:
        known = self._all().get(str(entry.path))
        if known is None or known[0] != entry.identity:
            return None
        return _with_values(entry, known[1])

    def put(self, entry: SessionEntry) -> None:
        """Store an entry, unless its state depends on a process."""
        if entry.facts is not None and not any(entry.facts.count(state) for state in _LIVING):
            self._all()[str(entry.path)] = (entry.identity, _values(entry))
            self._dirty = True

    def save(self, there: Iterable[SessionEntry]) -> None:
        """Write the cache without sessions that are not in ``there``."""
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


_KEPT = ("changed_at", "labels", "remarks", "warnings")


def _values(entry: SessionEntry) -> dict[str, Any]:
    assert entry.facts is not None
    facts = asdict(entry.facts)
    del facts["path"]
    return {"facts": facts} | {name: getattr(entry, name) for name in _KEPT}


def _with_values(entry: SessionEntry, values: dict[str, Any]) -> SessionEntry | None:
    try:
        facts = SessionFacts(path=entry.path, **{name: _frozen(value) for name, value in values["facts"].items()})
        return replace(entry, facts=facts, **{name: _frozen(values[name]) for name in _KEPT})
    except (KeyError, TypeError, AttributeError):
        return None


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
