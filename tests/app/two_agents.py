"""A session in which two agents document the same cases, and the second one loses points in one criterion."""

from __future__ import annotations

import json
from pathlib import Path

from app.recorded import Recorder, card

from workbench.session.rows import ScoreRow

REPEATS = 3


def two_agents(path: Path, *, cases: int, unscored: int = 0) -> Path:
    """Record both agents' trials: ``second`` misses three points of Usage in two repeats of each case but the first.

    Clarity of the last ``unscored`` cases of ``second`` is not scored.
    """
    recorder = Recorder(path)
    recorder.run()
    place = 0
    for agent in ("white", "second"):
        for number in range(cases):
            for repeat in range(1, REPEATS + 1):
                trial, case = f"{agent}-{number}-{repeat}", f"case-{number}"
                recorder.writer.add_trial(trial, "run-1", place, (case, case), agent, "local", repeat)
                recorder.writer.set_trial(trial, state="done", started_at=1.0 + place)
                place += 1
                second = agent == "second"
                loses = second and number > 0 and repeat < REPEATS
                _score(recorder, trial, usage=6.0 if loses else 9.0, clear=not (second and number >= cases - unscored))
    recorder.close()
    return path


def _score(recorder: Recorder, trial: str, *, usage: float, clear: bool) -> None:
    whole = card()
    criteria = whole["criteria"]
    assert isinstance(criteria, list)
    for one in criteria:
        if one["key"] == "usage":
            one["points"] = usage
        if one["key"] == "clarity" and not clear:
            one["points"] = None
    fourth = 23.0 if clear else None
    tiers = (15.0, 16.0 + usage, 21.0, fourth)
    total, out_of = sum(tier or 0.0 for tier in tiers), 100.0 if clear else 70.0
    blob = recorder.writer.blob(json.dumps(whole))
    recorder.writer.put_score(ScoreRow(trial, "aeo-bench", "offline", total, out_of, *tiers, blob, 99.0))
