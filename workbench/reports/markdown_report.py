"""A session as one Markdown file for people; foreign text is escaped or fenced and can change nothing around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.reports import report_tables, wording
from workbench.reports.checked import NOT_IN_POINTS, checked_readme
from workbench.reports.contents import Contents, Run, Trial, accessed_files_words, evidence_words
from workbench.reports.excerpts import Excerpts, pretty_json, split_answer
from workbench.reports.grounded import grounded
from workbench.reports.markdown_text import fence, folded, inline, table
from workbench.reports.regenerated import Line, Regenerated, former_words, interval_notes, stands_words
from workbench.reports.report_tables import Shown
from workbench.results.scores import card_of
from workbench.session.forks import inheritance
from workbench.session.judges import with_limit
from workbench.session.labels import SESSION, part_in_words
from workbench.session.reader import SessionReader
from workbench.session.rows import CandidateRow, StepRow, TaskRow

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard


def render(reader: SessionReader, contents: Contents) -> Iterator[str]:
    """Yield the report section by section."""
    excerpts = Excerpts(reader)
    made = (
        f"Created {wording.when(contents.created_at)} by {inline(contents.created_by)}; file {inline(contents.file)}."
    )
    yield f"# Session {inline(contents.name)}\n\n{made}\n"
    if tags := contents.tags(SESSION):
        yield f"\n> Tags: {inline(tags)}\n"
    for remark in contents.remarks(SESSION):
        yield f"\n> Remark: {inline(remark.text)}\n"
    for advice in report_tables.state_advice(contents, contents.file):
        yield f"\n**{inline(advice)}**\n"
    if contents.spread:
        yield _section("Means", report_tables.means(contents))
    if contents.trials:
        yield _section("Trials", report_tables.trials(contents))
        yield "\n? is unscored, which is not 0; T1 to T4 are the tiers of the first rubric.\n"
    if contents.agreement:
        yield _section("Agreement of judges", report_tables.agreement(contents))
        yield f"\n{report_tables.AGREEMENT_SENTENCE}\n"
    for run, outcome in contents.regenerations:
        yield from _regeneration(contents, run, outcome)
    yield _section("Runs", report_tables.runs(contents))
    if away := report_tables.put_away_sentence(contents):
        yield f"\n{inline(away)}\n"
    for trial in contents.trials:
        yield from _trial(reader, contents, trial, excerpts)
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            yield from _task(reader, contents, task, outcome.of_task(task.id), excerpts)
    if reader.damage:
        yield f"\n## Damaged, {len(reader.damage)}\n\n{report_tables.DAMAGE_SENTENCE}\n\n"
        yield from (f"- {inline(one.sentence)}\n" for one in reader.damage)


def _section(title: str, shown: Shown) -> str:
    return f"\n## {title}\n\n{_table(shown)}"


def _table(shown: Shown) -> str:
    return table([inline(heading) for heading in shown.headings], shown.rows, shown.right)


def _trial(reader: SessionReader, contents: Contents, trial: Trial, excerpts: Excerpts) -> Iterator[str]:
    row = trial.row
    yield f"\n## {inline(report_tables.trial_title(trial))}\n\n"
    facts = [
        f"trial {row.id}",
        wording.state(row.state),
        wording.plural(row.steps, "step"),
        f"{wording.count(row.prompt_tokens or None)} + {wording.count(row.completion_tokens or None)} tokens",
        f"cost {wording.money(row.cost_usd)} $",
        f"{wording.seconds(row.seconds)} s",
        accessed_files_words(reader, row),
    ]
    yield f"{inline(' · '.join(fact for fact in facts if fact))}\n"
    if row.error:
        yield f"\n**{inline(row.error)}**\n"
    if trial.problem:
        yield f"\n**{inline(trial.problem)}**\n"
    if row.parsed == 0:
        yield "\nThe answer did not keep the protocol.\n"
    if tags := contents.all_tags(row.id):
        yield f"\n> Tags: {inline(tags)}\n"
    for remark in contents.remarks(row.id):
        place = f" on {inline(part_in_words(remark.of))}" if remark.of else ""
        yield f"\n> Remark{place}: {inline(remark.text)}\n"
    for score in trial.scores:
        yield f"\n### Score by {inline(score.rubric)}, judge {inline(with_limit(score.judge, score.judge))}: "
        card = card_of(reader, score)
        yield f"{wording.score(score.total, score.out_of, card.given if card else None)}\n\n"
        yield _criteria(card)
    if trial.imported_scores:
        shown = report_tables.imported_scores(trial)
        yield f"\n### {report_tables.IMPORTED_TITLE}\n\n{table(shown.headings, shown.rows)}"
    yield from _check(reader, trial)
    yield from _grounding(reader, trial)
    readme = excerpts.readme(row.readme_blob, f"the README of trial {row.id}")
    yield "\n### README\n\n"
    yield fence(readme.text, "markdown") if row.readme_blob else "None was handed in.\n"
    if readme.cut:
        yield f"\nCut; the whole has {wording.size(readme.size)}.\n"
    if row.metadata_blob:
        metadata = excerpts.of(row.metadata_blob, f"the metadata of trial {row.id}")
        yield f"\n### Metadata\n\n{fence(pretty_json(metadata.text), 'json')}"
    steps = reader.steps(row.id)
    yield f"\n### Trajectory, {wording.plural(len(steps), 'step')}\n"
    for step in steps:
        yield _step(step, excerpts, inheritance(trial.row, step.number))


def _check(reader: SessionReader, trial: Trial) -> Iterator[str]:
    found = checked_readme(reader, trial)
    if found is None:
        return
    yield f"\n### Works: {inline(found.works)}\n\n{NOT_IN_POINTS}\n"
    yield from (f"\n{inline(note)}\n" for note in found.notes)
    for one in found.alarms:
        yield f"\n- {inline(one.head)}\n"
        if one.lines:
            yield f"\n{fence(chr(10).join(one.lines), 'diff' if one.lines[0].startswith('@@') else '')}"


def _grounding(reader: SessionReader, trial: Trial) -> Iterator[str]:
    found = grounded(reader, trial.row)
    if found is None:
        return
    if found.counts:
        yield f"\n### Where the README comes from: {inline(found.counts)}\n"
    if found.note:
        yield f"\n{inline(found.note)}\n"
    if found.inventions:
        yield "\nLikely inventions, nowhere in the repository:\n\n"
        yield from (f"- {inline(one)}\n" for one in found.inventions)
    if found.patterns:
        yield f"\nExploration: {inline('; '.join(found.patterns))}.\n"


def _criteria(card: Scorecard | None) -> str:
    rows = []
    shaped = card is not None and card.given is not None
    for one in card.criteria if card else ():
        evidence = "; ".join(map(evidence_words, one.evidence))
        points = wording.of(one.points, one.maximum) if one.maximum else ""
        given = (wording.points(one.given) if one.given is not None else "",) if shaped else ()
        rows.append((f"{one.tier}", one.title, points, *given, one.reason, evidence, one.judged_by))
    by_format = ("by the format",) if shaped else ()
    return table(
        ("tier", "criterion", "points", *by_format, "reason", "evidence", "by"), rows, (2, 3) if shaped else (2,)
    )


def _step(step: StepRow, excerpts: Excerpts, inherited: str) -> str:
    head = f"**{step.number}** {inline(step.action)} {inline(step.target)}"
    numbers = inherited or f"{wording.count(step.tokens)} tokens · {wording.seconds(step.seconds)} s"
    parts = [f"\n{head} — {numbers}\n"]
    if step.problem:
        parts.append(f"\n{'✗' if step.kind == 'error' else '!'} {inline(step.problem)}\n")
    of = f"step {step.number} of trial {step.trial_id}"
    thought, call = split_answer(excerpts.of(step.answer_blob, f"the answer of {of}").text)
    if thought:
        parts.append("\n" + folded("Thought", thought))
    if call and step.kind != "tool":
        parts.append("\n" + folded("Answer", call))
    if step.observation_blob:
        observation = excerpts.of(step.observation_blob, f"the observation of {of}")
        parts.append("\n" + folded(f"Observation, {observation.words}", observation.text))
    return "".join(parts)


def _regeneration(contents: Contents, run: Run, outcome: Regenerated) -> Iterator[str]:
    yield f"\n## Regeneration {inline(run.row.id)}, {inline(wording.state(run.state))}\n"
    if outcome.stages:
        yield f"\n{_table(report_tables.stages(outcome))}"
    if outcome.groups:
        yield f"\n{_table(report_tables.evaluators(outcome))}"
        yield "".join(f"\n{note}\n" for note in interval_notes(outcome))
    if contents.item is None:
        if outcome.diagnosis.groups:
            yield f"\n### {inline(report_tables.failures_title(outcome))}\n\n{_table(report_tables.failures(outcome))}"
        if (unsolved := report_tables.unsolved(outcome)).rows:
            yield f"\n### Tasks that nobody solves, {len(unsolved.rows)}\n\n{_table(unsolved)}"
        if (files := report_tables.files(outcome)).rows:
            yield f"\n### By file\n\n{_table(files)}"
    yield f"\n### Tasks, {len(outcome.tasks)}\n\n{_table(report_tables.tasks(contents, outcome))}"
    yield f"\n{wording.CELLS}\n"
    if outcome.dropped:
        yield f"\n### Dropped, {len(outcome.dropped)}\n\n{_table(report_tables.dropped(outcome))}"


def _task(
    reader: SessionReader, contents: Contents, task: TaskRow, lines: list[Line], excerpts: Excerpts
) -> Iterator[str]:
    yield f"\n## Task {inline(task.qualified_name)} in {inline(task.path)}\n\n"
    yield f"{inline(f'task {task.id} · lines {task.start_line} to {task.end_line} · docs {task.docs_words} · {task.state}')}\n"
    if task.reason:
        yield f"\n**{inline(task.reason)}**\n"
    if tags := contents.all_tags(task.id):
        yield f"\n> Tags: {inline(tags)}\n"
    for remark in contents.remarks(task.id):
        yield f"\n> Remark: {inline(remark.text)}\n"
    for title, blob in (("Docstring", task.docstring_blob), ("Original body", task.body_blob)):
        if blob:
            text = excerpts.of(blob, f"the {title.lower()} of task {task.id}")
            yield f"\n{folded(f'{title}, {text.words}', text.text, 'python' if blob == task.body_blob else '')}"
    for line in lines:
        for candidate in line.candidates:
            yield from _candidate(reader, candidate, excerpts)


def _candidate(reader: SessionReader, candidate: CandidateRow, excerpts: Excerpts) -> Iterator[str]:
    how = stands_words(candidate) if candidate.verdict else candidate.state
    took = "" if candidate.tested_s is None else f" in {candidate.tested_s:.2f} s"
    reason = f" — {candidate.verdict_reason}" if candidate.verdict_reason else ""
    yield f"\n**{inline(candidate.evaluator)}, sample {candidate.sample}:** {inline(how + took + reason)}\n"
    for former in reader.former_verdicts(candidate.id):
        yield f"\n- before: {inline(former_words(former))}\n"
    if candidate.body_blob and not candidate.control:
        body = excerpts.of(candidate.body_blob, f"the body of candidate {candidate.id}")
        yield f"\n{folded(f'Candidate, {body.words}', body.text, 'python')}"
    for test in reader.failing_tests(candidate.id):
        yield f"\n- {inline(f'{test.outcome} {test.test_id}: {test.message}')}\n"
        if test.traceback_blob and not candidate.control:
            trace = excerpts.of(test.traceback_blob, f"a traceback of candidate {candidate.id}")
            yield f"\n{folded(f'Traceback, {trace.words}', trace.text)}"
