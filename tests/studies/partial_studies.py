"""Sessions with studies in which something is missing, or was made otherwise; written without an engine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from samples.sessions import card
from studies.declared_studies import CONTEXT, PROMPT, SETTINGS, put_task

from workbench.pages.study_report import write_study_report
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.identity import candidate_id, trial_id
from workbench.session.rows import ScoreRow, StudyCellRow
from workbench.studies.declaration import AGENTS, DOCS, Study, StudyColumn, StudySettings
from workbench.studies.leaderboard import leaderboard
from workbench.studies.outcome import StudyOutcome
from workbench.studies.study_reader import read_study

Points = Sequence[float | None]
"""Total by four tiers, None for one that is unscored."""
CASES = ("password_generator", "countdown_timer", "word_counter")
FULL = (15.0, 25.0, 20.0, 20.0)
WORKS = ("works", "fails", "differs", "not_run", "claims_true", "claims_untrue", "claims_unknown")


def tiers_of(total: float) -> Points:
    return 15.0, 25.0, (total - 40) / 2, (total - 40) / 2


class Agents:
    """A session with a study of agents, written trial by trial."""

    def __init__(
        self, path: Path, settings: StudySettings | None = None, repeats: int = 1, results: Sequence[str] = ()
    ) -> None:
        self.path, self._settings, self._repeats, self._results = (
            path,
            settings or StudySettings(),
            repeats,
            tuple(results),
        )
        self._trials: dict[tuple[str, str], list[str]] = {}
        self._agents: dict[str, None] = {}
        create(path)

    def put(
        self, agent: str, case: str, cards: Mapping[str, Points | None], *, repeat: int = 1, problem: str | None = None,
        error: str = "", rubric: str = "aeo-bench", plan: Mapping[str, object] | None = None, content: str = "",
        checked: Sequence[int] = (),
    ) -> str:  # fmt: skip
        """Record a trial with the points of its tiers by judge; one with an error failed."""
        with SessionWriter(self.path) as writer, writer.transaction():
            run = f"run-{agent}"
            with SessionReader(self.path) as reader:
                known = reader.run(run)
            if known is None:
                writer.add_run(run, "document", {"cases": CASES, "agent": agent, **(plan or {})})
                writer.set_run(run, state="done")
            key = trial_id(agent, "local", case, repeat)
            writer.add_trial(key, run, repeat, (case, case), agent, "local", repeat)
            writer.set_trial(
                key, state="failed" if error else "done", error=error or None, steps=4, prompt_tokens=900, completion_tokens=100,
                cost_usd=0.02, seconds=3.0, readme_blob=None if error else writer.blob("# A"),
            )  # fmt: skip
            if content:
                writer.update("trials", {"id": key}, {"content": content})
            for judge, points in cards.items():
                put = points or (None,) * 4
                known_points = [one for one in put if one is not None]
                out_of = sum(most for most, one in zip((15, 25, 30, 30), put, strict=True) if one is not None)
                blob = writer.blob(json.dumps(card(6.0, judge=judge).to_json()))
                writer.put_score(
                    ScoreRow(key, rubric, judge, sum(known_points) if known_points else None, float(out_of), *put, blob, 1.0, problem)
                )  # fmt: skip
            if checked:
                way = (key, 1, 10.0, 1)
                writer.put_check(way, "checks")
                writer.set_check(
                    way, state="done", result_blob=writer.blob("{}"), **dict(zip(WORKS, checked, strict=True))
                )
        self._trials.setdefault((case, agent), []).append(key)
        self._agents[agent] = None
        return key

    def read(self) -> StudyOutcome:
        """Write the study over all that was put, and read it."""
        columns = tuple(StudyColumn(agent, "local") for agent in self._agents)
        study = Study("agents", AGENTS, CASES, columns, self._results, repeats=self._repeats, settings=self._settings)
        cells = [
            StudyCellRow(
                "agents", case, column.name, place, f"run-{column.system}",
                json.dumps({"trials": self._trials.get((case, column.system), [])}), None,
            )
            for place, (case, column) in enumerate((case, column) for case in CASES for column in columns)
        ]  # fmt: skip
        with SessionWriter(self.path) as writer:
            writer.put_study("agents", study.to_json())
            writer.put_study_cells(cells, instead_of="agents")
        with SessionReader(self.path) as reader:
            return read_study(reader, "agents")


def put_docs(
    path: Path, systems: Mapping[str, Sequence[Sequence[str | None]]], *, name: str = "docs", scope: str = "repository",
    prompt: str = PROMPT, context: str = CONTEXT, settings: str = SETTINGS, snapshot: str = "snapshot of {}",
    extra: Mapping[str, object] | None = None, state: str = "done", results: Sequence[str] = (), samples: int = 3,
    rows: Sequence[str] = ("one", "two", "three"),
) -> Study:  # fmt: skip
    """Write a study of docs; each system has the verdicts of each of its tasks, alike in all repositories."""
    study = Study(
        name,
        DOCS,
        tuple(rows),
        tuple(StudyColumn(system, "m") for system in systems),
        tuple(results),
        samples=samples,
        k=(1,),
    )
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.put_study(name, study.to_json())
        cells = []
        for row in rows:
            for place, (system, tasks) in enumerate(systems.items()):
                run = f"{row}-{system}"
                content = snapshot.format(row)
                plan = {"source": row, "docs": system, "docs_scope": scope, "snapshot": content, "k": [1]}
                writer.add_run(run, "regenerate", plan)
                writer.set_run(run, state=state if system == list(systems)[-1] else "done")
                for number, verdicts in enumerate(tasks):
                    task = put_task(writer, run, row, system, number)
                    writer.update("tasks", {"id": task}, {"docs_scope": scope, "snapshot": content})
                    for sample, verdict in enumerate(verdicts):
                        put_candidate(
                            writer, run, task, sample, verdict, prompt, context, settings, extra if place else None
                        )
                pointer = json.dumps({"evaluator": "m", "prompt": prompt, "context": context})
                cells.append(StudyCellRow(name, row, f"{system} · m", len(cells), run, pointer, None))
        writer.put_study_cells(cells, instead_of=name)
    return study


def put_candidate(
    writer: SessionWriter, run: str, task: str, sample: int, verdict: str | None, prompt: str = PROMPT, context: str = CONTEXT,
    settings: str = SETTINGS, extra: Mapping[str, object] | None = None,
) -> None:  # fmt: skip
    writer.insert(
        "candidates",
        {
            "id": candidate_id(task, "m", f"{prompt}/{context}", sample), "run_id": run, "task_id": task, "evaluator": "m",
            "sample": sample, "state": "done" if verdict else "queued", "verdict": verdict, "prompt": prompt, "context": context,
            "settings": settings, "cost_usd": 0.001, "at": 1_700_000_000.0, **(extra or {}),
        },
    )  # fmt: skip


def docs_of(path: Path, name: str = "docs") -> StudyOutcome:
    with SessionReader(path) as reader:
        return read_study(reader, name)


def mean_of(outcome: StudyOutcome, system: str, measure: str = "") -> float | None:
    return (
        next(one for one in outcome.by_column if one.column.system == system)
        .means[measure or outcome.study.measures[0]]
        .value
    )


def report(path: Path, name: str, form: str = "md") -> str:
    pytest.importorskip("numpy")
    return bytes(write_study_report(path, name, form, None)).decode()  # type: ignore[arg-type]


def places(outcome: StudyOutcome) -> dict[str, tuple[int | None, int]]:
    return {one.summary.column.system: (one.place, one.of) for one in leaderboard(outcome)}


def put_criteria(agents: Agents, trial: str, criteria: Sequence[Mapping[str, object]]) -> None:
    """Give the scorecard of a trial these criteria."""
    values = card(6.0, judge="offline-4").to_json() | {"criteria": criteria}
    with SessionWriter(agents.path) as writer:
        writer.update("scorecards", {"trial_id": trial}, {"card_blob": writer.blob(json.dumps(values))})


PASSED, FAILED = ("passed",) * 3, ("failed",) * 3
