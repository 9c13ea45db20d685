"""Ask for a regeneration run in one dialog, plan it in a thread, and show it as it goes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.regeneration.dialog import RegenerationChoice

SAMPLES = 5
_FIRST_CASE = "word_counter"


async def ask_and_start(app: WorkbenchApp, source: str = "", docs: str = "") -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        app: The app.
        source: Case or source to start with, "" for the first one of the catalogue.
        docs: Doc system to start with.
    """
    from workbench.app.regeneration.dialog import RegenerationDialog
    from workbench.errors import WorkbenchError

    settings = app.settings
    cases, evaluator, models = await asyncio.to_thread(_known, settings.evaluator, settings.base_url)
    source = source or (_FIRST_CASE if _FIRST_CASE in cases else next(iter(cases), ""))
    choice = await app.push_screen_wait(
        RegenerationDialog(source, docs or "original", evaluator, SAMPLES, models, cases)
    )
    if choice is None:
        return
    app.notify(f"Starting the regeneration of {choice.source}…", timeout=2)
    try:
        session, run = await asyncio.to_thread(
            _begin, app, app.session_path if app.reader is not None else None, choice
        )
    except (WorkbenchError, OSError) as error:
        app.notify(str(error), title="Regeneration", severity="error", timeout=12)
        return
    app.open_session(session, then=lambda: show_run(app, run))


async def show_run(app: WorkbenchApp, run: str) -> None:
    """Show a run of the open session in the Regeneration mode."""
    from workbench.app.screens.regeneration import RegenerationScreen

    await app.switch_mode("regeneration")
    if isinstance(app.screen, RegenerationScreen):
        app.screen.show_run(run)


def _known(evaluator: str, base_url: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    from workbench.catalog import load_cases
    from workbench.models.defaults import available_models, default_model

    cases, _ = load_cases()
    evaluator = evaluator or default_model("evaluator", base_url=base_url)
    return tuple(case.id for case in cases), evaluator, available_models()


def _begin(app: WorkbenchApp, session: Path | None, choice: RegenerationChoice) -> tuple[Path, str]:
    """Write the run into the open session, or into a new one where that is only read, and hand it to an engine."""
    from workbench.app import runs
    from workbench.engine import client
    from workbench.engine.plan import RegenerationPlan
    from workbench.engine.regeneration_client import plan_regeneration

    name = f"regenerate-{Path(choice.source).name}"
    path = session if session is not None and runs.is_writable(session) else runs.new_session(name)
    plan = RegenerationPlan(
        source=choice.source,
        docs=choice.docs,
        evaluator=choice.evaluator,
        samples=choice.samples,
        limit=choice.limit,
        spend_limit=app.settings.spend_limit,
    )
    run = plan_regeneration(path, plan)
    client.launch(path, run, app.warm)
    return path, run
