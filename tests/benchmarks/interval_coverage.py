"""Print how often the nominal 95 % intervals hold the true mean, in simulations of repositories, files and tasks.

    python tests/benchmarks/interval_coverage.py [ROUNDS]

2,000 rounds a cell take about half a minute; the error of a cell is then 0.005. Where the true mean is so near to 0 or 1 that
most draws show no failure at all, coverage goes in steps, and no rule that draws nothing can be in the band: it is above it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "statistics"))

from figures import Figure, publish
from populations import UNEVEN, files, repositories, tasks

from workbench.statistics.intervals import Value, difference_interval, share_interval

Drawn = Callable[[random.Random, float], list[Value]]
MEANS = (0.02, 0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.95, 0.98)
ROWS: tuple[tuple[str, Drawn], ...] = (
    *((f"{n} repositories", lambda rng, mean, n=n: repositories(rng, n, mean, 8)) for n in (3, 5, 10, 28)),
    *((f"{n} tasks of a file, m 5", lambda rng, mean, n=n: tasks(rng, n, mean)) for n in (5, 20, 55)),
    *((f"{n} tasks of a file, m 1", lambda rng, mean, n=n: tasks(rng, n, mean, 1)) for n in (5, 20, 55)),
    *((f"{n} equal files, alike 2", lambda rng, mean, n=n: files(rng, (5,) * n, mean, 2)) for n in (5, 10, 20)),
    ("8 uneven files, alike 2", lambda rng, mean: files(rng, UNEVEN, mean, 2)),
    ("8 uneven files, alike 20", lambda rng, mean: files(rng, UNEVEN, mean, 20)),
)


def covered(drawn: Drawn, mean: float, rounds: int) -> tuple[float, float]:
    """Return the share of intervals that hold the mean, and their mean width."""
    rng, held, width = random.Random(7), 0, 0.0
    for _ in range(rounds):
        found = share_interval(drawn(rng, mean))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= mean <= found.high
        width += found.high - found.low
    return held / rounds, width / rounds


def covered_difference(count: int, mean: float, rounds: int) -> float:
    """Return the share of intervals that hold the mean of paired differences over so many repositories."""
    rng, held = random.Random(8), 0
    for _ in range(rounds):
        found = difference_interval(
            Value(f"r{number}", "f", own + rng.choice((-0.4, -0.2, 0, 0, 0, 0.2, 0.4)))
            for number in range(count)
            for own in [rng.gauss(mean, 0.1)]
            for _ in range(12)
        )
        held += found.low is not None and found.high is not None and found.low <= mean <= found.high
    return held / rounds


def main() -> int:
    """Print the tables."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    cells = []
    print(f"{'coverage (width) at mean':26}" + "".join(f"{mean:>12}" for mean in MEANS))
    for name, drawn in ROWS:
        found = [covered(drawn, mean, rounds) for mean in MEANS]
        cells += [share for share, _ in found]
        print(f"{name:26}" + "".join(f"{share:6.3f} ({width:.2f})"[:12].rjust(12) for share, width in found))
    for count in (5, 10, 28):
        print(f"paired difference, {count} repositories: {covered_difference(count, 0.05, rounds):.3f}")
    good = sum(share >= 0.93 for share in cells)
    return publish(
        [
            Figure(
                "95 % intervals that cover at least 93 %",
                f"{good} cells",
                f"{len(cells)} cells",
                good / len(cells),
                0.85,
                True,
            ),
            Figure(
                "the lowest coverage of a cell", f"{min(cells):.3f}", "nominal, 0.95", min(cells) / 0.95, 0.94, True
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
