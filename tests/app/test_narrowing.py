"""``/`` in every list and text: a list follows each letter with a count, escape gives all back; in a text n and N go on."""

import re

import pytest
import states
import walking
from compared import two_trials
from driving import opened, screen_text, sees, table_of_trials, trajectory, until
from textual import events
from textual.pilot import Pilot

from workbench.app.cases.panes import FileView
from workbench.app.search_screen import HitList
from workbench.app.toolkit.row_list import RowList
from workbench.app.toolkit.run_screen import RunScreen
from workbench.app.toolkit.typed_line import LineInput, NarrowLine


def word_of(one: RowList) -> str:
    """Return the beginning of the longest word of the last row that has one."""
    rows = [at for at in range(one.row_count()) if one.selectable(at)]
    words = (max(re.findall(r"[a-z0-9]{2,}", one.words_of(at).lower()), key=len, default="") for at in reversed(rows))
    return next(filter(None, words), "")[:4]


async def narrowed(pilot: Pilot[int], one: RowList, word: str) -> None:
    """Type a word letter by letter and see that only rows with it are left, and how many."""
    one.focus()
    pilot.app.clear_notifications()  # they cover the count
    await until(pilot, lambda: one.has_focus, "the focus")
    await pilot.press("slash", *word)
    await until(pilot, lambda: one.narrowed == word, f"/{word} in {type(one).__name__}")
    shown, of = one.narrow_counts()
    assert 1 <= shown <= of
    assert f"{shown:,} of {of:,}" in screen_text(pilot.app)
    rows = [one.shown_row(line) for line in range(one.lines_shown())]
    assert all(word in one.words_of(row).casefold() for row in rows if one.selectable(row))


async def test_a_list_is_narrowed_to_a_word_and_escape_gives_all_rows_back(tmp_path):
    async with trajectory(two_trials(tmp_path / "demo.session")) as (pilot, _):
        screen = await table_of_trials(pilot)
        table = screen.table
        await narrowed(pilot, table, word_of(table))
        await pilot.press("enter")
        await until(pilot, lambda: table.has_focus, "the list")
        assert table.shown_row(table.line_of(table.cursor)) == table.cursor  # it stands on a row that is shown
        await pilot.press("slash", *"qzx")
        await until(pilot, lambda: table.narrow_counts() == (0, 2), "nothing left")
        await pilot.press("escape")
        await until(pilot, lambda: not table.narrowed and table.has_focus, "all rows")
        assert table.narrow_counts() == (2, 2)
        assert table.cursor >= 0
        await pilot.press("slash")
        await until(pilot, lambda: screen.query(NarrowLine) and isinstance(screen.focused, LineInput), "the line")
        field = screen.focused
        field.post_message(events.Paste("\x1b[31m[bold]" + "x" * 1_000_000))
        await until(pilot, lambda: len(field.value) == field.max_length, "the beginning of a megabyte")


@pytest.mark.nightly
async def test_every_list_of_every_screen_is_narrowed(own_folders):
    states.huge(own_folders / "demo.session")
    met = set()
    async with walking.app_on(own_folders / "demo.session") as pilot:
        for look in walking.LOOKS:
            if walking.HUGE not in look.states:
                continue
            await walking.go(pilot, look)
            screen = pilot.app.screen
            for one in screen.query(RowList) if not isinstance(screen, RunScreen) else ():
                if (
                    one.region
                    and one.focusable
                    and not isinstance(one, HitList)
                    and type(one) not in met
                    and (word := word_of(one))
                ):
                    met.add(type(one))
                    await narrowed(pilot, one, word)
                    await pilot.press("escape")
                    await until(pilot, lambda one=one: not one.narrowed and one.has_focus, "all rows")
                    assert one.narrow_counts()[0] == one.narrow_counts()[1]
            await walking.back(pilot)
    assert len(met) >= 10, met


async def test_files_of_closed_folders_are_found_and_n_goes_through_the_hits_of_a_text(tmp_path):
    async with opened(None) as pilot:
        screen = pilot.app.screen
        await until(pilot, lambda: screen._ready and screen.case_list.row_count(), "the cases")
        screen.show_case("word_counter", "word_counter.py")
        text, tree = screen.query_one(FileView), screen.file_tree
        await until(pilot, lambda: text.document.numbered and len(text.document.lines) > 20, "the file")
        tree.focus()
        await pilot.press("slash", *"test")
        await until(pilot, lambda: tree.narrowed == "test", "files of closed folders")
        assert any("/" in tree.words_of(tree.shown_row(line)) for line in range(tree.lines_shown()))
        await pilot.press("escape")
        text.focus()
        await pilot.press("slash", *"def")
        await until(pilot, lambda: len(text.hits) > 2, "the hits")
        await pilot.press("enter")
        await until(pilot, lambda: text.has_focus and text.hit == 0, "the first hit")
        await sees(pilot, f"1 of {len(text.hits)}")
        await pilot.press("n", "n", "N")
        assert text.hit == 1
        await pilot.press("escape")
        assert not text.hits
