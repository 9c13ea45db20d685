"""What the command line says when a model gives no answer: one line for each kind of reason, at once, and an early end."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest
from loopback.server import Reply, failure

from workbench.cli import main
from workbench.session import SessionReader, SessionWriter

sandboxed = [pytest.mark.sandbox, pytest.mark.network, pytest.mark.usefixtures("needs_bubblewrap")]


@pytest.fixture(autouse=True)
def once(scripted: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "1")
    monkeypatch.setenv("COLUMNS", "200")


def _regenerate(repository: str, session: str, *more: str) -> int:
    return main(["regenerate", repository, "--evaluator", "openai/x", "--session", session, "--no-controls", *more])


class TestRegeneration:
    pytestmark = sandboxed

    def test_one_line_for_each_kind_of_reason_with_its_count(self, repository, scripted, lines, capsys, tmp_path):
        numbers = itertools.count(1)

        def answer(body: dict[str, object]) -> Reply:
            number = next(numbers)
            if number == 2:
                return failure(400, "This prompt is not to my taste")
            return failure(500, f"Request req_{number:06d}abc took {number * 1.5} s [/x]")

        scripted.answer = answer
        session = str(tmp_path / "reasons.session")
        assert _regenerate(repository, session, "--samples", "3", "--limit", "2") == 1
        printed = capsys.readouterr()
        at_once = [line for line in printed.err.splitlines() if "error" in line]
        assert sorted(line.partition(":")[0] for line in at_once) == ["1 error", "1 error"]
        assert any("not to my taste" in line for line in at_once)
        at_the_end = [line for line in printed.out.splitlines() if " error: " in line or " errors: " in line]
        assert [line.partition(":")[0] for line in at_the_end] == ["5 errors", "1 error"]
        assert "[/x]" in at_the_end[0]
        *events, closing = lines("resume", session, code=1)
        reasons = [line for line in events if line["type"] == "reason"]
        assert [event["count"] for event in reasons] == [1]
        assert reasons[0]["sentence"].startswith("openai/x failed: Request req_")
        assert [reason["count"] for reason in closing["reasons"]] == [6]

    def test_what_cannot_pass_ends_the_run_after_a_few(self, repository, scripted, capsys, tmp_path, monkeypatch):
        monkeypatch.setenv("WORKBENCH_CONCURRENCY", "1")
        scripted.answer = lambda body: failure(404, "Such a thing is not to be had here")
        session = tmp_path / "few.session"
        assert _regenerate(repository, str(session), "--samples", "10") == 1
        printed = capsys.readouterr()
        assert "3 errors: " in printed.out
        assert "failed 3 times in a row" in printed.err
        with SessionReader(session) as reader:
            (run,) = reader.runs()
            verdicts = [row.verdict for row in reader.candidates(run.id)]
        assert (verdicts.count("error"), len(verdicts)) == (3, 30)
        assert len(scripted.seen) <= 4

    def test_a_resume_while_the_engine_is_about_to_exit_does_what_is_missing(
        self, repository: str, scripted: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, until: Any
    ) -> None:
        scripted.answer = lambda body: failure(500, "Not now")
        session = tmp_path / "ending.session"
        assert _regenerate(repository, str(session), "--limit", "1") == 1
        scripted.answer = lambda body: "```python\n    return None\n```"
        with SessionReader(session) as reader:
            (run,) = reader.runs()
            until(lambda: reader.holder(run.id) is None)
        with SessionWriter(session) as writer:
            # The run is complete but not yet marked as done, and its engine holds it for another moment.
            held = writer.acquire(run.id)
            writer.set_run(run.id, state="running")

            def end() -> None:
                writer.set_run(run.id, state="done")
                writer.release(held)

            threading.Timer(1.0, end).start()
            assert main(["resume", str(session)]) == 0
        assert "Already running" not in capsys.readouterr().err
        with SessionReader(session) as reader:
            assert "error" not in {row.verdict for row in reader.candidates(run.id)}


def test_a_trial_says_why_it_failed_and_the_summary_counts_it(scripted, lines, capsys, tmp_path):
    scripted.answer = lambda body: failure(404, "The model `x` does not exist")
    session = str(tmp_path / "trial.session")
    words = ["run", "word_counter", "--model", "openai/x", "--judge", "offline", "--repeats", "2", "--session", session]
    assert main(words) == 1
    printed = capsys.readouterr().out
    assert printed.count("There is no model openai/x at this provider") >= 3
    assert "2 errors: There is no model openai/x" in printed
    assert [reason["count"] for reason in lines("resume", session, code=1)[-1]["reasons"]] == [2]
