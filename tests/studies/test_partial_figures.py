"""A figure carries what it is of, what is missing and why, and under what it was made; what was made otherwise is not compared."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from samples.sessions import card
from studies.declared_studies import CONTEXT, PROMPT, SETTINGS, put_task

from workbench.cli import main
from workbench.reports.study_report import write_study_report
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.identity import candidate_id, trial_id
from workbench.session.rows import ScoreRow, StudyCellRow
from workbench.studies.comparing import compare
from workbench.studies.declaration import AGENTS, DOCS, Column, Settings, Study
from workbench.studies.following import StudyReader, read_study
from workbench.studies.leaderboard import leaderboard
from workbench.studies.outcome import StudyOutcome
from workbench.studies.ranked import not_ranked, rankings

Points = Sequence[float | None]
"""Total by four tiers, None for one that is unscored."""
CASES = ("password_generator", "countdown_timer", "word_counter")
FULL = (15.0, 25.0, 20.0, 20.0)
WORKS = ("works", "fails", "differs", "not_run", "claims_true", "claims_untrue", "claims_unknown")


def tiers_of(total: float) -> Points:
    return 15.0, 25.0, (total - 40) / 2, (total - 40) / 2


class Agents:
    """A session with a study of agents, written trial by trial."""

    def __init__(
        self, path: Path, settings: Settings | None = None, repeats: int = 1, results: Sequence[str] = ()
    ) -> None:
        self.path, self._settings, self._repeats, self._results = path, settings or Settings(), repeats, tuple(results)
        self._trials: dict[tuple[str, str], list[str]] = {}
        self._agents: dict[str, None] = {}
        create(path)

    def put(
        self, agent: str, case: str, cards: Mapping[str, Points | None], *, repeat: int = 1, problem: str | None = None,
        error: str = "", rubric: str = "aeo-bench", plan: Mapping[str, object] | None = None, content: str = "",
        checked: Sequence[int] = (),
    ) -> str:  # fmt: skip
        """Record a trial with the points of its tiers by judge; one with an error failed."""
        with SessionWriter(self.path) as writer, writer.transaction():
            run = f"run-{agent}"
            with SessionReader(self.path) as reader:
                known = reader.run(run)
            if known is None:
                writer.add_run(run, "document", {"cases": CASES, "agent": agent, **(plan or {})})
                writer.set_run(run, state="done")
            key = trial_id(agent, "local", case, repeat)
            writer.add_trial(key, run, repeat, (case, case), agent, "local", repeat)
            writer.set_trial(
                key, state="failed" if error else "done", error=error or None, steps=4, prompt_tokens=900, completion_tokens=100,
                cost_usd=0.02, seconds=3.0, readme_blob=None if error else writer.blob("# A"),
            )  # fmt: skip
            if content:
                writer.update("trials", {"id": key}, {"content": content})
            for judge, points in cards.items():
                put = points or (None,) * 4
                known_points = [one for one in put if one is not None]
                out_of = sum(most for most, one in zip((15, 25, 30, 30), put, strict=True) if one is not None)
                blob = writer.blob(json.dumps(card(6.0, judge=judge).to_json()))
                writer.put_score(
                    ScoreRow(key, rubric, judge, sum(known_points) if known_points else None, float(out_of), *put, blob, 1.0, problem)
                )  # fmt: skip
            if checked:
                way = (key, 1, 10.0, 1)
                writer.put_check(way, "checks")
                writer.set_check(
                    way, state="done", result_blob=writer.blob("{}"), **dict(zip(WORKS, checked, strict=True))
                )
        self._trials.setdefault((case, agent), []).append(key)
        self._agents[agent] = None
        return key

    def read(self) -> StudyOutcome:
        """Write the study over all that was put, and read it."""
        columns = tuple(Column(agent, "local") for agent in self._agents)
        study = Study("agents", AGENTS, CASES, columns, self._results, repeats=self._repeats, settings=self._settings)
        cells = [
            StudyCellRow(
                "agents", case, column.name, place, f"run-{column.system}",
                json.dumps({"trials": self._trials.get((case, column.system), [])}), None,
            )
            for place, (case, column) in enumerate((case, column) for case in CASES for column in columns)
        ]  # fmt: skip
        with SessionWriter(self.path) as writer:
            writer.put_study("agents", study.to_json())
            writer.put_study_cells(cells, instead_of="agents")
        with SessionReader(self.path) as reader:
            return read_study(reader, "agents")


def put_docs(
    path: Path, systems: Mapping[str, Sequence[Sequence[str | None]]], *, name: str = "docs", scope: str = "repository",
    prompt: str = PROMPT, context: str = CONTEXT, settings: str = SETTINGS, snapshot: str = "snapshot of {}",
    extra: Mapping[str, object] | None = None, state: str = "done", results: Sequence[str] = (), samples: int = 3,
    rows: Sequence[str] = ("one", "two", "three"),
) -> Study:  # fmt: skip
    """Write a study of docs; each system has the verdicts of each of its tasks, alike in all repositories."""
    study = Study(
        name,
        DOCS,
        tuple(rows),
        tuple(Column(system, "m") for system in systems),
        tuple(results),
        samples=samples,
        k=(1,),
    )
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.put_study(name, study.to_json())
        cells = []
        for row in rows:
            for place, (system, tasks) in enumerate(systems.items()):
                run = f"{row}-{system}"
                content = snapshot.format(row)
                plan = {"source": row, "docs": system, "docs_scope": scope, "snapshot": content, "k": [1]}
                writer.add_run(run, "regenerate", plan)
                writer.set_run(run, state=state if system == list(systems)[-1] else "done")
                for number, verdicts in enumerate(tasks):
                    task = put_task(writer, run, row, system, number)
                    writer.update("tasks", {"id": task}, {"docs_scope": scope, "snapshot": content})
                    for sample, verdict in enumerate(verdicts):
                        put_candidate(
                            writer, run, task, sample, verdict, prompt, context, settings, extra if place else None
                        )
                pointer = json.dumps({"evaluator": "m", "prompt": prompt, "context": context})
                cells.append(StudyCellRow(name, row, f"{system} · m", len(cells), run, pointer, None))
        writer.put_study_cells(cells, instead_of=name)
    return study


def put_candidate(
    writer: SessionWriter, run: str, task: str, sample: int, verdict: str | None, prompt: str = PROMPT, context: str = CONTEXT,
    settings: str = SETTINGS, extra: Mapping[str, object] | None = None,
) -> None:  # fmt: skip
    writer.insert(
        "candidates",
        {
            "id": candidate_id(task, "m", f"{prompt}/{context}", sample), "run_id": run, "task_id": task, "evaluator": "m",
            "sample": sample, "state": "done" if verdict else "queued", "verdict": verdict, "prompt": prompt, "context": context,
            "settings": settings, "cost_usd": 0.001, "at": 1_700_000_000.0, **(extra or {}),
        },
    )  # fmt: skip


def docs_of(path: Path, name: str = "docs") -> StudyOutcome:
    with SessionReader(path) as reader:
        return read_study(reader, name)


def mean_of(outcome: StudyOutcome, system: str, measure: str = "") -> float | None:
    return (
        next(one for one in outcome.by_column if one.column.system == system)
        .means[measure or outcome.study.measures[0]]
        .value
    )


def reports(path: Path, name: str) -> dict[str, str]:
    """Return the study in every format that is text, and what ``study --show`` prints."""
    pytest.importorskip("numpy")
    return {
        form: bytes(write_study_report(path, name, form, None)).decode()
        for form in ("md", "html", "csv", "json", "latex")
    }  # type: ignore[arg-type]


def places(outcome: StudyOutcome) -> dict[str, tuple[int | None, int]]:
    return {one.summary.column.system: (one.place, one.of) for one in leaderboard(outcome)}


# -- trials without a total


@pytest.fixture
def judge_failed(tmp_path: Path) -> Agents:
    """Two trials of one agent in each case: one of 50 points, one of which the judge failed."""
    agents = Agents(tmp_path / "judge.session", repeats=2)
    for case in CASES:
        for repeat in (1, 2):
            agents.put("good", case, {"offline-2": tiers_of(80.0 + repeat)}, repeat=repeat)
        agents.put("half", case, {"offline-2": tiers_of(50.0)})
        agents.put("half", case, {"offline-2": (15.0, 25.0, None, None)}, repeat=2, problem="The judge gave no answer.")
    return agents


def test_a_trial_whose_judge_failed_is_in_no_figure_and_said_to_be_missing(judge_failed: Agents) -> None:
    outcome = judge_failed.read()
    mean = outcome.cell("word_counter", "half · local").means["score"]
    assert (mean.value, mean.items) == (50.0, 1)
    assert [one.words for one in mean.missing] == ["1 unscored: The judge gave no answer."]
    line = next(one for one in leaderboard(outcome) if one.summary.column.system == "half")
    assert (line.mean.value, line.trials, line.above) == (50.0, 3, 0.0)
    assert [one.words for one in line.missing] == ["3 unscored: The judge gave no answer."]
    assert [one.items for one in rankings(outcome)] == [3, 3]
    assert compare(outcome, *outcome.columns).undefined == 3
    assert not outcome.finished


def test_every_format_says_how_many_are_unscored_and_why(
    judge_failed: Agents, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_failed.read()
    for form, text in reports(judge_failed.path, "agents").items():
        assert "The judge gave no answer" in text, form
        assert "100.0" not in text.replace("100.0 USD", ""), form
    texts = reports(judge_failed.path, "agents")
    assert all("3 unscored" in texts[form] for form in ("md", "html", "latex"))
    cells = [
        row for row in csv.DictReader(io.StringIO(texts["csv"])) if row["kind"] == "cell" and row["system"] == "half"
    ]
    assert {(row["score"], row["score_items"], row["score_undefined"]) for row in cells} == {("50.0", "1", "1")}
    trials = [
        row for row in csv.DictReader(io.StringIO(texts["csv"])) if row["kind"] == "trial" and row["system"] == "half"
    ]
    assert sorted(row["score"] for row in trials) == ["", "", "", "50.0", "50.0", "50.0"]
    (column,) = [
        row for row in csv.DictReader(io.StringIO(texts["csv"])) if (row["kind"], row["system"]) == ("column", "half")
    ]
    assert (column["score"], column["score_missing"], column["place"]) == (
        "50.0",
        "3 unscored: The judge gave no answer.",
        "2",
    )
    missing = json.loads(texts["json"])["columns"][1]["means"]["score"]["missing"]
    assert missing == [{"state": "unscored", "why": "The judge gave no answer.", "count": 3}]
    assert main(["study", "agents", "--session", str(judge_failed.path), "--show"]) == 1
    assert "50.0 of 1 scored trial, 1 unscored" in capsys.readouterr().out


def test_a_trial_without_facts_has_no_total_and_is_compared_with_nothing(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "facts.session")
    for case in CASES:
        agents.put("good", case, {"offline-2": FULL})
        agents.put("nofacts", case, {"offline-2": (15.0, 25.0, None, 20.0)}, problem="no facts")
    outcome = agents.read()
    assert (mean_of(outcome, "good"), mean_of(outcome, "nofacts")) == (80.0, None)
    assert places(outcome) == {"good": (1, 3), "nofacts": (None, 3)}
    assert not any(one.items for one in rankings(outcome))
    tiers = next(one.tiers for one in leaderboard(outcome) if one.summary.column.system == "nofacts")
    assert tiers == ((15.0, 3), (25.0, 3), (None, 0), (20.0, 3))
    assert any("nofacts" in one and "no facts" in one for one in outcome.notes)


def test_means_of_judges_are_over_what_each_scored_and_over_what_all_did(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "judges.session", Settings(judges=("openai/gpt",)))
    for number, case in enumerate(CASES):
        first = {"openai/gpt": tiers_of(60.0)}
        agents.put("a", case, {"offline-2": tiers_of(80.0 if not number else 40.0), **(first if not number else {})})
        agents.put("b", case, {"offline-2": tiers_of(70.0), **({"openai/gpt": tiers_of(55.0)} if not number else {})})
    outcome = agents.read()
    by_judge = {one.summary.column.system: one.by_judge for one in leaderboard(outcome)}
    offline = {agent: found["offline-2"] for agent, found in by_judge.items()}
    assert {agent: (one.mean.value, one.mean.items) for agent, one in offline.items()} == {
        "a": (pytest.approx(160 / 3), 3), "b": (pytest.approx(70.0), 3)
    }  # fmt: skip
    assert {agent: (one.common.value, one.common.items) for agent, one in offline.items()} == {
        "a": (80.0, 1),
        "b": (70.0, 1),
    }
    reason = outcome.cell("word_counter", "a · local").problem
    assert reason == "1 unscored: scored by offline-2, this study by openai/gpt: rescore"


def test_a_rubric_that_a_study_declares_is_not_replaced_by_another(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "rubric.session", Settings(rubrics=("strict",)))
    for case in CASES:
        agents.put("a", case, {"offline-2": FULL})
    outcome = agents.read()
    assert outcome.scale == ("strict", "offline-2")
    assert mean_of(outcome, "a") is None
    assert (
        "scored by aeo-bench by offline-2, this study by strict by offline-2: rescore"
        in outcome.cell(CASES[0], "a · local").problem
    )
    # Where nothing is declared, what there is counts, and the page says by what.
    agents = Agents(tmp_path / "undeclared.session")
    agents.put("a", CASES[0], {"openai/gpt": FULL})
    assert agents.read().scale == ("aeo-bench", "openai/gpt")


def test_places_are_over_the_cases_that_all_have(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "rows.session")
    for case, points in zip(CASES, (95.0, 50.0, 50.0), strict=True):
        agents.put("all", case, {"offline-2": tiers_of(points)})
    agents.put("easy", CASES[0], {"offline-2": tiers_of(90.0)})
    for case in CASES[1:]:
        agents.put("easy", case, {}, error="no key")
    outcome = agents.read()
    assert places(outcome) == {"all": (1, 1), "easy": (2, 1)}
    assert outcome.common["score"].to_json() == {
        "items": 1,
        "of": 3,
        "means": {"all · local": 95.0, "easy · local": 90.0},
    }
    texts = reports(agents.path, "agents")
    assert "1 (of 1 case)" in texts["md"]
    assert "2 failed" in texts["md"]


def test_shares_say_of_how_many_blocks_they_are(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "works.session", Settings(checks=True))
    for case in CASES:
        agents.put("thorough", case, {"offline-2": FULL}, checked=(8, 2, 0, 0, 5, 1, 0))
        agents.put("one", case, {"offline-2": FULL}, checked=(1, 0, 0, 40, 1, 0, 60))
    outcome = agents.read()
    assert outcome.cell(CASES[0], "one · local").means["works"].judged == (1, 1, 41)
    ranked = next(one for one in rankings(outcome) if one.setting.measure == "works")
    assert ranked.words == "one (3 of 3) > thorough (24 of 30)"
    text = reports(agents.path, "agents")["md"]
    assert "100.0 (1 of 1 block, 40 not run; too few for an interval)" in text
    assert "(3 of 3 blocks, 120 not run)" in text


def test_a_readme_that_was_not_checked_is_missing(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "unchecked.session", Settings(checks=True))
    for case in CASES:
        agents.put("a", case, {"offline-2": FULL}, checked=() if case == CASES[0] else (1, 0, 0, 0, 1, 0, 0))
    outcome = agents.read()
    assert [one.brief for one in outcome.cell(CASES[0], "a · local").means["works"].missing] == ["1 not checked"]
    assert not outcome.finished


def test_forks_and_trials_of_runs_that_were_put_away_are_nowhere(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "away.session")
    for case in CASES:
        agents.put("a", case, {"offline-2": FULL})
        agents.put("gone", case, {"offline-2": FULL})
    fork = agents.put("a", CASES[0], {"offline-2": tiers_of(100.0)}, repeat=2)
    with SessionWriter(agents.path) as writer:
        writer.put_away_run("run-gone")
        writer.update("trials", {"id": fork}, {"parent": "another", "fork_step": 1})
    outcome = agents.read()
    assert (mean_of(outcome, "a"), mean_of(outcome, "gone")) == (80.0, None)
    gone = next(one for one in outcome.by_column if one.column.system == "gone")
    assert (gone.tokens, gone.cost_usd) == (0, None)
    assert "put away" in outcome.cell(CASES[0], "gone · local").problem
    assert not outcome.finished


# -- other conditions


def test_columns_of_others_are_not_compared_where_cases_or_limits_differ(tmp_path: Path) -> None:
    other = Agents(tmp_path / "other.session")
    mine = Agents(tmp_path / "mine.session", results=(f"session:{other.path}",))
    for case in CASES:
        mine.put("white", case, {"offline-2": FULL}, plan={"max_steps": 15, "read_limit": 1800}, content="c" * 40)
        other.put(
            "white", case, {"offline-2": tiers_of(90.0)}, plan={"max_steps": 30, "read_limit": 1800}, content="d" * 40
        )
    outcome = mine.read()
    own, theirs = outcome.columns
    found = compare(outcome, own, theirs)
    assert not found.comparable
    assert found.differing == ("limit of steps 15 and 30", f"content of the case {'c' * 12} and {'d' * 12}")
    assert (found.difference.value, found.values) == (None, [])
    assert places(outcome)["white"] in ((None, 3), (1, 3))
    assert [one.place for one in leaderboard(outcome)] == [1, None]
    assert not any(one.items for one in rankings(outcome))


def test_a_judge_of_others_is_named(tmp_path: Path) -> None:
    other = Agents(tmp_path / "other.session")
    mine = Agents(tmp_path / "mine.session", Settings(judges=("openai/gpt",)), results=(f"session:{other.path}",))
    for case in CASES:
        mine.put("white", case, {"openai/gpt": FULL})
        other.put("planner", case, {"offline-2": FULL})
    outcome = mine.read()
    cell = outcome.cell(CASES[0], outcome.columns[1])
    assert cell.problem == "1 unscored: scored by offline-2, this study by openai/gpt: rescore"
    assert any("scored by offline-2, this study by openai/gpt: rescore" in one for one in outcome.problems)


PASSED, FAILED = ("passed",) * 3, ("failed",) * 3
OTHERWISE = [
    ({"scope": "target"}, "docs scope repository and target"),
    ({"prompt": "short-1"}, "prompt paper-content-1 and short-1"),
    ({"context": "tail-1"}, "context prefix-1 and tail-1"),
    ({"settings": '{"max_tokens":2048,"temperature":0.0,"top_p":0.95}'}, "temperature 1.0 and 0.0"),
    ({"settings": '{"max_tokens":2048,"temperature":1.0}'}, "top p 0.95 and not set"),
    ({"snapshot": "another of {}"}, "snapshot snapshot of one and another of one"),
    ({"samples": 1}, "samples a task 3 and 1"),
]


@pytest.mark.parametrize(("otherwise", "said"), OTHERWISE)
def test_a_column_of_others_that_was_made_otherwise_is_not_compared(
    tmp_path: Path, otherwise: dict[str, object], said: str
) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    verdicts = PASSED[: int(str(otherwise.get("samples", 3)))]
    put_docs(other, {"original": [verdicts] * 4}, **otherwise)  # type: ignore[arg-type]
    put_docs(path, {"none": [PASSED, FAILED, FAILED, FAILED]}, results=(f"session:{other}",))
    outcome = docs_of(path)
    own, theirs = outcome.columns
    found = compare(outcome, own, theirs)
    assert not found.comparable
    assert any(one.startswith(said) for one in found.differing), found.differing
    assert len(found.differing) == 1
    assert found.difference.value is None
    assert rankings(outcome) == ()
    assert [(left, right) for left, right, _ in not_ranked(outcome)] == [(own, theirs)]
    assert said in reports(path, "docs")["md"].replace("\\", "")
    assert outcome.by_row[0].best["pass@1"] == (own.name,)


def test_a_column_of_others_made_alike_is_compared_and_rows_made_otherwise_are_left_out(tmp_path: Path) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED, PASSED, FAILED]})
    put_docs(path, {"none": [PASSED, FAILED, FAILED]}, results=(f"session:{other}",))
    assert compare(docs_of(path), *docs_of(path).columns).difference.value == pytest.approx(1 / 3)
    with SessionWriter(other) as writer, writer.transaction() as connection:
        connection.execute("UPDATE tasks SET snapshot = 'changed' WHERE run_id = 'one-original'")
    outcome = docs_of(path)
    found = compare(outcome, *outcome.columns)
    assert (found.comparable, found.apart, list(found.by_row)) == (True, {"one"}, ["two", "three"])
    assert found.differing == ("snapshot snapshot of one and changed (one)",)
    assert {one.items for one in rankings(outcome)} == {6}


def test_of_several_groups_of_others_the_one_that_was_made_alike_is_taken_and_the_rest_named(tmp_path: Path) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED, FAILED]})
    with SessionReader(other) as reader:
        tasks = {run.id: [task.id for task in reader.tasks(run.id)] for run in reader.runs()}
    with SessionWriter(other) as writer, writer.transaction():
        for run, mine in tasks.items():
            for task in mine:
                for sample in range(5):
                    put_candidate(writer, run, task, sample, "passed", prompt="short-1")
    put_docs(path, {"none": [PASSED, FAILED]}, results=(f"session:{other}",))
    outcome = docs_of(path)
    assert mean_of(outcome, "original") == 0.5
    assert outcome.cell("one", outcome.columns[1]).work.left_out == (
        "10 samples with samples a task 5, prompt short-1",
    )


def test_of_two_ways_of_sampling_the_other_is_named(tmp_path: Path) -> None:
    path = tmp_path / "two.session"
    put_docs(path, {"none": [PASSED, FAILED]}, rows=("one",))
    with SessionReader(path) as reader:
        task = reader.tasks("one-none")[0].id
    with SessionWriter(path) as writer, writer.transaction():
        for sample in range(3, 5):
            put_candidate(
                writer,
                "one-none",
                task,
                sample,
                "failed",
                settings='{"max_tokens":2048,"temperature":0.0,"top_p":0.95}',
            )
    outcome = docs_of(path)
    assert outcome.cell("one", "none · m").work.left_out == ("2 samples with temperature 0.0",)
    assert any("2 samples with temperature 0.0" in one for one in outcome.notes)


def test_the_method_names_what_each_column_was_made_under(tmp_path: Path) -> None:
    other, path = tmp_path / "other.session", tmp_path / "mine.session"
    put_docs(other, {"original": [PASSED]}, scope="target", prompt="short-1")
    put_docs(path, {"none": [PASSED]}, results=(f"session:{other}",))
    method = json.loads(reports(path, "docs")["json"])["method"]
    made = {
        one["column"]: (one["docs scope"], one["prompt"])
        for one in method["tables"]["Under what each column was made."]
    }
    assert made == {"none": ("repository", PROMPT), "original (other.session)": ("target", "short-1")}
    assert "docs scope" not in method["facts"]


# -- candidates


def test_what_was_put_away_counts_in_no_cell_of_docs(tmp_path: Path) -> None:
    path = tmp_path / "away.session"
    put_docs(path, {"original": [PASSED, FAILED], "none": [FAILED, FAILED]})
    with SessionReader(path) as reader:
        watching = StudyReader(reader, "docs")
        assert mean_of(watching.look(), "none") == 0.0
        with SessionWriter(path) as writer:
            for row in ("one", "two", "three"):
                writer.put_away_run(f"{row}-none")
        outcome = watching.look()
        assert (mean_of(outcome, "original"), mean_of(outcome, "none")) == (0.5, None)
        assert (outcome.cell("one", "none · m").state, outcome.finished) == ("missing", False)
        assert outcome.cost_usd == pytest.approx(0.018)
        with SessionWriter(path) as writer:
            for row in ("one", "two", "three"):
                writer.bring_back_run(f"{row}-none")
        assert mean_of(watching.look(), "none") == 0.0
    assert "put away" not in reports(path, "docs")["md"].replace("Runs that were put away are in no figure", "")


def test_doubtful_and_repaired_passes_are_counted_and_ranked_with_and_without(tmp_path: Path) -> None:
    path = tmp_path / "doubt.session"
    put_docs(
        path,
        {"original": [PASSED, FAILED], "osa": [PASSED, PASSED]},
        extra={"doubtful": "it could have forged it", "repairs": 1},
    )
    outcome = docs_of(path)
    assert outcome.cell("one", "osa · m").doubts == {"doubtful": 6, "repaired": 6}
    found = {one.setting.without: one.words for one in rankings(outcome) if one.setting.weighting == "repositories"}
    assert found == {"": "osa > original", "doubtful": "original > osa", "repaired": "original > osa"}
    text = reports(path, "docs")["md"]
    assert "6 doubtful, 6 repaired" in text
    assert "without doubtful" in text


def test_answers_cut_at_the_token_limit_are_counted_and_ranked_with_and_without(tmp_path: Path) -> None:
    path = tmp_path / "cut.session"
    put_docs(
        path, {"original": [PASSED, FAILED], "none": [("passed", "passed", "failed"), ("failed", "failed", "failed")]}
    )
    with SessionWriter(path) as writer, writer.transaction() as connection:
        connection.execute(
            "INSERT INTO calls (id, scope, purpose, model, digest, sample, nth, messages_blob, sampling, finish_reason, attempts, source, "
            "started_at) VALUES (1, '', 'evaluator', 'm', '', 0, 0, '', '{}', 'length', '[]', 'model', 0)"
        )
        connection.execute("UPDATE candidates SET call_id = 1 WHERE run_id LIKE '%-none' AND sample = 2")
    outcome = docs_of(path)
    assert outcome.cell("one", "none · m").doubts == {"cut": 2}
    found = {one.setting.without: one.words for one in rankings(outcome) if one.setting.weighting == "repositories"}
    assert found == {"": "original > none", "cut": "none = original"}


def test_a_mean_of_fewer_tasks_says_of_how_many_and_the_common_ones_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "partial.session"
    waiting: tuple[None, ...] = (None,) * 3
    put_docs(path, {"original": [PASSED, PASSED, FAILED], "osa": [PASSED, PASSED, waiting]}, state="cancelled")
    outcome = docs_of(path)
    assert outcome.common["pass@1"].to_json() == {"items": 6, "of": 9, "means": {"original · m": 1.0, "osa · m": 1.0}}
    text = reports(path, "docs")["md"]
    assert "of 6 of 9 tasks" in text
    assert "mean of 6 common tasks" in text
    assert not outcome.finished


def test_tasks_that_were_never_begun_are_missing_too(tmp_path: Path) -> None:
    path = tmp_path / "begun.session"
    put_docs(path, {"osa": [PASSED, (), FAILED]}, state="cancelled")
    outcome = docs_of(path)
    mean = outcome.by_column[0].means["pass@1"]
    assert (mean.items, [one.words for one in mean.missing]) == (6, ["3 without a value: not begun"])


def test_what_the_paper_has_beside_rests_on_common_tasks(tmp_path: Path) -> None:
    from workbench.studies.beside_paper import beside_paper

    path = tmp_path / "paper.session"
    put_docs(path, {"original": [PASSED, FAILED], "osa-0.3.4:m": [PASSED, (None,) * 3]}, state="cancelled")
    found = beside_paper(docs_of(path))
    assert found is not None
    assert found.own[0].means == {"default": 1.0, "OSA": 1.0}


def test_own_columns_of_other_models_may_have_prompts_that_fit_these(tmp_path: Path) -> None:
    from workbench.studies.conditions import differing

    path = tmp_path / "models.session"
    put_docs(path, {"none": [PASSED]}, rows=("one",))
    work = docs_of(path).cell("one", "none · m").work
    other = replace(
        work, column=Column("none", "n"), conditions={**work.conditions, "prompt": "short-1", "temperature": "0.0"}
    )
    assert differing(work, other) == {}
    assert set(differing(work, replace(other, session="other.session"))) == {"prompt", "temperature"}
    assert set(differing(work, replace(other, column=work.column))) == {"prompt", "temperature"}


def test_a_trial_that_a_cell_names_twice_counts_once(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "twice.session")
    key = agents.put("a", CASES[0], {"offline-2": FULL})
    agents._trials[CASES[0], "a"] = [key, key]
    assert agents.read().cell(CASES[0], "a · local").means["score"].items == 1


def test_numbers_behind_ranked_shares_are_those_of_the_common_trials(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "common.session", Settings(checks=True))
    for case in CASES:
        agents.put("all", case, {"offline-2": FULL}, checked=(4, 1, 0, 0, 1, 0, 0))
        ran = (1, 0, 0, 0, 1, 0, 0) if case == CASES[0] else (0, 0, 0, 9, 1, 0, 0)
        agents.put("few", case, {"offline-2": FULL}, checked=ran)
    outcome = agents.read()
    assert (
        next(one for one in rankings(outcome) if one.setting.measure == "works").words == "few (1 of 1) > all (4 of 5)"
    )
    assert compare(outcome, *outcome.columns, "works").judged == ((4, 5), (1, 1))
    assert [one.brief for one in outcome.by_column[1].means["works"].missing] == ["2 without a share"]


def test_cases_that_columns_do_not_share_are_compared_by_nothing(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "disjoint.session")
    agents.put("a", CASES[0], {"offline-2": FULL})
    agents.put("b", CASES[1], {"offline-2": FULL})
    outcome = agents.read()
    assert places(outcome) == {"a": (None, 0), "b": (None, 0)}
    assert outcome.common["score"].to_json() == {"items": 0, "of": 2, "means": {}}
    assert "0 common cases" in reports(agents.path, "agents")["md"]


def test_trials_of_one_cell_that_were_made_differently_are_named(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "mixed.session", repeats=2)
    agents.put("a", CASES[0], {"offline-2": FULL}, content="c" * 40)
    agents.put("a", CASES[0], {"offline-2": FULL}, repeat=2, content="d" * 40)
    assert any("content of the case" in one and "not made the same" in one for one in agents.read().notes)


def test_errors_of_ours_leave_a_task_without_a_value_and_the_cell_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "errors.session"
    put_docs(path, {"none": [PASSED, ("error",) * 3]})
    outcome = docs_of(path)
    mean = outcome.by_column[0].means["pass@1"]
    assert (mean.value, mean.items, mean.undefined) == (1.0, 3, 3)
    assert "errors of ours" in mean.missing[0].why
    assert not outcome.finished


def test_a_task_that_one_system_lost_is_in_no_mean_that_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "lost.session"
    put_docs(path, {"original": [FAILED, PASSED], "osa": [FAILED, PASSED]})
    with SessionWriter(path) as writer, writer.transaction() as connection:
        connection.execute("UPDATE tasks SET state = 'excluded' WHERE run_id LIKE '%-osa' AND position = 0")
    outcome = docs_of(path)
    assert outcome.common["pass@1"].to_json() == {"items": 3, "of": 6, "means": {"original · m": 1.0, "osa · m": 1.0}}
    assert {one.words for one in rankings(outcome)} == {"original = osa"}
    assert "of 3 of 6 tasks" in reports(path, "docs")["md"]


def put_criteria(agents: Agents, trial: str, criteria: Sequence[Mapping[str, object]]) -> None:
    """Give the scorecard of a trial these criteria."""
    values = card(6.0, judge="offline-2").to_json() | {"criteria": criteria}
    with SessionWriter(agents.path) as writer:
        writer.update("scorecards", {"trial_id": trial}, {"card_blob": writer.blob(json.dumps(values))})


def test_points_that_a_case_without_facts_gets_by_rule_are_said_and_in_no_mean_of_tier_3(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "credited.session")
    agents.put("a", CASES[0], {"offline-2": FULL})
    trial = agents.put("a", CASES[1], {"offline-2": (15.0, 25.0, 15.0, 20.0)})
    third = {
        "tier": 3,
        "key": "purpose",
        "title": "p",
        "points": 15.0,
        "maximum": 30.0,
        "reason": "the case has no facts",
        "judged_by": "rule",
    }
    put_criteria(agents, trial, [third])
    outcome = agents.read()
    assert outcome.cell(CASES[1], "a · local").doubts == {"credited for missing facts": 1}
    assert leaderboard(outcome)[0].tiers[2] == (20.0, 1)
    assert "1 credited for missing facts" in reports(agents.path, "agents")["md"]


def test_own_points_stand_before_those_that_a_grammar_gave(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "own.session")
    for case in CASES:
        trial = agents.put("a", case, {"offline-2": tiers_of(60.0)})
        given = {
            "tier": 1,
            "key": "k",
            "title": "k",
            "points": 15.0,
            "maximum": 15.0,
            "reason": "",
            "judged_by": "rule",
            "given": 50.0,
        }
        put_criteria(agents, trial, [given])
        with SessionWriter(agents.path) as writer, writer.transaction() as connection:
            number = CASES.index(case) + 1
            connection.execute(
                "INSERT INTO calls (id, scope, purpose, model, digest, sample, nth, messages_blob, shape_blob, sampling, attempts, source, "
                "started_at) VALUES (?, '', 'agent', 'local', '', 0, 0, '', 'shape', '{}', '[]', 'model', 0)",
                (number,),
            )
            connection.execute(
                "INSERT INTO steps (trial_id, number, kind, action, target, call_id, at) VALUES (?, 1, 'respond', 'respond', '', ?, 0)",
                (trial, number),
            )
    outcome = agents.read()
    assert outcome.by_column[0].means["score"].own == (10.0, 50.0)
    assert "10.0 of 50.0 own points; in all 60.0" in reports(agents.path, "agents")["md"]
