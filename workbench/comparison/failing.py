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


@dataclass(frozen=True, slots=True)
class TestPair(panes.Pair[FailedTest]):
    """A test of both sides; None for a side that passes it, or of whose tests it is none."""

    test: str

    @property
    def same(self) -> bool:
        """Whether the same share of samples fails it; where these were not counted, whether it ends alike."""
        a, b = self.left, self.right
        if a is not None and b is not None and (a.samples or b.samples):
            return a.failed * b.samples == b.failed * a.samples
        return a == b


def failed_counts(reader: SessionReader, task: str, group: Group | None = None) -> dict[str, FailedTest]:
    """Return of how many samples of a task each test failed, and what it said of the first of them in order."""
    found: dict[str, FailedTest] = {}
    for row in failing_tests(reader, task, group):
        known = found.get(row.test_id, FailedTest(0, row.message[:_MOST]))
        found[row.test_id] = FailedTest(known.failed + 1, min(known.message, row.message[:_MOST]))
    return found


def join_tests(left: Mapping[str, FailedTest], right: Mapping[str, FailedTest]) -> tuple[TestPair, ...]:
    """Return the tests that either fails: those of A alone, of B alone, then those of both, the largest differences first."""
    pairs = [TestPair(a, b, test) for test, a, b in panes.joined(left, right)]

    def place(pair: TestPair) -> tuple[int, float, str]:
        a, b = (0.0 if one is None else one.failed / (one.samples or 1) for one in (pair.left, pair.right))
        return 2 if pair.both else 0 if pair.right is None else 1, -abs(b - a), pair.test

    return tuple(sorted(pairs, key=place))


def only_and_both(pairs: Sequence[TestPair]) -> str:
    common, only_a, only_b = panes.in_each(pairs)
    return f"only A {only_a:,} · only B {only_b:,} · both {common:,}"


def failing_pane(pairs: Sequence[TestPair], nothing: str, said: str) -> panes.Table[TestPair]:
    """Return the tests that either fails, with what they said."""

    def outcome(one: FailedTest | None) -> panes.Cell:
        return ("✓", "passed") if one is None else (f"✗ {one.outcome or f'{one.failed:,}'}", "failed")

    def says(one: FailedTest | None) -> str:
        return one_line(one.message, 120) if one is not None else "passes"

    def brief(pair: TestPair) -> str:
        return one_line(pair.test.partition("::")[2] or pair.test, 200)

    def message(pair: TestPair) -> panes.Cell:
        first = (one.message for one in (pair.left, pair.right) if one is not None and one.message)
        return one_line(next(first, ""), 300), "dim"

    return panes.Table(
        said=said,
        rows=pairs,
        columns=(
            panes.Column("A", lambda pair: outcome(pair.left), 9, text=True),
            panes.Column("B", lambda pair: outcome(pair.right), 9, text=True),
            panes.texts("test", brief, 16, 120, cut="end", page="-"),
            panes.texts("message", message, 16, cut="end", priority=1, page="-"),
            panes.texts("test", lambda pair: one_line(pair.test, 120), page="+test"),
            panes.texts("A says", lambda pair: says(pair.left), page="+A says"),
            panes.texts("B says", lambda pair: says(pair.right), page="+B says"),
        ),
        sign=sign_of,
        nothing=nothing,
        below=_messages,
        page="all",
    )


def sign_of(pair: TestPair) -> tuple[str, str]:
    return panes.sided(pair.left, pair.right) or (panes.SAME if pair.same else (panes.CHANGED[0], "dim"))


def _messages(pair: TestPair) -> list[tuple[str, int]]:
    if pair.left and pair.right and pair.left.message == pair.right.message:
        return [(pair.test, 1), (f"A and B: {_said(pair.left)}", 2)]
    return [(pair.test, 1), (f"A: {_said(pair.left)}", 1), (f"B: {_said(pair.right)}", 1)]


def _said(one: FailedTest | None) -> str:
    return "passes" if one is None else one_line(one.message, 2_000) or "no message was recorded"
