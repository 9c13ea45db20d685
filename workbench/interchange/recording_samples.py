"""Write foreign tasks and candidates into a session as tasks and candidates of a regeneration run that is over."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from workbench.interchange.samples import ForeignCandidate, ForeignTask, task_of_sample
from workbench.results.samples import next_sample
from workbench.results.tasks import task_states
from workbench.session import SessionReader, SessionWriter
from workbench.session.blobs import put
from workbench.session.identity import imported_id
from workbench.text import one_line


class SampleRecorder:
    """Records tasks and candidates, each in one transaction.

    A task has the same identity in every file that names it, so samples of several models come to stand side by side; a file of
    results gives verdicts to samples that are there already.

    Args:
        reader: The session.
        writer: The same.
        run: Returns the run that new tasks become part of; called when the first is there.
        format: Name of the format.
        source: Name of the file.
        digest: SHA-256 of the file.
    """

    def __init__(
        self,
        reader: SessionReader,
        writer: SessionWriter,
        run: Callable[[], str],
        *,
        format: str,
        source: str,
        digest: str,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._run = run
        self._origin = {"format": format, "source": source, "digest": digest}
        self._samples: dict[tuple[str, str, str], int] = {}

    def task(self, task: ForeignTask) -> bool:
        """Record a task unless it is there; returns whether it was new. One of which only samples told gets what it lacks."""
        key = _task_id(task)
        known = self._reader.imported(key)
        if known is not None and (known.extra_blob is not None or not task.extra):
            return False
        run = self._run() if known is None else ""
        with self._writer.transaction() as connection:
            values: dict[str, Any] = {
                "path": one_line(task.path or task.name, 500),
                "qualified_name": one_line(task.function or task.name, 300),
                "tests": json.dumps(list(task.tests)),
                "test_count": task.test_count or len(task.tests),
                "source_blob": put(connection, task.source) if task.source is not None else None,
                "body_blob": put(connection, task.body) if task.body is not None else None,
                "docstring_blob": put(connection, task.doc) if task.doc is not None else None,
            }
            extra = (
                put(connection, json.dumps({"name": task.name, **task.extra}, ensure_ascii=False))
                if task.extra
                else None
            )
            if known is not None:
                self._writer.update("tasks", {"id": key}, values)
                self._writer.update("imported", {"item": key}, {**self._origin, "extra_blob": extra})
                return True
            place = task_states(self._reader, run).total()
            fixed = {
                "id": key,
                "run_id": run,
                "position": place,
                "snapshot": one_line(task.origin, 200),
                "occurrence": 1,
                "docs": "original",
            }
            self._writer.insert("tasks", {**fixed, **values})
            self._note(key, extra)
        return True

    def candidate(self, candidate: ForeignCandidate) -> bool:
        """Record a candidate, or the verdict of one that is there without any; returns whether something was new."""
        task = task_of_sample(candidate.task)
        self.task(task)
        # The same text twice is two samples; in which order a file has them is nothing.
        of = (_task_id(task), candidate.evaluator, candidate.text)
        nth = self._samples[of] = self._samples.get(of, 0) + 1
        key = imported_id(json.dumps(["candidate", *of, nth], ensure_ascii=False))
        row = self._reader.candidate(key)
        if row is not None and (row.verdict is not None or candidate.verdict is None):
            return False
        recorded = self._reader.task(of[0])
        sample = next_sample(self._reader, of[0], candidate.evaluator)
        with self._writer.transaction() as connection:
            verdict: dict[str, Any] = {
                "state": "cancelled" if candidate.verdict is None else "done",
                "verdict": candidate.verdict,
                "verdict_reason": candidate.reason,
            }
            extra = put(connection, json.dumps(dict(candidate.extra), ensure_ascii=False))
            if row is None:
                body = put(connection, candidate.text)
                values = {
                    "id": key,
                    "run_id": recorded.run_id if recorded is not None else self._run(),
                    "task_id": of[0],
                    "evaluator": candidate.evaluator,
                    "sample": sample,
                    "body_blob": body,
                }
                self._writer.insert("candidates", {**values, **verdict})
                self._note(key, extra)
            else:
                self._writer.update("candidates", {"id": key}, verdict)
                self._writer.update("imported", {"item": key}, {**self._origin, "extra_blob": extra})
            for test, message in candidate.failing:
                failing = {"candidate_id": key, "test_id": test, "outcome": "failed", "message": message}
                self._writer.insert("failing_tests", failing, conflict="IGNORE")
        return True

    def _note(self, item: str, extra: str | None) -> None:
        self._writer.insert("imported", {"item": item, **self._origin, "extra_blob": extra, "at": time.time()})


def _task_id(task: ForeignTask) -> str:
    return imported_id(json.dumps(["task", task.name, task.origin], ensure_ascii=False))
