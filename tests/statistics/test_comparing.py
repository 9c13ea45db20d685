"""Paired differences, permutation tests, Holm, Kendall's tau, and rankings, each against an independent computation."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.statistics.intervals import Value
from workbench.statistics.paired import common_tasks, holm, paired_difference, tally
from workbench.statistics.rankings import RankedTask, kendall_tau, pair_orders, ranking, ranking_words, scores
from workbench.statistics.resampling import can_be_drawn, drawn_orders

differences = st.lists(st.sampled_from([-0.4, -0.2, -0.1, 0.0, 0.1, 0.3]), min_size=1, max_size=8)


def over_repositories(values):
    return [Value(f"r{n}", "f", value) for n, value in enumerate(values)]


@given(differences)
@settings(max_examples=40)
def test_the_exact_permutation_test_is_the_share_of_all_sign_flips(values):
    from workbench.statistics.paired import permutation_test

    seen = abs(sum(values))
    ways = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) >= seen - 1e-9
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    found = permutation_test(over_repositories(values))
    assert found.exact
    assert found.p == pytest.approx(sum(ways) / len(ways))
    assert found.unit == ("repository" if len(values) > 1 else "task")


def test_random_permutations_come_near_all_of_them():
    from workbench.statistics import paired as permutation

    rng = random.Random(2)
    values = over_repositories([rng.gauss(0.04, 0.1) for _ in range(16)])
    exact = permutation.permutation_test(values)
    before, permutation.MOST_EXACT = permutation.MOST_EXACT, 3
    try:
        drawn = permutation.permutation_test(values, resamples=20_000, seed=5)
    finally:
        permutation.MOST_EXACT = before
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / 20_000) + 1e-4)
    assert "20,000 random ways" in drawn.words


def test_a_difference_beyond_all_random_ways_is_below_a_bound_and_never_zero():
    from workbench.statistics.paired import permutation_test

    found = permutation_test(over_repositories([0.1 + n / 1000 for n in range(60)]), resamples=999)
    assert found.p == 0.001
    assert found.words.startswith("p < 0.001")
    assert permutation_test([]).p is None


def test_paired_differences_by_hand():
    found = paired_difference([Value("a", "x", 0.2), Value("a", "y", 0.4), Value("b", "x", 0.0), Value("c", "x", -0.3)])
    assert found.value == pytest.approx((0.3 + 0.0 - 0.3) / 3)
    assert (found.tasks.words, found.repositories.words) == ("2 won, 1 tied, 1 lost", "1 won, 1 tied, 1 lost")
    assert found.interval.unit == "repository"
    assert paired_difference([]).value is None
    assert tally([0.3 - 0.1 - 0.2]).ties == 1  # 5e-17 is no win


def test_common_tasks_have_a_value_everywhere():
    assert common_tasks([{"a": 0.1, "b": None, "c": 1.0}, {"a": 0.2, "b": 0.3, "c": 0.0, "d": 1.0}]) == ("a", "c")
    assert common_tasks([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_the_closed_test_of_bonferroni(chances):
    """A test is rejected at a level where every set of tests that holds it has a p-value below level / size."""
    named = {str(n): chance for n, chance in enumerate(chances)}
    found = holm(named)
    for name in named:
        worst = max(
            min(1.0, len(chosen) * min(named[one] for one in chosen))
            for size in range(1, len(named) + 1)
            for chosen in itertools.combinations(named, size)
            if name in chosen
        )
        assert found[name] == pytest.approx(worst)


def test_holm_refuses_what_is_no_chance():
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm({"a": 1.2})


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_kendalls_tau_is_that_of_scipy(pairs):
    stats = pytest.importorskip("scipy.stats")
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    found = kendall_tau(left, right)
    if len(set(left)) == 1 or len(set(right)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(stats.kendalltau(left, right).statistic)


def test_equal_scores_share_a_place():
    places = ranking({"none": 0.4, "osa": 0.7, "llm": 0.1 + 0.2 + 0.4, "original": 0.8})
    assert ranking_words(places) == "original > llm = osa > none"


def test_weightings_can_turn_a_ranking():
    tasks = [
        *(RankedTask("big", "f", {"a": 1.0, "b": 0.0}) for _ in range(9)),
        RankedTask("small", "f", {"a": 0.0, "b": 1.0}),
        RankedTask("tiny", "f", {"a": 0.0, "b": 0.4}, tests=90),
    ]
    assert scores(tasks) == pytest.approx({"a": 1 / 3, "b": 1.4 / 3})
    assert scores(tasks, "tasks") == pytest.approx({"a": 9 / 11, "b": 1.4 / 11})
    assert scores(tasks, "tests") == pytest.approx({"a": 9 / 100, "b": 37 / 100})
    with pytest.raises(ValueError, match="common tasks"):
        scores([*tasks, RankedTask("x", "f", {"a": 1.0})])
    with pytest.raises(ValueError, match="weighting"):
        scores(tasks, "stars")


def test_pairs_that_keep_their_order_by_repository_and_under_resampling():
    tasks = [RankedTask(f"r{n}", "f", {"a": 0.5 + 0.1 * (n != 3), "b": 0.5 + 0.2 * (n == 3)}) for n in range(5)]
    (order,) = pair_orders(tasks, drawn=drawn_orders(tasks, resamples=20_000))
    assert (order.better, order.repositories, order.ties, order.of) == ("a", 4, 0, 5)
    # a is ahead where the fourth repository is drawn at most once of five times: 4 − 1 > 0, but 3 − 2·2 < 0.
    expected = 0.8**5 + 5 * 0.2 * 0.8**4
    assert order.resampled == pytest.approx(expected, abs=0.015)
    assert pair_orders(tasks)[0].resampled is None
    first, again = (
        pair_orders(mine, drawn=drawn_orders(mine, resamples=50)) for mine in (tasks, list(reversed(tasks)))
    )
    assert first == again


def test_within_one_repository_files_are_drawn():
    tasks = [RankedTask("r", f"f{n % 2}", {"a": float(n % 2), "b": 0.5 * (n % 2)}) for n in range(10)]
    (order,) = pair_orders(tasks, drawn=drawn_orders(tasks, resamples=20_000))
    assert order.resampled == pytest.approx(0.75, abs=0.015)  # the second file is drawn at least once


def test_what_has_one_repository_of_one_file_is_not_resampled():
    one = [RankedTask("r", "f", {"a": 1.0}), RankedTask("r", "f", {"a": 0.0})]
    assert [can_be_drawn(tasks) for tasks in ([], one, [*one, RankedTask("r", "g", {"a": 1.0})])] == [
        False,
        False,
        True,
    ]
    assert can_be_drawn([*one, RankedTask("s", "f", {"a": 1.0})])


@pytest.mark.parametrize(("units", "least"), [(1, "p ≥ 1 "), (3, "p ≥ 0.25 "), (5, "p ≥ 0.0625 "), (6, "")])
def test_a_test_over_few_units_says_what_it_can_show_at_best(units: int, least: str) -> None:
    from workbench.statistics.paired import permutation_test

    found = permutation_test([Value(f"r{number}", "a.py", 1.0) for number in range(units)])
    assert found.p == found.least
    assert (least in found.words) if least else ("at best" not in found.words)
