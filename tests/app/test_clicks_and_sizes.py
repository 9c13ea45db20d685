"""What looks clickable can be clicked; no size, no paste and no text breaks a screen."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
import recorded
from rich.cells import cell_len
from textual import events
from textual.widgets import Button, Input
from trajectory_app import press, screen_text, trajectory, until

from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.toolkit import literal
from workbench.app.toolkit.header import KeyBar
from workbench.app.toolkit.pane import TabLine

# Bidirectional marks and overrides, zero-width characters, escape sequences, markup, wide and combining letters.
ODD = "\u202eevil\u202c \u200b\u200d\u2060\ufeff \x1b[31mred\x1b[0m [b]x[/] 日本語 e\u0301 \u200f\u061c " + "n" * 300


@pytest.fixture
def session(tmp_path: Path) -> Path:
    made = recorded.Recorder(tmp_path / "demo.session")
    made.run()
    recorded.word_counter(made, "t1")
    made.close()
    return made.path


async def test_modes_tabs_keys_and_rubrics_take_a_click(session: Path) -> None:
    async with trajectory(session, size=(200, 40)) as (pilot, screen):
        app = pilot.app
        score = screen.score
        first = screen_text(app)
        assert "aeo-bench ▾" in first
        await pilot.click(score, offset=(5, 0))
        await until(pilot, lambda: "strict ▾" in screen_text(app), "the next rubric")
        tabs = screen.outcome.query_one(TabLine)
        assert tabs.remark == "m source"
        await pilot.click(tabs, offset=(tabs.size.width - 3, 0))
        await until(pilot, lambda: tabs.remark == "m rendered", "the source")
        line = screen_text(app).splitlines()[-1]
        # As many keys as have room, none of them cut, help at their end.
        assert re.search(r" r rerun  .*\^p all commands  \? help {2,}1 Cases", line)
        assert all(re.fullmatch(r"\S+ \S.*", piece) for piece in re.split(" {2,}", line.strip()))
        for name, mode in (("Regeneration", "regeneration"), ("Trajectory", "trajectory"), ("Cases", "cases")):
            await pilot.click(app.screen.query_one(KeyBar), offset=(line.index(name) + 1, 0))
            await until(pilot, lambda mode=mode: app.current_mode == mode, mode)
            await until(pilot, lambda: "4 Regeneration" in screen_text(app), "the modes")
            line = screen_text(app).splitlines()[-1]


async def test_small_and_back_while_live(tmp_path: Path) -> None:
    made = recorded.Recorder(tmp_path / "demo.session")
    made.run(state="running")
    made.trial("t1", state="running")
    made.tool("t1", 1, "list_directory", ODD, ODD, thought=ODD)
    async with trajectory(made.path, size=(120, 40)) as (pilot, screen):
        await until(pilot, lambda: len(screen.step_list.steps) == 1, "the first step")
        for number, size in enumerate([(20, 5), (120, 40), (60, 15), (1, 1), (250, 80)], 2):
            await pilot.resize_terminal(*size)
            made.tool("t1", number, "read_file", ODD, ODD)
            await until(
                pilot, lambda number=number: len(screen.step_list.steps) == number, "a step that came meanwhile"
            )
            shown = screen_text(pilot.app)
            assert not set(shown) & set("\x1b\u202e\u202c")
            assert all(cell_len(line) <= size[0] for line in shown.splitlines())
        await until(pilot, lambda: "read_file" in screen_text(pilot.app), "the steps")
    made.close()


async def test_a_megabyte_pasted_into_a_field_is_one_line_of_text(start) -> None:
    async with start(size=(60, 15)) as person:
        await person.sees("word_counter")
        await person.press("ctrl+n")
        await person.until(lambda: isinstance(person.app.focused, Input))
        field = person.app.focused
        person.app.screen.post_message(events.Paste("x" * 1_000_000 + "\nrest"))
        await person.until(lambda: field.value)
        await person.press("end", "backspace", "home")
        await person.sees("xxxx")
        await person.press("escape")
        await person.sees("word_counter")


@pytest.mark.parametrize("size", [(60, 15), (250, 80)])
async def test_every_button_of_a_dialog_can_be_reached(start, size: tuple[int, int]) -> None:
    async with start(size=size) as person:
        for opened, key in (("run", "enter"), ("regenerate", "ctrl+n")):
            if opened == "regenerate":
                await person.press("4")
                await person.until(lambda: isinstance(person.app.screen, RegenerationScreen))
            else:
                await person.sees("word_counter")
            await person.press(key)
            await person.until(lambda: person.app.screen.query(Button))
            for button in person.app.screen.query(Button):
                button.focus()
                await person.until(lambda button=button: person.app.screen.region.contains_region(button.region))
                await person.until(lambda button=button: str(button.label) in person.screen_text)
            await person.press("escape")
            await person.until(lambda: not person.app.screen.query(Button))


async def test_without_unicode_and_colour_everything_is_ascii(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(literal.sys, "__stderr__", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    async with trajectory(session, size=(80, 24)) as (pilot, screen):
        await press(pilot, screen, "l", "s")
        app = pilot.app
        assert app._net.plain
        for strip in app.screen._compositor.render_strips():
            text = "".join(segment.text for segment in strip.apply_filter(app._net, app.styles.background))
            assert text.isascii()
        # What is chosen is told by more than a colour.
        assert "[Score]" in screen_text(app) or "Score" in screen_text(app)
