"""A real Chromium without a window, driven over its DevTools protocol: a page, its keys, its frames and its downloads."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_CODES = {"enter": ("Enter", 13, "\r"), "escape": ("Escape", 27, ""), "tab": ("Tab", 9, ""), "f5": ("F5", 116, "")}


class Page:
    """One tab: what its socket received is what the app painted in it."""

    def __init__(self, chromium: Chromium, session: str) -> None:
        self._chromium = chromium
        self._session = session
        self.painted = ""  # everything that came since `forget`, without control sequences
        self.errors: list[str] = []  # exceptions that nothing caught, as the browser's console shows them
        self.loaded = False

    async def call(self, method: str, **parameters: Any) -> Any:
        return await self._chromium.call(method, self._session, **parameters)

    def take(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Network.webSocketFrameReceived" and parameters["response"]["opcode"] == 2:
            data = base64.b64decode(parameters["response"]["payloadData"]).decode("utf-8", "replace")
            self.painted += _CONTROL.sub("", data)
        elif method == "Runtime.exceptionThrown":
            self.errors.append(str(parameters["exceptionDetails"]))
        elif method == "Page.loadEventFired":
            self.loaded = True

    async def open(self, address: str, width: int = 1200, height: int = 700) -> None:
        """Go to an address, in a window of so many pixels."""
        for domain in ("Page", "Network", "Runtime"):
            await self.call(f"{domain}.enable")
        # The tab of each person is in front, as on a screen of its own.
        await self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.resize(width, height)
        self.loaded = False
        await self.call("Page.navigate", url=address)
        await self.until(lambda: self.loaded, f"loading {address}")

    async def tap(self, selector: str) -> None:
        x, y = await self.js(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({selector!r}).getBoundingClientRect())"
        )
        await self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        await self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    async def resize(self, width: int, height: int) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def js(self, expression: str) -> Any:
        """Return the value of an expression, None for undefined."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def forget(self) -> None:
        """Forget what was painted, so that only what comes now is seen."""
        self.painted = ""

    async def sees(self, *texts: str, seconds: float = 90.0) -> None:
        """Wait until all texts were painted since `forget`."""
        await self.until(lambda: all(text in self.painted for text in texts), f"seeing {texts}", seconds)

    async def until(self, condition: Callable[[], object], what: str, seconds: float = 90.0) -> None:
        """Wait for a condition on what the browser told."""
        await self._chromium.until(condition, lambda: f"{what}; painted: {self.painted[-3000:]!r}", seconds)

    async def press(self, *keys: str) -> None:
        for key in keys:
            letter = key.removeprefix("ctrl+")
            name, code, text = _CODES[letter] if letter in _CODES else (letter, ord(letter.upper()), letter)
            held = 2 if letter != key else 0
            pressed = {"key": name, "windowsVirtualKeyCode": code, "modifiers": held}
            if text and not held:
                pressed["text"] = text
            await self.call("Input.dispatchKeyEvent", type="keyDown", **pressed)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)


class Chromium:
    """The browser: tabs share nothing with each other but what one profile shares."""

    def __init__(self, socket: ClientWebSocketResponse, downloads: Path) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._pages: dict[str, Page] = {}
        self._event = asyncio.Event()
        self.downloads = downloads
        self.downloaded: list[str] = []  # names of complete downloads

    async def listen(self) -> None:
        async for message in self._socket:
            if message.type != WSMsgType.TEXT:
                continue
            told = json.loads(message.data)
            if "id" in told:
                waiting = self._waiting.pop(told["id"])
                if waiting.cancelled():
                    continue
                if "error" in told:
                    waiting.set_exception(AssertionError(str(told["error"])))
                else:
                    waiting.set_result(told["result"])
            elif told["method"] == "Browser.downloadWillBegin":
                self._name = told["params"]["suggestedFilename"]
            elif told["method"] == "Browser.downloadProgress" and told["params"]["state"] == "completed":
                self.downloaded.append(self._name)
            elif (page := self._pages.get(told.get("sessionId", ""))) is not None:
                page.take(told["method"], told["params"])
            self._event.set()

    async def call(self, method: str, session: str = "", **parameters: Any) -> Any:
        number = next(self._numbers)
        self._waiting[number] = waiting = asyncio.get_running_loop().create_future()
        await self._socket.send_json(
            {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        )
        return await asyncio.wait_for(waiting, 60)

    async def page(self) -> Page:
        """Return a tab in a profile of its own, as a second person's browser would be."""
        context = (await self.call("Target.createBrowserContext"))["browserContextId"]
        await self.call(
            "Browser.setDownloadBehavior",
            behavior="allow",
            browserContextId=context,
            downloadPath=str(self.downloads),
            eventsEnabled=True,
        )
        target = (await self.call("Target.createTarget", url="about:blank", browserContextId=context))["targetId"]
        session = (await self.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        self._pages[session] = page = Page(self, session)
        return page

    async def until(self, condition: Callable[[], object], what: Callable[[], str], seconds: float) -> None:
        """Wait for a condition, looked at again with every event."""
        end = time.monotonic() + seconds
        while not condition():
            self._event.clear()
            left = end - time.monotonic()
            if left <= 0:
                raise AssertionError(f"It did not come to that within {seconds:g} s: {what()}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._event.wait(), min(left, 0.25))


@contextlib.asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Chromium]:
    """Start Chromium with a profile in ``folder``, and end it."""
    profile, downloads = folder / "profile", folder / "downloads"
    downloads.mkdir(parents=True)
    # It runs as root in CI, where it has no sandbox of its own; software rendering is all that a server has.
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"]
    program = subprocess.Popen(
        [PROGRAM, *options, *quiet, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        note, end = profile / "DevToolsActivePort", time.monotonic() + 60
        while not (note.exists() and note.read_text().count("\n") >= 1):
            assert program.poll() is None, "Chromium ended at once."
            assert time.monotonic() < end, "Chromium did not start within 60 s."
            await asyncio.sleep(0.02)
        port, path = note.read_text().split("\n")[:2]
        async with (
            ClientSession() as client,
            client.ws_connect(f"ws://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
        ):
            browser = Chromium(socket, downloads)
            listening = asyncio.create_task(browser.listen())
            try:
                yield browser
            finally:
                listening.cancel()
    finally:
        # Its processes are one group, which is ours alone.
        with contextlib.suppress(ProcessLookupError):
            program.send_signal(signal.SIGTERM)
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
