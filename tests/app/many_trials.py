"""Sessions with many trials, as engines would have left them, for tests and benchmarks of the table of trials."""

from __future__ import annotations

import random
from pathlib import Path

from workbench.session import SessionWriter, create
from workbench.session.rows import ScoreRow

CASES = ("word_counter", "countdown_timer", "password_generator", "python-dotenv", "pyfiglet", "art")
AGENTS = {"white": 74.0, "single-file": 61.0, "no-exploration": 52.0, "planner": 70.0}
MODELS = ("openai/gpt-4o", "replay:/home/somebody/a/very/long/way/to/recorded.session")


def many_trials(path: Path, count: int, seed: int = 1) -> None:
    """Write a session with so many trials of four agents and two models; some failed, some unscored."""
    rng = random.Random(seed)
    create(path)
    pairs = [(case, agent, model) for case in CASES for agent in AGENTS for model in MODELS]
    with SessionWriter(path) as writer, writer.transaction():
        writer.add_run("run-1", "document", {"cases": list(CASES), "judge": "offline"})
        writer.set_run("run-1", state="done", started_at=1.0, finished_at=2.0)
        blob = writer.blob('{"criteria": []}')
        for number in range(count):
            case, agent, model = pairs[number % len(pairs)]
            key, repeat = f"trial-{number:05}", number // len(pairs) + 1
            writer.add_trial(key, "run-1", number, (case, case), agent, model, repeat)
            failed = rng.random() < 0.03
            values: dict[str, object] = {"steps": rng.randint(2, 30), "prompt_tokens": rng.randint(3_000, 90_000),
                      "completion_tokens": 900, "cost_usd": rng.random() / 20, "seconds": rng.uniform(4, 90),
                      "started_at": 1.0 + number, "finished_at": 2.0 + number}  # fmt: skip
            if failed:
                values["error"] = "openai/gpt-4o failed: the server answered 500 four times."
            writer.set_trial(key, state="failed" if failed else "done", **values)
            if not failed:
                tiers = [15.0, 25.0, *(min(30.0, max(0.0, rng.gauss((AGENTS[agent] - 40) / 2, 3))) for _ in range(2))]
                writer.put_score(ScoreRow(key, "aeo-bench", "offline-4", sum(tiers), 100.0, *tiers, blob, 99.0, ""))
                if number % 2:
                    writer.put_score(
                        ScoreRow(key, "strict", "offline-4", sum(tiers) - 9, 100.0, *tiers, blob, 99.0, "")
                    )
