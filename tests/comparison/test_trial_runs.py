"""Two document runs: trials joined by what they are, by points that both have."""

from __future__ import annotations

from pathlib import Path

from app.recorded import Recorder, card

from workbench.comparison import compare_runs, scales_of
from workbench.session import SessionReader


def recorded(path: Path, trials: dict[str, tuple[str, int, float | None]], *, judge: str = "offline") -> Path:
    """Record a run with trials: id → (agent, repeat, points)."""
    recorder = Recorder(path)
    recorder.run()
    for place, (key, (agent, repeat, points)) in enumerate(trials.items()):
        recorder.writer.add_trial(key, "run-1", place, ("word_counter", "word_counter"), agent, "local", repeat)
        recorder.writer.set_trial(key, state="done")
        if points is not None:
            recorder.score(key, card(judge=judge))
            recorder.writer.update("scorecards", {"trial_id": key}, {"total": points})
    recorder.close()
    return path


def test_trials_are_joined_and_the_largest_difference_comes_first(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("white", 1, 50), "a2": ("white", 2, 60), "a3": ("white", 3, 1)})
    there = recorded(
        tmp_path / "b.session",
        {"b1": ("single", 1, 40), "b2": ("single", 2, 90), "b3": ("single", 3, None), "b4": ("single", 4, 9)},
    )
    with SessionReader(here) as a, SessionReader(there) as b:
        found = compare_runs((a, "run-1"), (b, "run-1"))
        assert found is not None
        assert compare_runs((a, "run-1"), (b, "gone")) is None
    assert [(pair.either.trial.repeat, pair.difference) for pair in found.pairs] == [
        (2, 30),
        (1, -10),
        (3, None),
        (4, None),
    ]
    assert (found.means, found.tally) == ((55, 65), (1, 0, 1))
    assert (found.common, found.only_left, found.only_right) == (3, 0, 1)
    # Each run has one agent, and not the same: that is what they are compared for.
    assert found.ignored == ("agent",)
    assert found.to_json()["mean"] == {"a": 55, "b": 65, "difference": 10}


def test_judges_that_differ_are_taken_each_and_named(tmp_path: Path) -> None:
    here = recorded(tmp_path / "a.session", {"a1": ("white", 1, 50)})
    there = recorded(tmp_path / "b.session", {"b1": ("white", 1, 40)}, judge="offline-3")
    with SessionReader(here) as a, SessionReader(there) as b:
        assert scales_of((a, "a1"), (b, "b1"), "aeo-bench", "offline") == (
            ("aeo-bench", "offline"), ("aeo-bench", "offline-3"),
        )  # fmt: skip
        assert scales_of((a, "a1"), (a, "a1"), "aeo-bench", "offline-3") == (("aeo-bench", "offline"),) * 2
        found = compare_runs((a, "run-1"), (b, "run-1"))
    assert found is not None
    assert (found.left.scale[1], found.right.scale[1], found.pairs[0].difference) == ("offline", "offline-3", -10)
