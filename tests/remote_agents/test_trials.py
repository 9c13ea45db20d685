"""Trials of remote agents in a session: what goes wrong with one leaves the others alone, and what was cut begins anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from remote_agents.conftest import completed_order
from remote_agents.rogue import Rogue, card, json_page, message, result, serving

from workbench.agents.names import AGENTS, agent_info, current_name
from workbench.base import settings
from workbench.base.errors import UsageError, WorkbenchError
from workbench.engine.document import execute
from workbench.orders.fork import Edit, ForkOrder
from workbench.orders.run import plan_document
from workbench.orders.study import order_study
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, SessionWriter
from workbench.studies.declaration import Study, StudyColumn
from workbench.studies.study_files import read_study_file

Send = Callable[[bytes], Any]


def call(name: str, **kwargs: object) -> str:
    return f"<json>{json.dumps({'name': name, 'kwargs': kwargs})}</json>"


DONE = call("respond", readme="# Demo\n\nA demo.", metadata={"name": "demo"})


def plan(rogue: Rogue, *cases: str, **options: Any) -> DocumentPlan:
    return DocumentPlan(cases or ("word_counter",), agent=f"a2a:{rogue.url}", judge="offline", **options)


def text_of(request: dict[str, Any]) -> str:
    return str(request["params"]["message"]["parts"][0]["text"])


async def test_a_trial_ends_with_the_reason_and_the_others_go_on(home: Path, tmp_path: Path) -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Send) -> None:
        if "word_counter" not in text_of(request):
            await send(result(request, message(DONE, request["params"]["message"]["contextId"])))

    session = tmp_path / "some.session"
    async with serving(answer) as rogue:
        failed, done = await completed_order(session, plan(rogue, "word_counter", "countdown_timer"))
    assert (failed.state, failed.error_kind) == ("failed", "unavailable")
    assert failed.error is not None
    assert failed.error.startswith(f"The agent at {rogue.url} closed the connection before it answered")
    assert (done.state, done.error) == ("done", None)
    with SessionReader(session) as reader:
        (step,) = reader.steps(failed.id)
        assert (step.kind, step.problem) == ("error", failed.error)
        assert len(reader.scores(done.id)) == 2


async def test_what_the_agent_asks_for_stays_contained(home: Path, tmp_path: Path) -> None:
    asked = [
        call("read_file", path="../../../../etc/passwd"),
        call("read_file", path="ground_truth/facts.toml"),
        call("run_command", path="rm -rf /"),
        DONE,
    ]

    async def answer(rogue: Rogue, request: dict[str, Any], send: Send) -> None:
        context = request["params"]["message"]["contextId"]
        await send(result(request, message(asked[len(rogue.asked) - 1], context)))

    session = tmp_path / "contained.session"
    async with serving(answer) as rogue:
        (trial,) = await completed_order(session, plan(rogue))
        told = [text_of(request) for request in rogue.asked]
    assert trial.state == "done"
    assert all("\nError: " in one for one in told[1:])
    with SessionReader(session) as reader:
        assert reader.accessed_files(trial.id) == []


async def test_a_trial_that_was_cut_begins_anew_and_can_be_replayed(home: Path, tmp_path: Path) -> None:
    answers: list[str] = [call("list_directory", path=".")]

    async def answer(rogue: Rogue, request: dict[str, Any], send: Send) -> None:
        if answers:
            await send(result(request, message(answers.pop(0), request["params"]["message"]["contextId"])))

    session = tmp_path / "cut.session"
    async with serving(answer) as rogue:
        (cut,) = await completed_order(session, plan(rogue))
        assert cut.state == "failed"
        with SessionReader(session) as reader:
            assert [step.kind for step in reader.steps(cut.id)] == ["tool", "error"]
        answers += [call("read_file", path="word_counter.py"), DONE]
        with SessionWriter(session) as writer, SessionReader(session) as reader:
            (run,) = reader.runs()
            await execute(writer, run, settings.load())
            (again,) = reader.trials(run.id)
            steps = [(step.number, step.action) for step in reader.steps(again.id)]
            seen = {(one.path, one.access) for one in reader.accessed_files(again.id)}
        first = [text_of(request) for request in rogue.asked].count(text_of(rogue.asked[0]))
    assert (again.id, again.state, again.steps) == (cut.id, "done", 2)
    assert steps == [(1, "read_file"), (2, "respond")]
    assert seen == {("word_counter.py", "read")}
    assert first == 2
    replayed = DocumentPlan(
        ("word_counter",), agent="a2a:http://127.0.0.1:1", model=f"replay:{session}", judge="offline"
    )
    (replay,) = await completed_order(tmp_path / "replay.session", replayed)
    assert (replay.state, replay.readme_blob) == ("done", again.readme_blob)


async def test_the_card_is_part_of_the_identity_and_a_trial_of_another_card_fails(home: Path, tmp_path: Path) -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Send) -> None:
        await send(result(request, message(DONE, request["params"]["message"]["contextId"])))

    session = tmp_path / "cards.session"
    async with serving(answer) as rogue:
        (one,) = await completed_order(session, plan(rogue, first_repeat=1))
        again = await completed_order(session, plan(rogue, first_repeat=1))
        rogue.card = lambda: json_page(card(rogue.url, version="2"))
        (other,) = await completed_order(session, plan(rogue, first_repeat=1))
        (stale,) = await completed_order(session, plan(rogue, first_repeat=0, model=one.model))
    assert again == []
    assert other.id != one.id
    assert (one.state, other.state, stale.state) == ("done", "done", "failed")
    assert "has changed" in str(stale.error)
    with SessionReader(session) as reader:
        config = json.loads(reader.runs()[0].config)
    assert config["card"] == "rogue 1 · A2A 1.0 over JSON-RPC, no streaming"


async def test_nobody_goes_on_from_the_middle_of_a_conversation(home: Path, tmp_path: Path) -> None:
    async def answer(rogue: Rogue, request: dict[str, Any], send: Send) -> None:
        await send(result(request, message(DONE, request["params"]["message"]["contextId"])))

    session = tmp_path / "fork.session"
    async with serving(answer) as rogue:
        (trial,) = await completed_order(session, plan(rogue))
    with pytest.raises(UsageError, match="keeps the conversation itself"):
        ForkOrder(session, trial.id, 1, Edit("message", "another")).submit()


def test_a_model_cannot_be_named_for_a_remote_agent(home: Path, tmp_path: Path) -> None:
    asked = DocumentPlan(("word_counter",), agent="a2a:http://127.0.0.1:1", model="openai/gpt-4o", judge="offline")
    with pytest.raises(UsageError, match="uses its own model, so openai/gpt-4o cannot be used"):
        plan_document(tmp_path / "none.session", asked)
    assert not (tmp_path / "none.session").exists()


def test_an_agent_that_is_not_there_leaves_nothing_behind(home: Path, tmp_path: Path) -> None:
    asked = DocumentPlan(("word_counter",), agent="a2a:http://127.0.0.1:1", judge="offline")
    with pytest.raises(WorkbenchError, match="cannot be reached"):
        plan_document(tmp_path / "none.session", asked)
    assert not (tmp_path / "none.session").exists()


def test_a_study_has_one_column_of_a_remote_agent_and_its_cells_say_why_there_is_nothing(home, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "mine"\nkind = "agents"\nrows = ["word_counter"]\n[columns]\n'
        'agents = ["white", "a2a:http://127.0.0.1:1/"]\nmodels = ["local", "replay:x"]\n[settings]\njudges = ["offline"]\n'
    )
    study = read_study_file(file)
    assert [(one.system, one.model) for one in study.columns] == [
        ("white", "local"),
        ("white", "replay:x"),
        ("a2a:http://127.0.0.1:1", ""),
    ]
    alone = Study("alone", "agents", rows=("word_counter",), columns=(StudyColumn("a2a:http://127.0.0.1:1", ""),))
    session = tmp_path / "study.session"
    order_study(session, alone)
    with SessionReader(session) as reader:
        (cell,) = reader.study_cells("alone")
    assert cell.problem is not None
    assert "cannot be reached" in cell.problem


@pytest.mark.parametrize(
    "name",
    [
        "a2a:",
        "a2a:white",
        "a2a:ftp://x",
        "a2a:http://",
        "a2a:http://h:0",
        "a2a:http://h:99999",
        "a2a:http://u:p@h",
        "a2a:http://h?key=1",
        "a2a:http://h h",
        "a2a:http://h\x1b[2J",
    ],
)
def test_what_is_no_address_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as error:
        agent_info(name)
    assert "\x1b" not in str(error.value)
    assert "u:p" not in str(error.value)


def test_an_address_has_one_name() -> None:
    assert (
        current_name("a2a:http://LocalHost:9002/")
        == current_name("a2a:http://localhost:9002")
        == current_name("a2a:http://localhost:9002/.well-known/agent-card.json")
        == "a2a:http://localhost:9002"
    )
    assert all(not info.name.startswith("a2a:") for info in AGENTS)
