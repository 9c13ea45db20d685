"""What a line of text asks of the search."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.errors import UsageError
from workbench.search.query import FIELDS, NUMBERS, Condition, Query, parse


def test_words_phrases_and_conditions() -> None:
    query = parse('pyproject.toml "run the command" agent:white lost:"run command" score:<60')
    assert query.words == ("pyproject.toml", "run the command")
    assert query.conditions == (
        Condition("agent", "white"),
        Condition("lost", "run command"),
        Condition("score", high=60.0, strict=True),
    )
    assert query.match() == '"pyproject toml" * AND "run the command" *'


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("score:<60", (0, 59.9), (60, 100, None)),
        ("score:<=60", (0, 60), (60.1, None)),
        ("score:>60", (60.1, 100), (60, 0, None)),
        ("score:>=60.5", (60.5, 100), (60.4, None)),
        ("score:60", (60,), (59.9, 60.1, None)),
        ("score:=60", (60,), (59.9, 60.1)),
        ("score:40..60", (40, 50, 60), (39.9, 60.1, None)),
        ("cost:>0", (0.01,), (0, None)),
    ],
)
def test_bounds(text: str, inside: tuple[float, ...], outside: tuple[float | None, ...]) -> None:
    (condition,) = parse(text).conditions
    assert [condition.holds(number) for number in inside] == [True] * len(inside)
    assert [condition.holds(number) for number in outside] == [False] * len(outside)


def test_days_begin_and_end_here() -> None:
    begins = time.mktime((2026, 11, 1, 0, 0, 0, 0, 0, -1))
    (on,), (after,), (before,) = (parse(f"date:{sign}2026-11-01").conditions for sign in ("", ">", "<"))
    noon, tomorrow, yesterday = begins + 43_200, begins + 100_000, begins - 1
    assert [on.holds(at) for at in (noon, tomorrow, yesterday)] == [True, False, False]
    assert [after.holds(at) for at in (noon, tomorrow, yesterday)] == [False, True, False]
    assert [before.holds(at) for at in (noon, tomorrow, yesterday)] == [False, False, True]


@pytest.mark.parametrize(
    "text", ["score:much", "score:", "cost:<", "score:<1..2", "date:yesterday", "date:2026-13-45", "score:1..x"]
)
def test_a_bound_that_is_none_is_told_in_one_sentence(text: str) -> None:
    if text == "score:":
        assert parse(text) == Query(("score:",))
        return
    with pytest.raises(UsageError, match=r"^\w+: takes a (number|day) such as"):
        parse(text)


def test_a_misspelt_field_is_told_and_other_colons_are_text() -> None:
    with pytest.raises(UsageError, match="did you mean 'agent'"):
        parse("agnet:white")
    assert parse("test_a.py::test_b http://x Error: here").words == ("test_a.py::test_b", "http://x", "Error:", "here")
    assert not parse("  ")
    assert not parse("!!! …")


@given(st.text(max_size=80))
def test_any_text_is_a_query_or_one_sentence(text: str) -> None:
    try:
        query = parse(text)
    except UsageError as error:
        wrong, query = str(error), Query()
    else:
        wrong = ""
    assert wrong.splitlines() in ([], [wrong])
    query.match()
    query.pattern()
    assert all(condition.field in FIELDS for condition in query.conditions)
    assert all(condition.text or condition.field in NUMBERS for condition in query.conditions)
