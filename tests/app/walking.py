"""Walks through every screen of the app in one of the states, so that each can be looked at in any size."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from driving import opened, screen_text, until
from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from workbench.app.app import WorkbenchApp
from workbench.app.location import Marks
from workbench.app.toolkit.header import KeyBar, StatusLine
from workbench.app.toolkit.virtual_view import VirtualView
from workbench.base.settings import Settings

SIZE = (120, 40)
"""The size at which a picture of each screen is kept."""
OTHER_SIZES = ((80, 24), (200, 60))
EMPTY, LIVE, BUILDING, FAILED, HUGE, USED = "empty", "live", "building", "failed", "huge", "used"
FILLED = (LIVE, FAILED, HUGE)


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
    Look("help", "2", ("question_mark",), "HelpScreen", (HUGE,)),
    Look("search", "2", ("ctrl+f",), "SearchScreen", text="count"),
    Look("sessions", "3"),
    Look("runs", "2", ("U",), "RunsScreen"),
    Look("labels", "2", ("number_sign",), "LabelsScreen"),
    Look("regeneration", "4"),
    Look("tasks being built", "4", ("j", "j", "j"), states=(BUILDING,)),
    Look("what went wrong", "4", ("w",), "WentWrongScreen", FILLED),
    Look("pass@k by file", "4", ("w", "left_square_bracket"), "WentWrongScreen", (HUGE,)),
    Look("pass@k by m", "4", ("w", "left_square_bracket", "left_square_bracket"), "WentWrongScreen", (HUGE,)),
    Look("regeneration dialog", "4", ("ctrl+n",), "RegenerationDialog", (EMPTY, LIVE)),
    Look("usage run", "4", states=(USED,)),
    Look("usage dialog", "4", ("at",), "UsageDialog", (USED,)),
    Look("measured README", "2", states=(USED,)),
    Look("use", "2", ("tab", "tab", "right_square_bracket", "right_square_bracket"), states=(USED,)),
    Look("measured trials", "2", ("T",), "TrialsScreen", (USED,)),
    Look("study", "5"),
    Look("study comparison", "5", ("space", "l", "C"), states=(HUGE,)),
    Look("study rankings", "5", ("escape", "right_square_bracket"), states=(HUGE,)),
    Look("file", "1", ("j", "j", "l", "G"), states=(LIVE,)),  # the last one there, for the focus stays
)


def at_work(app: WorkbenchApp) -> bool:
    """Whether a thread still works for a screen."""
    return any(worker.is_running and worker._thread_worker for worker in app.workers)


async def settled(pilot: Pilot[int]) -> str:
    """Wait until no thread works and the screen stays as it is; return it."""
    app, before, same = pilot.app, "", 0
    end = asyncio.get_running_loop().time() + 60
    while same < 2:
        await pilot.pause()
        busy, now = at_work(app), screen_text(app)
        same = same + 1 if now == before and not busy else 0
        before = now
        if busy:
            await asyncio.sleep(0.01)
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


async def resize(pilot: Pilot[int], size: tuple[int, int]) -> None:
    """Give the terminal another size and wait until the screen is laid out in it."""
    if pilot.app.size != size:
        await pilot.resize_terminal(*size)
        await until(pilot, lambda: pilot.app.screen._compositor.size == size, f"{size}")
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


def misplaced(app: App[int]) -> list[str]:
    """Return what is wrong with the layout of the screen: cut without an ellipsis, over another, out of sight, too narrow."""
    text = screen_text(app)
    found = [one for widget in app.screen.walk_children(Widget) if (one := _cut(app, widget, text.splitlines()))]
    panes = {pane.id: pane.region for pane in app.screen.query(".pane") if pane.display and pane.region}
    if panes and max(region.right for region in panes.values()) < app.size.width:
        found.append(f"nothing stands right of column {max(region.right for region in panes.values())}")
    for (one, region), (other, beside) in itertools.combinations(panes.items(), 2):
        if region.overlaps(beside):
            found.append(f"{one} stands over {other}")
    for bar, line in ((StatusLine, 0), (KeyBar, app.size.height - 1)):
        for widget in app.screen.query(bar):
            if widget.region != Region(0, line, app.size.width, 1) or not text.splitlines()[line].strip():
                found.append(f"{bar.__name__} is not whole: {widget.region}")
    if app.focused is not None and app.focused.region and not app.screen.find_widget(app.focused).visible_region:
        found.append(f"{app.focused} has the focus and is out of sight")
    return found


def _cut(app: App[int], widget: Widget, lines: list[str]) -> str:
    """Say what of a widget does not fit its place and has no ellipsis."""
    region = widget.content_region
    if not widget.display or not region or isinstance(widget, (VirtualView, Input)) or widget.children:
        return ""
    scrolled = any(node.allow_vertical_scroll for node in widget.ancestors if isinstance(node, Widget))
    seen = region if scrolled else region.intersection(app.screen.region)
    needed = widget.get_content_height(region.size, app.size, region.width)
    if needed <= seen.height or not app.screen.find_widget(widget).visible_region:
        return ""
    last = lines[seen.bottom - 1][: seen.right].rstrip(" │") if 0 < seen.bottom <= len(lines) else ""
    shown = " ".join(line[seen.x : seen.right] for line in lines[seen.y : seen.bottom]).strip()
    return (
        ""
        if last.endswith("…")
        else f"{type(widget).__name__} needs {needed} lines, not {seen.height}: {shown[-70:]!r}"
    )


@contextlib.asynccontextmanager
async def app_on(session: Path) -> AsyncIterator[Pilot[int]]:
    """Run the app on a session, everything loaded."""
    async with opened(session, SIZE, Settings()) as pilot:
        await until(pilot, lambda: pilot.app.reader is not None and pilot.app.facts is not None, "the session")
        await settled(pilot)
        yield pilot
