"""Scorecards as text and rows: titles, missing points, and side-by-side views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.app.keys import key_of
from workbench.app.toolkit.document import TextDocument, TextLine, prepared
from workbench.app.toolkit.virtual_view import fit
from workbench.base.text import one_line
from workbench.comparison.panes import change_cell
from workbench.comparison.trials import criteria_of
from workbench.pages import wording
from workbench.pages.wording import points
from workbench.results.scores import missing_points
from workbench.results.spread import PointSpread, own_points
from workbench.session.json_forms import TIER_NAMES
from workbench.session.judges import LIMIT, OFFLINE, in_words, is_offline
from workbench.statistics.paired import difference

if TYPE_CHECKING:
    from workbench.results.spread import Agreement
    from workbench.rubric.scorecard import Criterion, Scorecard, TierScore

    Judged = TierScore | Criterion | None

CRITERIA, MISSING, BESIDE = VIEWS = ("criteria", "missing points", "side by side")
_POINTS, _GAP, _SPREAD, _LEAST = 8, 6, 11, 14


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A row: its styled pieces, the index of its criterion, and whether the cursor stops at it."""

    parts: tuple[tuple[str, str], ...]
    item: int | None = None
    head: bool = False


def shown_card(card: Scorecard) -> Scorecard:
    """Return a scorecard with its texts made safe to display."""
    return replace(card, criteria=tuple(map(_shown, card.criteria)))


def _shown(one: Criterion) -> Criterion:
    evidence = (
        replace(proof, text=prepared(proof.text), path=proof.path and prepared(proof.path)) for proof in one.evidence
    )
    return replace(
        one,
        title=one_line(prepared(one.title or one.key or "?"), 60),
        reason=one_line(prepared(one.reason), 2000),
        judged_by=one_line(prepared(one.judged_by or "rule"), 60),
        evidence=tuple(evidence),
    )


def tier_name(number: int) -> str:
    return f"{number} {TIER_NAMES.get(number, f'Tier {number}')}"


def why_unscored(card: Scorecard, tier: int) -> str:
    """Return why a tier has no sum, or "" if it has one."""
    missing = [one.reason for one in card.criteria if one.tier == tier and one.points is None]
    return next(filter(None, missing), "no reason was recorded") if missing else ""


def title(card: Scorecard) -> str:
    """Return ``82 / 100`` or, with unscored tiers, ``52 / 70``.

    If the answer format earned more than 10% of the points, the points the model earned itself come first.
    """
    if card.total is None:
        return "? unscored"
    own = own_points(card.total, card.out_of, card.given)
    return ("" if own is None else f"{wording.of(*own)} own, ") + wording.of(card.total, card.out_of)


def headline(card: Scorecard) -> str:
    """Return :func:`title`, followed by the rubric unless it is the standard one."""
    return title(card) if card.rubric in {"", "aeo-bench"} else f"{title(card)} {one_line(card.rubric, 20)}"


def plain_text(card: Scorecard) -> str:
    """Return a scorecard as text: each tier, and each criterion with its reason and evidence."""
    lines = [f"{title(card)} · {card.rubric} · {judge_of(card)}"]
    for number, tier in card.tiers.items():
        lines += ["", f"{tier_name(number)}  {wording.of(tier.points, tier.maximum)}"]
        lines += [f"  ({why})"] if (why := why_unscored(card, number)) else []
        for item in (one for one in card.criteria if one.tier == number):
            lines.append(f"  {item.title}  {wording.of(item.points, item.maximum)}  {item.reason}".rstrip())
            lines += [f"    {one_line(wording.evidence(proof), 2000)}" for proof in item.evidence]
    return "\n".join(lines) + "\n"


def scale_of(card: Scorecard) -> tuple[str, str]:
    return card.rubric, card.judge


def judge_of(card: Scorecard) -> str:
    """Return a description of the judge, including the limits of the offline judge."""
    judge = one_line(prepared(card.judge), 60)
    if is_offline(judge):
        return f"{OFFLINE}: {LIMIT}"
    return in_words(judge) if judge else "rules only"


def format_note(card: Scorecard) -> str:
    """Return a note on the points earned by the required answer format, or "" if none was required."""
    text = f"{points(card.given)} of these points come from the required answer format"
    return "" if card.given is None else text


def agreement_lines(agreement: Sequence[Agreement], card: Scorecard) -> tuple[str, ...]:
    """Return a line per judged tier and other judge, with the difference in points and the agreement."""
    lines = []
    for one in agreement:
        if one.rubric != card.rubric or card.judge not in one.judges or one.criterion:
            continue
        first = one.judges[0] == card.judge
        other = one_line(prepared(one.judges[1] if first else one.judges[0]), 40)
        difference = (-one.difference if first else one.difference) + 0.0  # never "-0.0"
        alike = "" if one.correlation is None else f", r {one.correlation:.2f}"
        lines.append(
            f"tier {one.tier} beside {other}: {difference:+.1f} points, {one.exact:.0%} the same{alike}, n {one.documents}"
        )
    return tuple(lines)


# -- rows


def wrapped(text: str, width: int, style: str = "dim", *, indent: int = 1, item: int | None = None) -> list[ScoreLine]:
    rows = TextDocument((TextLine(text),), text).rows(max(10, width - indent - min(indent, 2)))
    return [ScoreLine(((" " * indent + text[row.start : row.end].rstrip(), style),), item) for row in rows]


def missing_points_view(card: Scorecard, places: Mapping[tuple[int, str], int], width: int) -> list[ScoreLine]:
    """Return the criteria with missing points, largest loss first.

    Each has its reason and the score that the trial would reach without this and all larger losses.
    """
    missing = missing_points(card)
    if not missing:
        return [ScoreLine(((" No points are missing.", "ok"),))]
    lost = sum(one.missing for one, _ in missing if one.points is not None)
    rows = wrapped(
        f"{points(lost)} points are missing, largest loss first; → is the score with these and all above.", width
    )
    for one, total in missing:
        scored = one.points is not None
        score = f"{points(one.points)} / {points(one.maximum)}  {f'→ {points(total)}' if scored else 'unscored'} "
        gain = f"{f'+{points(one.missing)}' if scored else '?':>6}  "
        title = fit(one.title, max(8, width - len(gain) - len(score) - 1))
        item = places.get((one.tier, one.key))
        parts = ((gain, "bad" if scored else "unscored"), (title, "strong"), (score, "dim"))
        rows.append(ScoreLine(parts, item, head=item is not None))
        reason = one.reason.removeprefix("offline judge: ") or "no reason was recorded"
        rows += wrapped(reason, width, "", indent=8, item=item)
    return rows


def side_by_side(
    cards: Sequence[Scorecard], spreads: Sequence[PointSpread], places: Mapping[tuple[int, str], int], width: int
) -> list[ScoreLine]:
    """Return the criteria of several scorecards in columns, with differences and the spread over repeats."""
    if len(cards) == 1 and not spreads:
        return wrapped(
            "This trial was scored by one rubric and judge and has no repeats: there is nothing to compare.", width
        )
    room = width - _LEAST - _POINTS - (_SPREAD if spreads else 0)
    fitting = max(0, min(len(cards) - 1, room // (_POINTS + _GAP)))
    shown = cards[: fitting + 1]
    names = max(_LEAST, min(26, _LEAST + room - fitting * (_POINTS + _GAP)))
    letters = "abcdefgh"[: len(shown)]
    rows = [
        ScoreLine(((f" {letter} {one_line(one.rubric, 30)} · {judge_of(one)}", "dim"),))
        for letter, one in zip(letters, shown, strict=True)
    ]
    if left_out := len(cards) - len(shown):
        rows.append(ScoreLine(((f" {left_out} more do not fit; {key_of('trajectory.scores')} switches", "dim"),)))
    n = max((one.n for one in spreads), default=0)
    head = f"{'':<{names}}{'a':>{_POINTS}}" + (f"{f'{n} repeats':>{_SPREAD}}" if spreads else "")
    rows.append(ScoreLine(((head + "".join(f"{one:>{_POINTS}}{f'{one} − a':>{_GAP}}" for one in letters[1:]), "dim"),)))
    spread_of = {(one.tier, one.criterion): one for one in spreads}

    def row(
        name: str, style: str, of: Sequence[Judged], spread: PointSpread | None, item: int | None = None
    ) -> ScoreLine:
        own, *others = of
        parts = [(fit(name, names), style), (_sum(own), "strong")]
        if spreads:
            sd = f" ± {spread.sd:.1f}" if spread and spread.sd is not None else ""
            parts.append((f"{f'{spread.mean:.1f}{sd}' if spread else '':>{_SPREAD}}", "dim"))
        for one in others:
            # Points out of different maximums cannot be subtracted.
            alike = own is not None and one is not None and own.maximum == one.maximum
            gap, colour = change_cell(difference(own.points, one.points) if own and one and alike else None, 1, "")
            parts += [(_sum(one), style), (f"{gap:>{_GAP}}", colour)]
        return ScoreLine(tuple(parts), item, head=item is not None)

    criteria = [criteria_of(one) for one in shown]
    known = list(dict.fromkeys(name for each in criteria for name in each))
    for number in sorted({name[0] for name in known}):
        # Use each card's own sum, which includes criteria that other cards lack.
        tiers = [one.tiers.get(number) for one in shown]
        rows.append(row(f" {tier_name(number)}", "strong", tiers, spread_of.get((number, ""))))
        for name in (name for name in known if name[0] == number):
            judged = [each.get(name) for each in criteria]
            either = next(one for one in judged if one is not None)
            spread, item = spread_of.get((number, either.key or either.title)), places.get((number, either.key))
            own = (spread, item) if judged[0] is not None else (None, None)
            rows.append(row(f"  {either.title}", "", judged, *own))
    return rows


def _sum(found: Judged) -> str:
    return f"{'–' if found is None else f'{points(found.points)}/{points(found.maximum)}':>{_POINTS}}"
