"""What the command line tells of a run: lines that were ignored, figures over different tasks, what goes on without it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import BAD, GOOD, SOURCE, Writer, fenced, make_repository
from loopback.server import LoopbackServer

from workbench.base import paths
from workbench.cli import main

Until = Callable[..., Any]
pytestmark = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]


@pytest.fixture
def repository(
    home: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    # One docstring carries its code.
    source = SOURCE.replace(
        "Return the text in capitals", 'Do ``return text.upper() + "!"``: return the text in capitals'
    )
    return str(make_repository(tmp_path / "small-sums", source))


def engines(session: Path) -> list[int]:
    """Engine processes of this machine that work on a session."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
        except OSError:
            continue
        if b"workbench.engine" in words and str(session).encode() in words:
            found.append(int(folder.name))
    return found


def test_figures_say_on_which_tasks_they_rest_and_what_was_ignored(
    repository: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.jsonl"
    lines = [("sums.py::add", GOOD["add"]), ("sums.py::add", BAD["add"]), ("sums.py::shout", GOOD["shout"])]
    lines += [("sums.py::gone", "pass"), ("sums.py::gone", "pass"), ("else.py::where", "pass")]
    file.write_text(
        "".join(json.dumps({"task_id": task, "completion": f"    {body}\n"}) + "\n" for task, body in lines)
    )
    arguments = ["regenerate", repository, "--evaluator", f"samples:{file}", "--k", "1,2", "--session", "told"]
    assert main([*arguments, "--json"]) == 0
    closing = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert closing["note"] == "answers.jsonl: 3 lines name no task here and were ignored, the first 'sums.py::gone'."
    assert closing["samples_per_task"] == [0, 2]
    assert closing["tasks_at_k"] == {"1": 2, "2": 1}
    assert closing["pass_at_k"] == {"1": 0.75, "2": 1.0}
    # With and without the docstring that carries the code: add alone passes once in two.
    assert closing["leaking"] == 1
    assert closing["pass_at_k_without_leaking"] == {"1": 0.5, "2": 1.0}
    assert main(arguments) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "3 lines name no task here" in told
    assert "pass@1 0.75" in told
    assert "(of 2 tasks)" in told
    assert "pass@2 1.00 (of 1 task)" in told
    assert "0 to 2 of 2 samples a task" in told
    assert "without 1 leaking: pass@1 0.50, pass@2 1.00" in told
    # A task that was not chosen is a task all the same.
    only = ["regenerate", repository, "--evaluator", f"samples:{file}", "--session", "only", "--task", "add", "--json"]
    assert main(only) == 0
    assert "3 lines" in json.loads(capsys.readouterr().out.splitlines()[-1])["note"]


def test_show_understands_the_names_that_rerun_understands(repository: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["regenerate", repository, "--evaluator", "reference", "--session", "named", "--json"]) == 0
    capsys.readouterr()
    for name in ("clamp", "sums.py::clamp", "*clamp"):
        assert main(["show", "named", name]) == 0
        assert capsys.readouterr().out.startswith("clamp  sums.py\n")
    assert main(["show", "named", "sums.py"]) == 2
    assert "could be 3 tasks: sums.py::add (" in capsys.readouterr().err
    assert main(["show", "named", "nothing"]) == 2
    assert "no item 'nothing'" in capsys.readouterr().err


def test_an_unknown_sandbox_is_wrong_usage_and_leaves_no_session(
    repository: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["regenerate", repository, "--evaluator", "reference", "--sandbox", "chroot"]) == 2
    assert "no sandbox called 'chroot'; choose from bubblewrap, docker, process" in capsys.readouterr().err
    assert not list((home / "data").rglob("*.session"))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["resume"], 0),
        (["cancel"], 0),
        (["resume", "--run", "nothing"], 2),
        (["rerun"], 2),
        (["rerun", "nothing-like-it"], 2),
        (["rerun", "*", "--model", "anthropic/claude-sonnet-4-5"], 2),
    ],
)
def test_what_is_refused_leaves_no_copy_of_the_example(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    example = next(paths.bundled("sessions").glob("*.session"))
    before = example.read_bytes()
    assert main([arguments[0], str(example), *arguments[1:]]) == code, capsys.readouterr()
    assert not list(home.rglob("*.session*"))
    assert example.read_bytes() == before
    assert [path.name for path in example.parent.glob(f"{example.name}*")] == [example.name]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_says_that_the_run_goes_on(
    repository: str,
    loopback_server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    until: Until,
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    writer = Writer({name: [fenced(body)] for name, body in GOOD.items()}, stop_at=2)
    loopback_server.answer = writer
    session = tmp_path / "left.session"
    command = [sys.executable, "-m", "workbench", "regenerate", repository, "--evaluator", "openai/scripted"]
    command += ["--samples", "1", "--session", str(session), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(writer.reached.is_set, 90)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "the run goes on" in err
    assert f"workbench open {session}" in err
    assert f"workbench cancel {session}" in err
    assert "Traceback" not in err
    assert engines(session)
    assert main(["resume", str(session)]) == 0
    assert "Being executed right now" in capsys.readouterr().err
    assert main(["cancel", str(session)]) == 0
    writer.go.set()
    until(lambda: not engines(session), 30, "the engine's end")
