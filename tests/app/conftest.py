"""Sessions to look at, and a person who presses keys and waits until something can be seen."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from regenerated import Recorder

from workbench.app import WorkbenchApp
from workbench.base import paths
from workbench.base.settings import Settings
from workbench.session import SessionWriter, create
from workbench.session.identity import trial_id
from workbench.session.rows import AccessedFileRow, ScoreRow, StepRow


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own sessions, cache and settings; and no keys of this machine."""
    for name in ("data", "cache", "config", "state"):
        monkeypatch.setenv(f"WORKBENCH_{name.upper()}_DIR", str(tmp_path / name))
    monkeypatch.delenv("WORKBENCH_SESSIONS_DIR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for key in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "WORKBENCH_BASE_URL"):
        monkeypatch.delenv(key, raising=False)
    return tmp_path


@dataclass
class SessionMaker:
    """Writes sessions as an engine would."""

    folder: Path

    def __call__(
        self,
        name: str = "demo",
        cases: tuple[str, ...] = ("word_counter",),
        agents: tuple[str, ...] = ("white",),
        *,
        state: str = "done",
        points: tuple[float, ...] = (82.0, 45.5, 20.0, 12.0),
        run: str = "run1",
    ) -> Path:
        path = self.folder / f"{name}.session"
        if not path.exists():
            create(path)
        with SessionWriter(path) as writer, writer.transaction():
            writer.add_run(run, "document", {"cases": list(cases)})
            writer.set_run(run, state=state, spend_usd=0.021)
            snapshot = "f" * 64
            writer.add_snapshot(snapshot, "folder:x", "", [("wordcount.py", 900), ("tests/test_a.py", 80)])
            for place, agent in enumerate(agents):
                for case in cases:
                    identity = trial_id(agent, "local", case, 1)
                    writer.add_trial(identity, run, place, (case, case), agent, "local", 1)
                    finished = state == "done"
                    writer.set_trial(
                        identity,
                        state="done" if finished else "running",
                        snapshot=snapshot,
                        steps=1,
                        readme_blob=writer.blob(f"# {case}\n\nCounts.\n") if finished else None,
                    )
                    writer.add_step(
                        StepRow(
                            identity, 1, "tool", "list_directory", ".", None, writer.blob("thinking"),
                            writer.blob("tests/\nwordcount.py"), 20, None, 1104, 31, 0.0, 0.8, "local", "{}", 1.0,
                        )
                    )  # fmt: skip
                    writer.add_accessed_files([AccessedFileRow(identity, "wordcount.py", "listed", 1, 900, None)])
                    if finished:
                        card = '{"rubric":"aeo-bench","judge":"offline","criteria":[]}'
                        writer.put_score(
                            ScoreRow(
                                identity, "aeo-bench", "offline", points[place % 4], 100.0, 15.0, 25.0, 21.0, 20.0,
                                writer.blob(card), 1.0,
                            )
                        )  # fmt: skip
        return path


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    """A session to record regeneration into."""
    made = Recorder(tmp_path / "demo.session")
    yield made
    made.close()


@pytest.fixture
def make_session() -> SessionMaker:
    """Return what writes sessions into the user's sessions folder."""
    folder = paths.sessions_dir()
    folder.mkdir(parents=True, exist_ok=True)
    return SessionMaker(folder)


class Person:
    """Presses keys in a running app, reads its screen and waits until what must come has come."""

    def __init__(self, app: WorkbenchApp, pilot: object) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen_text(self) -> str:
        """What stands on the screen, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        await self.pilot.press(*keys)  # type: ignore[attr-defined]

    async def type(self, text: str) -> None:
        """Type a text."""
        for letter in text:
            await self.pilot.press({" ": "space", "/": "slash", ".": "full_stop"}.get(letter, letter))  # type: ignore[attr-defined]

    async def until(self, condition: Callable[[], object], seconds: float = 15.0) -> None:
        """Let the app work until the condition holds; fails with the screen's text."""
        end = time.monotonic() + seconds
        while True:
            problem = None
            try:
                if condition():
                    return
            except Exception as error:  # a widget that is not there yet; told if it never comes
                problem = error
            if time.monotonic() > end:
                why = f" The condition raised {problem!r}." if problem else ""
                said = f"It did not come to that within {seconds} s.{why} The screen:\n{self.screen_text}"
                raise AssertionError(said) from problem
            await asyncio.sleep(0.01)

    async def sees(self, *texts: str, seconds: float = 15.0) -> None:
        """Wait until all texts stand on the screen."""
        await self.until(lambda: all(text in self.screen_text for text in texts), seconds)


@contextlib.asynccontextmanager
async def running(
    session: Path | None = None, size: tuple[int, int] = (120, 40), settings: Settings | None = None
) -> AsyncIterator[Person]:
    """Run the app without a terminal."""
    app = WorkbenchApp(session, settings or Settings(), warm_engine=False)
    async with app.run_test(size=size, notifications=True) as pilot:
        while app.is_opening:
            await pilot.pause()
        await pilot.pause()
        yield Person(app, pilot)


@pytest.fixture
def start() -> Callable[..., contextlib.AbstractAsyncContextManager[Person]]:
    """Return what runs the app: ``async with start(session, size=(80, 24)) as person``."""
    return running
