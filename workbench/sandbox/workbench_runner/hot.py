"""The hot process: the repository imported, its tests collected; a fork per candidate patches one function and runs T_i.

It is pytest itself, stopped where the tests would start: a plugin's ``pytest_runtestloop`` waits for commands instead. In
a forked child it returns None, and pytest goes on with the selected tests as if nothing had been.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import os
import select
import threading
import time
from typing import Any, NoReturn

import pytest

from . import child, processes
from .patching import Index, NotTheSame


class Loop(child.Reporter):
    """The plugin: a server before the tests, the usual reporter after the fork."""

    def __init__(self, wire: child.Wire, spec: dict[str, Any], commands: int, answers: int) -> None:
        super().__init__(wire, spec)
        self._commands = os.fdopen(commands, "rb")
        self._answers = answers
        self._errors = 0

    def _answer(self, **message: Any) -> None:
        os.write(self._answers, json.dumps(message).encode() + b"\n")

    def pytest_collectreport(self, report: Any) -> None:
        self._errors += bool(report.failed)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> None:
        items = {item.nodeid: (number, item) for number, item in enumerate(session.items)}
        if self._errors:
            self._answer(problem="some tests cannot be imported")
            os._exit(0)
        if threading.active_count() > 1:
            self._answer(problem="a thread runs after collection")
            os._exit(0)
        index = Index(self.spec["root"])
        self.modules.remember()
        gc.collect()
        gc.freeze()
        self._answer(ready=len(items))
        for line in self._commands:
            command = json.loads(line)
            pid = os.fork()
            if pid == 0:
                self._become(session, items, index, command)
                return
            self._answer(pid=pid)
            self._answer(status=os.waitpid(pid, 0)[1])
        os._exit(0)

    def _become(self, session: Any, items: dict[str, tuple[int, Any]], index: Index, command: dict[str, Any]) -> None:
        """In the fork: limits, patch, selection; then pytest goes on."""
        os.close(self._answers)
        os.close(self._commands.fileno())
        self.wire.nonce = command["nonce"]
        self.spec = dict(self.spec, tests=command["tests"])
        with contextlib.suppress(OSError):
            os.setsid()
        processes.soften_child()
        processes.limit_child(command["limits"], self.spec.get("address_space_mb"), self.spec.get("process_limit"))
        missing = [test for test in command["tests"] if test not in items]
        try:
            if missing:
                raise NotTheSame(f"a test was not collected: {missing[0]}")
            index.patch(command["path"], command["unit"], base64.b64decode(command["text"]))
        except NotTheSame as reason:
            self.wire.emit("slower", reason=str(reason))
            os._exit(0)
        self._begin_capture(session.config.pluginmanager.getplugin("capturemanager"))
        self._silence(session)
        session.items = [
            item for _, item in sorted((items[test] for test in command["tests"]), key=lambda pair: pair[0])
        ]
        session.testscollected = self.collected = len(session.items)

    @staticmethod
    def _begin_capture(capture: Any) -> None:
        """Empty the files that take the output: siblings, all of them gone by now, wrote into the same ones."""
        if capture is None:
            return
        try:
            for stream in (capture._global_capturing.out, capture._global_capturing.err):
                stream.tmpfile.seek(0)
                stream.tmpfile.truncate()
        except (AttributeError, OSError, ValueError):  # another version of pytest: begin new ones
            capture.stop_global_capturing()
            capture.start_global_capturing()

    @staticmethod
    def _silence(session: Any) -> None:
        """Take the terminal's reporter off the hooks: nobody reads what it writes; tests may still ask for it."""
        manager = session.config.pluginmanager
        terminal = manager.getplugin("terminalreporter")
        for caller in (manager.get_hookcallers(terminal) or ()) if terminal is not None else ():
            with contextlib.suppress(AttributeError, ValueError):  # another version of pluggy: it stays
                caller._remove_plugin(terminal)


def serve(spec: dict[str, Any], descriptor: int, commands: int, answers: int) -> NoReturn:
    """Turn this fork of the server into the hot process; never returns."""
    child.enter(spec, descriptor, keep=(commands, answers))
    processes.harden()
    wire = child.Wire(descriptor, spec.pop("nonce"))
    loop = Loop(wire, spec, commands, answers)
    code = pytest.main(child.arguments(spec), plugins=[loop])
    if wire.nonce:
        child.finish(wire, loop, int(code))
    os._exit(70)  # pytest ended before the loop began


class Hot:
    """The server's end: starts the hot process and gives it commands."""

    def __init__(self, spec: dict[str, Any], seconds: float) -> None:
        self.reader, writer = os.pipe()
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        self._pending = b""
        self.pid = os.fork()
        if self.pid == 0:
            try:
                serve(dict(spec, nonce="", tests=[], trace=False, order="given"), writer, commands, answers)
            finally:
                os._exit(70)
        for descriptor in (writer, commands, answers):
            os.close(descriptor)
        first = self.answer(time.monotonic() + seconds)
        self.problem = None if first and "ready" in first else (first or {}).get("problem", "it did not get ready")

    @property
    def answers(self) -> int:
        """The descriptor on which answers arrive."""
        return self._answers

    def send(self, command: dict[str, Any]) -> None:
        """Send one command; raises OSError when the process is gone."""
        data = json.dumps(command).encode() + b"\n"
        while data:
            data = data[os.write(self._commands, data) :]

    def answer(self, deadline: float) -> dict[str, Any] | None:
        """Return the next answer, or None when there is none before the deadline or the process is gone."""
        while b"\n" not in self._pending:
            wait = max(0.0, deadline - time.monotonic())
            if not select.select([self._answers], [], [], wait)[0]:
                return None
            data = os.read(self._answers, 65536)
            if not data:
                return None
            self._pending += data
        line, self._pending = self._pending.split(b"\n", 1)
        return dict(json.loads(line))

    def drain(self) -> None:
        """Throw away what a former candidate left in the report's pipe."""
        while select.select([self.reader], [], [], 0)[0]:
            if not os.read(self.reader, 1 << 20):
                return

    def close(self) -> None:
        """End the process and close the pipes."""
        try:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        except OSError:
            pass
        for descriptor in (self.reader, self._commands, self._answers):
            os.close(descriptor)
