"""Correlations against scipy, their jackknife against loops, and the interval against a known truth."""

from __future__ import annotations

import math
import random

import pytest

from workbench.statistics.correlations import KINDS, Correlation, Pair, correlation

stats = pytest.importorskip("scipy.stats")


def drawn(rng, files=12, of_file=6, slope=1.0):
    """Tasks in files that share a part of both values; the true Pearson correlation is known for slope and noise of 1."""
    found = []
    for file in range(files):
        x, y = rng.gauss(0, 1), rng.gauss(0, 1)
        for _ in range(of_file):
            left = x + rng.gauss(0, 1)
            found.append(Pair("r", f"f{file}", left, slope * left + y + rng.gauss(0, 1)))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_jackknife_are_those_of_loops(kind):
    pairs = drawn(random.Random(3), files=7)
    measure = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]

    def value(some):
        return measure([one.left for one in some], [one.right for one in some]).statistic

    found = correlation(pairs, kind)
    assert (found.unit, found.units, found.tasks) == ("file", 7, 42)
    assert found.value == pytest.approx(value(pairs))
    scores = [math.atanh(value([one for one in pairs if one.file != f"f{n}"])) for n in range(7)]
    centre = sum(scores) / 7
    error = math.sqrt(6 / 7 * sum((one - centre) ** 2 for one in scores))
    half = stats.t.ppf(0.975, 6) * error
    assert (found.low, found.high) == pytest.approx(
        (math.tanh(math.atanh(found.value) - half), math.tanh(math.atanh(found.value) + half))
    )


def test_a_known_correlation_is_within_the_interval_as_often_as_it_says():
    """left has variance 2, right 2 + 2: the correlation is 2 / sqrt(2 · 4)."""
    rng, held = random.Random(5), 0
    for _ in range(200):
        found = correlation(drawn(rng), "pearson")
        held += found.low <= 1 / math.sqrt(2) <= found.high
    assert 0.9 <= held / 200 <= 0.99


def test_what_does_not_vary_has_no_correlation_and_few_clusters_no_interval():
    constant = [Pair("r", f"f{n}", 1.0 + n * 1e-8, n) for n in range(9)]
    assert correlation(constant, "kendall").value is None
    assert correlation(constant, "kendall").words == "–"
    few = correlation(drawn(random.Random(1), files=4), "spearman")
    assert few.value is not None
    assert (few.low, few.high) == (None, None)
    assert correlation([], "pearson").value is None
    assert Correlation("pearson", -0.001, -0.5, 0.5, 9, "file", 9).words == "0.00 [−0.50, 0.50] over 9 files"
    with pytest.raises(ValueError, match="one of pearson"):
        correlation(constant, "phi")


def test_files_of_few_repositories_are_left_out_in_turn_and_repositories_from_five_on():
    rng = random.Random(8)
    for repositories, unit, units in ((4, "file", 12), (5, "repository", 5)):
        # Files of one name in two repositories are two.
        pairs = [
            Pair(f"r{n}", one.file, one.left, one.right) for n in range(repositories) for one in drawn(rng, files=3)
        ]
        found = correlation(pairs, "spearman")
        assert (found.unit, found.units) == (unit, units)
        assert found.low < found.value < found.high


def test_many_tasks_of_one_file_are_left_out_in_groups():
    rng = random.Random(2)
    pairs = [Pair("r", "f", x, x + rng.gauss(0, 1)) for x in (rng.gauss(0, 1) for _ in range(1000))]
    found = correlation(pairs, "pearson")
    assert (found.unit, found.units) == ("task", 1000)
    # Fisher's own standard error is right for independent pairs.
    half = 1.96 / math.sqrt(997)
    assert math.atanh(found.high) - math.atanh(found.low) == pytest.approx(2 * half, rel=0.3)
