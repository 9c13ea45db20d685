"""Intervals: quantiles against scipy, the variance against the textbook, coverage in a few cells of the simulation."""

from __future__ import annotations

import math
import random
import statistics
import subprocess
import sys

import populations
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.intervals import (
    Value,
    clusters_of,
    difference_interval,
    share_interval,
    student_quantile,
    student_tail,
)


@given(st.floats(0.3, 300), st.floats(0.001, 0.999))
def test_students_distribution_is_that_of_scipy(freedom, share):
    stats = pytest.importorskip("scipy.stats")
    assert student_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-8, abs=1e-8)
    assert student_tail(share * 5, freedom) == pytest.approx(stats.t.sf(share * 5, freedom), rel=1e-8)


def test_quantiles_of_nothing_are_refused():
    for share, freedom in ((0.0, 3), (1.0, 3), (0.9, 0)):
        with pytest.raises(ValueError):
            student_quantile(share, freedom)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=30))
def test_clusters_of_one_size_have_the_textbook_variance(means):
    clusters = clusters_of(Value(f"r{n}", "f", mean) for n, mean in enumerate(means))
    assert clusters.variance == pytest.approx(statistics.variance(means) / len(means), abs=1e-12)
    assert clusters.freedom == len(means) - 1
    assert clusters.effective == pytest.approx(len(means))


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=6), min_size=2, max_size=8))
def test_the_variance_between_files_is_that_of_the_matrices(files):
    """CR2 written out with numpy: residuals of each file divided by the root of one minus its leverage."""
    numpy = pytest.importorskip("numpy")
    clusters = clusters_of(Value("r", f"f{n}", value) for n, mine in enumerate(files) for value in mine)
    every = numpy.concatenate(files)
    meat = 0.0
    for mine in files:
        ones = numpy.ones((len(mine), 1))
        hat = ones @ ones.T / len(every)
        values, vectors = numpy.linalg.eigh(numpy.eye(len(mine)) - hat)
        adjust = vectors @ numpy.diag(1 / numpy.sqrt(values)) @ vectors.T
        meat += float(ones[:, 0] @ adjust @ (numpy.array(mine) - every.mean())) ** 2
    assert clusters.variance == pytest.approx(meat / len(every) ** 2, abs=1e-9)


@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]), min_size=3, max_size=40))
def test_bounds_of_shares_lie_around_the_mean_and_within_what_is_possible(values):
    found = share_interval(Value("r", f"f{n % 7}", value) for n, value in enumerate(values))
    mean = math.fsum(values) / len(values)
    assert found.low is not None
    assert 0 <= found.low <= mean + 1e-12
    assert mean - 1e-12 <= found.high <= 1
    assert found.low < found.high
    # Passing and failing are the same thing seen from two sides.
    mirrored = share_interval(Value("r", f"f{n % 7}", 1 - value) for n, value in enumerate(values))
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)


@pytest.mark.parametrize(
    ("drawn", "mean"),
    [
        (lambda rng: populations.repositories(rng, 5, 0.5, 8), 0.5),
        (lambda rng: populations.repositories(rng, 10, 0.95, 8), 0.95),
        (lambda rng: populations.tasks(rng, 20, 0.5), 0.5),
        (lambda rng: populations.files(rng, populations.UNEVEN, 0.5, 2), 0.5),
    ],
)
def test_intervals_hold_the_true_mean_as_often_as_they_say(drawn, mean):
    """Some cells of the table that tests/benchmarks/interval_coverage.py prints; 500 draws are sure to within .02."""
    rng, held = random.Random(4), 0
    for _ in range(500):
        found = share_interval(drawn(rng))
        held += found.low <= mean <= found.high
    assert 0.925 <= held / 500 <= 0.985


def test_a_difference_has_students_interval_over_repositories():
    values = [0.1, -0.05, 0.2, 0.15, 0.0]
    found = difference_interval(Value(f"r{n}", "f", value) for n, value in enumerate(values))
    half = 2.7764451 * statistics.stdev(values) / math.sqrt(5)
    assert (found.low, found.high) == pytest.approx((0.08 - half, 0.08 + half))
    assert found.words == "95 % interval (Student's) by the spread of the differences between 5 repositories."
    same = difference_interval(Value(f"r{n}", "f", 0.1) for n in range(5))
    assert (same.low, same.words) == (
        None,
        "No interval: all of 5 repositories have the same difference, which shows no spread.",
    )


def test_the_app_shows_intervals_without_numpy():
    """Importing numpy takes longer than the app may take to start."""
    code = (
        "import sys, workbench.app.app, workbench.statistics.intervals, workbench.statistics.paired, "
        "workbench.statistics.rankings\n"
        "print([name for name in ('numpy', 'scipy', 'sacrebleu', 'tokenizers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
