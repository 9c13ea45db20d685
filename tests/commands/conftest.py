"""Fixtures of the tests of commands."""

from __future__ import annotations

import _thread
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine.tiny_repository import make_repository

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from regenerated import Recorder

from workbench.cli import main

Lines = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    """A session with a regeneration run, to record into."""
    made = Recorder(tmp_path / "demo.session")
    made.run()
    yield made
    made.close()


@pytest.fixture
def repository(one_cache: None, tmp_path: Path) -> str:
    """A small repository with tests; its environment is built once for all tests."""
    return str(make_repository(tmp_path / "small-sums"))


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """Run a command with --json and return what it printed; ``code`` is the exit code."""

    def run(*command: str, code: int = 0) -> list[dict[str, Any]]:
        assert main([*command, "--json"]) == code, capsys.readouterr()
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def interrupt_when(reached: threading.Event) -> None:
    """Interrupt the main thread, as ctrl+c does, once an event is set."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores the signal in background jobs

    def wait() -> None:
        if reached.wait(90):
            _thread.interrupt_main()

    threading.Thread(target=wait, daemon=True).start()
