"""A scorecard's JSON made ready to be shown: tiers, criteria, their evidence, and the sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.document import prepared
from workbench.app.trajectory.loading import Card
from workbench.session.json_forms import TIER_NAMES
from workbench.session.judges import LIMIT, OFFLINE, in_words, is_offline
from workbench.session.totals import own_points
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.rubric.agreement import Agreement
    from workbench.rubric.works import Works


@dataclass(frozen=True, slots=True)
class Proof:
    """One piece of evidence; ``start`` and ``end`` are characters of the README."""

    kind: str
    text: str
    start: int | None
    end: int | None
    path: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """One criterion."""

    key: str
    title: str
    points: float | None
    maximum: float
    reason: str
    judged_by: str
    samples: tuple[float, ...]
    given: float | None
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier; ``points`` is None when it is unscored, and ``why`` then says the reason."""

    number: int
    name: str
    points: float | None
    maximum: float
    why: str
    criteria: tuple[Item, ...]


def tiers_of(card: Card) -> tuple[Tier, ...]:
    """Return the tiers of a decoded scorecard; whatever is odd in it is shown as well as possible."""
    by_tier: dict[int, list[Item]] = {}
    for raw in card.get("criteria") or ():
        if isinstance(raw, dict):
            by_tier.setdefault(int(raw.get("tier") or 0), []).append(_item(raw))
    tiers = []
    for number in sorted(by_tier):
        items = by_tier[number]
        missing = [item for item in items if item.points is None]
        scored = None if missing else sum(item.points or 0 for item in items)
        why = next((item.reason for item in missing if item.reason), "no reason was recorded") if missing else ""
        tiers.append(
            Tier(
                number,
                TIER_NAMES.get(number, f"Tier {number}"),
                scored,
                sum(item.maximum for item in items),
                one_line(why, 200),
                tuple(items),
            )
        )
    return tuple(tiers)


def _item(raw: dict[str, object]) -> Item:
    proofs = raw.get("evidence")
    samples = raw.get("samples")
    return Item(
        key=str(raw.get("key") or ""),
        title=one_line(prepared(str(raw.get("title") or raw.get("key") or "?")), 60),
        points=_number(raw.get("points")),
        maximum=_number(raw.get("maximum")) or 0.0,
        reason=one_line(prepared(str(raw.get("reason") or "")), 2000),
        judged_by=one_line(prepared(str(raw.get("judged_by") or "rule")), 60),
        samples=tuple(float(x) for x in samples) if isinstance(samples, list) else (),
        given=_number(raw.get("given")),
        proofs=tuple(_proof(item) for item in proofs if isinstance(item, dict)) if isinstance(proofs, list) else (),
    )


def _proof(raw: dict[str, object]) -> Proof:
    start, end, line = (raw.get(name) for name in ("start", "end", "line"))
    return Proof(
        kind=str(raw.get("kind") or ""),
        text=prepared(str(raw.get("text") or "")),
        start=start if isinstance(start, int) else None,
        end=end if isinstance(end, int) else None,
        path=prepared(str(raw["path"])) if raw.get("path") else None,
        line=line if isinstance(line, int) else None,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def points(value: float | None) -> str:
    """Return points for reading: ``12``, ``7.5``, ``?`` when unscored."""
    return "?" if value is None else f"{round(value, 1):g}"


def title(card: Card) -> str:
    """Return ``82 / 100`` or, with unscored tiers, ``52 / 70``; where a format gave more than a tenth, own points first."""
    tiers = tiers_of(card)
    scored = [tier for tier in tiers if tier.points is not None]
    if not scored:
        return "? unscored"
    got, most = sum(tier.points or 0 for tier in scored), sum(tier.maximum for tier in scored)
    own = own_points(got, most, _number(card.get("given")))
    return ("" if own is None else f"{points(own[0])} / {points(own[1])} own, ") + f"{points(got)} / {points(most)}"


def headline(card: Card) -> str:
    """Return :func:`title`, with the rubric where it is not the one that results are compared by."""
    rubric = str(card.get("rubric") or "")
    return title(card) if rubric in {"", "aeo-bench"} else f"{title(card)} {one_line(rubric, 20)}"


def plain_text(card: Card) -> str:
    """Return a scorecard as text to copy: each tier, each criterion with its reason and evidence."""
    lines = [f"{title(card)} · {card.get('rubric')} · {judge_of(card)}"]
    for tier in tiers_of(card):
        lines += ["", f"{tier.number} {tier.name}  {points(tier.points)} / {points(tier.maximum)}"]
        lines += [f"  ({tier.why})"] if tier.why else []
        for item in tier.criteria:
            lines.append(f"  {item.title}  {points(item.points)} / {points(item.maximum)}  {item.reason}".rstrip())
            for proof in item.proofs:
                where = f" {proof.path}" + (f":{proof.line}" if proof.line else "") if proof.path else ""
                lines.append(f"    {proof.kind}{where}: {one_line(proof.text, 2000)}")
    return "\n".join(lines) + "\n"


def judge_of(card: Card) -> str:
    """Return who judged, in words: the offline judge is named as what it is."""
    judge = one_line(prepared(str(card.get("judge") or "")), 60)
    if is_offline(judge):
        return f"{OFFLINE}: {LIMIT}"
    return in_words(judge) if judge else "rules only"


def given_of(card: Card) -> str:
    """Return how many of the points the answer's format gave, as a sentence; "" where the answer was free."""
    given = _number(card.get("given"))
    return (
        "" if given is None else f"{points(given)} of these points were given by the format that the answer was held to"
    )


def works_line(card: Card, works: Works | None) -> str:
    """Return how much of the README holds, by the rubric beside which that is shown; "" beside the others."""
    if card.get("rubric") != "strict":
        return ""
    return f"not checked yet; {key_of('trajectory.check')} checks the README" if works is None else works.words()


def agreement_lines(agreement: Sequence[Agreement], card: Card) -> tuple[str, ...]:
    """Return how the judge of a card agrees with the others on the rubric's judged tiers, a line for each: its points minus theirs."""
    rubric, judge = card.get("rubric"), card.get("judge")
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
