"""A card is read in a process of its own where a person waits for it: in the app nothing of HTTP is imported."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass

from workbench.base.errors import WorkbenchError
from workbench.base.reasons import last_words
from workbench.interop.a2a.installed import check_installed

_PATIENCE = 60.0  # seconds, of which the server has a third


@dataclass(frozen=True, slots=True)
class ShownCard:
    """What a person and a plan need to know of an agent: the model that stands for it, and a line about it."""

    model: str
    words: str


def shown_card(address: str) -> ShownCard:
    """Return what the agent at an address says of itself; raises WorkbenchError where the extra is missing or no agent is there."""
    check_installed()
    command = [sys.executable, "-m", "workbench.interop.a2a.card_check", address]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise WorkbenchError(f"The agent at {address} did not send its card within {_PATIENCE:g} s.") from None
    try:
        answer = json.loads(done.stdout.decode().splitlines()[-1])
        problem, model, words = (str(answer[name]) for name in ("problem", "model", "words"))
    except (ValueError, IndexError, KeyError, TypeError):
        said = last_words(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        raise WorkbenchError(f"The card of the agent at {address} could not be read ({said}).") from None
    if problem:
        raise WorkbenchError(problem)
    return ShownCard(model, words)


def main(address: str) -> int:
    from workbench.interop.a2a.card import fetch_card

    answer = {"problem": "", "model": "", "words": ""}
    try:
        card = asyncio.run(fetch_card(address))
        answer |= {"model": card.model, "words": card.words()}
    except WorkbenchError as error:
        answer["problem"] = str(error)
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
