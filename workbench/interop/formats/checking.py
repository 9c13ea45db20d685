"""Rebuild our objects from foreign values, and check them value by value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.base.glyphs import VERDICTS
from workbench.interop.formats.problems import ForeignProblem, amount_of, count_of
from workbench.interop.formats.samples import ForeignCandidate, ForeignTask
from workbench.interop.formats.trajectory import OWN, Step, Trajectory, from_head, step_from_json, to_json


def difference(before: Any, after: Any) -> dict[str, Any] | None:
    """Return what turns ``before`` into ``after``; None if they are equal, types included (1 is not 1.0, nor True)."""
    if isinstance(before, dict) and isinstance(after, dict):
        inner = {
            key: {"=": value} if key not in before else found
            for key, value in after.items()
            if key not in before or (found := difference(before[key], value)) is not None
        }
        gone = [key for key in before if key not in after]
        if not inner and not gone:
            return None
        return {"d": inner, "-": gone} if gone else {"d": inner}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        items = {
            str(index): found
            for index, (one, other) in enumerate(zip(before, after, strict=True))
            if (found := difference(one, other)) is not None
        }
        return {"l": items} if items else None
    if type(before) is type(after) and before == after:
        return None
    return {"=": after}


def patched(before: Any, change: dict[str, Any] | None) -> Any:
    if change is None:
        return before
    if "=" in change:
        return change["="]
    if "l" in change:
        items = list(before)
        for index, inner in change["l"].items():
            items[int(index)] = patched(items[int(index)], inner)
        return items
    gone = set(change.get("-", ()))
    kept = {key: value for key, value in before.items() if key not in gone}
    return {**kept, **{key: patched(before.get(key), inner) for key, inner in change["d"].items()}}


CHANGED = "difference"


def restored(plain: Trajectory, ours: Mapping[str, Any]) -> Trajectory:
    """Return the trajectory that the workbench wrote, from a format's content and the difference beside it."""
    own = {key: value for key, value in ours.items() if key != CHANGED}
    try:
        values = patched(without_own(to_json(plain)), ours.get(CHANGED))
        steps = [step_from_json(one) for one in values.pop("steps")]
        found = from_head(values, steps)
        sound = not unsound_place(found)
    except (LookupError, TypeError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise ForeignProblem("holds notes of the workbench that do not fit it")
    return replace(found, extra={**found.extra, **({OWN: own} if own else {})})


def without_own(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "extra": {key: value for key, value in values["extra"].items() if key != OWN}}


def unsound_place(trajectory: Trajectory) -> str:
    """Return where a trajectory has a value of a wrong kind, ``its head`` or ``step 3``; "" if all fit."""
    try:
        if not _is_sound_head(trajectory):
            return "its head"
        if not isinstance(trajectory.steps, list | tuple):
            return "its list of steps"
        numbered = enumerate(trajectory.steps, 1)
        return next((f"step {number}" for number, step in numbered if not _is_sound_step(step)), "")
    except (TypeError, AttributeError):  # something else where a list or one of our classes must be
        return "one of its lists"


def unsound_sample(sample: ForeignTask | ForeignCandidate) -> str:
    if isinstance(sample, ForeignTask):
        texts: tuple[object, ...] = (sample.name, sample.path, sample.function, sample.origin)
        optional: tuple[object, ...] = (sample.source, sample.body, sample.doc)
        lists = isinstance(sample.tests, tuple) and all(isinstance(one, str) for one in sample.tests)
        if not lists or count_of(sample.test_count) is None:
            return "its tests are no tuple of texts with their count"
    else:
        texts, optional = (sample.task, sample.evaluator, sample.text), (sample.verdict, sample.reason)
        if sample.verdict is not None and sample.verdict not in VERDICTS:
            return f"its verdict is none of {', '.join(VERDICTS)}"
        if not isinstance(sample.failing, tuple) or not all(map(_is_failing, sample.failing)):
            return "its failing tests are no pairs of texts"
    if not all(isinstance(one, str) for one in texts) or not all(
        one is None or isinstance(one, str) for one in optional
    ):
        return "one of its texts is none"
    return "" if _is_json(sample.extra) else "its extra is no JSON object"


def _is_failing(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(one, str) for one in value)


def _is_json(value: object) -> bool:
    try:
        return isinstance(value, dict) and bool(json.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return False


def _is_sound_head(trajectory: Trajectory) -> bool:
    texts = (trajectory.agent, trajectory.version, trajectory.model, trajectory.task, trajectory.problem)
    totals = trajectory.totals
    return (
        all(isinstance(one, str) for one in texts)
        and (trajectory.submission is None or isinstance(trajectory.submission, str))
        and count_of(trajectory.repeat) is not None
        and all(one is None or count_of(one) is not None for one in (totals.prompt_tokens, totals.completion_tokens))
        and all(one is None or amount_of(one) is not None for one in (totals.cost_usd, trajectory.seconds))
        and isinstance(trajectory.extra, dict)
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
