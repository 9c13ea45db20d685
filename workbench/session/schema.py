"""The tables of a session file.

Times are unix seconds, durations seconds, costs US dollars, sizes bytes. Every text of any length is a blob, named by
the SHA-256 of its content, so a file that was read twice is stored once.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from workbench.base.text import one_line
from workbench.session.verdict_counts import COUNTING

APPLICATION_ID = 0x574B4253  # "WKBS": tells a session from any other SQLite file
SCHEMA_VERSION = 9

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Which write-ahead log belongs to this file: see workbench.session.log. Every transaction writes this row.
CREATE TABLE log_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1), base TEXT NOT NULL, generation TEXT NOT NULL, transactions INTEGER NOT NULL DEFAULT 0
);
INSERT INTO log_identity (id, base, generation) VALUES (1, lower(hex(randomblob(16))), lower(hex(randomblob(16))));

CREATE TABLE blobs (
    digest TEXT PRIMARY KEY, size INTEGER NOT NULL, codec TEXT NOT NULL CHECK (codec IN ('raw', 'zlib')), data BLOB NOT NULL
);

CREATE TABLE runs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('document', 'regenerate')), config TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    created_at REAL NOT NULL, started_at REAL, finished_at REAL, error TEXT, note TEXT, spend_usd REAL NOT NULL DEFAULT 0,
    name TEXT, deleted_at REAL, turn REAL, paused INTEGER NOT NULL DEFAULT 0
);

-- Who executes a run; apart from runs, so that a heartbeat is no change that a reader must look at.
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

CREATE TABLE trials (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs (id), position INTEGER NOT NULL,
    case_id TEXT NOT NULL, case_name TEXT NOT NULL, agent TEXT NOT NULL, model TEXT NOT NULL, repeat INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    error_kind TEXT, error TEXT, snapshot TEXT, parsed INTEGER, readme_blob TEXT, metadata_blob TEXT,
    steps INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL, started_at REAL, finished_at REAL, seconds REAL, content TEXT NOT NULL DEFAULT '',
    parent TEXT NOT NULL DEFAULT '', fork_step INTEGER NOT NULL DEFAULT 0, edited TEXT NOT NULL DEFAULT '', edit_blob TEXT
);
CREATE INDEX trials_by_run ON trials (run_id, position);

CREATE TABLE steps (
    trial_id TEXT NOT NULL REFERENCES trials (id), number INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('tool', 'respond', 'invalid', 'plan', 'error')),
    action TEXT NOT NULL, target TEXT NOT NULL, call_id INTEGER, answer_blob TEXT, observation_blob TEXT,
    observation_size INTEGER NOT NULL DEFAULT 0, problem TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost_usd REAL,
    seconds REAL, model TEXT, settings TEXT NOT NULL DEFAULT '{}', at REAL NOT NULL,
    PRIMARY KEY (trial_id, number)
) WITHOUT ROWID;

CREATE TABLE seen (
    trial_id TEXT NOT NULL, path TEXT NOT NULL, how TEXT NOT NULL CHECK (how IN ('listed', 'read')), step INTEGER NOT NULL,
    size INTEGER NOT NULL, blob TEXT,
    PRIMARY KEY (trial_id, path, how)
) WITHOUT ROWID;

CREATE TABLE calls (
    id INTEGER PRIMARY KEY, run_id TEXT, scope TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL,
    sample INTEGER NOT NULL, nth INTEGER NOT NULL, messages_blob TEXT NOT NULL, shape_blob TEXT, sampling TEXT NOT NULL,
    answer_blob TEXT, reasoning_blob TEXT, answered_by TEXT, finish_reason TEXT, error_kind TEXT, error TEXT,
    prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER, cost_usd REAL, latency_s REAL,
    attempts TEXT NOT NULL, source TEXT NOT NULL, started_at REAL NOT NULL
);
CREATE INDEX calls_by_scope ON calls (scope, digest, nth);
CREATE INDEX calls_by_digest ON calls (digest, sample, nth);

CREATE TABLE scorecards (
    trial_id TEXT NOT NULL REFERENCES trials (id), rubric TEXT NOT NULL, judge TEXT NOT NULL, total REAL, out_of REAL NOT NULL,
    tier1 REAL, tier2 REAL, tier3 REAL, tier4 REAL, card_blob TEXT NOT NULL, at REAL NOT NULL, problem TEXT,
    PRIMARY KEY (trial_id, rubric, judge)
) WITHOUT ROWID;

-- Whether a README holds, see workbench.checking: result_blob is JSON of workbench.checking.verdicts, partial what is known while a
-- check is under way. `again` is the block that is run once more, NULL for all of it.
CREATE TABLE checks (
    trial_id TEXT NOT NULL REFERENCES trials (id), executed INTEGER NOT NULL, step_seconds REAL NOT NULL, rules INTEGER NOT NULL,
    run_id TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')), problem TEXT,
    again INTEGER, works INTEGER, fails INTEGER, differs INTEGER, not_run INTEGER, claims_true INTEGER, claims_untrue INTEGER,
    claims_unknown INTEGER, partial TEXT NOT NULL DEFAULT '', result_blob TEXT, seconds REAL, at REAL NOT NULL,
    PRIMARY KEY (trial_id, executed, step_seconds, rules)
) WITHOUT ROWID;

CREATE TABLE annotations (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, step INTEGER, text TEXT NOT NULL, at REAL NOT NULL
);

-- Tags and stars: part is a step or criterion of a trial or '', removed_at is set when one is taken away.
CREATE TABLE labels (
    item TEXT NOT NULL, part TEXT NOT NULL DEFAULT '', label TEXT NOT NULL, at REAL NOT NULL, removed_at REAL,
    PRIMARY KEY (item, part, label)
) WITHOUT ROWID;

CREATE TABLE tasks (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs (id), position INTEGER NOT NULL, snapshot TEXT NOT NULL,
    path TEXT NOT NULL, qualified_name TEXT NOT NULL, occurrence INTEGER NOT NULL, start_line INTEGER, end_line INTEGER,
    tests TEXT NOT NULL, coverage REAL, seconds REAL, source_blob TEXT, body_blob TEXT, docstring_blob TEXT,
    docs TEXT NOT NULL DEFAULT 'original', prompt_blob TEXT, leak REAL, controls TEXT,
    state TEXT NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'excluded')), reason TEXT,
    branches INTEGER, branches_covered INTEGER, unstable INTEGER, test_count INTEGER NOT NULL DEFAULT 0,
    test_files_blob TEXT, docs_scope TEXT NOT NULL DEFAULT 'target', documented_blob TEXT
);
CREATE INDEX tasks_by_run ON tasks (run_id, position);

CREATE TABLE dropped (
    run_id TEXT NOT NULL, path TEXT NOT NULL, qualified_name TEXT NOT NULL, occurrence INTEGER NOT NULL, stage TEXT NOT NULL,
    reason TEXT NOT NULL, PRIMARY KEY (run_id, path, qualified_name, occurrence)
) WITHOUT ROWID;

-- Tests of a run's suite that no verdict rests on.
CREATE TABLE unused_tests (
    run_id TEXT NOT NULL, position INTEGER NOT NULL, kind TEXT NOT NULL, test_id TEXT NOT NULL, why TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;

CREATE TABLE stages (
    run_id TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, state TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0,
    total INTEGER, note TEXT, at REAL NOT NULL, PRIMARY KEY (run_id, name)
) WITHOUT ROWID;

CREATE TABLE candidates (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs (id), task_id TEXT NOT NULL, evaluator TEXT NOT NULL,
    sample INTEGER NOT NULL, control INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (state IN ('queued', 'asking', 'testing', 'done', 'cancelled')),
    call_id INTEGER, answer_blob TEXT, body_blob TEXT, notes TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost_usd REAL,
    asked_s REAL, verdict TEXT, verdict_reason TEXT, route TEXT, tested_s REAL, outcomes_blob TEXT, at REAL,
    backend TEXT, slower TEXT, suspicious TEXT, recheck TEXT, agrees INTEGER,
    prompt TEXT NOT NULL DEFAULT '', context TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '{}',
    plain INTEGER, doubtful TEXT, repairs INTEGER
);
CREATE INDEX candidates_by_task ON candidates (task_id, evaluator, sample);
CREATE INDEX candidates_by_run ON candidates (run_id);

CREATE TABLE failing_tests (
    candidate_id TEXT NOT NULL, test_id TEXT NOT NULL, outcome TEXT NOT NULL, message TEXT NOT NULL, traceback_blob TEXT,
    PRIMARY KEY (candidate_id, test_id)
) WITHOUT ROWID;

-- Verdicts that a later one replaced, oldest first; failing_blob is a JSON list of [test, outcome, message, traceback digest].
CREATE TABLE former_verdicts (
    candidate_id TEXT NOT NULL, number INTEGER NOT NULL, verdict TEXT NOT NULL, verdict_reason TEXT, route TEXT, tested_s REAL,
    outcomes_blob TEXT, failing_blob TEXT, backend TEXT, slower TEXT, suspicious TEXT, recheck TEXT, at REAL,
    replaced_at REAL NOT NULL, doubtful TEXT, PRIMARY KEY (candidate_id, number)
) WITHOUT ROWID;

-- What is compared: declaration is JSON of workbench.studies.declaration.Study, problem why it does not go on.
CREATE TABLE studies (
    name TEXT PRIMARY KEY, declaration TEXT NOT NULL, created_at REAL NOT NULL, problem TEXT
) WITHOUT ROWID;

-- Where the cells of a study are: the run that was planned for a cell and its trials, or the ask of its candidates.
CREATE TABLE study_cells (
    study TEXT NOT NULL, row_name TEXT NOT NULL, column_name TEXT NOT NULL, position INTEGER NOT NULL, run_id TEXT,
    pointer TEXT NOT NULL DEFAULT '{}', problem TEXT, PRIMARY KEY (study, row_name, column_name)
) WITHOUT ROWID;

-- Orders to improve docstrings: plan is JSON of workbench.plans.plan.ImprovementPlan, run_id the run with the original
-- docs, now_run the one that is under way; spent_before is what run_id had cost when it was ordered.
CREATE TABLE improvements (
    id TEXT PRIMARY KEY, run_id TEXT, plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    stage TEXT NOT NULL DEFAULT '', now_run TEXT, problem TEXT, spent_before REAL NOT NULL DEFAULT 0, created_at REAL NOT NULL,
    finished_at REAL
) WITHOUT ROWID;

-- Docstrings that were tried; seen, before and after are JSON of [passed, counted].
CREATE TABLE docstring_attempts (
    improvement_id TEXT NOT NULL REFERENCES improvements (id), task_id TEXT NOT NULL, number INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('asking', 'testing', 'refused', 'kept')), gate TEXT, reason TEXT, docstring_blob TEXT,
    run_id TEXT, seen TEXT, before TEXT, after TEXT, held_out_by TEXT NOT NULL DEFAULT '', at REAL NOT NULL,
    PRIMARY KEY (improvement_id, task_id, number)
) WITHOUT ROWID;

-- What was read from another program's file: a trial, a task or a candidate, or the file as a whole (`file:DIGEST`) once all of it is
-- here. `extra_blob` is JSON of what the other tables have no place for.
CREATE TABLE imported (
    item TEXT PRIMARY KEY, format TEXT NOT NULL, source TEXT NOT NULL, digest TEXT NOT NULL, extra_blob TEXT, at REAL NOT NULL
) WITHOUT ROWID;

-- Sums over the samples of a task in one group, kept by the triggers below: a matrix of 100,000 candidates opens at once.
CREATE TABLE verdict_counts (
    task_id TEXT NOT NULL, evaluator TEXT NOT NULL, prompt TEXT NOT NULL, context TEXT NOT NULL, settings TEXT NOT NULL,
    control INTEGER NOT NULL, samples INTEGER NOT NULL DEFAULT 0, waiting INTEGER NOT NULL DEFAULT 0,
    counted INTEGER NOT NULL DEFAULT 0, passed INTEGER NOT NULL DEFAULT 0, doubtful INTEGER NOT NULL DEFAULT 0,
    repaired INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0, priced INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, evaluator, prompt, context, settings, control)
) WITHOUT ROWID;

-- The feed: what changed since a reader looked last. Filled by the triggers below, so that no writer can forget it.
CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, item TEXT NOT NULL, part TEXT);
"""

VIEWS = """
CREATE VIEW trial_scores AS
SELECT trials.id AS trial, run_id AS run, case_id, case_name, agent, model, repeat, state, error, rubric, judge, total, out_of,
       tier1, tier2, tier3, tier4, problem, steps, prompt_tokens, completion_tokens, cost_usd, seconds, readme_blob, parent, fork_step
FROM trials LEFT JOIN scorecards ON trial_id = trials.id
WHERE run_id NOT IN (SELECT id FROM runs WHERE deleted_at IS NOT NULL);

CREATE VIEW candidate_verdicts AS
SELECT candidates.id AS candidate, tasks.run_id AS run, task_id AS task, path, qualified_name AS function, occurrence,
       tasks.state AS task_state, docs, docs_scope, evaluator, prompt, context, settings, sample, control, candidates.state, verdict,
       verdict_reason, route, backend, recheck IS NOT NULL AS rechecked, agrees, plain, doubtful, repairs,
       tasks.docstring_blob IS NOT NULL AS documented,
       verdict IS NOT NULL AND candidates.state IN ('queued', 'asking', 'testing') AS again,
       (SELECT count(*) FROM failing_tests WHERE candidate_id = candidates.id) AS failing,
       prompt_tokens, completion_tokens, cost_usd, asked_s, tested_s, at, candidates.body_blob, answer_blob
FROM candidates JOIN tasks ON tasks.id = task_id
WHERE tasks.run_id NOT IN (SELECT id FROM runs WHERE deleted_at IS NOT NULL);

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
"""Views for people who ask a file with sqlite3 and without this program: docs/session.md. No query here uses them."""

KEPT_CHANGES = 20_000
"""So many of the newest changes stay in the feed; who knows less than that reads everything again."""

PUT_AWAY_RUNS = "(SELECT id FROM runs WHERE deleted_at IS NOT NULL)"
"""SQL for the runs that a person put away: neither they nor what belongs to them counts."""

_FED = {
    "runs": ("run", "NEW.id", "NULL"),
    "trials": ("trial", "NEW.id", "NULL"),
    "steps": ("step", "NEW.trial_id", "NEW.number"),
    "seen": ("seen", "NEW.trial_id", "NEW.path"),
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
"""SQL for every row that the feed tells of, as it would be told: (kind, item, part)."""


def prune_changes(connection: sqlite3.Connection) -> None:
    """Remove old entries from the feed, within a transaction; costs microseconds if there are none."""
    first, last = connection.execute("SELECT min(seq), max(seq) FROM changes").fetchone()
    if isinstance(first, int) and isinstance(last, int) and last - first > KEPT_CHANGES * 5 // 4:
        connection.execute("DELETE FROM changes WHERE seq <= ?", (last - KEPT_CHANGES,))


_REFERS = {
    "run_id": "runs", "now_run": "runs", "trial_id": "trials", "parent": "trials", "task_id": "tasks", "candidate_id": "candidates",
    "call_id": "calls", "study": "studies", "improvement_id": "improvements",
}  # fmt: skip
_ALLOWED = re.compile(r"CHECK \((\w+) IN \(([^)]*)\)\)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, as the table declares it; ``allowed`` are its values in SQL, "" for any."""

    name: str
    kind: str
    required: bool
    default: str | None
    key: bool
    allowed: str
    refers_to: str | None  # the table whose row it names; a key of one column names a row of its own table


@cache
def tables() -> dict[str, tuple[Column, ...]]:
    """Return the columns of every table."""
    found = {}
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        rows = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        for table, sql in rows.fetchall():
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            allowed = dict(_ALLOWED.findall(sql))
            own = table if sum(bool(column[5]) for column in columns) == 1 else None
            found[table] = tuple(
                Column(
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
    """Return what of a file's schema no session has, "" for nothing.

    A view in place of a table can have rows without an end, and a trigger runs with a writer's rights.
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


def _is_plain_table(sql: str) -> bool:
    bare = _NOT_CODE.sub(" x ", sql)
    named = re.sub(r"(?i)^create table (?:if not exists )?\w+|\breferences\s+\w+", "key", bare)
    called = {word.lower() for word in re.findall(r"(\w+)\s*\(", named)}
    words = {word.lower() for word in re.findall(r"\w+", bare)}
    return called <= {"check", "key", "in", "unique", "x"} and not words & {"virtual", "generated", "select"}


# Texts, quoted names and comments.
_NOT_CODE = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|/\*.*?\*/", re.S)
_COLUMN = r'"?\w+"?(?: ASC| DESC)?'
_INDEX = re.compile(rf'CREATE (?:UNIQUE )?INDEX "?\w+"? ON "?\w+"? ?\({_COLUMN}(?:, ?{_COLUMN})*\)', re.I)
_FEEDING = re.compile(
    r"CREATE TRIGGER \w+ AFTER (?:INSERT|UPDATE) ON \w+ BEGIN INSERT INTO changes \(kind, item, part\) "
    r"VALUES \('\w+', NEW\.\w+, (?:NEW\.\w+|NULL)\); END"
)
