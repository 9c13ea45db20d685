"""Two runs or agents: trials joined by what they are, by points that both have."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.compared import two_agents
from app.recorded import Recorder, card

from workbench.base.errors import UsageError
from workbench.comparison.panes import PairComparison
from workbench.comparison.trial_sets import TRIAL_SETS, ChosenTrials, compare_trials
from workbench.comparison.trials import common_scales
from workbench.session import SessionReader


def recorded(
    path: Path, trials: dict[str, tuple[str, float | None]], agent: str = "white", *, judge: str = "offline"
) -> Path:
    """Record a run with trials: id → (case, points)."""
    recorder = Recorder(path)
    recorder.run()
    for place, (key, (case, points)) in enumerate(trials.items()):
        recorder.writer.add_trial(key, "run-1", place, (case, case), agent, "local", place + 1)
        recorder.writer.set_trial(key, state="done")
        if points is not None:
            recorder.score(key, card(judge=judge))
            recorder.writer.update("scorecards", {"trial_id": key}, {"total": points})
    recorder.close()
    return path


def compared(left: SessionReader, right: SessionReader) -> PairComparison:
    return TRIAL_SETS.read((left, "run-1"), (right, "run-1"))


def test_trials_are_joined_and_the_largest_difference_comes_first(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("one", 50), "a2": ("two", 60), "a3": ("three", 1)})
    there = recorded(
        tmp_path / "b.session",
        {"b1": ("one", 40), "b2": ("two", 90), "b3": ("three", None), "b4": ("four", 9)},
        "single",
    )
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compared(a, b)
        with pytest.raises(UsageError, match=r"Run B is not in b\.session"):
            TRIAL_SETS.read((a, "run-1"), (b, "gone"))
    assert [(pair.either.trial.case_id, pair.gap) for pair in found.panes["Trials"].rows] == [
        ("two", 30),
        ("one", -10),
        ("three", None),
        ("four", None),
    ]
    values = found.to_json()
    assert values["mean"] == {"a": 55, "b": 65, "difference": 10}
    assert [values[name] for name in ("wins", "ties", "losses")] == [1, 0, 1]
    assert [values[name] for name in ("common_trials", "only_a", "only_b")] == [3, 0, 1]
    # Each run has one agent, and not the same: that is what they are compared for.
    assert values["joined_without"] == ["agent"]


def test_repeats_are_compared_by_their_means_and_not_by_their_numbers(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("one", 50), "a2": ("one", 70), "a3": ("one", None)})
    there = recorded(tmp_path / "b.session", {"b1": ("one", 40), "b2": ("two", 90)})
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compared(a, b)
    pair = found.panes["Trials"].rows[0]
    assert (pair.gap, pair.left.mean.points, pair.left.count) == (-20, 60, "2 of 3")
    assert (found.to_json()["compared"], found.to_json()["losses"]) == (1, 1)


def test_trials_of_which_other_tiers_are_scored_have_no_difference(tmp_path: Path) -> None:
    here, there = (recorded(tmp_path / f"{name}.session", {name: ("one", 40)}) for name in "ab")
    recorder = Recorder(there)
    recorder.writer.update("scorecards", {"trial_id": "b"}, {"tier3": None, "tier4": None, "out_of": 40.0})
    recorder.close()
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compared(a, b)
    assert (found.to_json()["compared"], found.to_json()["mean"]["a"]) == (0, None)


def test_judges_that_differ_are_taken_each_and_their_points_are_not_compared(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("one", 50)})
    there = recorded(tmp_path / "b.session", {"b1": ("one", 40)}, judge="offline-4")
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compared(a, b)
    mine, other = ("aeo-bench", "offline"), ("aeo-bench", "offline-4")
    assert common_scales([mine], [other], *mine) == (mine, other)
    assert common_scales([mine], [mine], *other) == (mine, mine)
    values = found.to_json()
    assert values["points"] == []
    assert (values["a"]["judge"], values["b"]["judge"], values["trials"][0]["difference"]) == (
        "offline", "offline-4", None,
    )  # fmt: skip


def test_criteria_are_paired_by_case_and_say_what_is_missing(tmp_path: Path) -> None:
    with SessionReader(two_agents(tmp_path / "two.session", cases=8, unscored=2)) as reader:
        rows = reader.trials()
        sides = [
            ChosenTrials(reader, [row for row in rows if row.agent == agent], agent) for agent in ("white", "second")
        ]
        found = compare_trials(*sides)
    by_part = {(one["tier"] or 0, one["criterion"] or ""): one for one in found.to_json()["points"]}
    usage, clarity = by_part[2, "Usage"], by_part[4, "Clarity"]
    # Usage costs B three points in each case but one, in two repeats of three; the tier loses what its criterion loses.
    assert (usage["a"], usage["b"], usage["difference"]) == (9.0, pytest.approx(7.25), -1.75)
    assert by_part[2, ""]["difference"] == usage["difference"]
    assert usage["low"] < -1.75 < usage["high"] < 0
    assert usage["p"] == pytest.approx(2 / 2**7), "seven cases lose, one is equal"
    assert usage["p_holm"] == pytest.approx(12 * 2 / 2**7), "of twelve criteria"
    assert "8 cases" in usage["test"]
    assert (usage["trials"], usage["missing"]) == (8, 0)
    # Clarity of B is unscored in all repeats of two cases: it is compared over the six others, as is the total.
    assert [clarity[name] for name in ("trials", "missing", "difference")] == [6, 2, 0.0]
    assert (by_part[0, ""]["trials"], by_part[0, ""]["missing"]) == (6, 2)
