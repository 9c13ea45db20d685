"""What was searched for last: so that the search begins where it was left."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Searched:
    """The text that was typed, whether all sessions were meant, and the hit at which the cursor stood."""

    text: str = ""
    everywhere: bool = False
    at: int = 0
