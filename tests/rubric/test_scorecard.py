from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.rubric import Criterion, Evidence, Scorecard

POINTS = st.none() | st.integers(0, 30).map(float)
TEXTS = st.text(max_size=20)
EVIDENCE = st.builds(
    Evidence,
    kind=st.sampled_from(["readme", "metadata", "fact", "file", "judge"]),
    text=TEXTS,
    start=st.none() | st.integers(0, 99),
    end=st.none() | st.integers(0, 99),
    path=st.none() | TEXTS,
    line=st.none() | st.integers(1, 99),
)
CRITERIA = st.builds(
    Criterion,
    tier=st.integers(1, 4),
    key=TEXTS,
    title=TEXTS,
    points=POINTS,
    maximum=st.integers(0, 30).map(float),
    reason=TEXTS,
    evidence=st.lists(EVIDENCE, max_size=2).map(tuple),
    judged_by=TEXTS,
    samples=st.lists(st.integers(0, 12).map(float), max_size=3).map(tuple),
)
CARDS = st.builds(
    Scorecard,
    rubric=TEXTS,
    judge=TEXTS,
    criteria=st.lists(CRITERIA, max_size=8).map(tuple),
)


@given(CARDS)
def test_a_scorecard_survives_json(card: Scorecard) -> None:
    assert Scorecard.from_json(json.loads(json.dumps(card.to_json()))) == card


@given(CARDS)
def test_sums_hold_only_what_is_scored(card: Scorecard) -> None:
    for number, tier in card.tiers.items():
        mine = [c for c in card.criteria if c.tier == number]
        assert (tier.points is None) == any(c.points is None for c in mine)
        assert tier.maximum == sum(c.maximum for c in mine)
    scored = [t for t in card.tiers.values() if t.points is not None]
    assert card.total == (sum(t.points for t in scored) if scored else None)
    assert card.out_of == sum(t.maximum for t in scored)


def line(tier: int, points: float | None, maximum: float) -> Criterion:
    return Criterion(tier, "k", "t", points, maximum, "because")


def test_sums_have_no_binary_tail() -> None:
    card = Scorecard("strict", "offline", (line(4, 10.3, 12), line(4, 2.1, 10), line(4, 2.2, 8)))
    assert card.tiers[4].points == 14.6
    assert card.total == 14.6


def test_unscored_is_not_zero() -> None:
    card = Scorecard("aeo-bench", "m", (line(1, 15, 15), line(3, None, 30)))
    assert card.tiers[3].points is None
    assert (card.total, card.out_of) == (15, 15)
    assert Scorecard("aeo-bench", "m", (line(3, None, 30),)).total is None


def test_values_at_the_border_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        line(1, 1, 1).points = 2  # type: ignore[misc]
