"""How tests drive the Regeneration mode: an app on a session, and waiting for conditions instead of sleeping."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from textual.pilot import Pilot
from trajectory_app import screen_text, until

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.figures_line import FiguresLine
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.base import settings
from workbench.regeneration.outcome import PassFigures


def quiet(screen: RegenerationScreen) -> bool:
    """Whether everything that was asked for is on the screen; a live run asks again every second."""
    loaders = (screen.searching, screen.doing, screen.detail.loader)
    return screen.following.idle and all(loader.idle for loader in loaders)


@contextlib.asynccontextmanager
async def regeneration(
    session: Path | None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[int], RegenerationScreen]]:
    """Run the app on a session in the Regeneration mode, everything loaded."""
    app = WorkbenchApp(session, settings.load(), warm_engine=False)
    async with app.run_test(size=size, notifications=True) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("regeneration")
        await until(pilot, lambda: isinstance(app.screen, RegenerationScreen), "the mode")
        screen = app.screen
        assert isinstance(screen, RegenerationScreen)
        if session is not None:
            settled = lambda: app.reader is not None and quiet(screen) and "Opening" not in screen_text(app)  # noqa: E731
            await until(pilot, settled, "the session")
        yield pilot, screen


async def press(pilot: Pilot[int], screen: RegenerationScreen, *keys: str) -> None:
    """Press keys, waiting after each until all that it asked for is shown."""
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: quiet(screen), f"the effect of {key}")


def figures(screen: RegenerationScreen) -> PassFigures | None:
    """Return pass@k as it is shown."""
    shown = screen.query_one(FiguresLine).figures
    return shown.passing if shown is not None else None
