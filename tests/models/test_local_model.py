"""The embedded model for real: answers, constrained output, crashes, and the exit of its parent."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from workbench.models import Answer, CallRecord, Message, ModelError, Request, Sampling
from workbench.models.gateway import Gateway
from workbench.models.local_files import local_model_status

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not local_model_status().present, reason=local_model_status().detail),
    pytest.mark.asyncio(loop_scope="module"),
]


class Log:
    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> Answer | None:
        return None

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway() -> AsyncIterator[Gateway]:
    gateway = Gateway(Log())
    yield gateway
    await gateway.aclose()


def ask(text: str, tokens: int = 24, **more: object) -> Request:
    sampling = Sampling(temperature=0.3, max_tokens=tokens)
    return Request("local", (Message("user", text),), "agent", sampling, **more)  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_for_end(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        os.sched_yield()
    return not alive(pid)


async def test_it_answers_and_the_same_request_gets_the_same_answer(gateway) -> None:
    first = await gateway.complete(ask("What is a list in Python?"))
    again = await gateway.complete(ask("What is a list in Python?"))
    assert len(first.text) > 20
    assert first.text == again.text
    assert first.model == "local/smollm2-135m-instruct"
    assert first.cost_usd == 0.0
    assert first.usage.prompt_tokens > 5
    assert first.finish_reason == "length"
    # The first question of a conversation is always read anew; the next one finds what it had read.
    assert again.usage.cached_tokens == 0
    question = Message("user", "What is a list in Python?")
    further = (question, Message("assistant", again.text), Message("user", "And a tuple?"))
    next_one = await gateway.complete(Request("local", further, "agent", Sampling(temperature=0.3, max_tokens=24)))
    assert next_one.usage.cached_tokens > 0


async def test_another_sample_is_another_draw(gateway) -> None:
    drawn = [await gateway.complete(ask("Name a colour and an animal.", sample=sample)) for sample in range(4)]
    assert len({answer.text for answer in drawn}) > 1


async def test_a_schema_shapes_the_answer(gateway) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"enum": ["list_directory", "read_file"]}, "path": {"enum": ["a.py", "b.py"]}},
        "required": ["name", "path"],
        "additionalProperties": False,
    }
    answer = await gateway.complete(ask("Pick a tool and a path.", 64, json_schema=schema))
    parsed = json.loads(answer.text)
    assert parsed["name"] in ("list_directory", "read_file")
    assert parsed["path"] in ("a.py", "b.py")


async def test_a_grammar_wins_over_a_schema(gateway) -> None:
    answer = await gateway.complete(ask("Yes or no?", grammar='root ::= "yes" | "no"', json_schema={"type": "object"}))
    assert answer.text in ("yes", "no")


async def test_a_conversation_beyond_the_window_is_named(gateway) -> None:
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask("word " * 9000))
    assert caught.value.kind == "context"


async def test_no_key_of_the_user_is_in_its_environment(gateway, monkeypatch) -> None:
    await gateway.aclose()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-the-child")
    endpoint = await gateway.local_model.endpoint()
    seen = Path(f"/proc/{gateway.local_model.pid}/environ").read_bytes()
    assert b"sk-not-for-the-child" not in seen
    assert endpoint.key.encode() not in Path(f"/proc/{gateway.local_model.pid}/cmdline").read_bytes()


@pytest.mark.slow
async def test_a_crash_is_noticed_the_model_restarted_and_the_call_answered(gateway) -> None:
    await gateway.warm_up("local")
    pid = gateway.local_model.pid
    task = asyncio.create_task(gateway.complete(ask("Tell a long story.", 200)))
    await asyncio.sleep(0.3)
    os.kill(pid, signal.SIGSEGV)
    answer = await task
    assert answer.text
    assert gateway.local_model.pid not in (None, pid)
    attempts = gateway._log.calls[-1].attempts
    assert [bool(attempt.error) for attempt in attempts] == [True, False]
    assert "crashed" in attempts[0].error
    assert "signal 11" in attempts[0].error


async def test_a_model_file_that_is_none_is_told_with_its_last_words(tmp_path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"this is not a model" * 100)
    gateway = Gateway(Log(), local_model_path=str(broken))
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask("Hi"))
    assert caught.value.kind == "crashed"
    assert "could not start" in str(caught.value)
    assert gateway.local_model.pid is None


async def test_a_missing_model_says_how_to_get_it(monkeypatch) -> None:
    monkeypatch.setattr("workbench.models.local_files._package_folder", lambda name: None)
    with pytest.raises(ModelError, match="workbench model install"):
        await Gateway(Log()).complete(ask("Hi"))


USER = """
import asyncio, sys
from workbench.models.local_process import LocalModel

async def main():
    model = LocalModel()
    await model.endpoint()
    print(model.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_killing_its_user_ends_it() -> None:
    with subprocess.Popen([sys.executable, "-c", USER], stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        server = int(user.stdout.readline())
        assert alive(server)
        user.kill()
        assert wait_for_end(server)


async def test_closing_the_gateway_ends_it(gateway) -> None:
    await gateway.warm_up("local")
    pid = gateway.local_model.pid
    await gateway.aclose()
    assert not alive(pid)
