"""The tables that people read, as headings and cells: the same in Markdown, in HTML and on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench import glyphs
from workbench.reports import wording
from workbench.reports.contents import Contents, Trial, tier_points
from workbench.reports.page import Shown
from workbench.reports.regenerated import Line, Regenerated, estimate_words, verdict_words
from workbench.rubric.spread import Total
from workbench.rubric.spread import words as spread_words
from workbench.session.forks import fork_words
from workbench.text import one_line

IMPORTED = "imported scores"
IMPORTED_TITLE = "Scores of the imported file"
DAMAGE_SENTENCE = "These parts of the session file could not be read; everything else is shown."


def runs(contents: Contents) -> Shown:
    rows = []
    for run in contents.runs:
        remark = "; ".join(text for text in (run.row.error, run.row.note) if text)
        rows.append(
            (
                run.row.id,
                run.row.name or "",
                contents.tags(run.row.id),
                run.row.kind,
                wording.state(run.state),
                str(run.items),
                wording.plan_words(run.row.config),
                wording.when(run.row.created_at),
                wording.money(run.row.spend_usd),
                remark,
            )
        )
    headings = ("run", "name", "tags", "kind", "state", "items", "plan", "asked for", "spend $", "remark")
    return _without_empty(Shown(headings, tuple(rows), frozenset({5, 8})), {"name", "tags", "remark"})


def put_away_sentence(contents: Contents) -> str:
    if not contents.put_away:
        return ""
    runs = wording.plural(contents.put_away, "run")
    return f"{runs} put away: left out here, kept in the file; in the app, U and . bring them back."


def trials(contents: Contents) -> Shown:
    """Return the trials with their score by each rubric and judge, and the tiers of the first."""
    judged = contents.judged
    headings = ["id", "case", "agent", "model", "rep."]
    headings += [f"{rubric} ({judge})" for rubric, judge in judged]
    first = len(headings)
    numbers = set(range(4, first))
    headings += ["T1", "T2", "T3", "T4", IMPORTED, "works", "steps", "tokens", "cost $", "s", "status", "fork", "tags"]
    numbers |= set(range(first, first + 10)) - {first + 4}
    rows = []
    for trial in contents.trials:
        row = trial.row
        scores = [trial.score(pair) for pair in judged]
        tiers = [wording.points(points) for points in tier_points(trial.main)] if trial.main else [wording.NOTHING] * 4
        rows.append(
            (
                contents.short.get(row.id, row.id),
                " ".join(filter(None, (row.case_name or row.case_id, trial.told_apart))),
                row.agent,
                row.model,
                str(row.repeat),
                *(
                    wording.NOTHING if score is None else _points(contents.total(trial, pair))
                    for pair, score in zip(judged, scores, strict=True)
                ),
                *tiers,
                ", ".join(f"{one.scorer} {one.value}" for one in trial.imported_scores),
                trial.works.short() if trial.works else "",
                str(row.steps),
                wording.count(row.tokens),
                wording.money(row.cost_usd),
                wording.seconds(row.seconds),
                wording.state(row.state),
                fork_words(row.parent, row.fork_step, row.edited),
                contents.tags(row.id),
            )
        )
    links = tuple(trial.row.id for trial in contents.trials)
    return _without_empty(
        Shown(tuple(headings), tuple(rows), frozenset(numbers), links, "trial-"), {IMPORTED, "works", "fork", "tags"}
    )


def _points(total: Total) -> str:
    """Return ``82 / 100``; where a format gave more than a tenth of it, the model's own points first."""
    whole = wording.of(total.points, total.out_of)
    return f"{wording.of(*total.own)} own, {whole}" if total.own else whole


def imported_scores(trial: Trial) -> Shown:
    rows = tuple((one.scorer, one.value, one.explanation) for one in trial.imported_scores)
    return Shown(("scorer", "value", "explanation"), rows, frozenset())


def means(contents: Contents) -> Shown:
    rows = [
        (one.agent, one.model, one.case or "all", f"{one.rubric} ({one.judge})", f"{one.scored} of {one.trials}",
         spread_words(one))
        for one in contents.spread
    ]  # fmt: skip
    headings = ("agent", "model", "case", "rubric (judge)", "scored", "mean ± sd (range)")
    return Shown(headings, tuple(rows), frozenset({4}))


def forks_sentence(contents: Contents) -> str:
    count = sum(bool(trial.row.parent) for trial in contents.trials)
    return f"{wording.plural(count, 'fork')} of recorded trials: in no mean." if count else ""


AGREEMENT_SENTENCE = (
    "Difference: points of the second judge minus those of the first, mean over n documents that both scored; same: share of "
    "documents with the same points; r: Pearson's correlation."
)


def agreement(contents: Contents) -> Shown:
    """Return how judges agree, tier by tier, the tier's criteria below it."""
    rows = [
        (
            one.rubric,
            f"{one.judges[0]} / {one.judges[1]}",
            f"T{one.tier}",
            one.criterion or "whole tier",
            str(one.documents),
            f"{one.difference:+.1f}",
            f"{one.exact:.0%}",
            wording.NOTHING if one.correlation is None else f"{one.correlation:.2f}",
        )
        for one in contents.agreement
    ]
    headings = ("rubric", "judges", "tier", "criterion", "n", "difference", "same", "r")
    return Shown(headings, tuple(rows), frozenset({4, 5, 6, 7}))


_BESIDE = ("without repairs", "with docstring", "these alone")


def evaluators(outcome: Regenerated) -> Shown:
    rows = []
    for one in outcome.groups:
        totals, figures = one.totals, one.figures
        clean = figures.without_doubtful if figures.doubtful else ()
        bare = figures.without_repairs if figures.repaired else ()
        undocumented = figures.documented < figures.tasks
        fewest, most = figures.samples_per_task
        resting = figures.pass_at[0].tasks
        alone = figures.of_documented if undocumented and figures.documented else ()
        rows.append(
            (
                outcome.name(one.group) + (" (control)" if one.control else ""),
                *(estimate_words(estimate) for estimate in figures.pass_at),
                " · ".join(map(wording.share, clean)),
                " · ".join(map(wording.share, bare)),
                f"{figures.documented} of {figures.tasks}" if undocumented else "",
                " · ".join(map(wording.share, alone)),
                verdict_words(totals.verdicts),
                str(figures.doubtful or ""),
                str(figures.cut or ""),
                "" if fewest == most else f"{fewest} to {most}",
                "" if resting == one.ready else f"{resting:,} of {one.ready:,}",
                str(totals.unfinished),
                str(totals.again or ""),
                wording.count(totals.tokens),
                wording.count(round(totals.tokens / totals.samples) if totals.samples else None),
                wording.money(totals.cost_usd),
            )
        )
    last = 4 + len(outcome.ks)
    headings = (
        "evaluator",
        *(f"pass@{k}" for k in outcome.ks),
        "without doubtful",
        "without repairs",
        "with docstring",
        "these alone",
        "verdicts",
        "doubtful",
        "cut at the token limit",
        "samples a task",
        "tasks",
        "unfinished",
        "tested again",
        "tokens",
        "a sample",
        "cost $",
    )
    shown = Shown(headings, tuple(rows), frozenset({*range(1, last + 1), *range(last + 2, last + 11)}))
    return _without_empty(
        shown,
        {"tested again", "cut at the token limit", "samples a task", "tasks", "doubtful", "without doubtful", *_BESIDE},
    )


MOST_FAILURES = 50
"""Groups of failures that a table has; the JSON report has all of them."""


def failures(outcome: Regenerated, most: int = MOST_FAILURES) -> Shown:
    """Return how candidates failed, the way that most of them did first, each with a candidate that stands for it."""
    rows = []
    for group in outcome.diagnosis.groups[:most]:
        one = group.representative
        rows.append(
            (
                f"{len(group.candidates):,}",
                f"{group.tasks:,}",
                f"{len(group.tests):,}",
                f"{wording.verdict(group.verdict)}",
                group.exception if group.exception != group.verdict else "",
                one_line(group.message.removeprefix(f"{group.exception}: "), 120),
                group.place or (one.lead.test if one.lead is not None else one.function),
                one.id,
            )
        )
    headings = ("candidates", "tasks", "tests", "verdict", "exception", "message", "where", "such as")
    return Shown(headings, tuple(rows), frozenset({0, 1, 2}))


def failures_title(outcome: Regenerated, most: int = MOST_FAILURES) -> str:
    groups, failed = len(outcome.diagnosis.groups), outcome.diagnosis.candidates
    shown = f", the first {most:,} of {groups:,} ways" if groups > most else ""
    return f"What went wrong with {wording.plural(failed, 'candidate')}{shown}"


def unsolved(outcome: Regenerated) -> Shown:
    known = {task.id: task for task in outcome.tasks}
    rows = tuple(
        (known[one.task].path, known[one.task].qualified_name, f"{one.samples:,}", f"{one.evaluators:,}")
        for one in outcome.diagnosis.unsolved
        if one.task in known
    )
    return Shown(("file", "function", "samples", "evaluators"), rows, frozenset({2, 3}))


def files(outcome: Regenerated) -> Shown:
    """Return pass@k by file and group; no row where all tasks are in one file, for that is said already."""
    rows = [
        (
            group.name,
            outcome.name(one),
            f"{group.tasks:,}",
            *(wording.share(estimate.value) for estimate in group.pass_at),
        )
        for one, groups in outcome.files.items()
        if len(groups) > 1
        for group in groups
    ]
    headings = ("file", "evaluator", "tasks", *(f"pass@{k}" for k in outcome.ks))
    return Shown(headings, tuple(sorted(rows)), frozenset(range(2, len(headings))))


def tasks(contents: Contents, outcome: Regenerated) -> Shown:
    """Return a line per task and group with a cell per sample; excluded tasks say why."""
    rows: list[tuple[str, ...]] = []
    links = []
    of_task: dict[str, list[Line]] = {}
    for line in outcome.lines:
        if not line.control:
            of_task.setdefault(line.task.id, []).append(line)
    for task in outcome.tasks:
        held = controls_words(task.controls)
        cover = wording.NOTHING if task.coverage is None else f"{100 * task.coverage:.0f} %"
        start = (contents.short.get(task.id, task.id), task.path, task.qualified_name, str(task.test_count), cover)
        status = "ready" if task.state == "ready" else f"{task.state}: {task.reason or 'no reason given'}"
        lines: list[Line | None] = [*of_task.get(task.id, ())]
        for one in lines or [None]:
            values = [one.result.at(k) if one else None for k in outcome.ks]
            middle = (outcome.name(one.group), one.cells) if one else (wording.NOTHING, "")
            rows.append((*start, *middle, *(wording.share(value) for value in values), held, status))
            links.append(task.id)
    headings = ("id", "file", "function", "tests", "cover", "evaluator", "samples",
                *(f"pass@{k}" for k in outcome.ks), "controls", "state")  # fmt: skip
    last = 7 + len(outcome.ks)
    shown = Shown(headings, tuple(rows), frozenset({3, 4, *range(7, last)}), tuple(links), "task-")
    return _without_empty(shown, {"controls"})


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


def dropped(outcome: Regenerated) -> Shown:
    rows = tuple((row.path, row.qualified_name, row.stage, row.reason) for row in outcome.dropped)
    return Shown(("file", "function", "stage", "reason"), rows, frozenset())


def _first(note: str | None) -> str:
    # A suite's note names the quarantined tests below its first line.
    return (note or "").partition("\n")[0]


def stages(outcome: Regenerated) -> Shown:
    rows = tuple(
        (
            row.name,
            row.state,
            f"{row.done:,}" + (f" of {row.total:,}" if row.total is not None else ""),
            _first(row.note),
        )
        for row in outcome.stages
    )
    return _without_empty(Shown(("stage", "state", "done", "note"), rows, frozenset({2})), {"note"})


def trial_title(trial: Trial) -> str:
    """Return what identifies a trial to a person."""
    row = trial.row
    case = " ".join(filter(None, (row.case_name or row.case_id, trial.told_apart)))
    fork = fork_words(row.parent, row.fork_step, row.edited)
    return " · ".join(filter(None, (case, row.agent, row.model, f"repeat {row.repeat}", fork)))


def _without_empty(shown: Shown, names: set[str]) -> Shown:
    return with_columns(
        shown,
        [
            place
            for place, heading in enumerate(shown.headings)
            if heading not in names or any(row[place] for row in shown.rows)
        ],
    )


def with_columns(shown: Shown, kept: Sequence[int]) -> Shown:
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
