"""A session as one JSON object: everything that is in the file, with keys that stay.

``report_version`` counts changes that would break a reader. Messages of model calls repeat the conversation so far, so
their texts stand once in ``texts``, by digest; every other text stands where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.reports import records
from workbench.reports.contents import Contents, Trial
from workbench.session.reader import SessionReader
from workbench.text import json_text

REPORT_VERSION = 1


def render(reader: SessionReader, contents: Contents) -> Iterator[str]:
    """Yield the text of the object."""
    texts: dict[str, str] = {}

    def keep(digest: str, text: str) -> str:
        texts[digest] = text
        return digest

    def calls(scope: str) -> list[dict[str, Any]]:
        return [records.call_values(reader, call, keep) for call in reader.calls(scope)]

    def trial(one: Trial) -> dict[str, Any]:
        return {
            **records.trial_values(one),
            **records.trial_details(reader, one),
            "trajectory": [records.step_values(reader, step) for step in reader.steps(one.row.id)],
            "calls": calls(one.row.id) + calls(one.row.id + records.JUDGE_SCOPE),
        }

    regenerations = []
    for run, outcome in contents.regenerations:
        tasks = []
        for task in outcome.tasks:
            lines = outcome.of_task(task.id)
            candidates = [
                {**records.candidate_values(reader, candidate), "calls": calls(candidate.id)}
                for line in lines
                for candidate in line.candidates
            ]
            tasks.append({**records.task_values(reader, task, outcome), "candidates": candidates})
        regenerations.append({"run": run.row.id, **records.regeneration_values(outcome), "tasks": tasks})
    yield json_text(
        {
            "type": "report",
            "report_version": REPORT_VERSION,
            "session": records.session_values(contents),
            "runs": [records.run_values(run) for run in contents.runs],
            "means": records.spread_values(contents),
            "agreement": records.agreement_values(contents),
            "trials": [trial(one) for one in contents.trials],
            "regenerations": regenerations,
            "annotations": records.remark_values(contents),
            "labels": records.label_values(contents),
            "texts": texts,
            # Last: it holds what was met while the rest was read.
            "damaged": records.damage_values(reader),
        },
        indent=1,
    )
    yield "\n"
