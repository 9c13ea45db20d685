"""The head over two groups: pass@k of each, over all of its tasks and over those of both; no widget in sight."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.app.compare.wording import NOTHING, change, of_change
from workbench.app.toolkit.virtual_view import Part, fit
from workbench.comparison import GroupComparison, GroupSide, Tally
from workbench.regeneration.passk import Estimate
from workbench.text import one_line, shortened

_TASKS, _SAMPLES, _ALL, _COMMON = 6, 8, 20, 8
_NARROW = 7  # of a value without its interval
_LEAST = 20


def head_of(comparison: GroupComparison, note: str, width: int) -> list[list[Part]]:
    """Return five lines: titles, A, B, the difference over the tasks of both, and how many tasks each wins.

    Args:
        comparison: What is compared.
        note: What else is to be said, "" for nothing.
        width: Cells that there are.
    """
    ks = list(comparison.ks)
    wide = _ALL
    fixed = 3 + _TASKS + _SAMPLES
    if fixed + _LEAST + len(ks) * (wide + _COMMON) > width:
        wide = _NARROW
    while len(ks) > 1 and fixed + _LEAST + len(ks) * (wide + _COMMON) > width:
        ks.pop()
    room = max(8, width - fixed - len(ks) * (wide + _COMMON))
    titles = "".join(fit(f"pass@{k}", wide, right=True) for k in ks)
    titles += "".join(fit(f"both @{k}", _COMMON, right=True) for k in ks)
    lines: list[list[Part]] = [
        [
            (
                f"   {fit(shared(comparison, room), room)}{fit('tasks', _TASKS, right=True)}{fit('samples', _SAMPLES, right=True)}{titles}",
                "dim",
            )
        ]
    ]
    for key, side, other in (("A", comparison.left, comparison.right), ("B", comparison.right, comparison.left)):
        outcome = side.outcome
        pass_at = {one.k: one for one in outcome.figures.pass_at}
        parts: list[Part] = [
            (f" {key} ", "only-a" if key == "A" else "only-b"),
            (fit(shortened(name_of(side, other), room - 1), room), "strong"),
            (fit(f"{outcome.figures.tasks:,}", _TASKS, right=True), ""),
            (fit(f"{outcome.totals.samples:,}", _SAMPLES, right=True), ""),
        ]
        parts += [(fit(_estimate(pass_at.get(k), whole=wide == _ALL), wide, right=True), "score") for k in ks]
        tallies = {one.k: one for one in comparison.tallies}
        parts += [
            (fit(_value(tallies[k].left if key == "A" else tallies[k].right), _COMMON, right=True), "") for k in ks
        ]
        lines.append(parts)
    label = 3 + room + _TASKS + _SAMPLES + len(ks) * wide
    said = f"   B − A   over the {comparison.common:,} tasks of both"
    bounds = bounds_in_words(comparison.tallies[: len(ks)], label - len(said))
    if not bounds:
        short = f"   B − A   {comparison.common:,} in both"
        bounds = bounds_in_words(comparison.tallies[: len(ks)], label - len(short))
        said = short if bounds else said
    said += bounds
    gaps: list[Part] = [(fit(said, label), "dim")]
    for one in comparison.tallies[: len(ks)]:
        gaps.append(
            (fit(change(one.difference, 2) or NOTHING, _COMMON, right=True), of_change(one.difference) or "strong")
        )
    return [
        *lines,
        gaps,
        [(fit(f"   {one_line(' · '.join(filter(None, (tallies_in_words(comparison), note))), 400)}", width), "")],
    ]


def shared(comparison: GroupComparison, width: int) -> str:
    """Return by what the two differ."""
    names = [what for what, _, _ in comparison.conditions]
    return shortened(f"differ in: {', '.join(names)}" if names else "made alike", max(1, width - 1))


def name_of(side: GroupSide, other: GroupSide) -> str:
    """Return the evaluator with whatever else tells the two apart."""
    mine, theirs = side.group, other.group
    parts = [mine.evaluator]
    for field in ("docs_words", "prompt", "context", "settings"):
        if getattr(mine, field) != getattr(theirs, field):
            parts.append(f"docs {mine.docs_words}" if field == "docs_words" else getattr(mine, field) or f"no {field}")
    if side.run.id != other.run.id:
        parts.append(f"run {side.run.name or side.run.id}")
    if side.session != other.session:
        parts.append(side.session)
    return one_line(" · ".join(parts), 200)


def tallies_in_words(comparison: GroupComparison) -> str:
    """Return what marks each side's figures, then ``pass@1: B wins 4, ties 30, loses 2``, for each k, and what is in no figure."""
    sides = (("A", comparison.left), ("B", comparison.right))
    parts = [f"{key} {', '.join(marks)}" for key, side in sides if (marks := side.outcome.marks)]
    for one in comparison.tallies:
        left_out = f", {one.undefined:,} with fewer samples" if one.undefined else ""
        parts.append(f"pass@{one.k}: B wins {one.wins:,}, ties {one.ties:,}, loses {one.losses:,}{left_out}")
    if comparison.other_snapshot:
        parts.append("other snapshots: joined by file and function")
    return " · ".join(parts)


def tasks_in_words(comparison: GroupComparison) -> str:
    """Return how many tasks both have, and how many only one has."""
    return f"{comparison.common:,} in both · only A {comparison.only_left:,} · only B {comparison.only_right:,}"


def _estimate(one: Estimate | None, *, whole: bool) -> str:
    if one is None or one.value is None:
        return NOTHING
    if not whole or one.low is None or one.high is None:
        return f"{one.value:.2f}"
    return f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]"


def bounds_in_words(tallies: Sequence[Tally], width: int) -> str:
    """Return `` @1 [−0.58, +0.37] @3 [−0.75, +0.71] over 4 files``: of as many k as there is room for, "" for none."""
    known = [one for one in tallies if one.interval.low is not None]
    while known:
        bounds = (f" @{one.k} [{change(one.interval.low, 2)}, {change(one.interval.high, 2)}]" for one in known)
        said = "".join(bounds) + f" {known[0].interval.over}"
        if len(said) < width:
            return said
        known.pop()
    return ""


def _value(one: Estimate) -> str:
    return NOTHING if one.value is None else f"{one.value:.2f}"
