"""Texts for points, states, verdicts, plans and remarks; "–" means unknown, "?" means unscored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base import glyphs
from workbench.base.text import NOTHING, decoded, fixed, share, when
from workbench.pages.page import Note
from workbench.results.spread import own_points
from workbench.session import json_forms
from workbench.session.labels import part_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbench.regeneration.passk import PassEstimate
    from workbench.results.contents import Contents, Regenerated
    from workbench.results.spread import Total
    from workbench.rubric.scorecard import Evidence
    from workbench.session.rows import CandidateRow, FormerVerdictRow

CELLS = f"A cell per sample: {glyphs.legend((*glyphs.VERDICTS.values(), glyphs.RUNNING, glyphs.WAITING, glyphs.FORMER, glyphs.DOUBTFUL))}."
FORMER_WORDS = glyphs.WORDS[glyphs.FORMER]
_PLAN_FIRST = (
    "cases", "source", "agent", "model", "docs", "docs_scope", "evaluator", "evaluators", "samples", "k", "judge",
)  # fmt: skip


def points(value: float | None) -> str:
    """Return points with at most one decimal, or ``?`` if unscored."""
    if value is None:
        return "?"
    return f"{value:.1f}".removesuffix(".0")


def of(value: float | None, maximum: float | None) -> str:
    """Return a text such as ``64.2 / 100``, or ``?`` if unscored."""
    return "?" if value is None else f"{points(value)} / {points(maximum)}"


def score(total: float | None, out_of: float, by_format: float | None) -> str:
    """Return ``64.2 / 100``; if the format earned more than a tenth of it, the model's own points come first."""
    whole = ", ".join(filter(None, (of(total, out_of), given(by_format))))
    own = own_points(total, out_of, by_format)
    return whole if own is None else f"{of(*own)} own points; overall {whole}"


def own_first(total: Total) -> str:
    """Return ``82 / 100``; if the format earned more than a tenth of it, the model's own points come first."""
    whole = of(total.points, total.out_of)
    return f"{of(*total.own)} own, {whole}" if total.own else whole


def given(value: object) -> str | None:
    """Return ``40 of it by the format``: the points that the grammar of an answer guaranteed.

    None if there are no such points.
    """
    amount = json_forms.number(value)
    return None if amount is None else f"{points(amount)} of it by the format"


def tokens(prompt: int | None, completion: int | None) -> str:
    """Return prompt and completion tokens as ``1,200 + 80``, or "" if both are unknown."""
    return "" if prompt is None and completion is None else f"{fixed(prompt)} + {fixed(completion)}"


def state(name: str) -> str:
    word = "waiting" if name == "queued" else name
    return f"{glyphs.STATES[name]} {word}" if name in glyphs.STATES else name


def verdict(name: str | None) -> str:
    return NOTHING if name is None else f"{glyphs.VERDICTS.get(name, '?')} {name}"


def evidence(one: Evidence) -> str:
    """Return a text such as ``file a.py:3: text``."""
    place = one.path or ""
    if one.line is not None:
        place = f"{place}:{one.line}" if place else f"line {one.line}"
    return f"{one.kind} {place}: {one.text}" if place else f"{one.kind}: {one.text}"


def plan_words(config: str) -> str:
    """Return a run's plan on one line, without empty values and the settings of checks that were not ordered."""
    plan = decoded(config)
    return _plan_words(plan) if isinstance(plan, dict) else str(plan)


def _plan_words(plan: Mapping[str, Any]) -> str:
    parts = []
    for key in sorted(plan, key=lambda name: _PLAN_FIRST.index(name) if name in _PLAN_FIRST else len(_PLAN_FIRST)):
        value = plan[key]
        if key == "asks":
            # The plan's own keys repeat the last ask; if there are several asks, they are listed.
            asks = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
            named = ("evaluator", "context") if "page_digests" in plan else ("evaluator",)
            titles = [" ".join(str(one.get(name)) for name in named if one.get(name)) for one in asks]
            value = (
                [f"{name} × {one.get('samples')}" for name, one in zip(titles, asks, strict=True)] if asks[1:] else []
            )
        if (
            value is True
            or key in ("acceptances", "trials", "page_digests")
            or (key.startswith("check_") and not plan.get("check"))
        ):
            continue
        if value in (None, "", 0, 0.0, -1, [], {}, False) or (key.endswith(("repeats", "repeat")) and value == 1):
            continue
        if isinstance(value, list):
            words = ", ".join(str(item) for item in value)
        elif isinstance(value, dict):
            words = _plan_words(value)
        else:
            words = str(value)
        parts.append(f"{key.replace('_', ' ')} {words}")
    return " · ".join(parts)


# -- samples and their figures


def stands_words(candidate: CandidateRow) -> str:
    if candidate.verdict is None:
        return state(candidate.state)
    words = verdict(candidate.verdict) + (f", {FORMER_WORDS}" if candidate.retesting else "")
    return words + (f", doubtful: {candidate.doubtful}" if candidate.doubtful else "")


def former_words(former: FormerVerdictRow) -> str:
    """Return a text such as ``✗ failed on 2026-11-22 16:20 UTC, hot, 0.03 s: 1 of 14 tests failed.``."""
    seconds = "" if former.tested_s is None else f"{former.tested_s:.2f} s"
    parts = filter(None, (f"{verdict(former.verdict)} on {when(former.at)}", former.route, seconds))
    return ", ".join(parts) + (f": {former.verdict_reason}" if former.verdict_reason else "")


def estimate_words(estimate: PassEstimate) -> str:
    """Return a text such as ``0.58 [0.41, 0.73] over 12 files``, or "–" if no task has k samples."""
    if estimate.value is None:
        return NOTHING
    if estimate.interval is None or estimate.low is None or estimate.high is None:
        return share(estimate.value)
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}] {estimate.interval.over}"


def interval_notes(outcome: Regenerated) -> list[str]:
    """Return the rules and units of a run's intervals, or the reasons for missing intervals, without duplicates."""
    estimates = (estimate for group in outcome.groups for estimate in group.figures.pass_at)
    return list(dict.fromkeys(one.interval.words for one in estimates if one.interval and one.value is not None))


def verdict_words(verdicts: Mapping[str, int]) -> str:
    """Return a text such as ``✓ passed 31 · ✗ failed 12``."""
    known = [name for name in glyphs.VERDICTS if verdicts.get(name)]
    others = [name for name in verdicts if name not in glyphs.VERDICTS]
    return " · ".join(f"{verdict(name)} {verdicts[name]}" for name in [*known, *others]) or NOTHING


def remarks(contents: Contents, item: str, step: int | None = None) -> Iterator[Note]:
    """Yield the tags of an item and people's remarks on it, or only the remarks on one step."""
    if step is None and (tags := contents.all_tags(item)):
        yield Note(f"Tags: {tags}", "remark")
    for remark in contents.remarks(item):
        if step is None or remark.step == step:
            place = f" on {part_in_words(remark.of)}" if remark.of else ""
            yield Note(f"Remark{place}: {remark.text}", "remark")
