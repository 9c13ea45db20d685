"""``workbench show SESSION [ITEM]``: what is in a session, an item of it, a step, a candidate; ``--costs``: what models cost."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from workbench.base import glyphs
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import NOTHING, fixed, json_text, one_line
from workbench.commands.output import print_json, say, tell, tell_damage
from workbench.commands.terminal import Terminal
from workbench.orders.estimate import dollars
from workbench.orders.rerun import find_items
from workbench.orders.session_names import resolve_session
from workbench.pages import records, regeneration_page, session_page, wording
from workbench.pages.excerpts import Excerpts
from workbench.pages.page import Card, Facts, Folded, Heading, Literal, Note, Page, Part, Points, Readme, Table
from workbench.pages.remarks import remarks
from workbench.pages.writing import encoded
from workbench.results.contents import Contents, Trial, read_contents
from workbench.results.costs import costs_of, own_sessions, total_of
from workbench.results.items import all_items, find_item
from workbench.session import SessionReader, json_forms
from workbench.session.labels import SESSION
from workbench.session.rows import CandidateRow, StepRow
from workbench.session.task_names import row_id
from workbench.studies.following import read_study

_WIDE = 160  # columns where the output is no terminal and nothing must fit
# What a narrow terminal can do without, the most dispensable first.
_DISPENSABLE = (
    "T1", "T2", "T3", "T4", "asked for", "spend $", "cost $", "kind", "controls", "cover", "rep.", "a sample", "tokens",
    "such as", "exception", "by", "evidence",
)  # fmt: skip
_FAILURES = 10  # ways to fail that a page of a session has; reports have more
_STYLES = {
    **dict.fromkeys((glyphs.VERDICTS["failed"], glyphs.VERDICTS["crashed"]), "red"),
    **dict.fromkeys((glyphs.VERDICTS["timeout"], glyphs.VERDICTS["error"]), "yellow"),
    **dict.fromkeys((glyphs.INTERRUPTED, glyphs.UNSCORED), "yellow"),
    glyphs.VERDICTS["passed"]: "green",
    glyphs.RUNNING: "cyan",
}
_KINDS = {"": "dim", "advice": "yellow", "remark": "italic", "said": ""}


def show(reader: SessionReader, contents: Contents, called: str) -> None:
    """Print a session, or the item that ``contents`` was read for; ``called`` is how the person named the session."""
    printer, item = Printer(), contents.item
    texts = Excerpts(reader, whole=True)
    if item is None:
        _session(printer, reader, contents, called)
    elif item.step is not None:
        for step in reader.steps(item.id):
            if step.number == item.step:
                printer.title(f"Step {step.number}  {step.action}  {step.target}")
                printer.parts(_step(reader, contents, step, texts))
    elif item.kind == "trial":
        for trial in contents.trials:
            printer.title(session_page.trial_title(trial))
            printer.parts(_trial(reader, contents, trial, texts, called))
    elif item.kind == "task":
        for _, outcome in contents.regenerations:
            for task in outcome.tasks:
                printer.title(f"{task.qualified_name}  {task.path}")
                printer.parts(regeneration_page.task_parts(contents, task, texts))
                candidates = [one for line in outcome.of_task(task.id) for one in line.candidates]
                printer.parts(_candidates(reader, contents, candidates))
    elif candidate := reader.candidate(item.id):
        task_row = reader.task(candidate.task_id)
        where = f"{task_row.qualified_name}  {task_row.path}" if task_row else candidate.task_id
        printer.title(f"{where}  {candidate.evaluator}, sample {candidate.sample}")
        printer.parts(_candidate(reader, contents, candidate, texts))


class Printer:
    """Prints the parts of pages."""

    def __init__(self) -> None:
        self._console = Terminal(piped_width=_WIDE)

    def page(self, page: Page) -> None:
        self.parts(page.lead)
        for section in page.sections:
            self._heading(section.title)
            self.parts(section.parts)

    def title(self, text: str) -> None:
        self._line(text, "bold")

    def parts(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self._part(part)

    def _part(self, part: Part) -> None:
        match part:
            case Note():
                self._line(part.text, _KINDS[part.kind] if part.kind in _KINDS else _style(part.text) or "yellow")
            case Points():
                for item in part.items:
                    self._line(f"  {item}")
            case Facts():
                said = ((label, value) for label, value in part.pairs if value not in ("", NOTHING))
                self._line(" · ".join(f"{label} {value}" for label, value in said), "dim")
            case Table():
                self._table(part)
            case Heading():
                self._heading(part.title, part.small)
            case Literal():
                if part.title:
                    self._heading(part.title, part.small)
                # Straight through: wrapping a model's text would change what is copied from the terminal.
                self._console.print(self._console.foreign(part.text.rstrip("\n")), soft_wrap=True)
            case Folded():
                self._heading(part.title, part.small)
                self.parts(part.parts)
            case Card():
                self._heading(f"{part.rubric} {part.points}, {part.judge}")
                self._part(
                    session_page.criteria(part.scorecard)
                    if part.scorecard
                    else Note("The criteria of this score cannot be read.", "advice")
                )
            case Readme():
                self.parts(part.scores)
                self._heading("README" if part.text else "No README was handed in.")
                if part.text:
                    self._part(Literal(part.text.text))
            case _:
                # Figures and differences: the tables and texts beside them say the same.
                pass

    def _line(self, text: str = "", style: str = "") -> None:
        self._console.print(text, style=style, soft_wrap=True)

    def _heading(self, title: str, small: str = "") -> None:
        self._line()
        self._line(f"{title}  {small}" if small else title, "bold")

    def _table(self, shown: Table) -> None:
        shown = narrowed(shown, self._console.width)
        rows = [
            [
                self._console.cells(cell) if heading == "samples" else self._console.literal(cell, _style(cell))
                for heading, cell in zip(shown.headings, row, strict=True)
            ]
            for row in shown.rows
        ]
        self._console.table(shown.headings, rows, shown.right)
        if "samples" in shown.headings:
            place = shown.headings.index("samples")
            if legend := self._console.legend([row[place] for row in shown.rows]):
                self._line(f"samples: {legend}", "dim")


def _session(printer: Printer, reader: SessionReader, contents: Contents, called: str) -> None:
    printer.title(contents.name)
    printer.parts((session_page.session_facts(contents), Note(str(reader.path))))
    printer.parts(remarks(contents, SESSION))
    printer.parts(Note(warning, "advice") for warning in reader.warnings())
    if not contents.runs:
        printer.parts([Note(session_page.put_away_sentence(contents) or "Nothing has been run in this session yet.")])
        return
    for section in session_page.overview(contents, _FAILURES):
        printer.parts((Heading(section.title, section.small), *section.parts))
    printer.parts(_studies(reader, called))
    printer.parts(Note(advice, "advice") for advice in session_page.state_advice(contents, called))
    ids = [trial.row.id for trial in contents.trials]
    ids += [task.id for _, outcome in contents.regenerations for task in outcome.tasks]
    if ids:
        printer.parts([Note(f"One item: workbench show {called} {contents.short[ids[0]]}")])


def _studies(reader: SessionReader, called: str) -> Iterator[Part]:
    for study in reader.studies():
        try:
            outcome = read_study(reader, study.name)
        except WorkbenchError as error:
            yield Note(f"Study {study.name}: {error}", "advice")
            continue
        planned = "?" if outcome.planned is None else f"{outcome.planned:,}"
        yield Note(
            f"Study {study.name}: {len(outcome.rows)} rows × {len(outcome.columns)} columns, {outcome.done:,} of {planned} done. "
            f"Compare with: workbench study {study.name} --session {called} --show"
        )


def _trial(reader: SessionReader, contents: Contents, trial: Trial, texts: Excerpts, called: str) -> Iterator[Part]:
    yield from session_page.trial_parts(reader, contents, trial, texts)
    steps = reader.steps(trial.row.id)
    yield Heading("Steps", str(len(steps)))
    yield session_page.steps_table(trial, steps)
    if steps:
        short = contents.short.get(trial.row.id, trial.row.id)
        yield Note(f"One step: workbench show {called} {short}:{steps[-1].number}")


def _step(reader: SessionReader, contents: Contents, step: StepRow, texts: Excerpts) -> Iterator[Part]:
    call = reader.call(step.call_id) if step.call_id is not None else None
    yield Facts((
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
    yield from remarks(contents, step.trial_id, step.number)
    if call is not None:
        yield from _attempts(reader.decoded(call.attempts, list, f"the attempts of call {call.id}"))
        for role, text in reader.messages(call):
            yield Literal(text, f"Message: {role}")
    yield from session_page.step_texts(step, texts)


def _attempts(attempts: list[object]) -> Iterator[Part]:
    tried = [one for one in attempts if isinstance(one, dict)]
    if len(tried) > 1 or any(one.get("error") for one in tried):
        yield Heading("Attempts", str(len(tried)))
        for number, one in enumerate(tried, 1):
            took, paused = (json_forms.number(one.get(key)) or 0.0 for key in ("seconds", "waited_s"))
            waited = f" after waiting {paused:.1f} s" if paused else ""
            yield Points((f"{number}  {took:.1f} s{waited}  {one.get('error') or 'answered'}",))


def _candidates(reader: SessionReader, contents: Contents, candidates: list[CandidateRow]) -> Iterator[Part]:
    yield Heading("Candidates", str(len(candidates)))
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
    yield Table(("id", "evaluator", "sample", "verdict", "s", "why"), rows, frozenset({2, 4}))


def _candidate(reader: SessionReader, contents: Contents, one: CandidateRow, texts: Excerpts) -> Iterator[Part]:
    yield Note(wording.stands_words(one) + (f": {one.verdict_reason}" if one.verdict_reason else ""), "problem")
    yield Facts((
        ("candidate", one.id),
        ("tokens", wording.tokens(one.prompt_tokens, one.completion_tokens)),
        ("asked s", fixed(one.asked_s, 1)),
        ("tested s", fixed(one.tested_s, 1)),
        ("notes", one.notes or ""),
    ))  # fmt: skip
    yield from remarks(contents, one.id)
    if one.control and one.body_blob:
        yield Literal(texts.of(one.body_blob, f"the body of candidate {one.id}").text, "Body")
    yield from regeneration_page.candidate_parts(reader, one, None, texts)


def narrowed(shown: Table, width: int) -> Table:
    """Return the table without the columns that one can do without, as many as must go to fit ``width`` columns."""
    widths = [max(map(cell_len, column)) for column in zip(shown.headings, *shown.rows, strict=True)]
    kept = list(range(len(shown.headings)))
    for name in _DISPENSABLE:
        if sum(widths[place] + 1 for place in kept) <= width:
            break
        kept = [place for place in kept if shown.headings[place] != name]
    return shown.with_columns(kept)


def _style(text: str) -> str:
    return _STYLES.get(text[:1], "") if text[1:2] in {"", " "} else ""


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
