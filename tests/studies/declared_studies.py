"""Sessions with a study in them, made by the writer that engines use, without any engine."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from samples.sessions import card

from workbench.regeneration.leakage import measure_leakage
from workbench.session import SessionWriter, create
from workbench.session.identity import candidate_id, task_id, trial_id
from workbench.session.rows import ScoreRow, StudyCellRow
from workbench.studies.declaration import AGENTS, DOCS, Study, StudyColumn

PROMPT, CONTEXT = "paper-content-1", "prefix-1"
SETTINGS = '{"max_tokens":2048,"temperature":1.0,"top_p":0.95}'


def put_matrix(
    path: Path, rows: int, docs: int, evaluators: int, samples: int, tasks: int, rng: random.Random
) -> Study:
    """Write a study ``matrix`` of random verdicts: a later doc system passes a little more often."""
    named = [f"docs{number}" for number in range(docs)]
    models = [f"model/{number}" for number in range(evaluators)]
    study = Study(
        "matrix",
        DOCS,
        tuple(f"repository{number:02d}" for number in range(rows)),
        tuple(StudyColumn(one, model) for one in named for model in models),
        samples=samples,
        k=(1, 3) if samples >= 3 else (1,),
    )
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.put_study(study.name, study.to_json())
        cells = []
        for row in study.rows:
            hard = [rng.random() for _ in range(tasks)]
            for place, one in enumerate(named):
                run = put_run(writer, row, one)
                for number in range(tasks):
                    task = put_task(writer, run, row, one, number, documented=place > 0)
                    for model in models:
                        chance = min(1.0, hard[number] + 0.05 * place)
                        verdicts = ["passed" if rng.random() < chance else "failed" for _ in range(samples)]
                        put_candidates(writer, run, task, model, verdicts)
                cells += [cell_of(study, row, StudyColumn(one, model), run) for model in models]
        writer.put_study_cells(
            [StudyCellRow(**{**cell, "position": place}) for place, cell in enumerate(cells)], instead_of=study.name
        )
    return study


def cell_of(
    study: Study, row: str, column: StudyColumn, run: str | None, problem: str | None = None
) -> dict[str, object]:
    """Return the values of a cell's row, in the form of ``docs``."""
    pointer = json.dumps({"evaluator": column.model, "prompt": PROMPT, "context": CONTEXT})
    return {
        "study": study.name, "row_name": row, "column_name": column.name, "position": 0, "run_id": run, "pointer": pointer,
        "problem": problem,
    }  # fmt: skip


def put_run(writer: SessionWriter, source: str, docs: str, state: str = "done") -> str:
    """Record a regeneration run."""
    run = f"{source}-{docs}"
    writer.add_run(run, "regenerate", {"source": source, "docs": docs, "snapshot": f"snapshot of {source}", "k": [1]})
    writer.set_run(run, state=state)
    return run


def put_task(
    writer: SessionWriter, run: str, source: str, docs: str, number: int, *, documented: bool = True, tests: int = 3
) -> str:
    """Record a task in one of three files."""
    path = f"pkg/file{number % 3}.py"
    key = task_id(source, path, f"function_{number}", 1, docs)
    writer.insert(
        "tasks",
        {
            "id": key, "run_id": run, "position": number, "snapshot": f"snapshot of {source}", "path": path,
            "qualified_name": f"function_{number}", "occurrence": 1, "tests": "[]", "test_count": tests, "docs": docs,
            "docs_scope": "repository", "docstring_blob": "d" if documented else None,
        },
    )  # fmt: skip
    return key


def put_candidates(
    writer: SessionWriter, run: str, task: str, model: str, verdicts: Sequence[str | None], first: int = 0
) -> None:
    """Record samples of a task; None is one without a verdict."""
    for sample, verdict in enumerate(verdicts, first):
        writer.insert(
            "candidates",
            {
                "id": candidate_id(task, model, f"{PROMPT}/{CONTEXT}", sample), "run_id": run, "task_id": task,
                "evaluator": model, "sample": sample, "state": "done" if verdict else "queued", "verdict": verdict,
                "prompt": PROMPT, "context": CONTEXT, "settings": SETTINGS, "prompt_tokens": 100, "completion_tokens": 10,
                "cost_usd": 0.001, "asked_s": 1.0, "tested_s": 0.5, "at": 1_700_000_000.0,
            },
        )  # fmt: skip


def put_agents(
    path: Path, scores: Mapping[tuple[str, str], Sequence[float | None]], *, judges: Sequence[str] = ("offline-4",), name: str = "agents"
) -> Study:  # fmt: skip
    """Write a study of agents; ``scores`` has the points of 100 of each repeat by (case, agent), None for a failed trial."""
    cases = list(dict.fromkeys(case for case, _ in scores))
    agents = list(dict.fromkeys(agent for _, agent in scores))
    repeats = max(len(one) for one in scores.values())
    study = Study(name, AGENTS, tuple(cases), tuple(StudyColumn(agent, "local") for agent in agents), repeats=repeats)
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.put_study(study.name, study.to_json())
        cells = []
        for agent in agents:
            run = f"run-{agent}"
            writer.add_run(run, "document", {"cases": cases, "agent": agent})
            writer.set_run(run, state="done")
            for place, case in enumerate(cases):
                trials = []
                for repeat, points in enumerate(scores.get((case, agent), ()), 1):
                    trials.append(_put_trial(writer, run, agent, case, repeat, points, judges))
                cells.append((case, agent, run, trials, place))
        writer.put_study_cells(
            [
                StudyCellRow(
                    study.name, case, f"{agent} · local", place, run,
                    '{"trials": [' + ", ".join(f'"{trial}"' for trial in trials) + "]}", None,
                )
                for case, agent, run, trials, place in cells
            ],
            instead_of=study.name,
        )  # fmt: skip
    return study


def _put_trial(
    writer: SessionWriter, run: str, agent: str, case: str, repeat: int, points: float | None, judges: Sequence[str]
) -> str:
    key = trial_id(agent, "local", case, repeat)
    writer.add_trial(key, run, repeat, (case, case), agent, "local", repeat)
    done = points is not None
    writer.set_trial(
        key, state="done" if done else "failed", steps=4, prompt_tokens=900, completion_tokens=100, cost_usd=0.02, seconds=3.0,
        error=None if done else "The model gave no answer.",
    )  # fmt: skip
    if points is not None:
        for place, judge in enumerate(judges):
            text = writer.blob(json.dumps(card(6.0, judge=judge).to_json()))
            total = max(0.0, points - 2 * place)
            writer.put_score(
                ScoreRow(key, "aeo-bench", judge, total, 100.0, 15.0, 20.0, 25.0, max(0.0, total - 60.0), text, 1.0)
            )
    return key


SYSTEMS = ("original", "none", "osa-0.3.4:m", "repoagent-0.2.0:m")
"""Doc systems of :func:`put_texts`."""


def put_texts(
    path: Path,
    rng: random.Random,
    *,
    rows: Sequence[str] = ("schema", "troika"),
    tasks: int = 9,
    models: Sequence[str] = ("m", "n"),
) -> Study:
    """Write a study ``texts`` of docs with real texts: a better system's docs share more words with the body, one copies some bodies."""
    columns = tuple(StudyColumn(system, model) for system in SYSTEMS for model in models)
    study = Study("texts", DOCS, tuple(rows), columns, samples=3, k=(1, 3))
    create(path)
    words = ["line", "word", "count", "text", "join", "split", "total", "index", "value", "parse", "check", "merge"]
    with SessionWriter(path) as writer, writer.transaction():
        writer.put_study(study.name, study.to_json())
        cells = []
        for row in study.rows:
            bodies = [
                "\n".join(
                    f"{rng.choice(words)} = {rng.choice(words)}({rng.choice(words)}) + {number}"
                    for _ in range(2 + number % 5)
                )
                for number in range(tasks)
            ]
            for place, system in enumerate(SYSTEMS):
                run = put_run(writer, row, system)
                for number, body in enumerate(bodies):
                    copied = system.startswith("repoagent") and number % 4 == 0
                    said = (
                        body
                        if copied
                        else f"Do it with {' and '.join(rng.sample(words, 2 + place))}.\n\nReturns: a {rng.choice(words)}."
                    )
                    docs = None if system == "none" else said
                    task = put_task(writer, run, row, system, number, tests=1 + number % 4)
                    source = f"def function_{number}(text):\n    " + body.replace("\n", "\n    ") + "\n"
                    known = {
                        "body_blob": writer.blob(body), "docstring_blob": None if docs is None else writer.blob(docs),
                        "source_blob": writer.blob(source), "leak": round(measure_leakage(docs, body).level, 4),
                        "coverage": 0.5 + 0.05 * (number % 7),
                    }  # fmt: skip
                    writer.update("tasks", {"id": task}, known)
                    for model in models:
                        chance = min(0.95, 0.15 + 0.2 * place + 0.05 * (number % 5))
                        verdicts = ["passed" if rng.random() < chance else "failed" for _ in range(3)]
                        put_candidates(writer, run, task, model, verdicts)
                        for sample, verdict in enumerate(verdicts):
                            mine = writer.blob(body if verdict == "passed" else f"return {rng.choice(words)}")
                            key = candidate_id(task, model, f"{PROMPT}/{CONTEXT}", sample)
                            writer.update("candidates", {"id": key}, {"body_blob": mine})
                cells += [cell_of(study, row, StudyColumn(system, model), run) for model in models]
        writer.put_study_cells(
            [StudyCellRow(**{**cell, "position": place}) for place, cell in enumerate(cells)], instead_of=study.name
        )
    return study
