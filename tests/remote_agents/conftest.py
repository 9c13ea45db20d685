"""What the tests of remote agents share: a trial of the white agent in process, on the answers of the bundled example."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.base import paths, settings
from workbench.engine.document import execute
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import TrialRow

OLDER = "a2a-sdk[http-server]==0.3.26"
READ_LIMIT = 1_800  # that of the recorded trial


@dataclass(frozen=True)
class Local:
    """The trial in process: its session, the recording that it replays, its model's answers in a file."""

    session: Path
    recording: Path
    answers: Path

    @property
    def trial(self) -> TrialRow:
        with SessionReader(self.session) as reader:
            return reader.trials()[0]


async def completed_order(session: Path, plan: DocumentPlan) -> list[TrialRow]:
    """Execute a run in this process and return its trials."""
    run = await asyncio.to_thread(plan_document, session, plan)
    with SessionWriter(session) as writer, SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        await execute(writer, row, settings.load())
        return reader.trials(run)


def essence(session: Path, trial: TrialRow) -> dict[str, Any]:
    """What a trial is worth: everything but times, ids, tokens and who said it."""
    with SessionReader(session) as reader:
        return {
            "state": (trial.state, trial.error),
            "readme": reader.text(trial.readme_blob),
            "metadata": json.loads(reader.text(trial.metadata_blob)),
            "steps": [(s.number, s.kind, s.action, s.target, s.observation_blob) for s in reader.steps(trial.id)],
            "seen": [(s.path, s.access, s.step, s.size) for s in reader.accessed_files(trial.id)],
        }


def scores(session: Path, trial: TrialRow) -> dict[str, Any]:
    """The scorecards of a trial by rubric, but for what the embedded model's grammar gave: that is known of that model only."""
    with SessionReader(session) as reader:
        cards = {score.rubric: json.loads(reader.text(score.card_blob)) for score in reader.scores(trial.id)}
    for card in cards.values():
        card["given"] = None
        for criterion in card["criteria"]:
            criterion["given"] = None
    return cards


@pytest.fixture(scope="module")
def module_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders of its own for a module whose tests share one trial and one server."""
    folder = tmp_path_factory.mktemp("remote-agents")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            patch.setenv(f"WORKBENCH_{name}_DIR", str(folder / name.lower()))
        for name in ("OPENAI_API_KEY", "WORKBENCH_BASE_URL", "WORKBENCH_A2A_HEADERS", "WORKBENCH_SERVE_TOKEN"):
            patch.delenv(name, raising=False)
        yield folder


@pytest.fixture(scope="module")
def local(module_home: Path) -> Local:
    recording = paths.bundled("sessions") / "example.session"
    session = module_home / "local.session"
    plan = DocumentPlan(("word_counter",), model=f"replay:{recording}", judge="offline")
    (trial,) = asyncio.run(completed_order(session, plan))
    assert trial.state == "done", trial.error
    with SessionReader(session) as reader:
        said = [reader.text(call.answer_blob) for call in reader.calls(trial.id)]
    answers = module_home / "answers.json"
    answers.write_text(json.dumps(said), encoding="utf-8")
    return Local(session, recording, answers)


@pytest.fixture(scope="session")
def older_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with a2a-sdk 0.3 in an environment of its own."""
    folder = tmp_path_factory.mktemp("a2a-0.3")
    python = folder / "bin" / "python"
    uv = [sys.executable, "-m", "uv"]
    environment = {**os.environ, "VIRTUAL_ENV": str(folder)}
    try:
        subprocess.run([*uv, "venv", "-q", str(folder)], check=True, capture_output=True, timeout=60)
        subprocess.run(
            [*uv, "pip", "install", "-q", "--python", str(python), OLDER, "uvicorn"],
            check=True,
            capture_output=True,
            timeout=180,
            env=environment,
        )
    except (subprocess.SubprocessError, OSError) as error:
        words = getattr(error, "stderr", b"") or str(error).encode()
        pytest.skip(f"a2a-sdk 0.3 cannot be installed, which stands for the agents of others: {words[-300:].decode()}")
    return python
