"""The inherited steps of a fork: recorded answers of its parent, given through the same agent code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from workbench.base.errors import WorkbenchError
from workbench.models.types import Answer, Request

INHERITED = "inherited"
"""The source of an answer that was recorded in the trial that a fork comes from; it is not paid again."""


class ForkDiverged(WorkbenchError):
    """The agent asked something else than its parent did before the step from which the fork continues."""


@dataclass(frozen=True, slots=True)
class Given:
    """A recorded answer: its call, the digest of its request, and its text."""

    call: int
    digest: str
    answer: Answer


@dataclass(slots=True)
class Inherited:
    """The first steps of a fork. Answers are found by the identity of their request, so any agent can be forked."""

    parent: str  # identity of the trial that it comes from
    step: int  # the last inherited step; after it the model is asked
    given: tuple[Given, ...]  # answers up to that step in order, an edited one already replaced
    observations: Mapping[int, str] = field(default_factory=dict)  # replaced ones: text by step
    edited: str = ""  # ``message`` or ``observation`` of the last inherited step, or ""
    edited_call: int | None = None  # the call whose answer was replaced
    took: Callable[[int], None] = lambda call: None  # called with the call of each answer that is given
    _left: dict[str, list[Given]] = field(default_factory=dict)
    _applied: bool = False
    _diverged: bool = False

    def __post_init__(self) -> None:
        for one in self.given:
            self._left.setdefault(one.digest, []).append(one)

    def answer(self, request: Request) -> Answer:
        """Return the parent's answer to this request. ForkDiverged: it never asked this, or not so often."""
        waiting = self._left.get(request.digest)
        if not waiting or self._diverged:
            raise self._other("the agent asks something else than it did then")
        found = waiting.pop(0)
        self._applied = self._applied or found.call == self.edited_call
        self.took(found.call)
        return replace(found.answer, source=INHERITED)

    def observation(self, number: int, text: str) -> str:
        """Return the observation of a step: ``text`` or its replacement."""
        if number not in self.observations:
            return text
        self._applied = self._applied or number == self.step
        return self.observations[number]

    def check(self, number: int) -> None:
        """Raise ForkDiverged if the last inherited step, about to be recorded, lacks its edit."""
        if number == self.step and self.edited and not self._applied:
            raise self._other(f"the agent did something else at step {number} than it did then")

    def check_reached(self, steps: int) -> None:
        """Raise ForkDiverged if the agent ended before the last inherited step."""
        if steps < self.step:
            raise self._other(f"the agent ended after {steps} of the {self.step} inherited steps")

    def _other(self, why: str) -> ForkDiverged:
        self._diverged = True
        return ForkDiverged(
            f"The fork does not start, because the recorded steps of trial {self.parent} cannot be repeated: {why}. "
            "The agent, its prompts or the repository are not what they were."
        )
