"""Rows for other programs: a session or a page's tables as CSV, and the content of a page as JSON values.

CSV is quoted as in RFC 4180. Text that a spreadsheet would interpret as a formula gets a leading ``'``; numbers remain
numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from workbench.base.text import clean, iso, json_text
from workbench.pages import session_json
from workbench.pages.page import BulletList, FactList, Folded, Note, PageTable, Part, ReportPage
from workbench.results.contents import Contents, Regenerated, Trial
from workbench.results.grounding import GroundingCounts, KeptGroundings
from workbench.session import json_forms
from workbench.session.reader import SessionReader

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
Cell = str | int | float | None


def safe(cell: Cell) -> Cell:
    """Remove control characters from a cell, and escape it if a spreadsheet would interpret it as a formula."""
    if not isinstance(cell, str):
        return cell
    text = clean(cell)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def line(cells: Sequence[Cell]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([safe(cell) for cell in cells])
    return written.getvalue()


def page_csv(page: ReportPage) -> Iterator[str]:
    """Yield the tables of a page, each with its headings, separated by blank lines."""
    tables = [one for parts in (page.lead, *(section.parts for section in page.sections)) for one in _tables(parts)]
    for number, table in enumerate(tables):
        yield "\r\n" if number else ""
        yield from map(line, (table.headings, *table.rows))


def _tables(parts: Iterable[Part]) -> Iterator[PageTable]:
    for part in parts:
        if isinstance(part, PageTable):
            yield part
        elif isinstance(part, Folded):
            yield from _tables(part.parts)


def page_json(page: ReportPage) -> Iterator[str]:
    sections = [{"title": one.title, **values_of(one.parts)} for one in page.sections]
    yield json_text({"title": page.title, **values_of(page.lead), "sections": sections}, indent=1) + "\n"


def values_of(parts: Iterable[Part]) -> dict[str, Any]:
    """Return the content of parts as JSON values: facts by label, sentences, and tables as lists of rows by heading."""
    facts: dict[str, str] = {}
    sentences: list[str] = []
    tables: dict[str, list[dict[str, str]]] = {}
    for part in parts:
        match part:
            case FactList():
                facts |= {label: value for label, value in part.pairs if value}
            case Note():
                sentences.append(part.text)
            case BulletList():
                sentences += part.items
            case PageTable():
                tables[part.caption] = [dict(zip(part.headings, row, strict=True)) for row in part.rows]
    return {"facts": facts, "sentences": sentences, "tables": tables}


# -- a session: one line per trial or candidate; if it has both, ``kind`` distinguishes them, and both have the same
# columns

_TRIAL = (
    "trial", "run", "case", "agent", "model", "repeat", "status", "score", "out_of", "rubric", "judge", "tier1",
    "tier2", "tier3", "tier4", "steps", "prompt_tokens", "completion_tokens", "tokens", "cost_usd", "seconds",
    "started_at", "finished_at", "error_kind", "error", "given_by_format", "own_points", "own_out_of",
    "unscored_tiers", "parent", "fork_step", "edited", "items_seen", "items_not_looked_at", "items_nowhere",
    "bytes_seen_share", "blocks_work", "blocks_run", "blocks", "claims_true", "claims_decided", "claims",
)  # fmt: skip
_CANDIDATE = (
    "candidate", "task", "run", "path", "function", "occurrence", "docs", "evaluator", "control", "sample", "state",
    "verdict", "verdict_reason", "route", "failing_tests", "prompt_tokens", "completion_tokens", "cost_usd",
    "asked_s", "tested_s", "at", "retesting", "former", "prompt", "context", "settings", "doubtful", "docs_scope",
    "repairs", "documented", "failure_group",
)  # fmt: skip
_WORKS = (
    ("blocks_work", "works"), ("blocks_run", "run"), ("blocks", "blocks"), ("claims_true", "claims_true"), ("claims_decided", "claims_decided"),
    ("claims", "claims"),
)  # fmt: skip
_NOT_COUNTED = GroundingCounts(None, None, None, None)


def session_csv(reader: SessionReader, contents: Contents) -> Iterator[str]:
    others = contents.judged[1:] if contents.judged else ()
    of_trials = [*_TRIAL, *(f"{what} {rubric} {judge}" for rubric, judge in others for what in ("score", "out_of"))]
    counts = dict(KeptGroundings().all_of(reader)) if contents.trials else {}
    trials = (_trial(trial, others, counts.get(trial.row.id, _NOT_COUNTED)) for trial in contents.trials)
    ks = sorted({k for _, outcome in contents.regenerations for k in outcome.ks})
    of_candidates = [*_CANDIDATE, *(f"file_pass_at_{k}" for k in ks)]
    candidates = (row for _, outcome in contents.regenerations for row in _candidates(reader, outcome, ks))
    if contents.trials and contents.regenerations:
        columns = list(dict.fromkeys(("kind", *of_trials, *of_candidates)))
        yield line(columns)
        for kind, names, rows in (("trial", of_trials, trials), ("candidate", of_candidates, candidates)):
            for row in rows:
                values = {"kind": kind, **dict(zip(names, row, strict=True))}
                yield line([values.get(name) for name in columns])
        return
    yield line(of_candidates if contents.regenerations else of_trials)
    for row in candidates if contents.regenerations else trials:
        yield line(row)


def _trial(trial: Trial, others: Sequence[tuple[str, str]], counts: GroundingCounts) -> list[Cell]:
    values = session_json.trial_values(trial)
    values |= {"items_seen": counts.seen, "items_not_looked_at": counts.unseen, "items_nowhere": counts.nowhere}
    values |= {"bytes_seen_share": counts.share, "cost_usd": values["cost"]}
    values |= {name: trial.works and getattr(trial.works, own) for name, own in _WORKS}
    values["unscored_tiers"] = " ".join(map(str, values["unscored_tiers"]))
    values |= {f"tier{number}": points for number, points in values["tiers"].items()}
    cells: list[Cell] = [values[name] for name in _TRIAL]
    for judged in others:
        score = trial.score(judged)
        cells += [score.total, score.out_of] if score else [None, None]
    return cells


def _candidates(reader: SessionReader, outcome: Regenerated, ks: Sequence[int]) -> Iterator[list[Cell]]:
    failures = {one.id: group.key for group in outcome.diagnosis.groups for one in group.candidates}
    files = {
        (of, file.name): {one.k: one.value for one in file.pass_at}
        for of, groups in outcome.files.items()
        for file in groups
    }
    for of_task in outcome.lines:
        task = of_task.task
        figures = {} if of_task.control else files.get((of_task.group, task.path), {})
        for one in of_task.candidates:
            former = (f"{old.verdict} {iso(old.at) or ''}".strip() for old in reader.former_verdicts(one.id))
            values = {
                **asdict(one),
                **json_forms.picked(task, "path", "qualified_name:function", "occurrence", "docs", "docs_scope"),
                "candidate": one.id,
                "task": task.id,
                "run": one.run_id,
                "failing_tests": " ".join(test.test_id for test in reader.failing_tests(one.id)),
                "at": iso(one.at),
                "retesting": int(one.retesting),
                "former": "; ".join(former),
                "settings": one.settings if one.prompt else "",
                "repairs": one.repairs,
                "documented": int(task.docstring_blob is not None),
                "failure_group": failures.get(one.id),
            }
            yield [*(values[name] for name in _CANDIDATE), *(figures.get(k) for k in ks)]
