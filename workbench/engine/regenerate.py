"""Execute a regeneration run, from the source to a verdict for every candidate, skipping what is already done."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
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
from workbench.engine.rechecking import Rechecks
from workbench.engine.records import recorded_documenter
from workbench.engine.stages import StageProgress, StageTable
from workbench.engine.task_building import Prepared, Unused, cores, prepare
from workbench.engine.task_rows import TaskTable
from workbench.models.local_process import SLOTS
from workbench.plans.plan import Acceptance, Ask, RegenerationPlan, as_text, repeating, same_but_samples
from workbench.regeneration.suite import Rules
from workbench.regeneration.tasks import Dropped
from workbench.repository import Snapshot
from workbench.sandbox import Backend, Job, Limits, Report, choose_backend, pool
from workbench.sandbox.choose import Clusters, clusters_at
from workbench.session import SessionWriter
from workbench.session.rows import RunRow


def names(plan: RegenerationPlan, ask: Ask) -> bool:
    return {**repeating(plan), "samples": 0} == {**repeating(ask), "samples": 0}


@dataclass(eq=False)
class RunRecord:
    """One run in a session."""

    _writer: SessionWriter
    _run: str

    def plan(self) -> RegenerationPlan:
        with self._writer.transaction() as connection:
            row = connection.execute("SELECT config FROM runs WHERE id = ?", (self._run,)).fetchone()
        return RegenerationPlan.from_json(row[0])

    def amend(self, **values: object) -> None:
        """Change fields of the plan, keeping concurrent changes to other fields."""
        with self._writer.transaction():
            plan = self.plan()
            changed = replace(plan, **values)  # type: ignore[arg-type]
            if changed != plan:
                self._writer.set_run(self._run, config=as_text(changed))

    def fail_lastingly(self) -> None:
        """Note that a resume cannot mend why the run fails; of a run that has candidates there is still something to do."""
        with self._writer.transaction() as connection:
            if not connection.execute("SELECT 1 FROM candidates WHERE run_id = ? LIMIT 1", (self._run,)).fetchone():
                self.amend(lasting=True)

    def take_up(self, refused: Mapping[Ask, str], asked: Collection[Ask]) -> RegenerationPlan:
        """Record for every ask whether its candidates are rows now, and return the updated plan.

        A refused ask is removed from the plan, unless it names a samples file (which may be corrected); if it was the
        latest ask, the one before it takes its place. Later asks than those ``asked`` keep waiting.
        """
        with self._writer.transaction():
            plan = self.plan()
            if plan.rebuild:
                # Ordered this moment: what is asked for is taken up with the tasks that are built then.
                return plan
            news = tuple(Acceptance(ask, refused.get(ask, "")) for ask in asked)
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

    def finish(self, asked_again: Callable[[], bool]) -> bool:
        """Mark the run as done and return True, unless something was asked for meanwhile; atomic, so no ask is missed."""
        with self._writer.transaction():
            plan = self.plan()
            if plan.waiting or plan.rebuild or asked_again():
                return False
            self._writer.set_run(self._run, state="done", finished_at=time.time())
            return True

    def fetched(self, snapshot: Snapshot) -> None:
        """Record the run's snapshot, for its resume, and the list of the repository's files."""
        with self._writer.transaction():
            self.amend(snapshot=snapshot.digest)
            files = [(entry.path, entry.size) for entry in snapshot.files]
            self._writer.add_snapshot(snapshot.digest, snapshot.source, snapshot.revision, files)

    def forget_dropped(self) -> None:
        with self._writer.transaction() as connection:
            connection.execute("DELETE FROM dropped WHERE run_id = ?", (self._run,))

    def unused(self, tests: Sequence[Unused]) -> None:
        """Keep the tests of the suite that no verdict rests on, in place of those of an earlier part of the run."""
        with self._writer.transaction() as connection:
            connection.execute("DELETE FROM unused_tests WHERE run_id = ?", (self._run,))
            for place, one in enumerate(tests):
                values = {"kind": one.kind, "test_id": one.test, "message": one.why}
                self._writer.insert("unused_tests", {"run_id": self._run, "position": place, **values})

    def dropped(self, entry: Dropped) -> None:
        path, _, rest = entry.id.partition("::")
        name, _, occurrence = rest.partition("#")
        values = {"run_id": self._run, "path": path, "qualified_name": name, "occurrence": int(occurrence or 1)}
        self._writer.insert("dropped", {**values, "stage": entry.stage, "reason": entry.reason}, conflict="REPLACE")


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Do the remaining work of ``run``; raises whatever ends the whole run, including cancellation."""
    record = RunRecord(writer, run.id)
    plan = record.plan()
    stages = StageTable(writer, run.id)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    opened = AsyncExitStack()

    async def with_tasks(backend: Backend, system: DocSystem, place: Place) -> bool:
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
                    all_looked = await looks.run(
                        tasks.items, lambda: not ((now := record.plan()).waiting or now.rebuild)
                    )
                    if all_looked and record.finish(candidates.asked_again):
                        return True
                    continue
                execution = Candidates(writer, evaluators, sandboxes, limits, stages)
                await execution.run(works, counts, max(settings.concurrency, SLOTS))
                candidates.give_up(execution.not_again)

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
        while not await with_tasks(backend, system, place):
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


class Sandboxes(Protocol):
    """Tests candidates and returns reports, as many at once as there are ``workers``."""

    @property
    def workers(self) -> Collection[object]:
        """One entry per candidate that may be tested at once."""
        ...

    async def run(self, job: Job) -> Report:
        """Test one candidate."""
        ...


Place = Callable[[Prepared, Backend, Limits, StageProgress], AbstractAsyncContextManager[Sandboxes]]
"""Opens sandboxes for a repository that has been prepared on this machine, with the back end that its tasks were built with."""


@asynccontextmanager
async def sandbox_provider(engine: str) -> AsyncIterator[Place]:
    """Open the engine that a plan names: "" is this machine, ``dask://HOST:PORT`` a cluster. Raises WorkbenchError."""
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
