"""The tests that samples of either side fail, of how many samples each, and what it said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.comparison import panes
from workbench.results.samples import failing_tests
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.groups import Group
    from workbench.session.reader import SessionReader

_MOST = 2_000  # characters of what a test said


@dataclass(frozen=True, slots=True)
class FailedTest:
    """How many samples did not pass a test, and what it said of the first; ``outcome`` is how it ended for a single one."""

    failed: int
    message: str = ""
    outcome: str = ""
    samples: int = 0


TestPair = panes.Pair[FailedTest]
"""A test of both sides; None for a side that passes it, or of whose tests it is none."""


def failed_counts(reader: SessionReader, task: str, group: Group | None = None) -> dict[str, FailedTest]:
    """Return of how many samples of a task each test failed, and what it said of the first of them in order."""
    found: dict[str, FailedTest] = {}
    for row in failing_tests(reader, task, group):
        known = found.get(row.test_id, FailedTest(0, row.message[:_MOST]))
        found[row.test_id] = FailedTest(known.failed + 1, min(known.message, row.message[:_MOST]))
    return found


def join_tests(left: Mapping[str, FailedTest], right: Mapping[str, FailedTest]) -> list[TestPair]:
    """Return the tests that either fails: those of A alone, of B alone, then those of both, the largest differences first."""

    def share(one: FailedTest | None) -> float:
        return 0.0 if one is None else one.failed / (one.samples or 1)

    pairs = [panes.Pair(a, b, test, same=_alike(a, b)) for test, a, b in panes.joined(left, right)]
    apart = {pair.name: abs(share(pair.right) - share(pair.left)) for pair in pairs}
    return sorted(pairs, key=lambda pair: (pair.both, pair.left is None, -apart[pair.name], pair.name))


def _alike(a: FailedTest | None, b: FailedTest | None) -> bool:
    """Whether the same share of samples fails a test; where these were not counted, whether it ends alike."""
    if a is not None and b is not None and (a.samples or b.samples):
        return a.failed * b.samples == b.failed * a.samples
    return a == b


def failing_pane(
    pairs: Sequence[TestPair], of: str = "", lacking: str = "passes", page: str = "all"
) -> panes.Table[TestPair]:
    """Return the tests that either fails, with what they said; ``lacking`` is what a side without an entry does."""

    def says(one: FailedTest | None) -> str:
        if one is None or not one.failed:
            return lacking if one is None else "passes" if one.samples else "no sample yet"
        return one_line(one.message, _MOST) or "no message was recorded"

    def ends(one: FailedTest | None) -> panes.Cell:
        if one is not None and one.failed:
            return f"✗ {one.outcome or f'{one.failed:,}'}" + (f" of {one.samples:,}" if one.samples else ""), "failed"
        return {"passes": ("✓", "passed"), "no sample yet": ("·", "dim")}.get(says(one), (panes.NOTHING, "dim"))

    return panes.Table(
        summary=of or panes.in_each_words(pairs),
        rows=pairs,
        columns=(
            panes.Column("A fails", lambda pair: ends(pair.left), 9, 16, text=True),
            panes.Column("B fails", lambda pair: ends(pair.right), 9, 16, text=True),
            panes.texts("test", lambda pair: one_line(pair.name, 300), 16, 120, cut="start"),
            panes.texts("A says", lambda pair: (says(pair.left), "dim"), 16, cut="end", priority=1),
            panes.texts("B says", lambda pair: (says(pair.right), "dim"), 16, cut="end", priority=2),
        ),
        nothing="There is no failing test.",
        says=says,
        page=page,
    )
