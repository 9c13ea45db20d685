"""``workbench show SESSION [ITEM]``: what is in a session, an item of it, a step, a candidate; ``--costs``: what models cost."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.commands.output import print_json, say, tell, tell_damage
from workbench.commands.showing import show
from workbench.commands.terminal import Terminal
from workbench.engine.estimate import dollars
from workbench.engine.rerunning import find_items
from workbench.engine.session_names import resolve_session
from workbench.errors import UsageError
from workbench.reports import records
from workbench.reports.contents import Contents, read_contents
from workbench.reports.writing import encoded
from workbench.results.costs import costs_of, own_sessions, total_of
from workbench.results.items import all_items, find_item
from workbench.session import SessionReader
from workbench.session.task_names import row_id
from workbench.text import json_text, one_line

ARGUMENTS = {
    "[session]": "a session file, or the name of one",
    "[item ITEM]": "a trial, task or candidate by the first characters of its id, a task by its function's name, or "
    "TRIAL:STEP for one step",
    "--costs": "requests, tokens, dollars and seconds of each model by kind of run: in one session, or in all where "
    "none is named",
    "--json": "print everything as JSON lines, each with its type",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.costs:
        return _show_costs([resolve_session(arguments.session)] if arguments.session else None, as_json=arguments.json)
    if not arguments.session:
        raise UsageError("Name a session; `workbench locate sessions` says where they are. --costs needs none.")
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
            show(reader, contents, arguments.session)
        return tell_damage(reader.damage)


def _show_costs(sessions: Sequence[Path] | None, *, as_json: bool) -> int:
    rows, problems = costs_of(own_sessions() if sessions is None else sessions)
    if as_json:
        for row in rows:
            print_json(row.to_json())
    elif rows:
        lines = []
        for row in (*rows, replace(total_of(rows), model="all")):
            spent = "-" if row.cost_usd is None else dollars(row.cost_usd)
            numbers = (f"{count:,}" for count in (row.requests, row.tokens_in, row.tokens_out))
            took = (spent, f"{row.seconds:,.1f} s", f"{row.failed:,}")
            lines.append((one_line(row.model, 80) or "?", row.kind or "-", *numbers, *took, row.missing))
        heads = ("model", "runs", "requests", "in", "out", "dollars", "time", "failed", "not in it")
        Terminal(piped_width=200).table(heads, lines, range(2, 8))
    else:
        say("No model was asked yet.")
    for problem in problems.values():
        tell(f"workbench: {problem}")
    return 1 if problems else 0


def _id_of(reader: SessionReader, text: str) -> str:
    """Return the id of the task that a function's name, a readable id or a glob means; any other text as it is."""
    if any(key.startswith(text.strip().lower()) for key in all_items(reader)):
        return text
    tasks, _ = find_items(reader, text.strip())
    if len(tasks) > 1:
        few = ", ".join(f"{row_id(task)} ({task.id[:8]})" for task in tasks[:4]) + (", …" if len(tasks) > 4 else "")
        raise UsageError(f"{one_line(text, 60)!r} could be {len(tasks)} tasks: {few}; give more of it, or an id.")
    return tasks[0].id if tasks else text


def json_lines(reader: SessionReader, contents: Contents) -> Iterator[dict[str, Any]]:
    """Yield what is shown, as one object per line; ``type`` says what each is."""
    item = contents.item
    if item is None:
        yield {"type": "session", **records.session_values(contents)}
        for run in contents.runs:
            yield {"type": "run", **records.run_values(run)}
        for trial in contents.trials:
            yield {"type": "trial", **records.trial_values(trial)}
        for group in records.spread_values(contents):
            yield {"type": "mean", **group}
        for one in records.agreement_values(contents):
            yield {"type": "agreement", **one}
        for run, outcome in contents.regenerations:
            yield {"type": "regeneration", "run": run.row.id, **records.regeneration_values(outcome)}
        for remark in records.remark_values(contents):
            yield {"type": "annotation", **remark}
    elif item.kind == "trial":
        if item.step is None:
            for trial in contents.trials:
                yield {"type": "trial", **records.trial_values(trial), **records.trial_details(reader, trial)}
        for step in reader.steps(item.id):
            if item.step is None:
                yield {"type": "step", "trial": item.id, **records.step_values(reader, step)}
            elif item.step == step.number:
                call = reader.call(step.call_id) if step.call_id is not None else None
                asked = None if call is None else records.call_values(reader, call, lambda digest, text: text)
                yield {"type": "step", "trial": item.id, **records.step_values(reader, step), "call": asked}
    for _, outcome in contents.regenerations:
        for task in outcome.tasks:
            lines = outcome.of_task(task.id)
            if item is None or item.kind == "task":
                yield {"type": "task", **records.task_values(reader, task, outcome)}
            for candidate in (one for line in lines for one in line.candidates):
                if item is None or item.kind == "task":
                    yield {"type": "candidate", **records.candidate_values(reader, candidate)}
                elif item.id == candidate.id:
                    calls = [
                        records.call_values(reader, call, lambda digest, text: text) for call in reader.calls(item.id)
                    ]
                    yield {"type": "candidate", **records.candidate_values(reader, candidate), "calls": calls}
