"""The question before work that will take more than the settings allow unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Estimate


def question(host: WorkbenchApp, estimate: Estimate) -> str:
    """Return what is to be asked before work that will take this much, "" for nothing."""
    why = estimate.beyond(host.settings.ask_above_dollars, host.settings.ask_above_minutes)
    return f"{estimate.sentence()}.\nThat is {why}." if why else ""


async def agreed(host: WorkbenchApp, estimate: Estimate) -> bool:
    """Return whether to start: nothing is to be asked, or the answer was yes. Call it from a worker."""
    from workbench.app.toolkit.ask import Confirm

    asked = question(host, estimate)
    return not asked or (await host.push_screen_wait(Confirm("Start this?", asked, "Start"))) is True
