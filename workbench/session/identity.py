"""Stable ids of work items: the same work has the same id in every session and on every machine."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable


def _named(kind: str, *parts: object) -> str:
    text = json.dumps([kind, *parts], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def trial_id(agent: str, model: str, case_id: str, repeat: int, content: str = "") -> str:
    """Return the id of a trial; ``content`` is a digest of everything that can change while the case keeps its name."""
    return _named("trial", agent, model, case_id, repeat, *([content] if content else []))


def fork_id(parent: str, step: int, edited: str, edit: str, agent: str, model: str, repeat: int) -> str:
    return _named("fork", parent, step, edited, edit, agent, model, repeat)


def task_id(
    snapshot: str, path: str, qualified_name: str, occurrence: int, docs_digest: str, tested_by: str = ""
) -> str:
    """Return the id of a task.

    ``docs_digest`` covers the doc system and its text; for ``tested_by``, see the function below.
    """
    return _named("task", snapshot, path, qualified_name, occurrence, docs_digest, *([tested_by] if tested_by else []))


def tested_by(sandbox: str, tests: Iterable[str]) -> str:
    """Return the digest of everything a verdict depends on: the kind of sandbox and the tests."""
    return _named("tested by", sandbox, *sorted(tests))


def candidate_id(task: str, evaluator: str, prompt_version: str, sample: int) -> str:
    return _named("candidate", task, evaluator, prompt_version, sample)


def run_id() -> str:
    """Return a random id for a run: unlike work items, runs are not identified by content."""
    return secrets.token_hex(5)


def imported_id(digest: str) -> str:
    """Return the id of an imported trial, task or candidate, based only on its content."""
    return _named("imported", digest)
