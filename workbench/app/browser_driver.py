"""The terminal that is a browser: Textual's, which here also ends the app when nobody is there any more."""

from __future__ import annotations

import asyncio
import contextlib

from textual import messages
from textual.drivers.web_driver import WebDriver

_PATIENCE = 10.0  # seconds; an app that ends at once has no loop any more that would answer


class BrowserDriver(WebDriver):
    """Reads keys from the server that started the app; with its end, also by SIGKILL, the app ends."""

    def start_application_mode(self) -> None:
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def run_input_thread(self) -> None:
        # Textual posts the size at the start by way of a task: a size that the browser sent meanwhile would overtake it,
        # and the app would paint in the former one for good.
        with contextlib.suppress(TimeoutError, RuntimeError):
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(_PATIENCE)
        super().run_input_thread()
        if not self.exit_event.is_set() and not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._app._post_message(messages.ExitApp()), self._loop)
