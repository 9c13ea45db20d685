"""Ours for others: the served agent and the assessor, asked by our own client and by one written with a2a-sdk 0.3."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from remote_agents.conftest import READ_LIMIT, Local, completed_order, essence, scores
from remote_agents.processes import PEERS, workbench

from workbench.agents import make_agent
from workbench.agents.agent_context import AgentContext, Assignment
from workbench.agents.protocol import OWN_CLOSINGS, PEER_CLOSINGS, first_message, parse_action, tool_message
from workbench.base import paths
from workbench.base.errors import UsageError
from workbench.catalog import find_case
from workbench.interop.a2a.assessor import read_assessment
from workbench.interop.a2a.listening import TOKEN, ListenAddress, _Server
from workbench.interop.a2a.peer import Peer
from workbench.interop.a2a.served_agent import (
    ServedConversation,
    agent_app,
    assignment_in,
    check_servable,
    observation_of,
    result_in,
)
from workbench.models.types import Answer, ModelError, ModelUnavailable, Request, Usage
from workbench.plans.plan import DocumentPlan
from workbench.repository import View
from workbench.session import SessionReader

pytestmark = pytest.mark.xdist_group("remote-agents")


@pytest.fixture(scope="module")
def served(local: Local) -> Iterator[str]:
    """The white agent on the recorded answers, served by a process of its own; it must stop gracefully."""
    with workbench("serve-agent", "white", "--model", f"replay:{local.recording}") as (process, url):
        yield url
        process.terminate()
        assert process.stderr is not None
        assert process.stderr.read().splitlines()[-1:] == ["Stopped."]
        assert process.wait(20) == 0


def older_client(python: Path, url: str, binding: str, streaming: str, *messages: str) -> list[dict[str, Any]]:
    """Send messages in one context by a client of version 0.3 and return what it got."""
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    command = [str(python), str(PEERS / "client_v03.py"), url, binding, streaming]
    done = subprocess.run(command, input=lines, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


async def test_the_served_agent_scores_the_same_as_in_process(served: str, local: Local, tmp_path: Path) -> None:
    session = tmp_path / "served.session"
    plan = DocumentPlan(("word_counter",), agent=f"a2a:{served}", judge="offline", read_limit=READ_LIMIT)
    (trial,) = await completed_order(session, plan)
    assert essence(session, trial) == essence(local.session, local.trial)
    assert scores(session, trial) == scores(local.session, local.trial)
    assert (trial.prompt_tokens, trial.completion_tokens) == (local.trial.prompt_tokens, local.trial.completion_tokens)
    assert trial.model.startswith("a2a/aeo_white_agent@")


@pytest.mark.network
@pytest.mark.parametrize(("binding", "streaming"), [("JSONRPC", "streaming"), ("HTTP+JSON", "not")])
def test_a_benchmark_of_version_0_3_gets_the_same_answers(served, local, older_python, binding, streaming):
    case = find_case("word_counter")
    messages = [first_message(case.name, case.agent_description)]
    with SessionReader(local.session) as reader:
        steps = reader.steps(local.trial.id)
        for number, step in enumerate(steps[:-1], 1):
            messages.append(tool_message(step.action, reader.text(step.observation_blob), 15 - number))
        expected = [reader.text(step.answer_blob) for step in steps]
    got = older_client(older_python, served, binding, streaming, *messages)
    assert [one["said"] for one in got] == [[text] for text in expected]


# -- conversations


class Scripted:
    """Answers the n-th request with the n-th text; counts how many are asked at the same time."""

    def __init__(self, *texts: str, gate: asyncio.Event | None = None) -> None:
        self.texts, self.gate = texts, gate
        self.asked: list[Request] = []
        self.now = self.peak = 0

    async def complete(self, request: Request) -> Answer:
        self.asked.append(request)
        turn = sum(message.role == "assistant" for message in request.messages)
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            if self.gate is not None:
                await self.gate.wait()
            if not self.texts:
                raise ModelUnavailable("The provider is down.")
            return Answer(self.texts[min(turn, len(self.texts) - 1)], "scripted", Usage(10, 5), 0.01, 0.1, "stop")
        finally:
            self.now -= 1


def call(name: str, **kwargs: object) -> str:
    return f"<json>{json.dumps({'name': name, 'kwargs': kwargs})}</json>"


DONE = call("respond", readme="# Demo\n\nA demo.", metadata={"name": "demo"})


class NoSteps:
    def step(self, step: object) -> None: ...


@pytest.mark.parametrize("agent", ["white", "planner-2", "planner-1", "no-exploration"])
async def test_a_served_agent_asks_its_model_exactly_what_it_asks_in_process(agent: str, tmp_path: Path) -> None:
    for name in ("demo.py", "pkg/inner.py", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n\n")
    texts = [
        call("list_directory"),
        "no call",
        call("read_file", path="demo.py"),
        call("done"),
        call("read_file"),
        DONE,
    ]
    inside, outside = Scripted(*texts), Scripted(*texts)
    context = AgentContext(Assignment("demo", "A project."), View(tmp_path), inside, NoSteps(), model="m", sample=1)  # type: ignore[arg-type]
    submission = await make_agent(agent).document(context)
    conversation = ServedConversation(agent, "m", outside, "c")
    green = AgentContext(
        Assignment("demo", "A project."), View(tmp_path), conversing(conversation), NoSteps(), model="a2a/x"
    )  # type: ignore[arg-type]
    remote = await make_agent("a2a:http://127.0.0.1:1").document(green)
    assert (remote.readme, remote.metadata, remote.parsed) == (
        submission.readme,
        submission.metadata,
        submission.parsed,
    )
    assert [one.digest for one in outside.asked] == [one.digest for one in inside.asked]
    assert set(green.read) == set(context.read)


def conversing(conversation: ServedConversation) -> Any:
    class Asker:
        async def complete(self, request: Request) -> Answer:
            said = await conversation.reply(request.messages[-1].content)
            return Answer(
                said.text, said.model, Usage(said.prompt_tokens, said.completion_tokens), said.cost_usd, 0.1, "stop"
            )

    return Asker()


async def test_a_message_that_failed_can_be_sent_again_and_after_a_submission_comes_another_project() -> None:
    model_client = Scripted()
    conversation = ServedConversation("white", "m", model_client, "c")
    with pytest.raises(ModelError):
        await conversation.reply(first_message("one", "First."))
    model_client.texts = (call("list_directory"), DONE)
    assert parse_action((await conversation.reply(first_message("one", "First."))).text).name == "list_directory"  # type: ignore[union-attr]
    said = await conversation.reply(tool_message("list_directory", '["a.py"]', 10))
    assert (said.text, said.prompt_tokens, said.cost_usd) == (DONE, 10, 0.01)
    await conversation.reply(first_message("two", "Second."))
    assert "Project: two" in model_client.asked[-1].messages[1].content


@pytest.mark.parametrize(
    ("message", "name", "description"),
    [
        (first_message("demo", "Counts words."), "demo", "Counts words."),
        ("**Project Name:** art\n**Project description:** ASCII art.\nTools: …", "art", "ASCII art."),
        ("Please write a README.", "the project", "Please write a README."),
    ],
)
def test_the_project_of_a_first_message_is_read_as_benchmarks_write_it(message, name, description):
    assert assignment_in(message) == Assignment(name, description)


def test_results_of_tools_are_read_back_as_they_were() -> None:
    for steps_left in (5, 1):
        for closings in (OWN_CLOSINGS, PEER_CLOSINGS):
            assert result_in(tool_message("read_file", "a\n\nb", steps_left, closings)) == "a\n\nb"
    assert result_in("Tool call result for 'read_file':\nx\n\nPlease continue.") == "x\n\nPlease continue."
    listed = observation_of("list_directory", {"path": "./pkg/"}, '["a.py", "sub/", "… 3 more"]\n\nPlease continue.')
    assert listed.listed == ("pkg/a.py", "pkg/sub/")
    assert observation_of("read_file", {"path": "a.py"}, "Error: no such file").read == ""
    assert observation_of("read_file", {"path": "./a.py"}, "x").read == "a.py"
    assert observation_of("rm", {}, "x").read == ""


@asynccontextmanager
async def listening(model_client: Any, token: str = "", at_once: int = 4) -> AsyncIterator[str]:
    """Serve the white agent in this process."""
    import uvicorn

    place, found = ListenAddress("127.0.0.1", 0, token).bound()
    app = agent_app(DocumentPlan((), model="m"), place, model_client, at_once)
    server = _Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    task = asyncio.create_task(server.serve(sockets=[found]))
    try:
        yield place.url
    finally:
        server.should_exit = True
        await task


async def test_no_more_messages_are_worked_on_at_once_than_allowed(until: Callable[..., Any]) -> None:
    gate = asyncio.Event()
    model_client = Scripted(call("list_directory"), gate=gate)
    async with listening(model_client, at_once=2) as url:
        peers = [Peer(url, headers={}) for _ in range(5)]
        asking = [asyncio.create_task(peer.ask(first_message("demo", "x"))) for peer in peers]
        while model_client.now < 2:
            await asyncio.sleep(0)
        gate.set()
        replies = await asyncio.gather(*asking)
        for peer in peers:
            await peer.aclose()
    assert model_client.peak == 2
    assert len({reply.context for reply in replies}) == 5


async def test_what_fails_behind_a_served_agent_is_a_sentence_for_whoever_asks() -> None:
    async with listening(Scripted()) as url:
        peer = Peer(url, headers={})
        with pytest.raises(ModelUnavailable, match=r"failed: The provider is down\.$"):
            await peer.ask(first_message("demo", "x"))
        await peer.aclose()


async def test_with_a_token_only_the_card_can_be_had_without_it() -> None:
    token = "t0ken-t0ken-t0ken-t0ken"
    async with listening(Scripted(DONE), token) as url:
        for headers in ({}, {url: {"Authorization": "Bearer wrong"}}):
            peer = Peer(url, headers=headers)
            with pytest.raises(ModelError, match=r"requires credentials \(HTTP 401\)"):
                await peer.ask("Document this project.")
            await peer.aclose()
        peer = Peer(url, headers={url.lower(): {"Authorization": f"Bearer {token}"}})
        assert (await peer.ask("Document this project.")).text == DONE
        await peer.aclose()
        async with httpx.AsyncClient() as web:

            async def pieces() -> AsyncIterator[bytes]:
                yield b"{}"

            long = await web.post(url, content=pieces(), headers={"Authorization": f"Bearer {token}"})
            assert long.status_code == 413


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example:9002"}, {"Host": "127.0.0.1.evil.example"}]
)
async def test_a_web_page_is_not_answered(headers: dict[str, str]) -> None:
    model_client = Scripted(DONE)
    async with listening(model_client) as url, httpx.AsyncClient() as web:
        answer = await web.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}, headers=headers)
        assert answer.status_code == 403
        for place in ("agent-card.json", "agent.json"):
            card = await web.get(f"{url}/.well-known/{place}")
            assert card.json()["name"] == "aeo_white_agent"
    assert model_client.asked == []


@pytest.mark.parametrize(
    ("token", "words"), [("", "set a token in WORKBENCH_SERVE_TOKEN"), ("short", "too easy to guess")]
)
def test_without_a_good_token_only_this_machine_is_served(monkeypatch, token, words):
    monkeypatch.setenv(TOKEN, token)
    with pytest.raises(UsageError, match=words):
        ListenAddress.at("0.0.0.0", 9002)
    monkeypatch.setenv(TOKEN, "")
    assert ListenAddress.at("localhost", 9002).url == "http://localhost:9002"


def test_two_servers_on_one_port_are_one_too_many() -> None:
    place, found = ListenAddress("127.0.0.1", 0).bound()
    with (
        found,
        pytest.raises(
            UsageError, match=r"Cannot listen on .* \(address already in use\); choose another port with --port"
        ),
    ):
        place.bound()


@pytest.mark.parametrize(
    ("agent", "words"),
    [("single-file", "without a tool"), ("a2a:http://x:1", "already served"), ("no such", "There is no agent")],
)
def test_what_cannot_be_served_is_refused(agent: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_servable(agent)


# -- the assessor


@pytest.mark.parametrize(
    "message",
    [
        '{"agents": ["http://127.0.0.1:1", "http://127.0.0.1:2/"], "cases": ["word_counter"], "repeats": 2}',
        '{"participants": {"one": "http://127.0.0.1:1", "two": {"url": "a2a:http://127.0.0.1:2"}}, "config": {"cases": "word_counter", "repeats": 2.0}}',
        "Assess these:\n<white_agent_url>\nhttp://127.0.0.1:1\n</white_agent_url><white_agent_url>http://127.0.0.1:2</white_agent_url>"
        '<env_config>{"case_ids": ["word_counter"], "repeats": 2}</env_config>',
        "Your task is to evaluate the agent at:\n<white_agent_url>\nhttp://127.0.0.1:1/\n</white_agent_url>\n"
        "<white_agent_url>http://127.0.0.1:2</white_agent_url>\nYou should use this configuration:\n"
        '<test_config>\n{\n  "test_ids": [5],\n  "repeats": 2\n}\n</test_config>\n    ',
        'The tags {url} and {} are fine. {"agents": ["http://127.0.0.1:1", "http://127.0.0.1:2"], "test_ids": [5.0], "repeats": 2}',
        'Please: {"agents": "http://127.0.0.1:1, http://127.0.0.1:2", "cases": ["word_counter", "word_counter"], "repeats": 2} Thanks.',
    ],
)
def test_a_request_is_read_as_json_or_as_tags(message: str) -> None:
    found = read_assessment(message)
    assert found.agents == ("a2a:http://127.0.0.1:1", "a2a:http://127.0.0.1:2")
    assert (found.cases, found.repeats) == (("word_counter",), 2)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("hello", "Specify agents by address"),
        ("[" * 100_000, "Specify agents by address"),
        ('{"agents": [7], "cases": ["word_counter"]}', "Specify agents by address"),
        ('{"agents": ["http://x:1"], "cases": []}', "Specify agents by address"),
        ('{"agents": ["http://x:1"], "cases": ["/etc"]}', "no test case"),
        ('{"agents": ["http://x:1"], "test_ids": [6]}', "indexes from 0 to 5: art_github"),
        ('{"agents": ["http://x:1"], "test_ids": [true]}', "indexes from 0 to 5"),
        ('{"agents": ["http://x:1"], "test_ids": "word_counter"}', "indexes from 0 to 5"),
        ('{"agents": ["white"], "cases": ["word_counter"]}', "not the address of an agent"),
        ('{"agents": ["file:///etc/passwd"], "cases": ["word_counter"]}', "not the address of an agent"),
        ('{"agents": ["http://x:1"], "cases": ["word_counter"], "repeats": 99}', "from 1 to 20"),
        ('{"agents": ["http://x:1"], "cases": ["word_counter"], "repeats": true}', "from 1 to 20"),
        (
            json.dumps({"agents": [f"http://x:{n}" for n in range(1, 40)], "cases": ["word_counter"]}),
            "exceed the limit",
        ),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_one_sentence(message: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as error:
        read_assessment(message)
    assert len(str(error.value)) < 400


def test_all_cases_of_the_original_are_asked_for_without_a_number() -> None:
    found = read_assessment(
        '<white_agent_url>http://127.0.0.1:1</white_agent_url><test_config>{"test_ids": null}</test_config>'
    )
    assert found.cases == tuple(sorted(found.cases))
    assert len(found.cases) == 6


@pytest.fixture(scope="module")
def assessor(local: Local) -> Iterator[str]:
    with workbench("serve-assessor", "--judge", "offline", WORKBENCH_READ_LIMIT=str(READ_LIMIT)) as (_, url):
        yield url


async def events_of(url: str, message: str) -> list[dict[str, Any]]:
    """Return everything that a server streams for a message."""
    peer = Peer(url, headers={})
    card = await peer.connect()
    assert card.streaming
    assert peer._transport is not None
    found = [MessageToDict(one) async for one in peer._transport.send_message_streaming(peer._request(message, card))]
    await peer.aclose()
    return found


def as_floats(value: Any) -> Any:
    """Return JSON values with every number as a float, as A2A has them."""
    return json.loads(json.dumps(value), parse_int=float)


@pytest.mark.slow
async def test_the_assessors_answer_is_what_its_session_has(served: str, assessor: str, local: Local) -> None:
    message = json.dumps({"agents": [served, "http://127.0.0.1:1"], "cases": ["word_counter"]})
    events = await events_of(assessor, message)
    states = [one["statusUpdate"]["status"]["state"] for one in events if "statusUpdate" in one]
    assert states[0] == "TASK_STATE_WORKING"
    assert states[-1] == "TASK_STATE_COMPLETED"
    told = [one["statusUpdate"]["status"]["message"]["parts"][0]["text"] for one in events if "statusUpdate" in one]
    assert any("cannot be reached" in line for line in told)
    assert any(line.startswith("word_counter · a2a:") and "aeo-bench" in line for line in told)
    artifacts = {
        one["artifactUpdate"]["artifact"]["name"]: one["artifactUpdate"]["artifact"]["parts"][0]
        for one in events
        if "artifactUpdate" in one
    }
    answer = artifacts["scorecards.json"]["data"]
    session = paths.sessions_dir() / f"{answer['session']}.session"
    with SessionReader(session) as reader:
        (trial,) = reader.trials()
        cards = [reader.card(score) for score in reader.scores(trial.id)]
    (found,) = answer["trials"]
    assert [{key: value for key, value in card.items() if key != "at"} for card in found["scores"]] == as_floats(cards)
    assert {card["rubric"]: card["total"] for card in found["scores"]} == {
        card["rubric"]: float(card["total"]) for card in cards
    }
    assert found["score"] == float(found["scores"][0]["total"])
    assert answer["refused"][0]["agent"] == "a2a:http://127.0.0.1:1"
    assert f"{trial.agent}" in artifacts["scorecards.md"]["text"]


@pytest.mark.network
def test_an_older_client_is_told_why_a_request_is_refused(assessor: str, older_python: Path) -> None:
    (got,) = older_client(older_python, assessor, "JSONRPC", "streaming", "hello")
    assert got["state"] == "rejected"
    assert "Specify agents by address" in got["said"][0]


@pytest.mark.slow
def test_a_second_server_and_a_place_for_others_without_a_token_end_at_once(served: str, module_home: Path) -> None:
    port = served.rpartition(":")[2]
    command = [sys.executable, "-m", "workbench", "serve-assessor", "--judge", "offline"]
    for more, words in ((["--port", port], "address already in use"), (["--host", "0.0.0.0"], "set a token")):
        done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60, env=dict(os.environ))
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
