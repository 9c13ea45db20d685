"""A version of Textual's web driver that also ends the app when the browser disconnects."""

from __future__ import annotations

import asyncio
import contextlib

from textual import messages
from textual.drivers.web_driver import WebDriver

_PATIENCE = 10.0  # timeout in seconds, because an app that exits immediately has no event loop left to respond


class BrowserDriver(WebDriver):
    """Reads input from the server process; the app exits when that process ends, even by SIGKILL."""

    def start_application_mode(self) -> None:
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def run_input_thread(self) -> None:
        # Textual posts the initial size from a task, so a size sent by the browser could overtake it and be lost.
        with contextlib.suppress(TimeoutError, RuntimeError):
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(_PATIENCE)
        super().run_input_thread()
        if not self.exit_event.is_set() and not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._app._post_message(messages.ExitApp()), self._loop)
