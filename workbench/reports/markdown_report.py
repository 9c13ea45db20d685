"""A session as one Markdown file for people; foreign text is escaped or fenced and can change nothing around it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.reports import rows_shown, wording
from workbench.reports.contents import Contents, Run, Trial, card_of, evidence_words, seen_words
from workbench.reports.excerpts import Excerpts, pretty_json, split_answer
from workbench.reports.markdown_text import fence, folded, inline, table
from workbench.reports.regenerated import Line, Regenerated
from workbench.reports.rows_shown import Shown
from workbench.session.reader import SessionReader
from workbench.session.rows import CandidateRow, StepRow, TaskRow


def render(reader: SessionReader, contents: Contents) -> Iterator[str]:
    """Yield the report section by section."""
    excerpts = Excerpts(reader)
    made = f"Created {wording.when(contents.created_at)} by {inline(contents.created_by)}; file `{contents.file}`."
    yield f"# Session {inline(contents.name)}\n\n{made.replace('`', '')}\n"
    for advice in rows_shown.state_advice(contents, contents.file):
        yield f"\n**{inline(advice)}**\n"
    yield _section("Runs", rows_shown.runs(contents))
    if contents.trials:
        yield _section("Trials", rows_shown.trials(contents))
        yield "\n? is unscored, which is not 0; T1 to T4 are the tiers of the first rubric.\n"
    if contents.spread:
        yield _section("Means", rows_shown.means(contents))
    for run, outcome in contents.regenerations:
        yield from _regeneration(contents, run, outcome)
    for trial in contents.trials:
        yield from _trial(reader, contents, trial, excerpts)
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            yield from _task(reader, contents, task, outcome.of_task(task.id), excerpts)


def _section(title: str, shown: Shown) -> str:
    return f"\n## {title}\n\n{_table(shown)}"


def _table(shown: Shown) -> str:
    return table([inline(heading) for heading in shown.headings], shown.rows, shown.right)


def _trial(reader: SessionReader, contents: Contents, trial: Trial, excerpts: Excerpts) -> Iterator[str]:
    row = trial.row
    yield f"\n## {inline(rows_shown.trial_title(trial))}\n\n"
    facts = [
        f"trial {row.id}",
        wording.state(row.state),
        wording.plural(row.steps, "step"),
        f"{wording.count(row.prompt_tokens)} + {wording.count(row.completion_tokens)} tokens",
        f"cost {wording.money(row.cost_usd)} $",
        f"{wording.seconds(row.seconds)} s",
        seen_words(reader, row),
    ]
    yield f"{inline(' · '.join(fact for fact in facts if fact))}\n"
    if row.error:
        yield f"\n**{inline(row.error)}**\n"
    if row.parsed == 0:
        yield "\nThe answer did not keep the protocol.\n"
    for remark in contents.remarks(row.id):
        place = "" if remark.step is None else f" on step {remark.step}"
        yield f"\n> Remark{place}: {inline(remark.text)}\n"
    for score in trial.scores:
        yield f"\n### Score by {inline(score.rubric)}, judge {inline(score.judge)}: "
        yield f"{wording.of(score.total, score.out_of)}\n\n"
        yield _criteria(card_of(reader, score))
    readme = excerpts.readme(row.readme_blob)
    yield "\n### README\n\n"
    yield fence(readme.text, "markdown") if row.readme_blob else "None was handed in.\n"
    if readme.cut:
        yield f"\nCut; the whole has {wording.size(readme.size)}.\n"
    if row.metadata_blob:
        metadata = excerpts.of(row.metadata_blob)
        yield f"\n### Metadata\n\n{fence(pretty_json(metadata.text), 'json')}"
    steps = reader.steps(row.id)
    yield f"\n### Trajectory, {wording.plural(len(steps), 'step')}\n"
    for step in steps:
        yield _step(step, excerpts)


def _criteria(card: dict[str, object]) -> str:
    criteria = card.get("criteria")
    rows = []
    for one in criteria if isinstance(criteria, list) else []:
        evidence = "; ".join(evidence_words(item) for item in one.get("evidence") or ())
        points = wording.of(one["points"], one["maximum"]) if one["maximum"] else ""
        rows.append((f"{one['tier']}", one["title"], points, one["reason"], evidence, one.get("judged_by", "")))
    return table(("tier", "criterion", "points", "reason", "evidence", "by"), rows, (2,))


def _step(step: StepRow, excerpts: Excerpts) -> str:
    tokens = (step.prompt_tokens or 0) + (step.completion_tokens or 0)
    head = f"**{step.number}** {inline(step.action)} {inline(step.target)}"
    numbers = f"{tokens:,} tokens · {wording.seconds(step.seconds)} s"
    parts = [f"\n{head} — {numbers}\n"]
    if step.problem:
        parts.append(f"\n{'✗' if step.kind == 'error' else '!'} {inline(step.problem)}\n")
    thought, call = split_answer(excerpts.of(step.answer_blob).text)
    if thought:
        parts.append("\n" + folded("Thought", thought))
    if call and step.kind != "tool":
        parts.append("\n" + folded("Answer", call))
    if step.observation_blob:
        observation = excerpts.of(step.observation_blob)
        parts.append("\n" + folded(f"Observation, {observation.words}", observation.text))
    return "".join(parts)


def _regeneration(contents: Contents, run: Run, outcome: Regenerated) -> Iterator[str]:
    yield f"\n## Regeneration {inline(run.row.id)}, {inline(wording.state(run.state))}\n"
    if outcome.stages:
        yield f"\n{_table(rows_shown.stages(outcome))}"
    if outcome.evaluators:
        yield f"\n{_table(rows_shown.evaluators(outcome))}"
    yield f"\n### Tasks, {len(outcome.tasks)}\n\n{_table(rows_shown.tasks(contents, outcome))}"
    yield "\nA cell per sample: ✓ passed, ✗ failed, ⧖ timeout, ! crashed, ∅ invalid, ? our error, ▸ running, · waiting.\n"
    if outcome.dropped:
        yield f"\n### Dropped, {len(outcome.dropped)}\n\n{_table(rows_shown.dropped(outcome))}"


def _task(
    reader: SessionReader, contents: Contents, task: TaskRow, lines: list[Line], excerpts: Excerpts
) -> Iterator[str]:
    yield f"\n## Task {inline(task.qualified_name)} in {inline(task.path)}\n\n"
    yield f"{inline(f'task {task.id} · lines {task.start_line} to {task.end_line} · docs {task.docs} · {task.state}')}\n"
    if task.reason:
        yield f"\n**{inline(task.reason)}**\n"
    for remark in contents.remarks(task.id):
        yield f"\n> Remark: {inline(remark.text)}\n"
    for title, blob in (("Docstring", task.docstring_blob), ("Original body", task.body_blob)):
        if blob:
            text = excerpts.of(blob)
            yield f"\n{folded(f'{title}, {text.words}', text.text, 'python' if blob == task.body_blob else '')}"
    for line in lines:
        for candidate in line.candidates:
            yield from _candidate(reader, candidate, excerpts)


def _candidate(reader: SessionReader, candidate: CandidateRow, excerpts: Excerpts) -> Iterator[str]:
    stands = wording.verdict(candidate.verdict) if candidate.verdict else candidate.state
    took = "" if candidate.tested_s is None else f" in {candidate.tested_s:.2f} s"
    reason = f" — {candidate.verdict_reason}" if candidate.verdict_reason else ""
    yield f"\n**{inline(candidate.evaluator)}, sample {candidate.sample}:** {inline(stands + took + reason)}\n"
    if candidate.body_blob and not candidate.control:
        body = excerpts.of(candidate.body_blob)
        yield f"\n{folded(f'Candidate, {body.words}', body.text, 'python')}"
    for test in reader.failing_tests(candidate.id):
        yield f"\n- {inline(f'{test.outcome} {test.test_id}: {test.message}')}\n"
        if test.traceback_blob and not candidate.control:
            trace = excerpts.of(test.traceback_blob)
            yield f"\n{folded(f'Traceback, {trace.words}', trace.text)}"
