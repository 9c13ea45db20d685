"""Back and forward through the places that a person visited."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.app.marks import Pair
    from workbench.app.place import Place

MOST = 200
"""Places that are kept in either direction; the oldest ones are forgotten."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Where a person was.

    Attributes:
        session: The session that was open, None for none.
        mode: The mode that was shown.
        item: Its trial, run, case or study, "" for none.
        place: The step or sample that was selected there, or the file of a case.
        evaluator: Whose samples of a run were shown.
        pair: The two that stood side by side over the mode, None where none did.
    """

    session: Path | None
    mode: str
    item: str = ""
    place: Place | None = None
    evaluator: str = ""
    pair: Pair | None = None


class History:
    """The places behind and ahead of the one that is shown, as a browser keeps them."""

    def __init__(self) -> None:
        self._behind: list[Visit] = []
        self._ahead: list[Visit] = []

    @property
    def has_behind(self) -> bool:
        """Whether there is a place to go back to."""
        return bool(self._behind)

    @property
    def has_ahead(self) -> bool:
        """Whether somebody went back and may go forward again."""
        return bool(self._ahead)

    def leave(self, here: Visit | None) -> None:
        """Note a place that is about to be left for another one; what lay ahead is forgotten."""
        if here is not None:
            self._ahead.clear()
            _put(self._behind, here)

    def go(self, step: int, here: Visit | None) -> Visit | None:
        """Return the place to go to, back (-1) or forward (1), None where there is none; ``here`` is kept for the way back."""
        source, other = (self._behind, self._ahead) if step < 0 else (self._ahead, self._behind)
        while source:
            found = source.pop()
            if found != here:
                if here is not None:
                    _put(other, here)
                return found
        return None


def _put(visits: list[Visit], visit: Visit) -> None:
    if not visits or visits[-1] != visit:
        visits.append(visit)
        del visits[:-MOST]
