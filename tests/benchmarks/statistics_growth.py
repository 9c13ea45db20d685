"""Print the processor time of all statistics of a study, from 1,000 to 100,000 candidates, with 10,000 resamples.

    python tests/benchmarks/statistics_growth.py

Five systems with ten samples a task over 28 repositories and, the hardest case, over one repository of many files: intervals,
paired differences with permutation tests and Holm of all ten pairs, rankings by three weightings, stability of each pair.
"""

from __future__ import annotations

import itertools
import random
import time

from workbench.regeneration.passk import TaskCount, summarise
from workbench.statistics.intervals import Value
from workbench.statistics.paired import holm, paired_difference, permutation_test
from workbench.statistics.rankings import WEIGHTINGS, Measured, kendall_tau, pair_orders, scores
from workbench.statistics.resampling import drawn_orders

SYSTEMS, SAMPLES, RESAMPLES = ("a", "b", "c", "d", "e"), 10, 10_000


def study(candidates: int, repositories: int) -> dict[str, list[TaskCount]]:
    """Return the counts of so many candidates by system."""
    rng = random.Random(1)
    found: dict[str, list[TaskCount]] = {name: [] for name in SYSTEMS}
    for number in range(candidates // (len(SYSTEMS) * SAMPLES)):
        chance = rng.random()
        for place, name in enumerate(SYSTEMS):
            passed = sum(rng.random() < min(1, chance + place / 50) for _ in range(SAMPLES))
            where = f"r{number % repositories}", f"f{number // 5 % 200}"
            found[name].append(TaskCount(str(number), *where, SAMPLES, passed))
    return found


def everything(counts: dict[str, list[TaskCount]]) -> None:
    """Compute all statistics of a study at k = 1 and 3."""
    for k in (1, 3):
        reports = {name: summarise(rows, [k], interval=0.95) for name, rows in counts.items()}
        tasks = [
            Measured(row.repository, row.file, {name: reports[name].tasks[row.task][k] or 0.0 for name in counts}, 3)
            for row in counts["a"]
        ]
        chances = {}
        for left, right in itertools.combinations(counts, 2):
            values = [Value(one.repository, one.file, one.values[right] - one.values[left]) for one in tasks]
            paired_difference(values)
            chances[left + right] = permutation_test(values, resamples=RESAMPLES).p or 0.0
        holm(chances)
        ranked = [scores(tasks, weighting) for weighting in WEIGHTINGS]
        for first, second in itertools.combinations(ranked, 2):
            kendall_tau([first[name] for name in SYSTEMS], [second[name] for name in SYSTEMS])
        pair_orders(tasks, drawn=drawn_orders(tasks, resamples=RESAMPLES))


def main() -> None:
    """Print a line for each size."""
    everything(study(1000, 28))  # numpy is imported once
    print(f"{'candidates':>10} {'28 repositories':>16} {'one of 200 files':>17}")
    for candidates in (1_000, 10_000, 100_000):
        seconds = []
        for repositories in (28, 1):
            counts = study(candidates, repositories)
            began = time.process_time()
            everything(counts)
            seconds.append(time.process_time() - began)
        print(f"{candidates:>10,} {seconds[0]:>14.2f} s {seconds[1]:>15.2f} s")


if __name__ == "__main__":
    main()
