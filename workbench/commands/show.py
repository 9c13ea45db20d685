"""``workbench show SESSION [ITEM]``: a session, trial, step, task or candidate.

``--costs`` shows the costs of models.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base import glyphs
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import NOTHING, decoded, fixed, json_text, one_line, plural
from workbench.commands.output import print_json, say, tell, tell_damage
from workbench.commands.terminal import Terminal
from workbench.orders.estimate import dollars
from workbench.orders.rerun import find_items
from workbench.pages import regeneration_page, session_json, session_page, wording
from workbench.pages.excerpts import Excerpts
from workbench.pages.page import (
    BulletList,
    FactList,
    Note,
    PageTable,
    Part,
    Preformatted,
    ReportPage,
    Subheading,
    table_of,
)
from workbench.pages.writing import encoded
from workbench.plans.task_names import row_id
from workbench.results.contents import Contents, Trial, read_contents
from workbench.results.costs import ModelCost, costs_of, own_sessions, total_of
from workbench.results.items import all_items, find_item
from workbench.session import SessionReader, json_forms
from workbench.session.labels import SESSION
from workbench.session.rows import CallRow, CandidateRow, StepRow
from workbench.session.session_names import resolve_session
from workbench.studies.study_reader import read_study

_FAILURES = 10  # failure groups to show; reports have more


def show(reader: SessionReader, contents: Contents, called: str) -> ReportPage:
    """Return a session, or the item in ``contents``, as a page; ``called`` is the name that the user used."""
    item, texts = contents.item, Excerpts(reader, whole=True)
    if item is None:
        return ReportPage(contents.name, tuple(_session(reader, contents, called)))
    if item.step is not None:
        step = next(one for one in reader.steps(item.id) if one.number == item.step)
        title = f"Step {step.number}  {step.action}  {step.target}"
        return ReportPage(title, tuple(_step(reader, contents, step, texts)))
    if item.kind == "trial":
        trial = contents.trials[0]
        return ReportPage(session_page.trial_title(trial), tuple(_trial(reader, contents, trial, texts, called)))
    if item.kind == "task":
        outcome = next(outcome for _, outcome in contents.regenerations if outcome.tasks)
        task = outcome.tasks[0]
        candidates = [one for line in outcome.of_task(task.id) for one in line.candidates]
        parts = (*regeneration_page.task_parts(contents, task, texts), *_candidates(reader, contents, candidates))
        return ReportPage(f"{task.qualified_name}  {task.path}", parts)
    candidate = reader.candidate(item.id)
    assert candidate is not None, item.id
    row = reader.task(candidate.task_id)
    where = f"{row.qualified_name}  {row.path}" if row else candidate.task_id
    title = f"{where}  {candidate.evaluator}, sample {candidate.sample}"
    return ReportPage(title, tuple(_candidate(reader, contents, candidate, texts)))


def _session(reader: SessionReader, contents: Contents, called: str) -> Iterator[Part]:
    yield from (session_page.session_facts(contents), Note(str(reader.path)))
    yield from wording.remarks(contents, SESSION)
    yield from (Note(warning, "advice") for warning in reader.warnings())
    if not contents.runs:
        yield Note(session_page.archived_sentence(contents) or "Nothing has been run in this session yet.")
        return
    for section in session_page.overview(contents, _FAILURES):
        yield from (Subheading(section.title, section.small), *section.parts)
    yield from _studies(reader, called)
    yield from (Note(advice, "advice") for advice in session_page.state_advice(contents, called))
    ids = [trial.row.id for trial in contents.trials]
    ids += [task.id for _, outcome in contents.regenerations for task in outcome.tasks]
    if ids:
        yield Note(f"One item: workbench show {called} {contents.short[ids[0]]}")


def _studies(reader: SessionReader, called: str) -> Iterator[Part]:
    for study in reader.studies():
        try:
            outcome = read_study(reader, study.name)
        except WorkbenchError as error:
            yield Note(f"Study {study.name}: {error}", "advice")
            continue
        yield Note(
            f"Study {study.name}: {plural(len(outcome.rows), 'row')} × {plural(len(outcome.columns), 'column')}, {outcome.progress} done. "
            f"To compare: workbench study {study.name} --session {called} --show"
        )


def _trial(reader: SessionReader, contents: Contents, trial: Trial, texts: Excerpts, called: str) -> Iterator[Part]:
    yield from session_page.trial_parts(reader, contents, trial, texts)
    steps = reader.steps(trial.row.id)
    yield Subheading("Steps", str(len(steps)))
    yield session_page.steps_table(trial, steps)
    if steps:
        short = contents.short.get(trial.row.id, trial.row.id)
        yield Note(f"One step: workbench show {called} {short}:{steps[-1].number}")


def _step(reader: SessionReader, contents: Contents, step: StepRow, texts: Excerpts) -> Iterator[Part]:
    call = reader.call(step.call_id) if step.call_id is not None else None
    yield FactList((
        ("kind", step.kind),
        ("model", step.model or ""),
        ("tokens", wording.tokens(step.prompt_tokens, step.completion_tokens)),
        ("cost $", fixed(step.cost_usd, 4)),
        ("seconds", fixed(step.seconds, 1)),
        ("latency", f"{call.latency_s:.2f} s" if call and call.latency_s is not None else ""),
        ("answer", call.source if call else ""),
        ("settings", step.settings if step.settings != "{}" else ""),
    ))  # fmt: skip
    if step.problem:
        yield Note(f"{glyphs.VERDICTS['crashed']} {step.problem}", "advice")
    yield from wording.remarks(contents, step.trial_id, step.number)
    if call is not None:
        yield from _attempts(reader.decoded(call.attempts, list, f"the attempts of call {call.id}"))
        for role, text in reader.messages(call):
            yield Preformatted(text, f"Message: {role}")
    yield from session_page.step_texts(step, texts)


def _attempts(attempts: list[object]) -> Iterator[Part]:
    tried = [one for one in attempts if isinstance(one, dict)]
    if len(tried) > 1 or any(one.get("error") for one in tried):
        yield Subheading("Attempts", str(len(tried)))
        for number, one in enumerate(tried, 1):
            took, paused = (json_forms.number(one.get(key)) or 0.0 for key in ("seconds", "waited_s"))
            waited = f" after waiting {paused:.1f} s" if paused else ""
            yield BulletList((f"{number}  {took:.1f} s{waited}  {one.get('error') or 'answered'}",))


def _candidates(reader: SessionReader, contents: Contents, candidates: list[CandidateRow]) -> Iterator[Part]:
    yield Subheading("Candidates", str(len(candidates)))
    rows = tuple(
        (
            contents.short.get(one.id, one.id),
            one.evaluator,
            str(one.sample),
            wording.stands_words(one),
            fixed(one.tested_s, 1),
            "; ".join(filter(None, (one.verdict_reason, *(t.test_id for t in reader.failing_tests(one.id))))),
        )
        for one in candidates
    )
    yield PageTable(("id", "evaluator", "sample", "verdict", "s", "why"), rows, frozenset({2, 4}))


def _candidate(reader: SessionReader, contents: Contents, one: CandidateRow, texts: Excerpts) -> Iterator[Part]:
    notes = decoded(one.notes)
    yield Note(wording.stands_words(one) + (f": {one.verdict_reason}" if one.verdict_reason else ""), "problem")
    yield FactList((
        ("candidate", one.id),
        ("tokens", wording.tokens(one.prompt_tokens, one.completion_tokens)),
        ("asked s", fixed(one.asked_s, 1)),
        ("tested s", fixed(one.tested_s, 1)),
        ("notes", "; ".join(map(str, notes)) if isinstance(notes, list) else one.notes or ""),
    ))  # fmt: skip
    yield from wording.remarks(contents, one.id)
    if one.control and one.body_blob:
        yield Preformatted(texts.of(one.body_blob, f"the body of candidate {one.id}").text, "Body")
    yield from regeneration_page.candidate_parts(reader, one, None, texts)


ARGUMENTS = {
    "[session]": "a session file or name",
    "[item ITEM]": "a trial, task or candidate by the first characters of its id, a task by its function's name, or "
    "TRIAL:STEP for one step",
    "--costs": "print requests, tokens, dollars and seconds by model and kind of run, of one session or of all",
    "--json": "print everything as JSON lines, each with its type",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.costs:
        return _show_costs([resolve_session(arguments.session)] if arguments.session else None, as_json=arguments.json)
    if not arguments.session:
        raise UsageError("Name a session; `workbench locate sessions` prints their folder. Only --costs needs none.")
    path = resolve_session(arguments.session)
    with SessionReader(path) as reader:
        reader.hold()
        item = find_item(reader, _id_of(reader, arguments.item)) if arguments.item else None
        contents = read_contents(reader, item)
        if arguments.json:
            for line in json_lines(reader, contents):
                sys.stdout.buffer.write(encoded(json_text(line) + "\n"))
            sys.stdout.buffer.flush()
        else:
            Terminal().print_page(show(reader, contents, arguments.session))
        return tell_damage(reader.damage)


def _show_costs(sessions: Sequence[Path] | None, *, as_json: bool) -> int:
    rows, problems = costs_of(own_sessions() if sessions is None else sessions)
    if as_json:
        for row in rows:
            print_json(row.to_json())
    elif rows:
        Terminal().parts([costs_table(rows)])
    else:
        say("No model has been called yet.")
    for problem in problems.values():
        tell(f"workbench: {problem}")
    return 1 if problems else 0


def costs_table(rows: Sequence[ModelCost]) -> PageTable:
    columns: dict[str, Callable[[ModelCost], str]] = {
        "model": lambda one: one_line(one.model, 80) or "?",
        "runs": lambda one: one.kind or "-",
        "requests": lambda one: f"{one.requests:,}",
        "in": lambda one: f"{one.tokens_in:,}",
        "out": lambda one: f"{one.tokens_out:,}",
        "dollars": lambda one: NOTHING if one.cost_usd is None else dollars(one.cost_usd),
        "time": lambda one: f"{fixed(one.seconds, 1)} s",
        "failed": lambda one: f"{one.failed:,}",
        "not in it": lambda one: one.missing,
    }
    every = (*rows, replace(total_of(rows), model="all"))
    return replace(table_of(every, columns, columns.keys() - {"model", "runs", "not in it"}), closing=1)


def _id_of(reader: SessionReader, text: str) -> str:
    """Return the id of the task with this function name, readable id or glob, or the text itself if none matches."""
    if any(key.startswith(text.strip().lower()) for key in all_items(reader)):
        return text
    tasks, _ = find_items(reader, text.strip())
    if len(tasks) > 1:
        few = ", ".join(f"{row_id(task)} ({task.id[:8]})" for task in tasks[:4]) + (", …" if len(tasks) > 4 else "")
        raise UsageError(f"{one_line(text, 60)!r} matches {len(tasks)} tasks: {few}; give a longer name, or an id.")
    return tasks[0].id if tasks else text


def json_lines(reader: SessionReader, contents: Contents) -> Iterator[dict[str, Any]]:
    item = contents.item
    if item is None:
        yield {"type": "session", **session_json.session_values(contents)}
        yield from ({"type": "run", **session_json.run_values(run)} for run in contents.runs)
        yield from ({"type": "trial", **session_json.trial_values(trial)} for trial in contents.trials)
        yield from ({"type": "mean", **group} for group in session_json.spread_values(contents))
        yield from ({"type": "agreement", **one} for one in session_json.agreement_values(contents))
        for run, outcome in contents.regenerations:
            yield {"type": "regeneration", "run": run.row.id, **session_json.regeneration_values(run, outcome)}
        yield from ({"type": "annotation", **remark} for remark in session_json.remark_values(contents))
    elif item.kind == "trial":
        if item.step is None:
            for trial in contents.trials:
                yield {"type": "trial", **session_json.trial_values(trial), **session_json.trial_details(reader, trial)}
        for step in reader.steps(item.id):
            if item.step in (None, step.number):
                call = reader.call(step.call_id) if step.call_id is not None and item.step is not None else None
                with_call = {} if item.step is None else {"call": call and _call(reader, call)}
                yield {"type": "step", "trial": item.id, **session_json.step_values(reader, step), **with_call}
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            if item is None or item.kind == "task":
                yield {"type": "task", **session_json.task_values(reader, task, outcome)}
            for candidate in (one for line in outcome.of_task(task.id) for one in line.candidates):
                if item is None or item.kind == "task":
                    yield {"type": "candidate", **session_json.candidate_values(reader, candidate)}
                elif item.id == candidate.id:
                    calls = [_call(reader, call) for call in reader.calls(item.id)]
                    yield {"type": "candidate", **session_json.candidate_values(reader, candidate), "calls": calls}


def _call(reader: SessionReader, call: CallRow) -> dict[str, Any]:
    return session_json.call_values(reader, call, lambda digest, text: text)
