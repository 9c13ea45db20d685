"""The model judge through the real gateway, against a server on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loopback.server import LoopbackServer, Reply, failure

from workbench.catalog import Facts
from workbench.models import Answer, CallRecord, Limits, Request
from workbench.models.gateway import Gateway
from workbench.repository import View
from workbench.rubric import LLMJudge, OfflineJudge, Scorecard, score

FACTS = Facts("Count words", ("click",), "python wordcount.py notes.txt", ("totals",), ("total",), "wordcount.py")
README = "# Words\n\nCount words.\n\n```bash\npip install click\npython wordcount.py notes.txt\npython absent.py\n```\n"


class Log:
    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> Answer | None:
        return None

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)


def points(body: Any) -> str:
    text = str(body["messages"])
    keys = (
        ("purpose", "dependencies", "run_command")
        if "main purpose" in text
        else ("clarity", "completeness", "formatting")
    )
    return json.dumps({**dict.fromkeys(keys, 5), "reasoning": "half"})


async def over(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, log: Log) -> Scorecard:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live-0123456789abcdef")
    limits = Limits(timeout_s=5, total_s=10, tries=2, backoff_s=0.01, longest_wait_s=1)
    gateway = Gateway(log, limits, base_url=server.base_url)
    await gateway.warm_up("openai/gpt-4o-mini")  # as an engine does: importing LiteLLM takes seconds of the limit
    try:
        return await score(
            README,
            {"name": "x"},
            parsed=True,
            rubric="aeo-bench",
            facts=FACTS,
            reference_readme=None,
            view=None,
            judge=LLMJudge(gateway, "openai/gpt-4o-mini", scope="trial"),
        )
    finally:
        await gateway.aclose()


async def test_a_model_scores_over_the_gateway(
    loopback_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopback_server.answer = points
    log = Log()
    card = await over(loopback_server, monkeypatch, log)
    assert card.tiers[3].points == 15
    assert card.tiers[4].points == 15
    assert [call.request.purpose for call in log.calls] == ["judge", "judge"]
    assert all(call.request.json_schema for call in log.calls)


async def test_a_server_that_fails_leaves_the_tiers_unscored(
    loopback_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(body: Any) -> str | Reply:
        return failure(500, "no")

    loopback_server.answer = broken
    card = await over(loopback_server, monkeypatch, Log())
    assert card.tiers[3].points is None
    assert card.tiers[4].points is None
    assert card.out_of == 40


async def test_the_real_view_tells_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "wordcount.py").write_text("print(1)\n")
    card = await score(
        README,
        {},
        parsed=True,
        rubric="strict",
        facts=FACTS,
        reference_readme=None,
        view=View(tmp_path),
        judge=OfflineJudge(),
    )
    run = next(criterion for criterion in card.criteria if criterion.key == "run_command")
    assert "'python absent.py' runs a file that is not there" in run.reason
    assert run.points == 4.5
