"""Two document runs: trials joined by what they are, by points that both have."""

from __future__ import annotations

from pathlib import Path

from app.recorded import Recorder, card

from workbench.comparison import compare_runs, scales_of
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


def test_trials_are_joined_and_the_largest_difference_comes_first(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("one", 50), "a2": ("two", 60), "a3": ("three", 1)})
    there = recorded(
        tmp_path / "b.session",
        {"b1": ("one", 40), "b2": ("two", 90), "b3": ("three", None), "b4": ("four", 9)},
        "single",
    )
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compare_runs((a, "run-1"), (b, "run-1"))
        assert found is not None
        assert compare_runs((a, "run-1"), (b, "gone")) is None
    assert [(pair.either.trial.case_id, pair.difference) for pair in found.pairs] == [
        ("two", 30),
        ("one", -10),
        ("three", None),
        ("four", None),
    ]
    assert (found.means, found.tally) == ((55, 65), (1, 0, 1))
    assert (found.common, found.only_left, found.only_right) == (3, 0, 1)
    # Each run has one agent, and not the same: that is what they are compared for.
    assert found.ignored == ("agent",)
    assert found.to_json()["mean"] == {"a": 55, "b": 65, "difference": 10}


def test_repeats_are_compared_by_their_means_and_not_by_their_numbers(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("one", 50), "a2": ("one", 70), "a3": ("one", None)})
    there = recorded(tmp_path / "b.session", {"b1": ("one", 40), "b2": ("two", 90)})
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compare_runs((a, "run-1"), (b, "run-1"))
    assert found is not None
    (pair,) = found.compared
    assert pair.left is not None
    assert (pair.difference, pair.left.points, pair.left.count) == (-20, 60, "2 of 3")
    assert found.tally == (0, 0, 1)


def test_trials_of_which_other_tiers_are_scored_have_no_difference(tmp_path: Path) -> None:
    here, there = (recorded(tmp_path / f"{name}.session", {name: ("one", 40)}) for name in "ab")
    recorder = Recorder(there)
    recorder.writer.update("scorecards", {"trial_id": "b"}, {"tier3": None, "tier4": None, "out_of": 40.0})
    recorder.close()
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compare_runs((a, "run-1"), (b, "run-1"))
    assert found is not None
    assert (found.compared, found.means) == ((), (None, None))


def test_judges_that_differ_are_taken_each_and_their_points_are_not_compared(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("one", 50)})
    there = recorded(tmp_path / "b.session", {"b1": ("one", 40)}, judge="offline-3")
    with SessionReader(here) as a, SessionReader(there) as b:
        assert scales_of((a, "a1"), (b, "b1"), "aeo-bench", "offline") == (
            ("aeo-bench", "offline"), ("aeo-bench", "offline-3"),
        )  # fmt: skip
        assert scales_of((a, "a1"), (a, "a1"), "aeo-bench", "offline-3") == (("aeo-bench", "offline"),) * 2
        found = compare_runs((a, "run-1"), (b, "run-1"))
    assert found is not None
    assert (found.left.scale[1], found.right.scale[1], found.pairs[0].difference) == ("offline", "offline-3", None)
