"""The results of a usage run as parts of a page and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.base import glyphs
from workbench.base.text import plural, share
from workbench.pages.page import Note, PageTable, Part, Subheading, table_of
from workbench.pages.wording import estimate_words, verdict_words
from workbench.results.contents import cell
from workbench.results.usage import PageUse, ReaderUse, TaskUse, UsageResults
from workbench.usage.gaps import Gap

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow

_MOST_ROWS = 200
MEASURES = (
    "Use measures what a reader can do with a page: functions and commands that the project's own tests call with "
    "literals. It does not measure prose, installation, or what the tests do not call."
)


def usage_parts(results: UsageResults) -> Iterator[Part]:
    """Yield a usage run as parts of a page, for each reader and page: the tasks, the gaps, and the figures."""
    for used in results.readers:
        for page in used.pages:
            yield Subheading(page.context, used.reader)
            lines = results.lines(page)
            yield _table(lines[:_MOST_ROWS])
            if len(lines) > _MOST_ROWS:
                yield Note(f"… and {len(lines) - _MOST_ROWS:,} more tasks")
            yield from _gaps(lines)
            yield Note(figures(page, used), "strong")
            yield Note(worth_words(page))
    if results.should_be_named:
        for used in results.readers[:1]:
            for page in used.pages:
                yield from _missing(results, page)
    yield Note(MEASURES)


def _table(lines: list[TaskUse]) -> PageTable:
    columns: dict[str, Callable[[TaskUse], str]] = {
        "task": lambda one: one.task.target.name,
        "kind": lambda one: one.task.target.kind,
        "hidden calls": lambda one: str(len(one.task.hidden)),
        "named": lambda one: "" if one.named is None else "yes" if one.named else "no",
        "samples": lambda one: "".join(map(cell, one.candidates)).replace(glyphs.RUNNING, glyphs.WAITING),
        "use@1": lambda one: share(one.result.at(1)),
        "line": lambda one: "" if one.line is None else str(one.line),
        "without an answer": lambda one: one.why,
    }
    return table_of(lines, columns, {"hidden calls", "use@1", "line"}, optional={"line"}, droppable=("kind", "line"))


def _gaps(lines: list[TaskUse]) -> Iterator[Part]:
    found = [(one, one.gap) for one in lines if one.gap is not None]
    if not found:
        return
    rows = tuple(
        (gap.section or "(top)", str(gap.line or ""), one.task.target.name, _gap_words(gap)) for one, gap in found
    )
    rows = tuple(sorted(rows, key=lambda row: (int(row[1] or 0), row[2])))
    yield Subheading("Gaps", plural(len(rows), "task"))
    yield PageTable(("section", "line", "task", "gap"), rows, frozenset({1}))


def _gap_words(gap: Gap) -> str:
    if gap.kind == "wrong example":
        return f"`{gap.call}`: the page says {gap.says or 'that it works'}, the program gives {gap.gives}"
    return {
        "unnamed": "the page never names it",
        "no example": "the page names it without an example",
        "stumbled": "the page shows an example, but the reader stumbled",
    }[gap.kind]


def _missing(results: UsageResults, page: PageUse) -> Iterator[Part]:
    if page.names is None:
        return
    missing = [name for name in results.should_be_named if name not in page.names]
    count = len(results.should_be_named)
    text = f"{page.context} names {count - len(missing)} of {count} public names."
    if missing:
        text += f" Missing: {', '.join(missing[:12])}" + (f" and {len(missing) - 12} more." if missing[12:] else ".")
    yield Note(text)


def figures(page: PageUse, used: ReaderUse) -> str:
    """Return use@k of a page with its interval, the tasks that it names, and use@k without a page and with the sources."""
    parts = [f"use@{one.k} {estimate_words(one)}" for one in page.use_at]
    if page.named is not None:
        parts.append(f"names {page.named} of {plural(page.outcome.figures.tasks, 'task')}")
    for label, arm in (("no page", used.none), ("sources", used.source)):
        if arm is not None and arm.use_at and arm.use_at[0].value is not None:
            parts.append(f"{label} {share(arm.use_at[0].value)}")
    parts += page.outcome.marks
    if page.outcome.totals.verdicts:
        parts.append(verdict_words(page.outcome.totals.verdicts))
    return " · ".join(parts)


def worth_words(page: PageUse) -> str:
    return f"worth {page.worth.words}" if page.worth is not None else ""


def usage_lines(results: UsageResults) -> Iterator[dict[str, Any]]:
    """Yield a JSON line for each task of each page, with its gap."""
    for used in results.readers:
        for page in used.pages:
            for one in results.lines(page):
                yield {
                    "type": "use",
                    "task_id": one.task.id,
                    "reader": used.reader,
                    "page": page.context,
                    "named": one.named,
                    "passed": one.result.passed,
                    "samples": one.result.counted,
                    "line": one.line,
                    "gap": None if one.gap is None else asdict(one.gap),
                }


def usage_json(results: UsageResults) -> dict[str, Any]:
    """Return the summary of a usage run: the figures of its last page, and those of all pages in ``pages``."""
    every = [_page_json(page, used) for used in results.readers for page in used.pages]
    empty: dict[str, Any] = {"page": None, "reader": None, "named": None, "use_at_k": {}, "interval": {}, "none": {}, "source": {},
             "worth": None, "worth_interval": None, "worth_words": "", "bypassed": 0, "verdicts": {}}  # fmt: skip
    return {
        "type": "summary",
        "session": results.session,
        "run": results.run.id,
        "state": results.state,
        "source": results.run.plan.get("source"),
        "tasks": results.ready,
        **(every[-1] if every else empty),
        "pages": every,
        "controls": results.controls,
        "excluded": results.excluded,
        "dropped": results.dropped,
        "should_be_named": list(results.should_be_named),
        "unfinished": results.unfinished,
        "spend": results.run.spend_usd,
        "note": results.run.note,
        "error": results.run.error,
    }


def _page_json(page: PageUse, used: ReaderUse) -> dict[str, Any]:
    worth = page.worth
    return {
        "page": page.context,
        "digest": page.page,
        "reader": used.reader,
        "named": page.named,
        "use_at_k": page.use_json(),
        "interval": {str(e.k): None if e.low is None else [e.low, e.high] for e in page.use_at},
        "interval_words": {str(e.k): e.interval.words if e.interval else None for e in page.use_at},
        "none": used.none.use_json() if used.none is not None else {},
        "source": used.source.use_json() if used.source is not None else {},
        "worth": None if worth is None else worth.value,
        "worth_interval": None if worth is None or worth.value is None else [worth.low, worth.high],
        "worth_words": "" if worth is None else worth.words,
        "bypassed": page.bypassed,
        "verdicts": dict(page.outcome.totals.verdicts),
        "names": None if page.names is None else sorted(page.names),
        "marks": list(page.outcome.marks),
    }


def usage_summary(reader: SessionReader, run: RunRow) -> dict[str, Any]:
    return usage_json(UsageResults.read(reader, run))
