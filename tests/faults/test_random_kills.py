"""Kills at random moments, of everything that takes part, over both kinds of run: nothing shown is lost or doubled.

What a command printed as finished is in the session's file after every kill, unchanged for ever, also in a copy of that one
file; and the end is that of a run that nobody disturbed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine import killing
from engine.tiny_repository import make_repository
from faults.scripted_server import ScriptedServer
from samples.sessions import integrity_problem

from workbench.session import SessionReader, log

pytestmark = [
    *(pytest.mark.sandbox, pytest.mark.network, pytest.mark.slow, pytest.mark.fresh_engines),
    pytest.mark.timeout(900),
]
Until = Callable[..., Any]
MODEL = "openai/scripted"
KILLS = 4


def seeds(number: int) -> list[object]:
    """Return the seeds of a random test: one for CI, the others nightly."""
    return [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, number + 1))]


@pytest.fixture
def server(needs_bubblewrap, home, tmp_path_factory, monkeypatch):
    found = ScriptedServer(wait=0.15)
    found.start()
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "regeneration-cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-of-the-faults")
    monkeypatch.setenv("WORKBENCH_BASE_URL", found.base_url)
    monkeypatch.setenv("WORKBENCH_CONCURRENCY", "2")
    yield found
    found.kill()


class Command:
    """A command that prints JSON lines, and what it has shown so far."""

    def __init__(self, *arguments: str) -> None:
        self.shown: dict[str, str] = {}
        self.lines: list[dict[str, Any]] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "workbench", *arguments, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            self.lines.append(event)
            if event["type"] == "candidate":
                self.shown[event["id"]] = event["verdict"]
            elif event["type"] == "step":
                self.shown[f"{event['trial']}:{event['number']}"] = event["action"]

    def end(self) -> tuple[int, str]:
        """Wait for its end; return its exit code and standard error."""
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        code = self.process.wait()
        self._reading.join(30)
        return code, errors


def in_the_file(session: Path) -> dict[str, str]:
    """Return verdicts and actions by the names under which commands show them."""
    with SessionReader(session) as reader:
        found = dict(reader.query("SELECT id, verdict FROM candidates WHERE verdict IS NOT NULL"))
        steps = reader.query("SELECT trial_id, number, action FROM steps WHERE kind != 'error'")
        return found | {f"{trial}:{number}": action for trial, number, action in steps}


def essence(session: Path) -> dict[str, object]:
    """Return the results of a session's runs, without times and ids of calls."""
    with SessionReader(session) as reader:
        return {
            "candidates": Counter(
                reader.query("SELECT id, verdict, body_blob, answer_blob FROM candidates ORDER BY id")
            ),
            "failing": sorted(reader.query("SELECT candidate_id, test_id, outcome FROM failing_tests")),
            "trials": reader.query("SELECT id, state, readme_blob, steps, prompt_tokens FROM trials ORDER BY id"),
            "steps": sorted(
                reader.query("SELECT trial_id, number, kind, action, target, answer_blob, observation_blob FROM steps")
            ),
            "scores": sorted(reader.query("SELECT trial_id, rubric, judge, total, card_blob FROM scorecards")),
        }


def orders(kind: str, tmp_path: Path) -> list[str]:
    if kind == "document":
        return ["run", "word_counter", "countdown_timer", "--repeats", "3", "--model", MODEL, "--judge", "offline"]
    repository = tmp_path / "small-sums"
    if not repository.exists():
        make_repository(repository)
    return ["regenerate", str(repository), "--evaluator", MODEL, "--samples", "12"]


def engines(session: Path) -> list[int]:
    with SessionReader(session) as reader:
        return [held.pid for held in (reader.holder(run.id) for run in reader.runs()) if held is not None]


def killed(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.mark.parametrize("kind", [pytest.param("document", marks=pytest.mark.nightly), "regenerate"])
@pytest.mark.parametrize("seed", seeds(6))
def test_kills_of_engine_command_line_and_model_server(server, tmp_path, until, fault_counts, kind, seed):
    rng = random.Random(f"{kind} {seed}")
    whole, parts = tmp_path / "unbroken.session", tmp_path / "broken.session"
    code, errors = Command(*orders(kind, tmp_path), "--session", str(whole)).end()
    assert code == 0, errors
    wanted = essence(whole)
    shown: dict[str, str] = {}
    command = Command(*orders(kind, tmp_path), "--session", str(parts))
    for number in range(KILLS):
        victim = rng.choice(["engine", "engine", "command", "server"])
        until(lambda: parts.exists() and (engines(parts) or command.process.poll() is not None), 120, "the engine")  # noqa: B023
        before = len(command.lines)
        until(lambda: len(command.lines) > before + 2 or command.process.poll() is not None, 120, "something to kill")  # noqa: B023
        threading.Event().wait(rng.uniform(0, 0.8))
        running = engines(parts)
        if victim == "server":
            server.kill()
            threading.Event().wait(rng.uniform(0, 0.5))
            server.start()
        elif victim == "command":
            killed(command.process.pid)
        for pid in running if victim != "server" or rng.random() < 0.5 else []:
            killed(pid)
            fault_counts["kills of the engine"] += 1
        fault_counts[f"kills of the {victim}"] += victim != "engine"
        if not engines(parts) or victim == "command":
            _, errors = command.end()
            assert "Traceback" not in errors
            assert "defect" not in errors
            until(lambda: not engines(parts), 30)
            shown |= command.shown
            found = in_the_file(parts)
            missing = {key: value for key, value in shown.items() if found.get(key) != value}
            assert not missing, f"kill {number} of the {victim}: shown and not there: {missing}"
            # By looking, the log went into the file: a copy of that one file has everything.
            assert log.log_size(parts) == 0
            copy = Path(shutil.copy(parts, tmp_path / "copy.session"))
            assert in_the_file(copy) == found
            assert integrity_problem(copy) is None
            command = Command("resume", str(parts))
    code, errors = command.end()
    shown |= command.shown
    if code:
        # What the killed model server left unanswered is asked again.
        code, errors = Command("resume", str(parts)).end()
    assert code == 0, errors
    found = in_the_file(parts)
    assert {key: value for key, value in shown.items() if found.get(key) != value and value != "error"} == {}
    assert essence(parts) == wanted
    assert integrity_problem(parts) is None
    until(lambda: [item.name for item in tmp_path.glob("broken*")] == ["broken.session"], 30, "the engine's end")
    fault_counts["verdicts and steps compared after kills"] += len(found)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(6))
def test_copies_moves_removals_and_replacements_under_a_live_run(server, tmp_path, until, fault_counts, seed):
    rng = random.Random(seed)
    arguments = orders("regenerate", tmp_path)
    session = tmp_path / "live.session"
    backup = tmp_path / "backups" / "backup.session"
    backup.parent.mkdir()
    command = Command(*arguments, "--session", str(session))
    shown: dict[str, str] = {}
    actions = ["pack", "move", "remove", "rename over", "copy into"]
    rng.shuffle(actions)
    for action in actions:
        now = command
        until(lambda: session.exists() and (len(now.shown) > 3 or now.process.poll() is not None), 120, "verdicts")  # noqa: B023
        threading.Event().wait(rng.uniform(0, 0.5))
        fault_counts[f"{action} under a live run"] += 1
        if action == "pack" or not backup.exists():
            backup.unlink(missing_ok=True)
            known = dict(command.shown)
            subprocess.run(
                [sys.executable, "-m", "workbench", "pack", str(session), "-o", str(backup)],
                check=True,
                capture_output=True,
            )
            assert integrity_problem(backup) is None
            packed = in_the_file(backup)
            assert {key: value for key, value in known.items() if packed.get(key) != value} == {}
            if action == "pack":
                continue
        content = backup.read_bytes()
        held = engines(session)
        shown |= command.shown
        if action == "move":
            session.rename(tmp_path / "elsewhere.session")
        elif action == "remove":
            session.unlink()
        elif action == "rename over":
            shutil.copy(backup, tmp_path / "new")
            (tmp_path / "new").rename(session)
        else:
            killing.copied_over(backup, session, held)
        until(lambda: not any(alive(pid) for pid in held), 60, "the engine's end")  # noqa: B023
        _, errors = command.end()
        assert "Traceback" not in errors
        assert "defect" not in errors
        if action in ("rename over", "copy into") and held:
            assert session.read_bytes() == content, "the backup was written into"
        rescued = sorted(tmp_path.glob("live.rescued*.session"))
        kept = tmp_path / "elsewhere.session" if action == "move" else rescued[-1] if rescued else None
        if action == "copy into" or kept is None:
            shown = (
                {key: value for key, value in shown.items() if key in in_the_file(session)} if session.exists() else {}
            )
        else:
            found = in_the_file(kept)
            assert integrity_problem(kept) is None
            assert {key: value for key, value in shown.items() if found.get(key) != value} == {}
            kept.rename(session)
        for leftover in (*rescued, *tmp_path.glob("live.session?*")):
            leftover.unlink(missing_ok=True)
        command = (
            Command("resume", str(session)) if session.exists() else Command(*arguments, "--session", str(session))
        )
    code, errors = command.end()
    assert code == 0, errors
    assert integrity_problem(session) is None
    assert Counter(verdict for verdict, _ in killing.verdicts(session).values()) == {"passed": 27, "failed": 15}
