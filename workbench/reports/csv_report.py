"""A session as a table: one line per trial, or per candidate where the report is on regeneration only.

Quoted as RFC 4180 says. A text that a spreadsheet would take for a formula gets a leading ``'``; numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from workbench.reports import records, wording
from workbench.reports.contents import Contents, Trial
from workbench.reports.regenerated import Line
from workbench.session.reader import SessionReader
from workbench.session.rows import CandidateRow
from workbench.text import clean

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_TRIAL = (
    *("trial", "run", "case", "agent", "model", "repeat", "status", "score", "out_of", "rubric", "judge"),
    *(
        "tier1",
        "tier2",
        "tier3",
        "tier4",
        "steps",
        "prompt_tokens",
        "completion_tokens",
        "tokens",
        "cost_usd",
        "seconds",
    ),
    *("started_at", "finished_at", "error_kind", "error"),
)
_CANDIDATE = (
    *("candidate", "task", "run", "path", "function", "occurrence", "docs", "evaluator", "control", "sample", "state"),
    *("verdict", "verdict_reason", "path_taken", "failing_tests", "prompt_tokens", "completion_tokens", "cost_usd"),
    *("asked_s", "tested_s", "at"),
)
Cell = str | int | float | None


def render(reader: SessionReader, contents: Contents) -> Iterator[str]:
    """Yield the table line by line, its heading first."""
    if contents.trials or not contents.regenerations:
        others = contents.judged[1:] if contents.judged else ()
        yield _line([*_TRIAL, *(f"score {rubric} {judge}" for rubric, judge in others)])
        for trial in contents.trials:
            yield _line(_trial(trial, others))
        return
    yield _line(list(_CANDIDATE))
    for _, outcome in contents.regenerations:
        for line in outcome.lines:
            for candidate in line.candidates:
                yield _line(_candidate(reader, line, candidate))


def safe(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet executes and no terminal obeys."""
    if not isinstance(cell, str):
        return cell
    text = clean(cell)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _line(cells: Sequence[Cell]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([safe(cell) for cell in cells])
    return written.getvalue()


def _trial(trial: Trial, others: Sequence[tuple[str, str]]) -> list[Cell]:
    values = records.trial_values(trial)
    values["cost_usd"] = values["cost"]
    values |= {f"tier{number}": points for number, points in values["tiers"].items()}
    cells: list[Cell] = [values[name] for name in _TRIAL]
    for judged in others:
        score = trial.score(judged)
        cells.append(score.total if score else None)
    return cells


def _candidate(reader: SessionReader, line: Line, candidate: CandidateRow) -> list[Cell]:
    failing = " ".join(test.test_id for test in reader.failing_tests(candidate.id))
    task = line.task
    return [
        candidate.id,
        task.id,
        candidate.run_id,
        task.path,
        task.qualified_name,
        task.occurrence,
        task.docs,
        candidate.evaluator,
        candidate.control,
        candidate.sample,
        candidate.state,
        candidate.verdict,
        candidate.verdict_reason,
        candidate.path_taken,
        failing,
        candidate.prompt_tokens,
        candidate.completion_tokens,
        candidate.cost_usd,
        candidate.asked_s,
        candidate.tested_s,
        wording.iso(candidate.at),
    ]
