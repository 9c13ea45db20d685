"""What a Python session prints or raises, beside what a page says: what counts, what is forgiven, and what two runs show."""

from __future__ import annotations

import datetime

import pytest
from planted import context, judge, verdict_on_example

from workbench.checking.steps import PlannedStep
from workbench.claims.comparing import doctest_difference, random_alone

#: A weekday that is not today's, and another one.
OTHER_DAY, ANOTHER_DAY = (f"{datetime.datetime.now(datetime.UTC) + datetime.timedelta(days):%A}" for days in (2, 3))
TODAY = datetime.datetime.now(datetime.UTC)


@pytest.mark.parametrize(
    ("said", "real"),
    [
        ("'1'", "1"),
        ("1", "1.0"),
        ("True", "1"),
        ("[1, 2]", "(1, 2)"),
        ("1125899906842625", "1125899906842624"),
        ("'0xff00fe'", "'0xff00ff'"),
        (f"'{OTHER_DAY}'", f"'{ANOTHER_DAY}'"),
        ("'a b'", "'ab'"),
        ("{a: 1, b: 2}", "{a: 2, b: 1}"),
        ("-1", "1"),
        ("1.414...", "21.4142"),
        ("'ab...'", "'xab'"),
    ],
)  # fmt: skip
def test_another_value_differs(said: str, real: str) -> None:
    assert doctest_difference(f"{said}\n", f"{real}\n")
    assert doctest_difference(f"{said}\n", f"{said}\n") == ()


@pytest.mark.parametrize(
    ("said", "real"),
    [
        ("<Speed 0.333... km/h>", "<Speed 0.3333333333333333 km/h>"),
        ("mean: 0.666..., sd: 0.471...", "mean: 0.6666666666666666, sd: 0.4714045207910317"),
        ("<X at 0x7f00>", "<X at 0x7fbb12>"),
        ("Point(x=1,y=2)", "Point(x=1, y=2)"),
        ("[Foo(a=1),\n Foo(a=2),\n]", "[Foo(a=1), Foo(a=2)]"),
        ("u'a'", "'a'"),
        ("'/home/me/a/b.txt'", "'/checked/repo/b.txt'"),
        ("'2019-04-01'", f"'{TODAY:%Y-%m-%d}'"),
        ("'Sunday'", f"'{TODAY:%A}'"),
        ("+---+\n| a |", "+-----+\n| a   |"),
    ],
)
def test_the_same_value_in_other_words_does_not(said: str, real: str) -> None:
    assert doctest_difference(f"{said}\n", f"{real}\n") == ()


def test_what_differs_from_run_to_run_is_no_difference_and_nothing_else() -> None:
    said = "'f47ac10b-58cc-4372-a567-0e02b2c3d479'"
    one, other = "'a17ac10b-98cc-4e72-a567-0e02b2c3d470'", "'047ac10b-58cc-4472-b567-1e02b2c3d475'"
    assert random_alone(doctest_difference(said, one), doctest_difference(said, other))
    for said, one, other, alone in (
        ("took 5 ms", "took 7 ms", "took 9 ms", True),
        ("took 5 ms for 3", "took 7 ms for 4", "took 9 ms for 4", False),
        ("id 5", "id 7", "id 7", False),
        ("id one", "id two", "id six", False),
    ):
        assert random_alone(doctest_difference(said, one), doctest_difference(said, other)) is alone, said


def raised(claimed: str, message: str, kind: str = "ValueError", **more: object) -> str:
    """Return the verdict on an example whose page claims an exception, beside the one that was raised."""
    error = {
        "type": kind,
        "message": message,
        "place": "/env/lib/python3.12/site-packages/wordstat/counting.py",
        "text": "",
    }
    error |= {"line": 1, "name": None, "owner": "", "raised": True, "before": "", **more}
    example = {"line": 1, "source": more.get("source", "f()"), "want": "", "got": "", "stderr": ""}
    ended = {"status": 0, "examples": [{**example, "error": error, "expected_error": f"{claimed}\n"}]}
    return str(judge(PlannedStep(0, "doctest", "", 1), ended, context()).verdict)


def test_the_message_of_an_exception_counts() -> None:
    assert raised("ValueError: nothing there", "nothing there") == "works"
    assert raised("wordstat.ValueError: nothing there", "nothing there") == "works"
    assert raised("ValueError", "nothing there") == "works"
    assert raised("ValueError: nothing ...", "nothing there") == "works"
    assert raised("ValueError: nothing there", "nothing there: 'a'") == "works"  # the page shows its beginning
    assert raised("ValueError: quite another", "nothing there") == "differs"
    source = "f()  # doctest: +IGNORE_EXCEPTION_DETAIL"
    assert raised("ValueError: quite another", "nothing there", source=source) == "works"
    assert raised("ValueError: 3 words", "4 words") == "differs"
    assert raised("TypeError: nothing there", "nothing there") == "differs"
    assert raised("TypeError: nothing there", "nothing there", raised=False) == "not run"


def test_the_wording_of_python_may_be_of_another_version_and_its_values_may_not() -> None:
    missing = "missing 1 required positional argument: 'text'"
    python = {"kind": "TypeError", "raised": False}
    assert raised(f"TypeError: __init__() {missing}", f"Counter.__init__() {missing}", **python) == "works"
    assert raised("TypeError: f() " + missing.replace("text", "word"), f"f() {missing}", **python) == "differs"
    assert raised("TypeError: f() " + missing.replace("1", "2"), f"f() {missing}", **python) == "differs"
    said, real = "integer division or modulo by zero", "division by zero"
    assert raised(f"ZeroDivisionError: {said}", real, "ZeroDivisionError", raised=False) == "not run"
    elsewhere = {"place": "/env/lib/python3.12/site-packages/other/x.py"}
    assert raised("ValueError: its own words", "other words", **elsewhere) == "not run"
    assert raised("ValueError: failed: old words", "failed: new words", before="new words") == "not run"


@pytest.mark.parametrize(("want", "got"), [("0.343...", "0.3333333333333333"), ("0.33...", "-0.3333333333333333")])
def test_a_wrong_number_that_is_cut_short_differs(want: str, got: str) -> None:
    assert verdict_on_example(f"{want}\n", f"{got}\n") == "differs"
