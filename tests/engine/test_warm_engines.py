"""An engine forked from the tests' warm process is, seen from inside, what a fresh one is; and needs the warm process no more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from engine.following import ended, state
from warm_engines import NOBODY_KNOWS, ServedEngine, WarmProcess

from workbench.orders import launching, running
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan

PROBE = """
import asyncio, json, os, signal, sys, threading
from pathlib import Path

from workbench.agents import Submission


def opened():
    return sorted(os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in os.listdir("/proc/self/fd")
                  if os.path.exists(f"/proc/self/fd/{n}"))


class Probe:
    async def document(self, context):
        place = Path(os.environ["WORKBENCH_STATE_DIR"])
        mask = os.umask(0)
        os.umask(mask)
        found = {
            "own": [os.getpid() == os.getsid(0) == os.getpgid(0), os.getcwd(), sys.argv[1:], mask],
            "main": [sys.modules["__main__"].__spec__.name, Path(sys.argv[0]).name],
            "path": sys.path,
            "environment": {n: v for n, v in os.environ.items() if n not in {"LITELLM_LOG", "LITELLM_LOCAL_MODEL_COST_MAP",
                "NO_PROXY", "no_proxy", "LC_CTYPE"} and not n.startswith("OPENAI_")},
            "signals": [str(signal.getsignal(n)) for n in (signal.SIGPIPE, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1)],
            "mask": [str(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
            "opened": opened(),
            "standard": [os.readlink(f"/proc/self/fd/{n}") for n in range(3)],
            "buffered": [sys.stdout.line_buffering, sys.stderr.line_buffering],
            # asyncio's own threads come as they are needed
            "threads": [thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio")],
        }
        (place / "found.json").write_text(json.dumps(found))
        print("said to the log", flush=True)
        while not (place / "go").exists():
            await asyncio.sleep(0.02)
        return Submission("# It\\n", {}, parsed=True)
"""
Until = Callable[..., Any]


@pytest.fixture
def mortal() -> Iterator[WarmProcess]:
    """A warm process of which nobody else has engines."""
    process = WarmProcess()
    yield process
    process.close()


@pytest.fixture
def probed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "probe.py").write_text(PROBE)
    monkeypatch.chdir(tmp_path)
    (home / "state").mkdir(parents=True)
    return home / "state"


def begun(session: Path) -> tuple[str, subprocess.Popen[bytes]]:
    run = plan_document(session, DocumentPlan(("word_counter",), agent="probe:Probe", judge="offline"))
    return run, launching.launch(session, run)


def found(place: Path, until: Until) -> dict[str, Any]:
    file = place / "found.json"
    until(lambda: file.exists() and file.read_text(), 60, "the probe")
    return json.loads(file.read_text())


@pytest.mark.fresh_engines
def test_it_is_what_a_fresh_one_is(
    warm_process: WarmProcess, probed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    seen = []
    for each in ("fresh", "forked"):
        session = tmp_path / f"{each}.session"
        if each == "forked":
            monkeypatch.setattr(launching, "engine_process", warm_process.engine)
        run, process = begun(session)
        assert isinstance(process, ServedEngine) == (each == "forked")
        seen.append(json.loads(json.dumps(found(probed, until)).replace(run, "RUN").replace(session.name, "FILE")))
        assert process.poll() is None
        (probed / "go").touch()
        assert ended(session, run, until) == "done"
        assert process.wait(30) == process.poll() == 0
        assert "said to the log" in launching.engine_log(run).read_text()
        for name in ("go", "found.json"):
            (probed / name).unlink()
    assert seen[0] == seen[1]


@pytest.mark.fresh_engines
def test_it_outlives_the_warm_process_and_is_killed_and_resumed_like_any(
    mortal: WarmProcess, probed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.setattr(launching, "engine_process", mortal.engine)
    session = tmp_path / "one.session"
    run, killed = begun(session)
    found(probed, until)
    killed.kill()
    assert killed.wait(30) == -signal.SIGKILL
    assert until(lambda: state(session, run) == "interrupted", 10)
    running.resume(session)
    survivor = launching.engine_of(run)
    assert isinstance(survivor, ServedEngine)
    (probed / "found.json").unlink()
    found(probed, until)
    mortal.kill()
    os.kill(survivor.pid, 0)
    (probed / "go").touch()
    assert ended(session, run, until) == "done"
    assert survivor.wait(30) == NOBODY_KNOWS


def test_what_is_read_at_the_start_makes_it_fresh(
    warm_process: WarmProcess, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"

    def started() -> type:
        process = warm_process.engine(["--warm"], log, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        process.stdin.close()
        assert process.wait(60) == 0, log.read_text()
        return type(process)

    assert started() is ServedEngine
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert started() is subprocess.Popen
