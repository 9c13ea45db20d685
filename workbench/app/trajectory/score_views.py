"""Other ways to look at a trial's scores: what it would take to have all points, and all rubrics and judges side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.document import Document, Line, prepared
from workbench.app.trajectory.scores import judge_of, points
from workbench.comparison.criteria import join_criteria
from workbench.comparison.panes import difference
from workbench.rubric.scorecard import missing_points
from workbench.session.json_forms import TIER_NAMES
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.comparison.criteria import CriterionPair
    from workbench.rubric.scorecard import Criterion, Scorecard
    from workbench.rubric.spread import PointSpread

VIEWS = ("criteria", "what it takes", "side by side")
Scale = tuple[str, str]
"""Rubric and judge."""
Sum = tuple[float | None, float]
"""Points of a tier, None where one of its criteria is unscored, and what they are out of."""
_POINTS, _GAP, _SPREAD, _LEAST = 8, 6, 11, 14


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A row: its pieces, and the criterion that it is about as (tier, key), None for none."""

    parts: tuple[tuple[str, str], ...]
    about: tuple[int, str] | None = None
    head: bool = False


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in rows of at most so many cells."""
    return [text[row.start : row.end].rstrip() for row in Document((Line(text),), text).rows(max(10, width))]


def what_it_takes(card: Scorecard, width: int) -> list[ViewRow]:
    """Return the missing points by size, each with its reason in full and what the score would be with it."""
    missing = missing_points(card)
    if not missing:
        return [ViewRow(((" No points are missing.", "ok"),))]
    known = [one for one in missing if one.points is not None]
    lost = sum(one.missing for one in known)
    said = f"{points(lost)} points are missing, the most first; → is the score with these and all above."
    rows = [ViewRow(((f" {part}", "dim"),)) for part in wrapped(said, width - 2)]
    for one in missing:
        score = f"{points(one.points)} / {points(one.maximum)}"
        gain = f"+{points(one.missing)}" if one.points is not None else "?"
        behind = f"→ {points(one.total)}" if one.points is not None else "unscored"
        title = one_line(prepared(one.title), 60)
        room = max(8, width - 8 - len(score) - len(behind) - 4)
        parts = (
            (f"{gain:>6}  ", "bad" if one.points is not None else "unscored"),
            (f"{title[:room]:<{room}}", "strong"),
            (f"{score}  {behind} ", "dim"),
        )
        about = (one.tier, one.key)
        rows.append(ViewRow(parts, about, head=True))
        reason = one_line(prepared(one.reason), 2000).removeprefix("offline judge: ") or "no reason was recorded"
        rows += [ViewRow(((f"        {part}", ""),), about) for part in wrapped(reason, width - 10)]
    return rows


def beside(
    card: Scorecard, others: Sequence[Scorecard], repeats: Mapping[Scale, Sequence[PointSpread]], width: int
) -> list[ViewRow]:
    """Return the criteria of a card with those of others in columns, how they differ, and how repeats of the trial lie."""
    spreads = {(one.tier, one.criterion): one for one in repeats.get(scale_of(card), ())}
    if not others and not spreads:
        said = "One rubric and judge scored this trial, and it has no repeats: there is nothing to set beside it."
        return [ViewRow(((f" {part}", "dim"),)) for part in wrapped(said, width - 2)]
    room = width - _LEAST - _POINTS - (_SPREAD if spreads else 0)
    fitting = max(0, min(len(others), room // (_POINTS + _GAP)))
    shown = others[:fitting]
    names = max(_LEAST, min(26, _LEAST + room - fitting * (_POINTS + _GAP)))
    rows = [
        ViewRow(((f" {letter} {_named(one)}", "dim"),)) for letter, one in zip("abcdefgh", (card, *shown), strict=False)
    ]
    if len(others) > fitting:
        rows.append(
            ViewRow(((f" {len(others) - fitting} more have no room here; {key_of('trajectory.scores')} turns", "dim"),))
        )
    n = max((one.n for one in spreads.values()), default=0)
    head = f"{'':<{names}}{'a':>{_POINTS}}" + (f"{f'{n} repeats':>{_SPREAD}}" if spreads else "")
    head += "".join(f"{letter:>{_POINTS}}{f'{letter} − a':>{_GAP}}" for letter in "bcdefgh"[:fitting])
    rows.append(ViewRow(((head, "dim"),)))
    joined = [{tier.number: tier for tier in join_criteria(card, other)} for other in shown]
    mine = join_criteria(card, card)
    numbers = sorted({tier.number for tier in mine} | {number for tiers in joined for number in tiers})
    keys = {(one.tier, one.title): one.key for one in card.criteria}
    sums = [{n: (one.points, one.maximum) for n, one in each.tiers.items()} for each in (card, *shown)]
    for number in numbers:
        own = next((tier for tier in mine if tier.number == number), None)
        tiers = [tiers.get(number) for tiers in joined]
        of_tier = [one.get(number) for one in sums]
        spread = _spread(spreads.get((number, ""))) if spreads else None
        rows.append(_tier_row(number, of_tier[0], of_tier[1:], spread, names))
        titles = [one.title for one in own.criteria] if own is not None else []
        for tier in tiers:
            titles += [
                one.title for one in (tier.criteria if tier else ()) if one.left is None and one.title not in titles
            ]
        for title in titles:
            key = keys.get((number, title), "")
            a = next((one.left for one in (own.criteria if own else ()) if one.title == title), None)
            pairs = [
                next((one for one in (tier.criteria if tier else ()) if one.title == title), None) for tier in tiers
            ]
            parts: list[tuple[str, str]] = [(_cut(f"  {one_line(prepared(title), 60)}", names), ""), (_of(a), "strong")]
            if spreads:
                parts.append((_spread(spreads.get((number, key or title))), "dim"))
            for pair in pairs:
                parts += _beside_parts(pair)
            rows.append(ViewRow(tuple(parts), (number, key) if a is not None else None, head=True))
    return rows


def scale_of(card: Scorecard) -> Scale:
    """Return by which rubric and judge a card is."""
    return card.rubric, card.judge


def _named(card: Scorecard) -> str:
    return f"{one_line(card.rubric, 30)} · {judge_of(card)}"


def _tier_row(number: int, own: Sum | None, theirs: Sequence[Sum | None], spread: str | None, names: int) -> ViewRow:
    """Return the sums of a tier: each card's own, also over criteria that the other does not have."""
    name = _cut(f" {number} {TIER_NAMES.get(number, f'Tier {number}')}", names)
    parts = [(name, "strong"), (_sum(own), "strong")]
    if spread is not None:
        parts.append((spread, "dim"))
    for one in theirs:
        gap = difference(own[0], one[0]) if own and one and own[1] == one[1] else None
        parts += [(_sum(one), "strong"), (f"{_gap(gap):>{_GAP}}", _style(gap))]
    return ViewRow(tuple(parts))


def _sum(found: Sum | None) -> str:
    return f"{'–' if found is None else f'{points(found[0])}/{points(found[1])}':>{_POINTS}}"


def _beside_parts(pair: CriterionPair | None) -> list[tuple[str, str]]:
    right = pair.right if pair is not None else None
    left = pair.left if pair is not None else None
    # Points out of different sums have no difference.
    gap = pair.difference if pair and left and right and left.maximum == right.maximum else None
    return [(_of(right), ""), (f"{_gap(gap):>{_GAP}}", _style(gap))]


def _of(judged: Criterion | None) -> str:
    return f"{'–' if judged is None else f'{points(judged.points)}/{points(judged.maximum)}':>{_POINTS}}"


def _gap(value: float | None) -> str:
    return "" if value is None else "0" if not round(value, 1) else f"{'+' if value > 0 else '−'}{points(abs(value))}"


def _style(value: float | None) -> str:
    return "dim" if not value else "ok" if value > 0 else "bad"


def _spread(one: PointSpread | None) -> str:
    said = "" if one is None else f"{one.mean:.1f}" + ("" if one.sd is None else f" ± {one.sd:.1f}")
    return f"{said:>{_SPREAD}}"


def _cut(text: str, width: int) -> str:
    return f"{text if len(text) <= width else text[: width - 1] + '…':<{width}}"
