"""Search all: type, walk through the hits, narrow them down, open the very place of one; in one session and in all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import regenerated
from regenerated import Recorder
from textual.pilot import Pilot
from textual.widgets import Input
from trajectory_app import quiet, screen_text, trajectory, until

from workbench.app.location import Anchor, Location
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.search_screen import FacetList, SearchScreen, around
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base import paths
from workbench.search.index import MatchedLine


@pytest.fixture
def session(tmp_path: Path) -> Path:
    recorder = recorded.Recorder(tmp_path / "demo.session")
    recorder.run()
    for repeat in (1, 2, 3):
        recorded.word_counter(recorder, f"trial-{repeat}", repeat=repeat)
    recorder.writer.annotate("trial-2", "a remark on giraffes", 3)
    recorder.writer.annotate("trial-3", "hostile \x1b[31m[bold]giraffes\u202e\u200b[/x] \x07", 1)
    recorder.close()
    return recorder.path


async def search_for(pilot: Pilot[int], text: str) -> SearchScreen:
    """Open the search, type a text and wait until it was searched for in the whole session."""
    if not isinstance(pilot.app.screen, SearchScreen):
        await pilot.press("ctrl+f")
    await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen), "the search")
    screen = pilot.app.screen
    assert isinstance(screen, SearchScreen)
    await until(pilot, lambda: screen._index is not None and screen._filling.idle, "the index")
    screen.query_one("#search-text", Input).value = text
    await settled(pilot, screen)
    return screen


async def settled(pilot: Pilot[int], screen: SearchScreen) -> None:
    def still() -> bool:
        known = len(screen.hits.lines) == len(screen.hits.found.hits)
        return (
            screen._asking.idle
            and screen._filling.idle
            and not screen._asking.due
            and not screen._filling.due
            and known
        )

    await pilot.pause()
    await until(pilot, still, "the hits")


def titles(screen: SearchScreen) -> list[tuple[str, str, int]]:
    return [(hit.item.id, hit.entry.kind, hit.entry.number) for hit in screen.hits.found.hits]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_it_says_what_can_be_asked_and_shows_lines_around_hits(session: Path, size: tuple[int, int]) -> None:
    async with trajectory(session, size) as (pilot, _):
        await pilot.press("ctrl+f")
        await until(pilot, lambda: "phrases" in screen_text(pilot.app), "what can be asked")
        screen = await search_for(pilot, "giraffes")
        assert titles(screen) == [("trial-2", "remark", 3), ("trial-3", "remark", 1)]
        shown = screen_text(pilot.app)
        assert "Hits 2" in shown
        assert "giraffes" in shown
        assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(shown)


async def test_enter_opens_the_step_of_a_hit_with_the_text_marked(session: Path) -> None:
    async with trajectory(session) as (pilot, _):
        screen = await search_for(pilot, "def kind:file")
        assert [(item, number) for item, _, number in titles(screen)] == [(f"trial-{n}", 3) for n in (1, 2, 3)]
        await pilot.press("enter")
        await pilot.press("j", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrajectoryScreen), "the trial")
        shown = pilot.app.screen
        assert isinstance(shown, TrajectoryScreen)
        await until(pilot, lambda: shown.finder.found is not None and shown.step_number == 3, "the step")
        assert shown.state is not None
        assert shown.state.trial.id == "trial-2"
        assert shown.finder.found is not None
        assert shown.finder.needle == "def"
        # The search is where it was left: the same text, the cursor on the same hit.
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen), "the search")
        again = pilot.app.screen
        assert isinstance(again, SearchScreen)
        await until(pilot, lambda: bool(again.hits.found.hits), "the hits")
        await settled(pilot, again)
        assert (again.query_one("#search-text", Input).value, again.hits.cursor) == ("def kind:file", 1)


async def test_a_hit_in_a_readme_leads_to_the_outcome(session: Path) -> None:
    word = recorded.README.split()[-1].strip("`.#")
    async with trajectory(session) as (pilot, _):
        await search_for(pilot, f'kind:readme "{word}"')
        await pilot.press("enter", "G", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrajectoryScreen), "the trial")
        shown = pilot.app.screen
        assert isinstance(shown, TrajectoryScreen)
        await until(pilot, lambda: shown.finder.found is not None and shown.finder.at >= 0, "the place")
        assert shown.state is not None
        assert shown.state.trial.id == "trial-3"
        found = shown.finder.found
        assert found is not None
        assert found[shown.finder.at].step == 0


async def test_a_hit_in_a_candidate_leads_to_its_sample(recorder: Recorder) -> None:
    regenerated.word_counter(recorder)
    async with trajectory(recorder.path) as (pilot, _):
        screen = await search_for(pilot, "kind:candidate verdict:failed")
        hit = screen.hits.found.hits[-1]
        await pilot.press("enter", "G", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, RegenerationScreen), "the run")
        shown = pilot.app.screen
        assert isinstance(shown, RegenerationScreen)
        await until(
            pilot,
            lambda: shown.selected_task is not None and shown.selected_task.id == hit.item.task,
            "the task of the candidate",
        )
        assert shown.table.sample == hit.entry.number


async def test_facets_narrow_down_and_back(session: Path) -> None:
    async with trajectory(session, (200, 60)) as (pilot, _):
        screen = await search_for(pilot, "the")
        before = screen.hits.found.total
        facets = screen.query_one(FacetList)
        kind, count = screen.hits.found.counts["kind"][0]
        assert f"{kind}" in screen_text(pilot.app)
        screen.focus_pane(screen.query_one("#facets-pane"))
        await until(pilot, lambda: facets.has_focus, "the facets")
        assert facets.selected == ("kind", kind)
        await pilot.press("enter")
        await until(pilot, lambda: screen.hits.found.total == count, "one kind alone")
        await settled(pilot, screen)
        assert screen.query_one("#search-text", Input).value == f"the kind:={kind}"
        await pilot.press("enter")
        await until(pilot, lambda: screen.hits.found.total == before, "all kinds again")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("score:much", "score: takes a number such as <60"),
        ("agnet:white", "did you mean agent:"),
        ("zebra-that-is-not-there", "Nothing was found"),
    ],
)
async def test_what_cannot_be_found_is_one_sentence(session: Path, text: str, sentence: str) -> None:
    async with trajectory(session) as (pilot, _):
        screen = await search_for(pilot, text)
        await until(pilot, lambda: sentence in screen_text(pilot.app), "the sentence")
        assert titles(screen) == []
        await pilot.press("enter", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrajectoryScreen), "where it was begun")


async def test_all_sessions_are_searched_and_another_one_is_opened(session: Path) -> None:
    paths.sessions_dir().mkdir(parents=True)
    other = recorded.Recorder(paths.sessions_dir() / "other.session")
    other.run()
    recorded.word_counter(other, "elsewhere")
    other.writer.annotate("elsewhere", "an okapi", 1)
    other.close()
    (paths.sessions_dir() / "broken.session").write_bytes(b"no session\n" * 900)
    async with trajectory(session) as (pilot, _):
        screen = await search_for(pilot, "okapi")
        assert titles(screen) == []
        assert screen.query_one("#search-text", Input).has_focus
        await until(pilot, lambda: "ctrl+f searches all sessions" in screen_text(pilot.app), "what else can be done")
        await pilot.press("ctrl+f")
        await until(pilot, lambda: bool(titles(screen)), "the other session")
        await settled(pilot, screen)
        assert titles(screen) == [("elsewhere", "remark", 1)]
        assert "other ·" in screen_text(pilot.app)
        assert "unreadable, so not searched: broken.session" in screen_text(pilot.app)
        screen.action_results()
        await pilot.pause()
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                isinstance(pilot.app.screen, TrajectoryScreen)
                and pilot.app.screen.state is not None
                and pilot.app.screen.state.trial.id == "elsewhere"
            ),
            "the trial of the other session",
        )


async def test_what_an_engine_writes_is_found_a_moment_later(tmp_path: Path) -> None:
    recorder = recorded.Recorder(tmp_path / "live.session")
    recorder.run(state="running")
    recorder.trial("t", state="running")
    async with trajectory(recorder.path) as (pilot, _):
        screen = await search_for(pilot, "okapi")
        assert titles(screen) == []
        recorder.tool(
            "t", 1, "read_file", "okapi.txt", "an okapi", thought="I read.", messages=[], tokens=1, seconds=0.1
        )
        await until(pilot, lambda: ("t", "file", 1) in titles(screen), "the new step")
    recorder.close()


async def test_pasting_a_megabyte_asks_and_breaks_nothing(session: Path) -> None:
    async with trajectory(session) as (pilot, _):
        await search_for(pilot, "word " * 200_000)
        await until(pilot, lambda: "at most 50 words" in screen_text(pilot.app), "the sentence")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrajectoryScreen), "where it was begun")


@pytest.mark.parametrize("width", [1, 5, 20, 60, 300])
def test_a_long_line_is_cut_so_that_the_match_is_seen(width: int) -> None:
    line = MatchedLine("a" * 100 + "needle" + "b" * 100, 100, 106)
    parts = around(line, width)
    text = "".join(part for part, _ in parts)
    assert len(text) <= width
    if width >= 20:
        assert ("needle", "hit") in parts
    if width < 206:
        assert "…" in text


async def test_the_place_is_kept_when_the_session_is_opened_once_more(session: Path) -> None:
    """A mode that was never shown is told of the open session after it was told of the place."""
    async with trajectory(session) as (pilot, screen):
        screen.show_trial("trial-2", Anchor(3, "def"))
        await until(pilot, lambda: screen.finder.found is not None, "the place")
        screen.on_session_opened(pilot.app.reader)
        await until(pilot, lambda: quiet(screen) and screen.finder.found is not None, "the place again")
        assert screen.step_number == 3


def test_a_hit_in_a_reason_leads_to_its_criterion(tmp_path: Path) -> None:
    from workbench.app.search_screen import location_of
    from workbench.search.entries import IndexedItem, IndexEntry
    from workbench.search.index import SearchHit
    from workbench.search.query import parse

    part = "criterion:strict:2.usage"
    hit = SearchHit(
        tmp_path,
        IndexEntry("t1", "reason", 0, text="Usage (strict): no", criterion=part),
        IndexedItem("t1", "trial", "r", "t"),
    )
    assert location_of(None, hit, parse("no")) == Location(tmp_path, "trajectory", "t1", Anchor(item=part))
