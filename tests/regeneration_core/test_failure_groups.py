"""Which failures are the same one, and what pass@k of parts of a run is."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from workbench.regeneration.failure_groups import (
    FailedCandidate,
    FailedTest,
    FailureLocation,
    asserting_line,
    error_lines,
    failure_groups,
    lead_of,
    place_of,
    same_error,
    same_exception,
    same_failure,
    source_of_test,
    steady,
)
from workbench.regeneration.outcome import (
    TaskResult,
    VerdictSequence,
    class_of,
    pass_by,
    pass_by_k,
    pass_by_samples,
    pass_figures,
)
from workbench.session.groups import Group

GROUP = Group("original", "openai/gpt-5-mini")
TRACE = """Traceback (most recent call last):
  File "tests/test_count.py", line 9, in test_count
    assert count(text) == 2
           ^^^^^^^^^^^
  File "package/count.py", line 41, in count
    return other(text)
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
ValueError: no <object at 0x7f49b5c9f6a0> in /tmp/pytest-of-root/pytest-0/a.txt
"""


def failed(
    number: int, *tests: FailedTest, task: str = "t", verdict: str = "failed", changed: int = 1, reason: str = ""
):
    names = tuple(sorted(test.test for test in tests))
    return FailedCandidate(
        f"c{number}", task, "package/count.py", "count", GROUP, number, verdict, reason, names, lead_of(tests), changed
    )


def test_a_place_is_the_last_frame_of_the_project():
    assert place_of(TRACE) == FailureLocation("package/count.py", "count", 41)
    assert str(place_of(TRACE)) == "package/count.py:41 in count"
    assert place_of("pytest says nothing of frames") == FailureLocation()


def test_same_tests_and_same_value_are_one_failure_whatever_address_it_names():
    one = failed(0, FailedTest("a", message="AssertionError: assert <f at 0x7f01aa> == 2"), changed=9)
    two = failed(1, FailedTest("a", message="assert <f at 0x7f99bb> == 2"), changed=2)
    other_value = failed(2, FailedTest("a", message="assert 3 == 2"))
    other_tests = failed(3, FailedTest("a", message="assert <f at 0x7f01aa> == 2"), FailedTest("b", message="assert 0"))
    first, *rest = failure_groups([one, two, other_value, other_tests])
    assert [each.id for each in first.candidates] == ["c1", "c0"]  # the smallest difference stands for the group
    assert first.representative.id == "c1"
    assert [len(group.candidates) for group in rest] == [1, 1]
    assert first.key == failure_groups([two, one])[0].key


def test_lines_of_the_tasks_own_file_move_and_do_not_tell_failures_apart():
    def raised(number: int, line: int, path: str, message: str = "TypeError: no"):
        return failed(number, FailedTest("a", message=message, place=FailureLocation(path, "count", line)))

    assert len(failure_groups([raised(0, 41, "package/count.py"), raised(1, 47, "package/count.py")])) == 1
    assert (
        len(failure_groups([raised(0, 41, "package/count.py"), raised(1, 41, "package/count.py", "TypeError: x")])) == 2
    )
    assert len(failure_groups([raised(0, 41, "package/other.py"), raised(1, 47, "package/other.py")])) == 2
    assert (
        len(failure_groups([raised(0, 41, "package/other.py"), raised(1, 41, "package/other.py", "TypeError: x")])) == 1
    )


def test_failures_that_are_less_alike_are_put_together_on_demand():
    def raised(number: int, test: str, message: str):
        return failed(
            number,
            FailedTest(test, message=message, place=FailureLocation("package/count.py", "count", 3)),
            task=f"t{number}",
        )

    candidates = [raised(0, "a", "NameError: np"), raised(1, "b", "NameError: np"), raised(2, "a", "NameError: os")]
    sizes = [
        [len(group.candidates) for group in failure_groups(candidates, cause)]
        for cause in (same_failure, same_error, same_exception)
    ]
    assert sizes == [[1, 1, 1], [2, 1], [3]]
    assert failure_groups(candidates, same_error)[0].tests == ("a", "b")
    assert failure_groups(candidates, same_error)[0].tasks == 2


def test_what_has_no_failing_test_is_grouped_by_its_reason():
    reason = "The body does not parse: line {}: unterminated string."
    groups = failure_groups(
        [failed(n, verdict="invalid", reason=reason.format(n)) for n in range(3)]
        + [failed(9, verdict="timeout", reason="It ran out of time in a.")]
    )
    assert [(group.verdict, len(group.candidates)) for group in groups] == [("invalid", 3), ("timeout", 1)]
    assert groups[0].exception == "invalid"
    assert json.dumps(groups[0].to_json())


def test_the_leading_test_is_what_most_say_and_an_exception_among_equals():
    many = [FailedTest(name, message="assert 1 == 0") for name in "abc"]
    raised = FailedTest("d", message="TypeError: no")
    assert lead_of([raised, *many]) == many[0]
    assert lead_of([raised, many[0]]) == raised
    assert lead_of([]) is None
    assert FailedTest("e", "missing", "was running when the process ended").exception == ""


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=40))
def test_groups_partition_the_candidates_and_do_not_depend_on_their_order(drawn):
    candidates = [
        failed(n, FailedTest(f"test_{test}", message=f"assert {value} == 9"), task=f"t{task}")
        for n, (test, value, task) in enumerate(drawn)
    ]
    groups = failure_groups(candidates)
    assert sorted(one.id for group in groups for one in group.candidates) == sorted(one.id for one in candidates)
    sizes = [len(group.candidates) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert [group.key for group in failure_groups(candidates[::-1])] == [group.key for group in groups]
    assert len({group.key for group in groups}) == len(groups)


@given(st.text(max_size=300))
def test_any_text_is_a_message_and_a_traceback(text):
    test = FailedTest("a", message=text, place=place_of(text))
    assert failure_groups([failed(0, test)])[0].exception
    assert steady(steady(text)) == steady(text)
    error_lines(text)
    source_of_test(text, "a.py::test_a", text)


def result(task: str, passed: int, *, file: str = "a.py", counted: int = 4) -> TaskResult:
    return TaskResult(task, "snapshot", file, False, counted, passed)


def test_pass_at_k_of_groups_of_tasks_is_the_mean_over_their_tasks():
    results = [result("a", 4), result("b", 0), result("c", 2, file="b.py")]
    groups = pass_by([(one.file, one) for one in results], (1, 5))
    assert [(one.name, one.tasks, one.pass_at[0].value) for one in groups] == [("a.py", 2, 0.5), ("b.py", 1, 0.5)]
    assert groups[0].pass_at[1].value is None  # four samples have no pass@5
    assert class_of("Table.Row.add#2") == "Table.Row"
    assert class_of("count") == "(no class)"


def test_curves_end_where_the_figures_of_the_run_are():
    sequences = [
        VerdictSequence("a", "s", "a.py", (True, False, True, None)),
        VerdictSequence("b", "s", "a.py", (False, False, False, True)),
    ]
    results = [result("a", 2, counted=3), result("b", 1)]
    figures = pass_figures(results, (1, 3))
    by_m = pass_by_samples(sequences, 1)
    assert [point.m for point in by_m] == [1, 2, 3, 4]
    assert by_m[0].estimate.value == 0.5
    assert by_m[-1].estimate.value == figures.pass_at[0].value
    by_k = pass_by_k(results)
    assert [estimate.k for estimate in by_k] == [1, 2, 3, 4]
    assert by_k[2].value == figures.pass_at[1].value
    assert pass_by_samples([], 1) == ()
    assert pass_by_k([]) == ()


SOURCE = """import pytest

class TestCount:
    @pytest.mark.parametrize("text", ["a"])
    def test_count(self, text):
        wanted = 2

        assert count(text) == wanted


def test_other():
    pass
"""


def test_the_source_of_a_test_has_its_asserting_line_and_its_error():
    trace = (
        'Traceback (most recent call last):\n  File "tests/t.py", line 8, in test_count\n'
        "    assert count(text) == wanted\nAssertionError: assert 1 == 2\n +  where 1 = count('a')\n"
    )
    found = source_of_test(SOURCE, "tests/t.py::TestCount::test_count[a]", trace)
    assert found is not None
    assert (found.first, found.asserting) == (4, 8)
    assert found.lines[0].strip().startswith("@pytest")
    assert found.lines[-1].strip() == "assert count(text) == wanted"
    assert found.error_lines == ("AssertionError: assert 1 == 2", " +  where 1 = count('a')")
    assert source_of_test(SOURCE, "tests/t.py::test_gone") is None
    assert source_of_test("no python (", "tests/t.py::test_other") is None
    assert asserting_line(TRACE, "tests/test_count.py") == 9
