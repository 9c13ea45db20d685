"""Groups of tasks in the Regeneration mode: they fold, and what is asked for in a folded one comes into sight."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from regenerated import Recorder, word_counter
from regeneration_app import press, regeneration
from trajectory_app import screen_text


async def test_a_group_folds_and_unfolds(recorder: Recorder) -> None:
    word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        table = screen.table
        await press(pilot, screen, "b")
        assert table.selected is not None  # few tasks: all are seen, and the cursor is on the first
        folded = table.selected
        await press(pilot, screen, "minus")
        assert table.selected_group is not None
        assert table.selected is None
        text = screen_text(screen.app)
        assert "▸ report/format.py  2 tasks" in text
        assert "A group of tasks: enter shows or hides them." in text
        assert "format_stats" not in text
        await press(pilot, screen, "f5", "J")  # on, past the heading of the next group
        assert table.selected is not None
        assert table.selected.path != folded.path
        screen.go_to(folded.id, 0)
        assert table.selected == folded
        await press(pilot, screen, "k", "enter", "O")  # onto the heading; another order keeps the group folded
        await press(pilot, screen, "enter")
        assert "format_stats" in screen_text(screen.app)


async def test_many_tasks_are_grouped_folded(recorder: Recorder) -> None:
    recorder.run()
    for place in range(90):
        recorder.cells(recorder.task(f"f{place}", place, path=f"pkg/m{place % 6}.py"), "✓✗")
    async with regeneration(recorder.path) as (pilot, screen):
        table = screen.table
        await press(pilot, screen, "b")
        assert table.row_count() == 1 + 6
        assert table.selected_group is not None
        assert all(re.search(rf"▸ pkg/m{n}.py  15 tasks .* 0\.50", screen_text(screen.app)) for n in range(6))
        await press(pilot, screen, "j", "enter", "j")
        assert table.row_count() == 1 + 6 + 15
        assert table.selected is not None
        assert table.selected.path == "pkg/m1.py"
        await press(pilot, screen, "b")  # by class: one group, which would hide all
        assert table.row_count() == 1 + 1 + 90


async def test_tasks_are_sorted_from_the_pane_of_a_sample_too(recorder: Recorder) -> None:
    word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await press(pilot, screen, "enter", "o", "O")
        assert not screen.table.has_focus
        assert "sorted by pass@1, descending" in screen_text(screen.app)
