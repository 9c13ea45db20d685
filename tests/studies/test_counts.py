"""The sums that a session keeps of its verdicts are those of its candidates, whatever is written and in whatever order."""

from __future__ import annotations

import random
from pathlib import Path

from studies.declared_studies import put_candidates, put_run, put_task

from workbench.session import SessionReader, SessionWriter, create
from workbench.session.sample_counts import COUNTED, GROUPED


def kept_and_counted(path: Path) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return what the session keeps, and the same counted anew from candidates."""
    names = "task_id, evaluator, prompt, context, settings, control, samples, waiting, counted, passed, doubtful, repaired, tokens, priced"
    with SessionReader(path) as reader:
        kept = reader.query(
            f"SELECT {names}, round(cost_usd, 6), round(seconds, 6) FROM verdict_counts WHERE samples > 0"
        )
        sums = ", ".join(f"sum({sql.format('')}) AS {name}" for name, sql in COUNTED.items())
        anew = f"SELECT {', '.join(GROUPED)}, {sums} FROM candidates GROUP BY {', '.join(GROUPED)}"
        counted = reader.query(f"SELECT {names}, round(cost_usd, 6), round(seconds, 6) FROM ({anew})")
    return sorted(kept), sorted(counted)


def test_whatever_is_written_the_sums_follow(tmp_path: Path) -> None:
    rng = random.Random(7)
    path = tmp_path / "counts.session"
    create(path)
    with SessionWriter(path) as writer:
        run = put_run(writer, "one", "none")
        tasks = [put_task(writer, run, "one", "none", number) for number in range(3)]
        for number, task in enumerate(tasks):
            put_candidates(writer, run, task, "m", [None, "passed", "error"][: number + 1])
        with SessionReader(path) as reader:
            keys = [key for (key,) in reader.query("SELECT id FROM candidates")]
        changes = [
            {"verdict": "passed", "doubtful": "why"}, {"verdict": None}, {"verdict": "failed", "repairs": 2}, {"cost_usd": None},
            {"cost_usd": 0.5, "prompt_tokens": 7}, {"settings": '{"seed":1}'}, {"verdict": "error", "tested_s": 2.5}, {"control": 1},
        ]  # fmt: skip
        with writer.transaction() as connection:
            for _ in range(60):
                writer.update("candidates", {"id": rng.choice(keys)}, rng.choice(changes))
            connection.execute("DELETE FROM candidates WHERE id = ?", (keys[0],))
    kept, counted = kept_and_counted(path)
    assert kept == counted
    assert len(kept) >= 3
