"""Trials that replay a recorded session: of which model their answers are."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.client import replay_plan

_REPLAY = "replay:"
_DEPTH = 8  # a replay of a replay of …


def recorded_model(model: str) -> str:
    """Return the model whose answers an agent gets: the recorded one of ``replay:SESSION``, any other as it is.

    What an agent asks depends on it: the embedded model is held by grammars, reads less and is asked once.

    Raises:
        WorkbenchError: The recorded session cannot be read, or holds no trials.
    """
    for _ in range(_DEPTH):
        if not model.startswith(_REPLAY):
            break
        model = replay_plan(Path(model.removeprefix(_REPLAY))).model
    return model
