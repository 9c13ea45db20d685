"""``tasks``, ``regenerate``, ``rerun`` and ``resume`` as scripts use them, on a tiny repository in a real sandbox."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands.test_regenerate_told import engines
from engine.tiny_repository import BAD, GOOD, TASKS, Writer, fenced
from loopback.server import LoopbackServer

from workbench.cli import main

Until = Callable[..., Any]
pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]


@pytest.fixture
def model(loopback_server: LoopbackServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    loopback_server.answer = Writer({name: [fenced(GOOD[name]), fenced(BAD[name])] for name in GOOD})
    return loopback_server


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_tasks_lists_each_task_and_why_the_others_are_none(repository: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", repository, "--json"]) == 0
    printed = lines(capsys)
    tasks = [line for line in printed if line["type"] == "task"]
    assert [task["task_id"] for task in tasks] == list(TASKS)
    assert tasks[0]["tests"] == ["tests/test_sums.py::test_add", "tests/test_sums.py::test_add_negative"]
    assert tasks[0]["coverage"] == 1.0
    assert tasks[0]["docstring"] == "Return the sum of two numbers."
    assert [line["task_id"] for line in printed if line["type"] == "dropped"] == ["sums.py::unused"]
    assert printed[-1]["type"] == "summary"
    assert (printed[-1]["tasks"], printed[-1]["dropped"]) == (3, {"trace": 1})
    # Ids are stable, and both kinds are understood; what was built is not built again.
    assert main(["tasks", repository, "--json", "--task", tasks[1]["id"]]) == 0
    again = lines(capsys)
    assert [line for line in again if line["type"] == "task"] == [tasks[1]]
    assert again[-1]["cached"] is True
    assert main(["tasks", repository, "--limit", "1"]) == 0
    told = capsys.readouterr().out
    assert "1 task (3 in all) of 4 functions" in told
    assert "No stable test executes it." in told
    assert main(["tasks", repository, "--task", "nothing"]) == 2
    assert "No task is called nothing" in capsys.readouterr().err
    assert main(["regenerate", repository, "--evaluator", "reference", "--task", "nothing"]) == 2
    assert "No task is called nothing" in capsys.readouterr().err


def test_reference_is_one_and_stub_is_zero(
    repository: str, capsys: pytest.CaptureFixture[str], home: Path, until: Until
) -> None:
    for evaluator, value in (("reference", 1.0), ("stub", 0.0)):
        arguments = ["--evaluator", evaluator, "--session", "controls", "--k", "1,3", "--json"]
        assert main(["regenerate", repository, *arguments]) == 0
        closing = lines(capsys)[-1]
        assert closing["type"] == "summary"
        assert closing["pass_at_k"] == {"1": value, "3": None}
        assert (closing["tasks"], closing["samples"], closing["excluded"]) == (3, 1, 0)
        assert closing["controls"] == {"reference": 1.0, "stub": 0.0}
    # The engine closes the file a moment after the command has read its last figure.
    until(lambda: [path.name for path in (home / "data" / "sessions").iterdir()] == ["controls.session"])
    assert main(["regenerate", repository, "--evaluator", "stub", "--session", "controls"]) == 0
    told = capsys.readouterr().out
    assert "pass@1 0.00 [0.00, 0.56] over 3 tasks · pass@3 –" in told
    assert "95 % interval (Wilson) over 3 tasks, which all have the same value." in told
    assert "clamp" in told


def test_a_model_live_then_more_samples_then_rerun_and_resume(
    repository: str, model: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--evaluator", "openai/scripted", "--session", "demo", "--json"]
    assert main(["regenerate", repository, *arguments, "--samples", "2", "--k", "1,2"]) == 0
    printed = lines(capsys)
    verdicts = [line for line in printed if line["type"] == "candidate" and not line["control"]]
    assert sorted(line["verdict"] for line in verdicts) == ["failed"] * 3 + ["passed"] * 3
    assert {line["name"] for line in printed if line["type"] == "stage"} >= {"fetch", "suite", "candidates"}
    assert printed[-1]["pass_at_k"] == {"1": 0.5, "2": 1.0}
    # Five keep the two.
    assert main(["regenerate", repository, *arguments, "--samples", "5", "--k", "1"]) == 0
    printed = lines(capsys)
    kept = {line["id"] for line in verdicts}
    assert not kept & {line["id"] for line in printed if line["type"] == "candidate"}
    assert printed[-1]["pass_at_k"]["1"] == pytest.approx(0.2)
    assert printed[-1]["verdicts"] == {"passed": 3, "failed": 12}
    # One task with another model.
    assert main(["rerun", "demo", "clamp", "--model", "openai/other", "--samples", "1", "--json"]) == 0
    closing = lines(capsys)[-1]
    assert (closing["evaluator"], closing["tasks"], closing["candidates"]) == ("openai/other", 1, 1)
    asked = len(model.seen)
    assert main(["rerun", "demo", "--failed", "--json"]) == 0
    assert lines(capsys)[-1]["type"] == "summary"
    assert main(["resume", "demo", "--json"]) == 0
    assert lines(capsys)[-1]["type"] == "summary"
    assert len(model.seen) == asked
    assert main(["show", "demo"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--k", "0"], "--k takes whole numbers"),
        (["--samples", "0"], "whole number of 1 or more"),
        (["--limit", "-1"], "whole number of 1 or more"),
        (["--evaluator", "anthropic/claude-sonnet-4-5"], "ANTHROPIC_API_KEY"),
        (["--docs", "llm:anthropic/claude-sonnet-4-5"], "ANTHROPIC_API_KEY"),
        (["--docs", "oracle"], "no doc system"),
        (["--evaluator", "samples:/nowhere"], "cannot be read"),
        (["--sandbox", "nothing"], "no sandbox called"),
    ],
)
def test_wrong_use_is_one_sentence(
    repository: str, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["regenerate", repository, "--evaluator", "reference", *arguments]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err


def test_interrupted_is_130_and_resume_finishes(
    repository: str, model: LoopbackServer, capsys: pytest.CaptureFixture[str], until: Until, tmp_path: Path
) -> None:
    writer = Writer({name: [fenced(body)] for name, body in GOOD.items()}, stop_at=2)
    model.answer = writer
    command = [sys.executable, "-m", "workbench", "regenerate", repository, "--evaluator", "openai/scripted"]
    command += ["--samples", "1", "--session", str(tmp_path / "broken.session"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(writer.reached.is_set, 90)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "workbench resume" in err
    assert json.loads(out.splitlines()[-1])["type"] == "summary"
    writer.go.set()
    writer.stop_at = 0
    assert main(["resume", str(tmp_path / "broken.session"), "--json"]) == 0
    assert lines(capsys)[-1]["pass_at_k"]["1"] == 1.0
    # Neither the interrupted engine nor the one that went on is left.
    until(lambda: not engines(tmp_path / "broken.session"), 60, "the engines' end")
