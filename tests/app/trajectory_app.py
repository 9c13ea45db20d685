"""How tests drive the Trajectory mode: an app on a session, and waiting for conditions instead of sleeping."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from textual.pilot import Pilot

from workbench.app.app import WorkbenchApp
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.app.trials.screen import TrialsScreen
from workbench.base import settings


async def until(pilot: Pilot[int], condition: Callable[[], object], what: str, seconds: float = 30) -> None:
    """Wait until a condition holds; fails with what was waited for."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        await pilot.pause()
        if condition():
            return
        assert loop.time() < end, f"waited {seconds} s in vain for: {what}\n{screen_text(pilot.app)}"
        await asyncio.sleep(0.005)


def screen_text(app: object) -> str:
    """Return the characters on the screen."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())  # type: ignore[attr-defined]


def quiet(screen: TrajectoryScreen) -> bool:
    """Whether everything that was asked for is on the screen."""
    loaders = (
        screen.searching, screen.doing,
        screen.content.loader, screen.outcome.loader,
    )  # fmt: skip
    return screen.run_loader.idle and screen.refreshing.settled and all(loader.idle for loader in loaders)


@contextlib.asynccontextmanager
async def trajectory(
    session: Path, size: tuple[int, int] = (120, 40), trial: str | None = None
) -> AsyncIterator[tuple[Pilot[int], TrajectoryScreen]]:
    """Run the app on a session in the Trajectory mode, everything loaded."""
    app = WorkbenchApp(session, settings.load(), warm_engine=False)
    async with app.run_test(size=size) as pilot:
        while app.is_opening:
            await pilot.pause()
        await until(pilot, lambda: isinstance(app.screen, TrajectoryScreen), "the mode")
        screen = app.screen
        assert isinstance(screen, TrajectoryScreen)

        def settled() -> bool:
            opened = app.reader is not None and quiet(screen)
            return opened and (screen.state is not None or "Opening" not in screen_text(app))

        await until(pilot, settled, "the session")
        if trial is not None:
            screen.show_trial(trial)
            await until(pilot, lambda: screen.state and screen.state.trial.id == trial and quiet(screen), trial)
        yield pilot, screen


async def press(pilot: Pilot[int], screen: TrajectoryScreen, *keys: str) -> None:
    """Press keys, waiting after each until all that it asked for is shown."""
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: quiet(screen), f"the effect of {key}")


async def table_of_trials(pilot: Pilot[int]) -> TrialsScreen:
    """Go to the table of all trials and wait until they have been read."""
    await pilot.press("T")
    await until(pilot, lambda: isinstance(pilot.app.screen, TrialsScreen), "the table")
    screen = pilot.app.screen
    assert isinstance(screen, TrialsScreen)
    await until(pilot, lambda: screen.table.trials.lines and screen.live.settled, "the trials")
    return screen
