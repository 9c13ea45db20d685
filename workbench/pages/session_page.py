"""A session, its trials, tasks and candidates as parts of a page: the same in reports and on a terminal.

Sections are made one by one, so that the long texts of one are gone when the next is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from workbench.base import glyphs
from workbench.base.text import fixed, one_line, percent, plural, share, when
from workbench.checking.verdicts import CheckDamaged, Checked, alarm, checked_of, shown_lines
from workbench.comparison.texts import without_margin
from workbench.grounding import read_trial
from workbench.pages import page, report_tables, session_figures, wording
from workbench.pages.contents import Contents, Trial, accessed_files_words
from workbench.pages.excerpts import Excerpt, Excerpts, pretty_json, split_answer
from workbench.pages.regenerated import Regenerated, former_failing, former_words, interval_notes, stands_words
from workbench.results.scores import card_of
from workbench.rubric.scorecard import Scorecard
from workbench.session.forks import inheritance
from workbench.session.json_forms import TIER_NAMES
from workbench.session.judges import in_words, with_limit
from workbench.session.labels import SESSION, part_in_words
from workbench.session.reader import SessionReader
from workbench.session.rows import CandidateRow, StepRow, TaskRow

_PROBLEM, _REMARK = "problem", "remark"
_MOST_LISTED = 100
"""Likely inventions, or alarms, that are listed; all are counted."""
_MOST_OUTPUT = 12
_NOT_IN_POINTS = "Whether blocks run and what the README names is there; a figure of its own, in no rubric's points."
_WRONG, _ODD = glyphs.VERDICTS["failed"], glyphs.VERDICTS["crashed"]


def session_page(reader: SessionReader, contents: Contents) -> page.Page:
    points = (session_figures.points_by_trial(contents), session_figures.distribution_of_points(contents))
    drawn = tuple(one for one in points if one is not None and contents.item is None)
    first = [page.Section("Points", drawn, anchor="points")] if drawn else []
    noun = "trial" if not contents.regenerations else "task" if not contents.trials else "item"
    return page.Page(
        f"Session {contents.name}",
        (
            session_facts(contents),
            *remarks(contents, SESSION),
            *(page.Note(advice, "advice") for advice in report_tables.state_advice(contents, contents.file)),
        ),
        (*first, *overview(contents)),
        "Workbench report",
        f"Written by {contents.created_by or 'workbench'}'s report from {contents.file}.",
        items(reader, contents, Excerpts(reader)),
        tuple(_index(contents)),
        noun,
    )


def _index(contents: Contents) -> Iterator[page.Heading]:
    for trial in contents.trials:
        yield page.Heading(report_tables.trial_title(trial), anchor=f"trial-{trial.row.id}")
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            yield page.Heading(f"{task.qualified_name} · {task.path}", anchor=f"task-{task.id}")


def items(reader: SessionReader, contents: Contents, texts: Excerpts) -> Iterator[page.Section]:
    """Yield a section for each trial and task, then what turned out to be damaged."""
    for trial in contents.trials:
        inside = chain(trial_parts(reader, contents, trial, texts), _steps(reader, trial, texts))
        yield page.Section(report_tables.trial_title(trial), inside, anchor=f"trial-{trial.row.id}", item=True)
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            inside = chain(task_parts(contents, task, texts), _candidates(reader, task, outcome, texts))
            yield page.Section(task.qualified_name, inside, task.path, f"task-{task.id}", item=True)
    if reader.damage:
        said = tuple(one.sentence for one in reader.damage)
        yield page.Section(
            "Damaged", (page.Note(report_tables.DAMAGE_SENTENCE, _PROBLEM), page.Points(said)), anchor="damaged"
        )


def session_facts(contents: Contents) -> page.Facts:
    tasks = sum(len(outcome.tasks) for _, outcome in contents.regenerations)
    return page.Facts((
        ("created", when(contents.created_at)),
        ("by", contents.created_by),
        ("state", " · ".join(dict.fromkeys(wording.state(run.state) for run in contents.runs))),
        ("runs", str(len(contents.runs))),
        ("trials", str(len(contents.trials) or "")),
        ("tasks", str(tasks or "")),
        ("spend $", fixed(sum(run.row.spend_usd for run in contents.runs), 4)),
    ))  # fmt: skip


def remarks(contents: Contents, item: str, step: int | None = None) -> Iterator[page.Note]:
    """Yield the tags of an item and people's remarks on it, or those on one step of it alone."""
    if step is None and (tags := contents.all_tags(item)):
        yield page.Note(f"Tags: {tags}", _REMARK)
    for remark in contents.remarks(item):
        if step is None or remark.step == step:
            place = f" on {part_in_words(remark.of)}" if remark.of else ""
            yield page.Note(f"Remark{place}: {remark.text}", _REMARK)


def overview(contents: Contents, most_failures: int = report_tables.MOST_FAILURES) -> Iterator[page.Section]:
    """Yield means, trials, regenerations and runs; of ways to fail so many as stand in a table."""
    if contents.spread:
        said = " ".join(filter(None, (_MEANS, report_tables.forks_sentence(contents))))
        yield page.Section("Means", (report_tables.means(contents), page.Note(said)), anchor="means")
    if contents.trials:
        first = " by ".join(contents.judged[0]) if contents.judged else ""
        tiers = f"T1 to T4 are the tiers of {first}: structure, sections, accuracy, quality. " if first else ""
        found = (report_tables.trials(contents), page.Note(f"{tiers}? is unscored, which is not 0."))
        yield page.Section("Trials", found, anchor="trials")
    if contents.agreement:
        agreement = (report_tables.agreement(contents), page.Note(report_tables.AGREEMENT_SENTENCE))
        yield page.Section("Agreement of judges", agreement, anchor="agreement")
    for run, outcome in contents.regenerations:
        inside = tuple(_regeneration(contents, outcome, most_failures))
        yield page.Section(f"Regeneration {run.row.id}", inside, anchor=f"regeneration-{run.row.id}")
    away = report_tables.put_away_sentence(contents)
    yield page.Section("Runs", (report_tables.runs(contents), *([page.Note(away)] if away else ())), anchor="runs")


_MEANS = "Means over trials with the standard deviation of the sample."


def _regeneration(contents: Contents, outcome: Regenerated, most_failures: int) -> Iterator[page.Part]:
    if outcome.groups:
        yield report_tables.evaluators(outcome)
        ours = f"Our own errors ({glyphs.VERDICTS['error']}) count for nobody."
        control = f"A control must be exactly 1 (reference) or 0 (stub). {ours}"
        yield page.Note(f"pass@k without bias. {' '.join(interval_notes(outcome))} {control}")
    if contents.item is None:
        if drawn := session_figures.pass_at_k_by_task(outcome):
            yield drawn
        if outcome.diagnosis.groups:
            yield page.Heading(report_tables.failures_title(outcome, most_failures))
            yield report_tables.failures(outcome, most_failures)
        if (unsolved := report_tables.unsolved(outcome)).rows:
            yield page.Folded("Tasks that nobody solves", (unsolved,), f"{len(unsolved.rows):,}")
        if (files := report_tables.files(outcome)).rows:
            yield page.Folded("pass@k by file", (files,))
    yield page.Heading("Tasks", f"{len(outcome.tasks):,}")
    yield report_tables.tasks(contents, outcome)
    yield page.Note(wording.CELLS)
    if outcome.dropped:
        dropped = (report_tables.dropped(outcome),)
        yield page.Folded("Functions that became no task", dropped, f"{len(outcome.dropped):,}")
    if outcome.stages:
        yield page.Folded("Stages", (report_tables.stages(outcome),))


def trial_parts(reader: SessionReader, contents: Contents, trial: Trial, texts: Excerpts) -> Iterator[page.Part]:
    """Yield what came of a trial, without its steps."""
    row = trial.row
    yield page.Facts((
        ("trial", row.id),
        ("status", wording.state(row.state)),
        ("steps", str(row.steps)),
        ("tokens", wording.tokens(row.prompt_tokens or None, row.completion_tokens or None)),
        ("cost $", fixed(row.cost_usd, 4)),
        ("seconds", fixed(row.seconds, 1)),
        ("repository", accessed_files_words(reader, row)),
    ))  # fmt: skip
    if row.error:
        yield page.Note(f"{_WRONG} {row.error}", _PROBLEM)
    if trial.problem:
        yield page.Note(f"{glyphs.UNSCORED} {trial.problem}", _PROBLEM)
    if row.parsed == 0:
        yield page.Note(f"{_ODD} The answer did not keep the protocol.", _PROBLEM)
    yield from remarks(contents, row.id)
    readme = None if row.readme_blob is None else texts.readme(row.readme_blob, f"the README of trial {row.id}")
    changed = () if readme is None or not row.parent else (_since_parent(reader, trial, readme, texts),)
    yield page.Readme(readme, changed, tuple(_scores(reader, trial)))
    yield from _check(reader, trial)
    yield from _grounding(reader, trial)
    if row.metadata_blob:
        metadata = texts.of(row.metadata_blob, f"the metadata of trial {row.id}")
        yield page.Folded("Metadata", (page.Literal(pretty_json(metadata.text), language="json"),), metadata.words)


def _scores(reader: SessionReader, trial: Trial) -> Iterator[page.Part]:
    for place, score in enumerate(trial.scores):
        card = card_of(reader, score)
        points = wording.score(score.total, score.out_of, card.given if card else None)
        yield page.Card(score.rubric, with_limit(in_words(score.judge), score.judge), points, card, unfolded=place == 0)
    if not trial.scores:
        yield page.Note("Not scored.")
    if trial.imported_scores:
        yield page.Heading(report_tables.IMPORTED_TITLE)
        yield report_tables.imported_scores(trial)


def _since_parent(reader: SessionReader, trial: Trial, readme: Excerpt, texts: Excerpts) -> page.Part:
    parent, row = reader.trial(trial.row.parent), trial.row
    if parent is None or parent.readme_blob is None:
        why = "that is not in this session" if parent is None else "that handed in none"
        return page.Note(f"Fork of trial {row.parent[:8]}, {why}: no README to compare with.")
    before = texts.readme(parent.readme_blob, f"the README of trial {parent.id}")
    names = (f"README of {parent.id[:8]}, the parent", f"README of {row.id[:8]}, the fork")
    return page.Changes("README since its parent's", before, readme, names, texts)


def criteria(card: Scorecard) -> page.Table:
    """Return a scorecard as a table: the sum of each tier, then its criteria."""
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
    return page.Table(heads, tuple(rows), frozenset({2, 3} if shaped else {2}))


def _check(reader: SessionReader, trial: Trial) -> Iterator[page.Part]:
    if trial.works is None:
        return
    try:
        checked = checked_of(reader, trial.row.id)
    except CheckDamaged as error:
        checked = Checked((), (), (), (str(error),))
    if checked is None:
        return
    alarms = checked.alarms
    inside: list[page.Part] = [page.Note(_NOT_IN_POINTS), *map(page.Note, checked.problems)]
    for one in alarms[:_MOST_LISTED]:
        inside.append(page.Note(f"line {one.line:,}: {one_line(alarm(one), 300)}", _PROBLEM))
        if lines := shown_lines(one, _MOST_OUTPUT):
            inside.append(page.Literal("\n".join(lines), language="diff" if lines[0].startswith("@@") else ""))
    if len(alarms) > _MOST_LISTED:
        inside.append(page.Note(f"and {len(alarms) - _MOST_LISTED:,} more", _PROBLEM))
    yield page.Folded("Works", tuple(inside), trial.works.words(), "paper", unfolded=bool(alarms))


def _grounding(reader: SessionReader, trial: Trial) -> Iterator[page.Part]:
    if trial.row.readme_blob is None and not trial.row.steps:
        return
    why = read_trial(reader, trial.row)
    found, patterns = why.grounding, why.exploration.patterns
    if found is None and not patterns:
        return
    inside: list[page.Part] = [page.Note(why.note)] if why.note and found is not None and not found.repository else []
    listed = [
        f"{one_line(item.text, 200)} ({item.kind}, line {item.places[0].line:,})"
        for item in (found.inventions if found is not None else ())
    ]
    if len(listed) > _MOST_LISTED:
        listed[_MOST_LISTED:] = [f"and {len(listed) - _MOST_LISTED:,} more"]
    if listed:
        inside += [page.Note("Likely inventions, nowhere in the repository:", "said"), page.Points(tuple(listed))]
    if patterns:
        inside.append(page.Note(f"Exploration: {'; '.join(patterns)}.", "said"))
    counts = found.sentence() if found is not None else "no README"
    yield page.Folded("Where the README comes from", tuple(inside), counts, "paper", unfolded=bool(listed))


def _steps(reader: SessionReader, trial: Trial, texts: Excerpts) -> Iterator[page.Part]:
    steps = reader.steps(trial.row.id)
    yield page.Heading("Trajectory", plural(len(steps), "step"))
    for step in steps:
        did = f"{_mark(step)} {step.action}".strip()
        took = inheritance(trial.row, step.number) or f"{fixed(step.tokens)} tok"
        cells = (did, _target(step), took, f"{fixed(step.seconds, 1)} s")
        kind = {"error": "step bad", "invalid": "step warn"}.get(step.kind, "step")
        inside = [page.Note(step.problem, _PROBLEM)] if step.problem else []
        made = " · ".join(filter(None, (step.model, step.settings))) if step.model or step.settings != "{}" else ""
        last = [page.Note(made)] if made else []
        yield page.Folded(str(step.number), (*inside, *step_texts(step, texts), *last), kind=kind, cells=cells)


def _mark(step: StepRow) -> str:
    return {"invalid": _ODD, "error": _WRONG}.get(step.kind, "")


def _target(step: StepRow) -> str:
    return "" if step.target == step.action else step.target


def step_texts(step: StepRow, texts: Excerpts) -> Iterator[page.Part]:
    of = f"step {step.number} of trial {step.trial_id}"
    answer = texts.of(step.answer_blob, f"the answer of {of}")
    thought, call = split_answer(answer.text)
    if thought:
        yield page.Literal(thought, "Thought", prose=True)
    if call:
        yield page.Literal(call, "Call", answer.words, prose=True)
    if step.observation_blob:
        observation = texts.of(step.observation_blob, f"the observation of {of}")
        yield page.Literal(observation.text, "Observation", observation.words)


def steps_table(trial: Trial, steps: list[StepRow]) -> page.Table:
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
    return page.Table(("#", "action", "target", "tokens", "s", last), rows, frozenset({0, 3, 4}))


def task_parts(contents: Contents, task: TaskRow, texts: Excerpts) -> Iterator[page.Part]:
    """Yield a task with its docstring, body and tests, without its candidates."""
    yield page.Facts((
        ("task", task.id),
        ("lines", f"{task.start_line} to {task.end_line}" if task.start_line is not None else ""),
        ("tests", str(task.test_count)),
        ("cover", "" if task.coverage is None else percent(task.coverage)),
        ("docs", task.docs_words),
        ("leak", "" if task.leak is None else share(task.leak)),
        ("controls", report_tables.controls_words(task.controls)),
        ("state", task.state),
    ))  # fmt: skip
    if task.reason:
        yield page.Note(task.reason, _PROBLEM)
    yield from remarks(contents, task.id)
    for title, blob, language in (("Docstring", task.docstring_blob, ""), ("Original body", task.body_blob, "python")):
        if blob:
            text = texts.of(blob, f"the {title.lower()} of task {task.id}")
            yield page.Folded(title, (page.Literal(text.text, language=language),), text.words, "paper")
    tests = wording.decoded(task.tests)
    if isinstance(tests, list) and tests:
        yield page.Folded("Tests", (page.Literal("\n".join(map(str, tests))),), f"{len(tests):,}")


def _candidates(reader: SessionReader, task: TaskRow, outcome: Regenerated, texts: Excerpts) -> Iterator[page.Part]:
    original = texts.of(task.body_blob, f"the original body of task {task.id}") if task.body_blob else None
    for line in outcome.of_task(task.id):
        result = line.result
        at = " · ".join(f"pass@{k} {share(result.at(k))}" for k in outcome.ks)
        yield page.Heading(outcome.name(line.group), f"{result.passed} of {result.counted} passed · {at}")
        for one in line.candidates:
            failing = len(reader.failing_tests(one.id))
            count = plural(failing, "failing test") if failing else ""
            tokens = fixed((one.prompt_tokens or 0) + (one.completion_tokens or 0))
            why = " · ".join(filter(None, (one.verdict_reason, count)))
            cells = (stands_words(one), why, f"{tokens} tok", f"{fixed(one.tested_s, 1)} s")
            inside = (page.Note(f"candidate {one.id}"), *candidate_parts(reader, one, original, texts))
            yield page.Folded(str(one.sample), inside, kind="step", cells=cells)


def candidate_parts(
    reader: SessionReader, candidate: CandidateRow, original: Excerpt | None, texts: Excerpts
) -> Iterator[page.Part]:
    """Yield former verdicts, the body beside the original one, and tests that failed."""
    for former in reader.former_verdicts(candidate.id):
        yield page.Note(f"before: {former_words(former)}")
        if failed := tuple(f"{test.outcome} {test.test_id}" for test in former_failing(reader, former)):
            yield page.Points(failed)
    # A control's body is the original or a stub, which the task shows already.
    if candidate.body_blob and not candidate.control:
        body = texts.of(candidate.body_blob, f"the body of candidate {candidate.id}")
        yield page.Literal(body.text, "Body", body.words, language="python")
        if original is not None:
            names = ("original body", f"candidate {candidate.sample}")
            before, after = (replace(one, text=without_margin(one.text)) for one in (original, body))
            yield page.Changes("Against the original", before, after, names, texts)
    elif candidate.answer_blob:
        answer = texts.of(candidate.answer_blob, f"the answer of candidate {candidate.id}")
        yield page.Literal(answer.text, "Answer", answer.words, prose=True)
    for test in reader.failing_tests(candidate.id):
        yield page.Literal(test.message, f"{test.outcome} {test.test_id}", prose=True)
        if test.traceback_blob and not candidate.control:
            trace = texts.of(test.traceback_blob, f"a traceback of candidate {candidate.id}")
            yield page.Folded("traceback", (page.Literal(trace.text),), trace.words, "evidence")
