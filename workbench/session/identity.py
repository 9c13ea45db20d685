"""Stable identities of work items: the same work has the same name in every session, on every machine."""

from __future__ import annotations

import hashlib
import json
import secrets


def _named(kind: str, *parts: object) -> str:
    text = json.dumps([kind, *parts], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def trial_id(agent: str, model: str, case_id: str, repeat: int) -> str:
    """Return the identity of a trial: (agent, model, test case, repeat)."""
    return _named("trial", agent, model, case_id, repeat)


def task_id(snapshot: str, path: str, qualified_name: str, occurrence: int, docs_digest: str) -> str:
    """Return the identity of a regeneration task: (snapshot, function, documentation given)."""
    return _named("task", snapshot, path, qualified_name, occurrence, docs_digest)


def candidate_id(task: str, evaluator: str, prompt_version: str, sample: int) -> str:
    """Return the identity of a candidate: (task, evaluator, prompt version, sample index)."""
    return _named("candidate", task, evaluator, prompt_version, sample)


def run_id() -> str:
    """Return a new name for a run; runs are what a person started, so they are not derived from content."""
    return secrets.token_hex(5)
