"""``serve-assessor``: the green agent of AEO-Bench as an A2A server, on the ordinary engine and sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
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

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line
from workbench.interop.a2a.replies import text_of
from workbench.interop.serving.listening import Place, app_for, card_for
from workbench.interop.serving.requests import Assessment, read_assessment
from workbench.orders import launching, running
from workbench.orders.launching import enqueue
from workbench.orders.run import plan_document
from workbench.pages import records, write_report
from workbench.pages.contents import read_contents
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader
from workbench.session.pending_work import trial_state
from workbench.session.rows import TrialRow

_LOOK_SECONDS = 0.3
_GOING = frozenset({"queued", "running"})


@dataclass(frozen=True, slots=True)
class Refused:
    """An agent that could not be assessed, and why."""

    agent: str
    problem: str


@dataclass(slots=True)
class Assessed:
    """An assessment under way: its session, a run for each agent that could be planned, and the others with why."""

    session: Path
    runs: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    _told: dict[str, str] = field(default_factory=dict)

    async def progress(self) -> AsyncIterator[str]:
        """Yield a line for each step and each change of a trial, until every run is over."""
        for one in self.refused:
            yield f"{one.agent}: {one.problem}"
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
                "means": records.spread_values(contents),
                "trials": [
                    {**records.trial_values(one), **records.trial_details(reader, one)} for one in contents.trials
                ],
                "refused": [{"agent": one.agent, "problem": one.problem} for one in self.refused],
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
            assessed.refused.append(Refused(agent, str(error)))
            continue
        if assessed.runs:
            enqueue(assessed.session, run)
        assessed.runs.append(run)
        launching.launch(assessed.session, run)
    if not assessed.runs:
        raise WorkbenchError(" ".join(dict.fromkeys(one.problem for one in assessed.refused)))
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
                await self._assess(
                    task, assessment.words(), await asyncio.to_thread(begin, assessment, self._judge), updater, tell
                )
        except WorkbenchError as error:
            await updater.failed(updater.new_agent_message([Part(text=str(error))]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        task, group = str(context.task_id), str(context.context_id)
        assessed = self._going.pop(task, None)
        if assessed is not None:
            await asyncio.to_thread(assessed.cancel)
        await TaskUpdater(event_queue, task, group).cancel()

    async def _assess(self, task: str, words: str, assessed: Assessed, updater: TaskUpdater, tell: object) -> None:
        assert callable(tell)
        self._going[task] = assessed
        try:
            await tell(f"{words}, in the session {assessed.session.stem}.")
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


def assessor_app(judge: str, place: Place, at_once: int) -> ASGIApp:
    description = f"Scores documentation agents by AEO-Bench's four tiers; judge: {judge.partition(':')[0]}."
    card = card_for("workbench_assessor", description, SKILL, place.url, streaming=True)
    return app_for(card, Assessor(judge, at_once), place.token)
