"""Run an agent on test cases: the plan with this machine's defaults, and its trials. Cheap to import."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench import catalog
from workbench.agents.names import address_of, is_peer, is_remote, make_agent
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extension_check import import_folders
from workbench.base.extensions import is_dotted, path_of
from workbench.base.settings import load
from workbench.base.text import plural
from workbench.catalog import TestCase, content_of, current_snapshot, kept_snapshot, resolve_case, snapshot_of
from workbench.orders import defaults
from workbench.orders.estimate import WorkEstimate, estimate_trials
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder
from workbench.orders.plan_checks import check_document, check_place
from workbench.plans.plan import DocumentPlan
from workbench.repository import Snapshot
from workbench.session import SessionReader, SessionWriter, engine_starts, ensure
from workbench.session.identity import run_id, trial_id
from workbench.session.rows import TrialRow
from workbench.session.session_names import resolve_session

# in characters; the context window of a small model has room for a few such files and the conversation
LOCAL_READ_LIMIT = 1_800


def resolved(plan: DocumentPlan) -> DocumentPlan:
    """Fill in this machine's defaults and import folders, so that resuming on another machine does the same work."""
    from workbench.rubric.judging import parse_judge

    plan = with_defaults(plan)
    named = [("agent", plan.agent)] if is_dotted(plan.agent) else []
    named += [("judge", judge) for judge in plan.asked_judges if parse_judge(judge).kind == "extension"]
    return replace(plan, import_folders=import_folders(named, plan.import_folders))


def with_defaults(plan: DocumentPlan) -> DocumentPlan:
    settings = load()
    model = plan.model or defaults.agent_model(settings)
    judge = resolved_judge(plan.judge)
    if model.startswith("replay:"):
        recording = resolve_session(model.removeprefix("replay:")).resolve()
        recorded = replay_plan(recording)
        return replace(
            plan,
            model=f"replay:{recording}",
            judge=judge,
            read_limit=plan.read_limit or recorded.read_limit,
            max_steps=recorded.max_steps,
            answer_tokens=recorded.answer_tokens,
        )
    if is_remote(plan.agent):
        return replace(
            with_card(plan),
            judge=judge,
            read_limit=plan.read_limit or settings.read_limit,
            spend_limit=plan.spend_limit or settings.spend_limit,
        )
    defaults.check_model(model, "the agent")
    read_limit = plan.read_limit or (LOCAL_READ_LIMIT if model.startswith("local") else settings.read_limit)
    spend_limit = plan.spend_limit or settings.spend_limit
    answer_tokens = plan.answer_tokens or settings.answer_tokens
    return replace(
        plan, model=model, judge=judge, read_limit=read_limit, answer_tokens=answer_tokens, spend_limit=spend_limit
    )


def with_card(plan: DocumentPlan) -> DocumentPlan:
    """Return the plan of a remote agent with its current card and the model name used for remote agents.

    Other plans are returned unchanged.
    """
    if not is_remote(plan.agent) or is_peer(plan.model) or plan.model.startswith("replay:"):
        return plan
    address = address_of(plan.agent)
    if plan.model:
        raise UsageError(
            f"The agent at {address} uses its own model, so {plan.model} cannot be used; omit the model, "
            "or name a recording with replay:SESSION."
        )
    agent: Any = make_agent(plan.agent)
    model, card = agent.card()
    return replace(plan, model=model, card=card)


def resolved_judge(text: str) -> str:
    """Return the full name of a judge, by default this machine's. Raises UsageError if the judge cannot be used."""
    from workbench.rubric.judging import parse_judge

    settings = load()
    judge = text or defaults.judge(settings)
    judge = path_of("judge", judge) or judge
    named = parse_judge(judge)
    if named.kind == "replay":
        return f"replay:{resolve_session(named.rest).resolve()}"
    if named.kind == "model":
        defaults.check_model(judge, "the judge")
    return judge


def replay_plan(session: Path) -> DocumentPlan:
    """Return the plan of a session's first document run; a replay uses its limits.

    Raises UsageError if the session has no document run.
    """
    with SessionReader(resolve_session(str(session))) as reader:
        for run in reader.runs():
            if run.kind == "document":
                return DocumentPlan.from_json(run.config)
    raise UsageError(f"{session} contains no recorded trials to replay.")


def plan_document(session: Path, plan: DocumentPlan) -> str:
    """Write a run and its new trials into a session (created if missing), and return the id of the run."""
    _check_named(plan)
    plan = resolved(plan)
    check_place(session)
    # Last, because this caches a copy of each repository, and a refused plan must not leave anything behind.
    cases = [ordered_case(text) for text in dict.fromkeys(plan.cases)]
    ensure(session)
    run = run_id()
    engine_starts.announce(run)
    with SessionWriter(session) as writer, writer.transaction() as connection:

        def look_up(sql: str, arguments: Sequence[object]) -> list[Any]:
            return connection.execute(sql, tuple(arguments)).fetchall()

        same = "SELECT max(repeat) FROM trials WHERE case_id = ? AND agent = ? AND model = ? AND parent = ''"
        last_repeats = {case.text: look_up(same, (case.text, plan.agent, plan.model))[0][0] or 0 for case in cases}
        first = {case.text: plan.first_repeat or last_repeats[case.text] + 1 for case in cases}
        selected = [(case, first[case.text] + number) for number in range(plan.repeats) for case in cases]
        trials = {case.identity(look_up, plan, repeat): (case, repeat) for case, repeat in selected}
        plan = replace(plan, cases=tuple(case.text for case in cases), trials=tuple(trials))
        plan = replace(plan, rescore=_rescored(connection, plan))
        shown = "UPDATE runs SET archived_at = NULL WHERE id = (SELECT run_id FROM trials WHERE id = ?) AND archived_at IS NOT NULL"
        connection.executemany(shown, [(trial,) for trial in trials])
        writer.add_run(run, "document", plan.to_json())
        position = 0
        for identity, (case, repeat) in trials.items():
            position += writer.add_trial(
                identity,
                run,
                position,
                (case.text, case.case.name),
                plan.agent,
                plan.model,
                repeat,
                content=case.content,
                snapshot=case.snapshot.digest if case.snapshot else None,
            )
    return run


def _check_named(plan: DocumentPlan) -> None:
    check_document(plan)
    for text in plan.cases:
        catalog.check_there(catalog.resolve_case(text))


@dataclass(frozen=True, slots=True)
class RequestedTrial:
    """A trial of a plan; ``state`` is "" if the session does not contain it."""

    case: str
    repeat: int
    identity: str
    state: str = ""


def requested_trials(
    session: Path, plan: DocumentPlan, cases: Sequence[OrderedCase] = ()
) -> tuple[DocumentPlan, list[RequestedTrial]]:
    """Return the plan with its defaults, and its trials; pass ``cases`` if they have already been read."""
    _check_named(plan)
    plan = with_defaults(plan)
    check_place(session)
    # Last, because this caches a copy of each repository, and a refused plan must not leave anything behind.
    cases = cases or [ordered_case(text) for text in dict.fromkeys(plan.cases)]
    numbers = range(plan.first_repeat, plan.first_repeat + plan.repeats)
    selected = [(case, number) for case in cases for number in numbers]
    found = []
    with SessionReader(session) if session.exists() else contextlib.nullcontext() as reader:
        for case, number in selected:
            identity = case.identity(reader.query if reader else lambda *_: [], plan, number)
            row = reader.trial(identity) if reader else None
            found.append(RequestedTrial(case.text, number, identity, row.state if row is not None else ""))
    return plan, found


def _rescored(connection: sqlite3.Connection, plan: DocumentPlan) -> str:
    """Return how existing trials are scored.

    ``anew`` means that all are scored again, because the judge previously repeated fewer times; ``missing`` means that
    only missing scores are added; "" means that none of the trials exist.
    """
    marks = ",".join("?" * len(plan.trials))
    existing = {row[0] for row in connection.execute(f"SELECT id FROM trials WHERE id IN ({marks})", plan.trials)}
    if not existing:
        return ""
    if plan.judge_repeats > 1 and plan.judge != "offline":
        configs = connection.execute(
            "SELECT config FROM runs WHERE kind = 'document' AND id IN (SELECT run_id FROM trials WHERE "
            f"id IN ({marks}))",
            plan.trials,
        )
        repeats = [DocumentPlan.from_json(config).judge_repeats for (config,) in configs]
        if min(repeats, default=plan.judge_repeats) < plan.judge_repeats:
            return "anew"
    return "missing"


@dataclass(eq=False)
class RunOrder(WorkOrder):
    """Run an agent on test cases."""

    plan: DocumentPlan

    def resolve(self) -> None:
        self.plan = with_card(self.plan)
        if self.plan.card:
            self.remarks.append(f"The agent at {address_of(self.plan.agent)}: {self.plan.card}")

    @property
    def what(self) -> str:
        repeats = f"{self.plan.repeats} repeats × " if self.plan.repeats > 1 else ""
        return f"{plural(len(self.plan.cases), 'case')} × {repeats}{self.plan.agent}"

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        if self.plan.first_repeat:
            plan, trials = requested_trials(self.session, self.plan)
            cases = [trial.case for trial in trials if not trial.state]
        else:  # all trials are new
            plan, cases = self.plan, list(self.plan.cases) * self.plan.repeats
        at_once = load().trials_at_once
        return estimate_trials(measured, cases, plan.agent, plan.model, plan.asked_judges, repeats=1, at_once=at_once)

    def write(self) -> None:
        self.runs = [plan_document(self.session, self.plan)]
        with SessionReader(self.session) as reader:
            (run,) = filter(None, map(reader.run, self.runs))
            plan = DocumentPlan.from_json(run.config)
            rows = [row for row in map(reader.trial, plan.trials) if row is not None]
        recorded = [row.id for row in rows if row.run_id != run.id]
        if recorded:
            self.remarks.append(
                f"{len(recorded)} of {len(rows)} trials are already in the session: no agent is run for them, and "
                f"only missing scores are requested. To run one again: workbench rerun {self.session} {recorded[0]}"
            )


class ContentChanged(WorkbenchError):
    """The content that a trial started with is no longer available, or has changed."""


@dataclass(frozen=True, slots=True)
class OrderedCase:
    """A case with its content at the time when a trial is planned."""

    text: str  # names the same case even if it is resolved in another folder
    case: TestCase
    snapshot: Snapshot | None  # None if it has not been fetched

    @property
    def content(self) -> str:
        """The digest of the case's content, which becomes part of a trial's id."""
        return content_of(self.case, self.snapshot)

    def identity(self, query: Callable[[str, Sequence[object]], list[Any]], plan: DocumentPlan, repeat: int) -> str:
        """Return the identity of a trial on this content; an existing trial of the session retains its own identity.

        A trial that was planned before its repository was fetched has an identity without the content; it is matched
        too.
        """
        name, more = (plan.agent, plan.model, self.case.id, repeat), plan.further
        mine = trial_id(*name, self.content + more)
        for known in (trial_id(*name, content_of(self.case, None) + more), trial_id(*name, more)):
            rows = query("SELECT snapshot FROM trials WHERE id = ?", (known,))
            if rows and (self.snapshot is None or rows[0][0] in (None, self.snapshot.digest)):
                return known
        return mine


def ordered_case(text: str) -> OrderedCase:
    case = resolve_case(text)
    path = Path(text).expanduser()
    local = case.source and not path.is_absolute() and path.exists()
    try:
        snapshot = current_snapshot(case)
    except WorkbenchError:
        snapshot = None  # ignore the problem, which the trial reports
    # Make the path absolute, because a resume may run in another folder.
    return OrderedCase(str(path.absolute()) if local else text, case, snapshot)


def content_for(trial: TrialRow, case: TestCase) -> Snapshot:
    """Return the repository of a trial.

    Raises ContentChanged if the repository or the ground truth has changed since the trial was planned.
    """
    snapshot = kept_snapshot(case, trial.snapshot or "") or snapshot_of(case)
    anew = "run the case again as a new trial."
    if trial.snapshot and snapshot.digest != trial.snapshot:
        raise ContentChanged(
            f"The repository of {case.name} has changed since this trial was ordered and its former content is no "
            f"longer available; {anew}"
        )
    if trial.content and trial.content not in (content_of(case, snapshot), content_of(case, None)):
        raise ContentChanged(f"The ground truth of {case.name} has changed since this trial was ordered; {anew}")
    return snapshot
