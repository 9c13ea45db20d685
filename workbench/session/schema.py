"""The tables of a session file.

Times are unix seconds, durations seconds, costs US dollars, and sizes bytes. Every long text is a blob identified by
the SHA-256 of its content, so a file that was read twice is stored once.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, lru_cache

from workbench.base.text import one_line
from workbench.session import rows
from workbench.session.sample_counts import COUNTING

APPLICATION_ID = 0x574B4253  # "WKBS": distinguishes sessions from other SQLite files
SCHEMA_VERSION = 11

_STATE = "state CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled'))"
_OF_RUN, _OF_TRIAL = "run_id REFERENCES runs (id)", "trial_id REFERENCES trials (id)"
_ROWS: dict[str, tuple[type, str, tuple[str, ...]]] = {
    "runs": (rows.RunRow, "id", ("kind CHECK (kind IN ('document', 'regenerate', 'usage'))", _STATE, "spend_usd DEFAULT 0", "paused DEFAULT 0")),
    "trials": (
        rows.TrialRow, "id",
        (_OF_RUN, _STATE, "steps DEFAULT 0", "prompt_tokens DEFAULT 0", "completion_tokens DEFAULT 0", "content DEFAULT ''",
         "parent DEFAULT ''", "fork_step DEFAULT 0", "edited DEFAULT ''"),
    ),
    "steps": (
        rows.StepRow, "trial_id, number",
        (_OF_TRIAL, "kind CHECK (kind IN ('tool', 'respond', 'invalid', 'plan', 'error'))", "observation_size DEFAULT 0",
         "settings DEFAULT '{}'"),
    ),
    "accessed_files": (rows.AccessedFileRow, "trial_id, path, access", ("access CHECK (access IN ('listed', 'read'))",)),
    "calls": (rows.CallRow, "id", ()),
    "scorecards": (rows.ScoreRow, "trial_id, rubric, judge", (_OF_TRIAL,)),
    "checks": (rows.CheckRow, "trial_id, executed, step_seconds, rules", (_OF_TRIAL, _STATE, "partial DEFAULT ''")),
    "annotations": (rows.AnnotationRow, "id", ()),
    "labels": (rows.LabelRow, "item, part, label", ("part DEFAULT ''", "removed_at REAL")),
    "tasks": (
        rows.TaskRow, "id",
        (_OF_RUN, "docs DEFAULT 'original'", "state DEFAULT 'ready' CHECK (state IN ('ready', 'excluded'))", "test_count DEFAULT 0",
         "docs_scope DEFAULT 'target'"),
    ),
    "dropped": (rows.DroppedRow, "run_id, path, qualified_name, occurrence", ()),
    "unused_tests": (rows.UnusedTestRow, "run_id, position", ()),
    "stages": (rows.StageRow, "run_id, name", ("done DEFAULT 0",)),
    "candidates": (
        rows.CandidateRow, "id",
        (_OF_RUN, "control DEFAULT 0", "state CHECK (state IN ('queued', 'asking', 'testing', 'done', 'cancelled'))",
         "prompt DEFAULT ''", "context DEFAULT ''", "settings DEFAULT '{}'"),
    ),
    "failing_tests": (rows.FailingTestRow, "candidate_id, test_id", ()),
    "former_verdicts": (rows.FormerVerdictRow, "candidate_id, number", ()),
    "studies": (rows.StudyRow, "name", ()),
    "study_cells": (rows.StudyCellRow, "study, row_name, column_name", ("pointer DEFAULT '{}'",)),
    "improvements": (rows.ImprovementRow, "id", (_STATE, "stage DEFAULT ''", "spent_before DEFAULT 0")),
    "docstring_attempts": (
        rows.AttemptRow, "improvement_id, task_id, number",
        ("improvement_id REFERENCES improvements (id)", "state CHECK (state IN ('asking', 'testing', 'refused', 'accepted'))",
         "held_out_evaluator DEFAULT ''"),
    ),
    "imported": (rows.ImportedRow, "item", ()),
}  # fmt: skip
"""The row type of each table, its key, and constraints that the type does not express."""

_WITH_ROWID = {"runs", "trials", "calls", "annotations", "tasks", "candidates"}
_KINDS = {"str": "TEXT", "int": "INTEGER", "float": "REAL"}


def _created(table: str, row: type, key: str, further: tuple[str, ...]) -> str:
    more = dict(one.split(" ", 1) for one in further)
    columns = []
    for field in fields(row):
        if field.metadata.get("column", True):
            kind, _, nothing = str(field.type).partition(" | ")
            required = "PRIMARY KEY" if field.name == key else "" if nothing else "NOT NULL"
            columns.append(" ".join(filter(None, (field.name, _KINDS[kind], required, more.pop(field.name, "")))))
    columns += [f"{name} {declared}" for name, declared in more.items()]
    columns += [f"PRIMARY KEY ({key})"] if "," in key else []
    return f"CREATE TABLE {table} ({', '.join(columns)}){'' if table in _WITH_ROWID else ' WITHOUT ROWID'};\n"


TABLES = (
    """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Identifies the write-ahead log of this file, see workbench.session.log. Every transaction writes this row.
CREATE TABLE log_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1), base TEXT NOT NULL, generation TEXT NOT NULL, transactions INTEGER NOT NULL DEFAULT 0
);
INSERT INTO log_identity (id, base, generation) VALUES (1, lower(hex(randomblob(16))), lower(hex(randomblob(16))));

CREATE TABLE blobs (
    digest TEXT PRIMARY KEY, size INTEGER NOT NULL, codec TEXT NOT NULL CHECK (codec IN ('raw', 'zlib')), data BLOB NOT NULL
);

-- Who executes a run. A table of its own, so that heartbeats do not appear in the feed.
CREATE TABLE leases (
    run_id TEXT PRIMARY KEY REFERENCES runs (id), token TEXT NOT NULL, pid INTEGER NOT NULL, process_started TEXT NOT NULL,
    host TEXT NOT NULL, heartbeat_at REAL NOT NULL, file TEXT NOT NULL DEFAULT ''
);

CREATE TABLE requests (
    id INTEGER PRIMARY KEY, run_id TEXT NOT NULL, action TEXT NOT NULL CHECK (action IN ('cancel')), created_at REAL NOT NULL,
    handled_at REAL
);

CREATE TABLE snapshots (
    digest TEXT PRIMARY KEY, source TEXT NOT NULL, revision TEXT NOT NULL, files_blob TEXT NOT NULL
);

-- Sums over the samples of a task in one group, maintained by triggers, so that a matrix of 100,000 candidates opens at once.
CREATE TABLE verdict_counts (
    task_id TEXT NOT NULL, evaluator TEXT NOT NULL, prompt TEXT NOT NULL, context TEXT NOT NULL, settings TEXT NOT NULL,
    control INTEGER NOT NULL, samples INTEGER NOT NULL DEFAULT 0, waiting INTEGER NOT NULL DEFAULT 0,
    counted INTEGER NOT NULL DEFAULT 0, passed INTEGER NOT NULL DEFAULT 0, doubtful INTEGER NOT NULL DEFAULT 0,
    repaired INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, priced INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, evaluator, prompt, context, settings, control)
) WITHOUT ROWID;

-- The feed of changes for readers, filled by triggers.
CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, item TEXT NOT NULL, part TEXT);
"""
    + "".join(_created(table, *declared) for table, declared in _ROWS.items())
    + """
CREATE INDEX trials_by_run ON trials (run_id, position);
CREATE INDEX calls_by_scope ON calls (scope, digest, nth);
CREATE INDEX calls_by_digest ON calls (digest, sample, nth);
CREATE INDEX tasks_by_run ON tasks (run_id, position);
CREATE INDEX candidates_by_task ON candidates (task_id, evaluator, sample);
CREATE INDEX candidates_by_run ON candidates (run_id);
"""
)

VIEWS = """
CREATE VIEW trial_scores AS
SELECT trials.id AS trial, run_id AS run, case_id, case_name, agent, model, repeat, state, error, rubric, judge, total, out_of,
       tier1, tier2, tier3, tier4, problem, steps, prompt_tokens, completion_tokens, cost_usd, seconds, readme_blob, parent, fork_step
FROM trials LEFT JOIN scorecards ON trial_id = trials.id
WHERE run_id IN (SELECT id FROM runs WHERE kind = 'document' AND archived_at IS NULL);

CREATE VIEW candidate_verdicts AS
SELECT candidates.id AS candidate, tasks.run_id AS run, task_id AS task, path, qualified_name AS function, occurrence,
       tasks.state AS task_state, docs, docs_scope, evaluator, prompt, context, settings, sample, control, candidates.state, verdict,
       verdict_reason, route, backend, recheck IS NOT NULL AS rechecked, agrees, plain, doubtful, repairs,
       tasks.docstring_blob IS NOT NULL AS documented,
       verdict IS NOT NULL AND candidates.state IN ('queued', 'asking', 'testing') AS retesting,
       (SELECT count(*) FROM failing_tests WHERE candidate_id = candidates.id) AS failing,
       prompt_tokens, completion_tokens, cost_usd, asked_s, tested_s, at, candidates.body_blob, answer_blob
FROM candidates JOIN tasks ON tasks.id = task_id
WHERE tasks.run_id NOT IN (SELECT id FROM runs WHERE archived_at IS NOT NULL);

CREATE VIEW pass_counts AS
SELECT run, docs, docs_scope, evaluator, prompt, context, settings, task, path, function, occurrence,
       sum(verdict IS NOT NULL AND verdict != 'error') AS counted, sum(coalesce(verdict = 'passed', 0)) AS passed,
       sum(verdict = 'passed' AND doubtful IS NOT NULL) AS doubtful,
       sum(verdict = 'passed' AND repairs > 0) AS repaired, documented, sum(verdict IS NULL) AS unfinished, count(*) AS samples
FROM candidate_verdicts WHERE control = 0 AND task_state = 'ready'
GROUP BY run, docs, docs_scope, evaluator, prompt, context, settings, task;

CREATE VIEW test_failures AS
SELECT run, task, path, function, docs, docs_scope, evaluator, prompt, context, settings, sample, control, candidate, verdict, test_id,
       outcome, message, traceback_blob
FROM failing_tests JOIN candidate_verdicts ON candidate = candidate_id;
"""
"""Views for queries with sqlite3 alone, see docs/reference/session.md. The Workbench itself does not use them."""

KEPT_CHANGES = 20_000
"""Number of changes in the feed; a reader that is further behind reads everything again."""

ARCHIVED_RUNS = "(SELECT id FROM runs WHERE archived_at IS NOT NULL)"
"""SQL for the archived runs, which are excluded from all counts."""

WRITTEN = "trials.run_id IN (SELECT id FROM runs WHERE kind = 'document')"
"""SQL that selects the trials whose agents write READMEs, as opposed to the reader agents of usage runs."""
COUNTED = f"{WRITTEN} AND trials.run_id NOT IN {ARCHIVED_RUNS}"
"""SQL that selects the trials in lists and counts: those that write READMEs, without archived runs."""

_FED = {
    "runs": ("run", "NEW.id", "NULL"),
    "trials": ("trial", "NEW.id", "NULL"),
    "steps": ("step", "NEW.trial_id", "NEW.number"),
    "accessed_files": ("accessed_file", "NEW.trial_id", "NEW.path"),
    "scorecards": ("score", "NEW.trial_id", "NEW.rubric"),
    "checks": ("check", "NEW.trial_id", "NEW.run_id"),
    "annotations": ("annotation", "NEW.item", "NEW.id"),
    "labels": ("label", "NEW.item", "NEW.part"),
    "tasks": ("task", "NEW.id", "NEW.run_id"),
    "dropped": ("dropped", "NEW.run_id", "NEW.qualified_name"),
    "stages": ("stage", "NEW.run_id", "NEW.name"),
    "candidates": ("candidate", "NEW.id", "NEW.task_id"),
    "studies": ("study", "NEW.name", "NULL"),
    "study_cells": ("study", "NEW.study", "NEW.row_name"),
    "improvements": ("improvement", "NEW.id", "NEW.run_id"),
    "docstring_attempts": ("improvement", "NEW.improvement_id", "NEW.task_id"),
}
TRIGGERS = "\n".join(
    [
        f"CREATE TRIGGER {table}_{when.lower()} AFTER {when} ON {table} BEGIN "
        f"INSERT INTO changes (kind, item, part) VALUES ('{kind}', {item}, {part}); END;"
        for table, (kind, item, part) in _FED.items()
        for when in ("INSERT", "UPDATE")
    ]
    + list(COUNTING)
)

EVERYTHING = " UNION ALL ".join(
    f"SELECT '{kind}', {item.removeprefix('NEW.')}, {part.removeprefix('NEW.')} FROM {table}"
    for table, (kind, item, part) in _FED.items()
)
"""SQL for a change of every row in the feed: (kind, item, part)."""


def prune_changes(connection: sqlite3.Connection) -> None:
    """Remove old entries from the feed, in a transaction; takes microseconds if there are none."""
    first, last = connection.execute("SELECT min(seq), max(seq) FROM changes").fetchone()
    if isinstance(first, int) and isinstance(last, int) and last - first > KEPT_CHANGES * 5 // 4:
        connection.execute("DELETE FROM changes WHERE seq <= ?", (last - KEPT_CHANGES,))


_REFERS = {
    "run_id": "runs", "active_run_id": "runs", "trial_id": "trials", "parent": "trials", "task_id": "tasks", "candidate_id": "candidates",
    "call_id": "calls", "study": "studies", "improvement_id": "improvements",
}  # fmt: skip
_ALLOWED = re.compile(r"CHECK \((\w+) IN \(([^)]*)\)\)")


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """A column as declared in a table; ``allowed`` lists its values in SQL, or is "" for any."""

    name: str
    kind: str
    required: bool
    default: str | None
    key: bool
    allowed: str
    refers_to: str | None  # the referenced table; a single key column references its own table


@cache
def tables() -> dict[str, tuple[SchemaColumn, ...]]:
    """Return the columns of every table."""
    found = {}
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        declared = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        for table, sql in declared.fetchall():
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            allowed = dict(_ALLOWED.findall(sql))
            own = table if sum(bool(column[5]) for column in columns) == 1 else None
            found[table] = tuple(
                SchemaColumn(
                    name, kind, bool(required), default, bool(key), allowed.get(name, ""),
                    _REFERS.get(name, own if key else None),
                )
                for _, name, kind, required, default, key in columns
            )  # fmt: skip
    return found


@cache
def own_schema() -> frozenset[tuple[str, str, str | None]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(f"{TABLES} {TRIGGERS} {VIEWS}")
        found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return frozenset((str(kind), str(name), sql) for kind, name, sql in found)


def foreign_part(connection: sqlite3.Connection) -> str:
    """Return a part of a file's schema that does not belong in a session, or "" if there is none.

    Such parts are dangerous: a view in place of a table can be endless, and a trigger has the writer's permissions.
    """
    allowed: dict[str, Callable[[str], object]] = {
        "table": _is_plain_table,
        "index": _INDEX.fullmatch,
        "trigger": _FEEDING.fullmatch,
    }
    own = own_schema()
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM main.sqlite_master").fetchall():
        if (kind, name, sql) in own or (sql is None and kind == "index"):
            continue
        if not isinstance(sql, str) or kind not in allowed or not allowed[kind](" ".join(sql.split())):
            return f"the {kind} {one_line(str(name), 60)!r}"
    return ""


@lru_cache(100)
def _is_plain_table(sql: str) -> bool:
    bare = _NOT_CODE.sub(" x ", sql)
    named = re.sub(r"(?i)^create table (?:if not exists )?\w+|\breferences\s+\w+", "key", bare)
    called = {word.lower() for word in re.findall(r"(\w+)\s*\(", named)}
    words = {word.lower() for word in re.findall(r"\w+", bare)}
    return called <= {"check", "key", "in", "unique", "x"} and not words & {"virtual", "generated", "select"}


# Matches texts, quoted names and comments.
_NOT_CODE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|/\*.*?\*/", re.S)
_COLUMN = r'"?\w+"?(?: ASC| DESC)?'
_INDEX = re.compile(rf'CREATE (?:UNIQUE )?INDEX "?\w+"? ON "?\w+"? ?\({_COLUMN}(?:, ?{_COLUMN})*\)', re.I)
_FEEDING = re.compile(
    r"CREATE TRIGGER \w+ AFTER (?:INSERT|UPDATE) ON \w+ BEGIN INSERT INTO changes \(kind, item, part\) "
    r"VALUES \('\w+', NEW\.\w+, (?:NEW\.\w+|NULL)\); END"
)
