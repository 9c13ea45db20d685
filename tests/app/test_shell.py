from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from textual.widgets._toast import Toast

from workbench.app.feed import SessionChanged, merged
from workbench.app.help import HelpScreen
from workbench.base.settings import Settings
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import Change

HEAVY = ("litellm", "docker", "git", "pydantic", "tree_sitter", "httpx", "a2a", "uvicorn")


def test_importing_the_app_and_painting_loads_nothing_heavy(tmp_path: Path) -> None:
    code = f"""
import sys
import workbench.app
assert not [name for name in sys.modules if name.split(".")[0] in {(*HEAVY, "textual")!r}]
from workbench.app import WorkbenchApp
from workbench.base.settings import Settings
app = WorkbenchApp(None, Settings(), warm_engine=False)
loaded = []
def look():
    loaded.extend(name for name in sys.modules if name.split(".")[0] in {(*HEAVY, "yaml", "sqlite3")!r})
    app.exit()
app._after_paint.insert(0, look)
app.run(headless=True)
print(sorted(loaded))
"""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    # Once to cache the theme; the first start of all reads YAML.
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip().splitlines()[-1] == "[]"


def test_the_whole_of_a_browsing_session_loads_no_engine_library() -> None:
    code = f"""
import asyncio, sys
from workbench.app import WorkbenchApp
from workbench.base.settings import Settings
async def main():
    app = WorkbenchApp(None, Settings(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        for key in ("j", "l", "j", "j", "j", "tab", "3", "1", "question_mark", "escape"):
            await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause()
asyncio.run(main())
print(sorted(name for name in sys.modules if name in {("litellm", "docker", "git", "pydantic", "httpx", "a2a", "uvicorn")!r}))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip().splitlines()[-1] == "[]"


def test_merged_batches_lose_no_change_and_name_each_once() -> None:
    first = (Change(1, "trial", "a", None), Change(2, "step", "a", "1"), Change(3, "trial", "b", None))
    second = (Change(4, "trial", "a", None), Change(5, "step", "a", "2"))
    assert [change.seq for change in merged(first, second)] == [2, 3, 4, 5]


def test_a_waiting_message_is_taken_along_by_the_next(make_session) -> None:
    with SessionReader(make_session()) as reader, SessionReader(make_session(run="run2")) as other:
        early = SessionChanged(reader, (Change(1, "step", "a", "1"),))
        late = SessionChanged(reader, (Change(2, "step", "a", "2"),))
        assert early.can_replace(late)
        assert [change.seq for change in late.changes] == [1, 2]
        assert not early.can_replace(SessionChanged(other, ()))


async def test_the_feed_brings_what_another_process_writes(start, make_session) -> None:
    path = make_session(cases=("word_counter",), state="running")
    async with start() as person:
        await person.until(lambda: person.app.reader is not None)
        heard: list[Change] = []
        person.app.session_changed.subscribe(person.app, heard.extend)
        with SessionWriter(path) as writer:
            for number in range(40):
                writer.annotate("item", f"remark {number}")
        await person.until(lambda: len({change.part for change in heard if change.kind == "annotation"}) == 40)


@pytest.mark.parametrize("what", ["removed", "moved"])
async def test_a_session_that_is_taken_away_while_it_is_open_is_said(start, make_session, what: str) -> None:
    session = make_session("demo")
    async with start(session) as person:
        await person.until(lambda: person.app.reader is not None and person.app.facts is not None)
        if what == "removed":
            session.unlink()
        else:
            session.rename(session.with_name("other.session"))
        said = f"demo.session was {what}; the screen shows its last state."
        await person.until(lambda: any(said in notice.message for notice in person.app._notifications))


async def test_a_run_whose_engine_is_gone_is_told_with_the_key_that_helps(start, make_session) -> None:
    make_session(state="running")
    async with start() as person:
        await person.sees("‖ interrupted: u resumes")


async def test_the_last_usable_session_opens_and_a_broken_newer_one_is_passed_over(start, make_session) -> None:
    good = make_session("good")
    broken = good.with_name("broken.session")
    broken.write_bytes(b"SQLite format 3\x00" + b"x" * 500)
    later = time.time() + 60
    os.utime(broken, (later, later))
    async with start() as person:
        await person.sees("good.session", "$0.021")


async def test_a_session_that_cannot_be_opened_is_one_sentence(start, tmp_path: Path) -> None:
    path = tmp_path / "broken.session"
    path.write_bytes(b"no session at all, but long enough to be looked at" * 10)
    async with start(path) as person:
        await person.sees("is not a workbench")
        assert person.app.session_path is None


async def test_modes_by_number_and_help_by_question_mark(start) -> None:
    async with start() as person:
        await person.sees("word_counter")
        await person.press("4")
        await person.until(lambda: person.app.current_mode == "regeneration")
        await person.press("3")
        await person.sees("Sessions ")
        await person.press("1")
        await person.sees("Synthetic 3")
        await person.press("question_mark")
        await person.sees("cases.run", "list.narrow", "app.study")
        await person.press("pagedown")
        await person.sees("The same on every screen", "app.palette", "app.search")
        assert "leave the tour" not in person.screen_text
        await person.press("G")
        await person.sees("Signs", "more of a long text")
        await person.press("escape")
        await person.until(lambda: "cases.run" not in person.screen_text)


async def test_q_quits_and_leaves_no_side_files(start, make_session) -> None:
    path = make_session()
    async with start() as person:
        await person.until(lambda: person.app.reader is not None)
        await person.press("q")
        await person.until(lambda: not person.app.is_running)
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name]


async def test_the_keymap_of_the_settings_moves_keys(start) -> None:
    async with start(settings=Settings(keymap={"app.sessions": "f9"})) as person:
        await person.sees("word_counter")
        await person.press("f9")
        await person.until(lambda: person.app.current_mode == "sessions")


async def test_the_palette_finds_a_command_for_everything(start) -> None:
    async with start() as person:
        await person.sees("word_counter")
        await person.press("ctrl+p")
        await person.type("theme high")
        await person.sees("Theme high-contrast")
        await person.press("enter")
        await person.until(lambda: person.app.theme == "high-contrast")


async def test_a_tiny_terminal_gets_one_sentence(start) -> None:
    async with start(size=(20, 10)) as person:
        await person.sees("The terminal is", "40×12", "press q")
        assert "Cases" not in person.screen_text


async def test_panes_become_tabs_below_80_by_24(start) -> None:
    async with start(size=(70, 20)) as person:
        await person.sees("[Cases 6]", "word_counter")
        await person.press("tab")
        await person.sees("[countdown_timer · ")
        await person.press("shift+tab")
        await person.sees("[Cases 6]")


async def test_the_left_pane_folds_below_100_columns(start) -> None:
    async with start(size=(80, 24)) as person:
        await person.sees("Synthetic 3", "pyproject.toml")
        await person.press("tab")
        await person.until(lambda: "Synthetic 3" not in person.screen_text)
        await person.press("escape")
        await person.sees("Synthetic 3")


@pytest.mark.parametrize("width", [20, 40, 60, 78, 118])
def test_a_long_name_in_the_header_does_not_push_the_state_out(width: int) -> None:
    from workbench.app.toolkit.header import header_of, laid_out

    sentence = (
        "single-file · replay:/home/somebody/a/very/long/way/to/recorded.session · word_counter · trial 2 of 3 · ✓ done"
    )
    short = laid_out(header_of(sentence), width)
    assert short.endswith("✓ done")
    assert len(short) <= width
    assert laid_out(header_of("white · ✓ done"), width) == "white · ✓ done"
    assert laid_out(header_of(f"failed: {'x' * 200}"), 20) == f"failed: {'x' * 11}…"


@pytest.mark.parametrize(("down", "up"), [("pagedown", "pageup"), ("space", "pageup"), ("end", "home"), ("G", "g")])
async def test_the_help_is_paged_like_any_text(start, down: str, up: str) -> None:
    async with start(size=(80, 24)) as person:
        await person.press("question_mark")
        await person.until(lambda: isinstance(person.app.screen, HelpScreen))
        frame = person.app.screen.query_one("#keys")
        await person.press(down)
        await person.until(lambda: frame.scroll_y > 5)
        assert down not in {"end", "G"} or frame.scroll_y == frame.max_scroll_y
        await person.press(up)
        await person.until(lambda: frame.scroll_y == 0)


def test_modes_know_the_app_as_a_type_alone() -> None:
    """Nothing that a mode imports when it is shown leads up to the app."""
    screens = ("cases.screen", "trajectory.screen", "sessions.screen", "regeneration.screen", "study.screen", "trials.screen",
               "search.screen", "run_list", "marked", "compare.screen")  # fmt: skip
    code = f"""
import importlib, sys
for screen in {screens!r}:
    importlib.import_module(f"workbench.app.{{screen}}")
assert "workbench.app.app" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_a_toast_leaves_the_pane_that_has_the_focus_uncovered(start, make_session) -> None:
    async with start(make_session(), size=(120, 40)) as person:
        await person.until(lambda: person.app.screen.focused is not None)
        for _ in person.app.screen.panes:
            person.app.clear_notifications()
            await person.until(lambda: not person.app.screen.query(Toast))
            person.app.notify("a notice")
            await person.until(lambda: person.app.screen.query(Toast) and person.app.screen.query_one(Toast).region)
            assert not person.app.screen.query_one(Toast).region.overlaps(person.app.screen.focused.region)
            await person.press("tab")
