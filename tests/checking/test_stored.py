"""A check in a session: what is written is read again, and what is damaged is refused whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from workbench.checking.verdicts import (
    BlockPart,
    BlockResult,
    BlockVerdict,
    CheckDamaged,
    CheckResult,
    from_json,
    sentence,
    to_json,
)
from workbench.claims.claim import Claim, LookupResult, PageRange, Truth

PART = BlockPart(4, "say", BlockVerdict.FAILS, "exit status 2", "no", (), 0.5)
CHECKED = CheckResult(
    ("README.md",),
    (
        BlockResult(
            "README.md", 4, "shell", BlockVerdict.FAILS, "exit status 2", "say", "no", ("-a", "+b"), (PART,), 4, 5
        ),
        BlockResult("README.md", 9, "python", BlockVerdict.NOT_RUN),
    ),
    (
        Claim(
            "option",
            "--words",
            PageRange(2, path="README.md"),
            LookupResult(Truth.UNTRUE, "there is no option --words", "--word", True),
        ),
    ),
    ("A problem.",),
    1.5,
    True,
    (1,),
)


def test_what_is_written_is_read_again() -> None:
    assert from_json(to_json(CHECKED)) == CHECKED


def test_what_a_newer_program_added_is_left_out() -> None:
    values = json.loads(to_json(CHECKED))
    values["mood"] = values["blocks"][0]["colour"] = values["claims"][0]["colour"] = "red"
    del values["blocks"][1]["parts"]
    assert from_json(json.dumps(values)) == CHECKED


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: values.pop("blocks"),
        lambda values: values["blocks"][0].update(verdict="perhaps"),
        lambda values: values["blocks"][0].update(reason=4),
        lambda values: values["blocks"][0].update(path="OTHER.md"),
        lambda values: values["claims"][0].update(text=None),
    ],
)
def test_what_is_damaged_is_refused_in_one_sentence(damage: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(to_json(CHECKED))
    damage(values)
    with pytest.raises(CheckDamaged, match="damaged"):
        from_json(json.dumps(values))


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000])
def test_no_json_of_a_check_is_refused(text: str) -> None:
    with pytest.raises(CheckDamaged):
        from_json(text)


def test_a_nearest_name_that_begins_the_wrong_one_is_told() -> None:
    assert sentence(CHECKED.claims[0]) == "there is no option --words; there is --word"
