"""The tables of a session file and how an older file becomes a current one.

Times are unix seconds, durations seconds, costs US dollars, sizes bytes. Every text of any length is a blob, named by the
SHA-256 of its content, so a file that was read twice is stored once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

APPLICATION_ID = 0x574B4253  # "WKBS": tells a session from any other SQLite file
SCHEMA_VERSION = 2

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE blobs (
    digest TEXT PRIMARY KEY, size INTEGER NOT NULL, codec TEXT NOT NULL CHECK (codec IN ('raw', 'zlib')), data BLOB NOT NULL
);

CREATE TABLE runs (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('document', 'regenerate')), config TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    created_at REAL NOT NULL, started_at REAL, finished_at REAL, error TEXT, note TEXT, spend_usd REAL NOT NULL DEFAULT 0
);

-- Who executes a run; apart from runs, so that a heartbeat is no change that a reader must look at.
CREATE TABLE leases (
    run_id TEXT PRIMARY KEY REFERENCES runs (id), token TEXT NOT NULL, pid INTEGER NOT NULL, process_started TEXT NOT NULL,
    host TEXT NOT NULL, heartbeat_at REAL NOT NULL
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
    cost_usd REAL, started_at REAL, finished_at REAL, seconds REAL
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
    tier1 REAL, tier2 REAL, tier3 REAL, tier4 REAL, card_blob TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (trial_id, rubric, judge)
) WITHOUT ROWID;

CREATE TABLE annotations (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, step INTEGER, text TEXT NOT NULL, at REAL NOT NULL
);

CREATE TABLE tasks (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs (id), position INTEGER NOT NULL, snapshot TEXT NOT NULL,
    path TEXT NOT NULL, qualified_name TEXT NOT NULL, occurrence INTEGER NOT NULL, start_line INTEGER, end_line INTEGER,
    tests TEXT NOT NULL, coverage REAL, seconds REAL, source_blob TEXT, body_blob TEXT, docstring_blob TEXT,
    docs TEXT NOT NULL DEFAULT 'original', prompt_blob TEXT, leak REAL, controls TEXT,
    state TEXT NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'excluded')), reason TEXT,
    branches INTEGER, branches_covered INTEGER, unstable INTEGER
);
CREATE INDEX tasks_by_run ON tasks (run_id, position);

CREATE TABLE dropped (
    run_id TEXT NOT NULL, path TEXT NOT NULL, qualified_name TEXT NOT NULL, occurrence INTEGER NOT NULL, stage TEXT NOT NULL,
    reason TEXT NOT NULL, PRIMARY KEY (run_id, path, qualified_name, occurrence)
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
    asked_s REAL, verdict TEXT, verdict_reason TEXT, path_taken TEXT, tested_s REAL, outcomes_blob TEXT, at REAL,
    backend TEXT, slower TEXT, suspicious TEXT, recheck TEXT
);
CREATE INDEX candidates_by_task ON candidates (task_id, evaluator, sample);
CREATE INDEX candidates_by_run ON candidates (run_id);

CREATE TABLE failing_tests (
    candidate_id TEXT NOT NULL, test_id TEXT NOT NULL, outcome TEXT NOT NULL, message TEXT NOT NULL, traceback_blob TEXT,
    PRIMARY KEY (candidate_id, test_id)
) WITHOUT ROWID;

-- The feed: what changed since a reader looked last. Filled by the triggers below, so that no writer can forget it.
CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, item TEXT NOT NULL, part TEXT);
"""

_FED = {
    "runs": ("run", "NEW.id", "NULL"),
    "trials": ("trial", "NEW.id", "NULL"),
    "steps": ("step", "NEW.trial_id", "NEW.number"),
    "seen": ("seen", "NEW.trial_id", "NEW.path"),
    "scorecards": ("score", "NEW.trial_id", "NEW.rubric"),
    "annotations": ("annotation", "NEW.item", "NEW.id"),
    "tasks": ("task", "NEW.id", "NEW.run_id"),
    "dropped": ("dropped", "NEW.run_id", "NEW.qualified_name"),
    "stages": ("stage", "NEW.run_id", "NEW.name"),
    "candidates": ("candidate", "NEW.id", "NEW.task_id"),
}
TRIGGERS = "\n".join(
    f"CREATE TRIGGER {table}_{when.lower()} AFTER {when} ON {table} BEGIN "
    f"INSERT INTO changes (kind, item, part) VALUES ('{kind}', {item}, {part}); END;"
    for table, (kind, item, part) in _FED.items()
    for when in ("INSERT", "UPDATE")
)

_ADDED_IN_2 = {
    "tasks": ("branches INTEGER", "branches_covered INTEGER", "unstable INTEGER"),
    "candidates": ("backend TEXT", "slower TEXT", "suspicious TEXT", "recheck TEXT"),
}


def _to_2(connection: sqlite3.Connection) -> None:
    """Add what regeneration records since: branches, unstable tests, the sandbox, why a route was slower, re-checks."""
    for table, added in _ADDED_IN_2.items():
        for column in added:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    connection.execute(
        "UPDATE candidates SET backend = (SELECT json_extract(config, '$.sandbox') FROM runs WHERE runs.id = run_id) "
        "WHERE path_taken IS NOT NULL"
    )


# version that a file has -> what turns it into the next version; runs inside one transaction on a copy of the file
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _to_2}
