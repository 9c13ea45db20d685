"""Which trials are marked to be compared: at most two."""

from __future__ import annotations


class Marks:
    """The marked trials in the order in which they were marked; a third one takes the place of the oldest."""

    def __init__(self) -> None:
        self._marked: list[str] = []

    def toggle(self, trial: str) -> None:
        """Mark a trial, or take its mark away."""
        if trial in self._marked:
            self._marked.remove(trial)
        else:
            self._marked = [*self._marked[-1:], trial]

    def letter(self, trial: str) -> str:
        """Return what a trial will be in the comparison, ``A`` or ``B``; "" where it is not marked."""
        return "AB"[self._marked.index(trial)] if trial in self._marked else ""

    def pair(self, under_cursor: str) -> tuple[str, str] | None:
        """Return the two to compare: those that are marked, or the marked one with the one under the cursor."""
        found = [*self._marked, under_cursor] if len(self._marked) == 1 else self._marked
        if len(found) != 2 or not all(found) or found[0] == found[1]:
            return None
        return found[0], found[1]

    def keep(self, trials: set[str]) -> None:
        """Forget the marks of trials that are no longer there."""
        self._marked = [trial for trial in self._marked if trial in trials]

    def __len__(self) -> int:
        return len(self._marked)
