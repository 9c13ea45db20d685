"""The analysis of a study of docs against computations of their own: scipy on the rows of the session, sums in plain loops."""

from __future__ import annotations

import json
import random
import statistics
from collections import defaultdict
from pathlib import Path

import pytest
from studies.declared_studies import SYSTEMS, put_agents, put_matrix, put_texts

from workbench.base.errors import UsageError
from workbench.catalog.repositories import published_scores
from workbench.metrics.texts import MetricUnavailable, text_metric
from workbench.regeneration.leakage import measure_leakage
from workbench.regeneration.passk import pass_at_k
from workbench.session import SessionReader, SessionWriter
from workbench.studies import text_metrics as module
from workbench.studies.analysis import Analysis, analyse
from workbench.studies.declaration import StudyColumn
from workbench.studies.outcome import StudyOutcome
from workbench.studies.study_reader import read_study

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "texts.session"
    put_texts(path, random.Random(4))
    return path


@pytest.fixture(scope="module")
def outcome(session: Path) -> StudyOutcome:
    with SessionReader(session) as reader:
        return read_study(reader, "texts")


@pytest.fixture(scope="module")
def analysis(session: Path, outcome: StudyOutcome) -> Analysis:
    with SessionReader(session) as reader:
        found = analyse(reader, outcome)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def raw(session: Path) -> list[dict[str, object]]:
    """A row for each task under each column, from the tables of the session alone."""
    found = []
    with SessionReader(session) as reader:
        for run, task, path, name, tests, coverage, body, docs in reader.query(
            "SELECT run_id, id, path, qualified_name, test_count, coverage, body_blob, docstring_blob FROM tasks"
        ):
            row, _, system = run.partition("-")
            for model in ("m", "n"):
                candidates = reader.query(
                    "SELECT verdict, body_blob FROM candidates WHERE task_id = ? AND evaluator = ?", (task, model)
                )
                passed = sum(verdict == "passed" for verdict, _ in candidates)
                found.append(
                    {
                        "row": row, "system": system, "model": model, "file": path, "name": name, "tests": tests,
                        "coverage": coverage, "body": reader.text(body), "docs": reader.text(docs) if docs else None,
                        "bodies": [reader.text(one) for _, one in candidates],
                        "pass@1": pass_at_k(3, passed, 1), "pass@3": pass_at_k(3, passed, 3),
                    }
                )  # fmt: skip
    return found


def metric(one: module.MetricsOf, name: str, pair: str):
    return next(each for each in one.metrics if (each.metric, each.pair) == (name, pair))


@pytest.mark.parametrize(
    ("name", "pair", "k"),
    [("rouge-1", "code-doc", 1), ("bleu", "code-code", 3), ("rouge-lsum", "doc-doc", 3), ("leakage", "doc", 1)],
)
def test_correlations_over_all_systems_are_scipys_on_rows_of_the_session(analysis, raw, name, pair, k) -> None:
    originals = {(one["row"], one["name"]): one["docs"] for one in raw if one["system"] == "original"}
    score = None if name == "leakage" else text_metric(name)
    left, right = [], []
    for one in (each for each in raw if each["model"] == "m"):
        original = originals[one["row"], one["name"]] if one["system"] != "original" else None
        match pair:
            case "code-doc":
                value = score(one["docs"], one["body"]) if one["docs"] else None
            case "code-code":
                value = statistics.fmean(score(body, one["body"]) for body in one["bodies"])
            case "doc-doc":
                value = score(one["docs"], original) if one["docs"] and original else None
            case _:
                value = measure_leakage(one["docs"], one["body"]).level
        if value is not None:
            left.append(value)
            right.append(one[f"pass@{k}"])
    together = next(one for one in analysis.metrics.together if one.model == "m")
    found = metric(together, name, pair)
    assert found.mean is not None
    assert len(found.values) == len(left)
    for each, independent in zip(
        found.correlations[k], (stats.pearsonr, stats.spearmanr, stats.kendalltau), strict=True
    ):
        assert each.value == pytest.approx(independent(left, right).statistic, abs=1e-4)
        # Two repositories are too few to be left out in turn: their files are.
        assert (each.unit, each.units) == ("file", 6)
        assert each.low is None or each.low < each.value < each.high
    assert any(each.low is not None for each in found.correlations[1])


def test_a_column_has_its_own_metrics_and_none_no_docs_of_it(analysis, raw) -> None:
    by_column = {(one.column.system, one.model): one for one in analysis.metrics.by_column}
    assert len(by_column) == len(SYSTEMS) * 2
    mine = metric(by_column["osa-0.3.4:m", "n"], "rouge-1", "code-doc")
    score = text_metric("rouge-1")
    values = defaultdict(list)
    for one in raw:
        if (one["system"], one["model"]) == ("osa-0.3.4:m", "n"):
            values[one["row"]].append(score(one["docs"], one["body"]))
    assert mine.mean == pytest.approx(statistics.fmean(statistics.fmean(each) for each in values.values()))
    assert {each.pair for each in by_column["none", "m"].metrics if each.metric == "bleu"} == {"code-code"}
    assert "doc-doc" not in {each.pair for each in by_column["original", "m"].metrics}


def test_leaking_docs_are_counted_and_left_out(analysis, raw) -> None:
    line = next(one for one in analysis.leaks if one.column == StudyColumn("repoagent-0.2.0:m", "m"))
    mine = [one for one in raw if (one["system"], one["model"]) == ("repoagent-0.2.0:m", "m")]
    flagged = [measure_leakage(one["docs"], one["body"]).flagged for one in mine]
    assert 0 < sum(flagged) < len(mine)
    assert (line.tasks, line.leaking) == (len(mine), sum(flagged))
    rows = defaultdict(list)
    for one, leaking in zip(mine, flagged, strict=True):
        if not leaking:
            rows[one["row"]].append(one["pass@1"])
    assert line.without["pass@1"].value == pytest.approx(statistics.fmean(map(statistics.fmean, rows.values())))
    assert line.level == pytest.approx(
        statistics.fmean(measure_leakage(one["docs"], one["body"]).level for one in mine), abs=1e-4
    )


def test_the_whole_is_the_columns_mean_everywhere(analysis, outcome) -> None:
    for line, summary in zip(analysis.leaks, outcome.by_column, strict=True):
        for measure in outcome.study.measures:
            ours, theirs = line.whole[measure], summary.means[measure]
            assert ours.value == pytest.approx(theirs.value)
            assert (ours.items, ours.rows, ours.interval.words) == (theirs.items, theirs.rows, theirs.interval.words)


def test_strata_are_parts_of_the_functions_by_their_own_values(analysis, raw) -> None:
    by_property = defaultdict(list)
    for one in analysis.strata:
        by_property[one.property].append(one)
    assert {
        "popularity",
        "size of the body",
        "tests in T_i",
        "coverage of T_i",
        "difficulty, mean pass@1",
        "length of docs",
    } == set(by_property)
    for property in set(by_property) - {"length of docs"}:
        assert sum(one.functions for one in by_property[property]) == 18
    first = by_property["coverage of T_i"][0]
    bound = float(first.name.split()[2]) / 100
    mine = defaultdict(list)
    for one in raw:
        if (one["system"], one["model"]) == ("none", "n") and one["coverage"] <= bound + 1e-9:
            mine[one["row"]].append(one["pass@3"])
    mean = first.means["none · n"]["pass@3"]
    assert mean.value == pytest.approx(statistics.fmean(map(statistics.fmean, mine.values())))
    assert mean.items == sum(map(len, mine.values()))
    popular, other = by_property["popularity"]
    assert (popular.name, other.name) == ("more than 100 stars", "100 stars or fewer")
    schema = [one["pass@1"] for one in raw if (one["row"], one["system"], one["model"]) == ("schema", "none", "m")]
    assert popular.means["none · m"]["pass@1"].value == pytest.approx(statistics.fmean(schema))


def test_a_ranking_of_a_part_rests_on_functions_of_that_part_alone(analysis, raw) -> None:
    part = next(
        one
        for one in analysis.stability
        if (one.model, one.measure, one.part) == ("m", "pass@1", "without leaking docs")
    )
    whole = next(
        one for one in analysis.stability if (one.model, one.measure, one.part) == ("m", "pass@1", "all functions")
    )
    leaking = {
        (one["row"], one["name"]) for one in raw if one["docs"] and measure_leakage(one["docs"], one["body"]).flagged
    }
    sums = defaultdict(lambda: defaultdict(list))
    for one in raw:
        if one["model"] == "m" and (one["row"], one["name"]) not in leaking:
            sums[one["system"]][one["row"]].append(one["pass@1"])
    means = {system: statistics.fmean(map(statistics.fmean, rows.values())) for system, rows in sums.items()}
    assert part.items == whole.items - len(leaking) < whole.items
    assert part.scores == pytest.approx(means)
    names = list(means)
    tau = stats.kendalltau([part.scores[one] for one in names], [whole.scores[one] for one in names]).statistic
    assert part.tau == pytest.approx(tau)


def test_published_figures_stand_beside_by_family(analysis, outcome) -> None:
    beside = analysis.beside
    assert beside.families == ("RepoAgent", "OSA", "default")
    assert beside.shared == ("schema", "troika")
    here = next(one for one in beside.published_here if (one.evaluator, one.k) == ("gpt-5-mini", 1))
    expected = statistics.fmean(
        one.value
        for name in ("keleshev/schema", "ecmwf/troika")
        for one in published_scores(name)
        if (one.documenter, one.evaluator, one.k) == ("OSA", "gpt-5-mini", 1)
    )
    assert here.means["OSA"] == pytest.approx(expected)
    everywhere = next(one for one in beside.published if (one.evaluator, one.k) == ("gpt-5-mini", 1))
    table_1 = [
        one.value for one in published_scores() if (one.documenter, one.evaluator, one.k) == ("OSA", "gpt-5-mini", 1)
    ]
    assert everywhere.means["OSA"] == pytest.approx(statistics.fmean(table_1), abs=0.0055)
    assert everywhere.ranking == "RepoAgent > OSA > default"
    own = next(one for one in beside.own if (one.evaluator, one.k) == ("n", 3))
    cells = [outcome.cell(row, StudyColumn("osa-0.3.4:m", "n")).means["pass@3"].value for row in outcome.rows]
    assert own.means["OSA"] == pytest.approx(statistics.fmean(cells))


def test_many_tasks_are_looked_at_in_part_and_said_to_be(session, outcome, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_TASKS", 24)
    with SessionReader(session) as reader:
        found = analyse(reader, outcome, ("rouge-1",))
    assert found.metrics.of == 18 * len(SYSTEMS)
    assert 0 < found.metrics.tasks <= 24
    per_system = {len(metric(one, "rouge-1", "code-code").values) for one in found.metrics.by_column}
    assert len(per_system) == 1


def test_helpfulness_that_a_judge_was_asked_for_before_takes_part(tmp_path: Path) -> None:
    path = tmp_path / "judged.session"
    put_texts(path, random.Random(4), rows=("schema",), tasks=6, models=("m",))
    with SessionWriter(path) as writer, writer.transaction():
        with SessionReader(path) as reader:
            tasks = [task for run in reader.runs() for task in reader.tasks(run.id) if task.docs == "osa-0.3.4:m"]
        for number, task in enumerate(tasks):
            # Functions of one parameter, text: all three aspects; the first answer cannot be used.
            answers = ["no JSON"] if number == 0 else []
            answers.append(json.dumps({"reasoning": "r", "summary": 1 + number % 5, "description": 3, "parameters": 5}))
            for nth, answer in enumerate(answers):
                writer.insert(
                    "calls",
                    {
                        "run_id": task.run_id, "scope": f"{task.id}/helpfulness-1", "purpose": "metric", "model": "judge/j",
                        "digest": f"d{number}{nth}", "sample": 0, "nth": 1, "messages_blob": "m", "sampling": "{}",
                        "answer_blob": writer.blob(answer), "attempts": "[]", "source": "live", "started_at": 1.0,
                    },
                )  # fmt: skip
    with SessionReader(path) as reader:
        outcome = read_study(reader, "texts")
        found = analyse(reader, outcome).metrics
        named = analyse(reader, outcome, ("leakage",)).metrics
    mine = next(one for one in found.by_column if one.column.system.startswith("osa"))
    overall = metric(mine, "helpfulness-1 by judge/j", "doc")
    assert list(overall.values.values()) == [(1 + number % 5 + 3 + 5) / 3 for number in range(6)]
    summary = metric(mine, "helpfulness-1 summary by judge/j", "doc")
    passed = [task.passed / task.counted for task in outcome.cell("schema", mine.column).work.tasks]
    assert summary.correlations[1][0].value == pytest.approx(
        stats.pearsonr([1 + number % 5 for number in range(6)], passed).statistic
    )
    assert all("helpfulness" not in each.metric for one in named.by_column for each in one.metrics)


def test_what_is_missing_is_said_and_what_was_named_is_refused(session, outcome, monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with SessionReader(session) as reader:
        found = analyse(reader, outcome)
        assert any("BLEU needs the package sacrebleu" in one for one in found.metrics.notes)
        assert "bleu" not in {one.metric for each in found.metrics.by_column for one in each.metrics}
        with pytest.raises(MetricUnavailable, match="sacrebleu"):
            analyse(reader, outcome, ("bleu",))
        with pytest.raises(UsageError, match="no metric 'meteor'"):
            analyse(reader, outcome, ("meteor",))
        monkeypatch.setitem(sys.modules, "scipy", None)
        bare = analyse(reader, outcome)
    assert bare.metrics is None
    assert "scipy" in bare.problem
    assert bare.leaks == found.leaks
    assert json.loads(json.dumps(bare.to_json()))["metrics"] is None


def test_a_study_of_agents_or_without_a_task_has_no_analysis(tmp_path: Path) -> None:
    put_agents(tmp_path / "a.session", {("a", "white"): [80.0]})
    put_matrix(tmp_path / "m.session", 1, 2, 1, 1, 0, random.Random(1))
    for path, name in ((tmp_path / "a.session", "agents"), (tmp_path / "m.session", "matrix")):
        with SessionReader(path) as reader:
            assert analyse(reader, read_study(reader, name)) is None
