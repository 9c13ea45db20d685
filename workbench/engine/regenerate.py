"""Execute a regeneration run: from the source to a verdict for every candidate, doing only what is missing."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import AsyncExitStack

from workbench.documenters import parse_documenter
from workbench.engine.candidate_rows import CandidateTable
from workbench.engine.candidates import Candidates
from workbench.engine.document import gateway_for
from workbench.engine.evaluators import Evaluators
from workbench.engine.rechecking import Rechecks
from workbench.engine.run_record import RunRecord
from workbench.engine.stages import StageBook
from workbench.engine.task_building import prepare
from workbench.engine.task_rows import TaskTable
from workbench.engine.testing_place import testing_place
from workbench.models.local_process import SLOTS
from workbench.sandbox import Limits, choose_backend
from workbench.session import SessionWriter
from workbench.session.rows import RunRow
from workbench.settings import Settings


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Do what is missing in ``run``; raises what ends the whole run, cancellation included."""
    record = RunRecord(writer, run.id)
    plan = record.plan()
    stages = StageBook(writer, run.id)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    opened = AsyncExitStack()
    try:
        # A cluster that does not answer is told of before minutes are spent on the repository.
        place = await opened.enter_async_context(testing_place(plan.engine))
        backend = choose_backend(plan.sandbox or settings.sandbox or None)
        record.amend(sandbox=backend.name)
        record.forget_dropped()
        prepared = await prepare(
            plan.source,
            backend,
            stages,
            pinned=plan.snapshot,
            rebuild=plan.rebuild,
            on_dropped=record.dropped,
            on_fetched=record.fetched,
        )
        record.amend(rebuild=False)
        documenter = await asyncio.to_thread(parse_documenter, plan.docs, asker=gateway)
        snapshot = prepared.snapshot
        tasks = TaskTable(writer, run.id, snapshot.digest, snapshot.root, documenter, record.dropped)
        evaluators = Evaluators(gateway, calls)
        candidates = CandidateTable(writer, run.id)
        limits = Limits()
        async with place.sandboxes(prepared, backend, limits, stages) as sandboxes:
            while True:
                plan = record.plan()
                asked = await tasks.document(prepared.built.tasks, plan.asks, stages)
                candidates.add(plan, asked, evaluators)
                remarks = candidates.remarks(asked, evaluators, {task.id for task in prepared.built.tasks})
                writer.set_run(run.id, note=remarks or None)
                works = candidates.works(tasks.items)
                # What the app asked for meanwhile is found when everything else is done; second looks come last.
                if not works:
                    looks = Rechecks(writer, run.id, sandboxes, limits, stages)
                    if await looks.run(tasks.items, lambda: record.plan() == plan):  # noqa: B023 - awaited here
                        break
                    continue
                execution = Candidates(writer, evaluators, sandboxes, limits, stages)
                await execution.run(works, candidates.finished(), max(settings.concurrency, SLOTS))
        for name in ("controls", "candidates", "rechecks"):
            stages.tell(name, "done")
    except BaseException:
        stages.failed()
        raise
    finally:
        with contextlib.suppress(Exception):
            await opened.aclose()
        with contextlib.suppress(Exception):
            await gateway.aclose()
