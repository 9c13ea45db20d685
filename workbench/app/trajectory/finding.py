"""The part of the Trajectory mode that finds things: search hits and the evidence of a criterion."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from workbench.app.trajectory.scores import Item, Proof
from workbench.app.trajectory.search import Found, search
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.screens.trajectory import TrajectoryScreen


class Finder:
    """Keeps the last search and the evidence that was shown last.

    Args:
        screen: The mode that is searched.
    """

    def __init__(self, screen: TrajectoryScreen) -> None:
        self._screen = screen
        self._stop = threading.Event()
        self.found: Found | None = None
        self.at = -1
        self.busy = False
        self._shown: tuple[Item | None, int] = (None, -1)

    # -- search

    def begin(self, needle: str) -> None:
        """Search for a text in a thread."""
        screen = self._screen
        reader, state = screen.workbench.reader, screen.state
        self.forget()
        if reader is None or state is None or not needle:
            return
        self.busy = True
        self._stop = stop = threading.Event()
        trial = state.trial

        def work() -> Found:
            return search(reader, trial, needle, stop.is_set)

        def done(found: Found) -> None:
            if stop is self._stop and not stop.is_set():
                self.busy = False
                self.found = found
                selected = screen.step_list.selected
                self._go(found.nearest(selected.number if selected else 0))

        screen.set_remark(f"/{needle}  searching…")
        screen.searching.ask(work, done)

    def forget(self) -> None:
        """Drop the search and its marks."""
        self._stop.set()
        self.busy = False
        self.found = None
        self.at = -1
        self._screen.content.text.find("")
        self._screen.outcome.text.find("")
        self._screen.set_remark("")

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit."""
        if self.found and self.found.hits:
            self._go((self.at + step) % len(self.found.hits))
        elif not self.busy:
            self._screen.notify("Press / and type what to search for.")

    def _go(self, index: int) -> None:
        found, screen = self.found, self._screen
        if found is None:
            return
        screen.content.text.find(found.needle)
        screen.outcome.text.find(found.needle)
        if not found.hits:
            screen.set_remark(f"/{found.needle}  nothing found")
            return
        self.at = index
        hit = found.hits[index]
        total = f"{len(found.hits):,}{'+' if found.more else ''}"
        screen.set_remark(f"/{found.needle}  {index + 1:,} of {total}")
        if hit.step:
            screen.go_to_step(hit.step, hit.tab, hit=hit.ordinal, reach=hit.reach)
        else:
            screen.outcome.go(hit.tab, hit=hit.ordinal, reach=hit.reach)
            screen.uncover(screen.outcome)

    # -- evidence

    def show_evidence(self) -> None:
        """Show the next piece of evidence of the criterion under the cursor."""
        screen = self._screen
        item = screen.score_pane.choose_with_evidence()
        if item is None:
            screen.notify(
                "No criterion with evidence is shown yet." if screen.score_pane.card is None else "No evidence."
            )
            return
        if not item.proofs:
            screen.notify(one_line(f"{item.title}: no evidence was given; {item.reason}", 300))
            return
        before, at = self._shown
        at = (at + 1) % len(item.proofs) if before == item else 0
        self._shown = (item, at)
        proof = item.proofs[at]
        counter = f"evidence {at + 1} of {len(item.proofs)}: {item.title}"
        screen.set_remark(counter)
        self._show(proof)

    def _show(self, proof: Proof) -> None:
        screen = self._screen
        step = screen.step_that_read(proof.path) if proof.kind == "file" and proof.path else None
        if proof.kind == "readme" and proof.start is not None:
            end = proof.end if proof.end is not None else proof.start
            screen.outcome.go("README", span=(proof.start, end), reach=end)
            screen.uncover(screen.outcome)
        elif step is not None:
            screen.go_to_step(step, "Observation", line=proof.line)
        elif proof.kind == "metadata":
            screen.outcome.go("Metadata", key=proof.path or "")
            screen.uncover(screen.outcome)
        else:
            where = f" {proof.path}" + (f":{proof.line}" if proof.line else "") if proof.path else ""
            screen.notify(one_line(proof.text, 600), title=f"{proof.kind}{where}", timeout=8)
