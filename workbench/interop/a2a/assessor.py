"""``serve-assessor``: the green agent of AEO-Bench as an A2A server, on the ordinary engine and sessions.

It is asked for agents by address and cases by id, written as JSON or as AEO-Bench's tags.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentSkill, Part, Task, TaskState, TaskStatus
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value
from starlette.types import ASGIApp

from workbench.agents.names import PREFIX, agent_info, current_name
from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.json_answers import objects_in
from workbench.base.text import one_line, plural
from workbench.catalog import find_case, load_cases
from workbench.interop.a2a.listening import ListenAddress, app_for, card_for
from workbench.interop.a2a.replies import text_of
from workbench.orders import launching, running
from workbench.orders.launching import enqueue
from workbench.orders.run import plan_document
from workbench.pages import session_json, write_report
from workbench.plans.plan import DocumentPlan
from workbench.results.contents import read_contents
from workbench.session import SessionReader
from workbench.session.pending_work import trial_state
from workbench.session.rows import TrialRow

_LOOK_SECONDS = 0.3
_GOING = frozenset({"queued", "running"})
MOST_AGENTS, MOST_REPEATS, MOST_TRIALS = 16, 20, 500
_TAG = r"<{0}>\s*(.*?)\s*</{0}>"
_TAGS = (("white_agent_url", "agents"), ("test_config", ""), ("env_config", ""), ("json", ""), ("cases", "cases"))
_SHAPE = (
    'Name agents by address and cases by id, as JSON: {"agents": ["http://127.0.0.1:9002"], "cases": ["word_counter"]}; '
    '"cases" may be "all", and "repeats" a number.'
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What was asked for: names of agents (``a2a:URL``), ids of cases, trials per case."""

    agents: tuple[str, ...]
    cases: tuple[str, ...]
    repeats: int = 1

    def words(self) -> str:
        """Return ``2 agents × 3 cases × 5 repeats``."""
        counted = [plural(len(self.agents), "agent"), plural(len(self.cases), "case")]
        return " × ".join(counted + ([f"{self.repeats} repeats"] if self.repeats > 1 else []))


def read_assessment(message: str) -> Assessment:
    """Return what a message asks for; raises UsageError, which says what is taken, for what is not there or too much."""
    given = _values(message)
    config = given.get("config")
    values = {**(config if isinstance(config, Mapping) else {}), **given}
    named = values.get("agents", values.get("participants"))
    agents = [current_name(one if one.startswith(PREFIX) else PREFIX + one) for one in _texts(named)]
    cases = (
        _numbered(values["test_ids"]) if "test_ids" in values else _texts(values.get("cases", values.get("case_ids")))
    )
    repeats = values.get("repeats", 1)
    if not agents or not cases:
        raise UsageError(_SHAPE)
    if "all" in cases:
        cases = _bundled()
    repeats = int(repeats) if isinstance(repeats, float) and repeats.is_integer() else repeats
    if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
        raise UsageError(f'"repeats" must be a number from 1 to {MOST_REPEATS}.')
    # Only by id: a path or an address in a request would let others read what is on this machine.
    found = Assessment(tuple(dict.fromkeys(agents)), tuple(find_case(one).id for one in dict.fromkeys(cases)), repeats)
    for agent in found.agents:
        agent_info(agent)
    trials = len(found.agents) * len(found.cases) * repeats
    if len(found.agents) > MOST_AGENTS or trials > MOST_TRIALS:
        raise UsageError(
            f"{found.words()} are too many; at most {MOST_AGENTS} agents and {MOST_TRIALS} trials are assessed."
        )
    return found


def _values(message: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for tag, key in _TAGS:
        texts = re.findall(_TAG.format(tag), message, re.S)
        for text in texts:
            decoded = _decoded(text)
            if key:
                found[key] = [*_texts(found.get(key)), *(_texts(decoded) if decoded is not None else [text])]
            elif isinstance(decoded, dict):
                found |= decoded
    if found:
        return found
    objects = [one.value for one in objects_in(message)]
    if not objects:
        raise UsageError(_SHAPE)
    return next((one for one in reversed(objects) if {"agents", "participants"} & set(one)), objects[-1])


def _bundled() -> list[str]:
    return [case.id for case in load_cases()[0] if case.kind != "own"]


def _numbered(test_ids: object) -> list[str]:
    """Return the cases that AEO-Bench counts from 0 in the order of their names; None stands for all."""
    cases = sorted(_bundled())
    if test_ids is None:
        return cases
    asked: list[Any] = test_ids if isinstance(test_ids, list) else [test_ids]
    places = [int(one) for one in asked if type(one) in (int, float) and one in range(len(cases))]
    if len(places) != len(asked):
        raise UsageError(f'"test_ids" count the cases from 0 to {len(cases) - 1}: {", ".join(cases)}.')
    return [cases[place] for place in places]


def _decoded(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except (ValueError, RecursionError):
        return None


def _texts(given: object) -> list[str]:
    if isinstance(given, str):
        return [part.strip() for part in given.split(",") if part.strip()]
    items: Iterable[object] = given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ()
    texts = [one.get("url", one.get("endpoint")) if isinstance(one, Mapping) else one for one in items]
    if not all(isinstance(one, str) for one in texts):
        raise UsageError(_SHAPE)
    return [str(one).strip() for one in texts]


# -- an assessment under way


@dataclass(slots=True)
class Assessed:
    """An assessment under way: its session, a run for each agent that could be planned, and why for each of the others."""

    session: Path
    runs: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    _told: dict[str, str] = field(default_factory=dict)

    async def progress(self) -> AsyncIterator[str]:
        """Yield a line for each step and each change of a trial, until every run is over."""
        for agent, problem in self.refused.items():
            yield f"{agent}: {problem}"
        while True:
            lines, over = await asyncio.to_thread(self._look)
            for line in lines:
                yield line
            if over:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    def cancel(self) -> None:
        for run in self.runs:
            running.cancel(self.session, run)

    def result(self) -> dict[str, Any]:
        """Return the scorecards as JSON values, exactly those of the session."""
        with SessionReader(self.session) as reader:
            contents = read_contents(reader)
            return {
                "type": "assessment",
                "session": self.session.stem,
                "means": session_json.spread_values(contents),
                "trials": [
                    {**session_json.trial_values(one), **session_json.trial_details(reader, one)}
                    for one in contents.trials
                ],
                "refused": [{"agent": agent, "problem": problem} for agent, problem in self.refused.items()],
            }

    def markdown(self) -> str:
        return str(write_report(self.session, "md", None))

    def _look(self) -> tuple[list[str], bool]:
        with SessionReader(self.session) as reader:
            # The states first: a trial that changes afterwards is told at the next look.
            states = [reader.run_state(row) for run in self.runs if (row := reader.run(run)) is not None]
            lines = [line for run in self.runs for trial in reader.trials(run) for line in self._new(reader, trial)]
        return lines, not _GOING.intersection(states)

    def _new(self, reader: SessionReader, trial: TrialRow) -> Iterator[str]:
        state = trial_state(reader, trial)
        line = f"{trial.case_name} · {trial.agent} · {trial.repeat}: {_standing(reader, trial, state)}"
        if state != "queued" and self._told.get(trial.id) != line:
            self._told[trial.id] = line
            yield line


def _standing(reader: SessionReader, trial: TrialRow, state: str) -> str:
    if state == "running":
        return f"step {trial.steps}" if trial.steps else "started"
    if state == "done":
        return ", ".join(
            f"{score.rubric} {'unscored' if score.total is None else f'{score.total:.1f}'} of {score.out_of:.0f}"
            for score in reader.scores(trial.id)
        )
    return f"{state}{f': {one_line(trial.error, 300)}' if trial.error else ''}"


def begin(assessment: Assessment, judge: str) -> Assessed:
    """Plan the runs in a new session and start engines, one after another; raises WorkbenchError where nothing can be planned."""
    stamp = time.strftime("assessment-%Y-%m-%d-%H%M%S")
    assessed = Assessed(paths.sessions_dir() / f"{stamp}-{uuid4().hex[:4]}.session")
    for agent in assessment.agents:
        plan = DocumentPlan(assessment.cases, agent=agent, judge=judge, repeats=assessment.repeats)
        try:
            run = plan_document(assessed.session, plan)
        except WorkbenchError as error:
            assessed.refused[agent] = str(error)
            continue
        if assessed.runs:
            enqueue(assessed.session, run)
        assessed.runs.append(run)
        launching.launch(assessed.session, run)
    if not assessed.runs:
        raise WorkbenchError(" ".join(dict.fromkeys(assessed.refused.values())))
    return assessed


SKILL = AgentSkill(
    id="assess_documentation_agents",
    name="Assess documentation agents",
    description="Runs agents that are named by address on test cases that are named by id, and answers with their scorecards.",
    tags=["documentation", "assessment", "aeo-bench"],
    examples=['{"agents": ["http://127.0.0.1:9002"], "cases": ["word_counter"]}'],
)


class Assessor(AgentExecutor):  # type: ignore[misc]
    """Carries out assessments as tasks, ``at_once`` at the same time: updates while they run, scorecards as artifacts."""

    def __init__(self, judge: str, at_once: int) -> None:
        self._judge = judge
        self._places = asyncio.Semaphore(at_once)
        self._going: dict[str, Assessed] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = str(context.task_id or uuid4())
        group = str(context.context_id or uuid4())
        updater = TaskUpdater(event_queue, task, group)
        if context.current_task is None:
            submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            await event_queue.enqueue_event(Task(id=task, context_id=group, status=submitted))

        async def tell(line: str) -> None:
            await updater.update_status(TaskState.TASK_STATE_WORKING, updater.new_agent_message([Part(text=line)]))

        try:
            message = text_of(context.message.parts) if context.message is not None else ""
            assessment = await asyncio.to_thread(read_assessment, message)
        except WorkbenchError as error:
            await updater.reject(updater.new_agent_message([Part(text=str(error))]))
            return
        try:
            if self._places.locked():
                await tell("Another assessment is under way; this one waits for it.")
            async with self._places:
                assessed = await asyncio.to_thread(begin, assessment, self._judge)
                await tell(f"{assessment.words()}, in the session {assessed.session.stem}.")
                await self._assess(task, assessed, updater, tell)
        except WorkbenchError as error:
            await updater.failed(updater.new_agent_message([Part(text=str(error))]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        task, group = str(context.task_id), str(context.context_id)
        assessed = self._going.pop(task, None)
        if assessed is not None:
            await asyncio.to_thread(assessed.cancel)
        await TaskUpdater(event_queue, task, group).cancel()

    async def _assess(
        self, task: str, assessed: Assessed, updater: TaskUpdater, tell: Callable[[str], Awaitable[None]]
    ) -> None:
        self._going[task] = assessed
        try:
            async for line in assessed.progress():
                await tell(line)
            result = await asyncio.to_thread(assessed.result)
            markdown = await asyncio.to_thread(assessed.markdown)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(assessed.cancel))
            raise
        finally:
            self._going.pop(task, None)
        data = Part(data=ParseDict(result, Value()), media_type="application/json", filename="scorecards.json")
        await updater.add_artifact([data], name="scorecards.json")
        text = Part(text=markdown, media_type="text/markdown", filename="scorecards.md")
        await updater.add_artifact([text], name="scorecards.md", last_chunk=True)
        done = sum(trial["status"] == "done" for trial in result["trials"])
        closing = f"{done} of {len(result['trials'])} trials are scored; session {assessed.session.stem}."
        await updater.complete(updater.new_agent_message([Part(text=closing)]))


def assessor_app(judge: str, place: ListenAddress, at_once: int) -> ASGIApp:
    description = f"Scores documentation agents by AEO-Bench's four tiers; judge: {judge.partition(':')[0]}."
    card = card_for("workbench_assessor", description, SKILL, place.url, streaming=True)
    return app_for(card, Assessor(judge, at_once), place.token)
