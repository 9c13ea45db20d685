"""The hot process: the repository imported, its tests collected; a fork per candidate patches a function and runs T_i.

The process is pytest itself, stopped where the tests would start: a plugin's ``pytest_runtestloop`` waits for commands.
In a forked child, the hook returns None, and pytest continues with the selected tests. Each fork is created in advance,
while the previous candidate runs, and then needs only the patch.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import gc
import json
import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from . import child, processes
from .judge import judge
from .patching import INTROSPECTS, Index, NotEquivalent, snippet, units, uses_introspection
from .watching import watch

if TYPE_CHECKING:
    from .server import Server


# The following functions switch off parts of pytest whose results are discarded and whose absence no test can observe:
# each test resolves its hooks three times, and each phase copies the captured output into a report that is never
# printed. If a version of pytest uses other names, its behaviour is unchanged.

#: Captured output beyond this is discarded between tests, because a file may only grow to its limit.
_MUCH_OUTPUT = 256 * 1024


def settle() -> None:
    """Freeze live objects, because a collection would write to, and so copy, every page that a fork shares."""
    gc.collect()
    gc.freeze()


def remember_hooks(session: Any) -> None:
    """Cache the hooks of a test's file, which no longer change after collection."""
    original = getattr(session, "gethookproxy", None)
    if original is None:
        return
    known: dict[Any, Any] = {}

    def gethookproxy(fspath: Any) -> Any:
        if fspath not in known:
            known[fspath] = original(fspath)
        return known[fspath]

    for path in {item.path for item in session.items}:
        gethookproxy(path)
    session.gethookproxy = gethookproxy


def silence(manager: Any) -> None:
    """Unregister the terminal reporter's hooks, because its output is discarded; tests can still look it up."""
    terminal = manager.getplugin("terminalreporter")
    for caller in (manager.get_hookcallers(terminal) or ()) if terminal is not None else ():
        with contextlib.suppress(AttributeError, ValueError):  # another version of pluggy: leave its caches alone
            caller._remove_plugin(terminal)


def begin_capture(manager: Any) -> None:
    """Empty the capture files, which forks share."""
    try:
        for stream in (manager._global_capturing.out, manager._global_capturing.err):
            stream.tmpfile.seek(0)
            stream.tmpfile.truncate()
    except (AttributeError, OSError, ValueError):  # another version of pytest: use new files
        manager.stop_global_capturing()
        manager.start_global_capturing()
    with contextlib.suppress(AttributeError, OSError, ValueError):
        Capture(manager)


class Capture:
    """Captures the output of all tests at once and discards it. Raises AttributeError if pytest captures differently."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        out, err = manager._global_capturing.out, manager._global_capturing.err
        self._streams = []
        for name, descriptor, stream in (("stdout", 1, out), ("stderr", 2, err)):
            status = os.fstat(stream.tmpfile.fileno())
            self._streams.append((name, descriptor, stream.syscapture.tmpfile, (status.st_dev, status.st_ino)))
        if not callable(manager.item_capture):
            raise AttributeError("item_capture")
        manager.item_capture = self._item_capture

    @contextlib.contextmanager
    def _item_capture(self, when: str, item: Any) -> Iterator[None]:
        manager = self._manager
        manager.resume_global_capture()
        manager.activate_fixture()
        try:
            yield
        finally:
            manager.deactivate_fixture()
            if not self._in_order():
                # Like pytest: restore the descriptors and empty the files.
                manager.suspend_global_capture(in_=False)
                manager.read_global_capture()

    def _in_order(self) -> bool:
        for name, descriptor, stream, known in self._streams:
            try:
                status = os.fstat(descriptor)
            except OSError:
                return False
            if getattr(sys, name) is not stream or (status.st_dev, status.st_ino) != known:
                return False
            if status.st_size > _MUCH_OUTPUT:
                return False
        return True


class Loop(child.Reporter):
    """The pytest plugin: waits for commands before the tests, and reports them after the fork."""

    def __init__(self, wire: child.Wire, spec: dict[str, Any], commands: int, answers: int) -> None:
        super().__init__(wire, spec)
        self._commands = os.fdopen(commands, "rb")
        self._answers = answers
        self._errors = 0
        self._command: dict[str, Any] = {}

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
        remember_hooks(session)
        settle()
        spare = self._fork()
        if spare is None:
            self._become(session, items, index)
            return
        self._answer(ready=len(items), spare=spare[0])
        for line in self._commands:
            pid, pipe = spare
            try:
                child.write(pipe, line)
            except OSError:
                os._exit(0)  # the fork was killed while it waited
            os.close(pipe)
            spare = self._fork()
            if spare is None:
                self._become(session, items, index)
                return
            self._answer(spare=spare[0])
            _, status, usage = os.wait4(pid, 0)
            self._answer(status=status, peak=processes.peak(usage))
        os._exit(0)

    def _fork(self) -> tuple[int, int] | None:
        """Fork the next candidate's process while the current one runs; return None in the fork when its command arrives."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid:
            os.close(reader)
            return pid, writer
        for descriptor in (writer, self._answers, self._commands.fileno()):
            os.close(descriptor)
        with contextlib.suppress(OSError):
            os.setsid()
        # The fork stays hardened like its parent until the previous candidate is gone.
        processes.confine_child(self.spec.get("address_space_mb"), self.spec.get("process_limit"))
        limits = processes.own_limits()
        line = b""
        while not line.endswith(b"\n"):
            data = os.read(reader, 1 << 20)
            if not data:
                os._exit(0)
            line += data
        os.close(reader)
        if processes.own_limits() != limits:
            os._exit(0)  # the previous candidate changed the limits from outside
        self._command = json.loads(line)
        return None

    def _become(self, session: Any, items: dict[str, tuple[int, Any]], index: Index) -> None:
        """In the fork, set the limits, patch the function and select the tests; then pytest continues."""
        command = self._command
        self.wire.nonce = command["nonce"]
        self.wire.emit("started")
        self.spec = dict(self.spec, **{name: command[name] for name in ("tests", "path", "function")})
        processes.unharden_child()
        processes.limit_work(command["limits"])
        missing = [test for test in command["tests"] if test not in items]
        try:
            if missing:
                raise NotEquivalent(f"a test was not collected: {missing[0]}")
            index.patch(command["path"], command["unit"], base64.b64decode(command["text"]))
        except NotEquivalent as reason:
            self.wire.emit("slower", reason=str(reason))
            os._exit(0)
        assert self._collected_state is not None
        self._collected_state.listen(self.wire.emit, self.spec["root"], *child.candidate(self.spec))
        manager = session.config.pluginmanager
        capture = manager.getplugin("capturemanager")
        if capture is not None:
            begin_capture(capture)
        silence(manager)
        session.items = [
            item for _, item in sorted((items[test] for test in command["tests"]), key=lambda pair: pair[0])
        ]
        session.testscollected = self.collected = len(session.items)


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
    """The server's side: starts the hot process and sends it commands."""

    def __init__(self, spec: dict[str, Any], seconds: float) -> None:
        self.reader, writer = os.pipe()
        with contextlib.suppress(OSError, AttributeError):
            # Most reports fit into the pipe, so that the candidate does not wait for the reader.
            fcntl.fcntl(self.reader, fcntl.F_SETPIPE_SZ, 1 << 20)
        commands, self._commands = os.pipe()
        self.answers, answers = os.pipe()
        self._pending = b""
        self.spare = 0
        self.pid = os.fork()
        if self.pid == 0:
            try:
                serve(dict(spec, nonce="", tests=[], trace=False, order="given"), writer, commands, answers)
            finally:
                os._exit(70)
        for descriptor in (writer, commands, answers):
            os.close(descriptor)
        first = self.answer(time.monotonic() + seconds)
        self.problem = (
            None if first and "ready" in first else (first or {}).get("problem", "the hot process did not become ready")
        )

    @property
    def pids(self) -> tuple[int, ...]:
        return (self.pid, self.spare) if self.spare else (self.pid,)

    def send(self, command: dict[str, Any]) -> None:
        """Send one command; raises OSError if the process is gone."""
        self.spare = 0  # the spare becomes the candidate; the next spare's pid follows
        child.write(self._commands, json.dumps(command).encode() + b"\n")

    def answer(self, deadline: float) -> dict[str, Any] | None:
        """Return the next answer, or None if there is none before the deadline or the process is gone."""
        while b"\n" not in self._pending:
            wait = max(0.0, deadline - time.monotonic())
            if not select.select([self.answers], [], [], wait)[0]:
                return None
            data = os.read(self.answers, 65536)
            if not data:
                return None
            self._pending += data
        line, self._pending = self._pending.split(b"\n", 1)
        answer = dict(json.loads(line))
        self.spare = answer.get("spare", self.spare)
        return answer

    def drain(self) -> None:
        while select.select([self.reader], [], [], 0)[0]:
            if not os.read(self.reader, 1 << 20):
                return

    def close(self) -> None:
        try:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        except OSError:
            pass
        for descriptor in (self.reader, self._commands, self.answers):
            os.close(descriptor)


#: The number of times that candidates may kill the hot process before the warm route replaces it permanently.
_MOST_LOSSES = 20

_START_SECONDS = 60.0


class ForkServer:
    """Manages at most one hot process, and the patchable functions of each file."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._hot: Hot | None = None
        self._limits = b""
        self._problem = ""
        self._losses = 0
        self._units: dict[str, dict[tuple[str, int], dict[str, Any]]] = {}

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that must survive a candidate."""
        return self._hot.pids if self._hot is not None else ()

    def run(self, job: dict[str, Any], content: bytes, nonce: str) -> tuple[dict[str, Any] | None, str]:
        """Return ``(report, "")``, or ``(None, why the hot path cannot give this verdict)``."""
        tree = self._server.tree
        pristine = tree.source(job["path"])
        if pristine is None:
            return None, "the file is new"
        try:
            unit = self._unit(job["path"], pristine, tuple(job["function"]))
            text = snippet(pristine, content, unit)
            if uses_introspection(text, snippet(pristine, pristine, unit)):
                return None, INTROSPECTS
            self._start(job)
        except NotEquivalent as reason:
            return None, str(reason)
        tree.place(job["path"], content)
        hot = self._hot
        assert hot is not None
        hot.drain()
        processes.wake(hot.pids)
        command = {name: job[name] for name in ("tests", "path", "function", "limits")}
        command |= {"nonce": nonce, "unit": unit}
        command["text"] = base64.b64encode(text).decode()
        try:
            hot.send(command)
        except OSError:
            return self._lose()
        end = _Answer(hot)
        outcome = watch(hot.reader, nonce, job, end, keep=lambda: hot.pids)
        end.poll()  # the next spare's pid has arrived by now
        processes.end_all(hot.pids)
        gone = outcome.status is None and end.poll(2.0) is None
        if gone or not outcome.events or not hot.spare or processes.limits_of(hot.pid) != self._limits:
            return self._lose()
        if outcome.events and outcome.events[-1]["e"] == "slower":
            return None, outcome.events[-1]["reason"]
        report = judge(outcome.events, job["tests"], outcome.status, outcome.ended, outcome.exceeded)
        report.update(route="hot", trace=None)
        return report, ""

    def warm_up(self, job: dict[str, Any]) -> None:
        """Start the hot process if it can be used; the bytecode that it writes speeds up the other routes too."""
        if job["tests"] and not self._server.harvested:
            with contextlib.suppress(NotEquivalent):
                self._start(job)

    def _unit(self, path: str, pristine: bytes, function: tuple[str, int]) -> dict[str, Any]:
        if path not in self._units:
            self._units[path] = units(pristine)
        unit = self._units[path].get(function)
        if unit is None:
            raise NotEquivalent("the function cannot be found in the file")
        return unit

    def _start(self, job: dict[str, Any]) -> None:
        if self._hot is not None:
            return
        if self._problem:
            raise NotEquivalent(self._problem)
        server = self._server
        spec = server.specification(dict(job, path="", tests=[], deselect=[]), "")
        spec["write_bytecode"] = not server.harvested
        hot = Hot(spec, max(_START_SECONDS, job["limits"]["seconds"]))
        if hot.problem is None and server.tree.strangers():
            hot.problem = "collecting the tests writes files"
        if hot.problem is not None:
            self._problem = hot.problem
            hot.close()
            processes.end_all()
            server.reset()
            raise NotEquivalent(self._problem)
        if spec["write_bytecode"]:
            server.tree.harvest()
            server.harvested = True
        self._hot = hot
        self._limits = processes.limits_of(hot.pid)

    def _lose(self) -> tuple[None, str]:
        """End the hot process, so that the warm route tests this candidate."""
        if self._hot is not None:
            self._hot.close()
            self._hot = None
        self._losses += 1
        if self._losses >= _MOST_LOSSES:
            self._problem = "candidates kept killing the hot process"
        processes.end_all()
        self._server.reset()
        return None, "the hot process was lost"


class _Answer:
    def __init__(self, hot: Hot) -> None:
        self._hot = hot
        self.descriptor: int | None = hot.answers
        self._status: int | None = None
        self.peak = 0

    def poll(self, seconds: float = 0.0) -> int | None:
        deadline = time.monotonic() + seconds
        while self._status is None:
            answer = self._hot.answer(deadline)
            if answer is None:
                break
            self._status, self.peak = answer.get("status"), answer.get("peak", 0)
        return self._status
