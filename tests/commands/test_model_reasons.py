"""What the command line says where a model gives no answer: one line for each kind of reason, at once, and an early end."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import make_repository
from loopback.server import LoopbackServer, Reply, failure

from workbench.cli import main
from workbench.session import SessionReader, SessionWriter


@pytest.fixture
def repository(
    needs_bubblewrap: None,
    home: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    loopback_server: LoopbackServer,
) -> str:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return str(make_repository(tmp_path / "small-sums"))


def _regenerate(repository: str, session: str, *more: str) -> int:
    return main(["regenerate", repository, "--evaluator", "openai/x", "--session", session, "--no-controls", *more])


@pytest.mark.sandbox
@pytest.mark.network
def test_one_line_for_each_kind_of_reason_with_its_count(
    repository: str, loopback_server: LoopbackServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    numbers = itertools.count(1)

    def answer(body: dict[str, object]) -> Reply:
        number = next(numbers)
        if number == 2:
            return failure(400, "This prompt is not to my taste")
        return failure(500, f"Request req_{number:06d}abc took {number * 1.5} s [/x]")

    loopback_server.answer = answer
    session = str(tmp_path / "reasons.session")
    assert _regenerate(repository, session, "--samples", "3", "--limit", "2") == 1
    told = capsys.readouterr()
    at_once = [line for line in told.err.splitlines() if "error" in line]
    assert sorted(line.partition(":")[0] for line in at_once) == ["1 error", "1 error"]
    assert any("not to my taste" in line for line in at_once)
    at_the_end = [line for line in told.out.splitlines() if " error: " in line or " errors: " in line]
    assert [line.partition(":")[0] for line in at_the_end] == ["5 errors", "1 error"]
    assert "[/x]" in at_the_end[0]

    assert main(["resume", session, "--json"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    events = [line for line in lines if line["type"] == "reason"]
    assert [event["count"] for event in events] == [1]
    assert events[0]["sentence"].startswith("openai/x failed: Request req_")
    closing: dict[str, Any] = lines[-1]
    assert [reason["count"] for reason in closing["reasons"]] == [6]


@pytest.mark.sandbox
@pytest.mark.network
def test_a_resume_while_the_engine_is_about_to_exit_does_what_is_missing(
    repository: str, loopback_server: LoopbackServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loopback_server.answer = lambda body: failure(500, "Not now")
    session = tmp_path / "ending.session"
    assert _regenerate(repository, str(session), "--limit", "1") == 1
    loopback_server.answer = lambda body: "```python\n    return None\n```"
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        while reader.holder(run.id) is not None:
            threading.Event().wait(0.05)
    with SessionWriter(session) as writer:
        # All is there, the run is not yet marked as done, and its engine still holds it: for one more second.
        held = writer.acquire(run.id)
        writer.set_run(run.id, state="running")

        def end() -> None:
            writer.set_run(run.id, state="done")
            writer.release(held)

        threading.Timer(1.0, end).start()
        capsys.readouterr()
        assert main(["resume", str(session)]) == 0
    assert "Being executed right now" not in capsys.readouterr().err
    with SessionReader(session) as reader:
        assert "error" not in {row.verdict for row in reader.candidates(run.id)}


@pytest.mark.sandbox
@pytest.mark.network
@pytest.mark.parametrize("status", [403, 404, 402])
def test_what_cannot_pass_ends_the_run_after_a_few(
    repository: str,
    status: int,
    loopback_server: LoopbackServer,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "1")
    loopback_server.answer = lambda body: failure(status, "Such a thing is not to be had here")
    session = tmp_path / "few.session"
    assert _regenerate(repository, str(session), "--samples", "10") == 1
    told = capsys.readouterr()
    assert "3 errors: " in told.out
    assert "failed 3 times in a row" in told.err
    assert "Such a thing is not to be had here" in told.err
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        verdicts = [row.verdict for row in reader.candidates(run.id)]
    assert verdicts.count("error") == 3
    assert len(verdicts) == 30
    assert len(loopback_server.seen) <= 4

    loopback_server.answer = lambda body: "```python\n    return None\n```"
    assert main(["resume", str(session)]) == 0


def test_a_trial_says_why_it_failed_and_the_summary_counts_it(
    home: Path,
    loopback_server: LoopbackServer,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORKBENCH_BASE_URL", loopback_server.base_url)
    monkeypatch.setenv("COLUMNS", "200")
    loopback_server.answer = lambda body: failure(404, "The model `x` does not exist")
    words = ["run", "word_counter", "--model", "openai/x", "--judge", "offline", "--repeats", "2"]
    assert main([*words, "--session", str(tmp_path / "trial.session")]) == 1
    told = capsys.readouterr().out
    assert told.count("There is no model openai/x at this provider") >= 3
    assert "2 errors: There is no model openai/x" in told
    assert main(["resume", str(tmp_path / "trial.session"), "--json"]) == 1
    closing = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [reason["count"] for reason in closing["reasons"]] == [2]
