"""Canonical texts: one text a value, one value a text, and nothing but values that literals construct."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.sandbox.workbench_runner.values import NotLiteral, decode, encode

_HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, datetime.UTC])),
    st.times(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.lists(st.sampled_from(["a", "b c", "é"])).map(lambda parts: pathlib.PurePosixPath(*parts)),
    st.lists(st.sampled_from(["a", "b c"])).map(lambda parts: pathlib.Path(*parts)),
    st.sampled_from([int, str, object, len, sorted]),
    st.builds(range, st.integers(0, 9), st.integers(0, 9), st.integers(1, 3)),
)
_VALUES = st.recursive(
    _HASHABLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(_HASHABLE, inner, max_size=3),
        st.sets(_HASHABLE, max_size=3),
        st.frozensets(_HASHABLE, max_size=3),
    ),
    max_leaves=6,
)


def _canonical(value: Any) -> str | None:
    try:
        return encode(value)
    except NotLiteral:  # too deep or too long
        return None


@given(_VALUES)
def test_a_canonical_text_stands_for_its_value_and_type(value: Any) -> None:
    text = _canonical(value)
    if text is not None:
        decoded = decode(text)
        assert type(decoded) is type(value)
        assert decoded == value
        assert encode(decoded) == text


@given(st.lists(st.tuples(_HASHABLE, _HASHABLE), max_size=4), st.randoms())
def test_the_order_of_sets_and_dictionaries_does_not_matter(items: list[tuple[Any, Any]], random: Any) -> None:
    mapping = dict(items)
    shuffled = list(mapping.items())
    random.shuffle(shuffled)
    assert _canonical(mapping) == _canonical(dict(shuffled))
    assert _canonical(set(mapping)) == _canonical({key for key, _ in shuffled})


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (1, 1.0), (0.0, -0.0), ("1", b"1"), ([1], (1,)), ({1}, frozenset({1})), ({1: 2}, {True: 2}), (1, "1")],
)
def test_equal_values_of_different_types_have_different_texts(one: Any, other: Any) -> None:
    assert encode(one) != encode(other)


class _Equal(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class _Colour(enum.IntEnum):
    RED = 1


def _endless() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    "value",
    [
        _Equal("x"),
        _Colour.RED,
        collections.OrderedDict(a=1),
        object(),
        print,
        _Colour,
        [].append,
        float("nan"),
        complex(0, float("nan")),
        decimal.Decimal("sNaN"),
        [[[[[[1]]]]]],
        _endless(),
        list(range(201)),
        [[1] * 120, [2] * 120],
        "x" * 2000,
        10**100_000,
        repr(object()),
        b"<a.B object at 0x7f3a5c1d2e80>",
        "/tmp/pytest-of-me/pytest-0/x",
        "in /tmp",
        pathlib.Path("/etc/passwd"),
        datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_no_literal(value: Any) -> None:
    with pytest.raises(NotLiteral):
        encode(value)


@pytest.mark.parametrize(
    "value", ["0xdeadbeef", "look at 0x1", "attmp", "a/tmp", "my/tmp-file", [[[[[1]]]]], [1] * 200]
)
def test_what_only_resembles_a_refused_value_is_a_literal(value: Any) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "__import__('os')",
        "open('f')",
        "().__class__",
        "[x for x in ()]",
        "f'{1}'",
        "1 + 1",
        "...",
        "{**{}}",
        "fractions.Fraction('1e999999999')",
        "float('nan')",
        "{[]}",
        "range()",
        "datetime.date(1, 1, 99)",
        "(" * 400,
        "-" * 5000 + "1",
    ],
)
def test_only_canonical_values_are_decoded(text: str) -> None:
    with pytest.raises(ValueError, match="not a canonical value|day|arg"):
        decode(text)


def test_values_of_the_standard_library_are_written_as_python() -> None:
    value = (datetime.timedelta(hours=25), fractions.Fraction(1, 2), float("-inf"), set(), frozenset({2, 1}))
    text = (
        "(datetime.timedelta(days=1, seconds=3600), fractions.Fraction(1, 2), float('-inf'), set(), frozenset({1, 2}))"
    )
    assert encode(value) == text
