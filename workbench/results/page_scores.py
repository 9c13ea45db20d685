"""use@1 of pages, such as the READMEs of trials, from the counts of a session's usage runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.session.groups import SOURCES, WITHOUT

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow


@dataclass(frozen=True, slots=True)
class PageScore:
    """use@1 of a page for one reader, with the numbers of passed, counted and all answers."""

    value: float
    tasks: int
    passed: int
    counted: int
    samples: int

    @property
    def partial(self) -> bool:
        return self.counted < self.samples


PageKey = tuple[str, str]
"""The source of a project, as stored in plans, and the digest of one of its pages."""
PageScores = dict[str, dict[PageKey, PageScore]]
"""Scores by reader and page."""


def page_key(source: str, digest: str | None) -> PageKey:
    """Return the key of a page of a source or test case; a folder is its real path, as in plans of usage runs."""
    return (str(Path(source).resolve()) if source.startswith("/") else source), digest or ""


def use_by_page(
    reader: SessionReader, known: dict[str, tuple[float | None, PageScores]]
) -> tuple[str, dict[PageKey, PageScore]]:
    """Return the reader that has seen the most pages, and its newest score of each page.

    A single reader is used, because the values of different readers are not comparable. ``known`` caches the scores of
    finished runs.
    """
    scores: PageScores = {}
    for run in reader.runs():
        if run.kind != "usage":
            continue
        at, found = known.get(run.id, (None, {}))
        if at is None or at != run.finished_at:
            found = page_scores(reader, run)
            known[run.id] = run.finished_at, found
        for name, pages in found.items():
            scores.setdefault(name, {}).update(pages)
    name = max(scores, key=lambda one: len(scores[one]), default="")
    return name, scores.get(name, {})


def page_scores(reader: SessionReader, run: RunRow) -> PageScores:
    rows = reader.query(
        "SELECT evaluator, context, avg(CASE WHEN counted THEN 1.0 * passed / counted END), total(counted > 0), "
        "total(passed), total(counted), total(samples) FROM tasks JOIN verdict_counts ON task_id = tasks.id WHERE run_id = ? AND state != 'excluded' "
        "AND control = 0 GROUP BY evaluator, prompt, context, settings",
        (run.id,),
    )
    digests, found = page_digests(run), PageScores()
    source, _ = page_key(str(run.plan.get("source")), None)
    for name, context, value, *counts in rows:
        if context in digests and context not in (WITHOUT, SOURCES) and value is not None:
            found.setdefault(name, {})[source, digests[context]] = PageScore(value, *map(int, counts))
    return found


def measured_pages(reader: SessionReader, name: str) -> dict[PageKey, RunRow]:
    """Return the newest run in which a reader answers, or is to answer, all tasks of a page."""
    found = {}
    for run in reader.runs():
        plan = run.plan if run.kind == "usage" else {}
        asks, (source, _) = plan.get("asks"), page_key(str(plan.get("source")), None)
        for ask in asks if isinstance(asks, list) else ():
            if isinstance(ask, dict) and ask.get("evaluator") == name and not (ask.get("tasks") or ask.get("limit")):
                found[source, ask.get("page") or ""] = run
    return found


def page_digests(run: RunRow) -> dict[str, str]:
    """Return the digest of each page that a run's readers see, by context."""
    recorded = run.plan.get("page_digests")
    if isinstance(recorded, dict):
        return {str(context): str(digest) for context, digest in recorded.items()}
    return {}
