"""Agents of others, written with either SDK in a process of their own, score as the same agent does in process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from remote_agents.conftest import READ_LIMIT, Local, completed_order, essence, scores
from remote_agents.processes import peers

from workbench.agents import make_agent
from workbench.agents.agent_context import AgentContext, AgentStep, Assignment
from workbench.agents.names import is_peer
from workbench.catalog import find_case, snapshot_of, view_of
from workbench.interop.a2a.card import fetch_card
from workbench.interop.a2a.peer import PeerClient
from workbench.models.types import CallRecord, Request
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader

# One server process serves a module's tests.
pytestmark = pytest.mark.xdist_group("remote-agents")

FORMS = (
    "message,JSONRPC,streaming",
    "data,HTTP+JSON,not",
    "task,HTTP+JSON,streaming",
    "task,JSONRPC,not",
    "waiting,JSONRPC,streaming",
    "waiting,HTTP+JSON,not",
)


@pytest.fixture(scope="module")
def newer(local: Local) -> Iterator[dict[str, str]]:
    with peers(sys.executable, "agent_v1.py", local.answers, *FORMS) as found:
        yield dict(zip(FORMS, found, strict=True))


@pytest.fixture(scope="module")
def older(local: Local, older_python: Path) -> Iterator[dict[str, str]]:
    with peers(older_python, "agent_v03.py", local.answers, *FORMS) as found:
        yield dict(zip(FORMS, found, strict=True))


class Kept:
    def __init__(self) -> None:
        self.steps: list[AgentStep] = []
        self.calls: list[CallRecord] = []

    def step(self, step: AgentStep) -> None:
        self.steps.append(step)

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)

    def recall(self, request: Request, nth: int) -> None:
        raise AssertionError("nothing of a remote agent is recalled")


async def documented(url: str, local: Local) -> tuple[Any, Kept]:
    case = find_case("word_counter")
    kept = Kept()
    model_client = PeerClient(f"a2a:{url}", kept)
    context = AgentContext(
        Assignment(case.name, case.agent_description),
        view_of(case, snapshot_of(case)),
        model_client,
        kept,
        model=(await fetch_card(url)).model,
        read_limit=READ_LIMIT,
    )
    try:
        return await make_agent(f"a2a:{url}").document(context), kept
    finally:
        await model_client.aclose()


async def same_work(url: str, local: Local) -> None:
    submission, kept = await documented(url, local)
    expected = essence(local.session, local.trial)
    assert submission.parsed
    assert submission.readme == expected["readme"]
    assert submission.metadata == expected["metadata"]
    assert [(s.number, s.kind, s.action, s.target) for s in kept.steps] == [one[:4] for one in expected["steps"]]
    assert len(kept.calls) == len(kept.steps)
    assert all(is_peer(call.request.model) for call in kept.calls)


@pytest.mark.parametrize("form", FORMS)
async def test_an_agent_of_version_1_does_what_the_same_agent_does_in_process(newer, local, form):
    await same_work(newer[form], local)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("form", FORMS)
async def test_an_agent_of_version_0_3_does_what_the_same_agent_does_in_process(older, local, form):
    await same_work(older[form], local)


async def in_a_session(url: str, local: Local, session: Path) -> None:
    plan = DocumentPlan(("word_counter",), agent=f"a2a:{url}", judge="offline", read_limit=READ_LIMIT)
    (trial,) = await completed_order(session, plan)
    assert essence(session, trial) == essence(local.session, local.trial)
    assert scores(session, trial) == scores(local.session, local.trial)
    assert trial.agent == f"a2a:{url}"
    assert is_peer(trial.model)
    with SessionReader(session) as reader:
        assert {step.model for step in reader.steps(trial.id)} == {trial.model}
        assert all(call.sampling == "{}" for call in reader.calls(trial.id))


async def test_a_session_has_the_same_scores_over_version_1(newer, local, tmp_path):
    await in_a_session(newer["message,JSONRPC,streaming"], local, tmp_path / "newer.session")


@pytest.mark.network
async def test_a_session_has_the_same_scores_over_version_0_3(older, local, tmp_path):
    await in_a_session(older["task,JSONRPC,not"], local, tmp_path / "older.session")


async def test_a_recorded_conversation_is_replayed_without_the_agent(newer, local, tmp_path):
    session, agent = tmp_path / "once.session", f"a2a:{newer['message,JSONRPC,streaming']}"
    plan = DocumentPlan(("word_counter",), agent=agent, judge="offline", read_limit=READ_LIMIT)
    (first,) = await completed_order(session, plan)
    gone = DocumentPlan(("word_counter",), agent="a2a:http://127.0.0.1:1", model=f"replay:{session}", judge="offline")
    (again,) = await completed_order(tmp_path / "again.session", gone)
    assert essence(tmp_path / "again.session", again) == essence(session, first)
