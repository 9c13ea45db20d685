"""Ask for a run of an agent in one dialog and start it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.agents.names import current_name
from workbench.agents.remote_names import is_remote
from workbench.read_only import ReadOnly, is_read_only

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.settings import Settings

_DIALOG = "run"


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    from workbench.engine.defaults import document_plan

    plan = document_plan(settings)
    return {"agent": plan.agent, "model": plan.model, "judge": plan.judge, "repeats": str(plan.repeats)}


async def ask_and_run(host: WorkbenchApp, cases: list[tuple[str, str]]) -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        cases: Key and name of each case.
    """
    if is_read_only():
        host.notify(str(ReadOnly("start runs")), severity="warning")
        return
    from workbench.app import runs
    from workbench.app.cases.run_dialog import RunChoice, RunDialog
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
    session = runs.default_session(host.session_path if host.reader is not None else None)
    known = runs.known_sessions()
    busy = await asyncio.to_thread(runs.something_runs, host.reader)
    while True:
        dialog = RunDialog(
            title,
            keys,
            answers,
            available_models(),
            settings,
            lambda: measure(host.session_path),
            session,
            known,
            busy=busy,
        )
        choice: RunChoice | None = await host.push_screen_wait(dialog)
        if choice is None:
            return
        session = choice.session
        answers = {
            "agent": choice.agent,
            # A remote agent asks a model of its own: what stood there is for the next agent.
            "model": answers["model"] if is_remote(choice.agent) and not choice.model else choice.model,
            "judge": choice.judge,
            "repeats": str(choice.repeats),
        }
        measured = await asyncio.to_thread(measure, host.session_path)
        if await agreed(host, choice.estimate(keys, measured, settings.trials_at_once)):
            break
    remember(_DIALOG, answers, plain)
    plan = replace(
        document_plan(settings, tuple(keys)),
        agent=current_name(choice.agent),
        model=choice.model,
        judge=choice.judge,
        repeats=choice.repeats,
    )
    name = cases[0][1] if len(cases) == 1 else f"{len(cases)}-cases"
    host.start_run(plan, name, runs.session_named(choice.session, name), queue=choice.queue)
