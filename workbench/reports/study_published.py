"""The paper's figures beside one's own, where a row of a study is one of its repositories."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.catalog.published import Score, published_counts, published_name, published_scores
from workbench.reports.page import Grid, Note, Section
from workbench.reports.study_figures import NOTHING, mean_words
from workbench.studies.declaration import DOCS
from workbench.studies.outcome import StudyOutcome

_SAME = {"original": "default"}
"""What the paper calls a doc system of ours by another name."""


def published_section(outcome: StudyOutcome) -> Iterator[Section]:
    """Yield a section with a table for each k that both have, where a row is one of the paper's repositories."""
    if outcome.study.kind != DOCS:
        return
    rows = {row: name for row in outcome.rows if (name := published_name(row))}
    ks = [k for k in outcome.study.k if any(one.k == k for one in published_scores())]
    if not rows or not ks:
        return
    grids = [_grid(outcome, rows, k) for k in ks]
    counts = published_counts()
    tasks = "; ".join(
        f"{row}: {counts[name].tasks} published tasks, {_tasks(outcome, row)} of this study"
        for row, name in rows.items()
    )
    note = (
        f"As printed in Table 3 of the paper, beside this study's. Tasks: {tasks}. Tasks, prompts, evaluators and versions of the "
        "repositories are not the same, so only the direction of a difference can be set beside the paper's, not its size."
    )
    yield Section("The paper's figures beside these", (*grids, Note(note)))


def _grid(outcome: StudyOutcome, rows: dict[str, str], k: int) -> Grid:
    evaluators = list(dict.fromkeys(one.evaluator for one in published_scores() if one.k == k))
    systems = list(dict.fromkeys(column.system for column in outcome.columns))
    models = list(dict.fromkeys(column.model for column in outcome.columns))
    lines = []
    for row, name in rows.items():
        printed = [one for one in published_scores(name) if one.k == k]
        known: dict[str, dict[str, str]] = {}
        for one in printed:
            known.setdefault(_published_system(one), {})[one.evaluator] = f"{one.value:.2f}"
        for system in systems:
            theirs = known.pop(_SAME.get(system, ""), {})
            label = f"{system} (the paper's {_SAME[system]})" if theirs else system
            lines.append(
                (row, label, *(theirs.get(one, NOTHING) for one in evaluators), *_own(outcome, row, system, models, k))
            )
        for system, values in known.items():
            own = (NOTHING,) * len(models)
            lines.append((row, f"{system}, published", *(values.get(one, NOTHING) for one in evaluators), *own))
    heads = (
        "repository",
        "docs",
        *(f"{one} (paper)" for one in evaluators),
        *(model or "default model" for model in models),
    )
    return Grid(f"pass@{k}: published figures beside this study's.", heads, tuple(lines), frozenset({0, 1}))


def _published_system(score: Score) -> str:
    return f"{score.documenter} by {score.documenter_model}" if score.documenter_model else score.documenter


def _own(outcome: StudyOutcome, row: str, system: str, models: list[str], k: int) -> list[str]:
    found = []
    for model in models:
        mine = [one for one in outcome.columns if (one.system, one.model, one.source) == (system, model, "")]
        found.append(mean_words(outcome.cell(row, mine[0]).means[f"pass@{k}"], f"pass@{k}") if mine else NOTHING)
    return found


def _tasks(outcome: StudyOutcome, row: str) -> int:
    return max((len(outcome.cell(row, column).work.tasks) for column in outcome.columns), default=0)
