"""``/`` in every list and text: a list follows each letter with a count, escape gives all back; in a text n and N go on."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

sys.path.insert(0, str(Path(__file__).parent))

from app.compared import two_trials
from app.regeneration_app import press, regeneration
from app.test_compare import pair_of
from app.test_side_by_side import shown, two_evaluators
from app.test_study import study_of
from studies.declared_studies import put_agents, put_matrix
from trajectory_app import screen_text, table_of_trials, trajectory, until

import workbench.app
from workbench.app.cases.panes import FileView, RepositoryTree
from workbench.app.cases.screen import CasesScreen
from workbench.app.compare_screen import SideBySide
from workbench.app.help import HelpScreen, KeyList
from workbench.app.labels_screen import LabelsScreen
from workbench.app.location import Marked, MarkedPair
from workbench.app.regeneration.findings_screen import FindingList
from workbench.app.runs_screen import RunsScreen
from workbench.app.search_screen import FacetList, SearchScreen
from workbench.app.sessions.screen import SessionsScreen
from workbench.app.study.comparison_lists import LineList
from workbench.app.study.detail import TemplateList
from workbench.app.toolkit.cell_table import CellTable
from workbench.app.toolkit.fields import Field, PickList, PickOption
from workbench.app.toolkit.row_list import HeadedList, RowList
from workbench.app.toolkit.run_screen import RunScreen
from workbench.app.toolkit.table import VirtualTable
from workbench.app.toolkit.typed_line import LineInput, NarrowLine
from workbench.app.trials.table import SpreadPlot
from workbench.comparison.groups import GROUPS
from workbench.comparison.tasks import CANDIDATES, TASKS
from workbench.comparison.texts import Texts
from workbench.comparison.trial_sets import TRIAL_SETS
from workbench.session import SessionWriter, create

ABSTRACT = {HeadedList, VirtualTable, CellTable, LineList}
SEARCHED_BY_THEIR_SCREEN = {
    "CheckList",
    "TaskResultTable",
    "BuildingList",
    "HitList",
    "GroundingList",
    "RepositoryPane",
    "ScorePane",
    "StepList",
}
NEVER_FOCUSED = {"Head"}


def kinds(of: type[RowList] = RowList) -> Iterator[type[RowList]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def import_all() -> None:
    import importlib
    import pkgutil

    for module in pkgutil.walk_packages(workbench.app.__path__, "workbench.app."):
        importlib.import_module(module.name)


async def narrowed(pilot: Pilot[int], one: RowList) -> None:
    """Type a word of the list's last row, letter by letter, see that only rows with it are left, and give all back."""
    one.focus()
    pilot.app.clear_notifications()  # they cover the count
    await until(pilot, lambda: one.has_focus, "the focus")
    _, total = one.narrow_counts()
    assert total, f"{type(one).__name__} is empty: it proves nothing"
    rows = [at for at in range(one.row_count()) if one.selectable(at)]
    word = next(filter(None, (max(_words(one, at), key=len, default="")[:4] for at in reversed(rows))), "")
    assert word, type(one).__name__
    place = one.cursor
    await pilot.press("slash", *word)
    await until(pilot, lambda: one.narrowed == word, f"/{word} in {type(one).__name__}")
    shown, of = one.narrow_counts()
    assert 1 <= shown <= of
    assert f"{shown:,} of {of:,}" in screen_text(pilot.app)
    rows = [one.shown_row(line) for line in range(one.lines_shown())]
    assert all(word.casefold() in one.words_of(row).casefold() for row in rows if one.selectable(row))
    await pilot.press("enter")
    await until(pilot, lambda: one.has_focus, "the list")
    assert one.shown_row(one.line_of(one.cursor)) == one.cursor  # it stands on a row that is shown
    await pilot.press("slash", *"qzx")
    await until(pilot, lambda: one.narrow_counts()[0] == 0, "nothing left")
    await pilot.press("escape")
    await until(pilot, lambda: not one.narrowed and one.has_focus, "all rows")
    assert one.narrow_counts()[0] == one.narrow_counts()[1]
    assert not isinstance(one, RepositoryTree) or one.narrow_counts()[1] == total
    assert one.cursor >= 0 or place < 0


def _words(one: RowList, at: int) -> list[str]:
    return re.findall(r"[a-z0-9]{2,}", one.words_of(at).lower())


def test_every_list_of_the_app_is_in_the_walk() -> None:
    import_all()
    walked = {"CaseList", "CostsTable", "RepositoryTree", "Outline", "SessionTable", "TrialTable", "MatrixView", "LossList", "RunTable",
              "LabelList", "DifferenceList", "FacetList", "SpreadPlot", "FindingList", "StudyMatrix", "CellItems",
              "ComparisonList", "RankingList", "LeaderList", "StudyList", "TemplateList", "PickRows", "KeyList"}  # fmt: skip
    found = {kind.__name__ for kind in kinds() if kind not in ABSTRACT and kind.__module__.startswith("workbench")}
    assert found - SEARCHED_BY_THEIR_SCREEN - NEVER_FOCUSED == walked
    assert RunScreen.searches


async def test_in_the_tables_of_a_session(tmp_path: Path) -> None:
    session = two_trials(tmp_path / "demo.session")
    with SessionWriter(session) as writer:
        writer.set_labels("long", "", add=("good",))
        writer.annotate("short", "why so short?")
    async with trajectory(session) as (pilot, _):
        app = pilot.app
        screen = await table_of_trials(pilot)
        await until(pilot, lambda: screen.losses.row_count() > 1, "what was lost")
        for one in (screen.table, screen.matrix, screen.losses):
            await narrowed(pilot, one)
        screen.table.focus()
        await pilot.press("p")
        plot = screen.query_one(SpreadPlot)
        await until(pilot, lambda: plot.row_count() > 1 and plot.has_focus, "the plot of scores")
        await narrowed(pilot, plot)
        await pilot.press("p", "escape")
        app.push_screen(SideBySide(pair_of(session, "long", "short")))
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "side by side")
        compare = app.screen
        assert isinstance(compare, SideBySide)
        await until(pilot, lambda: compare.lists and all(one.pane for one in compare.lists), "both trials")
        for one in compare.lists:
            await narrowed(pilot, one)
        await pilot.press("escape", "U")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.table.row_count() > 1, "the runs")
        await narrowed(pilot, app.screen.table)  # type: ignore[attr-defined]
        await pilot.press("escape", "number_sign")
        await until(
            pilot, lambda: isinstance(app.screen, LabelsScreen) and app.screen.table.row_count() > 1, "the marks"
        )
        await narrowed(pilot, app.screen.table)  # type: ignore[attr-defined]
        await pilot.press("escape", "ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen._filling.idle, "the search")
        app.screen.query_one("#search-text", Input).value = "read"
        facets = app.screen.query_one(FacetList)
        await until(pilot, lambda: facets.row_count() > 2, "the facets")
        await narrowed(pilot, facets)


async def test_in_comparisons_and_in_what_went_wrong(tmp_path: Path) -> None:
    async with regeneration(two_evaluators(tmp_path / "two.session"), (120, 40)) as (pilot, mode):
        app = pilot.app
        await press(pilot, mode, "M", "v", "C")
        groups = await shown(pilot, GROUPS)
        for one in groups.lists:
            if one.row_count() > 1:
                await narrowed(pilot, one)
        groups.lists[0].focus()
        await pilot.press("enter")
        samples = await shown(pilot, CANDIDATES)
        met = {isinstance(one.pane, Texts) and one.pane.under for one in samples.lists if one.row_count() > 1}
        assert met == {True, False}
        for one in samples.lists:
            if one.row_count() > 1:
                await narrowed(pilot, one)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is mode, "the mode")
        await press(pilot, mode, "w")
        await until(pilot, lambda: app.screen.query(FindingList), "what went wrong")
        findings = app.screen.query_one(FindingList)
        await until(pilot, lambda: findings.row_count() > 1, "the groups")
        await narrowed(pilot, findings)


async def test_in_the_trials_of_two_runs(tmp_path: Path) -> None:
    session = two_trials(tmp_path / "demo.session")
    async with trajectory(session) as (pilot, _):
        run = Marked(session, "run", "run-1", of_trials=True)
        pilot.app.show_pair(MarkedPair(run, run))
        screen = await shown(pilot, TRIAL_SETS)
        points, trials = screen.lists
        await narrowed(pilot, points)
        await pilot.press("tab")
        await narrowed(pilot, trials)


async def test_in_two_tasks_side_by_side(tmp_path: Path) -> None:
    async with regeneration(two_evaluators(tmp_path / "two.session"), (120, 40)) as (pilot, mode):
        await press(pilot, mode, "g", "space", "j", "C")
        screen = await shown(pilot, TASKS)
        for one in screen.lists:
            if any(one.selectable(at) for at in range(one.row_count())):
                await narrowed(pilot, one)
        tables = [one.id for one in screen.lists if not isinstance(one.pane, Texts) and one.row_count()]
        assert tables == ["facts-list", "evaluators-list", "tests-list"]


async def test_in_studies(tmp_path: Path) -> None:
    put_matrix(tmp_path / "docs.session", 3, 2, 1, 3, 4, random.Random(5))
    async with study_of(tmp_path / "docs.session") as (pilot, screen):
        detail = screen.detail
        await narrowed(pilot, screen.matrix)
        await narrowed(pilot, detail.cell_items)
        screen.compare_columns("docs0 · model/0", "docs1 · model/0")
        for one, turns in ((detail.comparison, 0), (detail.rankings, 1), (detail.studies, 2)):
            await pilot.press(*["right_square_bracket"] * turns)
            await until(pilot, lambda one=one: any(map(one.selectable, range(one.row_count()))), type(one).__name__)
            await narrowed(pilot, one)
    create(tmp_path / "empty.session")
    async with study_of(tmp_path / "empty.session") as (pilot, screen):
        begin = screen.query_one(TemplateList)
        await until(pilot, lambda: begin.row_count() > 1, "the ways to begin")
        await narrowed(pilot, begin)
        field = Field(
            "agents", ("white",), offered=(PickOption("white", "explores"), PickOption("single-file", "reads one"))
        )
        picking = PickList(field, ("white",))
        pilot.app.push_screen(picking)
        await until(pilot, lambda: picking.rows.has_focus, "the list to choose from")
        await narrowed(pilot, picking.rows)
    put_agents(tmp_path / "agents.session", {("word_counter", "white"): [82.0], ("word_counter", "none"): [40.0]})
    async with study_of(tmp_path / "agents.session") as (pilot, screen):
        await pilot.press("left_square_bracket", "left_square_bracket")
        leaders = screen.detail.leaders
        await until(pilot, lambda: any(map(leaders.selectable, range(leaders.row_count()))), "the leaderboard")
        await narrowed(pilot, leaders)


async def test_in_cases_and_sessions_and_in_the_text_of_a_file(tmp_path: Path) -> None:
    from workbench.app.app import WorkbenchApp
    from workbench.base import settings

    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.is_opening:
            await pilot.pause()
        await until(pilot, lambda: isinstance(app.screen, CasesScreen) and app.screen._ready, "the mode")
        screen = app.screen
        assert isinstance(screen, CasesScreen)
        await until(pilot, lambda: screen.case_list.row_count() and screen.file_tree.row_count(), "the cases")
        screen.show_case("word_counter", "word_counter.py")
        await until(pilot, lambda: screen.outline.row_count() > 1, "a file and its outline")
        await narrowed(pilot, screen.outline)
        screen.file_tree.focus()
        await pilot.press("slash", *"test")
        await until(pilot, lambda: screen.file_tree.narrowed == "test", "files of closed folders")
        assert any(
            "/" in screen.file_tree.words_of(screen.file_tree.shown_row(line))
            for line in range(screen.file_tree.lines_shown())
        )
        await pilot.press("escape")
        await narrowed(pilot, screen.file_tree)
        await narrowed(pilot, screen.case_list)
        await pilot.press("3")
        await until(
            pilot, lambda: isinstance(app.screen, SessionsScreen) and app.screen.table.row_count(), "the sessions"
        )
        await until(pilot, lambda: app.screen._listing.idle, "all of them")  # type: ignore[attr-defined]
        await narrowed(pilot, app.screen.table)  # type: ignore[attr-defined]
        await pilot.press("1")
        await until(pilot, lambda: app.screen is screen, "the cases")
        screen.show_case("word_counter", "word_counter.py")
        text = screen.query_one(FileView)
        await until(pilot, lambda: text.document.numbered and len(text.document.lines) > 20, "the file")
        text.focus()
        await pilot.press("slash", *"def")
        await until(pilot, lambda: len(text.hits) > 2, "the hits")
        await pilot.press("enter")
        await until(pilot, lambda: text.has_focus and text.hit == 0, "the first hit")
        assert f"1 of {len(text.hits)}" in screen_text(app)
        await pilot.press("n", "n", "N")
        assert text.hit == 1
        await pilot.press("escape")
        assert not text.hits


async def test_help_shows_the_keys_that_hold_a_word(tmp_path: Path) -> None:
    async with trajectory(two_trials(tmp_path / "demo.session")) as (pilot, _):
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen), "the help")
        await pilot.press("slash", *"evidence")
        keys = pilot.app.screen.query_one(KeyList)
        await until(pilot, lambda: keys.narrowed == "evidence", "the keys with this word")
        assert "trajectory.evidence" in screen_text(pilot.app)
        assert "trajectory.cancel" not in screen_text(pilot.app)
        await pilot.press("escape")
        await until(pilot, lambda: not keys.narrowed and keys.has_focus, "all keys")
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen), "back")


async def test_a_megabyte_that_is_pasted_is_cut_and_that_is_said(tmp_path: Path) -> None:
    async with trajectory(two_trials(tmp_path / "demo.session")) as (pilot, _):
        screen = await table_of_trials(pilot)
        await pilot.press("slash")
        await until(pilot, lambda: screen.query(NarrowLine) and isinstance(screen.focused, LineInput), "the line")
        field = screen.focused
        assert isinstance(field, LineInput)
        field.post_message(events.Paste("\x1b[31m[bold]" + "x" * 1_000_000))
        await until(pilot, lambda: len(field.value) == field.max_length, "the beginning of it")
        assert screen.table.narrow_counts()[0] == 0
        await pilot.press("escape")
        await until(pilot, lambda: screen.table.narrow_counts()[0] == 2, "all trials")
