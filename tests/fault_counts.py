"""What the fault suite did, in figures: tests count kills, copies, orders …, and the end of a run prints all of them.

The figures travel with each test's report, so that they also arrive from xdist's workers, and from one that was lost later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

_PROPERTY = "fault_counts"


@pytest.fixture
def fault_counts(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Figures of this test: ``fault_counts["kills"] += 1``; a failed test's count as well."""
    counts: Counter[str] = Counter()
    yield counts
    request.node.user_properties.append((_PROPERTY, dict(counts)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sum over all tests."""
    total: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "teardown":
                for name, counts in report.user_properties:
                    total.update(counts if name == _PROPERTY else {})
    if total:
        told = ", ".join(f"{number:,} {what}" for what, number in sorted(total.items()))
        terminalreporter.write_line(f"Faults: {told}.")
