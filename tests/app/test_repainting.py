"""What a live trial paints: what changed, and no more. A layout, or a frame with all that is in it, would make keys wait."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from recorded import FILES, Recorder
from textual.geometry import Region
from textual.screen import Screen
from trajectory_app import quiet, screen_text, trajectory, until

from workbench.app.toolkit.literal import set_title


@pytest.fixture
def live(tmp_path: Path) -> Recorder:
    recorder = Recorder(tmp_path / "live.session")
    recorder.run(state="running")
    recorder.trial("t1", state="running")
    recorder.snapshot("t1", FILES)
    for number in range(1, 61):
        recorder.tool("t1", number, "read_file", f"pkg/file{number}.py", "x = 1\n")
    return recorder


async def test_steps_below_those_in_sight_cause_no_layout(live: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    async with trajectory(live.path) as (pilot, screen):
        screen.step_list.set_cursor(1)
        await until(pilot, lambda: quiet(screen) and len(screen.step_list.steps) == 60, "the steps")
        await pilot.pause()
        layouts: list[Screen[object]] = []
        refresh = Screen._refresh_layout
        monkeypatch.setattr(
            Screen, "_refresh_layout", lambda self, *args: (layouts.append(self), refresh(self, *args))[1]
        )
        for number in range(61, 81):
            live.tool("t1", number, "read_file", f"pkg/file{number}.py", "x = 1\n")
        await until(pilot, lambda: quiet(screen) and len(screen.step_list.steps) == 80, "more steps")
        await pilot.pause()
        assert layouts == []
        assert "Steps 80" in screen_text(pilot.app)


async def test_a_title_repaints_its_row_alone(live: Recorder) -> None:
    async with trajectory(live.path) as (pilot, screen):
        await until(pilot, lambda: quiet(screen), "the trial")
        await pilot.pause()
        pane = screen.content
        pane._exchange_repaint_regions()
        set_title(pane, "another", "and below")
        width, height = pane.outer_size
        assert pane._exchange_repaint_regions() == {Region(0, 0, width, 1), Region(0, height - 1, width, 1)}
        set_title(pane, "another", "and below")
        assert not pane._exchange_repaint_regions()
