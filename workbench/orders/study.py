"""Order a study: write it into a session, plan its missing runs, and execute them.

A column of agents is a document run, whose READMEs are measured by a usage run for each case. A doc system on a source is a regeneration run, which further evaluators extend.
Identities show which results already exist. Cheap to import.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench import catalog
from workbench.agents.names import is_remote
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import expanded
from workbench.base.settings import load
from workbench.base.text import plural
from workbench.models.names import KeyNotSet, keys_unneeded
from workbench.orders import running
from workbench.orders.estimate import WorkEstimate
from workbench.orders.launching import WarmEngine, engine_for, wait_for_others
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder
from workbench.orders.plan_checks import check_place, check_sandbox
from workbench.orders.regenerate import completed_order, full_ask, order_regeneration
from workbench.orders.regenerate import resolved as resolved_regeneration
from workbench.orders.run import RequestedTrial, plan_document, requested_trials, resolved_judge, with_defaults
from workbench.orders.usage import LITERAL, READERS, UsageOrder, reader_ask
from workbench.plans.arguments import of_study
from workbench.plans.plan import DocumentPlan, RegenerationPlan, as_text
from workbench.plans.usage import PLANS, UsagePlan
from workbench.results.page_scores import measured_pages, page_key
from workbench.results.trials import trials_named
from workbench.session import SessionReader, SessionWriter, ensure
from workbench.session.groups import settings_of
from workbench.session.judges import recorded_as
from workbench.session.pending_work import is_missing
from workbench.session.rows import RunRow, StudyCellRow
from workbench.studies.checking import check_study, column_problem
from workbench.studies.declaration import AGENTS, PAPER, SESSION, BadStudy, Study, StudyColumn
from workbench.studies.study_reader import declared

_LOOK_SECONDS = 0.2


def resolved_study(study: Study, session: Path | None = None) -> Study:
    """Fill in this machine's defaults; a model needs no key if its column is complete in ``session``."""
    with keys_unneeded():
        whole = _written_out(study)
    for column in whole.columns:
        try:
            _check_models(whole, column)
        except KeyNotSet:
            with keys_unneeded():
                if session is None or not session.exists() or not _is_complete(session, whole, column):
                    raise
        except WorkbenchError:
            continue  # ignore the problem, which the cells of the column will show
    return whole


def _check_models(study: Study, column: StudyColumn) -> None:
    if study.kind == AGENTS:
        if not is_remote(column.system):
            with_defaults(document_plan(study, column))
        for judge in study.settings.judges:
            resolved_judge(judge)
        if study.settings.use:
            reader_ask(usage_plan(study))
    else:
        resolved_regeneration(regeneration_plan(study, study.rows[0], column))


def _is_complete(session: Path, study: Study, column: StudyColumn) -> bool:
    try:
        if study.kind != AGENTS:
            return all(completed_order(session, regeneration_plan(study, row, column)) for row in study.rows)
        full, trials = requested_trials(session, document_plan(study, column))
        lacks = _lacks(session, full, trials) or _lacks_use(session, study, [one.identity for one in trials])
        return all(one.state == "done" for one in trials) and not lacks
    except WorkbenchError:
        return False


def _written_out(study: Study) -> Study:
    from workbench.session.session_names import resolve_session

    if study.kind == PAPER:
        raise BadStudy(f"The study {study.name} is read-only: published tables cannot be executed.")
    study = check_study(study)
    study = replace(study, rows=written_out(study.rows))
    if study.kind == AGENTS:
        judges = tuple(resolved_judge(judge) for judge in study.settings.judges or ("",))
        use = study.settings.use and _resolved_reader(study)
        study = replace(study, settings=replace(study.settings, judges=judges, use=use))
        columns = [_resolved_column(study, one) for one in study.columns]
    else:
        columns = [
            replace(one, model=full_ask(regeneration_plan(study, study.rows[0], one)).evaluator)
            for one in study.columns
        ]
    for number, column in enumerate(columns):
        if column in columns[:number]:
            raise BadStudy(f"The column {column.name} appears twice, once through this machine's default model.")
    results = tuple(f"{SESSION}{resolve_session(one.removeprefix(SESSION)).absolute()}" for one in study.results)
    return replace(study, columns=tuple(columns), results=results)


def _resolved_reader(study: Study) -> str:
    if study.settings.use in READERS and study.settings.use != LITERAL:
        raise BadStudy(f"{study.settings.use} is a control, not a reader; use = {LITERAL!r} needs no model.")
    return reader_ask(usage_plan(study)).evaluator


def _resolved_column(study: Study, column: StudyColumn) -> StudyColumn:
    try:
        return replace(column, model=with_defaults(document_plan(study, column)).model)
    except WorkbenchError as error:
        if not is_remote(column.system) or isinstance(error, UsageError):
            raise
        return column


def written_out(rows: Sequence[str]) -> tuple[str, ...]:
    """Make the paths of folders and files absolute, because a resume may run in another folder."""
    cases = {case.id for case in catalog.load_cases()[0]}
    paths = {row: expanded(row) for row in rows if row not in cases}
    return tuple(
        dict.fromkeys(str(paths[row].absolute()) if row in paths and paths[row].exists() else row for row in rows)
    )


def document_plan(study: Study, column: StudyColumn) -> DocumentPlan:
    """Return the plan of the run that executes a column of agents."""
    asked = of_study(DocumentPlan, {"limits": study.limits, "settings": study.settings})
    judges = study.settings.judges or ("",)
    asked |= {"judge": judges[0], "judges": judges if len(judges) > 1 else ()}
    plan = DocumentPlan(
        study.rows, column.system, column.model, repeats=study.repeats, spend_limit=_most(study), **asked
    )
    return plan if study.limits.steps else replace(plan, max_steps=load().max_steps)


def regeneration_plan(study: Study, row: str, column: StudyColumn) -> RegenerationPlan:
    """Return the plan of the run that executes a cell of doc systems."""
    asked = of_study(RegenerationPlan, {"limits": study.limits, "settings": study.settings})
    asked |= {"samples": study.samples, "k": study.k, "spend_limit": _most(study)}
    return RegenerationPlan(row, docs=column.system, evaluator=column.model, **asked)


def usage_plan(study: Study, session: Path = Path()) -> UsagePlan:
    """Return the plan of the runs that measure the READMEs of a study of agents in a session."""
    return UsagePlan(source=str(session), evaluator=study.settings.use, spend_limit=_most(study))


def _most(study: Study) -> float:
    """Return the spend limit of a study's run; ``each_run`` lowers it to what remains of the study's limit."""
    return min((one for one in (study.spend_limit, load().spend_limit) if one), default=0.0)


def order_study(session: Path, study: Study) -> Study:
    """Write a study and its missing runs into a session (created if missing), and return the resolved study.

    If a cell cannot be planned, its problem is stored. Nothing is started; see :func:`each_run`.
    """
    study = resolved_study(study, session)
    check_place(session)
    if study.kind != AGENTS or study.settings.use:
        check_sandbox(study.settings.sandbox or load().sandbox)
    ensure(session)
    with SessionWriter(session) as writer:
        writer.put_study(study.name, study.to_json())
    cells = _document_cells(session, study) if study.kind == AGENTS else _regeneration_cells(session, study)
    placed = sorted(cells, key=lambda one: (study.rows.index(one.row_name), one.position))
    with SessionWriter(session) as writer:
        writer.put_study_cells(
            [replace(one, position=number) for number, one in enumerate(placed)], instead_of=study.name
        )
    order_use(session, study)
    return study


def unmeasured(reader: SessionReader, study: Study, trials: Iterable[str]) -> dict[str, list[str]]:
    """Return the trials, by case, with READMEs that no usage run of the study's reader measures."""
    known = measured_pages(reader, study.settings.use)
    found: dict[str, list[str]] = {}
    for row in trials_named(reader, trials):
        if row.state == "done" and row.readme_blob and page_key(row.case_id, row.readme_blob) not in known:
            found.setdefault(row.case_id, []).append(row.id)
    return found


def order_use(session: Path, study: Study) -> set[str]:
    """Order usage runs for the READMEs of a study that lack them; return the runs that have new work.

    If a case cannot be ordered, the reason is stored as the study's ``problem``.
    """
    if not study.settings.use:
        return set()
    with SessionReader(session) as reader:
        found = unmeasured(reader, study, _trials(reader, study.name))
    runs, problems = set[str](), []
    for case, trials in found.items():
        try:
            runs.update(UsageOrder(session, usage_plan(study, session), trials).submit().runs)
        except WorkbenchError as error:
            problems.append(f"The use of the READMEs of {case} cannot be measured: {error}")
    if problems:
        with SessionWriter(session) as writer:
            writer.set_study(study.name, problem=" ".join(problems))
    return runs


def _trials(reader: SessionReader, name: str) -> list[str]:
    return [trial for cell in reader.study_cells(name) for trial in settings_of(cell.pointer).get("trials") or []]


def _use_runs(reader: SessionReader, study: Study, trials: Iterable[str]) -> dict[str, str]:
    """Return the usage runs that measure READMEs of trials, each with its case."""
    known = measured_pages(reader, study.settings.use) if study.settings.use else {}
    rows = trials_named(reader, trials) if known else ()
    pages = ((row.case_id, known.get(page_key(row.case_id, row.readme_blob))) for row in rows if row.readme_blob)
    return {run.id: case for case, run in pages if run is not None}


def _lacks_use(session: Path, study: Study, trials: Sequence[str]) -> bool:
    if not study.settings.use:
        return False
    with SessionReader(session) as reader:
        runs = map(reader.run, _use_runs(reader, study, trials))
        unfinished = any(run is not None and _is_pending(reader, run) for run in runs)
        return unfinished or bool(unmeasured(reader, study, trials))


def _document_cells(session: Path, study: Study) -> list[StudyCellRow]:
    found = []
    for place, column in enumerate(study.columns):
        run, problem = None, None
        trials: list[RequestedTrial] = []
        try:
            plan = document_plan(study, column)
            with keys_unneeded():
                full, trials = requested_trials(session, plan)
            if not all(one.state for one in trials) or _lacks(session, full, trials):
                run = plan_document(session, plan)
        except WorkbenchError as error:
            trials, problem = [], str(error)
        for row in study.rows:
            mine = [one.identity for one in trials if one.case == row]
            pointer = json.dumps({"trials": mine})
            found.append(StudyCellRow(study.name, row, column.name, place, run, pointer, problem))
    return found


def _lacks(session: Path, plan: DocumentPlan, trials: Iterable[RequestedTrial]) -> bool:
    """Return whether finished trials lack scores or checks that the plan requires."""
    requested = {(rubric, recorded_as(judge)) for rubric in plan.rubrics for judge in plan.asked_judges}
    with SessionReader(session) as reader:
        over = {row.trial_id for row in reader.checks() if row.executed and row.state in ("done", "failed")}
        rows = [row for one in trials if (row := reader.trial(one.identity)) is not None]
        return any(
            (row.state == "done" and requested - {(score.rubric, score.judge) for score in reader.scores(row.id)})
            or (plan.check and row.readme_blob and row.id not in over)
            for row in rows
        )


def _regeneration_cells(session: Path, study: Study) -> list[StudyCellRow]:
    found = []
    problems = {column.name: column_problem(study, column) for column in study.columns}
    for row in study.rows:
        for place, column in enumerate(study.columns):
            plan = regeneration_plan(study, row, column)
            run, pointer, problem = None, {}, problems[column.name] or None
            if problem is None:
                try:
                    with keys_unneeded():
                        ask = resolved_regeneration(plan).asks[0]
                        pointer = {"evaluator": ask.evaluator, "prompt": ask.prompt, "context": ask.context}
                        completed = completed_order(session, plan)
                    run = (completed or order_regeneration(session, plan)).run
                except WorkbenchError as error:
                    problem = str(error)
            found.append(StudyCellRow(study.name, row, column.name, place, run, json.dumps(pointer), problem))
    return found


def study_runs(reader: SessionReader, name: str) -> list[str]:
    """Return the runs of a study, in the order of its cells."""
    return list(dict.fromkeys(run for runs in _runs_by_cell(reader, name).values() for run in runs))


def _runs_by_cell(reader: SessionReader, name: str) -> dict[tuple[str, str], list[str]]:
    cells = [(cell, settings_of(cell.pointer).get("trials") or []) for cell in reader.study_cells(name)]
    every = json.dumps([trial for _, trials in cells for trial in trials])
    of_trial = dict(
        reader.query("SELECT id, run_id FROM trials WHERE id IN (SELECT value FROM json_each(?))", (every,))
    )
    found = {
        (cell.row_name, cell.column_name): [
            str(run) for run in (cell.run_id, *(of_trial.get(trial) for trial in trials)) if run
        ]
        for cell, trials in cells
    }
    study = declared(reader, name)
    if study.kind == AGENTS and study.settings.use:
        for run, case in _use_runs(reader, study, _trials(reader, name)).items():
            found.setdefault((case, f"use · {study.settings.use}"), []).append(run)
    return found


def pending_runs(reader: SessionReader, name: str) -> list[str]:
    """Return the incomplete runs of a study; those that an engine is executing come first."""
    rows = [row for run in study_runs(reader, name) if (row := reader.run(run)) is not None and row.archived_at is None]
    # An engine holds its lease for a moment after its run is done.
    missing = [row.id for row in rows if _is_pending(reader, row)]
    return sorted(missing, key=lambda run: reader.holder(run) is None)


def _is_pending(reader: SessionReader, run: RunRow) -> bool:
    # Another attempt does not give a project usage tasks, so such a run is not pending.
    return is_missing(reader, run) and not (run.kind == "usage" and run.plan.get("permanent_failure") is True)


def titles_of(reader: SessionReader, name: str, run: str) -> Sequence[str]:
    """Return the titles of a run's cells, such as ``word_counter × none · local``."""
    return [f"{row} × {column}" for (row, column), runs in _runs_by_cell(reader, name).items() if run in runs]


def each_run(session: Path, name: str) -> Iterator[str]:
    """Start the incomplete runs of a study one by one, and yield the id of each after it has started.

    When the trials are done, usage runs for their READMEs are ordered if the study has the measure ``use``.

    The caller must wait for a run to end before it requests the next one. A cancelled run ends the study, but a failed
    run does not. When the study's spend limit is reached, a message is stored as the study's ``problem`` and no further
    run is started.
    """
    with SessionWriter(session) as writer:
        writer.set_study(name, problem=None)
    met: set[str] = set()
    while True:
        with SessionReader(session) as reader:
            waiting = [run for run in pending_runs(reader, name) if run not in met]
            held = bool(waiting) and reader.holder(waiting[0]) is not None
            study = declared(reader, name)
        if not waiting:
            if not (ordered := order_use(session, study)):
                return
            met -= ordered
            continue
        run = waiting[0]
        met.add(run)
        if not held:
            if problem := _limited(session, name, run):
                with SessionWriter(session) as writer:
                    writer.set_study(name, problem=problem)
                return
            try:
                if not running.resume(session, run):
                    continue
            except WorkbenchError:
                # Another process started the run first, so follow its engine.
                with SessionReader(session) as reader:
                    if reader.holder(run) is None:
                        raise
        yield run
        with SessionReader(session) as reader:
            row = reader.run(run)
            if row is not None and row.state == "cancelled":
                return


def _limited(session: Path, name: str, run: str) -> str:
    """Set the spend limit of a run to what remains of the study's limit; return a message if nothing remains."""
    with SessionReader(session) as reader:
        study = declared(reader, name)
        if not study.spend_limit:
            return ""
        rows = [row for one in study_runs(reader, name) if (row := reader.run(one)) is not None]
        mine = next(row for row in rows if row.id == run)
        spent = sum(row.spend_usd for row in rows)
    left = study.spend_limit - spent
    if left <= 0:
        return (
            f"The study's spend limit of ${study.spend_limit:,.2f} is reached (${spent:,.2f} spent), so the "
            "missing work was not started; raise spend_limit and start the study again."
        )
    most = mine.spend_usd + left
    if per_run := load().spend_limit:
        most = min(most, per_run)
    kind = DocumentPlan if mine.kind == "document" else PLANS[mine.kind]
    plan = replace(kind.from_json(mine.config), spend_limit=most)
    with SessionWriter(session) as writer:
        writer.set_run(run, config=as_text(plan))
    return ""


def wait_for_other_runs(session: Path, name: str) -> None:
    """Wait until no run of a session that does not belong to a study is queued or running."""
    with SessionReader(session) as reader:
        own = study_runs(reader, name)
    wait_for_others(session, own)


def execute_study(session: Path, name: str) -> int:
    """Execute the incomplete runs of a study; return 0 if the study is complete afterwards, otherwise 1."""
    pause = threading.Event()
    for run in each_run(session, name):
        with SessionReader(session) as reader:
            while (row := reader.run(run)) is not None and reader.run_state(row) in ("queued", "running"):
                pause.wait(_LOOK_SECONDS)
    with SessionReader(session) as reader:
        return 1 if pending_runs(reader, name) else 0


def launch_study(session: Path, name: str, *, queue: bool = False) -> subprocess.Popen[bytes]:
    """Start a process that executes the incomplete runs of a study and outlives the caller."""
    safe = "".join(sign if sign.isalnum() else "-" for sign in name)
    return engine_for(session, "study", name, f"study-{safe}", queue=queue)


@dataclass(eq=False)
class StudyOrder(WorkOrder):
    """Execute the incomplete cells of a study."""

    study: Study

    def resolve(self) -> None:
        self.study = resolved_study(self.study, self.session)

    @property
    def what(self) -> str:
        of = self.study
        return f"{of.name}: {plural(len(of.rows), 'row')} × {plural(len(of.columns), 'column')}"

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        from workbench.orders.study_estimate import estimate_study

        self.resolve()
        return estimate_study(measured, self.session, self.study, load().trials_at_once)

    def write(self) -> None:
        self.study = order_study(self.session, self.study)
        with SessionReader(self.session) as reader:
            self.runs = pending_runs(reader, self.study.name)

    def launch(self, *, queue: bool = False, warm: WarmEngine | None = None) -> None:
        """Start one process for all runs, unless there are none."""
        if self.runs:
            self.process = launch_study(self.session, self.study.name, queue=queue)

    def resume(self, warm: WarmEngine | None = None) -> None:
        self.begin(warm=warm)
