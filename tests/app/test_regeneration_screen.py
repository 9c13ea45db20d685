"""The Regeneration mode on recorded runs, driven by keys."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import regenerated
from regenerated import RUN, Recorder
from regeneration_app import figures, press, quiet, regeneration
from trajectory_app import screen_text, until

from workbench.regeneration.passk import TaskCount, interval_of, summarise


@pytest.fixture
def finished(recorder: Recorder) -> Path:
    regenerated.word_counter(recorder)
    return recorder.path


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (60, 20)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_screen_as_a_person_sees_it(finished: Path, size: tuple[int, int], snapshot: object) -> None:
    async with regeneration(finished, size) as (pilot, screen):
        await press(pilot, screen, "j", "l")
        await until(pilot, lambda: figures(screen) and figures(screen).pass_at[0].interval is not None, "the interval")
        body, _, _keys = screen_text(screen.app).rpartition("\n")  # the keys are the shell's, and tested there
        assert body == snapshot


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_tasks_being_built(recorder: Recorder, size: tuple[int, int], snapshot: object) -> None:
    regenerated.building(recorder)
    lease = recorder.writer.acquire(RUN)
    async with regeneration(recorder.path, size) as (pilot, screen):
        await press(pilot, screen, "j", "j", "j")
        body, _, _keys = screen_text(screen.app).rpartition("\n")
        assert body == snapshot
        await press(pilot, screen, "G", "k")
        assert "Quarantined 2 tests of 16" in screen_text(screen.app)
        assert screen.subject().text.splitlines()[1] == (
            "unstable test\ttests/test_lowlevel.py::test_close\tfailed, passed, passed"
        )
    recorder.writer.release(lease)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_self_checks_that_fail(recorder: Recorder, size: tuple[int, int], snapshot: object) -> None:
    regenerated.troubled(recorder)
    async with regeneration(recorder.path, size) as (pilot, screen):
        await until(pilot, lambda: figures(screen) and figures(screen).pass_at[0].interval is not None, "the interval")
        await press(pilot, screen, "exclamation_mark", "exclamation_mark")
        body, _, _keys = screen_text(screen.app).rpartition("\n")
        assert body == snapshot


async def test_the_chooser_of_filters(recorder: Recorder, snapshot: object) -> None:
    regenerated.troubled(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await pilot.press("f")
        await until(pilot, lambda: "Filter: 5 of 5 tasks" in screen_text(screen.app), "the chooser")
        await pilot.press("down", "right", "right")
        await until(pilot, lambda: "Filter: 2 of 5 tasks" in screen_text(screen.app), "the table behind it")
        frame = screen_text(screen.app).splitlines()[-16:]
        at = next(line.index("╭─ Filter") for line in frame if "╭─ Filter" in line)
        assert "\n".join(line[at : at + 66] for line in frame if line[at : at + 1] in "╭│╰") == snapshot


async def test_figures_are_those_of_the_report(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        await until(pilot, lambda: figures(screen) and figures(screen).pass_at[0].interval is not None, "the interval")
        shown = figures(screen)
        counts = [TaskCount(str(n), "snapshot-1", "abba"[n], 3, passed) for n, passed in enumerate((2, 0, 1, 3))]
        overall = summarise(counts, (1, 3))
        assert [item.value for item in shown.pass_at] == [overall[1].value, overall[3].value] == [0.5, 0.75]
        assert shown.pass_at[0].interval == interval_of(counts, 1)
        assert (shown.decided, shown.tasks, shown.leaking) == (4, 4, 1)
        text = screen_text(screen.app)
        assert "pass@1 0.50 no interval" in text  # two files are too few
        assert "m = 3 · 4 tasks" in text
        assert "without 1 leaking @1 0.33 @3 0.67" in text
        assert "✓ self-check: reference 4/4 · stub 0/4" in text
        assert "bubblewrap · no network" in text
        assert (
            "regenerate word_counter · docs original · gpt-5-mini · pass@1 0.50 · ✓ done, 12 samples in 14 s · $0.0048"
            in text
        )
        assert "99 %" in text  # 99.6 % is not all of it


async def test_samples_tabs_and_failing_tests(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        assert "The candidate is the original body" in screen.sample.text.document.text
        assert "14 tests passed in 0.03 s" in screen.detail.failing_text.document.text
        await press(pilot, screen, "l")
        text = screen_text(screen.app)
        assert "count_text · sample 2 ✗ failed in 0.03 s" in text
        assert '- if text and not text.endswith("\\n"):' in text
        assert "tested hot in bubblewrap · 960 tokens" in text
        assert "✗ tests/test_count.py::test_counts_trailing_line" in text
        assert "E   assert 1 == 2" in text
        await press(pilot, screen, "Y")
        assert screen.sample.tab == "Docstring"
        assert "Count the lines of a text." in screen.sample.text.document.text
        await press(pilot, screen, "right_square_bracket")
        assert "def count_text(text): ..." in screen.sample.text.document.text
        assert "context prefix-1" in screen.sample.text.document.text
        await press(pilot, screen, "right_square_bracket")
        assert screen.sample.text.document.text.startswith("```python")
        await press(pilot, screen, "j", "j", "Y", "left_square_bracket", "h")
        assert screen.table.selected.name == "Table.add_row"
        assert screen.sample.tab == "Candidate"
        await press(pilot, screen, "l")
        assert "There is no body: There is no code in it." in screen_text(screen.app)


async def test_filters_count_what_they_hide(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        names = lambda: [line.name for line in screen.table.shown]  # noqa: E731
        app = screen.app
        assert not screen.check_action("clear_filter", ())
        await pilot.press("f")
        await until(pilot, lambda: "Filter: 4 of 4 tasks" in screen_text(app), "the chooser")
        seen = {}
        for _ in range(6):
            await pilot.press("right")
            await pilot.pause()
            seen[screen.table.filter.chosen.get("verdict", "")] = names()
        assert seen == {
            "failed": ["count_text", "format_stats", "Table.add_row"],
            "passed": ["total"],
            "timeout": ["format_stats"],
            "crashed": ["Table.add_row"],
            "invalid": ["Table.add_row"],
            "": ["count_text", "format_stats", "Table.add_row", "total"],
        }
        await pilot.press("right", "down", "right", "enter")  # not passed, and covered by less than 100 %
        await until(pilot, lambda: app.screen is screen and quiet(screen), "the table")
        assert names() == ["format_stats", "Table.add_row"]
        text = screen_text(app)
        assert "Tasks 2 of 4 · ✗ not passed · cover < 100 % · F clears" in text
        assert "2 filtered away · pass@1 0.17 of 2 · m = 3" in text
        assert "F clear filter" in text
        await press(pilot, screen, "F")
        assert "Tasks 4 ─" in screen_text(app)
        assert len(names()) == 4


async def test_filter_by_name_that_nothing_has_and_back(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        await pilot.press("f", "up", *"report/")
        await until(pilot, lambda: "Filter: 2 of 4 tasks" in screen_text(screen.app), "two of a folder")
        await pilot.press("x")
        await until(pilot, lambda: "Filter: 0 of 4 tasks" in screen_text(screen.app), "nothing")
        await pilot.press("enter")
        await until(pilot, lambda: "No task passes this filter; F clears it" in screen_text(screen.app), "the sentence")
        await pilot.press("f", "up", "backspace", "escape")
        await until(pilot, lambda: screen.app.screen is screen and quiet(screen), "the table")
        assert screen.table.filter.name == "report/x"
        await press(pilot, screen, "F")
        assert not screen.table.filter.active


async def test_search_goes_through_names_bodies_docstrings_and_failures(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        await press(pilot, screen, "slash", *"lines", "enter")
        found = screen.finder.found
        assert {(hit.task, hit.tab) for hit in found} >= {
            (f"{RUN}-count_text", "Docstring"),
            (f"{RUN}-total", "Candidate"),
        }
        total = len(found)
        assert f"/lines  1 of {total}" in screen_text(screen.app)
        await press(pilot, screen, "N")
        assert f"{total} of {total}" in screen_text(screen.app)
        assert screen.table.selected.name == "total"
        assert screen.sample.tab == "Candidate"
        await press(pilot, screen, "escape", "slash", *"trailing_line", "enter")
        assert {hit.tab for hit in screen.finder.found} == {"Failing"}
        await press(pilot, screen, "n")
        assert screen.table.selected.name == "format_stats"
        await press(pilot, screen, "slash", *"nowhere at all".replace(" ", ""), "enter")
        assert "nothing found" in screen_text(screen.app)
        await press(pilot, screen, "escape")
        assert screen.finder.found is None


async def test_dropped_functions_and_back(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        assert "1 dropped · D" in screen_text(screen.app)
        await press(pilot, screen, "D")
        text = screen_text(screen.app)
        assert "Dropped 1 function ─" in text
        assert "wordcount.py::main" in text
        assert "No stable test executes it." in text
        assert "stub filter, both ways" in text
        await press(pilot, screen, "D")
        assert "count_text" in screen_text(screen.app)


async def test_enter_opens_zooms_and_escape_goes_back(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        await press(pilot, screen, "enter")
        assert screen.current_pane is screen.sample
        await press(pilot, screen, "enter")
        text = screen_text(screen.app)
        assert "Tasks 4" not in text
        assert "count_text · sample 1" in text
        await press(pilot, screen, "J")
        assert "format_stats · sample 1" in screen_text(screen.app)
        await press(pilot, screen, "escape", "escape")
        assert screen.current_pane.id == "tasks"
        assert "Tasks 4" in screen_text(screen.app)


async def test_narrow_screen_puts_failing_tests_in_the_place_of_the_sample(finished: Path) -> None:
    async with regeneration(finished, (80, 24)) as (pilot, screen):
        await press(pilot, screen, "l")
        assert "assert 1 == 2" not in screen_text(screen.app)
        await press(pilot, screen, "tab", "tab")
        text = screen_text(screen.app)
        assert "assert 1 == 2" in text
        assert "Diff  Candidate" not in text


async def test_click_selects_a_sample(finished: Path) -> None:
    async with regeneration(finished) as (pilot, screen):
        row = next(line for line in screen_text(screen.app).splitlines() if "Table.add_row" in line)
        y = screen_text(screen.app).splitlines().index(row)
        await pilot.click(offset=(row.index("!∅✓") + 2, y))
        await until(pilot, lambda: quiet(screen), "the sample")
        assert screen.table.selected.name == "Table.add_row"
        assert screen.table.sample == 2


async def test_runs_and_evaluators(finished: Path, recorder: Recorder) -> None:
    other = "local"
    recorder.cells(f"{RUN}-count_text", "✗✗✗", evaluator=other, at=200.0)
    recorder.run(run_id="regen-2", evaluator="reference", samples=1)
    recorder.cells(recorder.task("only", 0, run_id="regen-2"), "✓", evaluator="reference", run_id="regen-2")
    async with regeneration(finished) as (pilot, screen):
        assert screen.view.run.id == "regen-2"
        await press(pilot, screen, "H")
        assert screen.view.run.id == RUN
        assert screen.view.evaluator == regenerated.EVALUATOR, "the one with the most samples"
        await until(pilot, lambda: figures(screen) and figures(screen).tasks == 4, "figures")
        await press(pilot, screen, "v")
        assert screen.view.evaluator == other
        await until(pilot, lambda: figures(screen) and figures(screen).tasks == 1, "the figures of the other")
        assert figures(screen).decided == 1  # the other tasks were not asked of it
        await press(pilot, screen, "L")
        assert screen.view.run.id == "regen-2"
