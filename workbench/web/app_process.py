"""One app for one browser: textual-serve's protocol to a process of its own, which ends when the browser leaves."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from typing import Any

from textual_serve.app_service import AppService

from workbench.reasons import last_words
from workbench.text import one_line

DRIVER = "workbench.app.browser_driver:BrowserDriver"
_PRELUDE = b"__GANGLION__\n"  # textual.drivers.web_driver writes it before everything else
SMALLEST, LARGEST = (20, 8), (500, 200)
"""Columns and rows within which a browser may ask for a terminal: the app lays out every cell of it."""
PATIENCE = 5.0
"""Seconds that an app has to end after it was asked to."""


def bounded(width: object, height: object) -> tuple[int, int]:
    """Return a size in columns and rows that an app can have; what is no number is 80 or 24."""
    found = []
    for value, usual, least, most in zip((width, height), (80, 24), SMALLEST, LARGEST, strict=True):
        try:
            number = int(str(value))
        except ValueError:
            number = usual
        found.append(min(most, max(least, number)))
    return found[0], found[1]


class AppProcess(AppService):
    """Runs ``workbench open`` for one browser; no shell reads its arguments."""

    def __init__(self, arguments: Sequence[str], **others: Any) -> None:
        super().__init__("workbench", **others)
        self._arguments = list(arguments)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        # A browser shows every sign and colour, whatever the terminal can in which the server was started.
        browser = {"TEXTUAL_DRIVER": DRIVER, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
        environment = self._build_environment(width, height) | browser
        # A group of its own: ctrl+c in the server's terminal is the server's, which then asks the apps to end.
        self._process = process = await asyncio.create_subprocess_exec(
            *self._arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
        )
        self._stdin = process.stdin
        return process

    async def set_terminal_size(self, width: object, height: object) -> None:
        await super().set_terminal_size(*bounded(width, height))

    async def run(self) -> None:
        """Hand on what the app paints and delivers, until it ends; why one did not start is shown in the browser."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        errors = asyncio.create_task(_last_of(process.stderr))
        try:
            ready = False
            with contextlib.suppress(ValueError):  # a line without an end
                ready = await process.stdout.readline() == _PRELUDE
            while ready:
                kind, size = await process.stdout.readexactly(1), await process.stdout.readexactly(4)
                await self._hand_on(kind, await process.stdout.readexactly(int.from_bytes(size, "big")))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                if not ready:
                    process.kill()
            why = last_words((await errors).decode("utf-8", "replace"))
            if why and (not ready or await process.wait()):
                # Nothing of it is obeyed by the terminal in the browser.
                await self._say(f"The app ended: {why}")
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self.remote_close()

    async def _hand_on(self, kind: bytes, payload: bytes) -> None:
        if kind == b"D":
            await self.on_data(payload)
        elif kind == b"M":
            await self.on_meta(payload)
        elif kind == b"P":
            await self.on_packed(payload)

    async def _say(self, sentence: str) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            await self.remote_write_bytes(b"\x1b[?1049l\x1b[2J\x1b[H" + one_line(sentence, 400).encode())

    async def stop(self) -> None:
        """Ask the app to end, and end it where it does not."""
        process, task, self._task = self._process, self._task, None
        if process is None or task is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        await self.send_meta({"type": "quit"})
        try:
            async with asyncio.timeout(PATIENCE):
                # What it still paints is read meanwhile, or it would wait for that for ever.
                await task
                await process.wait()
        except TimeoutError:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            self.stdin.close()
            await process.wait()


async def _last_of(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while read := await stream.read(4096):
        kept = (kept + read)[-8192:]
    return kept
