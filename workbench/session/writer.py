"""Write a session. Every result is committed before it is displayed."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.read_only import must_write
from workbench.session import blobs, lease, log, schema
from workbench.session.file import BUSY_MS, SessionError, connect, translated
from workbench.session.labels import remark_target
from workbench.session.moved_files import Fate, Original, forget_log, leave_open, rescue
from workbench.session.rows import AccessedFileRow, AttemptRow, ScoreRow, StepRow, StudyCellRow

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Seconds after which a commit also performs a checkpoint.
_CHECKPOINT_SECONDS = 2.0


def _storable(value: object) -> object:
    """Replace lone surrogates, which SQLite cannot store, with question marks."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


class SessionWriter:
    """Writes one session file in short transactions, from any thread. Raises ReadOnly if this process may only read."""

    def __init__(self, path: Path) -> None:
        must_write("write into a session")
        self.path = path
        self._lock = threading.RLock()
        self._depth = 0
        self._connection = connect(path, write=True)
        self._original = Original(path)
        self._closed = self._log_lost = False
        self._checkpointed = time.monotonic()

    def close(self) -> None:
        """Close the file; the last connection to close removes the side files."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            if self._closed:
                return
            self._closed = True
            fate = self.fate()
            if fate in (Fate.OVERWRITTEN, Fate.LOG_EMPTIED):
                leave_open(self._connection, self.path if fate is Fate.OVERWRITTEN else None)
                return
            if fate is Fate.WITHOUT_LOG:
                self.rescue()
                return
            with contextlib.suppress(sqlite3.Error):
                if fate is Fate.IN_PLACE:
                    log.checkpoint(self._connection, self.path, BUSY_MS)
                elif fate is Fate.MOVED:
                    # Empty the log of a moved file, which SQLite would leave behind.
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if self._original.fate() is Fate.OVERWRITTEN:
                # The file was just overwritten, so leave the connection open: on closing, SQLite would write the log
                # into the new content.
                leave_open(self._connection, self.path)
                return
            self._connection.close()
            self._original.close()

    def fate(self) -> Fate:
        with self._lock:
            fate = self._original.fate()
            if fate is Fate.IN_PLACE and not self._depth:
                self._log_lost = self._log_lost or self._original.has_lost_log(self._connection)
            return Fate.LOG_EMPTIED if fate is Fate.IN_PLACE and self._log_lost else fate

    def rescue(self) -> Path | None:
        """Save this writer's view of a file that was moved, removed or lost its log, and close.

        Returns the session with the saved content, or None if the file itself is complete (it was only moved, for
        example) or nothing more can be saved.
        """
        with self._lock, translated(self.path):
            self._closed = True
            fate = self.fate()
            if fate is Fate.LOG_EMPTIED:
                # The log's content is lost; a checkpoint of the emptied log would damage the file.
                leave_open(self._connection, None)
                return None
            replaced = fate is Fate.REMOVED or (fate is Fate.WITHOUT_LOG and log.log_path(self.path).exists())
            saved = None
            try:
                if replaced:
                    saved = rescue(self._connection, self.path)
            except OSError as error:
                raise SessionError(f"The content of {self.path.name} cannot be saved: {error.strerror}.") from None
            if fate is Fate.WITHOUT_LOG and replaced:
                # Another program already writes the file with a new log, so our log must not be checkpointed.
                leave_open(self._connection, None)
            else:
                # A moved file is then complete, and the log under its old name can be deleted.
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                forget_log(self.path)
                self._connection.close()
            self._original.close()
        return saved

    def give_up(self) -> tuple[Path | None, Path | None]:
        """Leave an overwritten file alone; return the session with its previous content, and the path of the log."""
        with self._lock, translated(self.path):
            self._closed = True
            saved = leave_open(self._connection, self.path)
            return self._original.restored(saved), saved

    def remember(self) -> None:
        with self._lock:
            self._original.remember(self._connection)

    def checkpoint(self) -> bool:
        """Merge the log into the file, so that a copy of the file is complete; returns False if a reader blocks it."""
        with self._lock, translated(self.path):
            if self._depth or self.fate() is not Fate.IN_PLACE:
                return False
            self._checkpointed = time.monotonic()
            try:
                news = log.log_size(self.path) > 0
                done = log.checkpoint(self._connection, self.path, BUSY_MS)
                if done and news:
                    self._original.remember(self._connection, again=True)
                return done
            except log.ForeignLog:
                return False  # see `fate`

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit the block as a whole or not at all; blocks can be nested."""
        with self._lock, translated(self.path):
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                if self._depth == 1:
                    log.touch(self._connection, self.path)
                yield self._connection
            except BaseException:
                self._depth -= 1
                if self._depth == 0 and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                try:
                    if time.monotonic() - self._checkpointed > _CHECKPOINT_SECONDS:
                        schema.prune_changes(self._connection)
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
                if time.monotonic() - self._checkpointed > _CHECKPOINT_SECONDS:
                    self.checkpoint()

    def blob(self, content: str | bytes) -> str:
        with self.transaction() as connection:
            return blobs.put(connection, content)

    def insert(self, table: str, values: Mapping[str, object], *, conflict: str = "ABORT") -> int:
        """Insert a row and return its id; ``conflict`` is SQLite's resolution (ABORT, REPLACE, IGNORE)."""
        names = ", ".join(values)
        places = ", ".join("?" * len(values))
        with self.transaction() as connection:
            cursor = connection.execute(
                f"INSERT OR {conflict} INTO {table} ({names}) VALUES ({places})", tuple(map(_storable, values.values()))
            )
            return int(cursor.lastrowid or 0)

    def _put(self, table: str, row: DataclassInstance, conflict: str) -> None:
        self.insert(table, {one.name: getattr(row, one.name) for one in fields(row)}, conflict=conflict)

    def update(self, table: str, key: Mapping[str, object], values: Mapping[str, object]) -> int:
        changed = ", ".join(f"{name} = ?" for name in values)
        matched = " AND ".join(f"{name} = ?" for name in key)
        with self.transaction() as connection:
            cursor = connection.execute(
                f"UPDATE {table} SET {changed} WHERE {matched}", (*map(_storable, values.values()), *key.values())
            )
            return cursor.rowcount

    # -- runs

    def add_run(self, run_id: str, kind: str, config: Mapping[str, object]) -> None:
        """Record a run that waits for an engine; ``kind`` is document or regenerate, and ``config`` is its plan."""
        text = json.dumps(config, ensure_ascii=False, sort_keys=True)
        self.insert("runs", {"id": run_id, "kind": kind, "config": text, "state": "queued", "created_at": time.time()})

    def set_run(self, run_id: str, **values: object) -> None:
        self.update("runs", {"id": run_id}, values)

    def name_run(self, run_id: str, name: str) -> None:
        self.update("runs", {"id": run_id}, {"name": name or None})

    def name_session(self, name: str) -> None:
        self.insert("meta", {"key": "name", "value": name}, conflict="REPLACE")

    def archive_run(self, run_id: str) -> None:
        """Archive a run; archived runs are excluded from all counts."""
        self.update("runs", {"id": run_id}, {"archived_at": time.time()})

    def unarchive_run(self, run_id: str) -> None:
        self.update("runs", {"id": run_id}, {"archived_at": None})

    def delete_run(self, run_id: str) -> None:
        """Delete a run without trials and tasks."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM requests WHERE run_id = ?", (run_id,))
            connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))

    def add_spend(self, run_id: str, usd: float) -> None:
        with self.transaction() as connection:
            connection.execute("UPDATE runs SET spend_usd = spend_usd + ? WHERE id = ?", (usd, run_id))

    def request(self, run_id: str, action: str) -> None:
        self.insert("requests", {"run_id": run_id, "action": action, "created_at": time.time()})

    def take_requests(self, run_id: str) -> list[str]:
        with self._lock, translated(self.path):
            waiting = self._connection.execute(
                "SELECT id, action FROM requests WHERE run_id = ? AND handled_at IS NULL ORDER BY id", (run_id,)
            ).fetchall()
        for key, _ in waiting:
            self.update("requests", {"id": key}, {"handled_at": time.time()})
        return [action for _, action in waiting]

    def data_version(self) -> int:
        with self._lock, translated(self.path):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    # -- leases on runs

    def acquire(self, run_id: str) -> lease.Lease:
        """Take the lease on a run. Raises :class:`workbench.session.lease.RunHeld` while a living engine holds it.

        If the lease belongs to another machine and looks stale, it is watched for some seconds first, because the
        clocks may differ.
        """
        self._watch_elsewhere(run_id)
        with self.transaction() as connection:
            return lease.acquire(connection, run_id)

    def _watch_elsewhere(self, run_id: str) -> None:
        pause, end = threading.Event(), time.monotonic() + lease.WATCHED_SECONDS
        with self._lock, translated(self.path):
            first = lease.beating_elsewhere(self._connection, run_id)
        while first is not None and time.monotonic() < end:
            pause.wait(0.1)
            with self._lock, translated(self.path):
                now = lease.beating_elsewhere(self._connection, run_id)
            if now is None:
                # The lease was released, or its holder seems alive by this machine's clock; the transaction decides.
                return
            if now != first:
                raise lease.RunHeld(
                    f"Run {run_id} is being executed by an engine on another machine, whose clock differs from this one's; "
                    "cancel it there first."
                )

    def renew(self, held: lease.Lease) -> None:
        with self.transaction() as connection:
            lease.renew(connection, held)

    def release(self, held: lease.Lease) -> None:
        with self.transaction() as connection:
            lease.release(connection, held)

    # -- trials

    def add_trial(
        self,
        trial_id: str,
        run_id: str,
        position: int,
        case: tuple[str, str],
        agent: str,
        model: str,
        repeat: int,
        **further: object,
    ) -> bool:
        """Record a queued trial and return True, or return False if the session already has it.

        ``case`` is (id, name). ``further`` contains the snapshot, the content and the values that a fork inherits, see
        :class:`.rows.TrialRow`.
        """
        values = {"id": trial_id, "run_id": run_id, "position": position, "case_id": case[0], "case_name": case[1],
                  "agent": agent, "model": model, "repeat": repeat, "state": "queued", **further}  # fmt: skip
        with self.transaction() as connection:
            if connection.execute("SELECT 1 FROM trials WHERE id = ?", (trial_id,)).fetchone():
                return False
            self.insert("trials", values)
            return True

    def set_trial(self, trial_id: str, **values: object) -> None:
        self.update("trials", {"id": trial_id}, values)

    def add_snapshot(self, digest: str, source: str, revision: str, files: Sequence[tuple[str, int]]) -> None:
        """Record a repository: (path, bytes) of each file visible to an agent."""
        with self.transaction():
            listing = self.blob(json.dumps([list(item) for item in files], ensure_ascii=False))
            values = {"digest": digest, "source": source, "revision": revision, "files_blob": listing}
            self.insert("snapshots", values, conflict="REPLACE")

    def add_step(self, step: StepRow) -> None:
        """Record a step, unless it has already been recorded."""
        self._put("steps", step, "IGNORE")

    def forget_errors(self, trial_id: str) -> None:
        """Remove the error steps of a trial that is about to be retried; its calls keep their errors."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM steps WHERE trial_id = ? AND kind = 'error'", (trial_id,))

    def start_over(self, trial_id: str) -> None:
        """Remove everything that a trial recorded, because its agent starts again.

        The run's cost still includes the trial's.
        """
        with self.transaction() as connection:
            self.forget_steps(trial_id)
            connection.execute("DELETE FROM calls WHERE scope = ? AND purpose = 'agent'", (trial_id,))

    def forget_steps(self, trial_id: str) -> None:
        """Remove the steps of a trial whose agent starts again. The answers to its requests are retained."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM steps WHERE trial_id = ?", (trial_id,))
            connection.execute("DELETE FROM accessed_files WHERE trial_id = ?", (trial_id,))
            connection.execute(
                "UPDATE trials SET steps = 0, prompt_tokens = 0, completion_tokens = 0, cost_usd = NULL WHERE id = ?",
                (trial_id,),
            )

    def add_accessed_files(self, seen: Sequence[AccessedFileRow]) -> None:
        with self.transaction():
            for row in seen:
                self._put("accessed_files", row, "IGNORE")

    def put_score(self, score: ScoreRow) -> None:
        self._put("scorecards", score, "REPLACE")

    def put_check(self, key: tuple[str, int, float, int], run_id: str, rerun_block: int | None = None) -> None:
        """Plan a check of a trial's README; an existing result by the same rules stays until the new one arrives.

        ``key`` is (trial, whether blocks are executed, seconds per step, version of the rules). ``rerun_block`` is the
        block to rerun, or None for all.
        """
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO checks (trial_id, executed, step_seconds, rules, run_id, state, rerun_block, at) "
                "VALUES (?, ?, ?, ?, ?, 'queued', ?, ?) ON CONFLICT (trial_id, executed, step_seconds, rules) DO UPDATE SET "
                "run_id = excluded.run_id, state = 'queued', rerun_block = excluded.rerun_block, problem = NULL, at = excluded.at",
                (*key, run_id, rerun_block, time.time()),
            )

    def set_check(self, key: tuple[str, int, float, int], **values: object) -> None:
        names = dict(zip(("trial_id", "executed", "step_seconds", "rules"), key, strict=True))
        self.update("checks", names, {**values, "at": time.time()})

    def set_labels(self, item: str, part: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        now = time.time()
        with self.transaction() as connection:
            for label in add:
                connection.execute(
                    "INSERT INTO labels (item, part, label, at) VALUES (?, ?, ?, ?) ON CONFLICT (item, part, label) "
                    "DO UPDATE SET at = excluded.at, removed_at = NULL WHERE removed_at IS NOT NULL",
                    (item, part, label, now),
                )
            for label in remove:
                connection.execute(
                    "UPDATE labels SET removed_at = ? WHERE item = ? AND part = ? AND label = ? AND removed_at IS NULL",
                    (now, item, part, label),
                )

    # -- studies

    def put_study(self, name: str, declaration: Mapping[str, object]) -> None:
        text = json.dumps(declaration, ensure_ascii=False, sort_keys=True)
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO studies (name, declaration, created_at) VALUES (?, ?, ?) ON CONFLICT (name) "
                "DO UPDATE SET declaration = excluded.declaration, problem = NULL",
                (name, text, time.time()),
            )

    def set_study(self, name: str, *, problem: str | None) -> None:
        self.update("studies", {"name": name}, {"problem": problem})

    def put_study_cells(self, cells: Iterable[StudyCellRow], *, instead_of: str) -> None:
        with self.transaction() as connection:
            connection.execute("DELETE FROM study_cells WHERE study = ?", (instead_of,))
            for cell in cells:
                self._put("study_cells", cell, "ABORT")

    # -- improved docstrings

    def add_improvement(self, improvement_id: str, plan: Mapping[str, object]) -> None:
        text = json.dumps(plan, ensure_ascii=False, sort_keys=True)
        values = {"id": improvement_id, "plan": text, "state": "queued", "created_at": time.time()}
        self.insert("improvements", values)

    def set_improvement(self, improvement_id: str, **values: object) -> None:
        self.update("improvements", {"id": improvement_id}, values)

    def put_attempt(self, attempt: AttemptRow) -> None:
        self._put("docstring_attempts", attempt, "REPLACE")

    def annotate(self, item: str, text: str, step: int | None = None, *, criterion: str = "") -> None:
        """Record a remark on a work item, or on one of its steps or criteria. Raises WorkbenchError if it is empty."""
        if not text.strip():
            raise WorkbenchError("An annotation needs some text.")
        target = remark_target(item, criterion)
        self.insert("annotations", {"item": target, "step": step, "text": text, "at": time.time()})
