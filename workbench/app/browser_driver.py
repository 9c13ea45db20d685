"""The terminal that is a browser: Textual's, which here also ends the app when nobody is there any more."""

from __future__ import annotations

import asyncio

from textual import messages
from textual.drivers.web_driver import WebDriver


class BrowserDriver(WebDriver):
    """Reads keys from the server that started the app; with its end, also by SIGKILL, the app ends."""

    def start_application_mode(self) -> None:
        """Begin to read and paint."""
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def run_input_thread(self) -> None:
        """Read until the server closes the pipe."""
        super().run_input_thread()
        if not self.exit_event.is_set() and not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._app._post_message(messages.ExitApp()), self._loop)
