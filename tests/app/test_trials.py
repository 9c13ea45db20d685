"""The table of all trials: find the best and the worst, group, filter, open; with one trial and with thousands."""

import csv
import io
import statistics
from dataclasses import replace

import pytest
import regenerated
from driving import on, screen_text, table_of_trials, trajectory, until
from many_trials import many_trials
from recorded import Recorder, card, word_counter
from textual.widgets import Input

from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.screen import RegenerationScreen
from workbench.app.toolkit.export_dialog import ReportDialog
from workbench.app.toolkit.fields import CycleField
from workbench.app.toolkit.table import Arrangement
from workbench.app.trajectory.screen import TrajectoryScreen
from workbench.app.trials.screen import TrialsScreen
from workbench.app.trials.table import COLUMNS, EVERYTHING, TrialTable, questions_about, spread_text
from workbench.base import settings
from workbench.results.spread import Total, spread_of
from workbench.results.trials import Scale, load_trials, matrix_of, share_of, with_losses
from workbench.session import SessionReader, SessionWriter


@pytest.fixture
def session(tmp_path):
    path = tmp_path / "many.session"
    many_trials(path, 120)
    return path


@pytest.fixture
def lines(session):
    with SessionReader(session) as reader:
        return load_trials(reader).lines


# -- without a screen


def test_every_trial_is_a_line_with_its_state_and_points(session):
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


def test_trials_of_an_engine_that_is_gone_and_of_a_judge_that_failed_are_shown_as_such(tmp_path):
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


def test_the_columns_sort_by_what_they_show(lines):
    expected = {"score": lambda line: line.share, "T3": lambda line: line.tiers[2], "steps": lambda line: line.steps,
                "tokens": lambda line: line.tokens, "$": lambda line: line.cost}  # fmt: skip
    keys = {column.title: column.sort for column in COLUMNS}
    for title, value in expected.items():
        assert [keys[title](line) for line in lines] == [value(line) for line in lines], title


def test_groups_have_the_mean_and_the_spread_of_their_scores_the_best_first(lines):
    table = TrialTable()
    table.arrangement = Arrangement(grouping="agent")
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


def test_the_matrix_has_a_cell_for_each_pair_that_was_tried(lines):
    some = [line for line in lines if (line.case, line.agent) != ("art", "white")]
    matrix = matrix_of(some)
    assert matrix.several_models
    assert not [column for case, column in matrix.cells if case == "art" and column[0] == "white"]
    assert sorted(line.id for cell in matrix.cells.values() for line in cell.lines) == sorted(line.id for line in some)
    one_model = [line for line in some if line.model == "openai/gpt-4o"]
    assert not matrix_of(one_model).several_models


def test_filters_offer_what_there_is_with_counts_and_let_only_that_through(lines):
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


# -- on the screen


async def test_trials_are_sorted_grouped_narrowed_to_a_cell_and_opened(session, home, lines):
    scored = sorted((line for line in lines if line.points is not None), key=lambda line: line.points or 0)
    worst, best = scored[0], scored[-1]
    async with trajectory(session, (200, 60)) as (pilot, behind):
        screen = await table_of_trials(pilot)
        table = screen.table
        assert table.selected.id == behind.state.trial.id
        await pilot.press("o")
        assert table.selected.id == best.id
        assert f"{best.points:.1f}" in screen_text(pilot.app)
        await pilot.press("b")
        shown = screen_text(pilot.app)
        assert shown.index("▸ white") < shown.index("▸ planner") < shown.index("▸ no-exploration")
        assert table.row_count() == 5
        await pilot.press("enter", "down")
        assert table.selected.agent == "white"
        await pilot.press("minus")
        assert table.row_count() == 5
        await pilot.press("b", "b", "b", "b")
        assert table.row_count() == 121
        # A cell of the matrix shows its trials alone.
        await pilot.press("tab", "down", "right")
        case, (agent, model) = screen.matrix.chosen
        await pilot.press("enter")
        assert {(line.case, line.agent, line.model) for line in table.shown} == {(case, agent, model)}
        screen.table.focus()
        await pilot.press("F")
        assert len(table.shown) == 120
        table.set_cursor(50)
        chosen = table.selected
        assert screen.filter_trials(table.filter.choosing("agent", chosen.agent)) == 30
        assert table.selected.id == chosen.id  # the cursor stays on its row
        await pilot.press("F")
        assert table.selected.id == chosen.id
        with SessionWriter(session) as writer:
            writer.add_trial("new", "run-1", 999, ("art", "art"), "white", "[/x]\x1b[31m", 99)
        await until(pilot, lambda: len(table.trials.lines) == 121, "a trial that is recorded meanwhile")
        await pilot.press("G")
        assert "[/x]" in screen_text(pilot.app)
        await pilot.press("O", "g")
        assert table.selected.id == worst.id
        await pilot.press("enter")
        await until(pilot, lambda: behind.state and behind.state.trial.id == worst.id, "the worst trial")
        assert pilot.app.screen is behind


@pytest.mark.parametrize(("step", "suffix"), [(1, "md"), (-1, "csv")])
async def test_one_trial_or_the_rows_as_they_are_shown_are_exported(session, home, tmp_path, step, suffix):
    """What is exported is chosen in the dialog: the trial under the cursor stands after all of the session, the rows last."""
    async with trajectory(session) as (pilot, _):
        table = (await table_of_trials(pilot)).table
        await pilot.press("x")
        dialog, out = await on(pilot, ReportDialog), tmp_path / f"shown.{suffix}"
        dialog.query_one("#file", Input).value = str(out)
        dialog.query_one("#of", CycleField).action_step(step)
        await pilot.press("enter")
        await until(pilot, out.exists, "the report")
        text = out.read_text(encoding="utf-8")
        if suffix == "csv":
            rows = list(csv.DictReader(io.StringIO(text)))
            assert [row["case"] for row in rows] == [one.case for one in table.shown]
        else:
            assert [other.id for other in table.shown if other.id in text] == [table.selected.id]


# -- where points were lost


@pytest.fixture
def judged(tmp_path):
    recorder = Recorder(tmp_path / "judged.session")
    recorder.run()
    for repeat, accuracy in enumerate((10.0, 3.0, None), 1):
        word_counter(recorder, f"trial-{repeat}", repeat=repeat, accuracy=accuracy)
    return recorder


def test_what_the_criteria_lost_is_read_once_for_each_scorecard(judged):
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


async def test_the_criterion_that_costs_most_stands_first_and_enter_shows_its_trials(judged):
    async with trajectory(judged.path, (80, 24)) as (pilot, _):
        screen = await table_of_trials(pilot)
        await until(pilot, lambda: bool(screen.losses.rows), "the losses")
        dearest = screen.losses.rows[0]
        screen.focus_pane(screen.query_one("#losses-pane"))
        await until(pilot, lambda: screen.losses.has_focus, "the list")
        assert dearest.title in screen_text(pilot.app)
        await pilot.press("enter")
        await until(pilot, lambda: screen.table.filter.active, "the filter")
        assert len(screen.table.shown) == dearest.trials
        assert all(dearest.title in dict(line.lost) for line in screen.table.shown)
        before = screen.table.trials
        judged.score("trial-1", card(judge="another judge", accuracy=1.0))
        await until(pilot, lambda: len(screen.table.trials.scales) > len(before.scales), "the new judge")


# -- where a session opens


@pytest.mark.parametrize(
    ("kind", "screen"), [("trials", TrialsScreen), ("trial", TrajectoryScreen), ("tasks", RegenerationScreen)]
)
async def test_a_session_opens_from_the_command_line_with_what_matters_in_it(tmp_path, kind, screen):
    path = tmp_path / "some.session"
    if kind == "tasks":
        regenerated.word_counter(regenerated.Recorder(path))
    else:
        many_trials(path, 20 if kind == "trials" else 1)
    app = WorkbenchApp(path, settings.load(), warm_engine=False)
    app.opens_default_view = True
    async with app.run_test(size=(120, 40)) as pilot:
        await on(pilot, screen)
        await until(pilot, lambda: app.opening_session.idle and not app.is_opening, "the session")
        await pilot.press("escape" if kind == "trials" else "T")
        await until(pilot, lambda: not isinstance(app.screen, TrialsScreen), "no table of one trial")


def test_a_mean_says_how_far_its_trials_lie_apart_and_what_it_is_out_of():
    rules, every = (1, 2), (1, 2, 3, 4)
    full = spread_of([Total(80.0, 100.0, every), Total(60.0, 100.0, every)], trials=3)
    assert spread_text(full) == "mean 70.0 ± 14.1 · 60.0 to 80.0 (without 1 unscored)"
    unscored = spread_of([Total(40.0, 40.0, rules)], trials=1)
    assert spread_text(unscored) == "mean 40.0/40"
    mixed = spread_of([Total(40.0, 40.0, rules), Total(50.0, 100.0, every)], trials=2)
    assert spread_text(mixed) == "mean 50.0 (without 1 partly scored)"
    assert share_of(unscored) < share_of(spread_of([Total(1.0, 100.0, every)], trials=1)) < share_of(full)


def test_points_that_a_format_gave_stand_behind_the_models_own():
    held = Total(69.4, 100.0, (1, 2, 3, 4), given=57.9)
    free = Total(30.0, 100.0, (1, 2, 3, 4))
    assert spread_text(spread_of([held], trials=1)) == "own points 11.5 of 42.1 · mean 69.4"
    assert spread_text(spread_of([held, free], trials=2)).endswith("· 1 with points from a format")
    assert (held.share or 0) < (free.share or 0)
    assert Total(69.4, 100.0, (1, 2, 3, 4), given=6.0).own is None


def test_points_of_fewer_than_100_say_so_in_the_table(tmp_path):
    many_trials(tmp_path / "many.session", 8)
    with SessionReader(tmp_path / "many.session") as reader:
        line = next(line for line in load_trials(reader).lines if line.points is not None)
    table = TrialTable()
    shown = "".join(part for part, _ in table.columns.cells(replace(line, total=Total(40.0, 40.0, (1, 2))), 120))
    assert " 40/40 " in shown
    assert " 40.0 " not in shown


def test_all_trials_that_read_a_file_are_an_answer_of_the_filter(tmp_path):
    recorder = Recorder(tmp_path / "read.session")
    recorder.run()
    files = {"both": ("pyproject.toml", "a.py"), "other": ("my-pyproject.toml",), "lists": ()}
    for repeat, (key, paths) in enumerate(files.items(), 1):
        recorder.trial(key, repeat=repeat, state="done")
        for path in paths:
            recorder.seen(key, path, "read", 1)
    recorder.seen("lists", "pyproject.toml", "listed", 1)
    recorder.close()
    with SessionReader(tmp_path / "read.session") as reader:
        lines = load_trials(reader).lines
    filter = replace(EVERYTHING, questions=questions_about(lines))
    question = next(one for one in filter.questions if one.key == "read")
    assert {option.key: count for option, count in question.offered(lines, "")} == dict.fromkeys(
        sum(files.values(), ()), 1
    )
    chosen = filter.choosing("read", "pyproject.toml")
    assert [lines[place].id for place in chosen.passing(lines)] == ["both"]
    assert chosen.sentence() == "read pyproject.toml"
    assert not any(one.key == "read" for one in questions_about([replace(line, read="") for line in lines]))


@pytest.mark.parametrize("width", [30, 76])
def test_the_score_is_in_sight_at_any_width(lines, width):
    table = TrialTable()
    told = [replace(line, labels=("a-tag", "another")) for line in lines]
    table.rows = tuple(told)
    table.arrange_rows()
    titles = [column.title for column, _, _ in table.columns.layout(width - 2)]
    assert "score" in titles
    assert titles[0] == "case"
    if width >= 40:
        assert len("".join(text for text, _ in table.parts_of(1, width))) <= width
