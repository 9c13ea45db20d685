"""Execute a document run: run its trials concurrently."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection
from pathlib import Path

from workbench.agents import make_agent
from workbench.agents.names import is_peer
from workbench.base.settings import Settings
from workbench.base.task_groups import task_group
from workbench.engine.records import SessionCallLog, SessionReplay, has_docs_of
from workbench.engine.trial import TrialRunner
from workbench.models import Gateway, Limits
from workbench.models.defaults import is_local
from workbench.models.types import ModelError
from workbench.plans.plan import DocumentPlan
from workbench.rubric import make_judge, parse_judge
from workbench.session import SessionReader, SessionWriter
from workbench.session.pending_work import is_rescored, lacking, trial_state
from workbench.session.rows import RunRow

LOADING_LOCAL = "the embedded model is being loaded…"
LOADING_CLIENT = "the model's client is being loaded…"


def gateway_for(
    writer: SessionWriter, run: RunRow, spend_limit: float, settings: Settings
) -> tuple[Gateway, SessionCallLog]:
    """Return a run's gateway and its call log in the session; earlier engines' spend counts towards the limit."""
    calls = SessionCallLog(writer, run.id)
    limits = Limits(
        concurrency=settings.concurrency,
        timeout_s=settings.request_timeout,
        total_s=settings.request_total_time,
        tries=settings.max_tries,
        spend_usd=spend_limit or None,
    )
    gateway = Gateway(
        calls,
        limits,
        replay=lambda name: SessionReplay(Path(name), has_docs_of(run)),
        base_url=settings.base_url,
        local_model_path=settings.local_model_path,
        spent_usd=run.spend_usd,
    )
    return gateway, calls


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Run every trial that is not done or lacks scores; raises whatever ends the whole run, including cancellation."""
    plan = DocumentPlan.from_json(run.config)
    if plan.check_only:
        from workbench.engine.check_execution import execute_checks

        await execute_checks(writer, run)
        return
    # What cannot be imported (any more) ends the run, not each of its trials.
    if not is_rescored(run) or plan.agent:
        make_agent(plan.agent, plan.import_folders)
    for judge in plan.asked_judges:
        if parse_judge(judge).kind == "extension":
            make_judge(judge, None, folders=plan.import_folders)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    runner = TrialRunner(writer, run, plan, gateway, calls, settings.time_limit, settings.request_timeout)
    with SessionReader(writer.path) as reader:
        waiting = [trial for trial in reader.trials(run.id) if trial_state(reader, trial) != "done"]
        again = dict.fromkeys(trial for trial, _, _ in lacking(reader, run))
        waiting += [trial for trial in map(reader.trial, again) if trial is not None]
    places = asyncio.Semaphore(max(1, settings.trials_at_once))
    # The embedded model answers one conversation at a time; concurrent trials would only evict each other from its cache.
    one_place = asyncio.Semaphore(1)
    agents = {trial.model for trial in waiting if trial.run_id == run.id}
    preparing = asyncio.create_task(_prepare(writer, run.id, gateway, agents))
    try:
        async with task_group() as group:

            async def one(index: int) -> None:
                trial = waiting[index]
                models = [trial.model] if trial.run_id == run.id else list(plan.asked_judges)
                async with one_place if any(map(is_local, models)) else places:
                    await runner.run(trial)

            for index in range(len(waiting)):
                group.create_task(one(index))
    finally:
        preparing.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await preparing
        with contextlib.suppress(Exception):
            await gateway.aclose()
    if plan.check:
        from workbench.engine.check_execution import execute_checks, plan_own_checks

        plan_own_checks(writer, run, plan)
        await execute_checks(writer, run)


async def _prepare(writer: SessionWriter, run: str, gateway: Gateway, models: Collection[str]) -> None:
    """Load what the first requests need while repositories are fetched; the run's note says what is waited for."""
    asked = [model for model in models if not model.startswith("replay:") and not is_peer(model)]
    if not asked:
        return
    local = next((model for model in asked if is_local(model)), "")
    writer.set_run(run, note=LOADING_LOCAL if local else LOADING_CLIENT)
    try:
        # Why a model cannot run is said by the first request that needs it.
        with contextlib.suppress(ModelError):
            await gateway.warm_up(local or asked[0])
    finally:
        writer.set_run(run, note=None)
