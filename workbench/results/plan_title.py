"""A run in a few words, from its plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from workbench.base.text import one_line, plural
from workbench.session.groups import planned_docs

if TYPE_CHECKING:
    from workbench.session.rows import RunRow

_NAMED = 2  # cases that are named before the others are counted


def plan_title(run: RunRow) -> str:
    """Return what was asked for on one line; a damaged plan gives the kind of the run alone.

    ``word_counter × 3 · white · gpt-4o``, ``score 12 trials · aeo-bench, strict · offline``, ``check 12 READMEs``, or
    ``word_counter · docs original · gpt-5-mini × 3``.
    """
    plan = run.plan
    if run.kind == "regenerate":
        said = _regenerate(plan)
    elif plan.get("check_only"):
        said = _check(plan)
    elif plan.get("rescore") and not plan.get("cases"):
        said = _score(plan)
    else:
        said = _document(plan)
    return " · ".join(part for part in said if part) or run.kind


def _document(plan: Mapping[str, Any]) -> list[str]:
    cases = [source_name(case) for case in _texts(plan.get("cases"))]
    named, more = cases[:_NAMED], len(cases) - _NAMED
    said = ", ".join(named) + (f" and {more:,} more" if more > 0 else "")
    repeats = plan.get("repeats")
    times = f" × {repeats}" if isinstance(repeats, int) and repeats > 1 else ""
    of, step = _text(plan.get("fork_of")), plan.get("fork_step")
    fork = f"fork of {of[:8]} at step {step}" if of else ""
    return [f"{said}{times}" if said else "", fork, _text(plan.get("agent")), _text(plan.get("model"))]


def _check(plan: Mapping[str, Any]) -> list[str]:
    count, block = len(_texts(plan.get("trials"))), plan.get("check_again")
    again = "one block once more" if isinstance(block, int) and block >= 0 else ""
    only = "claims only" if plan.get("check") == "claims" else ""
    return [f"check {plural(count, 'README')}", again, only]


def _score(plan: Mapping[str, Any]) -> list[str]:
    count = len(_texts(plan.get("trials")))
    judges = _texts(plan.get("judges")) or _texts([plan.get("judge")])
    noun = "trial" if count == 1 else "trials"
    return [f"score {count:,} {noun}", ", ".join(_texts(plan.get("rubrics"))), ", ".join(judges)]


def _regenerate(plan: Mapping[str, Any]) -> list[str]:
    docs, asks = _text(planned_docs(plan)), plan.get("asks")
    listed: list[Mapping[str, Any]] = [ask for ask in asks if isinstance(ask, dict)] if isinstance(asks, list) else []
    most: dict[str, int] = {}
    for ask in listed or (plan,):
        evaluator, samples = _text(ask.get("evaluator")), ask.get("samples")
        if evaluator:
            most[evaluator] = max(most.get(evaluator, 0), samples if isinstance(samples, int) else 0)
    asked = [f"{evaluator} × {samples}" if samples > 1 else evaluator for evaluator, samples in most.items()]
    return [source_name(_text(plan.get("source"))), f"docs {docs}" if docs else "", ", ".join(asked)]


def source_name(source: str) -> str:
    return PurePath(source.rstrip("/")).name or source


def _text(value: object) -> str:
    return one_line(value, 200) if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [text for one in value if (text := _text(one))] if isinstance(value, list) else []
