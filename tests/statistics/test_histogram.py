"""Bins of a round width: every value counted once, whatever their number; runs with their means."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.histogram import Bin, histogram, means_of_runs, round_step


def test_ends_belong_to_the_bins_that_begin_there_and_the_last_is_closed() -> None:
    bins = histogram([0.0, 0.3, 0.7, 1.0], 0.0, 1.0, 10)
    assert [one.count for one in bins] == [1, 0, 0, 1, 0, 0, 0, 1, 0, 1]
    assert bins[3] == Bin(0.3, 0.4, 1)
    assert (bins[0].low, bins[-1].high) == (0.0, 1.0)


@given(
    st.lists(st.floats(-10, 150), max_size=60),
    st.floats(0.5, 1000),
    st.integers(1, 40),
)
def test_bins_are_few_have_no_gap_and_count_every_value(values: list[float], high: float, most: int) -> None:
    bins = histogram(values, 0.0, high, most)
    assert len(bins) <= most
    assert sum(one.count for one in bins) == len(values)
    assert bins[0].low == 0.0
    assert bins[-1].high >= high * (1 - 1e-9)
    assert all(math.isclose(one.high, other.low) for one, other in itertools.pairwise(bins))


@pytest.mark.parametrize(("least", "step"), [(0.1, 0.1), (0.11, 0.2), (2.1, 2.5), (26, 50), (5.0, 5.0), (7, 10)])
def test_steps_are_round(least: float, step: float) -> None:
    assert round_step(least) == pytest.approx(step)


@pytest.mark.parametrize("wrong", [(0.0, 0.0, 3), (1.0, 0.0, 3), (0.0, 1.0, 0)])
def test_no_span_and_no_bin_are_refused(wrong: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match="bins need"):
        histogram([], *wrong)


@pytest.mark.parametrize(("count", "each"), [(1, 1), (20, 1), (300, 1), (301, 2), (5000, 17)])
def test_runs_are_as_short_as_the_room_allows(count: int, each: int) -> None:
    means, length = means_of_runs([float(number) for number in range(count)], 300)
    assert length == each
    assert len(means) == math.ceil(count / each) <= 300
    assert means[0] == (each - 1) / 2


def test_a_mean_is_of_what_is_known_and_nothing_known_is_none() -> None:
    assert means_of_runs([1.0, None, 3.0, None, None, None], 3) == ((1.0, 3.0, None), 2)
