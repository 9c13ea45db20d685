"""A regeneration run as parts of a page: figures, failures and tasks, followed by each task with its candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base import glyphs
from workbench.base.text import NOTHING, decoded, fixed, one_line, percent, plural, share
from workbench.comparison.texts import without_margin
from workbench.pages import session_figures, wording
from workbench.pages.excerpts import Excerpt, Excerpts
from workbench.pages.page import (
    BulletList,
    FactList,
    Folded,
    Note,
    PageTable,
    Part,
    Preformatted,
    Section,
    Subheading,
    TextChanges,
    table_of,
)
from workbench.pages.usage_page import agreement_parts, usage_parts
from workbench.results.contents import Contents, Regenerated, TaskGroupLine, former_failing
from workbench.results.usage import gap_of
from workbench.session.reader import SessionReader
from workbench.session.rows import CandidateRow, TaskRow

if TYPE_CHECKING:
    from workbench.regeneration.failure_groups import FailureGroup
    from workbench.regeneration.outcome import GroupOutcome
    from workbench.session.rows import StageRow

MOST_FAILURES = 50
"""The maximum number of failure groups in a table; the JSON report contains all groups."""


def regenerations(contents: Contents, most_failures: int = MOST_FAILURES) -> Iterator[Section]:
    for run, outcome in contents.regenerations:
        if run.usage is not None:
            inside = (*usage_parts(run.usage), *agreement_parts(contents, run.usage), *_building(outcome, "callable"))
            yield Section(f"Usage {run.row.id}", inside, anchor=f"regeneration-{run.row.id}")
            continue
        inside = tuple(_run(contents, outcome, most_failures))
        yield Section(f"Regeneration {run.row.id}", inside, anchor=f"regeneration-{run.row.id}")


def _run(contents: Contents, outcome: Regenerated, most: int) -> Iterator[Part]:
    if outcome.groups:
        yield _evaluators(outcome)
        errors = f"Errors of the workbench ({glyphs.VERDICTS['error']}) are not counted."
        control = f"A control must be exactly 1 (reference) or 0 (stub). {errors}"
        yield Note(f"Unbiased estimates of pass@k. {' '.join(wording.interval_notes(outcome))} {control}")
    if contents.item is None:
        yield from _over_all_tasks(outcome, most)
    yield Subheading("Tasks", f"{len(outcome.tasks):,}")
    yield _tasks(contents, outcome)
    yield Note(wording.CELLS)
    yield from _building(outcome)


def _building(outcome: Regenerated, noun: str = "function") -> Iterator[Part]:
    if outcome.dropped:
        rows = tuple((row.path, row.qualified_name, row.stage, row.reason) for row in outcome.dropped)
        dropped = PageTable(("file", noun, "stage", "reason"), rows)
        yield Folded(f"{noun.capitalize()}s without a task", (dropped,), f"{len(rows):,}")
    # Usage runs write no documentation.
    stages = [one for one in outcome.stages if noun == "function" or one.name != "documentation"]
    if stages:
        columns: dict[str, Callable[[StageRow], str]] = {
            "stage": lambda one: one.name,
            "state": lambda one: one.state,
            "done": lambda one: f"{one.done:,}" + (f" of {one.total:,}" if one.total is not None else ""),
            # The remaining lines of a suite's note list the quarantined tests.
            "note": lambda one: (one.note or "").partition("\n")[0],
        }
        yield Folded("Stages", (table_of(stages, columns, {"done"}, {"note"}),))


def _over_all_tasks(outcome: Regenerated, most: int) -> Iterator[Part]:
    if drawn := session_figures.pass_at_k_by_task(outcome):
        yield drawn

    def place(group: FailureGroup) -> str:
        one = group.representative
        return group.place or (one.lead.test if one.lead is not None else one.function)

    columns: dict[str, Callable[[FailureGroup], str]] = {
        "candidates": lambda one: f"{len(one.candidates):,}",
        "tasks": lambda one: f"{one.tasks:,}",
        "tests": lambda one: f"{len(one.tests):,}",
        "verdict": lambda one: wording.verdict(one.verdict),
        "exception": lambda one: one.exception if one.exception != one.verdict else "",
        "message": lambda one: one_line(one.message.removeprefix(f"{one.exception}: "), 120),
        "where": place,
        "such as": lambda one: one.representative.id,
    }
    if groups := outcome.diagnosis.groups:
        shown = f", the first {most:,} of {len(groups):,} groups" if len(groups) > most else ""
        yield Subheading(f"Failures of {plural(outcome.diagnosis.candidates, 'candidate')}{shown}")
        numbers, droppable = {"candidates", "tasks", "tests"}, ("such as", "exception")
        yield table_of(groups[:most], columns, numbers, droppable=droppable)
    known = {task.id: task for task in outcome.tasks}
    unsolved = tuple(
        (known[one.task].path, known[one.task].qualified_name, f"{one.samples:,}", f"{one.evaluators:,}")
        for one in outcome.diagnosis.unsolved
        if one.task in known
    )
    if unsolved:
        table = PageTable(("file", "function", "samples", "evaluators"), unsolved, frozenset({2, 3}))
        yield Folded("Tasks without a passing sample", (table,), f"{len(unsolved):,}")
    # If there is only one file, its figures are the same as those above, so omit the table.
    files = [
        (group.name, outcome.name(one), f"{group.tasks:,}", *(share(each.value) for each in group.pass_at))
        for one, groups in outcome.files.items()
        if len(groups) > 1
        for group in groups
    ]
    if files:
        headings = ("file", "evaluator", "tasks", *(f"pass@{k}" for k in outcome.ks))
        yield Folded("pass@k by file", (PageTable(headings, tuple(sorted(files)), frozenset(range(2, len(headings)))),))


def _evaluators(outcome: Regenerated) -> PageTable:
    def estimate(place: int) -> Callable[[GroupOutcome], str]:
        return lambda one: wording.estimate_words(one.figures.pass_at[place])

    def shares(values: Iterable[float | None]) -> str:
        return " · ".join(map(share, values))

    def undocumented(one: GroupOutcome) -> bool:
        return one.figures.documented < one.figures.tasks

    def drawn(one: GroupOutcome) -> str:
        fewest, most = one.figures.samples_per_task
        return "" if fewest == most else f"{fewest} to {most}"

    def resting(one: GroupOutcome) -> str:
        tasks = one.figures.pass_at[0].tasks
        return "" if tasks == one.ready else f"{tasks:,} of {one.ready:,}"

    def each(one: GroupOutcome) -> str:
        return fixed(round(one.totals.tokens / one.totals.samples) if one.totals.samples else None)

    optional: dict[str, Callable[[GroupOutcome], str]] = {
        "without doubtful": lambda one: shares(one.figures.without_doubtful if one.figures.doubtful else ()),
        "without repairs": lambda one: shares(one.figures.without_repairs if one.figures.repaired else ()),
        "with docstring": lambda one: f"{one.figures.documented} of {one.figures.tasks}" if undocumented(one) else "",
        "these alone": lambda one: shares(
            one.figures.of_documented if undocumented(one) and one.figures.documented else ()
        ),
    }
    rare: dict[str, Callable[[GroupOutcome], str]] = {
        "doubtful": lambda one: str(one.figures.doubtful or ""),
        "cut at the token limit": lambda one: str(one.figures.cut or ""),
        "samples a task": drawn,
        "tasks": resting,
    }
    columns: dict[str, Callable[[GroupOutcome], str]] = {
        "evaluator": lambda one: outcome.name(one.group) + (" (control)" if one.control else ""),
        **{f"pass@{k}": estimate(place) for place, k in enumerate(outcome.ks)},
        **optional,
        "verdicts": lambda one: wording.verdict_words(one.totals.verdicts),
        **rare,
        "unfinished": lambda one: str(one.totals.unfinished),
        "tested again": lambda one: str(one.totals.retesting or ""),
        "tokens": lambda one: fixed(one.totals.tokens),
        "a sample": each,
        "cost $": lambda one: fixed(one.totals.cost_usd, 4),
    }
    numbers, optional_names = columns.keys() - {"evaluator", "verdicts"}, {*optional, *rare, "tested again"}
    return table_of(outcome.groups, columns, numbers, optional_names, ("cost $", "a sample", "tokens"))


def _tasks(contents: Contents, outcome: Regenerated) -> PageTable:
    """Return a row for each task and group with a sign for each sample; excluded tasks show the reason."""
    rows: list[tuple[str, ...]] = []
    links = []
    of_task: dict[str, list[TaskGroupLine]] = {}
    for line in outcome.lines:
        if not line.control:
            of_task.setdefault(line.task.id, []).append(line)
    for task in outcome.tasks:
        held = controls_words(task.controls)
        cover = percent(task.coverage)
        start = (contents.short.get(task.id, task.id), task.path, task.qualified_name, str(task.test_count), cover)
        status = "ready" if task.state == "ready" else f"{task.state}: {task.reason or 'no reason given'}"
        lines: list[TaskGroupLine | None] = [*of_task.get(task.id, ())]
        for one in lines or [None]:
            values = [one.result.at(k) if one else None for k in outcome.ks]
            middle = (outcome.name(one.group), one.cells) if one else (NOTHING, "")
            rows.append((*start, *middle, *(share(value) for value in values), held, status))
            links.append(task.id)
    headings = ("id", "file", "function", "tests", "cover", "evaluator", "samples",
                *(f"pass@{k}" for k in outcome.ks), "controls", "state")  # fmt: skip
    last = 7 + len(outcome.ks)
    right, droppable = frozenset({3, 4, *range(7, last)}), ("controls", "cover")
    shown = PageTable(headings, tuple(rows), right, tuple(links), "task-", droppable=droppable)
    empty = not any(row[last] for row in rows)
    return shown.with_columns([place for place in range(len(headings)) if place != last]) if empty else shown


def controls_words(controls: str | None) -> str:
    """Return a text such as ``✓ reference · ✓ stub``, or the recorded value if it has an unknown form."""
    recorded = decoded(controls)
    if not recorded:
        return ""
    if not isinstance(recorded, dict):
        return str(recorded)
    signs = {True: glyphs.VERDICTS["passed"], False: glyphs.VERDICTS["failed"]}
    return " · ".join(f"{signs[one] if isinstance(one, bool) else one} {name}" for name, one in recorded.items())


def task_parts(contents: Contents, task: TaskRow, texts: Excerpts) -> Iterator[Part]:
    """Yield a task without its candidates: docstring, body and tests, or statement, reference and hidden calls."""
    is_usage = task.usage_blob is not None
    texts_of = ("Statement", "Reference") if is_usage else ("Docstring", "Original body")
    tested = "Hidden calls" if is_usage else "Tests"
    lines = "" if task.start_line is None else f"{task.start_line}" + (f" to {task.end_line}" if task.end_line else "")
    yield FactList((
        ("task", task.id),
        ("line" if task.end_line is None else "lines", lines),
        (tested.lower(), str(task.test_count)),
        ("cover", "" if task.coverage is None else percent(task.coverage)),
        ("docs", "" if is_usage else task.docs_words),
        ("leak", "" if task.leak is None else share(task.leak)),
        ("controls", controls_words(task.controls)),
        ("state", task.state),
    ))  # fmt: skip
    if task.reason:
        yield Note(task.reason, "problem")
    yield from wording.remarks(contents, task.id)
    for title, blob, language in zip(texts_of, (task.docstring_blob, task.body_blob), ("", "python"), strict=True):
        if blob:
            text = texts.of(blob, f"the {title.lower()} of task {task.id}")
            yield Folded(title, (Preformatted(text.text, language=language),), text.words, "paper")
    tests = decoded(task.tests)
    if isinstance(tests, list) and tests:
        yield Folded(tested, (Preformatted("\n".join(map(str, tests))),), f"{len(tests):,}")


def samples_of_task(reader: SessionReader, task: TaskRow, outcome: Regenerated, texts: Excerpts) -> Iterator[Part]:
    original = texts.of(task.body_blob, f"the original body of task {task.id}") if task.body_blob else None
    figure, noun = ("use", "failing call") if task.usage_blob else ("pass", "failing test")
    for line in outcome.of_task(task.id):
        result = line.result
        at = " · ".join(f"{figure}@{k} {share(result.at(k))}" for k in outcome.ks)
        yield Subheading(outcome.name(line.group), f"{result.passed} of {result.counted} passed · {at}")
        for one in line.candidates:
            failing = len(reader.failing_tests(one.id))
            count = plural(failing, noun) if failing else ""
            tokens = fixed((one.prompt_tokens or 0) + (one.completion_tokens or 0))
            why = " · ".join(filter(None, (one.verdict_reason, count)))
            cells = (wording.stands_words(one), why, f"{tokens} tok", f"{fixed(one.tested_s, 1)} s")
            inside = (Note(f"candidate {one.id}"), *candidate_parts(reader, one, original, texts))
            yield Folded(str(one.sample), inside, kind="step", cells=cells)


def candidate_parts(
    reader: SessionReader, candidate: CandidateRow, original: Excerpt | None, texts: Excerpts
) -> Iterator[Part]:
    """Yield earlier verdicts, the body and its difference from the original, and failed tests.

    The original of a usage task is its reference, from which any right answer may differ.
    """
    if candidate.gap is not None and (gap := gap_of(candidate)) is not None:
        yield Note(f"gap: {f'line {gap.line}, ' if gap.line else ''}{gap.words}")
    elif candidate.page_line is not None:
        yield Note(f"from line {candidate.page_line} of the page")
    for former in reader.former_verdicts(candidate.id):
        yield Note(f"before: {wording.former_words(former)}")
        if failed := tuple(f"{test.outcome} {test.test_id}" for test in former_failing(reader, former)):
            yield BulletList(failed)
    # The body of a control is the original or a stub.
    if candidate.body_blob and not candidate.control:
        body = texts.of(candidate.body_blob, f"the body of candidate {candidate.id}")
        yield Preformatted(body.text, "Body", body.words, language="python")
        if original is not None:
            names = ("original body", f"candidate {candidate.sample}")
            before, after = (replace(one, text=without_margin(one.text)) for one in (original, body))
            yield TextChanges("Against the original", before, after, names, texts)
    elif candidate.answer_blob:
        answer = texts.of(candidate.answer_blob, f"the answer of candidate {candidate.id}")
        yield Preformatted(answer.text, "Answer", answer.words, prose=True)
    for test in reader.failing_tests(candidate.id):
        yield Preformatted(test.message, f"{test.outcome} {test.test_id}", prose=True)
        if test.traceback_blob and not candidate.control:
            trace = texts.of(test.traceback_blob, f"a traceback of candidate {candidate.id}")
            yield Folded("traceback", (Preformatted(trace.text),), trace.words, "evidence")
