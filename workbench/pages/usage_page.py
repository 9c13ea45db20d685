"""The results of a usage run as parts of a page and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base import glyphs
from workbench.base.text import plural, share
from workbench.pages.page import Note, PageTable, Part, Subheading, table_of
from workbench.pages.wording import estimate_words, verdict_words
from workbench.results.contents import cell
from workbench.results.usage import PageUse, ReaderUse, TaskUse, UsageResults, use_and_scores

if TYPE_CHECKING:
    from workbench.results.contents import Contents

_MOST_ROWS, _MOST_PAGES = 200, 8
MEASURES = (
    "Use measures what a reader can do with a page: functions and commands that the project's own tests call with "
    "literals. It does not measure prose, installation, or what the tests do not call."
)


def usage_parts(results: UsageResults) -> Iterator[Part]:
    """Yield a usage run as parts of a page: tasks, gaps, and each page's figures beside no page and the sources."""
    every = [(used, page) for used in results.readers for page in used.pages]
    if len(every) == 1:
        yield _tasks(results.lines(every[0][1])[:_MOST_ROWS])
    elif every:
        yield _matrix(results, every)
    if results.ready > _MOST_ROWS:
        yield Note(f"… and {results.ready - _MOST_ROWS:,} more tasks")
    for used, page in every:
        yield from _gaps(results.lines(page), f"{page.context} · {used.reader}" if len(every) > 1 else "")
    yield Subheading("Pages")
    yield _pages(results)
    for _, page in every[:1] if len({page.page for _, page in every}) == 1 else every:
        yield from _missing(results, page)
    yield from map(
        Note, dict.fromkeys(page.worth.words for _, page in every if page.worth and page.worth.value is None)
    )
    if results.controls:
        controls = ", ".join(f"{name} {share(value)}" for name, value in results.controls.items())
        yield Note(f"Controls, as the share of tasks that they pass: {controls}.")
    if results.excluded:
        yield Note(f"{plural(results.excluded, 'task')} excluded, because a control failed.", "advice")
    yield Note(MEASURES)


def _tasks(lines: list[TaskUse]) -> PageTable:
    columns: dict[str, Callable[[TaskUse], str]] = {
        "task": lambda one: one.task.target.name,
        "kind": lambda one: one.task.target.kind,
        "hidden calls": lambda one: str(len(one.task.hidden)),
        "named": lambda one: "" if one.named is None else "yes" if one.named else "no",
        "samples": lambda one: _samples(one),
        "use@1": lambda one: share(one.result.at(1)),
        "line": lambda one: "" if one.line is None else str(one.line),
    }
    return table_of(lines, columns, {"hidden calls", "use@1", "line"}, optional={"line"}, droppable=("kind",))


def _samples(one: TaskUse) -> str:
    return "".join(map(cell, one.candidates)).replace(glyphs.RUNNING, glyphs.WAITING)


def _matrix(results: UsageResults, every: list[tuple[ReaderUse, PageUse]]) -> PageTable:
    """Return the samples of each task, with a column for each page and reader."""
    shown = every[:_MOST_PAGES]
    readers = {used.reader for used, _ in shown}
    heads = [page.context if len(readers) == 1 else f"{page.context} · {used.reader}" for used, page in shown]
    cells = [{one.row.id: _samples(one) for one in results.lines(page)} for _, page in shown]
    rows = [
        (task.target.name, *(of_page.get(key, "") for of_page in cells))
        for key, task in results.tasks.items()
        if any(key in of_page for of_page in cells)
    ]
    return PageTable(("task", *heads), tuple(rows[:_MOST_ROWS]))


def _pages(results: UsageResults) -> PageTable:
    arms: list[tuple[ReaderUse, PageUse]] = []
    for used in results.readers:
        arms += [(used, page) for page in (*used.pages, used.none, used.source) if page is not None]
    columns: dict[str, Callable[[tuple[ReaderUse, PageUse]], str]] = {
        "page": lambda one: one[1].context,
        "reader": lambda one: one[0].reader,
        **{
            f"use@{k}": partial(lambda place, one: estimate_words(one[1].use_at[place]), place)
            for place, k in enumerate(results.ks)
        },
        "named": lambda one: "" if one[1].named is None else f"{one[1].named} of {results.ready}",
        "worth": lambda one: one[1].worth.short if one[1].worth is not None else "",
        "verdicts": lambda one: verdict_words(one[1].outcome.totals.verdicts),
        "partial": lambda one: ", ".join(one[1].outcome.marks),
    }
    return table_of(arms, columns, optional={"partial", "worth"}, droppable=("verdicts",))


def _gaps(lines: list[TaskUse], title: str) -> Iterator[Part]:
    """Yield the gaps that an author can close, by section, and the tasks that the page never names."""
    found = [(one, one.gap) for one in lines if one.gap is not None]
    if not found:
        return
    yield Subheading(f"Gaps of {title}" if title else "Gaps", plural(len(found), "task"))
    placed = sorted((gap.line, gap.section, one.task.target.name, gap) for one, gap in found if gap.line)
    if placed:
        rows = tuple((section, str(line), name, gap.words) for line, section, name, gap in placed)
        yield PageTable(("section", "line", "task", "gap"), rows, frozenset({1}))
    unnamed = [one.task.target.name for one, gap in found if not gap.line]
    if unnamed:
        yield Note(f"Never named: {_listed(unnamed)}", "advice")


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more." if names[most:] else ".")


def _missing(results: UsageResults, page: PageUse) -> Iterator[Part]:
    if page.names is None or not results.should_be_named:
        return
    missing = [name for name in results.should_be_named if name not in page.names]
    count = len(results.should_be_named)
    text = f"{page.context} names {count - len(missing)} of {plural(count, 'public name')}."
    yield Note(text + (f" Missing: {_listed(missing)}" if missing else ""))


def agreement_parts(contents: Contents, results: UsageResults) -> Iterator[Part]:
    """Yield the scores beside use@1 for trials whose READMEs were measured, and their rank correlation."""
    for used in results.readers:
        found = use_and_scores(contents, results.run, used)
        if found is None:
            continue
        rows = tuple((one.agent, one.page, f"{one.points:.1f}", share(one.use)) for one in found.trials)
        yield Subheading(f"Use and score · {used.reader}")
        yield PageTable(("agent", "page", found.judged, "use@1"), rows, frozenset({2, 3}))
        words = f"{found.tau:.2f}" if found.tau is not None else "not defined, because all values on one side are equal"
        yield Note(f"Kendall's tau-b of score and use@1 over {plural(len(rows), 'trial')}: {words}.")


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


def usage_json(results: UsageResults, context: str = "") -> dict[str, Any]:
    """Return the summary of a usage run: the figures of one page, by default the last, and of all pages in ``pages``.

    The contexts of no page and of the sources have their figures in ``none`` and ``source``.
    """
    every = [_page_json(page, used) for used in results.readers for page in used.pages]
    shown = next((one for one in reversed(every) if context in ("", one["page"])), None)
    return {
        "type": "summary",
        "session": results.session,
        "run": results.run.id,
        "state": results.state,
        "project": results.run.plan.get("source"),
        "tasks": results.ready,
        **(shown or _page_json(None, results.readers[-1] if results.readers else None)),
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


def _page_json(page: PageUse | None, used: ReaderUse | None) -> dict[str, Any]:
    """Return the figures of a page; without one, only those of no page and of the sources."""
    worth, use_at = (page.worth, page.use_at) if page is not None else (None, ())
    return {
        "page": page.context if page is not None else None,
        "digest": page.page if page is not None else None,
        "reader": used.reader if used is not None else None,
        "named": page.named if page is not None else None,
        "use_at_k": {str(e.k): e.value for e in use_at},
        "interval": {str(e.k): None if e.low is None else [e.low, e.high] for e in use_at},
        "interval_words": {str(e.k): e.interval.words if e.interval else None for e in use_at},
        "none": used.none.use_json() if used is not None and used.none is not None else {},
        "source": used.source.use_json() if used is not None and used.source is not None else {},
        "worth": None if worth is None else worth.value,
        "worth_interval": None if worth is None or worth.value is None else [worth.low, worth.high],
        "worth_words": "" if worth is None else worth.words,
        "bypassed": page.bypassed if page is not None else 0,
        "verdicts": dict(page.outcome.totals.verdicts) if page is not None else {},
        "names": sorted(page.names) if page is not None and page.names is not None else None,
        "marks": list(page.outcome.marks) if page is not None else [],
    }
