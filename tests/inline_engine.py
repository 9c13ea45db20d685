"""Engines that run in a thread of the test process instead of in a process of their own: nothing is imported again.

Code, session file, lease, log and cancellation are those of an engine process. Its imports, its death, its memory and its
own signals are not: a test about those is marked ``fresh_engines``, and so is one that changes what an engine must not see.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import contextvars
import io
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from workbench.engine import __main__ as engine
from workbench.orders import launching

#: How long an engine that is terminated at the end of a test may take.
_SECONDS = 30.0
_current: contextvars.ContextVar[InlineEngine] = contextvars.ContextVar("engine")
_print, _exit, _os_kill, _handle = builtins.print, os._exit, os.kill, asyncio.SelectorEventLoop.add_signal_handler


class InlineEngine(subprocess.Popen[bytes]):
    """A ``Popen`` of an engine in a thread; the thread has an id that the process table knows, which is its ``pid``."""

    def __init__(self, arguments: list[str], log: Path) -> None:
        self.args, self.returncode = arguments, None
        self.stdin, self.stdout, self.stderr = None, None, None
        self._child_created = False
        self._log = log
        self._ended = threading.Event()
        self._terminated = False
        self._terminate: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        if arguments == ["--warm"]:
            self.stdin = _Order(self)
            self.pid = threading.get_native_id()
        else:
            self._start()

    def _start(self) -> None:
        self._thread.start()
        assert self._thread.native_id
        self.pid = self._thread.native_id

    def take(self, order: bytes) -> None:
        """Execute the order that a warm engine waits for; without one it ends."""
        if not order.strip():
            self._end(0)
            return
        words = json.loads(order)
        self.args, self._log = ["--session", words["session"], "--run", words["run"]], Path(words["log"])
        self._start()

    def _run(self) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        code = 1
        with self._log.open("a", encoding="utf-8") as self.output:
            _current.set(self)
            try:
                code = engine.main(self.args)
            except SystemExit as ended:
                code = int(ended.code or 0)
            finally:
                self._end(code)

    def _end(self, code: int) -> None:
        self.returncode = code
        self._ended.set()

    def handle(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` in the engine's event loop when the engine is terminated."""
        loop = asyncio.get_running_loop()
        self._terminate = lambda: loop.call_soon_threadsafe(callback)
        if self._terminated:
            self._terminate()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return int(self.returncode or 0)

    def send_signal(self, sig: int) -> None:
        assert sig in (signal.SIGTERM, signal.SIGINT), "an engine that is killed needs the marker fresh_engines"
        self._terminated = True
        if self._terminate is not None:
            with contextlib.suppress(RuntimeError):  # its event loop has ended
                self._terminate()

    def close(self) -> None:
        """Terminate the engine if the test left it running, and wait for it."""
        if self.returncode is None and self._thread.is_alive():
            self.terminate()
            self._thread.join(_SECONDS)
            assert not self._thread.is_alive(), f"the engine with {self.args} does not end"


class _Order(io.BytesIO):
    """Standard input of a warm engine."""

    def __init__(self, waiting: InlineEngine) -> None:
        super().__init__()
        self._waiting = waiting

    def close(self) -> None:
        if not self.closed:
            order = self.getvalue()
            super().close()
            self._waiting.take(order)


def _print_to_log(*words: object, file: IO[str] | None = None, **options: Any) -> None:
    inline = _current.get(None)
    _print(*words, file=inline.output if file is None and inline is not None else file, **options)


def _kill(pid: int, sig: int) -> None:
    assert not sig or pid != os.getpid(), "a test that kills its engine is marked fresh_engines"
    _os_kill(pid, sig)


def _exit_thread(status: int) -> None:
    if _current.get(None) is None:
        _exit(status)
    raise SystemExit(status)


def _add_handler(loop: asyncio.SelectorEventLoop, sig: int, callback: Callable[..., object], *arguments: Any) -> None:
    inline = _current.get(None)
    if inline is None:
        _handle(loop, sig, callback, *arguments)
    elif sig == signal.SIGTERM:
        inline.handle(callback)


@pytest.fixture(autouse=True)
def inline_engines(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Engines that this process starts run in it, unless the test is marked ``fresh_engines``."""
    if request.node.get_closest_marker("fresh_engines"):
        yield
        return
    started: list[InlineEngine] = []

    def engine_process(arguments: list[str], log: Path, **_: object) -> InlineEngine:
        started.append(InlineEngine(arguments, log))
        return started[-1]

    monkeypatch.setattr(launching, "engine_process", engine_process)
    monkeypatch.setattr(builtins, "print", _print_to_log)
    monkeypatch.setattr(os, "_exit", _exit_thread)
    monkeypatch.setattr(os, "kill", _kill)
    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_signal_handler", _add_handler)
    yield
    for each in started:
        each.close()
