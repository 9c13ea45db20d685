"""What a fork inherits: the recorded answers of its parent's first steps, given through the same agent code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from workbench.errors import WorkbenchError
from workbench.models.types import Answer, Request

INHERITED = "inherited"
"""The source of an answer that was recorded in the trial that a fork comes from; it is not paid again."""


class ForkDiverged(WorkbenchError):
    """The agent asked something else than its parent did before the step from which the fork goes on."""


@dataclass(frozen=True, slots=True)
class Given:
    """A recorded answer: the call that it is from, the digest of its request, and what is said to the agent."""

    call: int
    digest: str
    answer: Answer


@dataclass(slots=True)
class Inherited:
    """The first steps of a fork. Answers are found by the identity of their request, so any agent can be forked.

    Attributes:
        parent: Identity of the trial that it comes from.
        step: The last step that is inherited; after it the model is asked.
        given: The answers up to that step in the order in which they came, an edited one already replaced.
        observations: Text by step of the observations that were replaced.
        edited: ``message`` or ``observation`` where the last inherited step was changed, else "".
        edited_call: The call whose answer was replaced, None for none.
        took: Called with the call of each answer that is given.
    """

    parent: str
    step: int
    given: tuple[Given, ...]
    observations: Mapping[int, str] = field(default_factory=dict)
    edited: str = ""
    edited_call: int | None = None
    took: Callable[[int], None] = lambda call: None
    _left: dict[str, list[Given]] = field(default_factory=dict)
    _applied: bool = False
    _diverged: bool = False

    def __post_init__(self) -> None:
        for one in self.given:
            self._left.setdefault(one.digest, []).append(one)

    def answer(self, request: Request) -> Answer:
        """Return what the parent was answered to this request.

        Raises:
            ForkDiverged: The parent never asked this, or not so often.
        """
        waiting = self._left.get(request.digest)
        if not waiting or self._diverged:
            raise self._other("the agent asks something else than it did then")
        found = waiting.pop(0)
        self._applied = self._applied or found.call == self.edited_call
        self.took(found.call)
        return replace(found.answer, source=INHERITED)

    def observation(self, number: int, text: str) -> str:
        """Return what the agent is told at a step: ``text``, or what was written instead."""
        if number not in self.observations:
            return text
        self._applied = self._applied or number == self.step
        return self.observations[number]

    def check(self, number: int) -> None:
        """Make sure that a step which is about to be recorded as the last inherited one has its edit.

        Raises:
            ForkDiverged: It has not: the agent did something else at that step.
        """
        if number == self.step and self.edited and not self._applied:
            raise self._other(f"the agent did something else at step {number} than it did then")

    def check_reached(self, steps: int) -> None:
        """Make sure that the agent came as far as the last inherited step.

        Raises:
            ForkDiverged: It ended before.
        """
        if steps < self.step:
            raise self._other(f"the agent ended after {steps} of the {self.step} inherited steps")

    def _other(self, why: str) -> ForkDiverged:
        self._diverged = True
        return ForkDiverged(
            f"The fork does not start, because the recorded steps of trial {self.parent} cannot be repeated: {why}. "
            "The agent, its prompts or the repository are not what they were."
        )
