"""Sessions to look at, and a person who presses keys and waits until something can be seen."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import recorded
from driving import paint_nothing, running
from regenerated import Recorder
from textual._compositor import Compositor

from workbench.base import paths
from workbench.session.identity import trial_id
from workbench.session.rows import ScoreRow


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Every test has its own sessions, cache and settings; and no keys of this machine."""
    for name in ("data", "cache", "config", "state"):
        monkeypatch.setenv(f"WORKBENCH_{name.upper()}_DIR", str(tmp_path / name))
    monkeypatch.delenv("WORKBENCH_SESSIONS_DIR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for key in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "WORKBENCH_BASE_URL"):
        monkeypatch.delenv(key, raising=False)
    return tmp_path


@pytest.fixture(autouse=True)
def unpainted(request, monkeypatch):
    """Only random keys are painted: any state may show what cannot be."""
    if request.path.stem != "test_random_keys":
        monkeypatch.setattr(Compositor, "render_update", paint_nothing)


@dataclass
class SessionMaker:
    """Writes sessions of a trial of each case and agent."""

    folder: Path

    def __call__(
        self, name: str = "demo", cases: Sequence[str] = ("word_counter",), agents: Sequence[str] = ("white",), *,
        state: str = "done", points: Sequence[float] = (82.0, 45.5, 20.0, 12.0), run: str = "run1",
    ) -> Path:  # fmt: skip
        path = self.folder / f"{name}.session"
        made = recorded.Recorder(path)
        writer = made.writer
        writer.add_run(run, "document", {"cases": list(cases)})
        writer.set_run(run, state=state, spend_usd=0.021)
        for (place, agent), case in itertools.product(enumerate(agents), cases):
            trial = trial_id(agent, "local", case, 1)
            writer.add_trial(trial, run, place, (case, case), agent, "local", 1)
            made.snapshot(trial, [("wordcount.py", 900), ("tests/test_a.py", 80)])
            made.tool(trial, 1, "list_directory", ".", "tests/\nwordcount.py", thought="thinking", seconds=0.8)
            made.seen(trial, "wordcount.py", "listed", 1, 900)
            writer.set_trial(trial, state="done" if state == "done" else "running", steps=1)
            if state == "done":
                writer.set_trial(trial, readme_blob=writer.blob(f"# {case}\n\nCounts.\n"))
                card = writer.blob('{"rubric":"aeo-bench","judge":"offline","criteria":[]}')
                tiers = 15.0, 25.0, 21.0, 20.0
                writer.put_score(ScoreRow(trial, "aeo-bench", "offline", points[place % 4], 100.0, *tiers, card, 1.0))
        made.close()
        return path


@pytest.fixture
def recorder(tmp_path):
    """A session to record regeneration into."""
    made = Recorder(tmp_path / "demo.session")
    yield made
    made.close()


@pytest.fixture
def make_session():
    """Return what writes sessions into the user's sessions folder."""
    folder = paths.sessions_dir()
    folder.mkdir(parents=True, exist_ok=True)
    return SessionMaker(folder)


@pytest.fixture
def start():
    """Return what runs the app: ``async with start(session, size=(80, 24)) as person``."""
    return running
