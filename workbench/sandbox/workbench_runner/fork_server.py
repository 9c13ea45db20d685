"""The server's use of the hot process: when to start it, when not to ask it, when to give it up."""

from __future__ import annotations

import base64
import contextlib
import time
from typing import TYPE_CHECKING, Any

from . import processes
from .hot import Hot
from .introspection_check import INTROSPECTS, uses_introspection
from .judge import judge
from .patching import NotTheSame, snippet, units
from .watching import watch

if TYPE_CHECKING:
    from .server import Server

#: How often the hot process may be lost (a candidate killed it) before the warm path takes over for good.
_MOST_LOSSES = 20

_START_SECONDS = 60.0


class ForkServer:
    """At most one hot process, and what is known about each file's functions."""

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
        except NotTheSame as reason:
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
        end.poll()  # the next spare has been told by now
        processes.end_all(hot.pids)
        gone = outcome.status is None and end.wait(2.0) is None
        if gone or not outcome.events or not hot.spare or processes.limits_of(hot.pid) != self._limits:
            return self._lose()
        if outcome.events and outcome.events[-1]["e"] == "slower":
            return None, outcome.events[-1]["reason"]
        report = judge(outcome.events, job["tests"], outcome.status, outcome.ended, outcome.exceeded)
        report.update(route="hot", trace=None)
        return report, ""

    def warm_up(self, job: dict[str, Any]) -> None:
        """Start the hot process if it may be of use: its bytecode makes the slower routes faster as well."""
        if job["tests"] and not self._server.harvested:
            with contextlib.suppress(NotTheSame):
                self._start(job)

    def _unit(self, path: str, pristine: bytes, function: tuple[str, int]) -> dict[str, Any]:
        if path not in self._units:
            self._units[path] = units(pristine)
        unit = self._units[path].get(function)
        if unit is None:
            raise NotTheSame("the function cannot be found in the file")
        return unit

    def _start(self, job: dict[str, Any]) -> None:
        if self._hot is not None:
            return
        if self._problem:
            raise NotTheSame(self._problem)
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
            raise NotTheSame(self._problem)
        if spec["write_bytecode"]:
            server.tree.harvest()
            server.harvested = True
        self._hot = hot
        self._limits = processes.limits_of(hot.pid)

    def _lose(self) -> tuple[None, str]:
        """Give the hot process up; the warm path decides about this candidate."""
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

    def poll(self) -> int | None:
        return self.wait(0.0)

    def wait(self, seconds: float) -> int | None:
        deadline = time.monotonic() + seconds
        while self._status is None:
            answer = self._hot.answer(deadline)
            if answer is None:
                break
            self._status, self.peak = answer.get("status"), answer.get("peak", 0)
        return self._status
