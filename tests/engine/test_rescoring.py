"""Recorded trials scored by other judges: no agent runs, scores stand side by side, and what is missing is asked for again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.judging import MAXIMA, REFUSED, Body, points

from workbench.cli import main
from workbench.orders import running
from workbench.orders.rescore import RescoreOrder
from workbench.session import SessionReader
from workbench.session.pending_work import unfinished

Until = Callable[..., Any]
MODEL = ["--model", "openai/scripted"]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "judged.session"


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def scores(session: Path) -> dict[tuple[str, str], float | None]:
    with SessionReader(session) as reader:
        return {(score.rubric, score.judge): score.total for score in reader.scores()}


def lavish(body: Body) -> str:
    asked = [key for key in MAXIMA if f"- {key}:" in str(body["messages"])]
    return json.dumps({**{key: MAXIMA[key] for key in asked}, "reasoning": "lovely"})


def test_another_judge_scores_what_is_recorded_and_the_first_stays(court, session, capsys):
    assert main(["run", "word_counter", *MODEL, "--judge", "openai/judge", "--session", str(session)]) == 0
    before, written = scores(session), court.written
    capsys.readouterr()
    court.judge = lavish
    assert main(["rescore", str(session), "--judge", "offline,openai/judge-2", "--rubric", "strict", "--json"]) == 0
    printed = lines(capsys)
    closing = printed[-1]
    assert [(case["judge"], case["rubric"], case["status"]) for case in closing["cases"]] == [
        ("offline-4", "strict", "done"),
        ("openai/judge-2", "strict", "done"),
    ]
    assert {line["judge"] for line in printed if line["type"] == "trial"} == {"offline-4", "openai/judge-2"}
    assert court.written == written
    after = scores(session)
    assert {key: after[key] for key in before} == before
    assert after.keys() - before.keys() == {("strict", "offline-4"), ("strict", "openai/judge-2")}
    assert after["strict", "openai/judge-2"] > (before["strict", "openai/judge"] or 0)  # type: ignore[operator]
    # Scores by the same judge are given anew, at no cost where its answers are recorded.
    judged = court.judged
    assert main(["rescore", str(session), "word_counter", "--judge", "openai/judge-2", "--rubric", "strict"]) == 0
    assert court.judged == judged
    assert scores(session) == after
    with SessionReader(session) as reader:
        assert unfinished(reader) == []


@pytest.mark.slow
def test_run_with_another_judge_never_shows_the_old_scores_as_new(court, session, capsys):
    ordered = ["run", "word_counter", *MODEL, "--session", str(session), "--json"]
    assert main([*ordered, "--judge", "offline"]) == 0
    (first,) = lines(capsys)[-1]["cases"]
    written = court.written
    assert main([*ordered, "--judge", "openai/judge"]) == 0
    told = capsys.readouterr()
    (again,) = json.loads(told.out.splitlines()[-1])["cases"]
    assert "1 of 1 trials are already in the session: no agent is run" in told.err
    assert (again["trial"], again["judge"], again["status"]) == (first["trial"], "openai/judge", "done")
    assert again["score"] != first["score"]
    assert court.written == written
    # The first order again gives what it gave.
    assert main([*ordered, "--judge", "offline"]) == 0
    assert lines(capsys)[-1]["cases"] == [first]
    # Asked more often, the judge gives a mean over so many answers.
    assert main([*ordered, "--judge", "openai/judge", "--judge-repeats", "3"]) == 0
    with SessionReader(session) as reader:
        card = next(score for score in reader.scores() if (score.rubric, score.judge) == ("strict", "openai/judge"))
        assert {len(c["samples"]) for c in reader.card(card)["criteria"] if c["judged_by"] != "rule"} == {3}


def test_a_judge_that_fails_leaves_unscored_what_a_resume_asks_for_again(court, session, capsys):
    assert main(["run", "word_counter", *MODEL, "--judge", "offline", "--session", str(session)]) == 0
    before = scores(session)
    capsys.readouterr()
    court.judge = lambda body: REFUSED
    assert main(["rescore", str(session), "--judge", "openai/judge", "--json"]) == 1
    (case,) = lines(capsys)[-1]["cases"]
    assert (case["status"], case["tiers"]["3"], case["judge"]) == ("unscored", None, "openai/judge")
    with SessionReader(session) as reader:
        first, second = sorted(reader.runs(), key=lambda run: run.created_at)
        # The trial's own run lacks nothing.
        assert [reader.run_state(run) for run in (first, second)] == ["done", "unscored"]
        assert [run.id for run in unfinished(reader)] == [second.id]
    court.judge = points
    written = court.written
    assert main(["resume", str(session), "--json"]) == 0
    cases = {case["judge"]: case["status"] for case in lines(capsys)[-1]["cases"]}
    assert cases == {"offline-4": "done", "openai/judge": "done"}
    assert court.written == written
    assert {key: value for key, value in scores(session).items() if key in before} == before


def test_a_cancelled_rescore_is_resumed_and_the_spend_limit_holds(court, session, until, capsys):
    assert main(["run", "word_counter", *MODEL, "--judge", "offline", "--session", str(session)]) == 0
    run = RescoreOrder(session, judges=["openai/judge"]).submit().runs[0]
    running.cancel(session, run)
    with SessionReader(session) as reader:
        assert [row.id for row in unfinished(reader)] == [run]
    running.resume(session, run)

    def ended() -> bool:
        with SessionReader(session) as reader:
            row = reader.run(run)
            return row is not None and reader.run_state(row) == "done" and reader.holder(run) is None

    until(ended)
    assert ("strict", "openai/judge") in scores(session)
    judged = court.judged
    capsys.readouterr()
    assert main(["rescore", str(session), "--judge", "openai/gpt-4o", "--spend-limit", "0.0000001"]) == 1
    assert court.judged - judged <= 1


WRONG = [
    (["nothing"], "has no trial 'nothing'"),
    (["--rubric", "harsh"], "no rubric 'harsh'"),
    (["--judge", "nobody/at-all"], "nobody"),
    (["--judge", "offline,,"], "separated by commas"),
    (["--judge-repeats", "0"], "whole number"),
]


def test_wrong_use_is_one_sentence_and_writes_nothing(court, session, capsys):
    assert main(["run", "word_counter", *MODEL, "--judge", "offline", "--session", str(session)]) == 0
    for arguments, says in WRONG:
        capsys.readouterr()
        assert main(["rescore", str(session), *arguments]) == 2
        assert says in " ".join(capsys.readouterr().err.split())
    with SessionReader(session) as reader:
        assert len(reader.runs()) == 1


@pytest.mark.slow
def test_judges_stand_side_by_side_with_their_agreement(court, session, tmp_path, capsys):
    assert main(["run", "word_counter", *MODEL, "--judge", "offline", "--repeats", "2", "--session", str(session)]) == 0
    assert main(["rescore", str(session), "--judge", "openai/judge"]) == 0
    capsys.readouterr()
    assert main(["show", str(session)]) == 0
    assert "Agreement" not in capsys.readouterr().out  # two documents say nothing of it
    assert main(["run", "word_counter", *MODEL, "--judge", "offline", "--repeats", "4", "--session", str(session)]) == 0
    assert main(["rescore", str(session), "--judge", "openai/judge"]) == 0
    capsys.readouterr()
    assert main(["show", str(session)]) == 0
    told = capsys.readouterr().out
    assert "Agreement of judges" in told
    assert "offline-4 / openai/judge" in told
    report = tmp_path / "report.json"
    assert main(["report", str(session), "--format", "json", "--output", str(report)]) == 0
    found = json.loads(report.read_text())["agreement"]
    whole = {(one["rubric"], one["tier"]): one for one in found if not one["criterion"]}
    assert whole.keys() == {("aeo-bench", 3), ("aeo-bench", 4), ("strict", 3), ("strict", 4)}
    assert {one["documents"] for one in found} == {4}
    with SessionReader(session) as reader:
        by = {(score.trial_id, score.judge): score for score in reader.scores() if score.rubric == "strict"}
        differences = [
            (by[trial, "openai/judge"].tier4 or 0) - (by[trial, "offline-4"].tier4 or 0)
            for trial, judge in by
            if judge == "offline-4"
        ]
    assert whole["strict", 4]["difference"] == pytest.approx(sum(differences) / 4)
    for kind in ("md", "html"):
        path = tmp_path / f"report.{kind}"
        assert main(["report", str(session), "--format", kind, "--output", str(path)]) == 0
        assert "Agreement of judges" in path.read_text()
