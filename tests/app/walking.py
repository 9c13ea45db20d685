"""Walks through every screen of the app in one of the states, so that each can be looked at in any size."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input
from trajectory_app import screen_text, until

from workbench.app.app import WorkbenchApp
from workbench.app.location import Marks
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.base.settings import Settings

SIZES = ((80, 24), (120, 40), (200, 60))
"""Those at which a picture of each screen is kept."""
EMPTY, LIVE, FAILED, HUGE = "empty", "live", "failed", "huge"
FILLED = (LIVE, FAILED, HUGE)
EDGES = {FAILED: ((60, 15),), HUGE: ((60, 15), (250, 80))}
"""The smallest and the largest size, where it is only looked for what is cut, in the states that have most to say."""


@dataclass(frozen=True)
class Look:
    """A screen: the keys that lead to it from a mode, and the name of its class ("" for the mode's own).

    ``states`` are those in which there is something to see of its own; ``text`` is typed after the keys.
    """

    name: str
    mode: str
    keys: tuple[str, ...] = ()
    screen: str = ""
    states: tuple[str, ...] = (EMPTY, *FILLED)
    text: str = ""


LOOKS = (
    Look("cases", "1"),
    Look("run dialog", "1", ("enter",), "RunDialog", (EMPTY, LIVE)),
    Look("tour", "1", ("tour",), states=(LIVE,)),
    Look("trajectory", "2"),
    Look(
        "grounding", "2", ("w", "right_square_bracket", "right_square_bracket", "right_square_bracket"), states=FILLED
    ),
    Look("trials", "2", ("T",), "TrialsScreen", FILLED),
    Look("plots", "2", ("T", "p"), "TrialsScreen", FILLED),
    Look("side by side", "2", ("T", "g", "space", "j", "C"), "SideBySide", FILLED),
    Look("help", "2", ("question_mark",), "HelpScreen", (LIVE,)),
    Look("search", "2", ("ctrl+f",), "SearchScreen", text="count"),
    Look("sessions", "3"),
    Look("runs", "2", ("U",), "RunsScreen"),
    Look("labels", "2", ("number_sign",), "LabelsScreen"),
    Look("regeneration", "4"),
    Look("what went wrong", "4", ("w",), "WentWrongScreen", FILLED),
    Look("pass@k by file", "4", ("w", "left_square_bracket"), "WentWrongScreen", (HUGE,)),
    Look("pass@k by m", "4", ("w", "left_square_bracket", "left_square_bracket"), "WentWrongScreen", (HUGE,)),
    Look("regeneration dialog", "4", ("ctrl+n",), "RegenerationDialog", (EMPTY, LIVE)),
    Look("study", "5"),
    Look("study comparison", "5", ("space", "l", "C"), states=(HUGE,)),
    Look("study rankings", "5", ("escape", "right_square_bracket"), states=(HUGE,)),
)


def at_work(app: WorkbenchApp) -> bool:
    """Whether a thread still works for a screen."""
    return any(worker.is_running and worker._thread_worker for worker in app.workers)


async def settled(pilot: Pilot[int]) -> str:
    """Wait until no thread works and the screen stays as it is; return it.

    Where nothing was to be painted since the last look, the screen is what it was.
    """
    app, before, same, seen = pilot.app, "", 0, -1
    end = asyncio.get_running_loop().time() + 30
    while same < 2:
        await pilot.pause()
        paints = app.paints  # type: ignore[attr-defined]
        if paints == seen:
            now = before
        else:
            visible_screen_stack.set(app._background_screens)  # on which a dialog stands; what renders takes them away
            now = screen_text(app)
        same = same + 1 if now == before and not at_work(app) else 0
        before, seen = now, paints
        if at_work(app):
            await asyncio.sleep(0.005)
        assert asyncio.get_running_loop().time() < end, f"the screen does not come to rest:\n{now}"
    return before


async def go(pilot: Pilot[int], look: Look) -> None:
    """Go to a screen."""
    app = pilot.app
    await pilot.press(look.mode)
    await settled(pilot)
    for key in look.keys:
        if key == "tour":
            await app.action_tour()
        else:
            await pilot.press(key)
        await settled(pilot)
    if look.screen:
        await until(pilot, lambda: type(app.screen).__name__ == look.screen, look.screen)
    if look.text:
        await pilot.press(*look.text)
        await settled(pilot)


async def back(pilot: Pilot[int]) -> None:
    """Go back to the mode, as it was."""
    app = pilot.app
    app.tour.leave()
    while len(app.screen_stack) > 1:
        if isinstance(app.screen, ModalScreen):
            app.screen.dismiss(None)
        else:
            await app.screen.dismiss()
        await pilot.pause()
    app.marks = Marks()


def cut(app: App[int], text: str) -> list[str]:
    """Return what does not fit its place on the screen and does not say so with an ellipsis, and width that nothing uses.

    ``text`` is what stands on the screen.
    """
    found = []
    lines = text.splitlines()
    for widget in app.screen.walk_children(Widget):
        if (
            not widget.display
            or not widget.content_region
            or isinstance(widget, (VirtualView, Input))
            or widget.children
        ):
            continue
        scrolled = any(node.allow_vertical_scroll for node in widget.ancestors if isinstance(node, Widget))
        region = widget.content_region
        seen = region if scrolled else region.intersection(app.screen.region)
        needed = widget.get_content_height(region.size, app.size, region.width)
        if needed > seen.height and app.screen.find_widget(widget).visible_region:
            last = lines[seen.bottom - 1][: seen.right].rstrip(" │") if 0 < seen.bottom <= len(lines) else ""
            if not last.endswith("…"):
                said = " ".join("".join(line[seen.x : seen.right]) for line in lines[seen.y : seen.bottom])
                found.append(
                    f"{type(widget).__name__} needs {needed} lines and has {seen.height}: {said.strip()[-70:]!r}"
                )
    panes = [pane.region for pane in app.screen.query(".pane") if pane.display and pane.region]
    if panes and max(pane.right for pane in panes) < app.size.width:
        found.append(f"nothing stands right of column {max(pane.right for pane in panes)}")
    return found


@contextlib.asynccontextmanager
async def app_on(session: Path, size: tuple[int, int]) -> AsyncIterator[Pilot[int]]:
    """Run the app on a session, everything loaded.

    What it would paint is only counted: without a terminal Textual throws it away, and it was a third of a walk's time.
    ``screen_text`` renders all of a screen that is looked at.
    """
    app = WorkbenchApp(session, Settings(), warm_engine=False)
    app.paints = 0  # type: ignore[attr-defined]

    def paint(compositor: Compositor, **_: object) -> None:
        compositor._dirty_regions.clear()
        app.paints += 1  # type: ignore[attr-defined]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", paint)
        async with app.run_test(size=size) as pilot:
            while app.is_opening:
                await pilot.pause()
            await until(pilot, lambda: app.reader is not None and app.facts is not None, "the session")
            await settled(pilot)
            yield pilot
