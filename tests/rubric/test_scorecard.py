from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.rubric import Criterion, Evidence, Scorecard

TEXTS = st.text(max_size=5)
EVIDENCE = st.builds(Evidence, st.sampled_from(["readme", "judge"]), TEXTS, *[st.none() | st.integers(0, 99)] * 2)
POINTS = st.none() | st.integers(0, 30).map(float)
CRITERIA = st.builds(
    Criterion, st.integers(1, 4), TEXTS, TEXTS, POINTS, st.just(30.0), TEXTS, st.lists(EVIDENCE, max_size=2).map(tuple),
    samples=st.lists(st.integers(0, 12).map(float), max_size=3).map(tuple),
)  # fmt: skip


@settings(max_examples=40)
@given(st.builds(Scorecard, TEXTS, TEXTS, st.lists(CRITERIA, max_size=8).map(tuple)))
def test_a_scorecard_survives_json_and_its_sums_hold_only_what_is_scored(card: Scorecard) -> None:
    assert Scorecard.from_json(json.loads(json.dumps(card.to_json()))) == card
    for number, tier in card.tiers.items():
        mine = [c for c in card.criteria if c.tier == number]
        assert (tier.points is None) == any(c.points is None for c in mine)
        assert tier.maximum == 30 * len(mine)
    scored = [t for t in card.tiers.values() if t.points is not None]
    assert card.total == (sum(t.points or 0 for t in scored) if scored else None)
    assert card.out_of == sum(t.maximum for t in scored)


def line(tier: int, points: float | None, maximum: float) -> Criterion:
    return Criterion(tier, "k", "t", points, maximum, "because")


def test_sums_have_no_binary_tail() -> None:
    card = Scorecard("strict", "offline", (line(4, 10.3, 12), line(4, 2.1, 10), line(4, 2.2, 8)))
    assert (card.tiers[4].points, card.total) == (14.6, 14.6)


def test_unscored_is_not_zero() -> None:
    card = Scorecard("aeo-bench", "m", (line(1, 15, 15), line(3, None, 30)))
    assert (card.tiers[3].points, card.total, card.out_of) == (None, 15, 15)
    assert Scorecard("aeo-bench", "m", (line(3, None, 30),)).total is None
