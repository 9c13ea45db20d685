"""The tables that people read, as headings and cells: the same in Markdown, in HTML and on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base import glyphs
from workbench.base.text import NOTHING, fixed, one_line, percent, plural, share, when
from workbench.pages import wording
from workbench.pages.contents import Contents, Run, Trial, tier_points
from workbench.pages.page import Table, table_of
from workbench.pages.regenerated import Line, Regenerated, estimate_words, verdict_words
from workbench.results.spread import words as spread_words
from workbench.session.forks import fork_words

if TYPE_CHECKING:
    from workbench.regeneration.failure_groups import FailureGroup
    from workbench.regeneration.outcome import GroupOutcome
    from workbench.results.scores import ImportedScore
    from workbench.results.spread import Agreement, Spread
    from workbench.session.rows import StageRow

IMPORTED = "imported scores"
IMPORTED_TITLE = "Scores of the imported file"
DAMAGE_SENTENCE = "These parts of the session file could not be read; everything else is shown."


def runs(contents: Contents) -> Table:
    columns: dict[str, Callable[[Run], str]] = {
        "run": lambda one: one.row.id,
        "name": lambda one: one.row.name or "",
        "tags": lambda one: contents.tags(one.row.id),
        "kind": lambda one: one.row.kind,
        "state": lambda one: wording.state(one.state),
        "items": lambda one: str(one.items),
        "plan": lambda one: wording.plan_words(one.row.config),
        "asked for": lambda one: when(one.row.created_at),
        "spend $": lambda one: fixed(one.row.spend_usd, 4),
        "remark": lambda one: "; ".join(filter(None, (one.row.error, one.row.note))),
    }
    return table_of(contents.runs, columns, {"items", "spend $"}, {"name", "tags", "remark"})


def put_away_sentence(contents: Contents) -> str:
    if not contents.put_away:
        return ""
    runs = plural(contents.put_away, "run")
    return f"{runs} put away: left out here, kept in the file; in the app, U and . bring them back."


def trials(contents: Contents) -> Table:
    """Return the trials with their score by each rubric and judge, and the tiers of the first."""

    def points(pair: tuple[str, str]) -> Callable[[Trial], str]:
        return lambda one: wording.own_first(contents.total(one, pair)) if one.score(pair) else NOTHING

    def tier(number: int) -> Callable[[Trial], str]:
        return lambda one: wording.points(tier_points(one.main)[number]) if one.main else NOTHING

    scores = {f"{rubric} ({judge})": points((rubric, judge)) for rubric, judge in contents.judged}
    tiers = {f"T{number + 1}": tier(number) for number in range(4)}
    columns: dict[str, Callable[[Trial], str]] = {
        "id": lambda one: contents.short.get(one.row.id, one.row.id),
        "case": _case,
        "agent": lambda one: one.row.agent,
        "model": lambda one: one.row.model,
        "rep.": lambda one: str(one.row.repeat),
        **scores,
        **tiers,
        IMPORTED: lambda one: ", ".join(f"{each.scorer} {each.value}" for each in one.imported_scores),
        "works": lambda one: one.works.short() if one.works else "",
        "steps": lambda one: str(one.row.steps),
        "tokens": lambda one: fixed(one.row.tokens),
        "cost $": lambda one: fixed(one.row.cost_usd, 4),
        "s": lambda one: fixed(one.row.seconds, 1),
        "status": lambda one: wording.state(one.row.state),
        "fork": lambda one: fork_words(one.row.parent, one.row.fork_step, one.row.edited),
        "tags": lambda one: contents.tags(one.row.id),
    }
    right = {"rep.", *scores, *tiers, "works", "steps", "tokens", "cost $", "s"}
    found = table_of(contents.trials, columns, right, {IMPORTED, "works", "fork", "tags"})
    return replace(found, links=tuple(one.row.id for one in contents.trials), anchor="trial-")


def _case(trial: Trial) -> str:
    return " ".join(filter(None, (trial.row.case_name or trial.row.case_id, trial.told_apart)))


def imported_scores(trial: Trial) -> Table:
    columns: dict[str, Callable[[ImportedScore], str]] = {
        "scorer": lambda one: one.scorer,
        "value": lambda one: one.value,
        "explanation": lambda one: one.explanation,
    }
    return table_of(trial.imported_scores, columns)


def means(contents: Contents) -> Table:
    columns: dict[str, Callable[[Spread], str]] = {
        "agent": lambda one: one.agent,
        "model": lambda one: one.model,
        "case": lambda one: one.case or "all",
        "rubric (judge)": lambda one: f"{one.rubric} ({one.judge})",
        "scored": lambda one: f"{one.scored} of {one.trials}",
        "mean ± sd (range)": spread_words,
    }
    return table_of(contents.spread, columns, {"scored"})


def forks_sentence(contents: Contents) -> str:
    count = sum(bool(trial.row.parent) for trial in contents.trials)
    return f"{plural(count, 'fork')} of recorded trials: in no mean." if count else ""


AGREEMENT_SENTENCE = (
    "Difference: points of the second judge minus those of the first, mean over n documents that both scored; same: share of "
    "documents with the same points; r: Pearson's correlation."
)


def agreement(contents: Contents) -> Table:
    """Return how judges agree, tier by tier, the tier's criteria below it."""
    columns: dict[str, Callable[[Agreement], str]] = {
        "rubric": lambda one: one.rubric,
        "judges": lambda one: f"{one.judges[0]} / {one.judges[1]}",
        "tier": lambda one: f"T{one.tier}",
        "criterion": lambda one: one.criterion or "whole tier",
        "n": lambda one: str(one.documents),
        "difference": lambda one: f"{one.difference:+.1f}",
        "same": lambda one: percent(one.exact),
        "r": lambda one: share(one.correlation),
    }
    return table_of(contents.agreement, columns, {"n", "difference", "same", "r"})


def evaluators(outcome: Regenerated) -> Table:
    def estimate(place: int) -> Callable[[GroupOutcome], str]:
        return lambda one: estimate_words(one.figures.pass_at[place])

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
        "verdicts": lambda one: verdict_words(one.totals.verdicts),
        **rare,
        "unfinished": lambda one: str(one.totals.unfinished),
        "tested again": lambda one: str(one.totals.again or ""),
        "tokens": lambda one: fixed(one.totals.tokens),
        "a sample": each,
        "cost $": lambda one: fixed(one.totals.cost_usd, 4),
    }
    return table_of(
        outcome.groups, columns, columns.keys() - {"evaluator", "verdicts"}, {*optional, *rare, "tested again"}
    )


MOST_FAILURES = 50
"""Groups of failures that a table has; the JSON report has all of them."""


def failures(outcome: Regenerated, most: int = MOST_FAILURES) -> Table:
    """Return how candidates failed, the way that most of them did first, each with a candidate that stands for it."""

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
    return table_of(outcome.diagnosis.groups[:most], columns, {"candidates", "tasks", "tests"})


def failures_title(outcome: Regenerated, most: int = MOST_FAILURES) -> str:
    groups, failed = len(outcome.diagnosis.groups), outcome.diagnosis.candidates
    shown = f", the first {most:,} of {groups:,} ways" if groups > most else ""
    return f"What went wrong with {plural(failed, 'candidate')}{shown}"


def unsolved(outcome: Regenerated) -> Table:
    known = {task.id: task for task in outcome.tasks}
    rows = tuple(
        (known[one.task].path, known[one.task].qualified_name, f"{one.samples:,}", f"{one.evaluators:,}")
        for one in outcome.diagnosis.unsolved
        if one.task in known
    )
    return Table(("file", "function", "samples", "evaluators"), rows, frozenset({2, 3}))


def files(outcome: Regenerated) -> Table:
    """Return pass@k by file and group; no row where all tasks are in one file, for that is said already."""
    rows = [
        (
            group.name,
            outcome.name(one),
            f"{group.tasks:,}",
            *(share(estimate.value) for estimate in group.pass_at),
        )
        for one, groups in outcome.files.items()
        if len(groups) > 1
        for group in groups
    ]
    headings = ("file", "evaluator", "tasks", *(f"pass@{k}" for k in outcome.ks))
    return Table(headings, tuple(sorted(rows)), frozenset(range(2, len(headings))))


def tasks(contents: Contents, outcome: Regenerated) -> Table:
    """Return a line per task and group with a cell per sample; excluded tasks say why."""
    rows: list[tuple[str, ...]] = []
    links = []
    of_task: dict[str, list[Line]] = {}
    for line in outcome.lines:
        if not line.control:
            of_task.setdefault(line.task.id, []).append(line)
    for task in outcome.tasks:
        held = controls_words(task.controls)
        cover = percent(task.coverage)
        start = (contents.short.get(task.id, task.id), task.path, task.qualified_name, str(task.test_count), cover)
        status = "ready" if task.state == "ready" else f"{task.state}: {task.reason or 'no reason given'}"
        lines: list[Line | None] = [*of_task.get(task.id, ())]
        for one in lines or [None]:
            values = [one.result.at(k) if one else None for k in outcome.ks]
            middle = (outcome.name(one.group), one.cells) if one else (NOTHING, "")
            rows.append((*start, *middle, *(share(value) for value in values), held, status))
            links.append(task.id)
    headings = ("id", "file", "function", "tests", "cover", "evaluator", "samples",
                *(f"pass@{k}" for k in outcome.ks), "controls", "state")  # fmt: skip
    last = 7 + len(outcome.ks)
    shown = Table(headings, tuple(rows), frozenset({3, 4, *range(7, last)}), tuple(links), "task-")
    empty = not any(row[last] for row in rows)
    return with_columns(shown, [place for place in range(len(headings)) if place != last]) if empty else shown


def controls_words(controls: str | None) -> str:
    """Return how the controls of a task went, whatever JSON the run recorded of them."""
    told = wording.decoded(controls)
    if not told:
        return ""
    if not isinstance(told, dict):
        return str(told)
    words = {True: glyphs.VERDICTS["passed"], False: glyphs.VERDICTS["failed"]}
    return " · ".join(
        f"{words.get(held, held) if isinstance(held, bool) else held} {name}" for name, held in told.items()
    )


def dropped(outcome: Regenerated) -> Table:
    rows = tuple((row.path, row.qualified_name, row.stage, row.reason) for row in outcome.dropped)
    return Table(("file", "function", "stage", "reason"), rows)


def stages(outcome: Regenerated) -> Table:
    columns: dict[str, Callable[[StageRow], str]] = {
        "stage": lambda one: one.name,
        "state": lambda one: one.state,
        "done": lambda one: f"{one.done:,}" + (f" of {one.total:,}" if one.total is not None else ""),
        # A suite's note names the quarantined tests below its first line.
        "note": lambda one: (one.note or "").partition("\n")[0],
    }
    return table_of(outcome.stages, columns, {"done"}, {"note"})


def trial_title(trial: Trial) -> str:
    """Return what identifies a trial to a person."""
    row = trial.row
    fork = fork_words(row.parent, row.fork_step, row.edited)
    return " · ".join(filter(None, (_case(trial), row.agent, row.model, f"repeat {row.repeat}", fork)))


def with_columns(shown: Table, kept: Sequence[int]) -> Table:
    return replace(
        shown,
        headings=tuple(shown.headings[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in shown.rows),
        right=frozenset(new for new, place in enumerate(kept) if place in shown.right),
    )


def state_advice(contents: Contents, session: str) -> Sequence[str]:
    """Return what to do about runs that are not at their end."""
    if any(run.state in {"interrupted", "unscored", "cancelled", "failed"} for run in contents.runs):
        return (f"Something is missing. Go on with: workbench resume {session}",)
    return ()
