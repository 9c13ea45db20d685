"""One plan for a run that is in several sessions: everything that was asked for, each once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from workbench.engine.plan import Acceptance, Ask, PlanDamaged, RegenerationPlan, same_but_samples

_WEIGHT = ("running", "queued", "failed", "cancelled", "done")
"""States of a run, that in which most is missing first."""


def joined_state(one: str, other: str) -> str:
    """Return the state of a run that is in one state here and in another there: that in which more is missing."""
    return min(one, other, key=_WEIGHT.index)


def joined_plan(one: str, other: str, more: Mapping[tuple[str, str], int]) -> str:
    """Return the JSON text of a regeneration plan that asks for all that two plans ask for.

    ``more`` says by evaluator and prompt version how many samples a task has once the samples of the other run count on from those
    of the first; each ask of the other plan is for at least as many.

    Raises:
        PlanDamaged: A plan cannot be read.
    """
    mine, theirs = RegenerationPlan.from_json(one), RegenerationPlan.from_json(other)
    raised = [_raised(ask, more) for ask in theirs.asks]
    taken = [replace(each, ask=_raised(each.ask, more)) for each in theirs.acceptances]
    plan = replace(
        mine,
        asks=_union(mine.asks, raised),
        acceptances=_accepted(mine.acceptances, taken),
        k=tuple(sorted({*mine.k, *theirs.k})),
        lasting=mine.lasting and theirs.lasting,
    )
    return json.dumps(plan.to_json(), ensure_ascii=False, sort_keys=True)


def renamed_trials(config: str, names: Mapping[str, str]) -> str:
    """Return a document run's plan with the trials that it names under their new names."""
    try:
        plan = json.loads(config)
    except (ValueError, RecursionError):
        return config
    if not isinstance(plan, dict) or not isinstance(plan.get("trials"), list):
        return config
    trials = [names.get(one, one) if isinstance(one, str) else one for one in plan["trials"]]
    return (
        config
        if trials == plan["trials"]
        else json.dumps({**plan, "trials": trials}, ensure_ascii=False, sort_keys=True)
    )


def is_readable(config: str) -> bool:
    """Return whether a regeneration plan can be read."""
    try:
        RegenerationPlan.from_json(config)
    except PlanDamaged:
        return False
    return True


def _raised(ask: Ask, more: Mapping[tuple[str, str], int]) -> Ask:
    wanted = more.get((ask.evaluator, ask.prompt_version), 0)
    return replace(ask, samples=max(ask.samples, wanted)) if ask.samples else ask


def _union(mine: tuple[Ask, ...], theirs: list[Ask]) -> tuple[Ask, ...]:
    asks = list(mine)
    for ask in theirs:
        at = next((place for place, known in enumerate(asks) if same_but_samples(known, ask)), None)
        if at is None:
            asks.append(ask)
        elif asks[at].samples and (not ask.samples or ask.samples > asks[at].samples):
            asks[at] = ask
    return tuple(asks)


def _accepted(mine: tuple[Acceptance, ...], theirs: list[Acceptance]) -> tuple[Acceptance, ...]:
    return (*mine, *(one for one in theirs if one not in mine))
