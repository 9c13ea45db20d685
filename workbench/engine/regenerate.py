"""Execute a regeneration run, from the source to a verdict for every candidate, skipping what is already done."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import AsyncExitStack

from workbench.documenters import DocSystem, make_doc_system
from workbench.engine.candidate_rows import CandidateTable
from workbench.engine.candidates import Candidates
from workbench.engine.document import gateway_for
from workbench.engine.evaluators import Evaluators
from workbench.engine.plan import RegenerationPlan
from workbench.engine.rechecking import Rechecks
from workbench.engine.records import SessionCallLog, recorded_documenter
from workbench.engine.run_record import RunRecord
from workbench.engine.sandbox_provider import Place, sandbox_provider
from workbench.engine.stages import StageTable
from workbench.engine.task_building import prepare
from workbench.engine.task_rows import TaskTable
from workbench.errors import UsageError
from workbench.models import Gateway
from workbench.models.local_process import SLOTS
from workbench.regeneration.suite import Rules
from workbench.sandbox import Backend, Limits, choose_backend
from workbench.session import SessionWriter
from workbench.session.rows import RunRow
from workbench.settings import Settings


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Do the remaining work of ``run``; raises whatever ends the whole run, including cancellation."""
    record = RunRecord(writer, run.id)
    plan = record.plan()
    stages = StageTable(writer, run.id)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    opened = AsyncExitStack()
    try:
        # Connect first: a cluster that does not answer is reported before minutes are spent on the repository.
        place = await opened.enter_async_context(sandbox_provider(plan.engine))
        backend = choose_backend(plan.sandbox or settings.sandbox or None, plan.import_folders)
        # Made here, so that a doc system that cannot be made is said before minutes are spent on the repository.
        system = await asyncio.to_thread(
            make_doc_system,
            plan.docs,
            asker=gateway,
            folders=plan.import_folders,
            program_seconds=settings.docs_time_limit,
            # Who takes the plain process for model-written code has accepted what a program may do there.
            confined=backend.name != "process",
            sampled_as=await asyncio.to_thread(recorded_documenter, plan.docs),
        )
        record.amend(sandbox=backend.name, weaknesses=backend.guarantees().weaknesses)
        while not await _with_tasks(writer, run, settings, record, stages, place, backend, system, gateway, calls):
            pass  # a rebuild was ordered meanwhile
        stages.update("rechecks", "done")
    except BaseException:
        stages.failed()
        raise
    finally:
        with contextlib.suppress(Exception):
            await opened.aclose()
        with contextlib.suppress(Exception):
            await gateway.aclose()


async def _with_tasks(
    writer: SessionWriter,
    run: RunRow,
    settings: Settings,
    record: RunRecord,
    stages: StageTable,
    place: Place,
    backend: Backend,
    system: DocSystem,
    gateway: Gateway,
    calls: SessionCallLog,
) -> bool:
    """Build the tasks and do all that is asked for; return False when they are to be built anew first."""
    plan = record.plan()
    rebuild = plan.rebuild
    record.forget_dropped()
    prepared = await prepare(
        plan.source,
        backend,
        stages,
        pinned=plan.snapshot,
        rebuild=rebuild,
        on_dropped=record.dropped,
        on_fetched=record.fetched,
        on_unused=record.unused,
        rules=Rules(selection=plan.selection),
    )
    if rebuild:
        record.amend(rebuild=False)
    tasks = TaskTable(
        writer, run.id, prepared.snapshot, system, backend.name, plan.docs_scope, plan.selection, record.dropped
    )
    evaluators = Evaluators(gateway, calls)
    candidates = CandidateTable(writer, run.id)
    limits = Limits()
    async with place(prepared, backend, limits, stages) as sandboxes:
        while True:
            plan = record.plan()
            if plan.rebuild:
                return False
            asked = await tasks.document(prepared.built.tasks, plan.asks, stages)
            refused = candidates.refused(asked, evaluators)
            fine = {ask: items for ask, items in asked.items() if ask not in refused}
            candidates.add(plan, fine, evaluators)
            remarks = candidates.remarks(fine, evaluators, {task.id for task in prepared.built.tasks})
            writer.set_run(run.id, note=" ".join(filter(None, (*refused.values(), remarks))) or None)
            works = candidates.works(tasks.items)
            plan = record.take_up(refused, asked)
            if not fine and not plan.waiting:
                raise UsageError(" ".join(refused.values()))
            counts = candidates.counts(works)
            # What the app asked for meanwhile is found when everything else is done; re-checks come last.
            if not works:
                candidates.settle()
                for control, (done, total) in counts.items():
                    stages.update("controls" if control else "candidates", "done", done=done, total=total)
                looks = Rechecks(writer, run.id, sandboxes, limits, stages)
                all_looked = await looks.run(tasks.items, lambda: not _is_waited_for(record.plan()))
                if all_looked and record.finish(candidates.asked_again):
                    return True
                continue
            execution = Candidates(writer, evaluators, sandboxes, limits, stages)
            await execution.run(works, counts, max(settings.concurrency, SLOTS))
            candidates.give_up(execution.not_again)


def _is_waited_for(plan: RegenerationPlan) -> bool:
    return bool(plan.waiting) or plan.rebuild
