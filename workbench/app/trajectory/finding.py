"""The part of the Trajectory mode that finds things: search hits and the evidence of a criterion."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.trajectory.search import Found, search
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.trajectory.screen import TrajectoryScreen
    from workbench.rubric.scorecard import Criterion, Evidence


class Finder:
    """Keeps the last search and the evidence that was shown last.

    Args:
        view: Where hits and evidence are shown.
    """

    def __init__(self, view: TrajectoryScreen) -> None:
        self._view = view
        self._stop = threading.Event()
        self.found: Found | None = None
        self.at = -1
        self.busy = False
        self._shown: tuple[Criterion | None, int] = (None, -1)

    # -- search

    def begin(self, needle: str, near: int | None = None) -> None:
        """Search for a text in a thread and go to the first hit from step ``near`` on, by default from the selected one."""
        view = self._view
        reader, state = view.reader, view.state
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
                self._go(found.nearest(view.step_number if near is None else near))

        view.set_remark(f"/{needle}  searching…")
        view.searching.ask(work, done)

    def forget(self) -> None:
        """Drop the search and its marks."""
        self._stop.set()
        self.busy = False
        self.found = None
        self.at = -1
        self._view.mark_hits("")
        self._view.set_remark("")

    def go(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit."""
        if self.found and self.found.hits:
            self._go((self.at + step) % len(self.found.hits))
        elif not self.busy:
            self._view.notify(f"Press {key_of('trajectory.search')} and type what to search for.")

    def _go(self, index: int) -> None:
        found, view = self.found, self._view
        if found is None:
            return
        view.mark_hits(found.needle)
        if not found.hits:
            view.set_remark(f"/{found.needle}  nothing found")
            return
        self.at = index
        hit = found.hits[index]
        total = f"{len(found.hits):,}{'+' if found.more else ''}"
        view.set_remark(f"/{found.needle}  {index + 1:,} of {total}")
        if hit.step:
            view.go_to_step(hit.step, hit.tab, hit=hit.ordinal, reach=hit.reach)
        else:
            view.go_to_outcome(hit.tab, hit=hit.ordinal, reach=hit.reach)

    # -- evidence

    def show_evidence(self) -> None:
        """Show the next piece of evidence of the criterion under the cursor."""
        view = self._view
        item = view.criterion_with_evidence()
        if item is None:
            view.notify("No evidence." if view.has_scores else "No criterion with evidence is shown yet.")
            return
        if not item.evidence:
            view.notify(one_line(f"{item.title}: no evidence was given; {item.reason}", 300))
            return
        before, at = self._shown
        at = (at + 1) % len(item.evidence) if before == item else 0
        self._shown = (item, at)
        proof = item.evidence[at]
        counter = f"evidence {at + 1} of {len(item.evidence)}: {item.title}"
        view.set_remark(counter)
        self._show(proof)

    def _show(self, proof: Evidence) -> None:
        view = self._view
        step = view.step_that_read(proof.path) if proof.kind == "file" and proof.path else None
        if proof.kind == "readme" and proof.start is not None:
            end = proof.end if proof.end is not None else proof.start
            view.go_to_outcome("README", span=(proof.start, end), reach=end)
        elif step is not None:
            view.go_to_step(step, "Observation", line=proof.line)
        elif proof.kind == "metadata":
            view.go_to_outcome("Metadata", key=proof.path or "")
        else:
            where = f" {proof.path}" + (f":{proof.line}" if proof.line else "") if proof.path else ""
            view.notify(one_line(proof.text, 600), title=f"{proof.kind}{where}", timeout=8)
