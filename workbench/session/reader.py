"""Read a session while others write it: rows, blobs, and what changed since the last look."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from workbench.session import blobs, lease
from workbench.session.file import connect, translated
from workbench.session.rows import (
    AnnotationRow,
    CallRow,
    CandidateRow,
    Change,
    DroppedRow,
    FailingTestRow,
    RunRow,
    ScoreRow,
    SeenRow,
    StageRow,
    StepRow,
    TaskRow,
    TrialRow,
    columns,
)

Row = TypeVar("Row")


class SessionReader:
    """A view of one session file; safe to share between threads, never writes a row.

    Args:
        path: The session file.

    Raises:
        SessionError: See :func:`workbench.session.file.connect`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = connect(path, write=False)

    def close(self) -> None:
        """Close the file; the last one out leaves no side files."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> SessionReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- how rows are fetched

    def query(self, sql: str, arguments: Sequence[object] = ()) -> list[Any]:
        """Return all rows of a SELECT as tuples; the door for reports that need their own joins."""
        with self._lock, translated(self.path):
            return self._connection.execute(sql, tuple(arguments)).fetchall()

    def _rows(self, row_type: type[Row], table: str, rest: str = "", arguments: Sequence[object] = ()) -> list[Row]:
        found = self.query(f"SELECT {columns(row_type)} FROM {table} {rest}", arguments)
        return [row_type(*row) for row in found]

    # -- what changed

    def data_version(self) -> int:
        """Return a number that differs when another connection has committed since; costs microseconds."""
        return int(self.query("PRAGMA data_version")[0][0])

    def last_change(self) -> int:
        """Return the sequence number of the newest change, 0 in an empty session."""
        return int(self.query("SELECT coalesce(max(seq), 0) FROM changes")[0][0])

    def changes(self, since: int, limit: int = 5000) -> list[Change]:
        """Return up to ``limit`` changes after sequence number ``since``, oldest first."""
        return self._rows(Change, "changes", "WHERE seq > ? ORDER BY seq LIMIT ?", (since, limit))

    # -- the session and its runs

    def meta(self) -> dict[str, str]:
        """Return what the file says of itself: ``name``, ``created_at``, ``created_by``."""
        return dict(self.query("SELECT key, value FROM meta"))

    def runs(self) -> list[RunRow]:
        """Return all runs, oldest first."""
        return self._rows(RunRow, "runs", "ORDER BY created_at, id")

    def run(self, run_id: str) -> RunRow | None:
        """Return one run."""
        found = self._rows(RunRow, "runs", "WHERE id = ?", (run_id,))
        return found[0] if found else None

    def run_state(self, run: RunRow) -> str:
        """Return the state of a run as a person should see it.

        ``interrupted`` is a run that was running and whose engine is gone; the other states are the row's own.
        """
        if run.state != "running":
            return run.state
        if self.holder(run.id):
            return "running"
        # It may have ended, and let its lease go, between the two looks.
        now = self.run(run.id)
        return "interrupted" if now is None or now.state == "running" else now.state

    def holder(self, run_id: str) -> lease.Lease | None:
        """Return the living engine that executes a run, or None."""
        with self._lock, translated(self.path):
            return lease.holder(self._connection, run_id)

    # -- trials

    def trials(self, run_id: str | None = None) -> list[TrialRow]:
        """Return the trials of a run, or of the whole session in the order in which they were asked for."""
        if run_id is not None:
            return self._rows(TrialRow, "trials", "WHERE run_id = ? ORDER BY position", (run_id,))
        return self._rows(
            TrialRow,
            "trials",
            "ORDER BY (SELECT created_at FROM runs WHERE runs.id = trials.run_id), run_id, position",
        )

    def trial(self, trial_id: str) -> TrialRow | None:
        """Return one trial."""
        found = self._rows(TrialRow, "trials", "WHERE id = ?", (trial_id,))
        return found[0] if found else None

    def steps(self, trial_id: str, after: int = 0) -> list[StepRow]:
        """Return the steps of a trial with a number greater than ``after``; contents stay in their blobs."""
        return self._rows(StepRow, "steps", "WHERE trial_id = ? AND number > ? ORDER BY number", (trial_id, after))

    def seen(self, trial_id: str) -> list[SeenRow]:
        """Return what the agent listed and read."""
        return self._rows(SeenRow, "seen", "WHERE trial_id = ? ORDER BY path, how", (trial_id,))

    def scores(self, trial_id: str | None = None) -> list[ScoreRow]:
        """Return the scores of one trial, or of all."""
        if trial_id is None:
            return self._rows(ScoreRow, "scorecards", "ORDER BY trial_id, rubric, judge")
        return self._rows(ScoreRow, "scorecards", "WHERE trial_id = ? ORDER BY rubric, judge", (trial_id,))

    def files_of(self, snapshot: str) -> list[tuple[str, int]]:
        """Return the (path, size in bytes) of every file of a snapshot that the agent could see."""
        found = self.query("SELECT files_blob FROM snapshots WHERE digest = ?", (snapshot,))
        return [(path, size) for path, size in json.loads(self.text(found[0][0]))] if found else []

    def annotations(self, item: str | None = None) -> list[AnnotationRow]:
        """Return the remarks on one work item, or all."""
        if item is None:
            return self._rows(AnnotationRow, "annotations", "ORDER BY id")
        return self._rows(AnnotationRow, "annotations", "WHERE item = ? ORDER BY id", (item,))

    # -- calls

    def calls(self, scope: str) -> list[CallRow]:
        """Return the model calls of one work item, oldest first."""
        return self._rows(CallRow, "calls", "WHERE scope = ? ORDER BY id", (scope,))

    def call(self, call_id: int) -> CallRow | None:
        """Return one call."""
        found = self._rows(CallRow, "calls", "WHERE id = ?", (call_id,))
        return found[0] if found else None

    def messages(self, call: CallRow) -> list[tuple[str, str]]:
        """Return the exact messages of a call as (role, content)."""
        return [(role, self.text(digest)) for role, digest in json.loads(self.text(call.messages_blob))]

    # -- regeneration

    def tasks(self, run_id: str) -> list[TaskRow]:
        """Return the tasks of a regeneration run."""
        return self._rows(TaskRow, "tasks", "WHERE run_id = ? ORDER BY position", (run_id,))

    def task(self, task_id: str) -> TaskRow | None:
        """Return one task."""
        found = self._rows(TaskRow, "tasks", "WHERE id = ?", (task_id,))
        return found[0] if found else None

    def dropped(self, run_id: str) -> list[DroppedRow]:
        """Return the functions that became no task."""
        return self._rows(DroppedRow, "dropped", "WHERE run_id = ? ORDER BY path, qualified_name", (run_id,))

    def stages(self, run_id: str) -> list[StageRow]:
        """Return the stages of a regeneration run."""
        return self._rows(StageRow, "stages", "WHERE run_id = ? ORDER BY position", (run_id,))

    def candidates(self, run_id: str, task_id: str | None = None) -> list[CandidateRow]:
        """Return the candidates of a run, or of one of its tasks, by evaluator and sample."""
        if task_id is None:
            return self._rows(
                CandidateRow, "candidates", "WHERE run_id = ? ORDER BY task_id, evaluator, sample", (run_id,)
            )
        return self._rows(
            CandidateRow, "candidates", "WHERE run_id = ? AND task_id = ? ORDER BY evaluator, sample", (run_id, task_id)
        )

    def candidate(self, candidate_id: str) -> CandidateRow | None:
        """Return one candidate."""
        found = self._rows(CandidateRow, "candidates", "WHERE id = ?", (candidate_id,))
        return found[0] if found else None

    def failing_tests(self, candidate_id: str) -> list[FailingTestRow]:
        """Return the tests that did not pass for a candidate."""
        return self._rows(FailingTestRow, "failing_tests", "WHERE candidate_id = ? ORDER BY test_id", (candidate_id,))

    # -- contents

    def data(self, digest: str, limit: int | None = None) -> bytes:
        """Return the bytes of a blob, or only its first ``limit`` bytes."""
        with self._lock, translated(self.path):
            return blobs.get(self._connection, digest, limit)

    def text(self, digest: str | None, limit: int | None = None) -> str:
        """Return the text of a blob ("" for None); ``limit`` cuts after that many bytes without unpacking more."""
        if digest is None:
            return ""
        raw = self.data(digest, limit)
        return raw.decode("utf-8", "surrogatepass") if limit is None else raw.decode("utf-8", "replace")

    def size(self, digest: str | None) -> int:
        """Return the size of a blob in bytes, 0 for None."""
        if digest is None:
            return 0
        with self._lock, translated(self.path):
            return blobs.size(self._connection, digest)


def integrity_problem(path: Path) -> str | None:
    """Return what SQLite's own check finds wrong with a session file, None if it is sound."""
    connection = connect(path, write=False)
    try:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        return str(error)
    finally:
        connection.close()
    return None if found == "ok" else str(found)
