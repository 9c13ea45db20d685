"""Agents that break the rules: each ends its conversation with one clear sentence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from remote_agents.rogue import (
    STREAM,
    Rogue,
    card,
    event,
    json_page,
    message,
    nothing,
    result,
    said,
    serving,
    task,
)

from workbench.agents.protocol import Action, parse_action
from workbench.interop.a2a.card import fetch_card
from workbench.interop.a2a.peer import Peer, PeerClient, PeerLimits
from workbench.models.types import CallRecord, Message, ModelError, Request

HERE = "<json>{}</json>"
CALL = '<json>{"name": "list_directory", "kwargs": {"path": "."}}</json>'


# -- answers: what is sent for the first message, whether as a stream, and what the sentence says


async def silent(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await asyncio.Event().wait()


async def dying(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    return


async def dying_in_the_middle(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await send(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"jsonrpc"')


def stream(*values: object) -> Callable[..., Any]:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        await send(STREAM + b"".join(event(request, value) for value in values))

    return answer


def single(value: object) -> Callable[..., Any]:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        await send(result(request, value))

    return answer


async def flooding(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await send(STREAM)
    working = event(request, task("WORKING", "x" * 100_000))
    while True:
        await send(working)


async def endless(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        await send(b" " * 100_000)


def error(request: dict[str, Any]) -> bytes:
    return json_page({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "no\x1b[2J idea"}})


async def failing(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await send(error(request))


async def refusing(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    body = b'{"detail": "method should be message/stream"}'
    await send(b"HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


async def circling(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await send(b"HTTP/1.1 307 Moved\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


async def not_json(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>")


async def redirecting(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
    await send(b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    ("streaming", "answer", "kind", "words"),
    [
        (False, silent, "timeout", "did not answer within 0.5 s"),
        (True, silent, "timeout", "did not answer within 0.5 s"),
        (False, dying, "unavailable", "closed the connection before it answered"),
        (False, dying_in_the_middle, "unavailable", "closed the connection before it answered"),
        (True, stream(message(HERE), message(HERE)), "malformed", "answered twice"),
        (True, stream(message(CALL), message(CALL)), "malformed", "answered twice"),
        (True, stream(task("COMPLETED", HERE), message(HERE)), "malformed", "answered twice"),
        (True, stream(task("COMPLETED", HERE), task("FAILED", "no")), "malformed", "answered twice"),
        (True, stream(task("WORKING"), task("COMPLETED", HERE, key="u")), "malformed", "answered twice"),
        (
            True,
            stream(task("WORKING", context="a"), task("COMPLETED", HERE, context="b")),
            "malformed",
            "in 2 contexts",
        ),
        (True, stream(), "malformed", "without a message or a task"),
        (True, flooding, "malformed", "sent too much"),
        (False, endless, "malformed", "sent more than 20,000,000 bytes"),
        (False, single(message(" ")), "malformed", "sent an empty answer"),
        (False, single(task("FAILED", "my model is\ngone")), "unavailable", "failed: my model is gone."),
        (False, single(task("REJECTED")), "unavailable", "rejected the message."),
        (False, single(task("AUTH_REQUIRED")), "refused", "requires credentials"),
        (False, single({}), "malformed", "without a message or a task"),
        (False, single({"message": 7}), "malformed", "not an A2A answer"),
        (False, failing, "unavailable", "answered with the error -32603: no idea."),
        (True, failing, "unavailable", "answered with the error -32603: no idea."),
        (False, refusing, "refused", "(HTTP 400): method should be message/stream."),
        (True, refusing, "refused", "(HTTP 400): method should be message/stream."),
        (False, circling, "unavailable", "redirects to /again"),
        (False, not_json, "malformed", "not an A2A answer"),
        (False, redirecting, "unavailable", "redirects to http://127.0.0.1:1/"),
    ],
)
async def test_an_answer_that_breaks_the_rules_ends_the_conversation(streaming, answer, kind, words):
    async with serving(answer) as rogue:
        rogue.card = lambda: json_page(card(rogue.url, streaming=streaming))
        peer = Peer(rogue.url, PeerLimits(seconds=0.5 if answer is silent else 60), headers={})
        with pytest.raises(ModelError) as error:
            await peer.ask("Document this project.")
        await peer.aclose()
    assert words in said(error)
    assert error.value.kind == kind
    assert "\x1b" not in said(error)


@pytest.mark.parametrize(
    ("error_", "words"),
    [
        ({"code": -32001, "message": "Task not found"}, "the error -32001: Task not found."),
        ({"code": 7, "message": "odd", "data": "field x"}, "the error 7: odd (field x)."),
        ({"code": -32602, "message": "bad", "data": [{"msg": "no text"}]}, "the error -32602: bad (no text)."),
        ({"message": "no code"}, "the error: no code."),
        ({"code": -32000}, "the error -32000: no message."),
        ("just words", "the error: just words."),
    ],
)
@pytest.mark.parametrize("older", [False, True])
async def test_an_error_of_json_rpc_is_told_with_its_code_and_its_words(error_, words, older):
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        await send(json_page({"jsonrpc": "2.0", "id": request["id"], "error": error_}))

    async with serving(answer) as rogue:
        if older:
            rogue.card = lambda: json_page({"name": "old", "url": rogue.url, "protocolVersion": "0.3.0"})
        peer = Peer(rogue.url, headers={})
        with pytest.raises(ModelError) as error:
            await peer.ask("one")
        await peer.aclose()
    assert said(error) == f"The agent at {rogue.url} answered with {words}"


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("status", [301, 307, 308])
async def test_a_redirect_within_the_server_is_followed_with_the_message(status: int, streaming: bool) -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        if len(rogue.asked) == 1:
            place = f"{rogue.url}/a2a/".encode()
            await send(b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, place))
        elif streaming:
            await send(STREAM + event(request, message(CALL)))
        else:
            await send(result(request, message(CALL)))

    async with serving(answer) as rogue:
        rogue.card = lambda: json_page(card(rogue.url, streaming=streaming))
        peer = Peer(rogue.url, headers={})
        assert (await peer.ask("one")).text == CALL
        await peer.aclose()
    assert rogue.asked[0] == rogue.asked[1]


def update(state: str, text: str = "", key: str = "m") -> dict[str, Any]:
    status = task(state, text)["task"]["status"]
    if text:
        status["message"]["messageId"] = key
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}}


@pytest.mark.parametrize(
    "events",
    [
        (task("WORKING", "thinking"), update("WORKING", CALL), update("COMPLETED")),
        (task("SUBMITTED"), update("WORKING", "hm", "1"), update("WORKING", CALL, "2"), update("COMPLETED", "Done.")),
        (task("SUBMITTED"), update("WORKING", CALL[:20], "1"), update("WORKING", CALL[20:], "2"), update("COMPLETED")),
        (message("I look around first."), message(CALL)),
        (task("WORKING", "thinking"), message(CALL)),
    ],
)
async def test_a_call_is_found_wherever_an_agent_says_it(events: tuple[dict[str, Any], ...]) -> None:
    async with serving(stream(*events)) as rogue:
        rogue.card = lambda: json_page(card(rogue.url, streaming=True))
        peer = Peer(rogue.url, headers={})
        outcome = parse_action((await peer.ask("one")).text)
        await peer.aclose()
    assert isinstance(outcome, Action)
    assert outcome.name == "list_directory"


async def test_another_context_in_the_middle_ends_the_conversation_and_the_first_one_is_the_agents_own() -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        await send(result(request, message(HERE, f"context {max(1, len(rogue.asked) - 1)}")))

    async with serving(answer) as rogue:
        peer = Peer(rogue.url, headers={})
        await peer.ask("one")
        await peer.ask("two")
        with pytest.raises(ModelError, match="changed its context id"):
            await peer.ask("three")
        await peer.aclose()
        sent = [one["params"]["message"]["contextId"] for one in rogue.asked]
    assert sent[1:] == ["context 1", "context 1"]
    assert sent[0] != "context 1"


async def test_an_agent_that_gives_no_context_back_keeps_ours() -> None:
    async with serving(single(message(HERE, ""))) as rogue:
        peer = Peer(rogue.url, headers={})
        await peer.ask("one")
        await peer.ask("two")
        await peer.aclose()
        first, second = (one["params"]["message"]["contextId"] for one in rogue.asked)
    assert first == second != ""


async def test_a_task_that_is_not_done_yet_is_asked_for_until_it_is() -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        if request["method"] == "SendMessage":
            await send(result(request, task("SUBMITTED")))
        else:
            asked = sum(one["method"] == "GetTask" for one in rogue.asked)
            await send(
                result(request, (task("COMPLETED", "at last") if asked > 2 else task("WORKING", "wait"))["task"])
            )

    async with serving(answer) as rogue:
        peer = Peer(rogue.url, headers={})
        reply = await peer.ask("one")
        await peer.aclose()
    assert reply.text == "at last"
    assert [one["method"] for one in rogue.asked] == ["SendMessage", "GetTask", "GetTask", "GetTask"]


async def test_a_stream_that_stays_open_after_the_answer_is_left() -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        await send(STREAM + event(request, message("done")))
        await asyncio.Event().wait()

    async with serving(answer) as rogue:
        rogue.card = lambda: json_page(card(rogue.url, streaming=True))
        peer = Peer(rogue.url, PeerLimits(seconds=30), headers={})
        assert (await peer.ask("one")).text == "done"
        await peer.aclose()


async def test_a_task_that_is_not_waited_for_any_more_is_cancelled() -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        if request["method"] == "CancelTask":
            await send(result(request, task("CANCELED")["task"]))
        else:
            await send(STREAM + event(request, task("WORKING")))
            await asyncio.Event().wait()

    async with serving(answer) as rogue:
        rogue.card = lambda: json_page(card(rogue.url, streaming=True))
        peer = Peer(rogue.url, PeerLimits(seconds=0.5), headers={})
        with pytest.raises(ModelError, match="did not answer"):
            await peer.ask("one")
        await peer.aclose()
    assert rogue.asked[-1]["method"] == "CancelTask"
    assert rogue.asked[-1]["params"] == {"id": "t"}


# -- credentials


class Calls:
    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> None:
        raise AssertionError("nothing of a remote agent is recalled")

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)


async def test_credentials_go_to_their_origin_only_and_are_never_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "tok-5ecret-5ecret-5ecret"

    async def echoing(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        await send(result(request, message(f"you sent {rogue.headers[-1].get('authorization')}")))

    async with serving(echoing) as mine, serving(echoing) as other:
        headers = {mine.url: {"Authorization": f"Bearer {secret}"}}
        monkeypatch.setenv("WORKBENCH_A2A_HEADERS", json.dumps(headers))
        log = Calls()
        for rogue in (mine, other):
            model = (await fetch_card(rogue.url)).model
            model_client = PeerClient(f"a2a:{rogue.url}", log)
            await model_client.complete(Request(model, (Message("user", "hello"),), "agent"))
            await model_client.aclose()
    assert all(one.get("authorization") == f"Bearer {secret}" for one in mine.headers)
    assert not any("authorization" in one for one in other.headers)
    assert [call.answer.text for call in log.calls if call.answer] == ["you sent [key]", "you sent None"]
    assert secret not in repr(log.calls)


@pytest.mark.parametrize(
    "value", ["{tok", "[7]", '{"http://x": 7}', '{"no address": {}}', '{"http://x": {"A": "b\\n"}}']
)
def test_credentials_that_cannot_be_read_are_refused_without_being_quoted(monkeypatch, value):
    from workbench.base.errors import UsageError
    from workbench.interop.a2a.wire import headers_by_origin

    monkeypatch.setenv("WORKBENCH_A2A_HEADERS", value)
    with pytest.raises(UsageError, match="must be JSON such as") as error:
        headers_by_origin()
    assert value not in str(error.value)


async def test_another_agent_at_the_address_than_was_asked_for_is_refused() -> None:
    async with serving(nothing) as rogue:
        model_client = PeerClient(f"a2a:{rogue.url}", Calls())
        with pytest.raises(ModelError, match="has changed"):
            await model_client.complete(Request("a2a/other@1#00000000", (Message("user", "hello"),), "agent"))
        await model_client.aclose()
