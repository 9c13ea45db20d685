"""Real clusters for tests: ``workbench cluster`` as a process, with a cache that the engine does not share."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(slots=True)
class Served:
    """A cluster that is up: its process, what the engine calls it, and its workers' first process ids."""

    process: subprocess.Popen[str]
    engine: str
    pids: list[int]

    @property
    def scheduler(self) -> str:
        return self.engine.replace("dask://", "tcp://")

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)


@contextlib.contextmanager
def serving(cache: Path, *, workers: int = 2, **variables: str) -> Iterator[Served]:
    pytest.importorskip("distributed")
    environment: Mapping[str, str] = os.environ | {"WORKBENCH_CACHE_DIR": str(cache)} | variables
    command = [sys.executable, "-m", "workbench", "cluster", "--workers", str(workers), "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert process.stderr is not None
        assert line, process.stderr.read()
        ready = json.loads(line)
        yield Served(process, ready["engine"], ready["workers"])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def alive(pid: int) -> bool:
    """Whether a process runs (one that has ended and is not collected yet does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
