"""Trap: verdicts can be forged. Passed means: every required test ran and passed, the exit status agrees, nonce and all.

The candidates that try it run in ``tests/sandbox/test_hostile_candidates.py``, on every back end; the rule itself is here.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.sandbox.workbench_runner.judge import judge
from workbench.sandbox.workbench_runner.watching import watch

TESTS = ("t.py::one", "t.py::two")


def event(name: str, outcome: str = "passed") -> dict[str, Any]:
    return {"e": "test", "id": name, "outcome": outcome, "seconds": 0.1, "message": "", "traceback": ""}


END = {"e": "end", "exit": 0, "wrong_copy": [], "patched": [], "compared": True, "collected": 2}
RIGHT = [event(TESTS[0]), event(TESTS[1]), END]


def test_only_a_complete_report_passes() -> None:
    assert judge(RIGHT, TESTS, 0, "exit")["verdict"] == "passed"


@pytest.mark.parametrize(
    ("events", "status"),
    [
        (RIGHT[:-1], 0),
        ([RIGHT[0], END], 0),
        ([END], 0),
        ([], 0),
        (RIGHT, 256),
        (RIGHT, 9),
        (RIGHT, None),
        ([*RIGHT[:-1], {**END, "exit": 1}], 0),
        ([*RIGHT[:-1], {**END, "compared": False}], 0),
        ([*RIGHT[:-1], {**END, "patched": ["_pytest.runner.runtestprotocol"]}], 0),
        ([*RIGHT[:-1], {**END, "wrong_copy": [["sums", "/elsewhere/sums.py"]]}], 0),
        *[([RIGHT[0], event(TESTS[1], outcome), END], 0) for outcome in ("failed", "error", "skipped", "xfailed", "xpassed")],
    ],
)  # fmt: skip
def test_whatever_is_missing_it_has_not_passed(events: list[dict[str, Any]], status: int | None) -> None:
    assert judge(events, TESTS, status, "exit")["verdict"] != "passed"


@given(
    st.lists(
        st.sampled_from([*RIGHT, event(TESTS[0], "failed"), event("t.py::other"), {"e": "start", "id": TESTS[0]}])
    ),
    st.sampled_from([0, 9, 256, None]),
    st.sampled_from(["exit", "timeout", "flood"]),
)
def test_no_mixture_of_events_passes_without_all_of_them(events, status, ended):
    if judge(events, TESTS, status, ended)["verdict"] == "passed":
        assert (status, ended) == (0, "exit")
        assert all(event in events for event in RIGHT)


@pytest.mark.parametrize(
    "events", [[event(TESTS[0], "failed"), event(TESTS[1])], [event(TESTS[0]), event(TESTS[1], "error"), END]]
)
def test_a_candidate_whose_tests_are_all_reported_has_failed_however_long_its_exit_takes(events):
    assert judge(events, TESTS, None, "timeout")["verdict"] == "failed"
    assert judge(events[:1], TESTS, None, "timeout")["verdict"] == "timeout"
    assert judge(RIGHT, TESTS, None, "timeout")["verdict"] == "timeout"
    assert judge(events, (), None, "timeout")["verdict"] == "timeout"


def test_events_without_the_nonce_are_not_read() -> None:
    reader, writer = os.pipe()
    for nonce in ("", "0" * 32, None, "right"):
        for event in RIGHT if nonce != "right" else RIGHT[:1]:
            os.write(writer, json.dumps({**event, "n": nonce}).encode() + b"\n")
    os.write(writer, b"junk\n[1]\n" + json.dumps(END).encode() + b"\n")
    os.close(writer)

    outcome = watch(reader, "right", WATCHED, Ended(0), keep=tuple)
    os.close(reader)
    assert [event["id"] for event in outcome.events] == [TESTS[0]]


WATCHED = {"limits": {"seconds": 5, "output_kb": 64, "memory_mb": 64}, "trace": False}


class Ended:
    """A process that is gone before anybody looked at its memory."""

    descriptor = None

    def __init__(self, status: int, peak: int = 0) -> None:
        self.status, self.peak = status, peak

    def poll(self) -> int:
        return self.status


@pytest.mark.parametrize(
    ("status", "megabytes", "reason"),
    [(9, 65, "out_of_memory"), (9, 63, "signal"), (11, 65, "signal")],
    ids=["killed-above-its-limit", "killed-below", "crashed-above"],
)
def test_who_kills_for_memory_need_not_tell(status: int, megabytes: int, reason: str) -> None:
    reader, writer = os.pipe()
    os.close(writer)
    outcome = watch(reader, "right", WATCHED, Ended(status, megabytes * 2**20), keep=tuple)
    os.close(reader)
    verdict = judge(outcome.events, TESTS, outcome.status, outcome.ended, outcome.exceeded)
    assert (verdict["verdict"], verdict["reason"]) == ("crashed", reason)
    assert verdict["restart"] is (reason == "out_of_memory")
