"""The points of trials, and which of them compare: those of the same tiers, with the points from a format told apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.session.trial_rows import ScoreRow

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

NO_FACTS_POINTS = 15.0
"""What the original gives tier 3 of a case that has no facts (``without_facts`` of ``workbench.rubric.score``)."""
FORMAT_SHARE = 0.1
"""A format that gave more than this share of the points is told apart: the model's own points come first."""
_HELD = "SELECT DISTINCT trial_id FROM steps JOIN calls ON calls.id = call_id WHERE kind = 'respond' AND shape_blob IS NOT NULL"
_MOST_CARDS = 20_000
# Digest of a scorecard -> points from its format, and whether its tier 3 was credited: of the same digest always the same.
_read_cards: dict[str, tuple[float, bool]] = {}


@dataclass(frozen=True, slots=True)
class Total:
    """The points of a trial by one rubric and judge.

    Attributes:
        points: Points of the scored tiers, None where there are none.
        out_of: What they are out of.
        tiers: Numbers of the scored tiers.
        given: Those of the points that the answer's format earned by itself.
        credited: Whether tier 3 has the points that the original gives a case without facts.
    """

    points: float | None = None
    out_of: float = 0.0
    tiers: tuple[int, ...] = ()
    given: float = 0.0
    credited: bool = False

    @property
    def own(self) -> tuple[float, float] | None:
        """The model's own points and what these are out of, where the format gave more than a tenth; else None."""
        return own_points(self.points, self.out_of, self.given)

    @property
    def share(self) -> float | None:
        """Points of 100, the model's own ones where these are told apart; None of a trial that lacks tiers."""
        if self.points is None or not self.out_of or len(self.tiers) < 4:
            return None
        points, out_of = self.own or (self.points, self.out_of)
        return 100 * points / out_of


def own_points(points: float | None, out_of: float, given: float | None) -> tuple[float, float] | None:
    """Return the model's own points and what they are out of, None unless the format gave more than a tenth of all."""
    if points is None or not given or given <= FORMAT_SHARE * points or given >= out_of:
        return None
    return round(points - given, 6), round(out_of - given, 6)


def totals_of(reader: SessionReader, scores: Iterable[ScoreRow]) -> dict[tuple[str, str, str], Total]:
    """Return the totals of scores by trial, rubric and judge.

    A scorecard is read only where its trial was held to a format, or where tier 3 has as many points as a case without
    facts gets.
    """
    held = {trial for (trial,) in reader.query(_HELD)}
    found = {}
    for score in scores:
        given, credited = 0.0, False
        if score.trial_id in held or score.tier3 == NO_FACTS_POINTS:
            if score.card_blob not in _read_cards:
                if len(_read_cards) > _MOST_CARDS:
                    _read_cards.clear()
                _read_cards[score.card_blob] = _of_card(reader.card(score))
            given, credited = _read_cards[score.card_blob]
        tiers = tuple(number for number in (1, 2, 3, 4) if number not in score.unscored)
        key = score.trial_id, score.rubric, score.judge
        found[key] = Total(score.total, score.out_of, tiers, given, credited)
    return found


def _of_card(card: Mapping[str, Any]) -> tuple[float, bool]:
    criteria = card.get("criteria") or ()
    given = [float(one["given"]) for one in criteria if isinstance(one.get("given"), (int, float))]
    third = [one for one in criteria if int(one["tier"]) == 3 and one["maximum"]]
    # A judge asks for the points of tier 3 wherever there are facts; a rule gives none but these.
    credited = bool(third) and all(one.get("judged_by") == "rule" and one["points"] for one in third)
    return math.fsum(given), credited


def comparable(totals: Sequence[Total]) -> list[Total]:
    """Return the totals that one figure may rest on: those of the same tiers, the tiers with the most points.

    Points of fewer tiers compare with nothing: 40 of 40 are not 100 of 100.
    """
    scored = [one for one in totals if one.points is not None]
    counts = Counter((one.out_of, one.tiers) for one in scored)
    basis = max(counts, key=lambda one: (one[0], counts[one], one[1]), default=None)
    return [one for one in scored if (one.out_of, one.tiers) == basis]
