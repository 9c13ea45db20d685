"""The server inside a sandbox: keeps the pristine tree, starts a process per candidate, watches it and decides.

It never executes the repository's code. It preloads pytest and third-party packages, so that a forked candidate only
imports the repository; the repository's own modules are blocked while it does (a preloaded copy would make every
candidate pass). Speaks JSON lines on its standard input and output.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import secrets
import select
import subprocess
import sys
import time

from . import child, processes
from .judge import judge
from .tree import Tree

_BOOTSTRAP = "import sys; sys.path[:] = [p for p in sys.path if p]; sys.path.insert(0, %r); from workbench_runner.%s import main; main()"


class Blocker:
    """A finder that refuses the repository's own modules."""

    def __init__(self, names):
        self.names = set(names)

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} belongs to the repository under test", name=name)
        return


class Server:
    """One worker's server."""

    def __init__(self, settings, home):
        self.settings = settings
        self.home = home  # the folder that holds this package
        root, scratch = settings["root"], settings["scratch"]
        for folder in (root, *scratch):
            os.makedirs(folder, exist_ok=True)
        self.tree = Tree(root, scratch, settings["mounts"])
        self.tree.load(settings.pop("files"))
        os.makedirs(settings["metadata_root"], exist_ok=True)
        self.metadata = Tree(settings["metadata_root"], [])
        self.metadata.load(
            [
                [path, 0o755 if path.startswith("bin/") else 0o644, base64.b64encode(text.encode())]
                for path, text in settings["metadata"]
            ]
        )
        self.extra_paths = [settings["metadata_root"]] if settings.get("metadata") else []
        self.failed = self._preload()
        self.limits = processes.own_limits()
        self.hot = None
        self._harvested = False

    def _preload(self):
        blocker = Blocker(self.settings["own_modules"])
        sys.meta_path.insert(0, blocker)
        failed = []
        import pytest  # noqa: F401 - the point is to have it imported

        names = ["_pytest." + name for name in _builtin_plugins()] + [
            "unittest.mock",
            "coverage",
            "tempfile",
            "logging",
        ]
        for name in names + list(self.settings["preload"]):
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

    def specification(self, job, nonce):
        """Return what the candidate's process needs to know."""
        settings = self.settings
        return {
            "root": settings["root"],
            "path": job["path"],
            "tests": job["tests"],
            "test_paths": settings.get("test_paths", []),
            "order": job["order"],
            "deselect": job["deselect"],
            "trace": job["trace"],
            "limits": job["limits"],
            "nonce": nonce,
            "import_roots": settings["import_roots"],
            "own_modules": settings["own_modules"],
            "pytest_args": settings["pytest_args"],
            "environ": settings["environ"],
            "extra_paths": self.extra_paths,
            "hide_paths": [self.home, ""],
            "address_space_mb": settings.get("address_space_mb"),
            "process_limit": settings.get("process_limit"),
        }

    def run(self, job):
        """Test one candidate and return the report; everything that it started is gone when this returns."""
        began = time.monotonic()
        if job["path"]:
            self.tree.place(job["path"], base64.b64decode(job["content"]))
        nonce = secrets.token_hex(16)
        route = "cold" if job["route"] == "cold" else "warm"
        spec = self.specification(job, nonce)
        spec["write_bytecode"] = not job["path"] and not self._harvested
        start = self._start_cold if route == "cold" else self._start_warm
        pid, reader = start(spec)
        events, status, ended, exceeded = self._watch(pid, reader, nonce, job)
        clean = processes.end_all()
        os.close(reader)
        report = judge(events, job["tests"], status, ended, exceeded)
        report["trace"] = next((event["trace"] for event in events if event["e"] == "trace"), None)
        report.update(job=job["id"], route=route, slower="", seconds=time.monotonic() - began)
        if not clean or processes.own_limits() != self.limits:
            report["suspicious"].append("it changed the runner's limits" if clean else "it outlived its end")
            report["restart"] = True
        if spec["write_bytecode"] and report["verdict"] != "timeout":
            self.tree.harvest()
            self._harvested = True
        return report

    def _start_warm(self, spec):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reader)
                child.run(spec, writer, forked=True)
            finally:
                os._exit(70)
        os.close(writer)
        return pid, reader

    def _start_cold(self, spec):
        reader, writer = os.pipe()
        command = [sys.executable, "-c", _BOOTSTRAP % (self.home, "child"), str(writer)]
        flags = {"PYTHONDONTWRITEBYTECODE": "1", **self.settings["environ"]}
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[writer], env=flags)
        os.close(writer)
        process.stdin.write(json.dumps(spec).encode())
        process.stdin.close()
        process.returncode = 0  # we wait for it ourselves
        return process.pid, reader

    def _watch(self, pid, reader, nonce, job):
        deadline = time.monotonic() + job["limits"]["seconds"]
        room = job["limits"]["output_kb"] * 1024 * (64 if job["trace"] else 1)
        memory = job["limits"]["memory_mb"] * 2**20
        events, pending, status, next_look = [], b"", None, time.monotonic() + 0.25
        while True:
            now = time.monotonic()
            if now >= deadline:
                return events, None, "timeout", False
            if now >= next_look:
                next_look = now + 0.1
                if processes.resident_bytes(processes.others()) > memory:
                    return events, None, "memory", True
            ready = select.select([reader], [], [], max(0.0, min(deadline, next_look) - now))[0]
            if ready:
                data = os.read(reader, 1 << 20)
                room -= len(data)
                if room < 0:
                    return events, None, "flood", False
                *lines, pending = (pending + data).split(b"\n")
                events.extend(_read(lines, nonce))
                if events and events[-1]["e"] in ("end", "invalid"):
                    status = self._status(pid, deadline)
                    return events, status, "exit" if status is not None else "timeout", False
                if data:
                    continue
            statuses = processes.reap()
            if pid in statuses:
                while select.select([reader], [], [], 0)[0]:
                    data = os.read(reader, 1 << 20)
                    if not data or room < 0:
                        break
                    room -= len(data)
                    *lines, pending = (pending + data).split(b"\n")
                    events.extend(_read(lines, nonce))
                return events, statuses[pid], "exit", False
            if ready:
                time.sleep(0.002)  # the pipe is closed but the process still runs

    @staticmethod
    def _status(pid, deadline):
        while time.monotonic() < deadline:
            statuses = processes.reap()
            if pid in statuses:
                return statuses[pid]
            time.sleep(0.0005)
        return None

    def reset(self):
        """Bring the tree back, after the report has been sent."""
        self.tree.reset()
        self.metadata.reset()


def _read(lines, nonce):
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("n") == nonce and isinstance(event.get("e"), str):
            yield event


def _builtin_plugins():
    from _pytest.config import builtin_plugins, default_plugins

    return sorted((set(builtin_plugins) | set(default_plugins)) - {"pytester", "pytester_assertions"})


def main():
    """Read requests from standard input until it closes."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 0)
    os.dup2(quiet, 1)
    processes.harden_server()
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    server = None

    def answer(message):
        answers.write(json.dumps(message).encode() + b"\n")
        answers.flush()

    for line in requests:
        request = json.loads(line)
        if request["op"] == "open":
            server = Server(request, home)
            threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
            answer(
                {
                    "op": "ready",
                    "pid": os.getpid(),
                    "python": sys.version.split()[0],
                    "preload_failed": server.failed,
                    "threads": threads,
                }
            )
        elif request["op"] == "run":
            report = server.run(request["job"])
            answer(dict(report, op="report"))
            if report.get("restart"):
                break
            try:
                server.reset()
            except Exception:
                break  # a tree that cannot be brought back is thrown away with its sandbox
    os._exit(0)
