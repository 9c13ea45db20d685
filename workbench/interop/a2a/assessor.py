"""``serve-assessor``: AEO-Bench's green agent as an A2A server, based on the workbench's engine and sessions.

A request specifies agents by address and cases by id, as JSON or in AEO-Bench's tags.
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

_POLL_SECONDS = 0.3
_UNFINISHED = frozenset({"queued", "running"})
MOST_AGENTS, MOST_REPEATS, MOST_TRIALS = 16, 20, 500
_TAG = r"<{0}>\s*(.*?)\s*</{0}>"
_TAGS = (("white_agent_url", "agents"), ("test_config", ""), ("env_config", ""), ("json", ""), ("cases", "cases"))
_SHAPE = (
    'Specify agents by address and cases by id, as JSON: {"agents": ["http://127.0.0.1:9002"], "cases": ["word_counter"]}; '
    '"cases" may be "all", and "repeats" a number.'
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A requested assessment: agent names (``a2a:URL``), case ids, and trials per case."""

    agents: tuple[str, ...]
    cases: tuple[str, ...]
    repeats: int = 1

    def summary(self) -> str:
        """Return a summary such as ``2 agents × 3 cases × 5 repeats``."""
        counted = [plural(len(self.agents), "agent"), plural(len(self.cases), "case")]
        return " × ".join(counted + ([f"{self.repeats} repeats"] if self.repeats > 1 else []))


def read_assessment(message: str) -> Assessment:
    """Parse a request. Raises UsageError if it is invalid or exceeds the limits."""
    request = _values(message)
    config = request.get("config")
    values = {**(config if isinstance(config, Mapping) else {}), **request}
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
    # Cases are accepted only by id, because a path or URL would let clients read files of this machine.
    found = Assessment(tuple(dict.fromkeys(agents)), tuple(find_case(one).id for one in dict.fromkeys(cases)), repeats)
    for agent in found.agents:
        agent_info(agent)
    trials = len(found.agents) * len(found.cases) * repeats
    if len(found.agents) > MOST_AGENTS or trials > MOST_TRIALS:
        raise UsageError(f"{found.summary()} exceed the limit of {MOST_AGENTS} agents and {MOST_TRIALS} trials.")
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
    """Return cases by AEO-Bench's index, which counts from 0 in the order of their names; None selects all."""
    cases = sorted(_bundled())
    if test_ids is None:
        return cases
    indexes: list[Any] = test_ids if isinstance(test_ids, list) else [test_ids]
    positions = [int(one) for one in indexes if type(one) in (int, float) and one in range(len(cases))]
    if len(positions) != len(indexes):
        raise UsageError(f'"test_ids" are indexes from 0 to {len(cases) - 1}: {", ".join(cases)}.')
    return [cases[position] for position in positions]


def _decoded(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except (ValueError, RecursionError):
        return None


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    items: Iterable[object] = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    texts = [one.get("url", one.get("endpoint")) if isinstance(one, Mapping) else one for one in items]
    if not all(isinstance(one, str) for one in texts):
        raise UsageError(_SHAPE)
    return [str(one).strip() for one in texts]


# -- a running assessment


@dataclass(slots=True)
class RunningAssessment:
    """A running assessment: its session, one run per agent, and the reason for each agent that was rejected."""

    session: Path
    runs: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    _reported: dict[str, str] = field(default_factory=dict)

    async def progress(self) -> AsyncIterator[str]:
        """Yield a line for each change of a trial until every run has finished."""
        for agent, problem in self.refused.items():
            yield f"{agent}: {problem}"
        while True:
            lines, finished = await asyncio.to_thread(self._poll)
            for line in lines:
                yield line
            if finished:
                return
            await asyncio.sleep(_POLL_SECONDS)

    def cancel(self) -> None:
        for run in self.runs:
            running.cancel(self.session, run)

    def result(self) -> dict[str, Any]:
        """Return the session's scorecards as JSON values."""
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

    def _poll(self) -> tuple[list[str], bool]:
        with SessionReader(self.session) as reader:
            # Read the run states first, so that later changes of trials are reported by the next poll.
            states = [reader.run_state(row) for run in self.runs if (row := reader.run(run)) is not None]
            lines = [line for run in self.runs for trial in reader.trials(run) for line in self._changes(reader, trial)]
        return lines, not _UNFINISHED.intersection(states)

    def _changes(self, reader: SessionReader, trial: TrialRow) -> Iterator[str]:
        state = trial_state(reader, trial)
        line = f"{trial.case_name} · {trial.agent} · {trial.repeat}: {_trial_status(reader, trial, state)}"
        if state != "queued" and self._reported.get(trial.id) != line:
            self._reported[trial.id] = line
            yield line


def _trial_status(reader: SessionReader, trial: TrialRow, state: str) -> str:
    if state == "running":
        return f"step {trial.steps}" if trial.steps else "started"
    if state == "done":
        return ", ".join(
            f"{score.rubric} {'unscored' if score.total is None else f'{score.total:.1f}'} of {score.out_of:.0f}"
            for score in reader.scores(trial.id)
        )
    return f"{state}{f': {one_line(trial.error, 300)}' if trial.error else ''}"


def start(assessment: Assessment, judge: str) -> RunningAssessment:
    """Plan the runs in a new session and start them one after another. Raises WorkbenchError if no run was planned."""
    stamp = time.strftime("assessment-%Y-%m-%d-%H%M%S")
    assessed = RunningAssessment(paths.sessions_dir() / f"{stamp}-{uuid4().hex[:4]}.session")
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
    description="Runs agents, named by address, on test cases, named by id, and returns their scorecards.",
    tags=["documentation", "assessment", "aeo-bench"],
    examples=['{"agents": ["http://127.0.0.1:9002"], "cases": ["word_counter"]}'],
)


class Assessor(AgentExecutor):  # type: ignore[misc]
    """Runs up to ``concurrency`` assessments as A2A tasks, with status updates and scorecards as artifacts."""

    def __init__(self, judge: str, concurrency: int) -> None:
        self._judge = judge
        self._slots = asyncio.Semaphore(concurrency)
        self._running: dict[str, RunningAssessment] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = str(context.task_id or uuid4())
        group = str(context.context_id or uuid4())
        updater = TaskUpdater(event_queue, task, group)
        if context.current_task is None:
            submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            await event_queue.enqueue_event(Task(id=task, context_id=group, status=submitted))

        async def report(line: str) -> None:
            await updater.update_status(TaskState.TASK_STATE_WORKING, updater.new_agent_message([Part(text=line)]))

        try:
            message = text_of(context.message.parts) if context.message is not None else ""
            assessment = await asyncio.to_thread(read_assessment, message)
        except WorkbenchError as error:
            await updater.reject(updater.new_agent_message([Part(text=str(error))]))
            return
        try:
            if self._slots.locked():
                await report("Another assessment is running; this assessment waits for it.")
            async with self._slots:
                assessed = await asyncio.to_thread(start, assessment, self._judge)
                await report(f"{assessment.summary()}, in the session {assessed.session.stem}.")
                await self._assess(task, assessed, updater, report)
        except WorkbenchError as error:
            await updater.failed(updater.new_agent_message([Part(text=str(error))]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        task, group = str(context.task_id), str(context.context_id)
        assessed = self._running.pop(task, None)
        if assessed is not None:
            await asyncio.to_thread(assessed.cancel)
        await TaskUpdater(event_queue, task, group).cancel()

    async def _assess(
        self, task: str, assessed: RunningAssessment, updater: TaskUpdater, report: Callable[[str], Awaitable[None]]
    ) -> None:
        self._running[task] = assessed
        try:
            async for line in assessed.progress():
                await report(line)
            result = await asyncio.to_thread(assessed.result)
            markdown = await asyncio.to_thread(assessed.markdown)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(assessed.cancel))
            raise
        finally:
            self._running.pop(task, None)
        data = Part(data=ParseDict(result, Value()), media_type="application/json", filename="scorecards.json")
        await updater.add_artifact([data], name="scorecards.json")
        text = Part(text=markdown, media_type="text/markdown", filename="scorecards.md")
        await updater.add_artifact([text], name="scorecards.md", last_chunk=True)
        done = sum(trial["status"] == "done" for trial in result["trials"])
        closing = f"{done} of {len(result['trials'])} trials are scored; session {assessed.session.stem}."
        await updater.complete(updater.new_agent_message([Part(text=closing)]))


def assessor_app(judge: str, address: ListenAddress, concurrency: int) -> ASGIApp:
    description = f"Scores documentation agents by AEO-Bench's four tiers; judge: {judge.partition(':')[0]}."
    card = card_for("workbench_assessor", description, SKILL, address.url, streaming=True)
    return app_for(card, Assessor(judge, concurrency), address.token)
