"""Forks: the first steps of a recorded trial through the same agent code, one text edited, then the model."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from engine.author import SCRIPT, Author, Body
from loopback.server import LoopbackServer

from workbench.base import settings
from workbench.base.errors import UsageError
from workbench.cli import main
from workbench.engine.document import execute
from workbench.orders import launching
from workbench.orders.fork import Edit, ForkOrder
from workbench.orders.rerun import RerunTrialOrder
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.results.contents import read_contents
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import StepRow, TrialRow

MODEL = "openai/scripted"
OTHER = "openai/other"


class Asked(Author):
    """An author who remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[Body] = []

    def __call__(self, body: Body) -> str:
        self.bodies.append(body)
        return super().__call__(body)


@pytest.fixture
def author(scripted: LoopbackServer) -> Asked:
    scripted.answer = made = Asked()
    return made


def executed(session: Path, run: str) -> None:
    """Execute a run in this process, as an engine does."""
    with SessionWriter(session) as writer:
        with SessionReader(session) as reader:
            row = reader.run(run)
        assert row is not None
        asyncio.run(execute(writer, row, settings.load()))
        writer.set_run(run, state="done")


@pytest.fixture
def parent(author: Asked, tmp_path: Path) -> tuple[Path, str]:
    """A session with one trial of five steps, and the trial."""
    session = tmp_path / "forks.session"
    executed(session, plan_document(session, DocumentPlan(("word_counter",), model=MODEL, judge="offline")))
    author.bodies.clear()
    with SessionReader(session) as reader:
        trial = reader.trials()[0]
        assert trial.steps == len(SCRIPT)
    return session, trial.id


def shown(session: Path, trial: str) -> tuple[TrialRow, list[StepRow]]:
    with SessionReader(session) as reader:
        row = reader.trial(trial)
        assert row is not None
        return row, reader.steps(trial)


def said(body: Body) -> list[str]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return [message["content"] for message in messages]


def test_an_edited_observation_is_what_the_model_is_told_and_nothing_is_paid_twice(parent, author):
    session, trial = parent
    made = ForkOrder(session, trial, 3, Edit("observation", "def other() -> None: ...\n")).submit()
    executed(session, made.runs[0])
    row, steps = shown(session, made.trial)
    assert (row.state, row.parent, row.fork_step, row.edited) == ("done", trial, 3, "observation")
    assert len(author.bodies) == 2, "only what comes after the fork is asked"
    assert "def other() -> None" in said(author.bodies[0])[-1]
    before = shown(session, trial)[1]
    assert [step.action for step in steps] == [step.action for step in before]
    assert [step.prompt_tokens is None for step in steps] == [True, True, True, False, False]
    assert row.prompt_tokens == sum(step.prompt_tokens or 0 for step in steps[3:])
    assert [step.call_id for step in steps[:3]] == [step.call_id for step in before[:3]], (
        "their messages are the parent's"
    )
    with SessionReader(session) as reader:
        assert reader.scores(made.trial)
        contents = read_contents(reader)
    assert [one.row.id for one in contents.trials] == [trial, made.trial]
    assert {spread.trials for spread in contents.spread} == {1}, "a fork is in no mean"


def test_an_edited_message_another_model_and_a_fork_of_a_fork(parent: tuple[Path, str], author: Asked) -> None:
    session, trial = parent
    listing = '<json>{"name": "list_directory", "kwargs": {"path": "tests"}}</json>'
    first = ForkOrder(session, trial, 3, Edit("message", listing), model=OTHER).submit()
    executed(session, first.runs[0])
    row, steps = shown(session, first.trial)
    assert row.state == "done", row.error
    assert (steps[2].action, steps[2].target) == ("list_directory", "tests"), "the edited action was carried out"
    assert {body["model"] for body in author.bodies} == {"other"}
    author.bodies.clear()
    second = ForkOrder(session, first.trial, 4, Edit("observation", "nothing to see")).submit()
    executed(session, second.runs[0])
    row, steps = shown(session, second.trial)
    assert row.state == "done", row.error
    assert row.model == OTHER
    assert len(author.bodies) == 1
    told = said(author.bodies[0])
    assert listing in told, "what the first fork edited stays"
    assert "nothing to see" in told[-1]


def test_a_parent_that_cannot_be_repeated_starts_nothing(parent: tuple[Path, str], author: Asked) -> None:
    session, trial = parent
    with sqlite3.connect(session) as connection:
        connection.execute("UPDATE calls SET digest = 'other' WHERE id = (SELECT min(id) + 1 FROM calls)")
    made = ForkOrder(session, trial, 4, Edit("observation", "edited")).submit()
    executed(session, made.runs[0])
    row, steps = shown(session, made.trial)
    assert (row.state, row.error_kind) == ("failed", "diverged")
    assert "cannot be repeated: the agent sends a request that is not in the recording" in str(row.error)
    assert not author.bodies
    assert len(steps) == 1


def test_what_was_interrupted_goes_on_and_asks_nothing_twice(parent: tuple[Path, str], author: Asked) -> None:
    session, trial = parent
    made = ForkOrder(session, trial, 2, Edit("message", "A slip without an action.")).submit()
    with SessionWriter(session) as writer:
        with SessionReader(session) as reader:
            run = reader.run(made.runs[0])
        assert run is not None

        async def cut() -> None:
            work = asyncio.create_task(execute(writer, run, settings.load()))
            while len(shown(session, made.trial)[1]) < 3:
                await asyncio.sleep(0.01)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

        author.stop_at = 3  # the answer to the fourth step never comes in time
        author.reached.clear()
        asyncio.run(cut())
        author.go.set()
        author.stop_at = 0
    asked = len(author.bodies)
    executed(session, made.runs[0])
    row, steps = shown(session, made.trial)
    assert row.state == "done", row.error
    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    assert len(author.bodies) - asked == 2, "the third step was recorded, the fourth and fifth were not"


def test_forks_have_identities_and_are_done_again(parent: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    session, trial = parent
    monkeypatch.setattr(launching, "launch", lambda *_: None)
    one = ForkOrder(session, trial, 3, Edit("observation", "a")).submit()
    other = ForkOrder(session, trial, 3, Edit("observation", "b")).submit()
    again = RerunTrialOrder(session, one.trial).begin().trial
    elsewhere = RerunTrialOrder(session, one.trial, model=OTHER).begin().trial
    rows = {key: shown(session, key)[0] for key in (one.trial, other.trial, again, elsewhere)}
    assert len(rows) == 4
    assert [(row.repeat, row.model) for row in rows.values()] == [(1, MODEL), (1, MODEL), (2, MODEL), (1, OTHER)]
    assert {row.parent for row in rows.values()} == {trial}
    assert shown(session, RerunTrialOrder(session, trial).begin().trial)[0].repeat == 2, (
        "forks do not count among repeats"
    )


REFUSED = [
    (9, Edit("message", "x"), "", "has no step 9; it has 5"),
    (2, Edit("observation", "x"), "", "no observation that could be edited"),
    (3, Edit("observation", " "), "", "is empty"),
    (3, Edit(), "", "Nothing was changed"),
    (1, Edit("message", SCRIPT[0]), "", "Nothing was changed"),
    (5, Edit(), OTHER, "the agent submitted"),
    (3, Edit("observation", "x"), "nobody/model", "There is no provider"),
]


def test_what_makes_no_sense_is_one_sentence_and_writes_nothing(parent: tuple[Path, str]) -> None:
    session, trial = parent
    for step, edit, model, why in REFUSED:
        with pytest.raises(UsageError, match=why):
            ForkOrder(session, trial, step, edit, model=model).submit()
    with SessionReader(session) as reader:
        assert len(reader.runs()) == 1


@pytest.mark.slow
def test_the_command_says_what_it_takes_and_does_it(parent, tmp_path, capsys):
    session, trial = parent
    edited = tmp_path / "edited.txt"
    edited.write_text("def other() -> None: ...\n")
    command = ["fork", str(session), trial[:6], "--step", "4", "--observation", str(edited)]
    assert main([*command, "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["count"], told["requests"], told["basis"]) == (1, 1, "the parent's steps")
    assert main([*command, "--json"]) == 0
    closing = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [case["status"] for case in closing["cases"]] == ["done"]
    assert main(["show", str(session)]) == 0
    assert "1 fork of recorded trials excluded." in capsys.readouterr().out


def test_a_run_above_the_amount_needs_yes(parent, capsys, monkeypatch):
    """Above what the settings allow unasked nothing is started or written, and the sentence says both figures."""
    session, _ = parent
    monkeypatch.setenv("WORKBENCH_ASK_ABOVE_MINUTES", "0.0000001")
    launched: list[object] = []
    monkeypatch.setattr(launching, "launch", lambda *given: launched.append(given))
    command = ["run", "word_counter", "--model", MODEL, "--judge", "offline", "--repeats", "2"]
    assert main([*command, "--session", str(session)]) == 2
    told = capsys.readouterr().err
    assert "= 1 trial, about 5 requests" in told, "the session has the first repeat already"
    assert "more than the 1e-07 minutes of ask_above_minutes" in told
    assert not launched
    with SessionReader(session) as reader:
        assert len(reader.runs()) == 1


def test_an_agent_that_reads_without_asking_is_forked_at_what_it_read(author: Asked, tmp_path: Path) -> None:
    """The steps of single-file before its first request are repeated by its own code; what was edited is what it asks with."""
    session = tmp_path / "single.session"
    author.stop_at = 0
    plan = DocumentPlan(("word_counter",), agent="single-file", model=MODEL, judge="offline")
    executed(session, plan_document(session, plan))
    with SessionReader(session) as reader:
        trial = reader.trials()[0]
        read = next(step for step in reader.steps(trial.id) if step.action == "read_file")
    author.bodies.clear()
    made = ForkOrder(session, trial.id, read.number, Edit("observation", "EDITED = True\n")).submit()
    executed(session, made.runs[0])
    row, _ = shown(session, made.trial)
    assert row.state == "done", row.error
    assert author.bodies
    assert any("EDITED = True" in text for text in said(author.bodies[0]))
