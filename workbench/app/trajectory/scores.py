"""A scorecard made ready to be shown: tiers, criteria, their evidence, and the sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.document import prepared
from workbench.rubric.spread import own_points
from workbench.session.json_forms import TIER_NAMES
from workbench.session.judges import LIMIT, OFFLINE, in_words, is_offline
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Criterion, Scorecard
    from workbench.rubric.spread import Agreement
    from workbench.rubric.works import Works


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier; ``points`` is None when it is unscored, and ``why`` then says the reason."""

    number: int
    name: str
    points: float | None
    maximum: float
    why: str
    criteria: tuple[Criterion, ...]


def tiers_of(card: Scorecard) -> tuple[Tier, ...]:
    """Return the tiers of a scorecard, its texts made ready to be shown."""
    tiers = []
    for number, sums in card.tiers.items():
        criteria = tuple(_prepared(one) for one in card.criteria if one.tier == number)
        reasons = (one.reason for one in criteria if one.points is None and one.reason)
        why = next(reasons, "no reason was recorded") if sums.points is None else ""
        name = TIER_NAMES.get(number, f"Tier {number}")
        tiers.append(Tier(number, name, sums.points, sums.maximum, one_line(why, 200), criteria))
    return tuple(tiers)


def _prepared(one: Criterion) -> Criterion:
    return replace(
        one,
        title=one_line(prepared(one.title or one.key or "?"), 60),
        reason=one_line(prepared(one.reason), 2000),
        judged_by=one_line(prepared(one.judged_by or "rule"), 60),
        evidence=tuple(
            replace(each, text=prepared(each.text), path=prepared(each.path) if each.path else None)
            for each in one.evidence
        ),
    )


def points(value: float | None) -> str:
    """Return points for reading: ``12``, ``7.5``, ``?`` when unscored."""
    return "?" if value is None else f"{round(value, 1):g}"


def title(card: Scorecard) -> str:
    """Return ``82 / 100`` or, with unscored tiers, ``52 / 70``; where a format gave more than a tenth, own points first."""
    if card.total is None:
        return "? unscored"
    own = own_points(card.total, card.out_of, card.given)
    return ("" if own is None else f"{points(own[0])} / {points(own[1])} own, ") + (
        f"{points(card.total)} / {points(card.out_of)}"
    )


def headline(card: Scorecard) -> str:
    """Return :func:`title`, with the rubric where it is not the one that results are compared by."""
    return title(card) if card.rubric in {"", "aeo-bench"} else f"{title(card)} {one_line(card.rubric, 20)}"


def plain_text(card: Scorecard) -> str:
    """Return a scorecard as text to copy: each tier, each criterion with its reason and evidence."""
    lines = [f"{title(card)} · {card.rubric} · {judge_of(card)}"]
    for tier in tiers_of(card):
        lines += ["", f"{tier.number} {tier.name}  {points(tier.points)} / {points(tier.maximum)}"]
        lines += [f"  ({tier.why})"] if tier.why else []
        for item in tier.criteria:
            lines.append(f"  {item.title}  {points(item.points)} / {points(item.maximum)}  {item.reason}".rstrip())
            for proof in item.evidence:
                where = f" {proof.path}" + (f":{proof.line}" if proof.line else "") if proof.path else ""
                lines.append(f"    {proof.kind}{where}: {one_line(proof.text, 2000)}")
    return "\n".join(lines) + "\n"


def judge_of(card: Scorecard) -> str:
    """Return who judged, in words: the offline judge is named as what it is."""
    judge = one_line(prepared(card.judge), 60)
    if is_offline(judge):
        return f"{OFFLINE}: {LIMIT}"
    return in_words(judge) if judge else "rules only"


def given_of(card: Scorecard) -> str:
    """Return how many of the points the answer's format gave, as a sentence; "" where the answer was free."""
    given = card.given
    return (
        "" if given is None else f"{points(given)} of these points were given by the format that the answer was held to"
    )


def works_line(card: Scorecard, works: Works | None) -> str:
    """Return how much of the README holds, by the rubric beside which that is shown; "" beside the others."""
    if card.rubric != "strict":
        return ""
    return f"not checked yet; {key_of('trajectory.check')} checks the README" if works is None else works.words()


def agreement_lines(agreement: Sequence[Agreement], card: Scorecard) -> tuple[str, ...]:
    """Return how the judge of a card agrees with the others on the rubric's judged tiers, a line for each: its points minus theirs."""
    rubric, judge = card.rubric, card.judge
    lines = []
    for one in agreement:
        if one.rubric != rubric or judge not in one.judges or one.criterion:
            continue
        first = one.judges[0] == judge
        other = one_line(prepared(one.judges[1] if first else one.judges[0]), 40)
        difference = (-one.difference if first else one.difference) + 0.0  # never "-0.0"
        alike = "" if one.correlation is None else f", r {one.correlation:.2f}"
        lines.append(
            f"tier {one.tier} beside {other}: {difference:+.1f} points, {one.exact:.0%} the same{alike}, n {one.documents}"
        )
    return tuple(lines)
