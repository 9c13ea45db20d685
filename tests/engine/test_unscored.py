"""A judge that fails: the README is kept, the reason is shown, the run stays unfinished, and a resume asks the judge again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine.author import README
from engine.judging import NO_POINTS, REFUSED, is_quality, points

from workbench.cli import main
from workbench.session import SessionReader
from workbench.session.pending_work import unfinished
from workbench.session.rows import ScoreRow, TrialRow

MODEL = ["--model", "openai/scripted", "--judge", "openai/judge"]
Printed = list[dict[str, Any]]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "judged.session"


def lines(capsys: pytest.CaptureFixture[str]) -> Printed:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def read(session: Path) -> tuple[TrialRow, dict[str, ScoreRow], str, list[str]]:
    with SessionReader(session) as reader:
        (trial,) = reader.trials()
        cards = {card.rubric: card for card in reader.scores(trial.id)}
        run = reader.run(trial.run_id)
        assert run is not None
        return trial, cards, reader.run_state(run), [row.id for row in unfinished(reader)]


def test_a_judge_that_failed_is_asked_again_and_nothing_else_is(court, session, capsys):
    court.judge = lambda body: NO_POINTS
    assert main(["run", "word_counter", *MODEL, "--session", str(session), "--json"]) == 1
    (case,) = lines(capsys)[-1]["cases"]
    assert (case["status"], case["tiers"]["1"], case["tiers"]["3"], case["tiers"]["4"]) == (
        "unscored",
        15.0,
        None,
        None,
    )
    assert case["problem"].startswith("Tiers 3 and 4 are unscored, because the judge openai/judge failed: ")
    trial, cards, state, missing = read(session)
    assert (trial.state, state, missing) == ("done", "unscored", [trial.run_id])
    assert cards["aeo-bench"].problem == case["problem"]
    with SessionReader(session) as reader:
        assert reader.text(trial.readme_blob) == README
    # It still fails: still unscored, still to be had, and still said.
    written = court.written
    assert main(["resume", str(session), "--json"]) == 1
    assert lines(capsys)[-1]["cases"][0]["status"] == "unscored"
    # It answers: both tiers are there, the agent was asked nothing, and the trial is as it was.
    court.judge = points
    assert main(["resume", str(session), "--json"]) == 0
    (case,) = lines(capsys)[-1]["cases"]
    assert (case["status"], case["problem"], case["tiers"]["4"]) == ("done", None, 15.0)
    assert None not in case["tiers"].values()
    assert court.written == written
    again, cards, state, missing = read(session)
    assert again == trial
    assert (state, missing) == ("done", [])
    assert {card.problem for card in cards.values()} == {""}
    judged = court.judged
    assert main(["resume", str(session), "--json"]) == 0
    assert (court.judged, court.written) == (judged, written)


def test_what_was_judged_is_kept_and_not_asked_for_again(court, session, capsys):
    court.judge = lambda body: REFUSED if is_quality(body) else points(body)
    assert main(["run", "word_counter", *MODEL, "--session", str(session)]) == 1
    told = capsys.readouterr().out
    assert "Tier 4 is unscored, because the judge openai/judge failed" in " ".join(told.split())
    assert f"workbench resume {session}" in told
    assert "? word_counter" in told
    _, before, _, _ = read(session)
    asked: list[bool] = []

    def judge(body: dict[str, object]) -> str:
        asked.append(is_quality(body))
        return points(body)

    court.judge = judge
    assert main(["resume", str(session)]) == 0
    assert asked
    assert all(asked)  # tier 3 had its points
    _, after, _, _ = read(session)
    assert {name: card.tier3 for name, card in after.items()} == {name: card.tier3 for name, card in before.items()}
    assert all(card.tier4 is not None for card in after.values())


def test_a_case_without_facts_is_unscored_by_design(court, session, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "word_counter.py").write_text("print('hello')\n")
    (tmp_path / "mine" / "pyproject.toml").write_text("[project]\nname = 'mine'\n")
    assert main(["run", str(tmp_path / "mine"), *MODEL, "--session", str(session), "--json"]) == 0
    _, cards, state, missing = read(session)
    assert cards["strict"].tier3 is None
    assert (cards["strict"].problem, state, missing) == ("", "done", [])
