"""The endpoint for programs that ask a model by themselves: every request goes through the gateway, none gets round it."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from workbench.models.endpoint import ChatEndpoint
from workbench.models.types import Answer, ContextOverflow, MissingKey, RateLimited, SpendLimit, Usage


class Canned:
    """Answers with the question and its number, or raises."""

    def __init__(self, error=None):
        self.requests = []
        self.error = error
        self.waiting = 0
        self.room = None

    async def complete(self, request):
        self.requests.append(request)
        if self.error:
            raise self.error
        if self.room is not None:
            self.waiting += 1
            if self.waiting == self.room:
                self.everybody.set()
            await self.everybody.wait()
        said = f"{request.messages[-1].content}/{request.sample}"
        return Answer(said, "answered-by", Usage(7, 3), 0.25, 0.0, "stop")


def ask(text="hello", **more):
    return {"model": "whatever", "messages": [{"role": "user", "content": text}], **more}


class Client:
    def __init__(self, endpoint, port):
        self.url = f"http://127.0.0.1:{port}"
        self.http = httpx.AsyncClient(headers={"Authorization": f"Bearer {endpoint.key}"}, timeout=20)

    async def post(self, body, path="/v1/chat/completions", **options):
        return await self.http.post(self.url + path, json=body, **options)


@pytest.fixture
async def served():
    gateway = Canned()
    endpoint = ChatEndpoint(gateway, "openai/the-model", purpose="documenter", scope="scope-1")
    async with endpoint.on_loopback() as port:
        client = Client(endpoint, port)
        yield gateway, endpoint, client
        await client.http.aclose()


async def test_a_request_becomes_one_of_the_gateway_with_the_runs_model(served):
    gateway, endpoint, client = served
    body = {
        "model": "gpt-of-the-program",
        "messages": [
            {"role": "developer", "content": "rules"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ],
        "temperature": 0.2,
        "max_completion_tokens": 50,
        "stop": "END",
        "seed": 4,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}},
    }
    for path in ("/v1/chat/completions", "/api.openai/v1/chat/completions"):
        answered = (await client.post(body, path)).json()
        assert answered["choices"][0]["message"] == {"role": "assistant", "content": "ab/0"}
        assert answered["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        assert answered["model"] == "answered-by"
    first, second = gateway.requests
    assert first == second
    assert (first.model, first.purpose, first.scope) == ("openai/the-model", "documenter", "scope-1")
    assert [(m.role, m.content) for m in first.messages] == [("system", "rules"), ("user", "ab")]
    assert first.sampling.to_json() == {"temperature": 0.2, "max_tokens": 50, "stop": ["END"], "seed": 4}
    assert first.json_schema == {"type": "array"}
    assert endpoint.usage.requests == endpoint.usage.answered == 2
    assert endpoint.usage.cost_usd == 0.5


async def test_samples_and_a_stream(served):
    _, _, client = served
    several = (await client.post(ask(n=3))).json()
    assert [choice["message"]["content"] for choice in several["choices"]] == ["hello/0", "hello/1", "hello/2"]
    streamed = await client.post(ask(stream=True))
    events = [line.removeprefix("data: ") for line in streamed.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    parts = [json.loads(event) for event in events[:-1]]
    assert "".join(c["delta"].get("content", "") for part in parts for c in part["choices"]) == "hello/0"
    assert parts[1]["choices"][0]["finish_reason"] == "stop"
    assert parts[-1]["usage"]["total_tokens"] == 10


async def test_many_at_once_wait_for_one_another(served):
    gateway, endpoint, client = served
    gateway.room, gateway.everybody = 40, asyncio.Event()
    answers = await asyncio.gather(*(client.post(ask(str(number))) for number in range(40)))
    assert [one.json()["choices"][0]["message"]["content"] for one in answers] == [f"{n}/0" for n in range(40)]
    assert endpoint.usage.answered == 40


async def test_without_the_runs_key_nothing_is_asked(served):
    gateway, endpoint, client = served
    for key in ("", f"Bearer {endpoint.key}x", endpoint.key):
        refused = await client.post(ask(), headers={"Authorization": key})
        assert refused.status_code == 401
        assert endpoint.key not in refused.text
    assert gateway.requests == []
    assert endpoint.usage.requests == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"model": "m"}, "no messages"),
        (ask(tools=[{"type": "function"}]), "tools"),
        (ask(n=1000), "n is not a number"),
        (ask(temperature="hot"), "temperature"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "parts that are not text"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "no role"),
        ([1], "no messages"),
    ],
)
async def test_what_cannot_be_passed_on_is_refused_with_the_reason(served, body, words):
    gateway, endpoint, client = served
    refused = await client.post(body)
    assert refused.status_code == 400
    assert words in refused.json()["error"]["message"]
    assert words in endpoint.errors[0]
    assert gateway.requests == []


async def test_garbage_and_other_paths(served):
    _, _, client = served
    assert (await client.http.post(f"{client.url}/v1/chat/completions", content=b"\xff{")).status_code == 400
    assert (await client.http.post(f"{client.url}/v1/embeddings", json={})).status_code == 404
    models = (await client.http.get(f"{client.url}/v1/models")).json()
    assert [one["id"] for one in models["data"]] == ["openai/the-model"]

    async def pieces():
        yield json.dumps(ask("in "))[:20].encode()
        yield json.dumps(ask("in "))[20:].encode()

    chunked = await client.http.post(f"{client.url}/v1/chat/completions", content=pieces())
    assert chunked.json()["choices"][0]["message"]["content"] == "in /0"


@pytest.mark.parametrize(
    ("error", "status", "ends"),
    [
        (ContextOverflow("too long"), 400, False),
        (RateLimited("slow down"), 429, False),
        (SpendLimit("two dollars are spent"), 402, True),
        (MissingKey("no key", permanent=True), 401, True),
        (OSError("no session any more"), 500, True),
    ],
)
async def test_a_failure_is_told_once_and_ends_the_program_where_no_other_request_can_succeed(
    served, error, status, ends
):
    gateway, endpoint, client = served
    gateway.error = error
    failed = await client.post(ask())
    assert failed.status_code == status
    assert failed.headers["x-should-retry"] == "false"  # the gateway has tried again already
    if status != 500:
        assert failed.json()["error"]["message"] == str(error) == endpoint.errors[0]
    assert endpoint.ended.is_set() is ends
    assert (endpoint.failure is error) is ends


async def test_a_program_for_which_no_model_was_named():
    endpoint = ChatEndpoint(None, "", purpose="documenter", scope="s")
    async with endpoint.on_loopback() as port:
        client = Client(endpoint, port)
        refused = await client.post(ask())
        assert refused.status_code == 404
        assert endpoint.errors == ["it called a model, but none was configured for it"]
        await client.http.aclose()


@pytest.mark.parametrize(("asked", "sent"), [({}, 100), ({"max_tokens": 4096}, 100), ({"max_tokens": 20}, 20)])
async def test_an_answer_may_be_limited_whatever_the_program_allows(asked, sent):
    gateway = Canned()
    endpoint = ChatEndpoint(gateway, "local", purpose="documenter", scope="s", most_tokens=100)
    async with endpoint.on_loopback() as port:
        client = Client(endpoint, port)
        await client.post(ask(**asked))
        await client.http.aclose()
    assert gateway.requests[0].sampling.max_tokens == sent
