"""How tests drive the app: opened on a session in one of its modes, waiting for conditions instead of sleeping."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.figures_line import FiguresLine
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.study.screen import StudyScreen
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.app.trials.screen import TrialsScreen
from workbench.base.settings import Settings, load
from workbench.regeneration.outcome import PassFigures


def paint_nothing(compositor: Compositor, **_: object) -> None:
    """Without a terminal Textual throws away what it paints, and that took a third of a test's time."""
    compositor._dirty_regions.clear()


def screen_text(app: App[Any]) -> str:
    """Return the characters on the screen, all of which is rendered."""
    visible_screen_stack.set(app._background_screens)  # on which a dialog stands; what renders takes them away
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def until(pilot: Pilot[Any], condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Wait until a condition holds; fails with what was waited for and the screen."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        await pilot.pause()
        if condition():
            return
        assert loop.time() < end, f"waited {seconds} s in vain for: {what}\n{screen_text(pilot.app)}"
        await asyncio.sleep(0.005)


async def sees(pilot: Pilot[Any], *texts: str, seconds: float = 60) -> None:
    """Wait until all texts stand on the screen."""
    await until(pilot, lambda: all(text in screen_text(pilot.app) for text in texts), str(texts), seconds)


async def on(pilot: Pilot[Any], kind: type) -> Any:
    """Wait until a screen of a class is shown; return it."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind), kind.__name__)
    return pilot.app.screen


def quiet(screen: TrajectoryScreen | RegenerationScreen) -> bool:
    """Whether everything that was requested is on the screen; a live run asks again every second."""
    if isinstance(screen, RegenerationScreen):
        loaders = [screen.following, screen.detail.loader]
    else:
        loaders = [screen.run_loader, screen.content.loader, screen.outcome.loader]
        if not screen.refreshing.settled:
            return False
    return all(loader.idle for loader in (*loaders, screen.searching, screen.doing))


async def press(pilot: Pilot[Any], screen: TrajectoryScreen | RegenerationScreen, *keys: str) -> None:
    """Press keys, waiting after each until its whole effect is shown."""
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: quiet(screen), f"the effect of {key}")


@contextlib.asynccontextmanager
async def opened(
    session: Path | None, size: tuple[int, int] = (120, 40), settings: Settings | None = None
) -> AsyncIterator[Pilot[Any]]:
    """Run the app on a session until its first mode is shown."""
    app = WorkbenchApp(session, settings or load(), warm_engine=False)
    async with app.run_test(size=size, notifications=True) as pilot:
        while app.is_opening:
            await pilot.pause()
        yield pilot


class Person:
    """Presses keys in a running app, reads its screen and waits until what must come has come."""

    def __init__(self, app: WorkbenchApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen_text(self) -> str:
        return screen_text(self.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*({" ": "space", "/": "slash", ".": "full_stop"}.get(letter, letter) for letter in text))

    async def until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        """Let the app work until the condition holds, which a widget that is not there yet does not end."""

        def holds() -> object:
            try:
                return condition()
            except Exception as error:
                errors.append(error)
                return False

        errors: list[Exception] = []
        try:
            await until(self.pilot, holds, "the condition", seconds)
        except AssertionError as waited:
            raise waited from (errors[-1] if errors else None)

    async def sees(self, *texts: str, seconds: float = 60) -> None:
        """Wait until all texts stand on the screen."""
        await self.until(lambda: all(text in self.screen_text for text in texts), seconds)


@contextlib.asynccontextmanager
async def running(
    session: Path | None = None, size: tuple[int, int] = (120, 40), settings: Settings | None = None
) -> AsyncIterator[Person]:
    """Run the app with settings that no file changes."""
    async with opened(session, size, settings or Settings()) as pilot:
        await pilot.pause()
        yield Person(pilot.app, pilot)


@contextlib.asynccontextmanager
async def trajectory(
    session: Path, size: tuple[int, int] = (120, 40), trial: str | None = None
) -> AsyncIterator[tuple[Pilot[Any], TrajectoryScreen]]:
    """Run the app on a session in the Trajectory mode, everything loaded."""
    async with opened(session, size) as pilot:
        screen = await on(pilot, TrajectoryScreen)
        await until(pilot, lambda: pilot.app.reader is not None and quiet(screen), "the session")
        await until(pilot, lambda: screen.state is not None or "Opening" not in screen_text(pilot.app), "the trial")
        if trial is not None:
            screen.show_trial(trial)
            await until(pilot, lambda: screen.state and screen.state.trial.id == trial and quiet(screen), trial)
        yield pilot, screen


@contextlib.asynccontextmanager
async def regeneration(
    session: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[Any], RegenerationScreen]]:
    """Run the app on a session in the Regeneration mode, everything loaded."""
    async with opened(session, size) as pilot:
        await pilot.app.switch_mode("regeneration")
        screen = await on(pilot, RegenerationScreen)
        await until(pilot, lambda: pilot.app.reader is not None and quiet(screen), "the session")
        await until(pilot, lambda: "Opening" not in screen_text(pilot.app), "the run")
        yield pilot, screen


@contextlib.asynccontextmanager
async def study_of(path: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Pilot[Any], StudyScreen]]:
    """Run the app on a session in the Study mode, the session read."""
    async with opened(path, size) as pilot:
        await pilot.press("5")
        screen = await on(pilot, StudyScreen)
        await until(pilot, lambda: screen.view.session == path and "Opening" not in screen_text(pilot.app), "the study")
        yield pilot, screen


async def table_of_trials(pilot: Pilot[Any]) -> TrialsScreen:
    """Go to the table of all trials and wait until they have been read."""
    await pilot.press("T")
    screen = await on(pilot, TrialsScreen)
    await until(pilot, lambda: screen.table.trials.lines and screen.live.settled, "the trials")
    return screen


def figures(screen: RegenerationScreen) -> PassFigures | None:
    """Return pass@k as it is shown."""
    shown = screen.query_one(FiguresLine).figures
    return shown.passing if shown is not None else None
