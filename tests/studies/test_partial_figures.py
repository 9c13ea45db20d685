"""A figure of trials carries what it is of, what is missing and why; judges, places and shares rest on what is compared."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from studies.partial_studies import (
    CASES,
    FULL,
    Agents,
    mean_of,
    places,
    put_criteria,
    report,
    tiers_of,
)

from workbench.session import SessionWriter
from workbench.session.judges import RULE
from workbench.studies.comparing import compare, rankings
from workbench.studies.declaration import StudySettings
from workbench.studies.leaderboard import leaderboard


@pytest.fixture
def judge_failed(tmp_path: Path) -> Agents:
    """Two trials of one agent in each case: one of 50 points, one of which the judge failed."""
    agents = Agents(tmp_path / "judge.session", repeats=2)
    for case in CASES:
        for repeat in (1, 2):
            agents.put("good", case, {"offline-4": tiers_of(80.0 + repeat)}, repeat=repeat)
        agents.put("half", case, {"offline-4": tiers_of(50.0)})
        agents.put("half", case, {"offline-4": (15.0, 25.0, None, None)}, repeat=2, problem="The judge gave no answer.")
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


def test_every_format_says_how_many_are_unscored_and_why(judge_failed: Agents) -> None:
    judge_failed.read()
    texts = {form: report(judge_failed.path, "agents", form) for form in ("md", "html", "csv", "json", "latex")}
    for form, text in texts.items():
        assert "The judge gave no answer" in text, form
        assert "100.0" not in text.replace("100.0 USD", ""), form
    assert all("3 unscored" in texts[form] for form in ("md", "html", "latex"))
    rows = [row for row in csv.DictReader(io.StringIO(texts["csv"])) if row["system"] == "half"]
    by_kind = {kind: [row for row in rows if row["kind"] == kind] for kind in ("cell", "trial", "column")}
    cells = {(row["score"], row["score_items"], row["score_undefined"]) for row in by_kind["cell"]}
    assert cells == {("50.0", "1", "1")}
    assert sorted(row["score"] for row in by_kind["trial"]) == ["", "", "", "50.0", "50.0", "50.0"]
    (column,) = by_kind["column"]
    assert (column["score"], column["place"]) == ("50.0", "2")
    assert column["score_missing"] == "3 unscored: The judge gave no answer."
    missing = json.loads(texts["json"])["columns"][1]["means"]["score"]["missing"]
    assert missing == [{"state": "unscored", "why": "The judge gave no answer.", "count": 3}]


def test_a_trial_without_facts_has_no_total_and_is_compared_with_nothing(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "facts.session")
    for case in CASES:
        agents.put("good", case, {"offline-4": FULL})
        agents.put("nofacts", case, {"offline-4": (15.0, 25.0, None, 20.0)}, problem="no facts")
    outcome = agents.read()
    assert (mean_of(outcome, "good"), mean_of(outcome, "nofacts")) == (80.0, None)
    assert places(outcome) == {"good": (1, 3), "nofacts": (None, 3)}
    assert not any(one.items for one in rankings(outcome))
    line = next(one for one in leaderboard(outcome) if one.summary.column.system == "nofacts")
    assert (line.tiers, line.tier_trials) == ((15.0, 25.0, None, 20.0), (3, 3, 0, 3))
    assert any("nofacts" in one and "no facts" in one for one in outcome.notes)


def test_means_of_judges_are_over_what_each_scored_and_over_what_all_did(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "judges.session", StudySettings(judges=("openai/gpt",)))
    for number, case in enumerate(CASES):
        first = {"openai/gpt": tiers_of(60.0)}
        agents.put("a", case, {"offline-4": tiers_of(80.0 if not number else 40.0), **(first if not number else {})})
        agents.put("b", case, {"offline-4": tiers_of(70.0), **({"openai/gpt": tiers_of(55.0)} if not number else {})})
    outcome = agents.read()
    by_judge = {one.summary.column.system: one.by_judge for one in leaderboard(outcome)}
    offline = {agent: found["offline-4"] for agent, found in by_judge.items()}
    assert {agent: (one.mean.value, one.mean.items) for agent, one in offline.items()} == {
        "a": (pytest.approx(160 / 3), 3), "b": (pytest.approx(70.0), 3)
    }  # fmt: skip
    assert {agent: (one.common.value, one.common.items) for agent, one in offline.items()} == {
        "a": (80.0, 1),
        "b": (70.0, 1),
    }
    reason = outcome.cell("word_counter", "a · local").problem
    assert reason == "1 unscored: scored by offline-4, this study by openai/gpt: rescore"


def test_a_rubric_that_a_study_declares_is_not_replaced_by_another(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "rubric.session", StudySettings(rubrics=("strict",)))
    for case in CASES:
        agents.put("a", case, {"offline-4": FULL})
    outcome = agents.read()
    assert outcome.scale == ("strict", RULE)
    assert mean_of(outcome, "a") is None
    assert (
        f"scored by aeo-bench by offline-4, this study by strict by {RULE}: rescore"
        in outcome.cell(CASES[0], "a · local").problem
    )
    # Where nothing is declared, what there is counts, and the page says by what.
    agents = Agents(tmp_path / "undeclared.session")
    agents.put("a", CASES[0], {"openai/gpt": FULL})
    assert agents.read().scale == ("aeo-bench", "openai/gpt")


def test_places_are_over_the_cases_that_all_have(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "rows.session")
    for case, points in zip(CASES, (95.0, 50.0, 50.0), strict=True):
        agents.put("all", case, {"offline-4": tiers_of(points)})
    agents.put("easy", CASES[0], {"offline-4": tiers_of(90.0)})
    for case in CASES[1:]:
        agents.put("easy", case, {}, error="no key")
    outcome = agents.read()
    assert places(outcome) == {"all": (1, 1), "easy": (2, 1)}
    assert outcome.common["score"].to_json() == {
        "items": 1,
        "of": 3,
        "means": {"all · local": 95.0, "easy · local": 90.0},
    }
    text = report(agents.path, "agents")
    assert "1 (of 1 case)" in text
    assert "2 failed" in text


def test_shares_say_of_how_many_blocks_they_are(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "works.session", StudySettings(checks=True))
    for case in CASES:
        agents.put("thorough", case, {"offline-4": FULL}, checked=(8, 2, 0, 0, 5, 1, 0))
        agents.put("one", case, {"offline-4": FULL}, checked=(1, 0, 0, 40, 1, 0, 60))
    outcome = agents.read()
    assert outcome.cell(CASES[0], "one · local").means["works"].judged == (1, 1, 41)
    ranked = next(one for one in rankings(outcome) if one.setting.measure == "works")
    assert ranked.words == "one (3 of 3) > thorough (24 of 30)"
    text = report(agents.path, "agents")
    assert "100.0 (1 of 1 block, 40 not run; too few for an interval)" in text
    assert "(3 of 3 blocks, 120 not run)" in text


def test_forks_and_trials_of_archived_runs_are_nowhere(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "away.session")
    for case in CASES:
        agents.put("a", case, {"offline-4": FULL})
        agents.put("gone", case, {"offline-4": FULL})
    fork = agents.put("a", CASES[0], {"offline-4": tiers_of(100.0)}, repeat=2)
    with SessionWriter(agents.path) as writer:
        writer.archive_run("run-gone")
        writer.update("trials", {"id": fork}, {"parent": "another", "fork_step": 1})
    outcome = agents.read()
    assert (mean_of(outcome, "a"), mean_of(outcome, "gone")) == (80.0, None)
    gone = next(one for one in outcome.by_column if one.column.system == "gone")
    assert (gone.tokens, gone.cost_usd) == (0, None)
    assert "archived" in outcome.cell(CASES[0], "gone · local").problem
    assert not outcome.finished


def test_trials_of_one_cell_that_were_made_differently_are_named(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "mixed.session", repeats=2)
    agents.put("a", CASES[0], {"offline-4": FULL}, content="c" * 40)
    agents.put("a", CASES[0], {"offline-4": FULL}, repeat=2, content="d" * 40)
    assert any("content of the case" in one and "not have the same conditions" in one for one in agents.read().notes)


def test_points_that_a_case_without_facts_gets_by_rule_are_said_and_in_no_mean_of_tier_3(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "credited.session")
    agents.put("a", CASES[0], {"offline-4": FULL})
    trial = agents.put("a", CASES[1], {"offline-4": (15.0, 25.0, 15.0, 20.0)})
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
    first = leaderboard(outcome)[0]
    assert (first.tiers[2], first.tier_trials[2]) == (20.0, 1)
    assert "1 credited for missing facts" in report(agents.path, "agents")


def test_own_points_stand_before_those_that_a_grammar_gave(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "own.session")
    for case in CASES:
        trial = agents.put("a", case, {"offline-4": tiers_of(60.0)})
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
                "INSERT INTO calls (id, scope, purpose, model, digest, sample, nth, messages_blob, response_schema_blob, sampling, attempts, source, "
                "started_at) VALUES (?, '', 'agent', 'local', '', 0, 0, '', 'shape', '{}', '[]', 'model', 0)",
                (number,),
            )
            connection.execute(
                "INSERT INTO steps (trial_id, number, kind, action, target, call_id, at) VALUES (?, 1, 'respond', 'respond', '', ?, 0)",
                (trial, number),
            )
    outcome = agents.read()
    assert outcome.by_column[0].means["score"].own == (10.0, 50.0)
    assert "10.0 of 50.0 own points; overall 60.0" in report(agents.path, "agents")


def test_cases_that_columns_do_not_share_are_compared_by_nothing(tmp_path: Path) -> None:
    agents = Agents(tmp_path / "disjoint.session")
    agents.put("a", CASES[0], {"offline-4": FULL})
    agents.put("b", CASES[1], {"offline-4": FULL})
    outcome = agents.read()
    assert places(outcome) == {"a": (None, 0), "b": (None, 0)}
    assert outcome.common["score"].to_json() == {"items": 0, "of": 2, "means": {}}
    assert "0 common cases" in report(agents.path, "agents")
