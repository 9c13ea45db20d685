"""``serve-assessor``: the green agent of AEO-Bench as an A2A server, on the ordinary engine and sessions."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentSkill, Part, Task, TaskState, TaskStatus
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value
from starlette.types import ASGIApp

from workbench.a2a.replies import text_of
from workbench.errors import WorkbenchError
from workbench.serving.assessment import Assessed, begin
from workbench.serving.listening import Place, app_for, card_for
from workbench.serving.requests import read_assessment

SKILL = AgentSkill(
    id="assess_documentation_agents",
    name="Assess documentation agents",
    description="Runs agents that are named by address on test cases that are named by id, and answers with their scorecards.",
    tags=["documentation", "assessment", "aeo-bench"],
    examples=['{"agents": ["http://127.0.0.1:9002"], "cases": ["word_counter"]}'],
)


class Assessor(AgentExecutor):  # type: ignore[misc]
    """Carries out an assessment as a task: updates while it runs, scorecards as artifacts.

    Args:
        judge: Who scores.
        at_once: Assessments under way at the same time; others wait.
    """

    def __init__(self, judge: str, at_once: int) -> None:
        self._judge = judge
        self._places = asyncio.Semaphore(at_once)
        self._going: dict[str, Assessed] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Read the request, run it, report; every end is a state of the task."""
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
        """Stop the runs of a task; what is done is kept in its session."""
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
    """Return the web application of the assessor.

    Args:
        judge: Who scores, with this machine's default filled in.
        place: Where it will listen.
        at_once: Assessments under way at the same time.
    """
    description = f"Scores documentation agents by AEO-Bench's four tiers; judge: {judge.partition(':')[0]}."
    card = card_for("workbench_assessor", description, SKILL, place.url, streaming=True)
    return app_for(card, Assessor(judge, at_once), place.token)
