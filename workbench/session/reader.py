"""Read a session while others write it: rows, blobs, and changes."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.typed_json import WrongForm, decode
from workbench.session import engine_starts, lease, log, pending_work, rows, schema
from workbench.session.file import SessionCorrupt, SessionError, translated
from workbench.session.judges import OFFLINE, is_offline
from workbench.session.labels import REMARKED, remarked
from workbench.session.moved_files import Fate, copy_into
from workbench.session.row_reader import Row, RowReader, TextDamaged


class SessionReader(RowReader):
    """A table-by-table view of a session file. It can be shared between threads and never writes a row."""

    def _one(self, row_type: type[Row], table: str, key: object, column: str = "id") -> Row | None:
        return next(iter(self.rows(row_type, table, f"WHERE {column} = ?", (key,))), None)

    def _all(self, row_type: type[Row], table: str, order: str, **keys: object) -> list[Row]:
        """Return the rows with columns equal to ``keys``; a key of None matches every row."""
        criteria = {name: value for name, value in keys.items() if value is not None}
        where = f"WHERE {' AND '.join(f'{name} = ?' for name in criteria)} " if criteria else ""
        return self.rows(row_type, table, f"{where}ORDER BY {order}", tuple(criteria.values()))

    # -- the file

    def fate(self) -> Fate:
        """Return whether the file was moved, replaced or deleted since it was opened.

        This takes microseconds, or a millisecond after a write.
        """
        with self._lock:
            return self._original.fate()

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy, even while an engine is writing; a run in progress is interrupted in the copy."""
        with self._lock, translated(target):
            try:
                copy_into(self._connection, target)
            except OSError as error:
                raise SessionError(f"The copy {target} cannot be written: {error.strerror}.") from None

    def warnings(self) -> list[str]:
        """Return a sentence for each side file that matters to the user."""
        sentences = []
        if log.log_size(self.path):
            sentences.append(
                f"The newest entries are still in {log.log_path(self.path).name} beside it: to copy the session, use "
                f"`workbench pack {self.path}`, or copy both files."
            )
        sentences += [
            f"{foreign.name} is a log that belonged to another file of this name; it was moved aside and not applied."
            for foreign in log.logs_set_aside(self.path)
        ]
        return sentences

    # -- changes

    def hold(self) -> None:
        """Start a read transaction until the reader is closed, so that everything read is consistent during a run."""
        self.query("BEGIN")

    def data_version(self) -> int:
        """Return a number that changes once another connection has committed; takes microseconds."""
        return int(self.query("PRAGMA data_version")[0][0])

    def last_change(self) -> int:
        """Return the sequence number of the newest change, or 0 if there is none or the feed is unreadable."""
        try:
            newest = self.query("SELECT max(seq) FROM changes")[0][0]
        except SessionCorrupt:
            return self._without_feed()
        return newest if isinstance(newest, int) else 0

    def changes(self, since: int, limit: int = 5000) -> list[rows.Change]:
        """Return up to ``limit`` changes after sequence number ``since``, oldest first.

        The feed is pruned. A reader that is behind the feed's first entry gets a change for every row, all with the
        newest number, even if they exceed ``limit``. An unreadable feed has no changes.
        """
        try:
            return self._changes(since, limit)
        except SessionCorrupt:
            self._without_feed()
            return []

    def _without_feed(self) -> int:
        self.note_damage("table changes", "a page of it is damaged; changes are not shown live")
        return 0

    def _changes(self, since: int, limit: int) -> list[rows.Change]:
        # The survey skips the feed, because the feed is long and only its new entries are read.
        found = self.rows(rows.Change, "changes", "WHERE seq > ? ORDER BY seq LIMIT ?", (since, limit))
        # Queried after the changes, so that entries pruned in between are noticed.
        first, last = self.query("SELECT min(seq), max(seq) FROM changes")[0]
        if isinstance(first, int) and isinstance(last, int) and since < first - 1:
            found = [rows.Change(last, kind, item, part) for kind, item, part in self.query(schema.EVERYTHING)]
        return [
            replace(one, item=remarked(one.item)[0]) if one.kind == "annotation" else one
            for one in found
            if isinstance(one.seq, int) and isinstance(one.kind, str) and isinstance(one.item, str)
        ]

    # -- the session and its runs

    def meta(self) -> dict[str, str]:
        return dict(self.query("SELECT key, value FROM meta"))

    def runs(self) -> list[rows.RunRow]:
        return [run for run in self.all_runs() if run.archived_at is None]

    def all_runs(self) -> list[rows.RunRow]:
        """Return all runs, including archived ones, oldest first."""
        return self._all(rows.RunRow, "runs", "created_at, id")

    def run(self, run_id: str) -> rows.RunRow | None:
        return self._one(rows.RunRow, "runs", run_id)

    def run_state(self, run: rows.RunRow) -> str:
        """Return the state of a run for display.

        ``interrupted`` means that its engine is gone, or that it is queued and no engine is starting. ``unscored``
        means that it is done except for scores that a judge failed to return. The other states are those of the row.
        """
        if run.state == "done":
            return "unscored" if run.kind == "document" and pending_work.has_unscored(self, run.id) else "done"
        if run.state == "queued":
            return self._waiting(run)
        if run.state != "running":
            return run.state
        if self.holder(run.id):
            return "running"
        # The run may have ended and released its lease between the two queries, so read it again.
        now = self.run(run.id)
        return "interrupted" if now is None or now.state == "running" else now.state

    def _waiting(self, run: rows.RunRow) -> str:
        if engine_starts.is_coming(run.id) or self.holder(run.id):
            return "queued"
        # An engine may have started the run between the two queries, so read it again.
        now = self.run(run.id)
        return "interrupted" if now is None or now.state == "queued" else self.run_state(now)

    def holder(self, run_id: str) -> lease.Lease | None:
        with self._lock, translated(self.path):
            return lease.holder(self._connection, run_id)

    # -- trials

    def trials(self, run_id: str | None = None) -> list[rows.TrialRow]:
        """Return the trials of a run, or of all runs that are not archived, in the order of their plans.

        A usage run has none; see :meth:`trajectory`.
        """
        if run_id is not None:
            where = f"WHERE {schema.WRITTEN} AND run_id = ? ORDER BY position"
            return self.rows(rows.TrialRow, "trials", where, (run_id,))
        return self.rows(
            rows.TrialRow,
            "trials",
            f"WHERE {schema.COUNTED} "
            "ORDER BY (SELECT created_at FROM runs WHERE runs.id = trials.run_id), run_id, position",
        )

    def trial(self, trial_id: str) -> rows.TrialRow | None:
        return next(iter(self.rows(rows.TrialRow, "trials", f"WHERE {schema.WRITTEN} AND id = ?", (trial_id,))), None)

    def trajectory(self, item: str) -> rows.TrialRow | None:
        """Return the trial with the id ``item``; the trial of a reader agent has the id of its candidate."""
        return self._one(rows.TrialRow, "trials", item)

    def content_suffix(self, trial: rows.TrialRow) -> str:
        """Return a suffix that identifies a trial's content if a trial of the same name has other content, or ""."""
        names = (trial.case_id, trial.agent, trial.model, trial.repeat)
        same = "SELECT count(DISTINCT content) FROM trials WHERE case_id = ? AND agent = ? AND model = ? AND repeat = ?"
        return f"@{trial.content[:8] or 'older'}" if self.query(same, names)[0][0] > 1 else ""

    def steps(self, trial_id: str, after: int = 0, limit: int = -1) -> list[rows.StepRow]:
        where = "WHERE trial_id = ? AND number > ? ORDER BY number LIMIT ?"
        return self.rows(rows.StepRow, "steps", where, (trial_id, after, limit))

    def accessed_files(self, trial_id: str, since: int = -1) -> list[rows.AccessedFileRow]:
        where = "WHERE trial_id = ? AND step >= ? ORDER BY path, access"
        return self.rows(rows.AccessedFileRow, "accessed_files", where, (trial_id, since))

    def scores(self, trial_id: str | None = None) -> list[rows.ScoreRow]:
        """Return the scores of one trial, or of :meth:`trials`, by rubric and judge.

        The judge's newest rule comes last.
        """
        if trial_id is None:
            counted = f"SELECT id FROM trials WHERE {schema.COUNTED}"
            found = self.rows(
                rows.ScoreRow, "scorecards", f"WHERE trial_id IN ({counted}) ORDER BY trial_id, rubric, judge"
            )
        else:
            found = self._all(rows.ScoreRow, "scorecards", "rubric, judge", trial_id=trial_id)
        newer = {(row.trial_id, row.rubric) for row in found if row.judge != OFFLINE and is_offline(row.judge)}
        return sorted(
            found,
            key=lambda row: (row.trial_id, row.rubric, row.judge == OFFLINE and (row.trial_id, row.rubric) in newer),
        )

    def checks(self, trial_id: str | None = None, *, run_id: str | None = None) -> list[rows.CheckRow]:
        """Return the checks of a trial's README, of a run, or of the whole session, oldest first."""
        return self._all(rows.CheckRow, "checks", "at, trial_id", trial_id=trial_id, run_id=run_id)

    def files_of(self, snapshot: str) -> list[tuple[str, int]]:
        """Return (path, bytes) for every file of a snapshot that was visible to the agent."""
        found = self.query("SELECT files_blob FROM snapshots WHERE digest = ?", (snapshot,))
        return self._pairs(found[0][0], f"the files of snapshot {snapshot}", int) if found else []

    def annotations(self, item: str | None = None) -> list[rows.AnnotationRow]:
        where = "" if item is None else f"WHERE {REMARKED} = ? "
        found = self.rows(rows.AnnotationRow, "annotations", f"{where}ORDER BY id", () if item is None else (item,))
        return [replace(row, item=owner, part=part) for row in found for owner, part in (remarked(row.item),)]

    def labels(self, item: str | None = None) -> list[rows.LabelRow]:
        where = f"WHERE {'' if item is None else 'item = ? AND '}removed_at IS NULL ORDER BY item, part, label"
        return self.rows(rows.LabelRow, "labels", where, () if item is None else (item,))

    def imported(self, item: str) -> rows.ImportedRow | None:
        return self._one(rows.ImportedRow, "imported", item, "item")

    # -- calls

    def calls(self, *scopes: str) -> list[rows.CallRow]:
        where = "WHERE scope IN (SELECT value FROM json_each(?)) ORDER BY id"
        return self.rows(rows.CallRow, "calls", where, (json.dumps(scopes),))

    def response_schema_of(self, trial_id: str) -> str | None:
        """Return the response schema of a trial's submission, or None if the answer was unconstrained."""
        found = self.query(
            "SELECT response_schema_blob FROM steps JOIN calls ON calls.id = steps.call_id "
            "WHERE trial_id = ? AND kind = 'respond' ORDER BY number DESC LIMIT 1",
            (trial_id,),
        )
        return (
            self.text_or_none(found[0][0], f"the response schema of trial {trial_id}")
            if found and found[0][0]
            else None
        )

    def call(self, call_id: int) -> rows.CallRow | None:
        return self._one(rows.CallRow, "calls", call_id)

    def messages(self, call: rows.CallRow) -> list[tuple[str, str]]:
        """Return the exact messages of a call as (role, content); unreadable content is replaced by a note."""
        return [
            (role, self.shown(digest, f"a message of call {call.id}")) for role, digest in self.message_digests(call)
        ]

    def message_digests(self, call: rows.CallRow) -> list[tuple[str, str]]:
        return self._pairs(call.messages_blob, f"the messages of call {call.id}", str)

    def _pairs(self, digest: str, of: str, second: type[Any]) -> list[tuple[str, Any]]:
        with contextlib.suppress(TextDamaged):
            try:
                return decode(list[tuple[str, second]], self.text(digest, of=of))  # type: ignore[valid-type]
            except WrongForm as error:
                self.note_damage(of, str(error))
        return []

    def decoded(self, text: str | None, kind: type[Any], of: str) -> Any:
        """Return the value of JSON text; if it is invalid, record that and return an empty ``list`` or ``dict``."""
        if not text:
            return kind()
        try:
            return decode(kind, text)
        except WrongForm as error:
            self.note_damage(of, str(error))
            return kind()

    def card(self, score: rows.ScoreRow) -> dict[str, Any]:
        """Return the readable part of a scorecard (see ``workbench.rubric.Scorecard.to_json``), or {}."""
        from workbench.session import score_cards

        of = f"the scorecard of trial {score.trial_id} by {score.rubric}, judge {score.judge}"
        try:
            card, lost = score_cards.card(self.text(score.card_blob, of=of))
        except TextDamaged:
            return {}
        except WrongForm as error:
            self.note_damage(of, str(error))
            return {}
        if lost:
            self.note_damage(of, f"parts of it are damaged and left out: {lost}")
        return card

    # -- regeneration

    def tasks(self, run_id: str) -> list[rows.TaskRow]:
        return self._all(rows.TaskRow, "tasks", "position", run_id=run_id)

    def task(self, task_id: str) -> rows.TaskRow | None:
        return self._one(rows.TaskRow, "tasks", task_id)

    def dropped(self, run_id: str) -> list[rows.DroppedRow]:
        return self._all(rows.DroppedRow, "dropped", "path, qualified_name", run_id=run_id)

    def unused_tests(self, run_id: str) -> list[rows.UnusedTestRow]:
        return self._all(rows.UnusedTestRow, "unused_tests", "position", run_id=run_id)

    def stages(self, run_id: str) -> list[rows.StageRow]:
        return self._all(rows.StageRow, "stages", "position", run_id=run_id)

    def candidates(self, run_id: str, task_id: str | None = None) -> list[rows.CandidateRow]:
        return self._all(rows.CandidateRow, "candidates", "task_id, evaluator, sample", run_id=run_id, task_id=task_id)

    def candidate(self, candidate_id: str) -> rows.CandidateRow | None:
        return self._one(rows.CandidateRow, "candidates", candidate_id)

    def former_verdicts(self, candidate_id: str) -> list[rows.FormerVerdictRow]:
        return self._all(rows.FormerVerdictRow, "former_verdicts", "number", candidate_id=candidate_id)

    def failing_tests(self, candidate_id: str) -> list[rows.FailingTestRow]:
        return self._all(rows.FailingTestRow, "failing_tests", "test_id", candidate_id=candidate_id)

    # -- studies

    def studies(self) -> list[rows.StudyRow]:
        return self._all(rows.StudyRow, "studies", "created_at, name")

    def study(self, name: str) -> rows.StudyRow | None:
        return self._one(rows.StudyRow, "studies", name, "name")

    def study_cells(self, study: str) -> list[rows.StudyCellRow]:
        return self._all(rows.StudyCellRow, "study_cells", "position", study=study)

    # -- improved docstrings

    def improvements(self, run_id: str | None = None) -> list[rows.ImprovementRow]:
        if run_id is None:
            return self._all(rows.ImprovementRow, "improvements", "created_at, id")
        made_for = "SELECT improvement_id FROM docstring_attempts WHERE run_id = ?"
        where = f"WHERE run_id = ? OR active_run_id = ? OR id IN ({made_for}) ORDER BY created_at, id"
        return self.rows(rows.ImprovementRow, "improvements", where, (run_id, run_id, run_id))

    def improvement(self, improvement_id: str) -> rows.ImprovementRow | None:
        return self._one(rows.ImprovementRow, "improvements", improvement_id)

    def docstring_attempts(self, improvement_id: str) -> list[rows.AttemptRow]:
        return self.rows(
            rows.AttemptRow,
            "docstring_attempts",
            "WHERE improvement_id = ? ORDER BY (SELECT position FROM tasks WHERE tasks.id = task_id), task_id, number",
            (improvement_id,),
        )


def read_blob(path: Path, digest: str) -> bytes:
    """Return the content of a ``…_blob`` column (texts in UTF-8). Raises SessionError if it is missing."""
    with SessionReader(path, surveyed=False) as reader:
        return reader.data(digest)
