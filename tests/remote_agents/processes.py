"""Servers of the tests, each a process of its own that says where it listens; ended with the test that started it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PEERS = Path(__file__).parent / "peers"


@contextmanager
def started(
    command: list[str], stream: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server and give it with the first line that it writes to ``stdout`` or ``stderr``."""
    process = subprocess.Popen(
        command,
        text=True,
        env={**os.environ, **(environment or {})},
        **{stream: subprocess.PIPE},  # type: ignore[call-overload]
    )
    try:
        pipe = process.stdout if stream == "stdout" else process.stderr
        assert pipe is not None
        line = pipe.readline()
        assert line, f"{command} ended with {process.wait(10)} before it listened"
        yield process, line.strip()
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
        if process.poll() is None:
            process.kill()
            process.wait()


@contextmanager
def peers(python: str | Path, script: str, answers: Path, *forms: str) -> Iterator[list[str]]:
    """Start the agents of somebody else and give their addresses, one for each form ``kind,binding,streaming``."""
    with peer_process(python, script, answers, *forms) as (_, addresses):
        yield addresses


@contextmanager
def peer_process(python: str | Path, script: str, answers: Path, *forms: str) -> Iterator[tuple[int, list[str]]]:
    """Start the agents of somebody else; gives the id of their process as well."""
    with started([str(python), str(PEERS / script), str(answers), *forms], "stdout") as (process, line):
        yield process.pid, [f"http://127.0.0.1:{port}" for port in line.split()]


@contextmanager
def workbench(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start ``workbench serve-…`` on a free port and give its process and its address."""
    command = [sys.executable, "-m", "workbench", *arguments, "--port", "0"]
    with started(command, "stderr", environment) as (process, line):
        yield process, line.partition(" is at ")[2].partition(". ")[0].partition(";")[0]
