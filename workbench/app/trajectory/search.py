"""Find a text in everything that a trajectory holds: steps, thoughts, observations, first messages, README, metadata."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.agents.protocol import split_answer
from workbench.app.toolkit.document import prepared
from workbench.app.trajectory.loading import PAGE_OF_STEPS

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import StepRow, TrialRow

HITS_LIMIT = 10_000
OUTCOME = 10**9
"""Stands after every step: where the outcome is, for :meth:`Found.nearest`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One place: the tab of a step (``step`` its number) or, with step 0, of the outcome.

    ``ordinal`` counts the hits of the same tab from 0; ``reach`` is how many characters must be shown to see it.
    """

    step: int
    tab: str
    ordinal: int
    reach: int


@dataclass(frozen=True, slots=True)
class Found:
    """The hits in the order of the trajectory; ``more`` says that the search stopped at :data:`HITS_LIMIT`."""

    needle: str
    hits: tuple[Hit, ...]
    more: bool

    def nearest(self, step: int) -> int:
        """Return the index of the first hit in step ``step`` or later, 0 if there is none."""
        at = bisect_left([hit.step or OUTCOME for hit in self.hits], step)
        return at if at < len(self.hits) else 0


def search(reader: SessionReader, trial: TrialRow, needle: str, stopped: Callable[[], bool]) -> Found:
    """Search a trial; a lower-case needle matches any case. Each distinct text is read once."""
    finder = _Finder(reader, needle)
    after = 0
    while not stopped() and len(finder.hits) < HITS_LIMIT:
        page = reader.steps(trial.id, after, PAGE_OF_STEPS)
        for step in page:
            finder.step(step, first=after == 0 and step is page[0])
            if stopped() or len(finder.hits) >= HITS_LIMIT:
                break
        if len(page) < PAGE_OF_STEPS:
            break
        after = page[-1].number
    if not stopped():
        finder.add(0, "README", finder.blob(trial.readme_blob))
        finder.add(0, "Metadata", finder.blob(trial.metadata_blob))
    return Found(needle, tuple(finder.hits[:HITS_LIMIT]), len(finder.hits) > HITS_LIMIT)


class _Finder:
    def __init__(self, reader: SessionReader, needle: str) -> None:
        self.hits: list[Hit] = []
        self._reader = reader
        self._needle = needle
        self._fold = needle == needle.lower()
        self._known: dict[str, list[int]] = {}

    def step(self, step: StepRow, *, first: bool) -> None:
        if first and step.call_id is not None:
            self._messages(step)
        thought, action = split_answer(self._text(step.answer_blob))
        row = f"{step.action} {step.target} {step.problem or ''}"
        at_thought, at_action = self._places(thought), self._places(action)
        # What is only in the row (a target without an answer) leads to the step without a tab of its own.
        if not at_thought and not at_action and self._places(row):
            self.hits.append(Hit(step.number, "Action", 0, 0))
        self._append(step.number, "Thought", at_thought)
        self._append(step.number, "Action", at_action)
        self.add(step.number, "Observation", self.blob(step.observation_blob))

    def add(self, step: int, tab: str, places: list[int]) -> None:
        self._append(step, tab, places)

    def blob(self, digest: str | None) -> list[int]:
        """Return the places of the needle in a blob, remembered by its digest."""
        if digest is None:
            return []
        found = self._known.get(digest)
        if found is None:
            found = self._known[digest] = self._places(self._text(digest))
        return found

    def _messages(self, step: StepRow) -> None:
        call = self._reader.call(step.call_id or 0)
        if call is None:
            return
        ordinal = 0
        for _, digest in self._reader.message_digests(call):
            for place in self.blob(digest):
                self.hits.append(Hit(step.number, "Raw", ordinal, place))
                ordinal += 1

    def _append(self, step: int, tab: str, places: list[int]) -> None:
        self.hits.extend(Hit(step, tab, ordinal, place) for ordinal, place in enumerate(places))

    def _places(self, text: str) -> list[int]:
        text = prepared(text)
        if self._fold:
            text = text.lower()
        places: list[int] = []
        at = text.find(self._needle)
        while at >= 0 and len(places) < HITS_LIMIT:
            places.append(at)
            at = text.find(self._needle, at + len(self._needle))
        return places

    def _text(self, digest: str | None) -> str:
        return self._reader.kept(digest, "a text of this trial") or ""
