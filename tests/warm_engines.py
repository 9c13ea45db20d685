"""Engines of tests from a process that has imported what they need and forks one per request: two seconds of the processor less each.

What such an engine has of its own is what a fresh one has: process, session, arguments, environment, folder, descriptors, exit
code. The warm process has one thread and nothing open when it forks, or it refuses to start. Where the environment says how
Python or a library starts, or limits differ, the engine is a fresh interpreter; so is every engine that a command in a process of
its own starts, every engine of a test marked ``fresh_engines``, and all of them in CI.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import runpy
import select
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from workbench.orders.launching import engine_process

#: What may differ from the warm process's own environment: it is read when an engine is at work, not while it imports.
_READ_LATER = ("WORKBENCH_", "OPENAI_", "ANTHROPIC_", "PYTEST_", "HOME", "TMPDIR", "COLUMNS")
NOBODY_KNOWS = 255
"""The exit code of an engine that outlived the warm process."""
_WORD = 8  # bytes that say how long a request is


class ServedEngine(subprocess.Popen[bytes]):
    """An engine that the warm process forked: a ``Popen`` whose exit code the warm process tells."""

    def __init__(self, told: socket.socket, pid: int, arguments: list[str], stdin: IO[bytes] | None) -> None:
        self.args, self.pid, self.returncode = arguments, pid, None
        self.stdin, self.stdout, self.stderr = stdin, None, None
        self._told, self._ended = told, os.pidfd_open(pid)
        self._child_created = True

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # The engine goes on. At the end of the interpreter the module os may be gone already.
        if self.returncode is None:
            close(self._ended)

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        return self._heard(0)

    def _wait(self, timeout: float | None) -> int:
        code = self._heard(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def _heard(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            self.returncode = int(self._told.recv(64) or NOBODY_KNOWS)
            self._told.close()
            os.close(self._ended)
        return self.returncode


class WarmProcess:
    """The warm process; started by the first request, ended by :meth:`close`. Engines that are at work then stay.

    It serves who has the environment and the limits of the time when this was made.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="warm-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._environment, self._limits = _environment(), _limits()
        self._added: dict[str, str] = {}

    def engine(self, arguments: list[str], log: Path, *, stdin: int, stdout: int | None) -> subprocess.Popen[bytes]:
        """Do what ``launching.engine_process`` does."""
        environment = _environment()
        if self._process is None:
            self._start()
        if not self._serves(environment):
            return engine_process(arguments, log, stdin=stdin, stdout=stdout)
        log.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as opened:
            output = opened.enter_context(log.open("ab")).fileno()
            nothing = os.open(os.devnull, os.O_RDWR)
            opened.callback(os.close, nothing)
            given, kept = nothing, None
            if stdin == subprocess.PIPE:
                given, written = os.pipe()
                opened.callback(os.close, given)
                kept = os.fdopen(written, "wb")
            told = socket.socket(socket.AF_UNIX)
            told.connect(str(self._folder / "orders"))
            out = output if stdout is None else nothing if stdout == subprocess.DEVNULL else stdout
            order = json.dumps({"arguments": arguments, "environment": environment, "folder": os.getcwd()}).encode()
            socket.send_fds(told, [len(order).to_bytes(_WORD, "big")], [given, out, output])
            told.sendall(order)
            pid = int.from_bytes(told.recv(_WORD), "big")
        assert pid, f"the warm process forks no engine: {(self._folder / 'log').read_text()}"
        return ServedEngine(told, pid, [sys.executable, "-m", "workbench.engine", *arguments], kept)

    def _start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(self._folder / "orders")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                env={name: value for name, value in self._environment.items() if not name.startswith(_READ_LATER)},
            )
        assert self._process.stdout is not None
        ready = self._process.stdout.readline()
        assert ready, (self._folder / "log").read_text()
        self._added = json.loads(ready)

    def _serves(self, environment: dict[str, str]) -> bool:
        # This process may have imported the same, and have the same in its environment since.
        differ = set((self._added | environment).items()) ^ set((self._added | self._environment).items())
        return self._limits == _limits() and all(name.startswith(_READ_LATER) for name, _ in differ)

    def kill(self) -> None:
        """Kill the warm process, as the kernel may."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the warm process and wait for it."""
        if self._process is not None:
            self._process.communicate()
        shutil.rmtree(self._folder)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _limits() -> list[tuple[int, int]]:
    return [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]


def _prepare() -> dict[str, str]:
    """Import what engines import, and make sure that a fork of this process has nothing but memory in common with it.

    Returns:
        What the imports put into the environment.
    """
    from workbench.base.garbage_collection import collect_rarely

    collect_rarely()
    import workbench.engine.improvement
    import workbench.engine.process
    import workbench.engine.regenerate
    import workbench.orders.study  # noqa: F401
    from workbench.models import provider

    before = set(os.environ)
    provider.load()
    threads, opened = os.listdir("/proc/self/task"), [os.readlink(f"/proc/self/fd/{number}") for number in _opened()]
    assert len(threads) == 1, f"{len(threads)} threads run after the imports"
    assert not opened, f"the imports left open: {', '.join(opened)}"
    return {name: os.environ[name] for name in os.environ if name not in before}


def _opened() -> list[int]:
    found = [int(name) for name in os.listdir("/proc/self/fd")]
    return [number for number in found if number > 2 and os.path.exists(f"/proc/self/fd/{number}")]


def _serve(place: str, added: dict[str, str]) -> int:
    """Fork an engine per request until standard input ends; returns the exit code, in a fork that of the engine."""
    engines: dict[int, tuple[int, socket.socket]] = {}
    with socket.socket(socket.AF_UNIX) as listening, selectors.DefaultSelector() as waiting:
        listening.bind(place)
        listening.listen()
        print(json.dumps(added), flush=True)
        waiting.register(listening, selectors.EVENT_READ)
        waiting.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj == 0:
                    return 0
                if key.fileobj is not listening:
                    number = int(key.fd)
                    waiting.unregister(number)
                    pid, told = engines.pop(number)
                    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                    os.close(number)
                    with told, contextlib.suppress(OSError):  # whoever asked may have ended
                        told.sendall(str(code).encode())
                    continue
                asked, _ = listening.accept()
                size, descriptors, _, _ = socket.recv_fds(asked, _WORD, 3)
                with asked.makefile("rb") as order:
                    words = json.loads(order.read(int.from_bytes(size, "big")))
                pid = os.fork()
                if pid == 0:
                    for number, (_, told) in engines.items():
                        os.close(number)
                        told.close()
                    asked.close()
                    waiting.close()
                    listening.close()
                    return _become(words, descriptors, added)
                for descriptor in descriptors:
                    os.close(descriptor)
                number = os.pidfd_open(pid)
                engines[number] = pid, asked
                waiting.register(number, selectors.EVENT_READ)
                asked.sendall(pid.to_bytes(_WORD, "big"))


def _become(order: dict[str, Any], descriptors: list[int], added: dict[str, str]) -> int:
    """Be what ``python -m workbench.engine`` is in a session, folder and environment of its own, until it ends."""
    os.setsid()
    os.chdir(order["folder"])
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(added | order["environment"])
    sys.path[0] = order["folder"]
    sys.argv[1:] = order["arguments"]
    try:
        runpy.run_module("workbench.engine", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as with -m; the folder of the tests has names of libraries
    sys.exit(_serve(sys.argv[1], _prepare()))
