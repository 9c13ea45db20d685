"""A figure rests on whole scores: every consumer of a session in which a judge failed, a case lacks facts, or a format wrote points."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from app.recorded import Recorder, card, word_counter

from workbench import cli
from workbench.app.toolkit.table import Arrangement
from workbench.app.trials.table import TrialTable
from workbench.base.errors import UsageError
from workbench.interop.formats.exporting import export
from workbench.interop.formats.tables import open_session
from workbench.pages import write_report
from workbench.results.scores import last_scores, totals_of
from workbench.results.trials import TrialLine, against_score, load_trials, matrix_of, scores_by_agent
from workbench.search.entries import IndexPart, read_part
from workbench.session import SessionReader

RULES_ONLY = {"total": 40.0, "out_of": 40.0, "tier3": None, "tier4": None, "problem": "the judge failed"}


def recorded(path: Path, *scores: dict[str, object]) -> Path:
    """Record a trial for each change to a whole score of 79, the first one without a change."""
    recorder = Recorder(path)
    recorder.run()
    for number, changed in enumerate(({}, *scores), 1):
        word_counter(recorder, f"trial-{number}", repeat=number)
        if changed:
            recorder.writer.update("scorecards", {"trial_id": f"trial-{number}"}, changed)
    recorder.close()
    return path


def arranged(lines: Sequence[TrialLine], **arrangement: Any) -> TrialTable:
    """Return the table of some trials, sorted and grouped."""
    table = TrialTable()
    table.rows, table.arrangement = tuple(lines), Arrangement(**arrangement)
    table.arrange_rows()
    return table


def test_a_partly_scored_trial_is_in_no_figure_of_the_list(tmp_path: Path) -> None:
    with SessionReader(recorded(tmp_path / "a.session", RULES_ONLY)) as reader:
        trials = load_trials(reader)
        (cases,) = last_scores(reader).values()
    lines = trials.lines
    table = arranged(lines, grouping="agent")
    spread = table.spread_of_group(table.groups()[0])
    assert (spread.mean, spread.scored, spread.partial) == (79.0, 1, 1)
    (cell,) = matrix_of(lines).cells.values()
    assert cell.spread.mean == 79.0
    (drawn,) = scores_by_agent(lines)
    assert drawn.values == (79.0,)
    assert against_score(lines).left_out == 1
    assert arranged(lines, order="score").shown == list(lines)
    assert arranged(lines, order="score", reverse=True).shown == list(lines)
    assert cases[0].share is None


def test_trials_that_all_lack_the_same_tiers_compare_among_themselves(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.session", RULES_ONLY, {**RULES_ONLY, "total": 30.0})
    recorder = Recorder(path)
    recorder.writer.update("scorecards", {"trial_id": "trial-1"}, {**RULES_ONLY, "total": 35.0})
    recorder.close()
    with SessionReader(path) as reader:
        lines = load_trials(reader).lines
    table = arranged(lines, order="score", grouping="agent")
    assert [line.points for line in table.shown] == [40.0, 35.0, 30.0]
    spread = table.spread_of_group(table.groups()[0])
    assert (spread.mean, spread.out_of, spread.left_out) == (35.0, 40.0, "")


def test_reports_and_frames_tell_a_part_from_a_whole(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.session", RULES_ONLY)
    data = json.loads(str(write_report(path, "json", None)))
    assert [one["unscored_tiers"] for one in data["trials"]] == [[], [3, 4]]
    assert {(one["mean"], one["scored"], one["partial"]) for one in data["means"]} == {(79.0, 1, 1)}
    rows = list(csv.DictReader(str(write_report(path, "csv", None)).splitlines()))
    assert [(row["unscored_tiers"], row["out_of strict offline"]) for row in rows] == [("", "100.0"), ("3 4", "40.0")]
    for kind in ("md", "html"):
        assert "1 partly scored" in str(write_report(path, kind, None))
    scores = open_session(path).rows("scores")
    assert [row[scores.columns.index("points")] for row in scores.values] == [79.0, 79.0, None, None]


def test_a_search_by_score_finds_whole_scores_alone(tmp_path: Path) -> None:
    with SessionReader(recorded(tmp_path / "a.session", RULES_ONLY)) as reader:
        items = [read_part(reader, IndexPart("trial", f"trial-{number}"))[0] for number in (1, 2)]
    assert [one.score for one in items if one is not None] == [79.0, None]


def test_only_trials_that_are_known_to_pass_are_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    low = {"total": 59.0, "tier3": 1.0}
    path = recorded(tmp_path / "a.session", RULES_ONLY, low, {})
    recorder = Recorder(path)
    recorder.trial("bare", repeat=9, state="done")
    recorder.trial("failed", repeat=10, state="failed")
    recorder.close()
    assert cli.main(["export", str(path), "--to", "openai", "-o", str(tmp_path / "out.jsonl"), "--accepted"]) == 0
    captured = capsys.readouterr()
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2
    for said in ("1 not done", "1 without a score", "1 with unscored tiers", "1 below 60"):
        assert said in captured.err + captured.out
    with pytest.raises(UsageError, match="1 with unscored tiers"):
        export(path, "openai", tmp_path / "none.jsonl", ["trial-2"], accepted=True)


def test_points_from_a_format_and_for_missing_facts_are_read_from_the_card(tmp_path: Path) -> None:
    path = tmp_path / "a.session"
    recorder = Recorder(path)
    recorder.run()
    for number, name in enumerate(("held", "credited", "free"), 1):
        word_counter(recorder, name, repeat=number)
    held, credited = card(), card()
    for one in held["criteria"]:  # type: ignore[attr-defined]
        one["given"] = one["points"] / 2
    for one in credited["criteria"]:  # type: ignore[attr-defined]
        if one["tier"] == 3:
            one |= {"judged_by": "rule", "points": one["maximum"] / 2}
    recorder.score("held", held)
    recorder.score("credited", credited)
    recorder.writer.update("scorecards", {"trial_id": "credited"}, {"tier3": 15.0})
    call = recorder.writer.insert(
        "calls",
        {
            "run_id": "run-1", "scope": "held", "purpose": "agent", "model": "local", "digest": "d", "sample": 0, "nth": 0,
            "messages_blob": recorder.writer.blob("[]"), "response_schema_blob": recorder.writer.blob("grammar"), "sampling": "{}",
            "attempts": "[]", "source": "live", "started_at": 1.0,
        },
    )  # fmt: skip
    recorder.writer.update("steps", {"trial_id": "held", "number": 4}, {"call_id": call})
    recorder.close()
    with SessionReader(path) as reader:
        totals = totals_of(reader, [row for row in reader.scores() if row.rubric == "aeo-bench"])
        table = arranged(load_trials(reader).lines, grouping="agent")
    found = {trial: (one.own is not None, one.credited) for (trial, _, _), one in totals.items()}
    assert found == {"held": (True, False), "credited": (False, True), "free": (False, False)}
    spread = table.spread_of_group(table.groups()[0])
    assert spread.credited == 1
    assert (spread.own, spread.held) == (None, 1)


def test_a_log_of_inspect_has_no_score_of_which_a_part_is_missing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.session")
    recorder.run()
    word_counter(recorder, "whole")
    word_counter(recorder, "part", repeat=2, accuracy=None)
    recorder.close()
    export(recorder.path, "inspect", tmp_path / "log.json")
    samples = json.loads((tmp_path / "log.json").read_text())["samples"]
    assert [sorted(one.get("scores", {})) for one in samples] == [
        ["aeo-bench (offline)", "strict (offline)"],
        ["strict (offline)"],
    ]
