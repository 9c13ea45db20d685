"""Ask for a run of an agent in one dialog and start it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.app.host import Host
    from workbench.settings import Settings

_DIALOG = "run"


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    from workbench.engine.defaults import document_plan

    plan = document_plan(settings)
    return {"agent": plan.agent, "model": plan.model, "judge": plan.judge, "repeats": str(plan.repeats)}


async def ask_and_run(host: Host, cases: list[tuple[str, str]]) -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        cases: Key and name of each case.
    """
    from workbench.app.cases.run_dialog import RunChoice, RunDialog
    from workbench.app.runs import something_runs
    from workbench.app.toolkit.agreeing import agreed
    from workbench.app.toolkit.answers import remember, remembered
    from workbench.engine.defaults import document_plan
    from workbench.engine.measured import measure
    from workbench.models.defaults import available_models

    settings = host.settings
    title = cases[0][1] if len(cases) == 1 else f"{len(cases)} cases"
    keys = [key for key, _ in cases]
    plain = defaults(settings)
    answers = remembered(_DIALOG, plain)
    busy = await asyncio.to_thread(something_runs, host.reader)
    while True:
        dialog = RunDialog(
            title, keys, answers, available_models(), settings, lambda: measure(host.session_path), busy=busy
        )
        choice: RunChoice | None = await host.push_screen_wait(dialog)
        if choice is None:
            return
        answers = {
            "agent": choice.agent,
            "model": choice.model,
            "judge": choice.judge,
            "repeats": str(choice.repeats),
        }
        measured = await asyncio.to_thread(measure, host.session_path)
        if await agreed(host, choice.estimate(keys, measured, settings.trials_at_once)):
            break
    remember(_DIALOG, answers, plain)
    plan = replace(
        document_plan(settings, tuple(keys)),
        agent=choice.agent,
        model=choice.model,
        judge=choice.judge,
        repeats=choice.repeats,
    )
    host.start_run(plan, cases[0][1] if len(cases) == 1 else f"{len(cases)}-cases", queue=choice.queue)
