"""Regeneration that replays a recorded session: whose docs, and whose answers, these were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.documenters.names import DocsName, parse_docs
from workbench.engine.docs_estimate import model_of
from workbench.engine.plan import RegenerationPlan
from workbench.session import SessionReader
from workbench.session.rows import RunRow

_REPLAY = "replay:"


def recorded_documenter(docs: str) -> str:
    """Return the model that a replayed session asked for docs of this kind, "" where nothing is replayed or it asked none.

    An answer is found by the question and its limit of tokens, and that limit is the recorded model's.
    """
    name = parse_docs(docs)
    model = model_of(name)
    if not model.startswith(_REPLAY):
        return ""
    with SessionReader(Path(model.removeprefix(_REPLAY)), surveyed=False) as reader:
        asked = [_docs(run) for run in reader.runs() if run.kind == "regenerate"]
    found = [model_of(one) for one in asked if one.kind == name.kind]
    return next((one for one in reversed(found) if not one.startswith(_REPLAY)), "")


def has_docs_of(run: RunRow) -> Callable[[RunRow], bool] | None:
    """Return what says of a recorded run whether it was about the docs of ``run``, None where ``run`` is about no docs."""
    if run.kind != "regenerate":
        return None
    own = _docs(run)

    def alike(recorded: RunRow) -> bool:
        if recorded.kind != "regenerate":
            return False
        other = _docs(recorded)
        replays = model_of(own).startswith(_REPLAY)
        return other.kind == own.kind and other.version == own.version and (replays or other.rest == own.rest)

    return alike


def _docs(run: RunRow) -> DocsName:
    return parse_docs(RegenerationPlan.from_json(run.config).docs)
