"""The pages of ``workbench show`` on a terminal; what came from outside is printed without its control sequences."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.table import Table

from workbench import glyphs
from workbench.commands.terminal import Terminal
from workbench.errors import WorkbenchError
from workbench.reports import report_tables, wording
from workbench.reports.checked import checked_readme
from workbench.reports.contents import Contents, Trial, accessed_files_words
from workbench.reports.excerpts import pretty_json, split_answer
from workbench.reports.grounded import grounded
from workbench.reports.regenerated import Regenerated, former_failing, former_words, interval_notes, stands_words
from workbench.reports.report_tables import Shown
from workbench.results.scores import card_of
from workbench.session import SessionReader, json_forms
from workbench.session.forks import inheritance
from workbench.session.judges import with_limit
from workbench.session.labels import SESSION
from workbench.session.rows import CandidateRow, ScoreRow, StepRow, TaskRow, TrialRow
from workbench.studies.following import read_study

_WIDE = 160  # columns where the output is no terminal and nothing must fit
# What a narrow terminal can do without, the most dispensable first.
_DISPENSABLE = (
    "T1",
    "T2",
    "T3",
    "T4",
    "asked for",
    "spend $",
    "cost $",
    "kind",
    "controls",
    "cover",
    "rep.",
    "a sample",
    "tokens",
    "such as",
    "exception",
)
_FAILURES = 10  # ways to fail that a page of a session has; reports have more
_STYLES = {
    glyphs.VERDICTS["passed"]: "green",
    glyphs.VERDICTS["failed"]: "red",
    glyphs.VERDICTS["crashed"]: "red",
    glyphs.VERDICTS["timeout"]: "yellow",
    glyphs.VERDICTS["error"]: "yellow",
    glyphs.INTERRUPTED: "yellow",
    glyphs.RUNNING: "cyan",
    glyphs.UNSCORED: "yellow",
}


class Pages:
    """Shows one session, or the item that ``contents`` was read for.

    Args:
        reader: The session.
        contents: What to show.
        called: How the person named the session, for the commands that are suggested.
    """

    def __init__(self, reader: SessionReader, contents: Contents, called: str) -> None:
        self._console = Terminal(piped_width=_WIDE)
        self._reader = reader
        self._contents = contents
        self._called = called

    def show(self) -> None:
        item = self._contents.item
        if item is None:
            self._session()
        elif item.step is not None:
            for step in self._reader.steps(item.id):
                if step.number == item.step:
                    self._step(step)
        elif item.kind == "trial":
            for trial in self._contents.trials:
                self._trial(trial)
        elif item.kind == "task":
            for _, outcome in self._contents.regenerations:
                for task in outcome.tasks:
                    self._task(task, [one for line in outcome.of_task(task.id) for one in line.candidates])
        else:
            candidate = self._reader.candidate(item.id)
            if candidate is not None:
                self._candidate(candidate)

    # -- pieces

    def _line(self, text: str = "", style: str = "") -> None:
        self._console.print(text, style=style, soft_wrap=True)

    def _heading(self, text: str) -> None:
        self._line()
        self._line(text, "bold")

    def _text(self, text: str) -> None:
        # Straight through: wrapping a model's text would change what is copied from the terminal.
        self._console.print(self._console.foreign(text.rstrip("\n")), soft_wrap=True)

    def _facts(self, *facts: str) -> None:
        self._line(" · ".join(fact for fact in facts if fact), "dim")

    def _table(self, shown: Shown) -> None:
        shown = narrowed(shown, self._console.width)
        table = Table(box=None, pad_edge=False, header_style="dim")
        for place, heading in enumerate(shown.headings):
            table.add_column(heading, justify="right" if place in shown.right else "left", overflow="fold")
        for row in shown.rows:
            table.add_row(
                *(
                    self._console.cells(cell) if heading == "samples" else self._console.literal(cell, _style(cell))
                    for heading, cell in zip(shown.headings, row, strict=True)
                )
            )
        self._console.print(table)
        if "samples" in shown.headings:
            place = shown.headings.index("samples")
            if legend := self._console.legend([row[place] for row in shown.rows]):
                self._line(f"samples: {legend}", "dim")

    def _remarks(self, item: str, step: int | None = None) -> None:
        for remark in self._contents.remarks(item):
            if step is None or remark.step == step:
                self._line(f"Remark{'' if remark.step is None else f' on step {remark.step}'}: {remark.text}", "italic")

    # -- pages

    def _studies(self) -> None:
        for study in self._reader.studies():
            try:
                outcome = read_study(self._reader, study.name)
            except WorkbenchError as error:
                self._line(f"Study {study.name}: {error}", "yellow")
                continue
            planned = "?" if outcome.planned is None else f"{outcome.planned:,}"
            self._line(
                f"Study {study.name}: {len(outcome.rows)} rows × {len(outcome.columns)} columns, {outcome.done:,} of {planned} done. "
                f"Compare with: workbench study {study.name} --session {self._called} --show"
            )

    def _session(self) -> None:
        contents = self._contents
        self._line(contents.name, "bold")
        self._facts(wording.when(contents.created_at), contents.created_by, str(self._reader.path))
        if tags := contents.tags(SESSION):
            self._line(f"Tags: {tags}", "italic")
        self._remarks(SESSION)
        for warning in self._reader.warnings():
            self._line(warning, "yellow")
        away = report_tables.put_away_sentence(contents)
        if not contents.runs:
            self._line(away or "Nothing has been run in this session yet.")
            return
        self._heading(f"Runs {len(contents.runs)}")
        self._table(report_tables.runs(contents))
        if away:
            self._line(away, "dim")
        self._studies()
        for run in contents.runs:
            if run.state in {"interrupted", "unscored", "cancelled", "failed"}:
                self._line(f"Run {run.row.id} is {run.state}. Go on with: workbench resume {self._called}", "yellow")
        if contents.trials:
            self._heading(f"Trials {len(contents.trials)}")
            self._table(report_tables.trials(contents))
            if len(contents.trials) > 1:
                self._heading("Means")
                self._table(report_tables.means(contents))
                if forks := report_tables.forks_sentence(contents):
                    self._line(forks, "dim")
            if contents.agreement:
                self._heading("Agreement of judges")
                self._table(report_tables.agreement(contents))
                self._line(report_tables.AGREEMENT_SENTENCE, "dim")
        for run, outcome in contents.regenerations:
            self._heading(f"Regeneration {run.row.id}")
            if outcome.stages:
                self._table(report_tables.stages(outcome))
            if outcome.groups:
                self._table(report_tables.evaluators(outcome))
                for note in interval_notes(outcome):
                    self._line(note, "dim")
            self._what_went_wrong(outcome)
            self._heading(f"Tasks {len(outcome.tasks)}")
            self._table(report_tables.tasks(contents, outcome))
            if outcome.dropped:
                self._heading(f"Dropped {len(outcome.dropped)}")
                self._table(report_tables.dropped(outcome))
        items = [trial.row.id for trial in contents.trials]
        items += [task.id for _, outcome in contents.regenerations for task in outcome.tasks]
        if items:
            self._line()
            self._facts(f"One item: workbench show {self._called} {contents.short[items[0]]}")

    def _what_went_wrong(self, outcome: Regenerated) -> None:
        if outcome.diagnosis.groups:
            self._heading(report_tables.failures_title(outcome, _FAILURES))
            self._table(report_tables.failures(outcome, _FAILURES))
        if (unsolved := report_tables.unsolved(outcome)).rows:
            self._heading(f"Tasks that nobody solves {len(unsolved.rows)}")
            self._table(unsolved)
        if (files := report_tables.files(outcome)).rows:
            self._heading("By file")
            self._table(files)

    def _trial(self, trial: Trial) -> None:
        row = trial.row
        self._line(report_tables.trial_title(trial), "bold")
        self._line(wording.state(row.state), _style(wording.state(row.state)))
        self._facts(
            row.id,
            f"{wording.count(row.prompt_tokens or None)} + {wording.count(row.completion_tokens or None)} tokens",
            f"cost {wording.money(row.cost_usd)} $",
            f"{wording.seconds(row.seconds)} s",
            accessed_files_words(self._reader, row),
        )
        if row.error:
            self._line(row.error, "red")
        if trial.problem:
            self._line(trial.problem, "yellow")
        self._check(trial)
        self._grounding(trial)
        self._remarks(row.id)
        steps = self._reader.steps(row.id)
        self._heading(f"Steps {len(steps)}")
        self._table(_steps(row, steps))
        for score in trial.scores:
            self._score(score)
        if trial.imported_scores:
            self._heading(report_tables.IMPORTED_TITLE)
            self._table(report_tables.imported_scores(trial))
        if row.readme_blob:
            self._heading("README")
            self._text(self._reader.shown(row.readme_blob, f"the README of trial {row.id}"))
        else:
            self._heading("No README was handed in.")
        if row.metadata_blob:
            self._heading("Metadata")
            self._text(pretty_json(self._reader.shown(row.metadata_blob, f"the metadata of trial {row.id}")))
        if steps:
            short = self._contents.short.get(row.id, row.id)
            self._line()
            self._facts(f"One step: workbench show {self._called} {short}:{steps[-1].number}")

    def _check(self, trial: Trial) -> None:
        found = checked_readme(self._reader, trial)
        if found is None:
            return
        self._line(f"Works: {found.works}")
        for one in found.alarms:
            self._line(one.head, "red")
            for line in one.lines:
                self._line(f"    {line}", "dim")
        for note in found.notes:
            self._line(note)

    def _grounding(self, trial: Trial) -> None:
        found = grounded(self._reader, trial.row)
        if found is None:
            return
        if found.counts:
            self._line(f"README: {found.counts}")
        if found.inventions:
            self._line(f"likely inventions: {', '.join(found.inventions)}", "yellow")
        if found.note:
            self._line(found.note)
        if found.patterns:
            self._line(f"exploration: {'; '.join(found.patterns)}")

    def _score(self, score: ScoreRow) -> None:
        card = card_of(self._reader, score)
        given = card is not None and card.given is not None
        points = wording.score(score.total, score.out_of, card.given if card else None)
        self._heading(f"{score.rubric} {points}, judge {with_limit(score.judge, score.judge)}")
        if card is None:
            self._line("The criteria of this score cannot be read.", "yellow")
            return
        rows = [
            (
                str(one.tier),
                one.title,
                wording.points(one.points) if one.maximum else "",
                wording.points(one.maximum) if one.maximum else "",
                *((wording.points(one.given) if one.given is not None else "",) if given else ()),
                one.reason,
            )
            for one in card.criteria
        ]
        by_format = ("by the format",) if given else ()
        heads = ("tier", "criterion", "points", "of", *by_format, "reason")
        self._table(Shown(heads, tuple(rows), frozenset({2, 3, 4} if given else {2, 3})))

    def _step(self, step: StepRow) -> None:
        self._line(f"Step {step.number}  {step.action}  {step.target}", "bold")
        call = self._reader.call(step.call_id) if step.call_id is not None else None
        self._facts(
            step.kind,
            step.model or "",
            f"{wording.count(step.prompt_tokens)} + {wording.count(step.completion_tokens)} tokens",
            f"cost {wording.money(step.cost_usd)} $",
            f"{wording.seconds(step.seconds)} s",
            f"latency {call.latency_s:.2f} s" if call and call.latency_s is not None else "",
            f"answer {call.source}" if call else "",
            step.settings if step.settings != "{}" else "",
        )
        if step.problem:
            self._line(f"! {step.problem}", "yellow")
        self._remarks(step.trial_id, step.number)
        if call is not None:
            self._attempts(self._reader.decoded(call.attempts, list, f"the attempts of call {call.id}"))
            for role, text in self._reader.messages(call):
                self._heading(f"Message: {role}")
                self._text(text)
        of = f"step {step.number} of trial {step.trial_id}"
        answer = self._reader.shown(step.answer_blob, f"the answer of {of}")
        thought, said = split_answer(answer)
        if thought:
            self._heading("Thought")
            self._text(thought)
        if said:
            self._heading("Answer")
            self._text(said)
        if step.observation_blob:
            self._heading(f"Observation, {wording.size(step.observation_size)}")
            self._text(self._reader.shown(step.observation_blob, f"the observation of {of}"))

    def _attempts(self, attempts: list[object]) -> None:
        tried = [one for one in attempts if isinstance(one, dict)]
        if len(tried) > 1 or any(one.get("error") for one in tried):
            self._heading(f"Attempts {len(tried)}")
            for number, one in enumerate(tried, 1):
                took, paused = (json_forms.number(one.get(key)) or 0.0 for key in ("seconds", "waited_s"))
                waited = f" after waiting {paused:.1f} s" if paused else ""
                self._line(f"{number}  {took:.1f} s{waited}  {one.get('error') or 'answered'}")

    def _task(self, task: TaskRow, candidates: Sequence[CandidateRow]) -> None:
        self._line(f"{task.qualified_name}  {task.path}", "bold")
        self._facts(
            task.id,
            f"lines {task.start_line} to {task.end_line}" if task.start_line is not None else "",
            wording.plural(task.test_count, "test"),
            f"docs {task.docs_words}",
            report_tables.controls_words(task.controls),
            task.state,
        )
        if task.reason:
            self._line(task.reason, "yellow")
        self._remarks(task.id)
        for title, blob in (("Docstring", task.docstring_blob), ("Body", task.body_blob)):
            if blob:
                self._heading(title)
                self._text(self._reader.shown(blob, f"the {title.lower()} of task {task.id}"))
        self._heading(f"Candidates {len(candidates)}")
        rows = tuple(
            (
                self._contents.short.get(one.id, one.id),
                one.evaluator,
                str(one.sample),
                stands_words(one),
                wording.seconds(one.tested_s),
                "; ".join(filter(None, (one.verdict_reason, *(t.test_id for t in self._reader.failing_tests(one.id))))),
            )
            for one in candidates
        )
        self._table(Shown(("id", "evaluator", "sample", "verdict", "s", "why"), rows, frozenset({2, 4})))

    def _candidate(self, candidate: CandidateRow) -> None:
        task = self._reader.task(candidate.task_id)
        where = f"{task.qualified_name}  {task.path}" if task else candidate.task_id
        self._line(f"{where}  {candidate.evaluator}, sample {candidate.sample}", "bold")
        stands = stands_words(candidate)
        reason = f": {candidate.verdict_reason}" if candidate.verdict_reason else ""
        self._line(stands + reason, _style(stands))
        self._facts(
            candidate.id,
            f"{wording.count(candidate.prompt_tokens)} + {wording.count(candidate.completion_tokens)} tokens",
            f"asked {wording.seconds(candidate.asked_s)} s",
            f"tested {wording.seconds(candidate.tested_s)} s",
            candidate.notes or "",
        )
        self._remarks(candidate.id)
        if former := self._reader.former_verdicts(candidate.id):
            self._heading("Former verdicts")
            for one in former:
                self._line(former_words(one))
                for test in former_failing(self._reader, one):
                    self._line(f"  {test.outcome}  {test.test_id}", "dim")
        if candidate.body_blob:
            self._heading("Body")
            self._text(self._reader.shown(candidate.body_blob, f"the body of candidate {candidate.id}"))
        elif candidate.answer_blob:
            self._heading("Answer, in which no body was found")
            self._text(self._reader.shown(candidate.answer_blob, f"the answer of candidate {candidate.id}"))
        for test in self._reader.failing_tests(candidate.id):
            self._heading(f"{test.outcome}  {test.test_id}")
            self._line(test.message)
            if test.traceback_blob:
                self._text(self._reader.shown(test.traceback_blob, f"a traceback of candidate {candidate.id}"))


def _steps(trial: TrialRow, steps: Sequence[StepRow]) -> Shown:
    rows = tuple(
        (
            str(step.number),
            {"invalid": "! ", "error": f"{glyphs.VERDICTS['failed']} "}.get(step.kind, "") + step.action,
            "" if step.target == step.action else step.target,
            wording.count(step.tokens),
            wording.seconds(step.seconds),
            inheritance(trial, step.number) or step.problem or "",
        )
        for step in steps
    )
    return Shown(
        ("#", "action", "target", "tokens", "s", "remark" if trial.parent else "problem"), rows, frozenset({0, 3, 4})
    )


def narrowed(shown: Shown, width: int) -> Shown:
    """Return the table without the columns that one can do without, as many as must go to fit ``width`` columns."""
    widths = [max(map(cell_len, column)) for column in zip(shown.headings, *shown.rows, strict=True)]
    kept = list(range(len(shown.headings)))
    for name in _DISPENSABLE:
        if sum(widths[place] + 1 for place in kept) <= width:
            break
        kept = [place for place in kept if shown.headings[place] != name]
    return Shown(
        headings=tuple(shown.headings[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in shown.rows),
        right=frozenset(new for new, place in enumerate(kept) if place in shown.right),
    )


def _style(text: str) -> str:
    return _STYLES.get(text[:1], "") if text[1:2] in {"", " "} else ""
