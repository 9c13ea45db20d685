"""How long a key takes to the frame that shows its effect, in an app that is driven headlessly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

from textual import events
from textual._compositor import CompositorUpdate

from workbench.app.app import WorkbenchApp

KEY_SECONDS = 0.05  # a key each, as a held key repeats


async def timed_keys(
    app: WorkbenchApp, keys: Iterable[str], state: Callable[[], object]
) -> tuple[list[float], list[float]]:
    """Press keys one after the other, each of which changes ``state``.

    Returns:
        For each key the seconds from its arrival in the app until the frame with its effect has been handed to the driver, and
        the processor seconds of the app's loop meanwhile.
    """
    waits: list[float] = []
    worked: list[float] = []
    painted = app._display
    for key in keys:
        before = state()
        frame = asyncio.Event()

        def display(*arguments: object, before=before, frame=frame) -> None:
            painted(*arguments)
            if isinstance(arguments[-1], CompositorUpdate):  # a headless driver leaves this out
                arguments[-1].render_segments(app.console)
            if state() != before:
                frame.set()

        app._display = display  # type: ignore[method-assign]
        pressed, began = time.perf_counter(), time.thread_time()
        app.post_message(events.Key(key, key))
        await asyncio.wait_for(frame.wait(), 30)
        waits.append(time.perf_counter() - pressed)
        worked.append(time.thread_time() - began)
        app._display = painted  # type: ignore[method-assign]
        await asyncio.sleep(max(0.0, KEY_SECONDS - waits[-1]))
    return waits, worked
