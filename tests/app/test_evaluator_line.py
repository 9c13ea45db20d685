"""The line of evaluators: pass@k of each stays in sight, names and complete counts give way before it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from regenerated import EVALUATOR, Recorder
from regeneration_app import regeneration
from trajectory_app import screen_text, until

LONG = ("openrouter/qwen/qwen3-235b-a22b-instruct-2507", "replay:/home/somebody/a/very/long/way/to/recorded.session")


@pytest.mark.parametrize("width", [100, 200])
async def test_pass_at_1_of_each_evaluator_stays_beside_long_names(tmp_path: Path, width: int) -> None:
    recorder = Recorder(tmp_path / "demo.session")
    recorder.run(samples=4, asks=[{"evaluator": name, "samples": 4} for name in (EVALUATOR, *LONG)])
    tasks = [recorder.task(f"function_{number}", number) for number in range(3)]
    recorder.controls(tasks)
    for name, cells in zip((EVALUATOR, *LONG), ("✓✓✓✓", "✓✗✗✗", "✓✓✗✗"), strict=True):
        for task in tasks:
            recorder.cells(task, cells, evaluator=name)
    recorder.close()
    async with regeneration(tmp_path / "demo.session", size=(width, 30)) as (pilot, screen):

        def line() -> str:
            return next((row for row in screen_text(screen.app).splitlines() if "evaluators" in row), "")

        for share in ("1.00", "0.25", "0.50"):
            await until(pilot, lambda share=share: f" {share}" in line(), f"{share} in the line")
        assert "gpt-5-mini" in line()
        assert ("12/12" in line()) == (width == 200)
