"""A trajectory whose parts came out of a file's own notes: put together again, and checked value by value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.interchange.difference import patched
from workbench.interchange.problems import ForeignProblem, amount_of, count_of
from workbench.interchange.trajectory import OWN, Step, Trajectory, from_head, step_from_json, to_json

CHANGED = "difference"


def restored(plain: Trajectory, ours: Mapping[str, Any]) -> Trajectory:
    """Return the trajectory that the workbench wrote, from what a format could say of it and the difference beside it.

    Args:
        plain: What was read from the format's own places.
        ours: What stood under the workbench's name: ``difference``, and the own extra.

    Raises:
        ForeignProblem: The difference does not fit.
    """
    own = {key: value for key, value in ours.items() if key != CHANGED}
    try:
        values = patched(without_own(to_json(plain)), ours.get(CHANGED))
        steps = [step_from_json(one) for one in values.pop("steps")]
        found = from_head(values, steps)
        sound = _is_sound(found)
    except (LookupError, TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise ForeignProblem("holds notes of the workbench that do not fit it")
    return replace(found, extra={**found.extra, **({OWN: own} if own else {})})


def without_own(values: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a trajectory without the own extra of its head."""
    return {**values, "extra": {key: value for key, value in values["extra"].items() if key != OWN}}


def _is_sound(trajectory: Trajectory) -> bool:
    texts = (trajectory.agent, trajectory.version, trajectory.model, trajectory.task, trajectory.problem)
    totals = trajectory.totals
    return (
        all(isinstance(one, str) for one in texts)
        and count_of(trajectory.repeat) is not None
        and all(one is None or count_of(one) is not None for one in (totals.prompt_tokens, totals.completion_tokens))
        and all(one is None or amount_of(one) is not None for one in (totals.cost_usd, trajectory.seconds))
        and isinstance(trajectory.extra, dict)
        and all(_is_sound_step(step) for step in trajectory.steps)
    )


def _is_sound_step(step: Step) -> bool:
    counts = (step.prompt_tokens, step.completion_tokens, step.cached_tokens)
    optional = (step.reasoning, step.model, step.at)
    return (
        step.source in {"system", "user", "agent"}
        and isinstance(step.text, str)
        and isinstance(step.extra, dict)
        and all(one is None or isinstance(one, str) for one in optional)
        and all(one is None or count_of(one) is not None for one in counts)
        and all(one is None or amount_of(one) is not None for one in (step.cost_usd, step.seconds))
        and all(
            isinstance(one.name, str) and isinstance(one.id, str) and isinstance(one.arguments, dict)
            for one in step.calls
        )
        and all(isinstance(one.text, str) and isinstance(one.extra, dict) for one in step.results or ())
    )
