"""Ask for a regeneration run in one dialog, plan it in a thread, and show it as it goes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.read_only import ReadOnly, is_read_only

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.regeneration.dialog import RegenerationChoice
    from workbench.settings import Settings

_DIALOG = "regenerate"
_FIRST_CASE = "word_counter"


async def ask_and_start(host: WorkbenchApp, source: str = "", docs: str = "") -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        source: Case or source to start with, "" for the first one of the catalogue.
        docs: Doc system to start with.
    """
    if is_read_only():
        host.notify(str(ReadOnly("start runs")), severity="warning")
        return
    from workbench.app import runs
    from workbench.app.regeneration.dialog import RegenerationDialog, place_of
    from workbench.app.toolkit.agreeing import agreed
    from workbench.app.toolkit.answers import remember, remembered
    from workbench.app.toolkit.plain_process import plain_process
    from workbench.engine.measured import measure
    from workbench.engine.regeneration_estimate import estimate_order
    from workbench.errors import WorkbenchError
    from workbench.sandbox import NoIsolation

    settings = host.settings
    cases, models, plain = await asyncio.to_thread(_known, settings)
    open_now = host.session_path if host.reader is not None else None
    answers = remembered(_DIALOG, plain)
    answers["source"] = source or answers["source"] or (_FIRST_CASE if _FIRST_CASE in cases else next(iter(cases), ""))
    answers["docs"] = docs or answers["docs"]
    session, known = runs.default_session(open_now), runs.known_sessions()
    busy = await asyncio.to_thread(runs.something_runs, host.reader)
    while True:
        dialog = RegenerationDialog(
            answers,
            models,
            cases,
            settings,
            partial(measure, open_now, into=place_of(session)),
            session,
            known,
            busy=busy,
        )
        choice = await host.push_screen_wait(dialog)
        if choice is None:
            return
        session = choice.session
        answers = {
            "source": choice.source,
            "docs": choice.docs,
            "scope": choice.docs_scope,
            "evaluator": choice.evaluator,
            "samples": str(choice.samples),
            "limit": str(choice.limit or ""),
        }
        into = place_of(session)
        measured = await asyncio.to_thread(measure, open_now, into=into)
        try:
            told = await asyncio.to_thread(estimate_order, measured, choice.plan(), into)
        except (WorkbenchError, OSError):
            told = choice.estimate(measured)  # what cannot be used is said by the order itself
        if await agreed(host, told):
            break
    remember(_DIALOG, {**answers, "source": plain["source"] if source else choice.source}, plain)
    host.notify(f"Starting the regeneration of {choice.source}…", timeout=2)
    try:
        try:
            path, run, evaluator = await asyncio.to_thread(_begin, host, choice)
        except NoIsolation as error:
            if not error.promises or not await host.push_screen_wait(plain_process(error)):
                raise
            path, run, evaluator = await asyncio.to_thread(_begin, host, choice, "process")
    except (WorkbenchError, OSError) as error:
        host.notify(str(error), title="Regeneration", severity="error", timeout=12)
        return
    host.open_session(path, then=lambda: host.show_run(run, evaluator))


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    from workbench.engine.defaults import regeneration_plan

    plan = regeneration_plan(settings)
    limit = str(plan.limit or "")
    return {
        "source": plan.source,
        "docs": plan.docs,
        "scope": plan.docs_scope,
        "evaluator": plan.evaluator,
        "samples": str(plan.samples),
        "limit": limit,
    }


def _known(settings: Settings) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    from workbench.catalog import load_cases
    from workbench.models.defaults import available_models

    cases, _ = load_cases()
    return tuple(case.id for case in cases), available_models(), defaults(settings)


def _begin(host: WorkbenchApp, choice: RegenerationChoice, sandbox: str = "") -> tuple[Path, str, str]:
    """Write the run into the session that was chosen, or into a new one where that is only read, and hand it to an engine.

    Returns:
        The session, the run, and whose samples were asked for.

    Raises:
        NoIsolation: No sandbox was named and none isolates; nothing was written.
    """
    from workbench.app import runs
    from workbench.engine import launching
    from workbench.engine.queue import enqueue
    from workbench.engine.regeneration_client import order_regeneration

    name = f"regenerate-{Path(choice.source).name}"
    path = runs.session_named(choice.session, name)
    path = path if not path.exists() or runs.is_writable(path) else runs.new_session(name)
    plan = replace(choice.plan(), spend_limit=host.settings.spend_limit, sandbox=sandbox)
    order = order_regeneration(path, plan)
    if choice.queue:
        enqueue(path, order.run)
    launching.launch(path, order.run, host.warm)
    return path, order.run, order.ask.evaluator
