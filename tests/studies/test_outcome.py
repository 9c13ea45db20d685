"""The figures of a study against computations of their own, from sessions that were written without an engine."""

from __future__ import annotations

import random
import statistics
from pathlib import Path

import pytest
from studies.declared_studies import cell_of, put_agents, put_candidates, put_matrix, put_run, put_task

from workbench.base.errors import WorkbenchError
from workbench.regeneration.passk import pass_at_k
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.rows import StudyCellRow
from workbench.statistics.intervals import Value, share_interval
from workbench.statistics.paired import permutation_test
from workbench.studies.comparing import compare, rankings, resampled_in_process, taus
from workbench.studies.declaration import BadStudy, Study, StudyColumn
from workbench.studies.leaderboard import judge_agreement, leaderboard
from workbench.studies.significance import adjusted_comparisons, all_pairs, resampled_orders
from workbench.studies.study_reader import StudyReader, read_study

SCORES = {
    ("a", "white"): [80.0, 90.0, 70.0], ("b", "white"): [60.0, 50.0, 70.0], ("c", "white"): [75.0, 75.0, 75.0],
    ("a", "single-file"): [70.0, 70.0, 70.0], ("b", "single-file"): [55.0, 65.0, None], ("c", "single-file"): [50.0, 40.0, 60.0],
}  # fmt: skip


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four repositories × (3 doc systems × 2 evaluators), 5 samples of 6 tasks."""
    path = tmp_path_factory.mktemp("matrix") / "matrix.session"
    put_matrix(path, 4, 3, 2, 5, 6, random.Random(3))
    return path


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents on three cases, three repeats, two judges; one trial failed."""
    path = tmp_path_factory.mktemp("agents") / "agents.session"
    put_agents(path, SCORES, judges=("offline-4", "gpt-4o"))
    return path


def shares(reader: SessionReader, run: str, model: str, k: int) -> list[Value]:
    """pass@k of each task, from the rows of its candidates."""
    found = []
    for task in reader.tasks(run):
        verdicts = [row.verdict for row in reader.candidates(run, task.id) if row.evaluator == model]
        value = pass_at_k(len(verdicts), verdicts.count("passed"), k)
        assert value is not None
        found.append(Value(task.snapshot, task.path, value))
    return found


def test_a_cell_of_docs_is_its_tasks_with_the_interval_over_files(matrix: Path) -> None:
    with SessionReader(matrix) as reader:
        outcome = read_study(reader, "matrix")
        cell = outcome.cell("repository01", "docs2 · model/1")
        mine = shares(reader, "repository01-docs2", "model/1", 3)
    mean = cell.means["pass@3"]
    assert mean.value == pytest.approx(statistics.fmean(one.value for one in mine))
    expected = share_interval(mine)
    assert (mean.interval.low, mean.interval.high) == pytest.approx((expected.low, expected.high))
    assert (mean.interval.unit, mean.interval.units, mean.items) == ("file", 3, 6)
    assert (cell.state, cell.done, cell.planned) == ("done", 30, 30)
    assert (cell.work.tokens, cell.work.cost_usd, cell.work.seconds) == (
        30 * 110,
        pytest.approx(0.03),
        pytest.approx(45),
    )


def test_a_column_is_the_unweighted_mean_of_its_repositories(matrix: Path) -> None:
    with SessionReader(matrix) as reader:
        outcome = read_study(reader, "matrix")
        values = [one for number in range(4) for one in shares(reader, f"repository0{number}-docs1", "model/0", 1)]
    summary = next(one for one in outcome.by_column if one.column.name == "docs1 · model/0")
    mean, expected = summary.means["pass@1"], share_interval(values)
    by_row = [outcome.cell(row, summary.column).means["pass@1"].value or 0.0 for row in outcome.rows]
    assert mean.value == pytest.approx(statistics.fmean(by_row))
    assert (mean.interval.low, mean.interval.high) == pytest.approx((expected.low, expected.high))
    assert (mean.interval.over, mean.items, mean.rows) == ("over 4 repositories", 24, 4)
    assert [one.documented for one in outcome.by_column] == [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert outcome.by_row[0].spread["pass@1"] is not None


def test_a_comparison_pairs_functions_across_doc_systems(matrix: Path) -> None:
    left, right = StudyColumn("docs0", "model/0"), StudyColumn("docs2", "model/0")
    with SessionReader(matrix) as reader:
        outcome = read_study(reader, "matrix")
        gaps = [
            Value(a.repository, a.file, b.value - a.value)
            for number in range(4)
            for a, b in zip(
                *(shares(reader, f"repository0{number}-{one.system}", one.model, 1) for one in (left, right)),
                strict=True,
            )
        ]
    found = compare(outcome, left, right)
    assert found.difference.value == pytest.approx(statistics.fmean(one.value for one in gaps))
    assert found.difference.tasks.items == 24
    assert (found.only_left, found.only_right, found.undefined) == (0, 0, 0)
    sizes = [abs(pair.difference or 0.0) for pair in found.pairs]
    assert sizes == sorted(sizes, reverse=True)
    assert list(found.by_row) == list(outcome.rows)
    (one,) = adjusted_comparisons(outcome, [(left, right)])
    assert one.test == permutation_test(gaps)
    backwards = compare(outcome, right, left)
    assert backwards.difference.value == pytest.approx(-(found.difference.value or 0.0))
    with pytest.raises(ValueError, match="pass@1, pass@3"):
        compare(outcome, left, right, "pass@2")


def test_several_tests_are_adjusted_together(matrix: Path) -> None:
    with SessionReader(matrix) as reader:
        outcome = read_study(reader, "matrix")
    found = adjusted_comparisons(outcome, all_pairs(outcome))
    assert len(found) == 6
    least = min(found, key=lambda one: one.test.p or 1.0)
    assert least.adjusted == pytest.approx(min(1.0, 6 * (least.test.p or 0.0)))
    assert all((one.adjusted or 0.0) >= (one.test.p or 0.0) for one in found)


def test_rankings_stand_under_each_evaluator_k_and_weighting(matrix: Path) -> None:
    with SessionReader(matrix) as reader:
        outcome = read_study(reader, "matrix")
    found = rankings(outcome)
    assert len(found) == 2 * 2 * 3
    first = found[0]
    assert first.setting.words == "model/0 · pass@1 · by repositories"
    means = {one.column.system: one.means["pass@1"].value for one in outcome.by_column if one.column.model == "model/0"}
    assert first.scores == pytest.approx(means)
    assert [name for place in first.places for name in place] == sorted(means, key=lambda one: -(means[one] or 0.0))
    assert len(first.orders) == 3
    assert found[1].orders == ()
    assert all(-1 <= tau <= 1 for tau in taus(found).values() if tau is not None)
    orders = resampled_orders(outcome, resamples=200)["model/0", "pass@1"]
    assert [(one.better, one.worse, one.repositories) for one in orders] == [
        (one.better, one.worse, one.repositories) for one in first.orders
    ]
    assert all(0 <= (one.resampled or 0.0) <= 1 for one in orders)


def test_agents_are_measured_in_points_over_cases_and_trials(agents: Path) -> None:
    with SessionReader(agents) as reader:
        outcome = read_study(reader, "agents")
    cell = outcome.cell("a", "white · local")
    assert (cell.means["score"].value, cell.means["score"].interval.unit, cell.state) == (80.0, "trial", "done")
    low, high = cell.means["score"].interval.low, cell.means["score"].interval.high
    assert low is not None
    assert high is not None
    assert 0 <= low < 80 < high <= 100
    failed = outcome.cell("b", "single-file · local")
    assert (failed.state, failed.done, failed.planned) == ("failed", 2, 3)
    assert failed.problem == "The model gave no answer."
    assert (failed.means["score"].value, failed.means["score"].undefined) == (60.0, 1)
    mean = outcome.by_column[0].means["score"]
    assert mean.value == pytest.approx(statistics.fmean([80, 60, 75]))
    assert mean.interval.over == "over 3 cases"
    found = compare(outcome, outcome.columns[1], outcome.columns[0])
    assert (found.difference.tasks.items, found.undefined) == (8, 1)
    assert found.difference.value == pytest.approx(statistics.fmean([10, (5 - 15) / 2, 25]))
    assert found.difference.interval.over == "over 3 cases"
    assert found.pairs[0].name == "repeat 2"
    (one,) = adjusted_comparisons(outcome, [(outcome.columns[1], outcome.columns[0])])
    assert one.test.unit == "case"


def test_the_leaderboard_has_places_tiers_spread_and_judges(agents: Path) -> None:
    with SessionReader(agents) as reader:
        outcome = read_study(reader, "agents")
    white, single = leaderboard(outcome)
    assert (white.place, white.summary.column.system, single.place) == (1, "white", 2)
    assert white.above == pytest.approx(7 / 9)
    assert white.spread == pytest.approx(((100 * 2 + 100 * 2 + 0) / 6) ** 0.5)
    assert (white.steps, white.tokens, white.cost_usd) == (4.0, 1000.0, pytest.approx(0.02))
    assert (white.tiers[:3], white.tier_trials[:3]) == ((15.0, 20.0, 25.0), (9, 9, 9))
    assert [one.mean.items for one in white.by_judge.values()] == [9, 9]
    means = {judge: one.mean.value or 0.0 for judge, one in white.by_judge.items()}
    assert means["offline-4"] - means["gpt-4o"] == pytest.approx(2.0)
    (agreement,) = judge_agreement(outcome)
    assert (agreement.trials, agreement.tau, agreement.columns_tau) == (17, 1.0, 1.0)
    assert agreement.difference == pytest.approx(2.0)


def test_what_is_unfinished_missing_or_broken_says_so(tmp_path: Path) -> None:
    path = tmp_path / "open.session"
    study = Study(
        "open", "docs", ("one", "two"), (StudyColumn("none", "m"), StudyColumn("original", "m")), samples=3, k=(1, 3)
    )
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.put_study(study.name, study.to_json())
        run = put_run(writer, "one", "none", state="cancelled")
        tasks = [put_task(writer, run, "one", "none", number) for number in range(2)]
        put_candidates(writer, run, tasks[0], "m", ["passed", None, None])
        put_candidates(writer, run, tasks[1], "m", ["failed", "error", "passed"])
        rows = [
            cell_of(study, "one", study.columns[0], run),
            cell_of(study, "one", study.columns[1], None, "The doc system is not there."),
        ]
        writer.put_study_cells([StudyCellRow(**row) for row in rows], instead_of=study.name)
    with SessionReader(path) as reader:
        outcome = read_study(reader, "open")
        with pytest.raises(BadStudy, match="it has open"):
            read_study(reader, "other")
    cell = outcome.cell("one", "none · m")
    assert (cell.state, cell.done, cell.planned) == ("cancelled", 3, 6)
    one, three = cell.means["pass@1"], cell.means["pass@3"]
    # Our own error is no sample: the second task has two.
    assert (one.value, three.value, three.undefined) == (pytest.approx((1 + 1 / 2) / 2), None, 2)
    broken = outcome.cell("one", "original · m")
    assert (broken.state, broken.problem) == ("failed", "The doc system is not there.")
    assert outcome.cell("two", "none · m").state == "missing"
    assert outcome.planned is None
    assert not outcome.finished


def test_what_did_not_change_is_not_computed_anew(tmp_path: Path) -> None:
    path = tmp_path / "live.session"
    put_matrix(path, 2, 2, 1, 3, 4, random.Random(5))
    with SessionReader(path) as reader:
        watching = StudyReader(reader, "matrix")
        first = watching.look()
        assert watching.look() is first
        task = reader.tasks("repository00-docs0")[0].id
        with SessionWriter(path) as writer:
            put_candidates(writer, "repository00-docs0", task, "model/0", ["passed"] * 4, first=3)
        second = watching.look()
        assert second.cell("repository01", "docs0 · model/0") is first.cell("repository01", "docs0 · model/0")
        changed = second.cell("repository00", "docs0 · model/0")
        assert changed.work.tasks[0].samples == 7
        assert second.by_column[0].means["pass@1"].value != first.by_column[0].means["pass@1"].value
        assert read_study(reader, "matrix").to_json() == second.to_json()


def test_an_engine_that_is_gone_is_noticed_although_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "left.session"
    put_matrix(path, 1, 1, 1, 3, 4, random.Random(5))
    with SessionReader(path) as reader, SessionWriter(path) as writer:
        run, task = "repository00-docs0", reader.tasks("repository00-docs0")[0].id
        put_candidates(writer, run, task, "model/0", [None], first=3)
        with writer.transaction() as connection:
            connection.execute("UPDATE candidates SET verdict = NULL WHERE task_id = ?", (task,))
        writer.set_run(run, state="running")
        held = writer.acquire(run)
        watching = StudyReader(reader, "matrix")
        assert [cell.state for cell in watching.look().cells.values()] == ["running"]
        before = reader.last_change()
        writer.release(held)
        assert reader.last_change() == before
        assert [cell.state for cell in watching.look().cells.values()] == ["interrupted"]


def test_results_of_another_session_are_columns_marked_by_it(tmp_path: Path, agents: Path) -> None:
    path = tmp_path / "mine.session"
    put_agents(path, {("a", "planner-2"): [60.0], ("b", "planner-2"): [70.0]}, name="mine")
    with SessionReader(path) as reader, SessionWriter(path) as writer:
        study = read_study(reader, "mine").study
        results = (f"session:{agents}", f"session:{tmp_path / 'gone.session'}")
        writer.put_study("mine", {**study.to_json(), "results": results})
        outcome = read_study(reader, "mine")
    assert [(column.system, bool(column.source)) for column in outcome.columns] == [
        ("planner-2", False), ("white", True), ("single-file", True)
    ]  # fmt: skip
    white = outcome.columns[1]
    assert outcome.cell("a", white).means["score"].value == 80.0
    assert outcome.cell("a", white).work.session == str(agents)
    assert white.mark == f"session:{agents}"
    assert outcome.planned == 2
    assert len(outcome.problems) == 1
    assert "gone.session" in outcome.problems[0]
    assert compare(outcome, outcome.columns[0], white).difference.tasks.items == 2


def test_tasks_of_another_session_are_found_by_their_repository(tmp_path: Path, matrix: Path) -> None:
    path = tmp_path / "mine.session"
    put_matrix(path, 2, 1, 1, 5, 6, random.Random(8))
    with SessionReader(path) as reader, SessionWriter(path) as writer:
        mine = read_study(reader, "matrix")
        writer.put_study("matrix", {**mine.study.to_json(), "results": [f"session:{matrix}"]})
        outcome = read_study(reader, "matrix")
    with SessionReader(matrix) as reader:
        theirs = read_study(reader, "matrix")
    assert len(outcome.columns) == 1 + 6
    assert (
        outcome.cell("repository01", outcome.columns[3]).means
        == theirs.cell("repository01", StudyColumn(outcome.columns[3].system, outcome.columns[3].model)).means
    )
    assert compare(outcome, outcome.columns[0], outcome.columns[1]).difference.tasks.items == 12


def test_a_process_of_its_own_draws_what_the_app_must_not(matrix: Path) -> None:
    with SessionReader(matrix) as reader:
        outcome = read_study(reader, "matrix")
    pair = (outcome.columns[0], outcome.columns[2])
    names = pair[0].name, pair[1].name
    found = resampled_in_process(matrix, "matrix", [names, ("gone", "away")], "pass@3", orders=True)
    (one,) = adjusted_comparisons(outcome, [pair], "pass@3")
    assert found["tests"] == {names: {"p": one.test.p, "test": one.test.words, "p_holm": one.adjusted}}
    orders = resampled_orders(outcome)["model/0", "pass@1"]
    shares = {("model/0", "pass@1", order.better, order.worse): order.resampled for order in orders}
    assert shares.items() <= found["orders"].items()
    with pytest.raises(WorkbenchError, match="has no study 'other'; it has matrix"):
        resampled_in_process(matrix, "other", [], "")
