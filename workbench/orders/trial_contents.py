"""The content that a trial documents: determined when the trial is planned, and kept through every resume."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.catalog import TestCase, content_of, current_snapshot, kept_snapshot, resolve_case, snapshot_of
from workbench.plans.plan import DocumentPlan
from workbench.repository import Snapshot
from workbench.session.identity import trial_id
from workbench.session.rows import TrialRow


class ContentChanged(WorkbenchError):
    """The content that a trial started with is no longer available."""


@dataclass(frozen=True, slots=True)
class OrderedCase:
    """A case as it is when a trial on it is planned."""

    text: str  # The text with which the case can be resolved again
    case: TestCase
    snapshot: Snapshot | None  # Its repository, if available without the network; else None

    @property
    def content(self) -> str:
        """The part of a trial's identity that identifies the case's content."""
        return content_of(self.case, self.snapshot)

    def identity(self, query: Callable[[str, Sequence[object]], list[Any]], plan: DocumentPlan, repeat: int) -> str:
        """Return the identity of a trial of a plan on this content: that of the session's existing trial, if there is one.

        That of a trial planned before its repository was fetched does not include the content: such a trial matches, too.
        """
        name, more = (plan.agent, plan.model, self.case.id, repeat), plan.further
        mine = trial_id(*name, self.content + more)
        for known in (trial_id(*name, content_of(self.case, None) + more), trial_id(*name, more)):
            rows = query("SELECT snapshot FROM trials WHERE id = ?", (known,))
            if rows and (self.snapshot is None or rows[0][0] in (None, self.snapshot.digest)):
                return known
        return mine


def ordered_case(text: str) -> OrderedCase:
    case = resolve_case(text)
    path = Path(text).expanduser()
    local = case.source and not path.is_absolute() and path.exists()
    try:
        snapshot = current_snapshot(case)
    except WorkbenchError:
        snapshot = None  # the trial meets the same problem and reports it
    # Make the path absolute, as a resume may run in another folder.
    return OrderedCase(str(path.absolute()) if local else text, case, snapshot)


def content_for(trial: TrialRow, case: TestCase) -> Snapshot:
    """Return the repository that a trial was planned or started with. Raises ContentChanged: it, or the ground truth, changed."""
    snapshot = kept_snapshot(case, trial.snapshot or "") or snapshot_of(case)
    anew = "run the case again, as a trial of its own."
    if trial.snapshot and snapshot.digest != trial.snapshot:
        raise ContentChanged(
            f"The repository of {case.name} has changed since this trial was ordered and its former content is not kept; {anew}"
        )
    if trial.content and trial.content not in (content_of(case, snapshot), content_of(case, None)):
        raise ContentChanged(f"The ground truth of {case.name} has changed since this trial was ordered; {anew}")
    return snapshot
