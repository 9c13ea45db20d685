"""What the peers of the tests say: the n-th answer of a file to the n-th message of a context. Standard library only."""

from __future__ import annotations

import json
from pathlib import Path


class Script:
    """Answers by context, each new context from the first line on."""

    def __init__(self, file: str) -> None:
        self._answers: list[str] = json.loads(Path(file).read_text(encoding="utf-8"))
        self._turns: dict[str, int] = {}

    def next(self, context: str) -> str:
        turn = self._turns.get(context, 0)
        self._turns[context] = turn + 1
        return self._answers[min(turn, len(self._answers) - 1)]


def call_in(text: str) -> dict:
    """Return the call of an answer, for a data part."""
    return json.JSONDecoder(strict=False).raw_decode(text, text.index("{", text.index("<json>")))[0]
