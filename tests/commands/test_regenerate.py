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
from commands.conftest import interrupt_when
from engine.tiny_repository import BAD, GOOD, SOURCE, TASKS, Writer, fenced, make_repository

from workbench.base import paths
from workbench.cli import main

Until = Callable[..., Any]
pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]


def test_tasks_lists_each_task_and_why_the_others_are_none(repository, lines, capsys):
    printed = lines("tasks", repository)
    tasks = [line for line in printed if line["type"] == "task"]
    assert [task["task_id"] for task in tasks] == list(TASKS)
    assert tasks[0]["tests"] == ["tests/test_sums.py::test_add", "tests/test_sums.py::test_add_negative"]
    assert tasks[0]["coverage"] == 1.0
    assert tasks[0]["docstring"] == "Return the sum of two numbers."
    assert [line["task_id"] for line in printed if line["type"] == "dropped"] == ["sums.py::unused"]
    assert (printed[-1]["type"], printed[-1]["tasks"], printed[-1]["dropped"]) == ("summary", 3, {"trace": 1})
    # Ids are stable, both kinds are accepted, and nothing is built again.
    again = lines("tasks", repository, "--task", tasks[1]["id"])
    assert [line for line in again if line["type"] == "task"] == [tasks[1]]
    assert again[-1]["cached"] is True
    assert main(["tasks", repository, "--limit", "1"]) == 0
    shown = capsys.readouterr().out
    assert "1 task (3 in all) of 4 functions" in shown
    assert "No stable test executes it." in shown
    for command in (["tasks", repository], ["regenerate", repository, "--evaluator", "reference"]):
        assert main([*command, "--task", "nothing"]) == 2
        assert "No task is called nothing" in capsys.readouterr().err


def test_reference_is_one_and_stub_is_zero(repository, lines, capsys, home, until):
    for evaluator, value in (("reference", 1.0), ("stub", 0.0)):
        closing = lines("regenerate", repository, "--evaluator", evaluator, "--session", "controls", "--k", "1,3")[-1]
        assert closing["pass_at_k"] == {"1": value, "3": None}
        assert (closing["tasks"], closing["samples"], closing["excluded"]) == (3, 1, 0)
        assert closing["controls"] == {"reference": 1.0, "stub": 0.0}
    # The engine closes the file a moment after the command has read its last figure.
    until(lambda: [path.name for path in (home / "data" / "sessions").iterdir()] == ["controls.session"])
    assert main(["regenerate", repository, "--evaluator", "stub", "--session", "controls"]) == 0
    shown = capsys.readouterr().out
    assert "pass@1 0.00 [0.00, 0.56] over 3 tasks · pass@3 –" in shown
    assert "95 % interval (Wilson) over 3 tasks, which all have the same value." in shown
    # show understands the names that rerun understands.
    for name in ("clamp", "sums.py::clamp", "*clamp"):
        assert main(["show", "controls", name]) == 0
        assert capsys.readouterr().out.startswith("clamp  sums.py\n")
    assert main(["show", "controls", "sums.py"]) == 2
    assert "matches 3 tasks: sums.py::add (" in capsys.readouterr().err


def test_a_model_live_then_more_samples_then_rerun_and_resume(repository: str, scripted: Any, lines: Any) -> None:
    scripted.answer = Writer({name: [fenced(GOOD[name]), fenced(BAD[name])] for name in GOOD})
    arguments = ["--evaluator", "openai/scripted", "--session", "demo"]
    printed = lines("regenerate", repository, *arguments, "--samples", "2", "--k", "1,2")
    verdicts = [line for line in printed if line["type"] == "candidate" and not line["control"]]
    assert sorted(line["verdict"] for line in verdicts) == ["failed"] * 3 + ["passed"] * 3
    assert {line["name"] for line in printed if line["type"] == "stage"} >= {"fetch", "suite", "candidates"}
    assert printed[-1]["pass_at_k"] == {"1": 0.5, "2": 1.0}
    printed = lines("regenerate", repository, *arguments, "--samples", "5", "--k", "1")
    assert not {line["id"] for line in verdicts} & {line["id"] for line in printed if line["type"] == "candidate"}
    assert printed[-1]["pass_at_k"]["1"] == pytest.approx(0.2)
    assert printed[-1]["verdicts"] == {"passed": 3, "failed": 12}
    closing = lines("rerun", "demo", "clamp", "--model", "openai/other", "--samples", "1")[-1]
    assert (closing["evaluator"], closing["tasks"], closing["candidates"]) == ("openai/other", 1, 1)
    asked = len(scripted.seen)
    assert lines("rerun", "demo", "--failed")[-1]["type"] == "summary"
    assert lines("resume", "demo")[-1]["type"] == "summary"
    assert len(scripted.seen) == asked


@pytest.mark.slow
def test_figures_say_on_which_tasks_they_rest_and_what_was_ignored(one_cache, tmp_path, lines, capsys):
    # One docstring carries its code.
    documented = 'Do ``return text.upper() + "!"``: return the text in capitals'
    repository = str(make_repository(tmp_path / "sums", SOURCE.replace("Return the text in capitals", documented)))
    file = tmp_path / "answers.jsonl"
    answers = [("sums.py::add", GOOD["add"]), ("sums.py::add", BAD["add"]), ("sums.py::shout", GOOD["shout"])]
    answers += [("sums.py::gone", "pass"), ("sums.py::gone", "pass"), ("else.py::where", "pass")]
    file.write_text(
        "".join(json.dumps({"task_id": one, "completion": f"    {body}\n"}) + "\n" for one, body in answers)
    )
    arguments = ["regenerate", repository, "--evaluator", f"samples:{file}", "--k", "1,2", "--session", "figures"]
    closing = lines(*arguments)[-1]
    assert closing["note"] == "answers.jsonl: 3 lines name no task here and were ignored, the first 'sums.py::gone'."
    assert closing["samples_per_task"] == [0, 2]
    assert closing["tasks_at_k"] == {"1": 2, "2": 1}
    assert closing["pass_at_k"] == {"1": 0.75, "2": 1.0}
    # With and without the docstring that contains the code: add alone passes once in two.
    assert closing["leaking"] == 1
    assert closing["pass_at_k_without_leaking"] == {"1": 0.5, "2": 1.0}
    assert main(arguments) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("3 lines name no task here", "pass@1 0.75", "(of 2 tasks)", "pass@2 1.00 (of 1 task)",
                  "0 to 2 of 2 samples a task", "without 1 leaking: pass@1 0.50, pass@2 1.00"):  # fmt: skip
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--k", "0"], "--k takes whole numbers"),
        (["--samples", "0"], "whole number of 1 or more"),
        (["--evaluator", "anthropic/claude-sonnet-4-5"], "ANTHROPIC_API_KEY"),
        (["--docs", "llm:anthropic/claude-sonnet-4-5"], "ANTHROPIC_API_KEY"),
        (["--docs", "oracle"], "no doc system"),
        (["--evaluator", "samples:/nowhere"], "cannot be read"),
        (["--sandbox", "chroot"], "no sandbox called 'chroot'; choose from bubblewrap, docker, process"),
    ],
)
def test_wrong_use_is_one_sentence_and_leaves_no_session(repository, home, capsys, arguments, words):
    assert main(["regenerate", repository, "--evaluator", "reference", *arguments]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert "Traceback" not in printed
    assert not list((home / "data").rglob("*.session"))


def test_what_is_refused_leaves_no_copy_of_the_example(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = next(paths.bundled("sessions").glob("*.session"))
    before = example.read_bytes()
    for arguments, code in (
        (["resume"], 0), (["cancel"], 0), (["resume", "--run", "nothing"], 2), (["rerun"], 2), (["rerun", "nothing-like-it"], 2),
        (["rerun", "*", "--model", "anthropic/claude-sonnet-4-5"], 2),
    ):  # fmt: skip
        assert main([arguments[0], str(example), *arguments[1:]]) == code, capsys.readouterr()
        assert not list(home.rglob("*.session*"))
    assert example.read_bytes() == before
    assert [path.name for path in example.parent.glob(f"{example.name}*")] == [example.name]


def test_interrupted_is_130_and_resume_finishes(repository, scripted, lines, capsys, tmp_path):
    writer = scripted.answer = Writer({name: [fenced(body)] for name, body in GOOD.items()}, stop_at=2)
    session = str(tmp_path / "broken.session")
    interrupt_when(writer.reached)
    command = ["regenerate", repository, "--evaluator", "openai/scripted", "--session", session]
    assert main([*command, "--json"]) == 130
    printed = capsys.readouterr()
    assert f"workbench resume {session}" in printed.err
    assert json.loads(printed.out.splitlines()[-1])["type"] == "summary"
    writer.go.set()
    writer.stop_at = 0
    assert lines("resume", session)[-1]["pass_at_k"]["1"] == 1.0


@pytest.mark.slow
@pytest.mark.fresh_engines
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.nightly)])
def test_a_command_that_is_ended_says_that_the_run_goes_on(repository, scripted, capsys, until, tmp_path, number):
    writer = scripted.answer = Writer({name: [fenced(body)] for name, body in GOOD.items()}, stop_at=2)
    session = tmp_path / "left.session"
    command = [sys.executable, "-m", "workbench", "regenerate", repository, "--evaluator", "openai/scripted"]
    command += ["--samples", "1", "--session", str(session), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(writer.reached.is_set, 90)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    for words in ("run continues", f"workbench open {session}", f"workbench cancel {session}"):
        assert words in err
    assert "Traceback" not in err
    assert engines(session)
    assert main(["resume", str(session)]) == 0
    assert "Already running" in capsys.readouterr().err
    assert main(["cancel", str(session)]) == 0
    writer.go.set()
    until(lambda: not engines(session), 30, "the engine's end")


def engines(session: Path) -> list[str]:
    """The engine processes of this machine that work on a session."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"workbench.engine" in words and str(session).encode() in words:
            found.append(file.parent.name)
    return found
