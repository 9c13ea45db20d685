"""The server inside a sandbox: keeps the pristine tree, starts and watches a process per candidate, and judges it.

It never executes the repository's code. It preloads pytest and third-party packages, but blocks the repository's own
modules, because a preloaded copy would make every candidate pass. It speaks JSON lines on standard input and output.
"""

from __future__ import annotations

import base64
import gc
import importlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any, NoReturn

from . import child, processes
from .child import belongs
from .hot import ForkServer
from .judge import judge
from .patching import INTROSPECTS
from .process_state import ProcessState
from .tree import Tree
from .watching import Exit, SuiteErrors, watch

_BOOTSTRAP = "import sys; sys.path[:] = [p for p in sys.path if p]; sys.path.insert(0, %r); from workbench_runner.%s import main; main()"


#: The niceness of tests, so that the engine and the app stay responsive. It is not higher, because the time limits are
#: ten times the original's time, and a busy machine must not use that up.
_NICENESS = 5


class Blocker:
    """A finder that refuses the repository's own modules."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if belongs(name, self.names):
            raise ModuleNotFoundError(f"{name} belongs to the repository under test", name=name)


class Server:
    """One worker's server."""

    def __init__(self, settings: dict[str, Any], home: str) -> None:
        self.settings = settings
        self.home = home  # the folder of this package
        root, scratch = settings["root"], settings["scratch"]
        for folder in (root, *scratch):
            os.makedirs(folder, exist_ok=True)
        self.tree = Tree(root, scratch, settings["mounts"])
        self.tree.load(settings.pop("files"))
        os.makedirs(settings["metadata_root"], exist_ok=True)
        self.metadata = Tree(settings["metadata_root"], [])
        modes = ((path, 0o755 if path.startswith("bin/") else 0o644, text) for path, text in settings["metadata"])
        self.metadata.load([[path, mode, base64.b64encode(text.encode())] for path, mode, text in modes])
        self.extra_paths = [settings["metadata_root"]] if settings.get("metadata") else []
        self.failed = self._preload()
        self._preloaded = ProcessState()
        gc.collect()
        gc.freeze()  # pytest collects garbage at exit, but nothing here is garbage
        self.limits = processes.own_limits()
        self.fork_server = ForkServer(self)
        self.harvested = False

    def _preload(self) -> list[list[str]]:
        blocker = Blocker(self.settings["own_modules"])
        sys.meta_path.insert(0, blocker)
        failed = []
        import pytest  # noqa: F401 - imported for the forks

        plugins = ["_pytest." + name for name in _builtin_plugins()]
        for name in [*plugins, "unittest.mock", "coverage", "tempfile", "logging", *self.settings["preload"]]:
            before = set(sys.modules)
            try:
                importlib.import_module(name)
            except BaseException as problem:
                failed.append([name, f"{type(problem).__name__}: {problem}"])
                for added in set(sys.modules) - before:
                    del sys.modules[added]
        sys.meta_path.remove(blocker)
        importlib.invalidate_caches()
        return failed

    def specification(self, job: dict[str, Any], nonce: str) -> dict[str, Any]:
        of_settings = (
            "root", "import_roots", "own_modules", "pytest_args", "environ", "address_space_mb", "process_limit",
        )  # fmt: skip
        of_job = ("path", "function", "tests", "order", "deselect", "trace", "limits")
        return {
            **{name: self.settings.get(name) for name in of_settings},
            **{name: job[name] for name in of_job},
            "test_paths": self.settings.get("test_paths", []),
            "trace_tests": job.get("trace_tests", False),
            "record": job.get("record", False),
            "nonce": nonce,
            "extra_paths": self.extra_paths,
            "hide_paths": [self.home, ""],
        }

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """Test one candidate and return the report; every process that it started has ended by then."""
        began = time.monotonic()
        nonce = secrets.token_hex(16)
        content = base64.b64decode(job["content"])
        report, slower = None, ""
        if job["route"] in ("auto", "hot") and not job["function"]:
            slower = "the job names no function to patch"
            self.fork_server.warm_up(job)
        elif job["route"] in ("auto", "hot") and job["tests"]:
            report, slower = self.fork_server.run(job, content, nonce)
        if report is None:
            job = dict(job, route="cold") if slower == INTROSPECTS else job
            report = self._run_slower(job, content, nonce)
        report.update(job=job["id"], slower=slower, seconds=time.monotonic() - began)
        if processes.own_limits() != self.limits:
            report["suspicious"].append("it changed the runner's limits")
            report["restart"] = True
        return report

    def _run_slower(self, job: dict[str, Any], content: bytes, nonce: str) -> dict[str, Any]:
        """Test on the warm or cold route: a process imports the repository with the candidate's file in place."""
        if job["path"]:
            self.tree.place(job["path"], content)
        for path, added in job.get("added", ()):
            self.tree.place(path, base64.b64decode(added))
        route = "cold" if job["route"] == "cold" else "warm"
        spec = self.specification(job, nonce)
        spec["write_bytecode"] = not job["path"] and not self.harvested
        words = SuiteErrors() if not job["path"] and not job["tests"] else None
        spec["words"] = words.writer if words is not None else None
        pid, reader = (self._start_cold if route == "cold" else self._start_warm)(spec)
        if words is not None:
            os.close(words.writer)  # the child has its own copy of the descriptor
        end = Exit(pid)
        outcome = watch(reader, nonce, job, end, keep=lambda: self.fork_server.pids, words=words)
        clean = processes.end_all(self.fork_server.pids)
        end.close()
        os.close(reader)
        report = judge(outcome.events, job["tests"], outcome.status, outcome.ended, outcome.exceeded)
        for kind in ("trace", "calls"):
            report[kind] = next((event[kind] for event in outcome.events if event["e"] == kind), None)
        report["route"] = route
        report["stderr"] = words.close(self.settings["root"]) if words is not None else ""
        if not clean:
            report["suspicious"].append("its process outlived its own exit")
            report["restart"] = True
        if spec["write_bytecode"] and report["verdict"] != "timeout":
            self.tree.harvest()
            self.harvested = True
        return report

    def _start_warm(self, spec: dict[str, Any]) -> tuple[int, int]:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reader)
                child.run(spec, writer, self._preloaded)
            finally:
                os._exit(70)
        os.close(writer)
        return pid, reader

    def _start_cold(self, spec: dict[str, Any]) -> tuple[int, int]:
        reader, writer = os.pipe()
        command = [sys.executable, "-c", _BOOTSTRAP % (self.home, "child"), str(writer)]
        flags = {"PYTHONDONTWRITEBYTECODE": "1", **self.settings["environ"]}
        passed = [writer] if spec["words"] is None else [writer, spec["words"]]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=passed, env=flags)
        os.close(writer)
        assert process.stdin is not None
        process.stdin.write(json.dumps(spec).encode())
        process.stdin.close()
        process.returncode = 0  # reaped by us, not by ``subprocess``
        return process.pid, reader

    def reset(self) -> None:
        """Restore the tree after the report has been sent."""
        self.tree.reset()
        self.metadata.reset()


def _builtin_plugins() -> list[str]:
    from _pytest.config import builtin_plugins, default_plugins

    return sorted((set(builtin_plugins) | set(default_plugins)) - {"pytester", "pytester_assertions"})


def main() -> NoReturn:
    """Read requests from standard input until it closes."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    processes.harden()
    processes.adopt_orphans()
    os.nice(_NICENESS)
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    server: Server | None = None

    def answer(message: Any) -> None:
        answers.write(json.dumps(message).encode() + b"\n")
        answers.flush()

    for line in requests:
        request = json.loads(line)
        if request["op"] == "open":
            server = Server(request, home)
            threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
            ready = {"op": "ready", "pid": os.getpid(), "python": sys.version.split()[0], "threads": threads}
            answer(dict(ready, preload_failed=server.failed))
        elif request["op"] == "run" and server is not None:
            report = server.run(request["job"])
            answer(dict(report, op="report"))
            if report.get("restart"):
                break
            try:
                server.reset()
            except Exception:
                break  # a tree that cannot be restored ends the sandbox
    os._exit(0)
