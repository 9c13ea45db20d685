"""What went wrong in a run, tasks in order and in groups, and evaluators side by side."""

import json
import re
from pathlib import Path

from driving import on, press, quiet, regeneration, screen_text, sees, until
from regenerated import EVALUATOR, RUN, Recorder, word_counter

from workbench.app.location import Location
from workbench.app.regeneration.went_wrong import (
    BY_FILE,
    CURVE,
    FAILURES,
    TABS,
    TESTS,
    UNSOLVED,
    WentWrongScreen,
    load_curves,
    load_findings,
)
from workbench.app.toolkit.header import StatusLine
from workbench.app.toolkit.text_pane import TextPane
from workbench.session import SessionReader
from workbench.session.groups import Group

TEST_FILE = """from wordcount import count_text


def test_counts_trailing_line():
    found = count_text("a\\nb")
    assert found.lines == 2
"""


TRACE = (
    'Traceback (most recent call last):\n  File "tests/test_count.py", line 6, in test_counts_trailing_line\n'
    "    assert found.lines == 2\nAssertionError: assert {} == 2\n +  where {} = Counts(lines={}).lines\n"
)


RAISED = (
    'Traceback (most recent call last):\n  File "tests/test_count.py", line 5, in test_counts_trailing_line\n'
    '    found = count_text("a\\nb")\n  File "wordcount.py", line 12, in count_text\n    return nope\n'
    "NameError: name 'nope' is not defined\n"
)


def failing(path: Path) -> None:
    """Record two tasks: three samples say 1, two say 5, one raises, one is no code; the second task is never solved."""
    recorder = Recorder(path)
    recorder.run()
    writer = recorder.writer
    with writer.transaction():
        index = writer.blob(json.dumps({"tests/test_count.py": writer.blob(TEST_FILE)}))
    one = recorder.task("count_text", 0, test_files_blob=index, tests=1)
    two = recorder.task("Table.total", 1, path="report/[b]format.py", tests=1, test_files_blob=index)
    recorder.controls([one, two])
    test = "tests/test_count.py::test_counts_trailing_line"
    for task, values in ((one, "111✓"), (two, "55!∅")):
        for sample, value in enumerate(values):
            wrong = value.isdigit() or value == "!"
            key = f"{task}/{EVALUATOR}/{sample}"
            body = "    return 1\n" + "    # more\n" * sample
            recorder.sample(task, sample, "✗" if wrong else value, body=body)
            if wrong:
                trace = RAISED if value == "!" else TRACE.format(value, value, value)
                recorder.failing(key, test, trace.strip().split("\n")[-1 if value == "!" else -2], trace)
    recorder.close()


async def test_failures_are_grouped_and_the_test_stands_beside_the_difference(tmp_path):
    failing(tmp_path / "demo.session")
    async with regeneration(tmp_path / "demo.session") as (pilot, mode):
        app = mode.app
        await pilot.press("w")
        screen = await on(pilot, WentWrongScreen)
        await until(pilot, lambda: screen.idle, "the screen")
        await until(pilot, lambda: FAILURES in screen.listings and screen.idle, "the findings")
        assert [entry.cells[0] for entry in screen.list.rows] == ["3", "2", "1", "1"]
        assert "7 failed in 4 groups" in str(screen.query_one(StatusLine).render())
        await sees(pilot, "assert 1 == 2")
        shown = screen_text(app)
        assert "6     assert found.lines == 2" in shown  # the source, with its line number
        assert "where 1 = Counts" in shown
        assert "+ return 1" in shown
        assert "Count the lines of a text." in shown
        lines = screen.query_one("#left-pane TextPane", TextPane).document.lines
        assert [line.number for line in lines if line.fill] == [6]
        # An exception names its place; markup in a path is only text.
        await pilot.press("G")
        await until(
            pilot, lambda: screen.idle and "raised at wordcount.py:12 in count_text" in screen_text(app), "place"
        )
        # Less alike: both wrong values are an AssertionError.
        await pilot.press("b", "b")
        await until(pilot, lambda: [one.cells[0] for one in screen.list.rows] == ["5", "1", "1"], "by exception")
        # A group lists its members, each with its difference; the way back leads to the group.
        await pilot.press("g", "l")
        await until(pilot, lambda: len(screen.list.rows) == 5 and screen.idle, "the members")
        assert "5 candidates of 2 tasks · AssertionError" in screen_text(app)
        assert {entry.of.task for entry in screen.list.rows} == {f"{RUN}-count_text", f"{RUN}-Table.total"}
        await pilot.press("G", "escape")
        assert [one.cells[0] for one in screen.list.rows] == ["5", "1", "1"]
        assert screen.list.selected is screen.list.rows[0]
        await pilot.press("b")
        # What nobody solves, what fails most, and the curve.
        await pilot.press("right_square_bracket")
        await sees(pilot, "report/[b]format.py::Table.total")
        assert len(screen.list.rows) == 1
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: screen.list.rows[0].cells[1:] == ("6", "2"), "the test that fails most")
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: CURVE in screen.listings and screen.idle, "the curves")
        assert screen.tab == CURVE
        assert "pass@1 of the first m samples" in screen_text(app)
        assert [entry.cells[1] for entry in screen.list.rows] == ["0.00", "0.00", "0.00", "0.12"]
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: screen.tab == BY_FILE and "hardest first" in screen_text(app), "the files")
        rows = [entry.cells for entry in screen.list.rows]
        assert [(row[0], row[1], row[2], len(row[3].rstrip())) for row in rows] == [
            ("report/[b]format.py", "1", "0.00", 0),
            ("wordcount.py", "1", "0.25", 4),
        ]
        assert "████" in screen_text(app)
        # Enter shows the candidate that stands for a group.
        await pilot.press(*["left_square_bracket"] * 4, "g", "j", "enter")
        await until(pilot, lambda: app.screen is mode and quiet(mode), "the mode again")
        assert (mode.table.selected.name, mode.table.sample) == ("Table.total", 0)


def test_a_run_in_which_nothing_failed_says_so_in_every_list(tmp_path):
    recorder = Recorder(tmp_path / "demo.session")
    recorder.run()
    recorder.cells(recorder.task("count_text", 0), "✓·")
    recorder.close()
    with SessionReader(tmp_path / "demo.session") as reader:
        found = load_findings(reader, RUN, None)
        said = [found[tab].empty for tab in (FAILURES, UNSOLVED, TESTS) if not found[tab].entries]
        assert said == [
            "No candidate failed.",
            "Every task with samples is solved by some candidate.",
            "No test failed.",
        ]
        assert "not in the open session" in load_findings(reader, "gone", None)[TABS[0]].empty
        assert load_curves(reader, RUN, Group("original", "nobody"), (1, 3))[CURVE].entries == ()
        curves = load_curves(reader, RUN, Group("original", EVALUATOR), (1, 3))
        assert [entry.cells[:2] for entry in curves[CURVE].entries] == [("1", "1.00"), ("2", "1.00")]


async def test_tasks_sort_by_key_and_by_a_click_and_stand_in_groups(tmp_path):
    recorder = Recorder(tmp_path / "demo.session")
    word_counter(recorder)
    recorder.close()
    async with regeneration(tmp_path / "demo.session") as (pilot, screen):
        table = screen.table

        def names() -> list[str]:
            return [line.name for line in table.shown]

        await press(pilot, screen, "o")
        assert names() == ["format_stats", "Table.add_row", "count_text", "total"]
        assert table.selected.name == "format_stats"
        assert "sorted by pass@1, ascending" in screen_text(screen.app)
        await press(pilot, screen, "O")
        assert names()[0] == "total"
        # A column's heading sorts by it, once more the other way round.
        at = "".join(text for text, _ in table.heading_parts(table.text_width)).index("tests")
        await pilot.click(table, offset=(at, 0))
        await until(pilot, lambda: quiet(screen) and names()[0] == "count_text", "the most tests first")
        await pilot.click(table, offset=(at, 0))
        await until(pilot, lambda: quiet(screen) and names()[0] == "total", "the fewest tests first")
        await press(pilot, screen, "b")
        shown = screen_text(screen.app)
        assert re.search(r"▾ report/format.py  2 tasks .* 0\.17", shown)
        assert re.search(r"▾ wordcount.py  2 tasks .* 0\.83", shown)
        assert table.row_count() == 1 + 6
        first = table.selected.name
        await press(pilot, screen, "g", "j", "j")
        assert table.selected.name != first
        await press(pilot, screen, "b", "b")
        assert "▾ some passed  2 tasks" in screen_text(screen.app)
        # A filter keeps the groups and counts in them what is shown; search and the way to a task still work.
        screen.filter_tasks(table.filter.choosing("leak", "leaking"))
        await until(pilot, lambda: quiet(screen) and len(table.shown) == 1, "the filter")
        assert table.row_count() == 1 + 2
        screen.go_to(f"{RUN}-count_text", 1)
        assert table.selected.name == "count_text"
        await press(pilot, screen, "b", "b")
        assert table.row_count() == 1 + 4


async def test_sorting_follows_new_verdicts_and_keeps_the_task_under_the_cursor(tmp_path):
    recorder = Recorder(tmp_path / "demo.session")
    word_counter(recorder)
    async with regeneration(tmp_path / "demo.session") as (pilot, screen):
        await press(pilot, screen, "o", "G")
        assert screen.table.selected.name == "total"
        recorder.cells(f"{RUN}-total", "✗✗✗", at=200.0)
        recorder.cells(f"{RUN}-format_stats", "✓✓✓", at=200.0)
        await until(pilot, lambda: quiet(screen) and screen.table.shown[-1].name == "format_stats", "the order")
        assert screen.table.selected.name == "total"
    recorder.close()


async def test_a_run_that_begins_elsewhere_stays_in_sight_and_is_one_key_away(tmp_path):
    recorder = Recorder(tmp_path / "demo.session")
    word_counter(recorder)
    recorder.run(run_id="regen-2", docs="none")
    task = recorder.task("count_text", 0, run_id="regen-2", docs="none")
    recorder.cells(task, "✗✗✗", run_id="regen-2")
    async with regeneration(tmp_path / "demo.session") as (pilot, screen):
        await screen.workbench.show(Location(None, "regeneration", RUN))
        await until(
            pilot, lambda: quiet(screen) and screen.view is not None and screen.view.run.id == RUN, "the first run"
        )
        await sees(pilot, "docs [original 0.50] none 0.00")
        recorder.run(run_id="regen-3", state="running", docs="llm:x")
        recorder.cells(recorder.task("count_text", 0, run_id="regen-3", docs="llm:x"), "✓··", run_id="regen-3")
        await until(pilot, lambda: screen.following.new_run == "regen-3", "that another run started")
        assert "another run started: L" in str(screen.query_one(StatusLine).render())
        await press(pilot, screen, "L")  # past the second run
        assert screen.view.run.id == "regen-3"
        await until(pilot, lambda: not screen.following.new_run, "that it was looked at")
        assert "another run started" not in str(screen.query_one(StatusLine).render())
    recorder.close()


async def test_many_tasks_are_grouped_folded(recorder):
    recorder.run()
    for place in range(90):
        recorder.cells(recorder.task(f"f{place}", place, path=f"pkg/m{place % 6}.py"), "✓✗")
    async with regeneration(recorder.path) as (pilot, screen):
        table = screen.table
        await press(pilot, screen, "b")
        assert table.row_count() == 1 + 6
        assert re.search(r"▸ pkg/m3.py  15 tasks .* 0\.50", screen_text(screen.app))
        await press(pilot, screen, "j", "enter", "j")
        assert table.row_count() == 1 + 6 + 15
        assert table.selected.path == "pkg/m1.py"
