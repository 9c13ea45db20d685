"""Counters of the fault suite (kills, copies, orders …), summed over all tests and printed at the end of a run.

Each test's report carries its counters, so that those of xdist's workers arrive, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

_PROPERTY = "fault_counts"


@pytest.fixture
def fault_counts(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Counters of this test: ``fault_counts["kills"] += 1``; they also count if it fails."""
    counts: Counter[str] = Counter()
    yield counts
    request.node.user_properties.append((_PROPERTY, dict(counts)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sums over all tests."""
    total: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "teardown":
                for name, counts in report.user_properties:
                    total.update(counts if name == _PROPERTY else {})
    if total:
        sums = ", ".join(f"{number:,} {what}" for what, number in sorted(total.items()))
        terminalreporter.write_line(f"Faults: {sums}.")
