"""The Regeneration mode on recorded runs, driven by keys."""

import pytest
import regenerated
from driving import figures, press, quiet, regeneration, screen_text, sees, until
from regenerated import RUN

from workbench.regeneration.passk import TaskCount, interval_of, summarise


@pytest.fixture
def finished(recorder):
    regenerated.word_counter(recorder)
    return recorder.path


async def test_figures_are_those_of_the_report(finished):
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


async def test_samples_tabs_and_failing_tests(finished):
    async with regeneration(finished) as (pilot, screen):
        assert "The candidate is the original body" in screen.sample.text.document.text
        assert "14 tests passed in 0.03 s" in screen.detail.failing_text.document.text
        await press(pilot, screen, "l")
        await sees(
            pilot,
            "count_text · sample 2 ✗ failed in 0.03 s",
            '- if text and not text.endswith("\\n"):',
            "tested hot in bubblewrap · 960 tokens",
            "✗ tests/test_count.py::test_counts_trailing_line",
            "E   assert 1 == 2",
        )
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


async def test_filters_count_what_they_hide(finished):
    async with regeneration(finished) as (pilot, screen):
        names = lambda: [line.name for line in screen.table.shown]  # noqa: E731
        app = screen.app
        assert not screen.check_action("clear_filter", ())
        await pilot.press("f")
        await sees(pilot, "Filter: 4 of 4 tasks")
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
        await sees(
            pilot,
            "Tasks 2 of 4 · ✗ not passed · cover < 100 % · F clears",
            "2 filtered away · pass@1 0.17 of 2 · m = 3",
            "F clear filter",
        )
        await press(pilot, screen, "F")
        assert "Tasks 4 ─" in screen_text(app)
        assert len(names()) == 4
        await pilot.press("f", "up", *"report/x")
        await sees(pilot, "Filter: 0 of 4 tasks")
        await pilot.press("enter")
        await sees(pilot, "No task passes this filter; F clears it")
        await pilot.press("f", "up", "backspace", "escape")
        await until(pilot, lambda: app.screen is screen and quiet(screen), "the table")
        assert screen.table.filter.name == "report/x"


async def test_search_goes_through_names_bodies_docstrings_and_failures(finished):
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


async def test_enter_opens_zooms_and_escape_goes_back_and_d_shows_what_was_dropped(finished):
    async with regeneration(finished) as (pilot, screen):
        await press(pilot, screen, "D")
        for text in (
            "Dropped 1 function ─",
            "wordcount.py::main",
            "No stable test executes it.",
            "stub filter, both ways",
        ):
            assert text in screen_text(screen.app)
        await press(pilot, screen, "D", "enter")
        assert screen.current_pane is screen.sample
        await press(pilot, screen, "enter")
        assert "Tasks 4" not in screen_text(screen.app)
        assert "count_text · sample 1" in screen_text(screen.app)
        await press(pilot, screen, "J")
        assert "format_stats · sample 1" in screen_text(screen.app)
        await press(pilot, screen, "escape", "escape")
        assert screen.current_pane.id == "tasks"
        assert "Tasks 4" in screen_text(screen.app)


async def test_runs_and_evaluators(finished, recorder):
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
