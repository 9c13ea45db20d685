"""Dataclasses from JSON: what has another form is refused with the place that is wrong, and texts survive as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.base.typed_json import WrongForm, convert, decode, encode
from workbench.plans.plan import RegenerationPlan
from workbench.sandbox import Job, Report, Verdict


def test_a_job_comes_through_json_as_it_is() -> None:
    job = Job("1", ("a::\ud800",), "a.py", b"\xff\x00", function=("f", 1), added=(("b", b"\xfe"),))
    assert decode(Job, json.dumps({**encode(job), "newer": 1})) == job


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ""),
        ("[" * 50_000, ""),
        ("[]", ""),
        ("{}", "source"),
        ('{"source": null}', "source"),
        ('{"source": "a", "asks": [{"evaluator": "a", "samples": true}]}', "asks[0].samples"),
        ('{"source": "a", "asks": [{"evaluator": "a"}]}', "asks[0].samples"),
        ('{"source": "a", "k": ["1"]}', "k[0]"),
    ],
)
def test_another_form_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(WrongForm) as told:
        decode(RegenerationPlan, text)
    assert told.value.place == place


@pytest.mark.parametrize("forged", [{"plain": True}, {"doubtful": "no"}, {"backend": "docker"}])
def test_what_is_judged_outside_of_the_sandbox_is_not_taken_from_its_report(forged: dict[str, Any]) -> None:
    own = {"job": "1", "verdict": "passed", "tests": [{"id": "a", "outcome": "passed"}]}
    assert Report.from_json({**own, **forged}) == Report.from_json(own) == convert(Report, own)
    assert Report.from_json(own).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    "forged",
    [
        {"verdict": "won"},
        {"verdict": None},
        {"tests": {}},
        {"tests": [{"id": "a"}]},
        {"tests": [{"id": "a", "outcome": "passed", "message": 5}]},
        {"seconds": "long"},
        {"changed": [1]},
    ],
)
def test_a_report_of_another_form_passes_nothing(forged: dict[str, Any]) -> None:
    report = Report.from_json({"job": "1", "verdict": "passed", **forged})
    assert (report.job, report.verdict, report.passed) == ("1", Verdict.CRASHED, False)
    assert report.suspicious
