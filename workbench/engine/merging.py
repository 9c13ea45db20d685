"""Merge sessions into a new one, which is built beside its final path, checked, and renamed when it is complete.

Results with the same identity and content are merged. If only the identity is the same, both are preserved: a trial
becomes the next repeat, a candidate the next sample, and a run gets a new id. Regeneration runs on the same tasks
become one run.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import building_beside, put_in_place
from workbench.base.text import plural
from workbench.engine.merged_rows import COUNTED, Counts, add_source, counts
from workbench.session import SUFFIX, SessionError, SessionReader, create, schema
from workbench.session.file import SessionExists, translated
from workbench.session.row_reader import summary

MOST = 100
"""The maximum number of sessions to merge."""


class MergeFailed(WorkbenchError):
    """The merged session failed its check and was deleted."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The new session, with the number of rows of each table and how many of these occur in several sources."""

    path: Path
    rows: dict[str, int]
    equal: dict[str, int]

    def sentence(self) -> str:
        named = (("runs", "run"), ("trials", "trial"), ("tasks", "task"), ("candidates", "candidate"))
        parts = [plural(self.rows[table], noun) for table, noun in named if self.rows[table]]
        once = sum(self.equal[table] for table in ("trials", "candidates"))
        equal = f"; {once:,} that were in several sources are included once" if once else ""
        return f"{self.path.stem} has {', '.join(parts) or 'nothing'}{equal}."


def merge(sources: Sequence[Path], target: Path, on_source: Callable[[str], None] = lambda _: None) -> Merged:
    """Merge several sessions into a new one; ``on_source`` is called with a session's name before reading it.

    A run that is still running is copied in its present state and marked as interrupted in the copy. Raises UsageError, SessionError or
    MergeFailed.
    """
    paths = list(dict.fromkeys(path.resolve() for path in sources))
    if len(paths) < 2:
        raise UsageError("Merging takes at least two different sessions.")
    if len(paths) > MOST:
        raise UsageError(f"At most {MOST} sessions are merged at once; these are {len(paths)}.")
    if target.exists():
        raise SessionExists(f"{target} exists already; choose another name.")
    with _folder_beside(target) as folder:
        building = folder / f"merged{SUFFIX}"
        create(building, target.stem)
        found = []
        for number, path in enumerate(paths):
            on_source(path.name)
            found.append(_add(building, path, folder / f"{number}{SUFFIX}"))
        added, equal = ({table: sum(each[table][at] for each in found) for table in COUNTED} for at in (0, 1))
        _check(building, added)
        try:
            put_in_place(building, target)
        except FileExistsError:
            raise SessionExists(f"{target} exists already; choose another name.") from None
    return Merged(target, added, equal)


@contextlib.contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    folder = building_beside(target, "merging")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise SessionError(f"{target} cannot be written: {error.strerror}.") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _add(building: Path, path: Path, copy: Path) -> Counts:
    with SessionReader(path) as reader:
        if reader.damage:
            raise SessionError(f"{path.name} is not merged: {summary(reader.damage)}")
        reader.copy_to(copy)
    with translated(building), contextlib.closing(sqlite3.connect(building, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS src", (str(copy),))
        connection.execute("BEGIN IMMEDIATE")
        sums = add_source(connection, path.stem)
        connection.execute("COMMIT")
        connection.execute("DETACH src")
    for file in copy.parent.glob(f"{copy.name}*"):
        file.unlink()
    return sums


def _check(building: Path, added: Mapping[str, int]) -> None:
    with translated(building), contextlib.closing(sqlite3.connect(building, isolation_level=None)) as connection:
        schema.prune_changes(connection)
        problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
        problems += [f"a row of {row[0]} has no parent" for row in connection.execute("PRAGMA foreign_key_check")]
        rows = counts(connection, "main")
        problems += [
            f"it has {rows[table]:,} {table} instead of {added[table]:,}"
            for table in COUNTED
            if added[table] != rows[table]
        ]
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with SessionReader(building) as reader:
        if reader.damage:
            problems.append(summary(reader.damage))
    if problems:
        raise MergeFailed(f"The merged session failed its check, so it was deleted: {'; '.join(problems[:3])}.")
