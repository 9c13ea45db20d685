"""Execute a regeneration run, from the source to a verdict on every candidate; finished work is skipped."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from workbench.base.errors import UsageError
from workbench.base.settings import Settings
from workbench.documenters import DocSystem, make_doc_system
from workbench.engine.candidate_rows import CandidateTable
from workbench.engine.candidates import Candidates
from workbench.engine.document import gateway_for
from workbench.engine.evaluators import Evaluators
from workbench.engine.rechecking import RecheckRunner
from workbench.engine.records import recorded_documenter
from workbench.engine.stages import StageProgress, StageTable
from workbench.engine.task_building import Prepared, Unused, cores, prepare
from workbench.engine.task_rows import TaskItem, TaskStore
from workbench.models.local_process import SLOTS
from workbench.plans.plan import Acceptance, Ask, CandidatePlan, RegenerationPlan, as_text, repeating, same_but_samples
from workbench.plans.usage import read_candidate_plan
from workbench.regeneration.suite import Rules
from workbench.regeneration.tasks import Dropped
from workbench.repository import Snapshot
from workbench.sandbox import Backend, Job, Limits, Report, choose_backend, pool
from workbench.sandbox.choose import Clusters, clusters_at
from workbench.session import SessionWriter
from workbench.session.rows import RunRow


def names(plan: CandidatePlan, ask: Ask) -> bool:
    return {**repeating(plan), "samples": 0} == {**repeating(ask), "samples": 0}


@dataclass(eq=False)
class RunRecord:
    """A run with candidates in a session."""

    writer: SessionWriter
    run: str

    def plan(self) -> CandidatePlan:
        with self.writer.transaction() as connection:
            kind, config = connection.execute("SELECT kind, config FROM runs WHERE id = ?", (self.run,)).fetchone()
        return read_candidate_plan(kind, config)

    def amend(self, **values: object) -> None:
        """Change fields of the plan, preserving concurrent changes to other fields."""
        with self.writer.transaction():
            plan = self.plan()
            changed = replace(plan, **values)  # type: ignore[arg-type]
            if changed != plan:
                self.writer.set_run(self.run, config=as_text(changed))

    def mark_permanent_failure(self) -> None:
        """Mark the failure as permanent, unless the run has candidates that a resume can complete."""
        with self.writer.transaction() as connection:
            if not connection.execute("SELECT 1 FROM candidates WHERE run_id = ? LIMIT 1", (self.run,)).fetchone():
                self.amend(permanent_failure=True)

    def record_acceptances(self, refused: Mapping[Ask, str], items_by_ask: Collection[Ask]) -> CandidatePlan:
        """Record for every ask whether its candidates exist now, and return the updated plan.

        A refused ask is removed from the plan, unless it names a samples file (which may be corrected). If it was the
        latest ask, the previous one takes its place. Asks that were added later, and are therefore not in
        ``items_by_ask``, remain pending.
        """
        with self.writer.transaction():
            plan = self.plan()
            if plan.rebuild:
                # A rebuild was ordered in the meantime, so the asks will be processed with its tasks.
                return plan
            news = tuple(Acceptance(ask, refused.get(ask, "")) for ask in items_by_ask)
            others = tuple(
                one for one in plan.acceptances if not any(same_but_samples(one.ask, new.ask) for new in news)
            )
            kept = (
                tuple(ask for ask in plan.asks if ask not in refused or ask.evaluator.startswith("samples:"))
                or plan.asks
            )
            values: dict[str, object] = {"acceptances": others + news, "asks": kept}
            last = next((ask for ask in plan.asks if ask not in kept and names(plan, ask)), None)
            if last is not None:
                values |= repeating(kept[-1])
            self.amend(**values)
            return self.plan()

    def finish(self, has_due: Callable[[], bool]) -> bool:
        """Mark the run as done and return True, unless it was extended in the meantime.

        Both happen in one transaction, so that no ask is missed.
        """
        with self.writer.transaction():
            plan = self.plan()
            if plan.waiting or plan.rebuild or has_due():
                return False
            self.writer.set_run(self.run, state="done", finished_at=time.time())
            return True

    def fetched(self, snapshot: Snapshot) -> None:
        """Record the snapshot with its list of files, so that a resume uses the same snapshot."""
        with self.writer.transaction():
            self.amend(snapshot=snapshot.digest)
            files = [(entry.path, entry.size) for entry in snapshot.files]
            self.writer.add_snapshot(snapshot.digest, snapshot.source, snapshot.revision, files)

    def forget_dropped(self) -> None:
        with self.writer.transaction() as connection:
            connection.execute("DELETE FROM dropped WHERE run_id = ?", (self.run,))

    def unused(self, tests: Sequence[Unused]) -> None:
        """Replace the recorded list of the suite's unused tests."""
        with self.writer.transaction() as connection:
            connection.execute("DELETE FROM unused_tests WHERE run_id = ?", (self.run,))
            for place, one in enumerate(tests):
                values = {"kind": one.kind, "test_id": one.test, "message": one.why}
                self.writer.insert("unused_tests", {"run_id": self.run, "position": place, **values})

    def dropped(self, entry: Dropped) -> None:
        path, _, rest = entry.id.partition("::")
        name, _, occurrence = rest.partition("#")
        values = {"run_id": self.run, "path": path, "qualified_name": name, "occurrence": int(occurrence or 1)}
        self.writer.insert("dropped", {**values, "stage": entry.stage, "reason": entry.reason}, conflict="REPLACE")


Document = Callable[[Sequence[Ask]], Awaitable[Mapping[Ask, Sequence[TaskItem]]]]
"""A function that writes the tasks of asks to the session and returns them by ask."""


@dataclass(eq=False)
class AskLoop:
    """Processes the asks of a run until it is done, including those that are added in the meantime."""

    _record: RunRecord
    _stages: StageTable
    _evaluators: Evaluators
    _sandboxes: Sandboxes
    _limits: Limits
    _settings: Settings

    async def run(self, document: Document, names: Collection[str]) -> bool:
        """Return False if a rebuild was ordered in the meantime. ``names`` are the readable ids of all tasks."""
        record, stages, evaluators = self._record, self._stages, self._evaluators
        writer, run = record.writer, record.run
        candidates = CandidateTable(writer, run)
        while True:
            plan = record.plan()
            if plan.rebuild:
                return False
            items_by_ask = await document(plan.asks)
            items = {item.id: item for each in items_by_ask.values() for item in each}
            refused = candidates.refused(items_by_ask, evaluators)
            fine = {ask: each for ask, each in items_by_ask.items() if ask not in refused}
            candidates.add(plan, fine, evaluators)
            remarks = candidates.remarks(fine, evaluators, names)
            writer.set_run(run, note=" ".join(filter(None, (*refused.values(), remarks))) or None)
            works = candidates.works(items)
            plan = record.record_acceptances(refused, items_by_ask)
            if not fine and not plan.waiting:
                raise UsageError(" ".join(refused.values()))
            counts = candidates.counts(works)
            # Check for new asks when all other work is done; re-checks come last.
            if not works:
                candidates.settle()
                for control, (done, total) in counts.items():
                    stages.update("controls" if control else "candidates", "done", done=done, total=total)
                rechecks = RecheckRunner(writer, run, self._sandboxes, self._limits, stages)
                all_rechecked = await rechecks.run(items, lambda: not ((now := record.plan()).waiting or now.rebuild))
                if all_rechecked and record.finish(candidates.has_due):
                    return True
                continue
            execution = Candidates(writer, evaluators, self._sandboxes, self._limits, stages)
            await execution.run(works, counts, max(self._settings.concurrency, SLOTS))
            candidates.give_up(execution.not_again)


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Do the remaining work of ``run``; raises any error that ends the whole run, including cancellation."""
    record = RunRecord(writer, run.id)
    plan = RegenerationPlan.from_json(run.config)
    stages = StageTable(writer, run.id)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    opened = AsyncExitStack()

    async def with_tasks(backend: Backend, system: DocSystem, place: Place) -> bool:
        """Build the tasks and process all asks; return False if a rebuild was ordered in the meantime."""
        plan = record.plan()
        assert isinstance(plan, RegenerationPlan)
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
        tasks = TaskStore(
            writer, run.id, prepared.snapshot, system, backend.name, plan.docs_scope, plan.selection, record.dropped
        )
        limits = Limits()
        names = {task.id for task in prepared.built.tasks}
        async with place(prepared, backend, limits, stages) as sandboxes:
            loop = AskLoop(record, stages, Evaluators(gateway, calls), sandboxes, limits, settings)
            return await loop.run(lambda asks: tasks.document(prepared.built.tasks, asks, stages), names)

    try:
        # Connect first, so that an unreachable cluster is reported before minutes are spent on the repository.
        place = await opened.enter_async_context(sandbox_provider(plan.engine))
        backend = choose_backend(plan.sandbox or settings.sandbox or None, plan.import_folders)
        # Create the doc system up front as well, so that an unusable one is reported before the slow work on the
        # repository.
        system = await asyncio.to_thread(
            make_doc_system,
            plan.docs,
            model_client=gateway,
            folders=plan.import_folders,
            program_seconds=settings.docs_time_limit,
            # A user who chooses the plain process accepts that programs are not confined.
            confined=backend.name != "process",
            sampled_as=await asyncio.to_thread(recorded_documenter, plan.docs),
        )
        record.amend(sandbox=backend.name, weaknesses=backend.guarantees().weaknesses)
        while not await with_tasks(backend, system, place):
            pass  # a rebuild was ordered in the meantime
        stages.update("rechecks", "done")
    except BaseException:
        stages.failed()
        raise
    finally:
        with contextlib.suppress(Exception):
            await opened.aclose()
        with contextlib.suppress(Exception):
            await gateway.aclose()


class Sandboxes(Protocol):
    """Tests candidates, as many concurrently as there are ``workers``."""

    @property
    def workers(self) -> Collection[object]:
        """The workers; each tests one candidate at a time."""
        ...

    async def run(self, job: Job) -> Report:
        """Test a candidate."""
        ...


Place = Callable[[Prepared, Backend, Limits, StageProgress], AbstractAsyncContextManager[Sandboxes]]
"""A function that opens sandboxes for a prepared repository, with the back end that built its tasks."""


@asynccontextmanager
async def sandbox_provider(engine: str) -> AsyncIterator[Place]:
    """Open the engine of a plan: "" for this machine, ``dask://HOST:PORT`` for a cluster. Raises WorkbenchError."""
    if not engine:
        yield _here
        return
    clusters = clusters_at(engine)
    async with clusters.connected(engine) as cluster:
        yield partial(_on_cluster, clusters, cluster)


def _here(
    prepared: Prepared, backend: Backend, limits: Limits, _: StageProgress
) -> AbstractAsyncContextManager[Sandboxes]:
    return pool(backend, prepared.environment.workspace, workers=cores(), limits=limits)


@asynccontextmanager
async def _on_cluster(
    clusters: Clusters, cluster: Any, prepared: Prepared, backend: Backend, limits: Limits, progress: StageProgress
) -> AsyncIterator[Sandboxes]:
    def tell(sentence: str) -> None:
        print(sentence, flush=True)
        progress.update("candidates", note=sentence)

    async with cluster.pool(clusters.pack(prepared, backend.name, limits), tell) as opened:
        yield opened
