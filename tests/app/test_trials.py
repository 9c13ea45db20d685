"""The table of all trials: find the best and the worst, group, filter, open; with one trial and with thousands."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from app.many_trials import many_trials
from app.recorded import Recorder, card, word_counter
from app.regenerated import Recorder as Regeneration
from app.regenerated import word_counter as tested
from app.trajectory_app import screen_text, table_of_trials, trajectory, until

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.toolkit.filters import FilterDialog
from workbench.app.toolkit.table import Arrangement
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.app.trials.screen import TrialsScreen
from workbench.app.trials.table import COLUMNS, EVERYTHING, TrialTable, questions_about, spread_text
from workbench.base import settings
from workbench.base.text import shortened
from workbench.results.spread import Total, spread_of
from workbench.results.trials import (
    Scale,
    load_trials,
    matrix_of,
    share_of,
    with_losses,
)
from workbench.session import SessionReader


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "many.session"
    many_trials(path, 120)
    return path


@pytest.fixture
def lines(session: Path):
    with SessionReader(session) as reader:
        return load_trials(reader).lines


# -- without a screen


def test_every_trial_is_a_line_with_its_state_and_points(session: Path) -> None:
    with SessionReader(session) as reader:
        trials = load_trials(reader)
        strict = load_trials(reader, Scale("strict", "offline-4"))
        rows = {row.id: row for row in reader.trials()}
        totals = {(row.trial_id, row.rubric): row.total for row in reader.scores()}
    assert [line.id for line in trials.lines] == list(rows)
    assert trials.scales == (Scale("aeo-bench", "offline-4"), Scale("strict", "offline-4"))
    for line, other in zip(trials.lines, strict.lines, strict=True):
        assert line.state == rows[line.id].state
        assert line.points == totals.get((line.id, "aeo-bench"))
        assert other.points == totals.get((line.id, "strict"))
    assert f"{sum(line.state == 'failed' for line in trials.lines)} ✗ failed" in trials.sentence()


def test_trials_of_an_engine_that_is_gone_and_of_a_judge_that_failed_are_shown_as_such(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "states.session")
    recorder.run(state="running")
    word_counter(recorder, "scored")
    word_counter(recorder, "unscored", repeat=2, accuracy=None)
    recorder.writer.update("scorecards", {"trial_id": "unscored"}, {"problem": "the judge timed out"})
    recorder.trial("stopped", repeat=3, state="running")
    recorder.close()
    with SessionReader(tmp_path / "states.session") as reader:
        states = {line.id: line.state for line in load_trials(reader).lines}
    assert states == {"scored": "done", "unscored": "unscored", "stopped": "interrupted"}


@pytest.mark.parametrize("column", [one for one in COLUMNS if one.sort], ids=lambda column: column.title)
@pytest.mark.parametrize("reverse", [False, True])
def test_orders_lose_no_trial_and_put_what_has_no_value_last(lines, column, reverse: bool) -> None:
    table = TrialTable()
    table.arrangement = Arrangement(column.title, reverse)
    table.rows = tuple(lines)
    table.arrange_rows()
    assert sorted(line.id for line in table.shown) == sorted(line.id for line in lines)
    key = table.sort_key(column, table.shown)
    values = [key(line) for line in table.shown]
    known = [value for value in values if value is not None]
    assert values[len(known) :] == [None] * (len(values) - len(known))
    assert known == sorted(known, reverse=column.descending != reverse)


@pytest.mark.parametrize("by", ["agent", "model", "case", "run"])
def test_groups_have_the_mean_and_the_spread_of_their_scores_the_best_first(lines, by: str) -> None:
    table = TrialTable()
    table.arrangement = Arrangement(grouping=by)
    table.rows = tuple(lines)
    table.arrange_rows()
    groups = table.groups()
    assert sorted(line.id for group in groups for line in group.rows) == sorted(line.id for line in lines)
    means = []
    for group in groups:
        spread = table.spread_of_group(group)
        points = [line.points for line in group.rows if line.points is not None]
        means.append(spread.mean)
        assert spread.mean == pytest.approx(statistics.fmean(points))
        assert spread.sd == pytest.approx(statistics.stdev(points))
        assert (spread.trials, spread.scored) == (len(group.rows), len(points))
    assert means == sorted(means, reverse=True)


def test_the_figures_of_a_group_stand_under_their_columns(lines) -> None:
    table = TrialTable()
    table.arrangement = Arrangement(grouping="agent")
    table.rows = tuple(lines)
    table.arrange_rows()
    heading, group = ("".join(text for text, _ in table.parts_of(row, 200)) for row in (0, 1))
    end = heading.index("score") + len("score")
    assert group[:end].endswith(f" {table.spread_of_group(table.groups()[0]).mean:.1f}")


def test_the_matrix_has_a_cell_for_each_pair_that_was_tried(lines) -> None:
    some = [line for line in lines if (line.case, line.agent) != ("art", "white")]
    matrix = matrix_of(some)
    assert matrix.several_models
    assert not [column for case, column in matrix.cells if case == "art" and column[0] == "white"]
    assert sorted(line.id for cell in matrix.cells.values() for line in cell.lines) == sorted(line.id for line in some)
    one_model = [line for line in some if line.model == "openai/gpt-4o"]
    assert not matrix_of(one_model).several_models


async def test_five_agents_stand_beside_one_another_at_120_columns(lines, tmp_path: Path, home: Path) -> None:
    agents = [f"agent-{number}" for number in range(5)]
    five = [replace(line, agent=agents[at % 5], model="m", state="done") for at, line in enumerate(lines[:60])]
    async with trajectory(many_trials(tmp_path / "few.session", 4) or tmp_path / "few.session") as (pilot, _):
        screen = await table_of_trials(pilot)
        screen.matrix.put_trials(five)
        await pilot.pause()
        heading = next(line for line in screen_text(pilot.app).splitlines() if "agent-0" in line and "agent-1" in line)
        assert all(agent in heading for agent in agents)


def test_filters_offer_what_there_is_with_counts_and_let_only_that_through(lines) -> None:
    everything = replace(EVERYTHING, questions=questions_about(lines))
    for question in everything.questions:
        offered = question.offered(lines, "")
        assert sum(count for _, count in offered) == len(lines), question.key
        for option, count in offered:
            passing = everything.choosing(question.key, option.key).passing(lines)
            assert len(passing) == count > 0
            assert all(option.rule(lines[place]) for place in passing)
    named = replace(everything, name="DOTENV").choosing("agent", "white")
    assert {(lines[place].case, lines[place].agent) for place in named.passing(lines)} == {("python-dotenv", "white")}
    # What is no longer in the session is no longer asked for.
    others = questions_about([line for line in lines if line.agent != "white"])
    assert not replace(named, questions=others, name="").active


def test_which_trials_read_a_file(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "read.session")
    recorder.run()
    for key in ("reads", "lists"):
        recorder.trial(key, repeat=1 + (key == "lists"), state="done")
    recorder.seen("reads", "setup.cfg", "read", 1)
    recorder.seen("reads", "pyproject.toml", "read", 2)
    recorder.seen("lists", "pyproject.toml", "listed", 1)
    recorder.close()
    with SessionReader(tmp_path / "read.session") as reader:
        lines = load_trials(reader).lines
    assert [lines[place].id for place in replace(EVERYTHING, name="pyproject").passing(lines)] == ["reads"]


@pytest.mark.parametrize("width", [1, 2, 5, 12, 80])
def test_a_long_name_is_shortened_in_its_middle(width: int) -> None:
    name = "replay:/home/somebody/recorded.session"
    short = shortened(name, width)
    assert len(short) == min(width, len(name))
    before, _, after = short.partition("…")
    assert name.startswith(before)
    assert name.endswith(after)


# -- on the screen


async def test_the_best_is_two_keys_away_and_enter_opens_it(session: Path, home: Path, lines) -> None:
    best = max((line for line in lines if line.points is not None), key=lambda line: line.points or 0)
    worst = min((line for line in lines if line.points is not None), key=lambda line: line.points or 0)
    async with trajectory(session) as (pilot, behind):
        table = await table_of_trials(pilot)
        assert table.table.selected is not None
        assert behind.state is not None
        assert table.table.selected.id == behind.state.trial.id
        await pilot.press("o")
        assert table.table.selected.id == best.id
        assert f"{best.points:.1f}" in screen_text(pilot.app)
        await pilot.press("O")
        assert table.table.selected.id == worst.id
        assert "sorted by score, ascending" in screen_text(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: behind.state and behind.state.trial.id == worst.id, "the worst trial")
        assert pilot.app.screen is behind


async def test_groups_begin_folded_and_open_one_by_one(session: Path, home: Path) -> None:
    async with trajectory(session) as (pilot, _):
        screen = await table_of_trials(pilot)
        await pilot.press("o", "b")
        shown = screen_text(pilot.app)
        assert shown.index("▸ white") < shown.index("▸ planner") < shown.index("▸ no-exploration")
        assert "mean" in shown
        assert screen.table.row_count() == 5
        await pilot.press("enter", "down")
        assert screen.table.selected is not None
        assert screen.table.selected.agent == "white"
        await pilot.press("minus")
        assert screen.table.row_count() == 5
        await pilot.press("space", "space")
        assert screen.table.row_count() == 5
        await pilot.press("b", "b", "b", "b")
        assert screen.table.row_count() == 121


async def test_a_filter_is_tried_while_it_is_chosen_and_escape_takes_it_back(session: Path, home: Path) -> None:
    async with trajectory(session) as (pilot, _):
        screen = await table_of_trials(pilot)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(pilot.app.screen, FilterDialog), "the dialog")
        await pilot.press("right")
        await until(pilot, lambda: len(screen.table.shown) < 120, "the filter")
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.table.shown) == 120, "all trials")
        await pilot.press("f")
        await until(pilot, lambda: isinstance(pilot.app.screen, FilterDialog), "the dialog")
        await pilot.press("right", "enter")
        await until(pilot, lambda: pilot.app.screen is screen, "the table")
        assert len({line.state for line in screen.table.shown}) == 1
        await pilot.press("F")
        assert len(screen.table.shown) == 120


async def test_a_cell_of_the_matrix_shows_its_trials_alone(session: Path, home: Path) -> None:
    async with trajectory(session, (200, 60)) as (pilot, _):
        screen = await table_of_trials(pilot)
        await pilot.press("tab", "down", "right")
        assert screen.matrix.chosen is not None
        case, (agent, model) = screen.matrix.chosen
        await pilot.press("enter")
        shown = {(line.case, line.agent, line.model) for line in screen.table.shown}
        assert shown == {(case, agent, model)}


async def test_a_click_on_a_heading_sorts_and_a_second_one_turns_it_round(session: Path, home: Path) -> None:
    async with trajectory(session) as (pilot, _):
        screen = await table_of_trials(pilot)
        heading = next(line for line in screen_text(pilot.app).splitlines() if " score " in line)
        offset = (heading.index("score") - screen.table.region.x + 2, 0)
        await pilot.click("#trial-table", offset=offset)
        await until(pilot, lambda: screen.table.arrangement.order == "score", "the order")
        first = screen.table.shown[0]
        await pilot.click("#trial-table", offset=offset)
        await until(pilot, lambda: screen.table.arrangement.reverse, "the other way round")
        assert screen.table.shown[0] != first


async def test_one_trial_has_no_table_and_nothing_breaks(tmp_path: Path, home: Path) -> None:
    many_trials(tmp_path / "one.session", 1)
    async with trajectory(tmp_path / "one.session") as (pilot, behind):
        await pilot.press("T")
        await pilot.pause()
        assert pilot.app.screen is behind


@pytest.fixture(scope="module")
def five_thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("five-thousand") / "huge.session"
    many_trials(path, 5000)
    return path


@pytest.mark.xdist_group("five-thousand")
@pytest.mark.parametrize("size", [(80, 24), (60, 15), (120, 40), (250, 80)])
async def test_five_thousand_trials_from_end_to_end_at_every_size(
    five_thousand: Path, home: Path, size: tuple[int, int]
) -> None:
    async with trajectory(five_thousand, size) as (pilot, _):
        screen = await table_of_trials(pilot)
        assert "5,000" in screen_text(pilot.app)
        await pilot.press("G")
        assert screen.table.cursor == 5000
        await pilot.press("g")
        assert screen.table.cursor == 1
        await pilot.press("o", "b", "enter", "G", "g", "F", "s", "escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, TrialsScreen), "the trial")


async def test_a_trial_that_is_recorded_while_one_looks_appears(session: Path, home: Path) -> None:
    from workbench.session import SessionWriter

    async with trajectory(session) as (pilot, _):
        screen = await table_of_trials(pilot)
        with SessionWriter(session) as writer:
            writer.add_trial("new", "run-1", 999, ("art", "art"), "white", "[/x]\x1b[31m", 99)
        await until(pilot, lambda: len(screen.table.trials.lines) == 121, "the new trial")
        await pilot.press("G")
        assert "[/x]" in screen_text(pilot.app)


# -- where points were lost


@pytest.fixture
def judged(tmp_path: Path) -> Recorder:
    recorder = Recorder(tmp_path / "judged.session")
    recorder.run()
    for repeat, accuracy in enumerate((10.0, 3.0, None), 1):
        word_counter(recorder, f"trial-{repeat}", repeat=repeat, accuracy=accuracy)
    return recorder


def test_what_the_criteria_lost_is_read_once_for_each_scorecard(judged: Recorder) -> None:
    known: dict[str, object] = {}
    with SessionReader(judged.path) as reader:
        trials = with_losses(reader, load_trials(reader), known)
        cards = {score.trial_id: reader.card(score) for score in reader.scores() if score.rubric == "aeo-bench"}
        read = len(known)
        again = with_losses(reader, trials, known)
    assert again == trials
    assert len(known) == read
    for line in trials.lines:
        expected = {
            one["title"]: one["maximum"] - one["points"]
            for one in cards[line.id]["criteria"]
            if one["points"] is not None and one["points"] < one["maximum"]
        }
        assert dict(line.lost) == pytest.approx(expected)


def test_trials_can_be_asked_for_that_lost_by_a_criterion(judged: Recorder) -> None:
    with SessionReader(judged.path) as reader:
        lines = with_losses(reader, load_trials(reader), {}).lines
    everything = replace(EVERYTHING, questions=questions_about(lines))
    question = next(question for question in everything.questions if question.key == "lost")
    for option, count in question.offered(lines, ""):
        passing = everything.choosing("lost", option.key).passing(lines)
        assert len(passing) == count == sum(option.key in dict(line.lost) for line in lines)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_criterion_that_costs_most_stands_first_and_enter_shows_its_trials(
    judged: Recorder, size: tuple[int, int]
) -> None:
    async with trajectory(judged.path, size) as (pilot, _):
        screen = await table_of_trials(pilot)
        await until(pilot, lambda: bool(screen.losses.rows), "the losses")
        dearest = screen.losses.rows[0]
        screen.focus_pane(screen.query_one("#losses-pane"))
        await until(pilot, lambda: screen.losses.has_focus, "the list")
        assert dearest.title in screen_text(pilot.app)
        assert screen.losses.selected == dearest
        await pilot.press("enter")
        await until(pilot, lambda: screen.table.filter.active, "the filter")
        assert len(screen.table.shown) == dearest.trials
        assert all(dearest.title in dict(line.lost) for line in screen.table.shown)


async def test_a_score_that_comes_later_is_shown(judged: Recorder) -> None:
    async with trajectory(judged.path) as (pilot, _):
        screen = await table_of_trials(pilot)
        before = screen.table.trials
        judged.score("trial-1", card(judge="another judge", accuracy=1.0))
        await until(pilot, lambda: len(screen.table.trials.scales) > len(before.scales), "the new judge")


# -- where a session opens


async def opened_from_the_command_line(path: Path, size: tuple[int, int] = (120, 40)) -> type:
    """Open a session as ``workbench open`` does; return the screen that stands there then."""
    app = WorkbenchApp(path, settings.load(), warm_engine=False)
    app.opens_default_view = True
    async with app.run_test(size=size) as pilot:
        while app.is_opening:
            await pilot.pause()
        await until(pilot, lambda: app.reader is not None and app.opening_session.idle, "the session")
        await until(pilot, lambda: app.selected_trial is not None or app.selected_run is not None, "what matters")
        await pilot.pause()
        found = type(app.screen)
        if found is TrialsScreen:
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, TrajectoryScreen), "the trial behind the table")
        return found


async def test_a_session_of_many_trials_opens_in_the_table_and_one_of_one_trial_in_it(
    session: Path, tmp_path: Path
) -> None:
    recorder = Recorder(tmp_path / "one.session")
    recorder.run()
    word_counter(recorder, "alone")
    recorder.close()
    assert await opened_from_the_command_line(session) is TrialsScreen
    assert await opened_from_the_command_line(recorder.path) is TrajectoryScreen
    regeneration = Regeneration(tmp_path / "regeneration.session")
    tested(regeneration)
    regeneration.close()
    assert await opened_from_the_command_line(regeneration.path) is RegenerationScreen


def test_a_mean_says_how_far_its_trials_lie_apart_and_what_it_is_out_of() -> None:
    rules, every = (1, 2), (1, 2, 3, 4)
    full = spread_of([Total(80.0, 100.0, every), Total(60.0, 100.0, every)], trials=3)
    assert spread_text(full) == "mean 70.0 ± 14.1 · 60.0 to 80.0 (without 1 unscored)"
    unscored = spread_of([Total(40.0, 40.0, rules)], trials=1)
    assert spread_text(unscored) == "mean 40.0/40"
    mixed = spread_of([Total(40.0, 40.0, rules), Total(50.0, 100.0, every)], trials=2)
    assert spread_text(mixed) == "mean 50.0 (without 1 partly scored)"
    assert share_of(unscored) < share_of(spread_of([Total(1.0, 100.0, every)], trials=1)) < share_of(full)


def test_points_that_a_format_gave_stand_behind_the_models_own() -> None:
    held = Total(69.4, 100.0, (1, 2, 3, 4), given=57.9)
    free = Total(30.0, 100.0, (1, 2, 3, 4))
    assert spread_text(spread_of([held], trials=1)) == "own points 11.5 of 42.1 · mean 69.4"
    assert spread_text(spread_of([held, free], trials=2)).endswith("· 1 with points from a format")
    assert (held.share or 0) < (free.share or 0)
    assert Total(69.4, 100.0, (1, 2, 3, 4), given=6.0).own is None


def test_points_of_fewer_than_100_say_so_in_the_table(tmp_path: Path) -> None:
    many_trials(tmp_path / "many.session", 8)
    with SessionReader(tmp_path / "many.session") as reader:
        line = next(line for line in load_trials(reader).lines if line.points is not None)
    table = TrialTable()
    shown = "".join(part for part, _ in table.columns.cells(replace(line, total=Total(40.0, 40.0, (1, 2))), 120))
    assert " 40/40 " in shown
    assert " 40.0 " not in shown


def test_all_trials_that_read_a_file_are_an_answer_of_the_filter(lines) -> None:
    told = [
        replace(line, read="pyproject.toml\na.py" if at % 3 == 0 else "my-pyproject.toml")
        for at, line in enumerate(lines)
    ]
    asked = replace(EVERYTHING, questions=questions_about(told))
    question = next(one for one in asked.questions if one.key == "read")
    assert {option.key: count for option, count in question.offered(told, "")} == {
        "pyproject.toml": len(told[::3]),
        "a.py": len(told[::3]),
        "my-pyproject.toml": len(told) - len(told[::3]),
    }
    chosen = asked.choosing("read", "pyproject.toml")
    assert chosen.passing(told) == list(range(0, len(told), 3))
    assert chosen.sentence() == "read pyproject.toml"
    assert not any(one.key == "read" for one in questions_about([replace(line, read="") for line in lines]))


def test_the_repeat_is_among_the_last_columns_to_go(lines) -> None:
    table = TrialTable()
    table.rows = tuple(lines)
    table.arrange_rows()
    assert [column.title for column, _, _ in table.columns.layout(76) if not column.text][:2] == ["rep", "score"]


@pytest.mark.parametrize("width", [30, 44, 56, 76, 118])
def test_the_score_is_in_sight_at_any_width(lines, width: int) -> None:
    table = TrialTable()
    told = [replace(line, labels=("a-tag", "another")) for line in lines]
    table.rows = tuple(told)
    table.arrange_rows()
    titles = [column.title for column, _, _ in table.columns.layout(width - 2)]
    assert "score" in titles
    assert titles[0] == "case"
    if width >= 40:
        assert len("".join(text for text, _ in table.parts_of(1, width))) <= width
