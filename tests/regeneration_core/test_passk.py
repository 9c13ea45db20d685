"""pass@k against exhaustive enumeration, its means, its intervals."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from counting_calls import calls_of
from hypothesis import given
from hypothesis import strategies as st

from workbench.regeneration.passk import TaskCount, interval_of, mean_over_tasks, pass_at_k, summarise


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
    assert report[3].value == 0.0
    assert (report[3].tasks, report[3].undefined) == (1, 1)
    assert report[9].value is None


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
    assert mean_over_tasks(rows[:3], 1).value == pytest.approx((0.2 + 1 + 0) / 3)
    assert report[1].value == pytest.approx((0.4 + 0.4) / 2)
    assert mean_over_tasks(rows, 1).value == pytest.approx((0.2 + 1 + 0 + 0.4) / 4)
    assert [mean_over_tasks([row], 3).value for row in (rows[0], rows[3])] == pytest.approx([0.6, 0.9])


def _many(repositories: int, tasks: int) -> list[TaskCount]:
    rng = random.Random(3)
    return [
        TaskCount(f"{r}/{t}", f"r{r}", "f.py", 5, rng.choice([0, 0, 1, 3, 5]))
        for r in range(repositories)
        for t in range(tasks)
    ]


def _bounds(rows):
    found = interval_of(rows, 1)
    return found.low, found.high


@pytest.mark.parametrize("repositories", [1, 8])
def test_equal_data_in_another_order_of_tasks_and_files_give_an_equal_interval(repositories):
    """The bootstrap went through the tasks as the file had them, so that equal verdicts gave other bounds."""
    rng = random.Random(11)
    rows = [
        TaskCount(f"{r}/{t}", f"r{r}", f"f{t % 9}.py", 5, rng.choice([0, 1, 3, 5]))
        for r in range(repositories)
        for t in range(40)
    ]
    assert len({_bounds(rng.sample(rows, len(rows))) for _ in range(6)}) == 1
    renamed = [TaskCount(f"x{row.task}", f"y{row.repository}", f"z{row.file}", row.samples, row.passed) for row in rows]
    assert _bounds(renamed) == _bounds(rows)


def test_the_unit_is_named():
    several = interval_of(_many(12, 2), 1)
    assert (several.unit, several.units, several.over) == ("repository", 12, "over 12 repositories")
    files = interval_of([TaskCount(f"t{n}", "r", f"f{n % 6}.py", 5, n % 6) for n in range(30)], 1)
    assert files.words == "95 % interval (Wilson's with Student's quantile) by the spread between 6 files."
    tasks = interval_of([TaskCount(f"t{n}", "r", "f.py", 5, n % 6) for n in range(30)], 1)
    assert tasks.words.endswith("by the spread between 30 tasks of one file, and of that file only.")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "No interval: no task has enough samples."),
        ([TaskCount("t", "r", "f", 5, 2)], "No interval: 1 task is too few (3 are needed)."),
        (_many(2, 50), "No interval: 2 repositories are too few (3 are needed)."),
        (
            [TaskCount(f"t{n}", "r", f"f{n % 2}.py", 5, n % 6) for n in range(30)],
            "No interval: 2 files are too few (3 are needed); tasks of one file are similar and are no substitute.",
        ),
        (
            [TaskCount(f"t{n}", "r", f"f{max(0, n - 96)}.py", 5, n % 6) for n in range(100)],
            "No interval: one of 4 files contains nearly all tasks.",
        ),
    ],
)
def test_few_clusters_have_no_interval(rows, words):
    found = interval_of(rows, 1)
    assert (found.low, found.high, found.over) == (None, None, "")
    assert found.words == words


def test_equal_results_have_the_width_of_a_share():
    found = interval_of([TaskCount(str(n), "r", "f", 3, 3) for n in range(9)], 1)
    assert (round(found.low, 3), found.high, found.certain) == (0.701, 1.0, True)
    assert "Wilson" in found.words


def test_the_work_of_an_interval_grows_with_the_tasks_and_not_with_their_square():
    """How long it takes says how busy the machine is; how many calls it makes does not."""
    few, many = _many(1, 300), _many(1, 3000)
    interval_of(few, 3), interval_of(many, 3)  # Student's quantiles are remembered
    assert calls_of(lambda: interval_of(many, 3)) < 11 * calls_of(lambda: interval_of(few, 3))
