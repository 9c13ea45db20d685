"""A session as a page: overview sections, each a function in ``SECTIONS``, then a section per trial and task.

``workbench show`` and panes of the app show parts of it. Sections of items are built one at a time, so that the long
texts of one are freed before the next is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from workbench.base import glyphs
from workbench.base.text import NOTHING, fixed, one_line, percent, plural, share, when
from workbench.checking.verdicts import CheckDamaged, CheckResult, alarm, checked_of, shown_lines
from workbench.grounding import read_trial
from workbench.pages import session_figures, wording
from workbench.pages.excerpts import Excerpt, Excerpts, pretty_json, split_answer
from workbench.pages.page import (
    BulletList,
    Card,
    FactList,
    Figure,
    Folded,
    Note,
    PageTable,
    Part,
    Preformatted,
    Readme,
    ReportPage,
    Section,
    Subheading,
    TextChanges,
    table_of,
)
from workbench.pages.regeneration_page import MOST_FAILURES, regenerations, samples_of_task, task_parts
from workbench.results.contents import Contents, Run, Trial, accessed_files_words, tier_points
from workbench.results.forks import fork_words, inheritance
from workbench.results.scores import ImportedScore, card_of
from workbench.results.spread import words as spread_words
from workbench.rubric.scorecard import Scorecard
from workbench.session.json_forms import TIER_NAMES
from workbench.session.judges import in_words, with_limit
from workbench.session.labels import SESSION
from workbench.session.reader import SessionReader
from workbench.session.rows import StepRow

if TYPE_CHECKING:
    from workbench.results.spread import Agreement, ScoreSpread

IMPORTED = "imported scores"
_PROBLEM, _REMARK = "problem", "remark"
_MOST_LISTED = 100
"""The maximum number of inventions or alarms to list; the count always includes all."""
_MOST_OUTPUT = 12
_NOT_IN_POINTS = "Whether code blocks run and names exist; not part of any rubric's points."
_WRONG, _ODD = glyphs.VERDICTS["failed"], glyphs.VERDICTS["crashed"]


def session_page(reader: SessionReader, contents: Contents) -> ReportPage:
    sections = (section for make in SECTIONS for section in make(contents, MOST_FAILURES))
    noun = "trial" if not contents.regenerations else "task" if not contents.trials else "item"
    return ReportPage(
        f"Session {contents.name}",
        (
            session_facts(contents),
            *wording.remarks(contents, SESSION),
            *(Note(advice, "advice") for advice in state_advice(contents, contents.file)),
        ),
        tuple(sections),
        "Workbench report",
        f"Written by {contents.created_by or 'workbench'}'s report from {contents.file}.",
        items(reader, contents, Excerpts(reader)),
        tuple(_index(contents)),
        noun,
    )


def _index(contents: Contents) -> Iterator[Subheading]:
    for trial in contents.trials:
        yield Subheading(trial_title(trial), anchor=f"trial-{trial.row.id}")
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            yield Subheading(f"{task.qualified_name} · {task.path}", anchor=f"task-{task.id}")


def items(reader: SessionReader, contents: Contents, texts: Excerpts) -> Iterator[Section]:
    """Yield a section for each trial and task, followed by any damage found while reading them."""
    for trial in contents.trials:
        inside = chain(trial_parts(reader, contents, trial, texts), _steps(reader, trial, texts))
        yield Section(trial_title(trial), inside, anchor=f"trial-{trial.row.id}", item=True)
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            inside = chain(task_parts(contents, task, texts), samples_of_task(reader, task, outcome, texts))
            yield Section(task.qualified_name, inside, task.path, f"task-{task.id}", item=True)
    if reader.damage:
        note = Note("These parts of the session file could not be read; everything else is shown.", _PROBLEM)
        damage = BulletList(tuple(one.sentence for one in reader.damage))
        yield Section("Damaged", (note, damage), anchor="damaged")


def _points(contents: Contents, _: int) -> Iterator[Section]:
    points = (session_figures.points_by_trial(contents), session_figures.distribution_of_points(contents))
    if drawn := tuple(one for one in points if one is not None and contents.item is None):
        yield Section("Points", drawn, anchor="points")


def _means(contents: Contents, _: int) -> Iterator[Section]:
    if not contents.spread:
        return
    columns: dict[str, Callable[[ScoreSpread], str]] = {
        "agent": lambda one: one.agent,
        "model": lambda one: one.model,
        "case": lambda one: one.case or "all",
        "rubric (judge)": lambda one: f"{one.rubric} ({one.judge})",
        "scored": lambda one: f"{one.scored} of {one.trials}",
        "mean ± sd (range)": spread_words,
    }
    forks = sum(bool(trial.row.parent) for trial in contents.trials)
    note = "Means over trials with the standard deviation of the sample."
    note += f" {plural(forks, 'fork')} of recorded trials excluded." if forks else ""
    yield Section("Means", (table_of(contents.spread, columns, {"scored"}), Note(note)), anchor="means")


def _trials(contents: Contents, _: int) -> Iterator[Section]:
    if not contents.trials:
        return

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
    droppable = ("T1", "T2", "T3", "T4", "cost $", "rep.", "tokens", "steps")
    table = table_of(contents.trials, columns, right, {IMPORTED, "works", "fork", "tags"}, droppable)
    table = replace(table, links=tuple(one.row.id for one in contents.trials), anchor="trial-")
    first = " by ".join(contents.judged[0]) if contents.judged else ""
    tiers_note = f"T1 to T4 are the tiers of {first}: structure, sections, accuracy, quality. " if first else ""
    yield Section("Trials", (table, Note(f"{tiers_note}? means unscored, not 0.")), anchor="trials")


def _agreement(contents: Contents, _: int) -> Iterator[Section]:
    if not contents.agreement:
        return
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
    note = (
        "Difference: points of the second judge minus those of the first, mean over n documents that both scored; same: share of "
        "documents with the same points; r: Pearson's correlation."
    )
    table = table_of(contents.agreement, columns, {"n", "difference", "same", "r"})
    yield Section("Agreement of judges", (table, Note(note)), anchor="agreement")


def _runs(contents: Contents, _: int) -> Iterator[Section]:
    columns: dict[str, Callable[[Run], str]] = {
        "run": lambda one: one.row.id,
        "name": lambda one: one.row.name or "",
        "tags": lambda one: contents.tags(one.row.id),
        "kind": lambda one: one.row.kind,
        "state": lambda one: wording.state(one.state),
        "items": lambda one: str(one.items),
        "plan": lambda one: wording.plan_words(one.row.config),
        "ordered": lambda one: when(one.row.created_at),
        "spend $": lambda one: fixed(one.row.spend_usd, 4),
        "remark": lambda one: "; ".join(filter(None, (one.row.error, one.row.note))),
    }
    optional, droppable = {"name", "tags", "remark"}, ("ordered", "spend $", "kind")
    table = table_of(contents.runs, columns, {"items", "spend $"}, optional, droppable)
    away = archived_sentence(contents)
    yield Section("Runs", (table, *([Note(away)] if away else ())), anchor="runs")


SECTIONS = (_points, _means, _trials, _agreement, regenerations, _runs)


def overview(contents: Contents, most_failures: int) -> Iterator[Section]:
    """Yield the overview sections that contain more than figures.

    A table has at most ``most_failures`` failure groups.
    """
    for make in SECTIONS:
        yield from (
            one for one in make(contents, most_failures) if not all(isinstance(part, Figure) for part in one.parts)
        )


def archived_sentence(contents: Contents) -> str:
    if not contents.archived:
        return ""
    runs = plural(contents.archived, "run")
    return f"{runs} archived: omitted here but still in the file; in the app, U and . restore them."


def state_advice(contents: Contents, session: str) -> Sequence[str]:
    if any(run.state in {"interrupted", "unscored", "cancelled", "failed"} for run in contents.runs):
        return (f"Some runs are incomplete. To continue: workbench resume {session}",)
    return ()


def trial_title(trial: Trial) -> str:
    row = trial.row
    fork = fork_words(row.parent, row.fork_step, row.edited)
    return " · ".join(filter(None, (_case(trial), row.agent, row.model, f"repeat {row.repeat}", fork)))


def _case(trial: Trial) -> str:
    return " ".join(filter(None, (trial.row.case_name or trial.row.case_id, trial.content_suffix)))


def session_facts(contents: Contents) -> FactList:
    tasks = sum(len(outcome.tasks) for _, outcome in contents.regenerations)
    return FactList((
        ("created", when(contents.created_at)),
        ("by", contents.created_by),
        ("state", " · ".join(dict.fromkeys(wording.state(run.state) for run in contents.runs))),
        ("runs", str(len(contents.runs))),
        ("trials", str(len(contents.trials) or "")),
        ("tasks", str(tasks or "")),
        ("spend $", fixed(sum(run.row.spend_usd for run in contents.runs), 4)),
    ))  # fmt: skip


def trial_parts(reader: SessionReader, contents: Contents, trial: Trial, texts: Excerpts) -> Iterator[Part]:
    """Yield the parts of a trial, without its steps."""
    row = trial.row
    yield FactList((
        ("trial", row.id),
        ("status", wording.state(row.state)),
        ("steps", str(row.steps)),
        ("tokens", wording.tokens(row.prompt_tokens or None, row.completion_tokens or None)),
        ("cost $", fixed(row.cost_usd, 4)),
        ("seconds", fixed(row.seconds, 1)),
        ("repository", accessed_files_words(reader, row)),
    ))  # fmt: skip
    if row.error:
        yield Note(f"{_WRONG} {row.error}", _PROBLEM)
    if trial.problem:
        yield Note(f"{glyphs.UNSCORED} {trial.problem}", _PROBLEM)
    if row.parsed == 0:
        yield Note(f"{_ODD} The answer violated the protocol.", _PROBLEM)
    yield from wording.remarks(contents, row.id)
    readme = None if row.readme_blob is None else texts.readme(row.readme_blob, f"the README of trial {row.id}")
    changed = () if readme is None or not row.parent else (_since_parent(reader, trial, readme, texts),)
    yield Readme(readme, changed, tuple(_scores(reader, trial)))
    yield from _check(reader, trial)
    yield from _grounding(reader, trial)
    if row.metadata_blob:
        metadata = texts.of(row.metadata_blob, f"the metadata of trial {row.id}")
        yield Folded("Metadata", (Preformatted(pretty_json(metadata.text), language="json"),), metadata.words)


def _scores(reader: SessionReader, trial: Trial) -> Iterator[Part]:
    for place, score in enumerate(trial.scores):
        card = card_of(reader, score)
        points = wording.score(score.total, score.out_of, card.given if card else None)
        yield Card(score.rubric, with_limit(in_words(score.judge), score.judge), points, card, unfolded=place == 0)
    if not trial.scores:
        yield Note("Not scored.")
    if trial.imported_scores:
        columns: dict[str, Callable[[ImportedScore], str]] = {
            "scorer": lambda one: one.scorer,
            "value": lambda one: one.value,
            "explanation": lambda one: one.explanation,
        }
        yield Subheading("Scores of the imported file")
        yield table_of(trial.imported_scores, columns)


def _since_parent(reader: SessionReader, trial: Trial, readme: Excerpt, texts: Excerpts) -> Part:
    parent, row = reader.trial(trial.row.parent), trial.row
    if parent is None or parent.readme_blob is None:
        why = "which is not in this session" if parent is None else "which submitted none"
        return Note(f"Fork of trial {row.parent[:8]}, {why}: there is no README to compare with.")
    before = texts.readme(parent.readme_blob, f"the README of trial {parent.id}")
    names = (f"README of {parent.id[:8]}, the parent", f"README of {row.id[:8]}, the fork")
    return TextChanges("Changes from the parent's README", before, readme, names, texts)


def criteria(card: Scorecard) -> PageTable:
    """Return a scorecard as a table: each tier with its sum, followed by its criteria."""
    shaped = card.given is not None
    rows: list[tuple[str, ...]] = []
    for number, tier in card.tiers.items():
        name = TIER_NAMES.get(number, f"Tier {number}")
        rows.append((f"{number}", name, wording.of(tier.points, tier.maximum), *([""] if shaped else []), "", "", ""))
        rows += [
            (
                f"{number}",
                one.title,
                wording.of(one.points, one.maximum) if one.maximum else "",
                *((wording.points(one.given) if one.given is not None else "",) if shaped else ()),
                one.reason,
                "; ".join(map(wording.evidence, one.evidence)),
                one.judged_by,
            )
            for one in card.criteria
            if one.tier == number
        ]
    by_format = ("by the format",) if shaped else ()
    heads = ("tier", "criterion", "points", *by_format, "reason", "evidence", "by")
    return PageTable(heads, tuple(rows), frozenset({2, 3} if shaped else {2}), droppable=("by", "evidence"))


def _check(reader: SessionReader, trial: Trial) -> Iterator[Part]:
    if trial.works is None:
        return
    try:
        checked = checked_of(reader, trial.row.id)
    except CheckDamaged as error:
        checked = CheckResult((), (), (), (str(error),))
    if checked is None:
        return
    alarms = checked.alarms
    inside: list[Part] = [Note(_NOT_IN_POINTS), *map(Note, checked.problems)]
    for one in alarms[:_MOST_LISTED]:
        inside.append(Note(f"line {one.line:,}: {one_line(alarm(one), 300)}", _PROBLEM))
        if lines := shown_lines(one, _MOST_OUTPUT):
            inside.append(Preformatted("\n".join(lines), language="diff" if lines[0].startswith("@@") else ""))
    if len(alarms) > _MOST_LISTED:
        inside.append(Note(f"and {len(alarms) - _MOST_LISTED:,} more", _PROBLEM))
    yield Folded("Works", tuple(inside), trial.works.words(), "paper", unfolded=bool(alarms))


def _grounding(reader: SessionReader, trial: Trial) -> Iterator[Part]:
    if trial.row.readme_blob is None and not trial.row.steps:
        return
    why = read_trial(reader, trial.row)
    found, patterns = why.grounding, why.exploration.patterns
    if found is None and not patterns:
        return
    inside: list[Part] = [Note(why.note)] if why.note and found is not None and not found.repository else []
    listed = [
        f"{one_line(item.text, 200)} ({item.kind}, line {item.places[0].line:,})"
        for item in (found.inventions if found is not None else ())
    ]
    if len(listed) > _MOST_LISTED:
        listed[_MOST_LISTED:] = [f"and {len(listed) - _MOST_LISTED:,} more"]
    if listed:
        inside += [Note("Likely inventions, not found in the repository:", "plain"), BulletList(tuple(listed))]
    if patterns:
        inside.append(Note(f"Exploration: {'; '.join(patterns)}.", "plain"))
    counts = found.sentence() if found is not None else "no README"
    yield Folded("Grounding of the README", tuple(inside), counts, "paper", unfolded=bool(listed))


def _steps(reader: SessionReader, trial: Trial, texts: Excerpts) -> Iterator[Part]:
    steps = reader.steps(trial.row.id)
    yield Subheading("Trajectory", plural(len(steps), "step"))
    for step in steps:
        did = f"{_mark(step)} {step.action}".strip()
        took = inheritance(trial.row, step.number) or f"{fixed(step.tokens)} tok"
        cells = (did, _target(step), took, f"{fixed(step.seconds, 1)} s")
        kind = {"error": "step bad", "invalid": "step warn"}.get(step.kind, "step")
        inside = [Note(step.problem, _PROBLEM)] if step.problem else []
        made = " · ".join(filter(None, (step.model, step.settings))) if step.model or step.settings != "{}" else ""
        last = [Note(made)] if made else []
        yield Folded(str(step.number), (*inside, *step_texts(step, texts), *last), kind=kind, cells=cells)


def _mark(step: StepRow) -> str:
    return {"invalid": _ODD, "error": _WRONG}.get(step.kind, "")


def _target(step: StepRow) -> str:
    return "" if step.target == step.action else step.target


def step_texts(step: StepRow, texts: Excerpts) -> Iterator[Part]:
    of = f"step {step.number} of trial {step.trial_id}"
    answer = texts.of(step.answer_blob, f"the answer of {of}")
    thought, call = split_answer(answer.text)
    if thought:
        yield Preformatted(thought, "Thought", prose=True)
    if call:
        yield Preformatted(call, "Call", answer.words, prose=True)
    if step.observation_blob:
        observation = texts.of(step.observation_blob, f"the observation of {of}")
        yield Preformatted(observation.text, "Observation", observation.words)


def steps_table(trial: Trial, steps: list[StepRow]) -> PageTable:
    rows = tuple(
        (
            str(step.number),
            f"{_mark(step)} {step.action}".strip(),
            _target(step),
            fixed(step.tokens),
            fixed(step.seconds, 1),
            inheritance(trial.row, step.number) or step.problem or "",
        )
        for step in steps
    )
    last = "remark" if trial.row.parent else "problem"
    heads = ("#", "action", "target", "tokens", "s", last)
    return PageTable(heads, rows, frozenset({0, 3, 4}), droppable=("tokens",))
