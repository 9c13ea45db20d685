"""The files that either agent saw, and how closely each looked."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.compare.difference_list import DifferenceList, Kind
from workbench.app.compare.wording import ONLY_A, ONLY_B, SAME
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import Comparison
from workbench.text import shortened

_LOOK = 8
_SIGNS = {"read": "● read", "listed": "○ listed", "": "· unseen"}
_STYLES = {"read": "seen-read", "listed": "seen-listed", "": "dim"}


class FileRows(DifferenceList[Comparison]):
    """Sign of who looked closer, how each looked, path."""

    by_stretch = False

    def kinds_of(self, comparison: Comparison) -> Sequence[Kind]:
        """Return at which files both looked equally closely."""
        return [Kind.DIFFERENT if pair.closer else Kind.SAME for pair in comparison.files]

    def empty_text(self, comparison: Comparison) -> str:
        """Return that there is no file."""
        return "Neither agent saw a file."

    def heading_parts(self, width: int) -> Sequence[Part]:
        """Return the names of the columns."""
        return [(f"  {fit('A', _LOOK)} {fit('B', _LOOK)}  path", "dim")]

    def entry_parts(self, place: int, width: int) -> Sequence[Part]:
        """Return a file."""
        assert self.comparison is not None
        pair = self.comparison.files[place]
        sign, style = {0: (SAME, "dim"), -1: (ONLY_A, "only-a"), 1: (ONLY_B, "only-b")}[pair.closer]
        room = max(1, width - 5 - 2 * _LOOK)
        return [
            (f"{sign} ", style),
            (fit(_SIGNS.get(pair.left, pair.left), _LOOK) + " ", _STYLES.get(pair.left, "")),
            (fit(_SIGNS.get(pair.right, pair.right), _LOOK) + "  ", _STYLES.get(pair.right, "")),
            (fit(shortened(pair.path, room), room), style if pair.closer else ""),
        ]
