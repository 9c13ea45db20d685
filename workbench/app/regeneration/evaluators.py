"""The evaluators of a run side by side: whose samples there are, how many are decided, and whose name tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.sample_counts import SampleCount


@dataclass(frozen=True, slots=True)
class EvaluatorProgress:
    """How far one group of a run is: ``decided`` of ``total`` samples have a verdict.

    ``group`` is None where something was asked for and has no sample yet; ``name`` is the evaluator's, with what tells the
    group from others of that evaluator.
    """

    evaluator: str
    name: str
    group: Group | None = None
    decided: int = 0
    total: int = 0


def progress_of(counts: Iterable[SampleCount], plan: Mapping[str, Any]) -> tuple[EvaluatorProgress, ...]:
    """Return the progress of everything that was asked for or has samples, controls left out.

    It is in the order in which it was asked, which does not change while samples come in.

    Args:
        counts: The samples of the run.
        plan: The decoded plan of the run.
    """
    sums: dict[Group, list[int]] = {}
    for row in counts:
        if not row.control:
            mine = sums.setdefault(row.group, [0, 0])
            if not row.excluded:
                mine[0] += row.count if row.verdict else 0
                mine[1] += row.count
    places: dict[Group, int] = {}
    empty: list[tuple[int, str]] = []
    asks = _asks(plan)
    for place, ask in enumerate(asks):
        fitting = [group for group in sums if _fits(group, ask)]
        for group in fitting:
            places.setdefault(group, place)
        if not fitting:
            empty.append((place, ask[0]))
    rows = [
        (places.get(group, len(asks)), EvaluatorProgress(group.evaluator, group.name(sums), group, *sums[group]))
        for group in sorted(sums)
    ]
    rows += [(place, EvaluatorProgress(evaluator, evaluator)) for place, evaluator in empty]
    return tuple(row for _, row in sorted(rows, key=lambda one: one[0]))


def short_names(rows: Iterable[EvaluatorProgress]) -> list[str]:
    """Return a short name for each row, the whole one where two would be called alike."""
    listed = list(rows)
    short = [short_name(row.evaluator, row.name) for row in listed]
    return [
        one_line(row.name, 40) if short.count(brief) > 1 else brief for row, brief in zip(listed, short, strict=True)
    ]


def short_name(evaluator: str, name: str) -> str:
    """Return the name of a group with the short name of its evaluator."""
    return one_line(model_name(evaluator) + name.removeprefix(evaluator), 100)


def model_name(model: str) -> str:
    """Return a model's name as it fits a header: ``openai/gpt-5-mini`` is ``gpt-5-mini``."""
    if model.startswith("local"):
        return "local"
    if model.startswith("replay:"):
        return "replay:" + model.rpartition("/")[2].removesuffix(".session")
    return one_line(model.rpartition("/")[2] or model, 40)


def _asks(plan: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return (evaluator, prompt, context) of everything that was asked for, what cannot be read left out."""
    listed = plan.get("asks")
    asks = [ask for ask in listed if isinstance(ask, dict)] if isinstance(listed, list) else []
    said = [tuple(str(ask.get(key) or "") for key in ("evaluator", "prompt", "context")) for ask in asks]
    return [(one[0], one[1], one[2]) for one in dict.fromkeys(said) if one[0]]


def _fits(group: Group, ask: tuple[str, str, str]) -> bool:
    # Samples of older files may not say how they were asked for.
    return (group.evaluator == ask[0] and ("", "") in ((group.prompt, group.context), ask[1:])) or (
        (group.evaluator, group.prompt, group.context) == ask
    )
