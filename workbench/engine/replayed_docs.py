"""Docs whose model replays a recorded session: whose answers these were."""

from __future__ import annotations

from pathlib import Path

from workbench.documenters.names import parse_docs
from workbench.engine.docs_estimate import model_of
from workbench.engine.plan import RegenerationPlan
from workbench.session import SessionReader

_REPLAY = "replay:"


def recorded_documenter(docs: str) -> str:
    """Return the model that a replayed session asked for docs of this kind, "" where nothing is replayed or it asked none.

    An answer is found by the question and its limit of tokens, and that limit is the recorded model's.

    Args:
        docs: Name of a doc system as ``--docs`` takes it.

    Raises:
        WorkbenchError: The session cannot be read.
    """
    name = parse_docs(docs)
    model = model_of(name)
    if not model.startswith(_REPLAY):
        return ""
    with SessionReader(Path(model.removeprefix(_REPLAY)), surveyed=False) as reader:
        asked = [
            parse_docs(RegenerationPlan.from_json(run.config).docs) for run in reader.runs() if run.kind == "regenerate"
        ]
    found = [model_of(one) for one in asked if one.kind == name.kind]
    return next((one for one in reversed(found) if not one.startswith(_REPLAY)), "")
