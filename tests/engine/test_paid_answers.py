"""What was billed for answers that cannot be used: in the rows of a session, and within the spend limit of a resume."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from engine.following import ended
from engine.regenerating import start
from loopback.server import Reply

from workbench.engine.records import SessionCallLog
from workbench.models import Answer, CallRecord, MalformedAnswer, Message, Request, Usage
from workbench.orders import running
from workbench.session import SessionReader, SessionWriter, create

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100_000, "total_tokens": 101_000}
PRICE = 1.0025  # of gpt-4o


@pytest.mark.sandbox
@pytest.mark.network
@pytest.mark.usefixtures("needs_bubblewrap")
def test_empty_answers_are_shown_and_a_used_up_limit_asks_nothing_more(
    session, repository, scripted, until, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "1")
    scripted.answer = lambda body: Reply(text="", finish_reason="length", usage=USAGE)
    run = start(session, repository, evaluator="openai/gpt-4o", samples=1, k=(1,), spend_limit=2.0)
    for _ in range(2):
        assert ended(session, run, until) == "done"
        assert len(scripted.seen) == 2
        with SessionReader(session) as reader:
            (row,) = reader.runs()
            rows = [one for one in reader.candidates(run) if not one.control]
            assert math.isclose(row.spend_usd, 2 * PRICE)
            assert sorted(str(one.verdict) for one in rows) == ["error", "invalid", "invalid"]
            assert sum((one.prompt_tokens or 0) + (one.completion_tokens or 0) for one in rows) == 2 * 101_000
            assert math.isclose(sum(one.cost_usd or 0.0 for one in rows), 2 * PRICE)
        running.resume(session, run)


def test_each_try_of_a_request_counts_for_it_also_after_a_resume(tmp_path: Path) -> None:
    path = tmp_path / "s.session"
    create(path)
    request = Request("openai/gpt-4o", (Message("user", "Hi"),), "evaluator", scope="candidate")
    failed = MalformedAnswer("Nothing was said.")
    failed.usage, failed.cost_usd = Usage(10, 2), 0.5
    answer = Answer("Hello.", "gpt-4o", Usage(10, 3), 0.25, 1.0, "stop")
    unknown = MalformedAnswer("The connection broke.")
    with SessionWriter(path) as writer:
        writer.add_run("run", "regenerate", {})
        calls = SessionCallLog(writer, "run")
        assert calls.billed("candidate") == dict.fromkeys(("prompt_tokens", "completion_tokens", "cost_usd"))
        for error in (failed, unknown):
            calls.record(CallRecord(request, 0, None, error, (), 0.0))
        assert calls.billed("candidate") == {"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": 0.5}
        resumed = SessionCallLog(writer, "run")
        assert resumed.recall(request, 0) is None
        resumed.record(CallRecord(request, 0, answer, None, (), 0.0))
        assert resumed.billed("candidate") == {"prompt_tokens": 20, "completion_tokens": 5, "cost_usd": 0.75}
        again = SessionCallLog(writer, "run")
        assert again.recall(request, 0) is not None
        assert again.billed("candidate") == {"prompt_tokens": 20, "completion_tokens": 5, "cost_usd": 0.75}
    with SessionReader(path) as reader:
        assert [row.spend_usd for row in reader.runs()] == [0.75]
