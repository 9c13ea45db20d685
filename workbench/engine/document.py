"""Execute a document run: its trials side by side, each to its end."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from workbench.engine.plan import DocumentPlan
from workbench.engine.records import SessionCallLog, SessionReplay
from workbench.engine.trial import TrialRunner
from workbench.models import Gateway, Limits
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import RunRow
from workbench.settings import Settings


def gateway_for(
    writer: SessionWriter, run: RunRow, spend_limit: float, settings: Settings
) -> tuple[Gateway, SessionCallLog]:
    """Return the gateway of a run with its log in the session; what earlier engines spent counts towards the limit."""
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
        replay=lambda name: SessionReplay(Path(name)),
        base_url=settings.base_url,
        local_model_path=settings.local_model_path,
        spent_usd=run.spend_usd,
    )
    return gateway, calls


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Run every trial of ``run`` that is not done; raises what ends the whole run, cancellation included."""
    plan = DocumentPlan.from_json(run.config)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    runner = TrialRunner(writer, plan, gateway, calls, settings.time_limit)
    with SessionReader(writer.path) as reader:
        waiting = [trial for trial in reader.trials(run.id) if trial.state != "done"]
    places = asyncio.Semaphore(max(1, settings.trials_at_once))
    try:
        async with asyncio.TaskGroup() as group:

            async def one(index: int) -> None:
                async with places:
                    await runner.run(waiting[index])

            for index in range(len(waiting)):
                group.create_task(one(index))
    except BaseExceptionGroup as several:
        # One cause ends a run: the first says it, the others are its consequences.
        raise several.exceptions[0] from None
    finally:
        with contextlib.suppress(Exception):
            await gateway.aclose()
