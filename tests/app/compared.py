"""Sessions to compare: two trials that differ in everything; two agents of which the second loses points in one criterion."""

from __future__ import annotations

import json
from pathlib import Path

from app.recorded import README, RUN, Recorder, card, word_counter

from workbench.session.rows import ScoreRow

SHORT_README = """# word_counter

Count things in text files, like Unix `wc`.

## Features

- Several files with **totals**
- Finds the most common words

## Usage

```bash
python wordcount.py file.txt --top 10
```

## License

MIT, see the file LICENSE.
"""


def poorer_card() -> dict[str, object]:
    """Return a scorecard with fewer points for two criteria, more for one, and one unscored."""
    found = card()
    changes = {"purpose": (4.1, "names no input"), "installation": (0.0, "does not say how to install"),
               "clarity": (10.5, "shorter sentences"), "run_command": (None, "the judge timed out")}  # fmt: skip
    for one in found["criteria"]:
        if one["key"] in changes:
            one["points"], one["reason"] = changes[one["key"]]
    return found


def shorter_trial(recorder: Recorder, trial_id: str, *, repeat: int = 2, readme: str | None = SHORT_README) -> None:
    """Record a trial that only reads one file and answers."""
    recorder.writer.add_trial(
        trial_id, RUN, repeat - 1, ("word_counter", "word_counter"), "single-file", "local", repeat
    )
    recorder.writer.set_trial(trial_id, state="running", started_at=1.0 + repeat)
    recorder.tool(trial_id, 1, "read_file", "wordcount.py", "code", tokens=2_500)
    recorder.seen(trial_id, "wordcount.py", "read", 1, 7_034)
    recorder.tool(trial_id, 2, "read_file", "words.json", "{}", tokens=500)
    recorder.seen(trial_id, "words.json", "read", 2, 65)
    if readme is None:
        recorder.writer.set_trial(trial_id, state="failed", error="openai/gpt-4o failed: the server answered 500.")
        return
    answer = json.dumps({"name": "respond", "kwargs": {"readme": readme}})
    recorder.step(trial_id, 3, "respond", "respond", "README 0.3 kB", answer=answer, tokens=3_000)
    recorder.finish(trial_id, readme=readme)
    recorder.writer.set_trial(trial_id, steps=3, prompt_tokens=5_500, cost_usd=0.0101, seconds=6.5)
    recorder.score(trial_id, poorer_card())
    recorder.writer.update("scorecards", {"trial_id": trial_id}, {"total": 68.2})


def two_trials(path: Path, *, readme: str | None = SHORT_README) -> Path:
    """Record a session with the trials ``long`` and ``short``."""
    recorder = Recorder(path)
    recorder.run()
    word_counter(recorder, "long", readme=README)
    shorter_trial(recorder, "short", readme=readme)
    recorder.close()
    return path


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
