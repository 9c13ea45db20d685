"""Sessions of many trials with READMEs, whole scorecards and steps, and of many tasks, for tests and benchmarks of reports."""

from __future__ import annotations

import json
import random
from pathlib import Path

from samples.sessions import add_scores, add_trial

from workbench.rubric.scorecard import Criterion, Evidence, Scorecard
from workbench.rubric.scoring import rubrics
from workbench.session import SessionWriter, create
from workbench.session.identity import candidate_id, task_id

CASES = ("word_counter", "countdown_timer", "password_generator", "python-dotenv", "pyfiglet", "art")
AGENTS = {"white": 0.78, "planner-2": 0.66, "single-file": 0.5}
_WORDS = [
    "counts", "words", "lines", "of", "every", "file", "that", "it", "is", "given", "and", "prints",
    "a", "table", "sorted", "by", "path", "with", "options", "to", "skip", "names",
]  # fmt: skip


def many_reported(path: Path, count: int, *, steps: int = 8, observation: int = 1200, seed: int = 1) -> list[str]:
    """Write so many trials of three agents on six cases, every tenth a fork of the one before; return their ids.

    Some are without a score, some have an unscored tier. ``observation`` is what a step saw, in characters.
    """
    rng = random.Random(seed)
    create(path, "Many trials")
    rubric = next(one for one in rubrics() if one.name == "aeo-bench")
    names: list[str] = []
    pairs = [(case, agent) for case in CASES for agent in AGENTS]
    with SessionWriter(path) as writer, writer.transaction():
        writer.add_run("run1", "document", {"cases": list(CASES), "judge": "offline-4"})
        before = ""
        for number in range(count):
            fork = number % 10 == 9
            # A fork goes on with the case and agent of its parent, and rewrites a part of its README.
            case, agent = pairs[(number - fork) % len(pairs)]
            readme = _changed(before, rng) if fork else _readme(case, rng)
            trial = add_trial(
                writer, "run1", case, 1 + number // len(pairs) + 100 * fork, agent=agent, readme=readme, steps=steps,
                observation=" ".join(rng.choices(_WORDS, k=max(1, observation // 6))) + f"\nneedle{number}end\n",
                parent=names[-1] if fork else "", fork_step=2 if fork else 0, position=number,
            )  # fmt: skip
            before = readme
            names.append(trial)
            if rng.random() > 0.04:
                add_scores(writer, trial, _card(rubric.criteria, AGENTS[agent], rng))
        writer.set_run("run1", state="done", finished_at=1_700_000_100.0)
    return names


def _card(criteria: object, level: float, rng: random.Random) -> Scorecard:
    found = []
    unscored = rng.random() < 0.05
    for one in criteria:  # type: ignore[attr-defined]
        share = min(1.0, max(0.0, rng.gauss(level + (0.2 if one.tier < 3 else 0), 0.22)))
        points = None if unscored and one.tier == 3 else round(share * one.maximum, 1)
        proof = (Evidence("readme", "It counts words.", 10, 26, None, 3),)
        found.append(
            Criterion(one.tier, one.key, one.title, points, float(one.maximum), "a reason that takes a line", proof)
        )
    return Scorecard("aeo-bench", "offline-4", tuple(found))


def _readme(case: str, rng: random.Random) -> str:
    parts = [f"# {case}\n"]
    for title in ("Installation", "Usage", "Examples", "Limits"):
        words = " ".join(rng.choices(_WORDS, k=60)).capitalize()
        parts.append(f"## {title}\n\n{words}.\n\n```bash\npython -m {case} --{rng.choice(_WORDS)} FILE\n```\n")
    return "\n".join(parts)


def _changed(readme: str, rng: random.Random) -> str:
    lines = readme.split("\n")
    return "\n".join(rng.choice(_WORDS) + " " + line if line and rng.random() < 0.15 else line for line in lines)


def many_tasks(path: Path, count: int, *, evaluators: int = 2, samples: int = 4, seed: int = 1) -> None:
    """Write a regeneration run of so many tasks, each with its original body and samples of each evaluator."""
    rng = random.Random(seed)
    create(path, "Many tasks")
    body = "    found = []\n    for line in text.splitlines():\n        found.append(line.strip())\n    return found\n"
    with SessionWriter(path) as writer, writer.transaction():
        plan = {"source": "alpha", "docs": "original", "evaluator": "local", "samples": samples, "k": [1, 3]}
        writer.add_run("reg1", "regenerate", plan)
        for number in range(count):
            task = task_id("snap", f"pkg/m{number % 7}.py", f"function_{number}", 0, "original")
            writer.insert(
                "tasks",
                {
                    "id": task, "run_id": "reg1", "position": number, "snapshot": "snap", "path": f"pkg/m{number % 7}.py",
                    "qualified_name": f"function_{number}", "occurrence": 0, "start_line": 3, "end_line": 9,
                    "coverage": 0.9, "tests": "[]", "test_count": 3, "body_blob": writer.blob(body),
                    "docstring_blob": writer.blob(f"Return the lines, number {number}."), "state": "ready",
                    "controls": json.dumps({"reference": True, "stub": True}),
                },
            )  # fmt: skip
            for who in range(evaluators):
                hard = rng.random()
                for sample in range(samples):
                    passed = rng.random() > hard
                    written = body if sample == 0 else body.replace("line.strip()", f"line  # {rng.choice(_WORDS)}")
                    writer.insert(
                        "candidates",
                        {
                            "id": candidate_id(task, f"model-{who}", "p1", sample), "run_id": "reg1", "task_id": task,
                            "evaluator": f"model-{who}", "sample": sample, "control": 0, "state": "done", "at": 1.0,
                            "body_blob": writer.blob(written), "prompt_tokens": 10, "completion_tokens": 5,
                            "verdict": "passed" if passed else "failed", "tested_s": 0.25,
                        },
                    )  # fmt: skip
        writer.set_run("reg1", state="done")
