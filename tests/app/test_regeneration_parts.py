"""The plain functions of the Regeneration mode: which columns fit, which tasks a filter lets through, how counts add up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from workbench.app.regeneration import building_panes as building
from workbench.app.regeneration.task_table import EVERYTHING, QUESTIONS, route_of
from workbench.regeneration.self_check import CheckProblem, ControlCounts, RecheckCounts, SelfCheck
from workbench.results import regeneration_runs
from workbench.results.regeneration_runs import Excluded
from workbench.results.samples import SampleState
from workbench.results.tasks import TaskLine
from workbench.session.rows import StageRow, UnusedTestRow
from workbench.session.sample_counts import is_counted


def line(name: str, **more: object) -> TaskLine:
    values: dict[str, Any] = {
        "id": name, "snapshot": "s", "path": f"pkg/{name}.py", "name": name, "tests": 3, "coverage": 1.0, "leak": 0.0,
        "leaking": False, "excluded": False, "reason": "", "samples": samples("passed/hot"),
    }  # fmt: skip
    values |= more
    of = values["samples"]
    values |= {
        "counted": sum(is_counted(one.verdict) for one in of),
        "passed": sum(one.verdict == "passed" for one in of),
    }
    return TaskLine(**values)


def samples(*said: str) -> tuple[SampleState, ...]:
    """Return samples by ``VERDICT/ROUTE``, by ``=STATE``, or by ``VERDICT=STATE`` for one that is tested again."""
    found = []
    for one in said:
        verdict, _, state = one.partition("=")
        verdict, _, route = verdict.partition("/")
        found.append(SampleState(verdict or None, state or "done", route))
    return tuple(found)


LINES = (
    line("all_passed"),
    line("failed", samples=samples("passed/hot", "failed/warm"), coverage=0.49, leaking=True),
    line(
        "crashed",
        samples=samples("crashed/cold", "crashed/cold"),
        unstable=2,
        branches=4,
        branches_covered=1,
        coverage=None,
    ),
    line("waiting", samples=samples("passed/hot=testing", "=queued"), rechecked=1, disagreeing=1),
    line("out", samples=samples("=cancelled"), excluded=True, coverage=0.2),
)


def test_each_option_lets_through_what_it_says() -> None:
    names = {
        (question.key, option.key): [
            LINES[at].name for at in EVERYTHING.choosing(question.key, option.key).passing(LINES)
        ]
        for question in QUESTIONS
        for option in question.options
    }
    assert names["verdict", "failed"] == ["failed", "crashed"]
    assert names["verdict", "passed"] == ["all_passed"]
    assert names["verdict", "undecided"] == ["waiting"]
    assert names["verdict", "crashed"] == ["crashed"]
    assert names["verdict", "again"] == ["waiting"]
    assert names["verdict", "out"] == ["out"]
    assert names["coverage", "<50"] == ["failed", "out"]
    assert names["coverage", "<25"] == ["out"]
    assert names["coverage", "100"] == ["all_passed", "waiting"]
    assert names["coverage", "branches"] == ["crashed"]
    assert names["coverage", "unknown"] == ["crashed"]
    assert names["leak", "leaking"] == ["failed"]
    assert names["flaky", "flaky"] == ["crashed"]
    assert names["route", "hot"] == ["all_passed", "waiting"]
    assert names["route", "warm"] == ["failed"]
    assert names["route", "cold"] == ["crashed"]
    assert names["recheck", "disagrees"] == ["waiting"]
    assert all(
        names[key] for key in names if key not in {("verdict", word) for word in ("timeout", "invalid", "error")}
    )


def test_filters_narrow_together_and_say_so() -> None:
    both = replace(EVERYTHING, name="ED").choosing("verdict", "failed").choosing("coverage", "<50")
    assert [LINES[at].name for at in both.passing(LINES)] == ["failed"]
    assert both.sentence() == "✗ not passed · cover < 50 % · named “ED”"
    assert both.choosing("verdict", "").choosing("coverage", "").sentence() == "named “ED”"
    assert not EVERYTHING.active
    assert EVERYTHING.passing(LINES) == list(range(len(LINES)))


def test_only_options_that_let_something_through_are_offered() -> None:
    verdicts = QUESTIONS[0].offered(LINES, "")
    assert [(option.key, count) for option, count in verdicts] == [
        ("failed", 2), ("passed", 1), ("undecided", 1), ("crashed", 1), ("cancelled", 1), ("again", 1),
        ("out", 1),
    ]  # fmt: skip
    assert "timeout" in [option.key for option, _ in QUESTIONS[0].offered(LINES, "timeout")]  # the chosen one stays


def test_routes_in_short() -> None:
    assert [route_of(one) for one in LINES] == ["hot", "h+w", "cold", "hot", ""]


def stage(name: str, state: str, done: int, total: int | None, note: str = "") -> StageRow:
    return StageRow("run", name, 0, state, done, total, note, 0.0)


@given(
    st.dictionaries(
        st.sampled_from(["parse", "body", "trace", "time", "original", "stub", "later"]), st.integers(1, 99)
    ),
    st.integers(0, 50),
    st.integers(0, 9),
)
def test_counts_go_down_by_what_is_dropped(dropped: dict[str, int], tasks: int, excluded: int) -> None:
    excluded = min(tasks, excluded)
    found = sum(dropped.values()) + tasks
    rows = regeneration_runs.counts([stage("filter", "done", found, found)], dropped, tasks, excluded, live=False)
    assert rows[0].left == (found or None)
    known = [row for row in rows if row.key in dropped]
    assert Counter({row.key: row.dropped for row in known}) == Counter(dropped)
    left = [row.left for row in rows if row.left is not None]
    assert left == sorted(left, reverse=True)
    if tasks:
        assert (rows[-1].left, rows[-1].dropped) == (tasks - excluded, excluded)


def test_what_is_not_decided_yet_is_said_while_tasks_are_built() -> None:
    rows = regeneration_runs.counts([stage("filter", "running", 40, 100)], {"trace": 10}, 0, 0, live=True)
    assert ("undecided", 60) in [(row.key, row.left) for row in rows]
    assert rows[0].left == 100
    stopped = regeneration_runs.counts([stage("filter", "running", 40, 100)], {"trace": 10}, 0, 0, live=False)
    assert "undecided" not in [row.key for row in stopped]


def test_tests_that_no_verdict_rests_on_are_shown_in_a_line_each() -> None:
    rows = (("unstable", "t.py::a", "passed, failed"), ("failing", "t.py::b[x y]", "E  1\n== 2"))
    unused = tuple(UnusedTestRow("run", place, *row) for place, row in enumerate(rows))
    assert building.entries_of("tests:", Excluded((), (), unused)) == [
        ("unstable test", "t.py::a", "passed, failed"),
        ("failing test", "t.py::b[x y]", "E 1 == 2"),
    ]
    assert [row.key for row in regeneration_runs.counts_of_tests((), unused)] == [
        "tests:",
        "tests:unstable",
        "tests:failing",
    ]


def test_a_self_check_speaks_only_when_something_is_wrong() -> None:
    good = (ControlCounts("reference", 1.0, 5, 5, 5), ControlCounts("stub", 0.0, 5, 0, 5))
    assert SelfCheck(good, RecheckCounts(9, 0)).banner(live=False) == ""
    untested = (ControlCounts("reference", 1.0, 4, 4, 5, errors=1),)
    assert SelfCheck(untested, RecheckCounts()).banner(live=True) == ""
    assert (
        SelfCheck(untested, RecheckCounts())
        .banner(live=False)
        .startswith("✗ SELF-CHECK INCOMPLETE: could not test reference")
    )
    many = tuple(CheckProblem(str(n), f"f{n}", "stub") for n in range(5))
    said = SelfCheck((ControlCounts("stub", 0.0, 9, 5, 9),), RecheckCounts(), many).banner(live=True)
    assert "stub passes on 5 tasks (f0, f1, f2 and 2 more)" in said
