"""The shell around the modes: what it opens, imports and paints first; its footer, help, tour, dialogs and sizes."""

import io
import os
import re
import subprocess
import sys
import time

import pytest
import recorded
import walking
from driving import press, screen_text, sees, trajectory, until
from textual.widgets import Button
from textual.widgets._toast import Toast

from workbench.app import app as whole_app
from workbench.app.app import WorkbenchApp, tour_file
from workbench.app.feed import merged
from workbench.app.help import HelpScreen
from workbench.app.opening import OpeningScreen
from workbench.app.toolkit import literal
from workbench.app.toolkit.header import KeyBar
from workbench.app.toolkit.pane import TabLine
from workbench.base.settings import Settings
from workbench.session import SessionWriter
from workbench.session.rows import Change

HEAVY = ("litellm", "docker", "git", "pydantic", "tree_sitter", "httpx", "a2a", "uvicorn", "aiohttp", "textual_serve")


def test_importing_the_app_and_painting_loads_nothing_heavy(tmp_path):
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


def test_merged_batches_lose_no_change_and_name_each_once():
    first = (Change(1, "trial", "a", None), Change(2, "step", "a", "1"), Change(3, "trial", "b", None))
    second = (Change(4, "trial", "a", None), Change(5, "step", "a", "2"))
    assert [change.seq for change in merged(first, second)] == [2, 3, 4, 5]


async def test_the_feed_brings_what_another_process_writes(start, make_session):
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
async def test_a_session_that_is_taken_away_while_it_is_open_is_said(start, make_session, what):
    session = make_session("demo")
    async with start(session) as person:
        await person.until(lambda: person.app.reader is not None and person.app.facts is not None)
        if what == "removed":
            session.unlink()
        else:
            session.rename(session.with_name("other.session"))
        said = f"demo.session was {what}; the screen shows its last state."
        await person.until(lambda: any(said in notice.message for notice in person.app._notifications))


async def test_the_last_usable_session_opens_and_a_broken_newer_one_is_passed_over(start, make_session):
    good = make_session("good")
    broken = good.with_name("broken.session")
    broken.write_bytes(b"SQLite format 3\x00" + b"x" * 500)
    later = time.time() + 60
    os.utime(broken, (later, later))
    async with start() as person:
        await person.sees("good.session", "$0.021")


async def test_modes_by_number_and_help_by_question_mark(start):
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


async def test_panes_become_tabs_below_80_by_24_and_fold_below_100_columns(start):
    async with start(size=(70, 20)) as person:
        await person.sees("[Cases 6]", "word_counter")
        await person.press("tab")
        await person.sees("[countdown_timer · ")
        await person.press("shift+tab")
        await person.sees("[Cases 6]")
        await person.pilot.resize_terminal(80, 24)
        await person.sees("Synthetic 3", "pyproject.toml")
        await person.press("tab")
        await person.until(lambda: "Synthetic 3" not in person.screen_text)
        await person.press("escape")
        await person.sees("Synthetic 3")
        await person.pilot.resize_terminal(20, 10)
        await person.sees("The terminal is", "40×12", "press q")


async def test_the_help_is_paged_like_any_text(start):
    async with start(size=(80, 24)) as person:
        await person.press("question_mark")
        await person.until(lambda: isinstance(person.app.screen, HelpScreen))
        frame = person.app.screen.query_one("#keys")
        for down, up in (("pagedown", "pageup"), ("space", "pageup"), ("end", "home"), ("G", "g")):
            await person.press(down)
            await person.until(lambda: frame.scroll_y > 5)
            assert down not in {"end", "G"} or frame.scroll_y == frame.max_scroll_y
            await person.press(up)
            await person.until(lambda: frame.scroll_y == 0)


async def test_a_toast_leaves_the_pane_that_has_the_focus_uncovered(start, make_session):
    async with start(make_session(), size=(120, 40)) as person:
        await person.until(lambda: person.app.screen.focused is not None)
        for _ in person.app.screen.panes:
            person.app.clear_notifications()
            await person.until(lambda: not person.app.screen.query(Toast))
            person.app.notify("a notice")
            await person.until(lambda: person.app.screen.query(Toast) and person.app.screen.query_one(Toast).region)
            assert not person.app.screen.query_one(Toast).region.overlaps(person.app.screen.focused.region)
            await person.press("tab")


class Waiting(WorkbenchApp):
    """Stays at what is painted first until it is told to go on."""

    async def _show_first_mode(self) -> None:
        pass

    def go_on(self) -> None:
        """Go on."""
        self.call_later(super()._show_first_mode)


async def test_what_is_painted_first_names_the_session_and_keys_are_kept_for_the_mode(make_session):
    path = make_session("[bold]measured")
    app = Waiting(path, Settings(), warm_engine=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, OpeningScreen)
        shown = ["".join(part.text for part in strip).rstrip() for strip in app.screen._compositor.render_strips()]
        assert shown[0].strip() == "Workbench  [bold]measured.session"
        assert [line.strip() for line in shown[1:] if line.strip()] == ["Opening [bold]measured.session…"]
        assert len(list(app.screen.query("*"))) == 2  # each further widget is styled before the first frame
        await pilot.press("3")
        assert isinstance(app.screen, OpeningScreen)
        app.go_on()
        while app.current_mode != "sessions":
            await pilot.pause()


async def test_a_session_that_is_none_is_said_in_the_first_mode(tmp_path):
    app = WorkbenchApp(tmp_path / "gone.session", Settings(), warm_engine=False)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        while app.is_opening or not app._notifications:
            await pilot.pause()
        assert app.current_mode == "trajectory"
        assert "gone.session" in next(iter(app._notifications)).message


async def test_pressing_what_it_says_goes_through_it(start):
    async with start() as person:
        await person.sees("word_counter", "example.session")
        await person.app.action_tour()
        await person.sees("Tour 1 of 5 · Cases")
        before = person.app.screen.case_list.cursor
        await person.press("j")
        assert person.app.screen.case_list.cursor > before
        await person.press("k")
        assert person.app.screen.case_list.cursor == before
        await person.press("enter")
        await person.until(lambda: type(person.app.screen).__name__ == "RunDialog")
        await person.press("escape")  # the dialog's, not the tour's
        await person.sees("Tour 2 of 5 · Run")
        await person.press("U")
        await person.until(lambda: type(person.app.screen).__name__ == "RunsScreen")
        await person.app.screen.dismiss()
        await person.press("2")
        await person.sees("Tour 3 of 5 · Trajectory")
        screen = person.app.screen
        await person.until(lambda: screen.state is not None and screen.step_list.steps)
        trial = screen.state.trial.id
        await person.press("H")
        await person.until(lambda: screen.state.trial.id != trial)
        await person.press("H")
        await person.until(lambda: len(screen.step_list.steps) > 1)
        at = screen.step_list.cursor
        await person.press("h" if at > 1 else "l")
        await person.until(lambda: screen.step_list.cursor != at)
        await person.press("s")
        await person.sees("Tour 4 of 5 · Scores")
        assert screen.current_pane.id == "score"
        await person.press("j", "e")
        await person.press("4")
        await person.sees("Tour 5 of 5 · Regeneration and search")
        await person.press("ctrl+f")
        await person.until(lambda: person.app.tour.at is None)
        await person.until(lambda: type(person.app.screen).__name__ == "SearchScreen")


@pytest.mark.parametrize("step", [2])
async def test_escape_leaves_it_at_any_step(start, step):
    async with start(size=(60, 20)) as person:
        await person.sees("word_counter")
        person.app.tour.begin()
        for _ in range(step):
            person.app.tour.go_on()
        await person.sees(f"Tour {step + 1} of 5")
        await person.press("escape")
        await person.until(lambda: "Tour" not in person.screen_text)
        assert person.app.tour.at is None


async def test_it_is_in_the_palette_and_in_no_other_persons_way(start):
    async with start() as person:
        await person.sees("word_counter")
        assert person.app.tour.at is None
        assert not tour_file().exists()
        await person.press("ctrl+p")
        await person.type("tour")
        await person.sees("Tour of the app")
        await person.press("enter")
        await person.sees("Tour 1 of 5")
        assert tour_file().exists()


def test_only_a_person_who_opens_the_app_for_the_first_time_meets_it(monkeypatch, tmp_path):
    begun = []
    monkeypatch.setattr(whole_app.WorkbenchApp, "run", lambda app: begun.append(app.starts_tour))
    whole_app.run_app(None, Settings())
    whole_app.run_app(tmp_path / "some.session", Settings())
    tour_file().parent.mkdir(parents=True, exist_ok=True)
    tour_file().touch()
    whole_app.run_app(None, Settings())
    assert begun == [True, False, False]


@pytest.fixture
def session(tmp_path):
    made = recorded.Recorder(tmp_path / "demo.session")
    made.run()
    recorded.word_counter(made, "t1")
    made.close()
    return made.path


async def test_modes_tabs_keys_and_rubrics_take_a_click(session):
    async with trajectory(session, size=(240, 40)) as (pilot, screen):
        app = pilot.app
        score = screen.score
        first = screen_text(app)
        assert "aeo-bench ▾" in first
        await pilot.click(score, offset=(5, 0))
        await sees(pilot, "strict ▾")
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
            await sees(pilot, "4 Regeneration")
            line = screen_text(app).splitlines()[-1]


async def test_every_button_of_a_dialog_can_be_reached(start):
    async with start(size=(60, 15)) as person:
        app = person.app
        for mode, key in (("cases", "enter"), ("regeneration", "ctrl+n")):
            await app.action_mode(mode)
            await person.until(lambda mode=mode: app.current_mode == mode)
            await walking.settled(person.pilot)
            await person.press(key)
            await person.until(lambda: app.screen.query(Button))
            await walking.settled(person.pilot)  # what it takes is longer than what stands there first
            for button in app.screen.query(Button):
                app.screen.set_focus(None)
                button.focus()
                await person.until(lambda button=button: app.screen.region.contains_region(button.region))
                assert str(button.label) in person.screen_text
            await person.press("escape")
            await person.until(lambda: not app.screen.query(Button))


async def test_without_unicode_and_colour_everything_is_ascii(session, monkeypatch):
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
