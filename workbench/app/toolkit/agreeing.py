"""The question before work that will take more than the settings allow unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.toolkit.ask import Confirm

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Estimate
    from workbench.sandbox import NoIsolation
    from workbench.settings import Settings


def question(host: WorkbenchApp, estimate: Estimate) -> str:
    """Return what is to be asked before work that will take this much, "" for nothing."""
    why = estimate.beyond(host.settings.ask_above_dollars, host.settings.ask_above_minutes)
    return f"{estimate.sentence()}.\nThat is {why}." if why else ""


async def agreed(host: WorkbenchApp, estimate: Estimate) -> bool:
    """Return whether to start: nothing is to be asked, or the answer was yes. Call it from a worker."""
    from workbench.app.toolkit.ask import Confirm

    asked = question(host, estimate)
    return not asked or (await host.push_screen_wait(Confirm("Start this?", asked, "Start"))) is True


def plain_process(error: NoIsolation) -> Confirm:
    """Return the question; yes means the sandbox ``process``."""
    promises = "\n".join(f"· {line}" for line in error.promises)
    return Confirm(
        "No sandbox isolates here",
        "Run the code that a model writes in a plain process instead? `workbench doctor` says why no sandbox can be used. "
        f"A plain process guarantees on this machine:\n{promises}",
        "Run",
    )


def model_problem(model: str, role: str, settings: Settings) -> str:
    """Return why a model cannot be asked, "" where it can; costs some milliseconds.

    Args:
        model: A LiteLLM name, ``local`` or ``replay:SESSION``.
        role: What it is for, as used in messages: ``the agent``.
        settings: The settings in force.
    """
    from workbench.errors import WorkbenchError
    from workbench.models.names import check_model

    try:
        if model.startswith("replay:"):
            from workbench.engine.session_names import resolve_session

            resolve_session(model.removeprefix("replay:"))
        else:
            check_model(model, role, base_url=settings.base_url, local_model_path=settings.local_model_path)
    except WorkbenchError as error:
        return str(error)
    return ""
