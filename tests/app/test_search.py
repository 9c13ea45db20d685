"""Search all: type, walk through the hits, narrow them down, open the very place of one; in one session and in all."""

import pytest
import recorded
import regenerated
from driving import on, screen_text, sees, trajectory, until
from textual.pilot import Pilot
from textual.widgets import Input

from workbench.app.location import Anchor, Location
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.search_screen import FacetList, SearchScreen, around
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.base import paths
from workbench.search.index import MatchedLine


@pytest.fixture
def session(tmp_path):
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
    screen = await on(pilot, SearchScreen)
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


async def test_it_says_what_can_be_searched_for_shows_hits_and_says_in_a_sentence_why_there_are_none(session):
    async with trajectory(session, (80, 24)) as (pilot, _):
        await pilot.press("ctrl+f")
        await sees(pilot, "phrases")
        screen = await search_for(pilot, "giraffes")
        assert titles(screen) == [("trial-2", "remark", 3), ("trial-3", "remark", 1)]
        shown = screen_text(pilot.app)
        assert "Hits 2" in shown
        assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(shown)
        for text, sentence in (
            ("score:much", "score: takes a number such as <60"),
            ("agnet:white", "did you mean 'agent'?"),
            ("zebra-that-is-not-there", "Nothing was found"),
            ("word " * 200_000, "at most 50 words"),
        ):
            screen = await search_for(pilot, text)
            await sees(pilot, sentence)
            assert titles(screen) == []
        await pilot.press("enter", "escape")
        await on(pilot, TrajectoryScreen)


async def test_enter_opens_the_step_of_a_hit_with_the_text_marked(session):
    async with trajectory(session) as (pilot, _):
        screen = await search_for(pilot, "def kind:file")
        assert [(item, number) for item, _, number in titles(screen)] == [(f"trial-{n}", 3) for n in (1, 2, 3)]
        await pilot.press("enter")
        await pilot.press("j", "enter")
        shown = await on(pilot, TrajectoryScreen)
        await until(pilot, lambda: shown.finder.found is not None and shown.step_number == 3, "the step")
        assert shown.state.trial.id == "trial-2"
        assert shown.finder.found is not None
        assert shown.finder.needle == "def"
        # The search is where it was left: the same text, the cursor on the same hit.
        await pilot.press("ctrl+f")
        again = await on(pilot, SearchScreen)
        await until(pilot, lambda: bool(again.hits.found.hits), "the hits")
        await settled(pilot, again)
        assert (again.query_one("#search-text", Input).value, again.hits.cursor) == ("def kind:file", 1)


async def test_a_hit_in_a_candidate_leads_to_its_sample(recorder):
    regenerated.word_counter(recorder)
    async with trajectory(recorder.path) as (pilot, _):
        screen = await search_for(pilot, "kind:candidate verdict:failed")
        hit = screen.hits.found.hits[-1]
        await pilot.press("enter", "G", "enter")
        shown = await on(pilot, RegenerationScreen)
        await until(
            pilot,
            lambda: shown.selected_task is not None and shown.selected_task.id == hit.item.task,
            "the task of the candidate",
        )
        assert shown.table.sample == hit.entry.number


async def test_facets_narrow_down_and_back(session):
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


async def test_all_sessions_are_searched_and_another_one_is_opened(session):
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
        await sees(pilot, "ctrl+f searches all sessions")
        await pilot.press("ctrl+f")
        await until(pilot, lambda: bool(titles(screen)), "the other session")
        await settled(pilot, screen)
        assert titles(screen) == [("elsewhere", "remark", 1)]
        await sees(pilot, "other ·", "broken.session")
        screen.action_results()
        await pilot.pause()
        await pilot.press("enter")
        await on(pilot, TrajectoryScreen)
        await until(
            pilot,
            lambda: pilot.app.screen.state is not None and pilot.app.screen.state.trial.id == "elsewhere",
            "the trial of the other session",
        )


async def test_what_an_engine_writes_is_found_a_moment_later(tmp_path):
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


@pytest.mark.parametrize("width", [1, 20, 300])
def test_a_long_line_is_cut_so_that_the_match_is_seen(width):
    line = MatchedLine("a" * 100 + "needle" + "b" * 100, 100, 106)
    parts = around(line, width)
    text = "".join(part for part, _ in parts)
    assert len(text) <= width
    if width >= 20:
        assert ("needle", "hit") in parts
    if width < 206:
        assert "…" in text


def test_a_hit_in_a_reason_leads_to_its_criterion(tmp_path):
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
