"""Answers that were billed and cannot be used: what they cost is recorded, and whose fault they are."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from typing import Any

import pytest
from loopback.server import LoopbackServer, Reply
from models.test_gateway import KEY, QUICK, Log, ask

from workbench.models import Answer, ModelError, Usage
from workbench.models.gateway import Gateway
from workbench.models.secrets import hide

pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer")

BILLED = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
PRICE = 0.0035  # of gpt-4o


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def gateway(loopback_server: LoopbackServer, log: Log) -> Gateway:
    return Gateway(log, QUICK, base_url=loopback_server.base_url)


def reply(content: object = "", finish: str = "stop", choice: object = None, **more: object) -> Reply:
    message = {"role": "assistant", "content": content}
    choices = [choice if choice is not None else {"index": 0, "message": message, "finish_reason": finish}]
    return Reply(raw=json.dumps({"id": "c", "model": "gpt-4o", "usage": BILLED, "choices": choices, **more}).encode())


def with_error(error: object, content: str = "") -> Reply:
    return reply(choice={"message": {"content": content}, "finish_reason": "error", "error": error})


@pytest.mark.parametrize(
    ("billed", "kind", "tries"),
    [
        (reply(finish="length"), "malformed", 3),
        (reply(None), "malformed", 3),
        (reply([{"type": "thinking", "thinking": "Hm."}]), "malformed", 3),
        (reply(choices=[]), "malformed", 3),
        (reply(choices=None), "malformed", 3),
        (reply(choice={"index": 0, "finish_reason": "stop"}), "malformed", 3),
        (reply(finish="content_filter"), "refused", 1),
        (reply([{"type": "refusal", "refusal": "No."}]), "refused", 1),
        (reply(finish="error"), "unavailable", 4),
        (reply("```python\n    return 1", finish="error"), "unavailable", 4),
        (reply("A part", finish="network_error"), "unavailable", 4),
        (with_error({"code": 502, "message": "upstream died"}), "unavailable", 4),
        (with_error("upstream died", "A part"), "unavailable", 4),
        (reply("A part", error={"code": "server_error", "message": "upstream died"}), "unavailable", 4),
        (reply(choices=[], error={"code": 502, "message": "upstream died"}), "unavailable", 4),
        (reply(choices=None, error="upstream died"), "unavailable", 4),
        (reply(choices=[], error={"code": "429", "message": "slow down"}), "rate_limited", 4),
        (reply(choices=[], error={"code": 401, "message": "wrong key"}), "key", 1),
        (reply(choices=[], error={"code": "content_filter", "message": "no"}), "refused", 1),
        (reply(choices=[], error={"code": "insufficient_quota", "message": "no"}), "refused", 1),
        (reply(choices=None, error={"type": "authentication_error", "message": "wrong key"}), "key", 1),
        (reply(choices=None, object="error", type="NotFoundError", message="no such model"), "refused", 1),
        (reply(choices=None, base_resp={"status_code": 1008, "status_msg": "insufficient balance"}), "unavailable", 4),
        (
            reply(choice={"message": {"content": ""}, "finish_reason": "stop", "native_finish_reason": "SAFETY"}),
            "refused",
            1,
        ),
        (reply(finish="length", usage={"input_tokens": 1000, "output_tokens": 100}), "malformed", 3),
    ],
    ids=[
        *("empty", "null", "thought-alone", "no-choices", "null-choices", "no-message", "filtered", "refused"),
        *(
            "finish-error",
            "finish-error-partial",
            "network-error",
            "choice-502",
            "choice-words",
            "beside-choices",
            "502",
        ),
        *("words", "429", "401", "filter", "quota"),
        *("kind-of-key", "body-is-the-error", "base-resp", "native-filter", "counts-of-anthropic"),
    ],
)
async def test_each_billed_try_is_a_record_with_tokens_and_price(billed, kind, tries, gateway, loopback_server, log):
    loopback_server.answer = lambda body: billed
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask())
    assert (caught.value.kind, len(loopback_server.seen)) == (kind, tries)
    assert [(call.usage, call.cost_usd) for call in log.calls] == [(Usage(1000, 100), PRICE)] * tries
    assert math.isclose(gateway.spent_usd, tries * PRICE)


async def test_a_retry_that_succeeds_leaves_what_was_billed_before(gateway, loopback_server, log):
    loopback_server.script.extend([reply(finish="length"), reply("Hello.")])
    answer = await gateway.complete(ask())
    assert (answer.usage, answer.attempts) == (Usage(1000, 100), 2)
    assert [(call.usage, call.answer is None) for call in log.calls] == [
        (Usage(1000, 100), True),
        (Usage(1000, 100), False),
    ]


async def test_stopping_while_it_waits_loses_nothing_that_was_billed(loopback_server: LoopbackServer, log: Log) -> None:
    recorded = asyncio.Event()

    class Noticing(Log):
        def record(self, call: Any) -> None:
            log.record(call)
            recorded.set()

    slow = Gateway(Noticing(), QUICK.__class__(tries=4, backoff_s=60), base_url=loopback_server.base_url)
    loopback_server.answer = lambda body: reply(finish="length")
    asked = asyncio.create_task(slow.complete(ask()))
    await recorded.wait()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert [call.cost_usd for call in log.calls] == [PRICE]


@pytest.mark.parametrize(
    ("content", "reasoning"),
    [
        ([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}], None),
        ([{"type": "output_text", "text": "Hello."}], None),
        (
            [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Hello."}],
            "Hm.",
        ),
        ([{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Hello."}], "Hm."),
        ([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": {"value": "Hello."}}], None),
        (["Hello."], None),
        ({"type": "text", "text": "Hello."}, None),
    ],
)
async def test_content_in_parts_is_read(content, reasoning, gateway, loopback_server):
    loopback_server.answer = lambda body: reply(content)
    answer = await gateway.complete(ask())
    assert (answer.text, answer.reasoning or None) == ("Hello.", reasoning)


@pytest.mark.parametrize(
    "error", [{"message": "", "code": None}, {"message": "success", "code": 0}, {"message": "ok", "code": 200}]
)
async def test_an_error_without_content_beside_an_answer_is_none(error, gateway, loopback_server):
    loopback_server.answer = lambda body: reply("Hello.", error=error)
    answer: Answer = await gateway.complete(ask())
    assert answer.text == "Hello."


@pytest.mark.parametrize("around", [("", ""), ("x", "y"), ("ab", ""), ('{"key": "', '"}')])
def test_an_encoded_key_is_masked(around: tuple[str, str]) -> None:
    key = f"{KEY}+/&é"
    said = key.join(around).encode()
    for encoded in (base64.b64encode(said), base64.urlsafe_b64encode(said), said.hex().encode()):
        core = KEY.encode()
        shown = hide(f"It is {encoded.decode()}.", {key})
        assert "[key]" in shown
        assert core.hex() not in shown
        assert base64.b64encode(core[3:18]).decode() not in shown
    for written in (json.dumps(key), "key=sk-live-0123456789abcdef%2B%2F%26%C3%A9"):
        assert KEY not in hide(written, {key})
