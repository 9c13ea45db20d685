"""JSON objects in answers, whatever stands around them."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.json_answers import objects_in

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES)
# A quotation mark after a brace could make words part of an object.
PROSE = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]))


@settings(max_examples=30)
@given(PROSE, st.lists(st.tuples(OBJECTS, PROSE), max_size=4))
def test_each_object_is_found_in_its_place(before: str, parts: list[tuple[dict[str, object], str]]) -> None:
    text = before + "".join(json.dumps(value) + prose for value, prose in parts)
    found = [one for one in objects_in(text) if text[one.start : one.end] != "{}"]
    assert [one.value for one in found] == [value for value, _ in parts if value]
    assert all(json.loads(text[one.start : one.end]) == one.value for one in found)


@given(st.text(st.sampled_from('{}[]":,\\n a1')))
def test_nothing_raises(text: str) -> None:
    for one in objects_in(text):
        assert isinstance(one.value, dict)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1,}, "c": [1, 2,],}',
        "{'a': {'b': 1}, 'c': [1, 2]}",
        '{\n  // a remark\n  "a": {"b": 1 /* one */}, "c": [1, 2]\n}',
    ],
)
def test_what_is_nearly_json_is_read(text: str) -> None:
    assert [one.value for one in objects_in(f"See {{x}}: {text} and {{y}}.")] == [{"a": {"b": 1}, "c": [1, 2]}]


def test_quotes_escapes_and_words_of_python_in_what_is_nearly_json() -> None:
    (found,) = objects_in(r"""{'a': 'it\'s "x" {', 'b': None, 'c': True, "d": "1 \_ \`x\` // no", }""")
    assert found.value == {"a": 'it\'s "x" {', "b": None, "c": True, "d": r"1 \_ \`x\` // no"}


def test_quotation_marks_and_broken_objects_before_it_do_not_hide_an_object() -> None:
    for before in (
        'The sign "{" opens one. ',
        '{"a": 1,} ',
        "f'{x}' {'a': 1} ",
        '{"a": ' * 50,
        '{"n": ' + "1" * 5000 + "} ",
    ):
        assert objects_in(f'{before}{{"b": "{{c}}"}}')[-1].value["b"] == "{c}"


def test_text_made_of_braces_takes_no_time() -> None:
    began = time.monotonic()
    for piece in ("{", '{"', '{"a":', '{"a":1,', '{"a":{"b":1},', "{}"):
        objects_in(piece * (100_000 // len(piece)))
    assert time.monotonic() - began < 20
