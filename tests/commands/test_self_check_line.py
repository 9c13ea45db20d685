"""What the end of ``workbench regenerate`` says of the run's own checks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from regenerated import RUN, Recorder

from workbench.commands.closing import exit_code, print_order, self_check_line
from workbench.commands.closing import order_summary as summary


def test_checks_that_hold_are_one_quiet_line(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    cold = json.dumps({"why": "original", "verdict": "passed", "route": "cold", "seconds": 1.0, "agrees": True})
    for place, name in enumerate(("a", "b")):
        task = recorder.task(name, place)
        recorder.cells(task, "✓", evaluator="reference", control=True, recheck=cold)
        recorder.cells(task, "✗", evaluator="stub", control=True)
    closing = summary(recorder.path, RUN)
    assert closing["self_check"]["failed"] == []
    assert exit_code("done", closing) == 0
    assert exit_code("interrupted", closing) == 1
    line = "self-check: reference 2/2 · stub 0/2 · cold re-checks 2, disagreements 0"
    assert self_check_line(closing["self_check"]) == line
    print_order(recorder.path, RUN, closing)
    shown = " ".join(capsys.readouterr().out.split())
    assert line in shown
    assert "✗ SELF-CHECK" not in shown
    print_order(recorder.path, RUN, {**closing, "pending_rechecks": 2})
    assert "2 verdicts will be re-checked on the cold route" in capsys.readouterr().out


def test_checks_that_fail_name_their_tasks(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = recorder.task("good", 0), recorder.task("bad", 1)
    recorder.controls([good])
    recorder.controls([bad], stub="✓")
    cold = json.dumps({"why": "random", "verdict": "failed", "route": "cold", "seconds": 1.0, "agrees": False})
    recorder.sample(good, 0, "✗", recheck=cold)
    closing = summary(recorder.path, RUN)
    assert exit_code("done", closing) == 1  # complete, and not to be believed
    checked = closing["self_check"]
    assert checked["controls"]["stub"] == {"passed": 1, "tested": 2, "errors": 0, "tasks": 2}
    assert [(one["id"], one["check"]) for one in checked["tasks"]] == [(good, "recheck"), (bad, "stub")]
    print_order(recorder.path, RUN, closing)
    shown = " ".join(capsys.readouterr().out.split())
    assert "✗ SELF-CHECK FAILED: stub passes on 1 task (bad): taken out of pass@k" in shown
    assert "✗ VERDICTS DISAGREE: 1 of 1 cold re-check came out otherwise (good): the cold verdict counts" in shown


def test_a_run_without_controls_says_nothing(recorder: Recorder) -> None:
    recorder.cells(recorder.task("a", 0), "✓")
    assert self_check_line(summary(recorder.path, RUN)["self_check"]) == ""
