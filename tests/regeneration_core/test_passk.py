"""pass@k against exhaustive enumeration, its means, its intervals."""

from __future__ import annotations

import itertools
import math
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.regeneration.passk import TaskCount, bootstrap_interval, pass_at_k, summarise


@given(st.integers(1, 9).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m), st.integers(1, m))))
def test_equals_the_share_of_subsets_with_a_pass(numbers):
    m, c, k = numbers
    subsets = list(itertools.combinations([True] * c + [False] * (m - c), k))
    expected = sum(any(subset) for subset in subsets) / len(subsets)
    assert pass_at_k(m, c, k) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 400).flatmap(lambda m: st.tuples(st.just(m), st.integers(0, m), st.integers(1, m))))
def test_equals_the_binomial_formula(numbers):
    m, c, k = numbers
    assert pass_at_k(m, c, k) == pytest.approx(1 - math.comb(m - c, k) / math.comb(m, k), abs=1e-9)


def test_k_beyond_the_samples_is_undefined_never_one():
    assert pass_at_k(5, 5, 6) is None
    assert pass_at_k(0, 0, 1) is None
    report = summarise([TaskCount("t", "r", "f", 2, 2), TaskCount("u", "r", "f", 5, 0)], [1, 3, 9])
    assert report.overall[3].value == 0.0
    assert (report.overall[3].tasks, report.overall[3].undefined) == (1, 1)
    assert report.overall[9].value is None
    assert report.tasks["t"] == {1: 1.0, 3: None, 9: None}


@pytest.mark.parametrize(("m", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 1, 0)])
def test_contradictions_are_refused(m, c, k):
    with pytest.raises(ValueError):
        pass_at_k(m, c, k)


def test_means_by_hand():
    rows = [
        TaskCount("a", "one", "x.py", 5, 1),
        TaskCount("b", "one", "x.py", 5, 5),
        TaskCount("c", "one", "y.py", 5, 0),
        TaskCount("d", "two", "x.py", 5, 2),
    ]
    report = summarise(rows, [1, 3])
    assert report.repositories["one"][1].value == pytest.approx((0.2 + 1 + 0) / 3)
    assert report.files["one", "x.py"][1].value == pytest.approx(0.6)
    assert report.overall[1].value == pytest.approx((0.4 + 0.4) / 2)
    assert report.task_weighted[1].value == pytest.approx((0.2 + 1 + 0 + 0.4) / 4)
    assert report.tasks["a"][3] == pytest.approx(0.6)
    assert report.tasks["d"][3] == pytest.approx(0.9)


def test_the_empty_run_has_no_value():
    report = summarise([], [1], interval=0.95)
    assert report.overall[1].value is None
    assert report.overall[1].low is None


def _many(repositories: int, tasks: int) -> list[TaskCount]:
    rng = random.Random(3)
    return [
        TaskCount(f"{r}/{t}", f"r{r}", "f.py", 5, rng.choice([0, 0, 1, 3, 5]))
        for r in range(repositories)
        for t in range(tasks)
    ]


@pytest.mark.parametrize("cluster", ["repository", "task"])
def test_intervals_hold_the_value_and_repeat_with_the_seed(cluster):
    rows = _many(12, 20)
    value = summarise(rows, [1]).overall[1].value
    low, high = bootstrap_interval(rows, 1, cluster=cluster, seed=7)
    assert low < value < high
    assert (low, high) == bootstrap_interval(reversed(rows), 1, cluster=cluster, seed=7) or cluster == "task"
    assert (low, high) == bootstrap_interval(rows, 1, cluster=cluster, seed=7)
    assert (low, high) != bootstrap_interval(rows, 1, cluster=cluster, seed=8)


def test_task_intervals_have_the_width_that_theory_gives():
    rows = [TaskCount(str(n), "r", "f", 1, n % 2) for n in range(400)]
    low, high = bootstrap_interval(rows, 1)
    assert high - low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.08)


def test_certain_results_have_no_width():
    assert bootstrap_interval([TaskCount(str(n), "r", "f", 3, 3) for n in range(9)], 1) == (1.0, 1.0)


def test_two_thousand_resamples_of_three_thousand_tasks_take_about_a_second():
    rows = _many(1, 3000)
    begin = time.process_time()
    bootstrap_interval(rows, 3)
    assert time.process_time() - begin < 1.5
