"""Execute a document run: run its trials concurrently, each from its case to its scores."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import traceback
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.agents import Submission, make_agent
from workbench.agents.agent_context import DEFAULT_ANSWER_TOKENS, AgentContext, Assignment, ForkDiverged, OutOfSteps
from workbench.agents.names import is_peer, is_remote
from workbench.base.errors import WorkbenchError
from workbench.base.extensions import failure, is_dotted
from workbench.base.settings import Settings
from workbench.base.task_groups import task_group
from workbench.catalog import TestCase, resolve_case, view_of
from workbench.checking.pages import untrue_claims
from workbench.claims.project import project_of
from workbench.engine.records import (
    JUDGE,
    SessionCallLog,
    SessionReplay,
    TrialLog,
    has_docs_of,
    inherited_by,
    recorded_model,
    score_row,
)
from workbench.models import CallLimits, Gateway
from workbench.models.defaults import is_local
from workbench.models.types import ModelClient, ModelError, Sampling
from workbench.orders.run import ContentChanged, content_for
from workbench.plans.plan import DocumentPlan
from workbench.repository import View
from workbench.rubric import make_judge, parse_judge, score
from workbench.rubric.judging import FAILED, CachedJudge
from workbench.rubric.scorecard import NO_FACTS_POINTS
from workbench.session import SessionError, SessionReader, SessionWriter
from workbench.session.judges import is_offline
from workbench.session.pending_work import is_rescored, lacking, trial_state
from workbench.session.rows import RunRow, TrialRow

if TYPE_CHECKING:
    from workbench.rubric import Scorecard


LOADING_LOCAL = "the embedded model is being loaded…"
LOADING_CLIENT = "the model's client is being loaded…"


def gateway_for(
    writer: SessionWriter, run: RunRow, spend_limit: float, settings: Settings
) -> tuple[Gateway, SessionCallLog]:
    """Return a run's gateway and call log; money spent earlier counts towards the limit."""
    calls = SessionCallLog(writer, run.id)
    limits = CallLimits(
        concurrency=settings.concurrency,
        timeout_s=settings.request_timeout,
        total_s=settings.request_total_time,
        tries=settings.max_tries,
        spend_usd=spend_limit or None,
    )
    gateway = Gateway(
        calls,
        limits,
        replay=lambda name: SessionReplay(Path(name), has_docs_of(run)),
        base_url=settings.base_url,
        local_model_path=settings.local_model_path,
        spent_usd=run.spend_usd,
    )
    return gateway, calls


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Run every trial that is not done or lacks scores.

    Raises any error that ends the whole run, including cancellation.
    """
    plan = DocumentPlan.from_json(run.config)
    if plan.check_only:
        from workbench.engine.check_execution import execute_checks

        await execute_checks(writer, run)
        return
    # Import the class here, because a class that cannot be imported must end the run, not each of its trials.
    if not is_rescored(run) or plan.agent:
        make_agent(plan.agent, plan.import_folders)
    for judge in plan.asked_judges:
        if parse_judge(judge).kind == "extension":
            make_judge(judge, None, folders=plan.import_folders)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    runner = TrialRunner(writer, run, plan, gateway, calls, settings.time_limit, settings.request_timeout)
    with SessionReader(writer.path) as reader:
        waiting = [trial for trial in reader.trials(run.id) if trial_state(reader, trial) != "done"]
        again = dict.fromkeys(trial for trial, _, _ in lacking(reader, run))
        waiting += [trial for trial in map(reader.trial, again) if trial is not None]
    places = asyncio.Semaphore(max(1, settings.trials_at_once))
    # The embedded model handles one conversation at a time; concurrent trials would only evict each other from its
    # cache.
    one_place = asyncio.Semaphore(1)
    agents = {trial.model for trial in waiting if trial.run_id == run.id}
    preparing = asyncio.create_task(_prepare(writer, run.id, gateway, agents))
    try:
        async with task_group() as group:

            async def one(index: int) -> None:
                trial = waiting[index]
                models = [trial.model] if trial.run_id == run.id else list(plan.asked_judges)
                async with one_place if any(map(is_local, models)) else places:
                    await runner.run(trial)

            for index in range(len(waiting)):
                group.create_task(one(index))
    finally:
        preparing.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await preparing
        with contextlib.suppress(Exception):
            await gateway.aclose()
    if plan.check:
        from workbench.engine.check_execution import execute_checks, plan_own_checks

        plan_own_checks(writer, run, plan)
        await execute_checks(writer, run)


async def _prepare(writer: SessionWriter, run: str, gateway: Gateway, models: Collection[str]) -> None:
    """Load the model client while repositories are fetched, and mention it in the run's note."""
    asked = [model for model in models if not model.startswith("replay:") and not is_peer(model)]
    if not asked:
        return
    local = next((model for model in asked if is_local(model)), "")
    writer.set_run(run, note=LOADING_LOCAL if local else LOADING_CLIENT)
    try:
        # Ignore errors: if a model cannot run, the first request reports the reason.
        with contextlib.suppress(ModelError):
            await gateway.warm_up(local or asked[0])
    finally:
        writer.set_run(run, note=None)


class AgentFailed(WorkbenchError):
    """A third-party agent raised an exception, or did not return a submission."""


def _kind(error: WorkbenchError) -> str:
    kinds = ((ContentChanged, "changed"), (AgentFailed, "agent"), (ForkDiverged, "diverged"))
    return next((kind for of, kind in kinds if isinstance(error, of)), "case")


@dataclass(eq=False)
class TrialRunner:
    """Executes the trials of a run."""

    _writer: SessionWriter
    _run: RunRow
    _plan: DocumentPlan
    _model_client: ModelClient
    _calls: SessionCallLog
    _time_limit: float
    _message_limit: float = 180.0

    async def run(self, trial: TrialRow) -> None:
        """Run a trial, or score a finished one again; a failure ends only this trial."""
        # Use the monotonic clock, because the system clock may jump while a trial runs.
        began = time.monotonic()
        if trial.state != "done":
            self._begin(trial)
        try:
            case = resolve_case(trial.case_id)
            view = await self._open(case, trial)
            if trial.state == "done":
                submission = self._handed_in(trial)
            else:
                submission = await self._document(trial, case, view)
            await self._score(trial, case, view, submission)
        except (asyncio.CancelledError, SessionError):
            raise
        except TimeoutError:
            self._failed(trial, began, "timeout", f"The trial took longer than {self._time_limit:g} s and was stopped.")
        except ModelError as error:
            self._failed(trial, began, error.kind, str(error))
        except WorkbenchError as error:
            self._failed(trial, began, _kind(error), str(error))
        except Exception as error:
            traceback.print_exc()
            self._failed(trial, began, "internal", f"A bug in the workbench: {type(error).__name__}: {error}.")
        else:
            if trial.state != "done":
                seconds = time.monotonic() - began
                self._writer.set_trial(trial.id, state="done", finished_at=time.time(), seconds=seconds)

    def _begin(self, trial: TrialRow) -> None:
        if is_peer(trial.model):
            # A remote agent holds the conversation itself, so a trial cannot be resumed halfway.
            self._writer.start_over(trial.id)
        self._writer.forget_errors(trial.id)
        self._writer.set_trial(
            trial.id,
            state="running",
            started_at=trial.started_at or time.time(),
            error=None,
            error_kind=None,
            finished_at=None,
        )

    def _handed_in(self, trial: TrialRow) -> Submission:
        with SessionReader(self._writer.path) as reader:
            metadata = json.loads(reader.text(trial.metadata_blob) or "null")
            return Submission(reader.text(trial.readme_blob), metadata, parsed=bool(trial.parsed))

    async def _open(self, case: TestCase, trial: TrialRow) -> View:
        snapshot = await asyncio.to_thread(content_for, trial, case)
        view = await asyncio.to_thread(view_of, case, snapshot)
        files = await asyncio.to_thread(lambda: [(entry.path, entry.size) for entry in view.files])
        with self._writer.transaction():
            self._writer.add_snapshot(snapshot.digest, snapshot.source, snapshot.revision, files)
            self._writer.set_trial(trial.id, snapshot=snapshot.digest)
        return view

    async def _document(self, trial: TrialRow, case: TestCase, view: View) -> Submission:
        inherited = None
        if trial.parent:
            with SessionReader(self._writer.path, surveyed=False) as reader:
                inherited = inherited_by(reader, trial, lambda call: self._calls.take_over(trial.id, call))
        async with self._client_for(trial) as model_client:
            context = AgentContext(
                Assignment(case.name, case.agent_description),
                view,
                model_client,
                TrialLog(self._writer, self._calls, trial.id),
                model=trial.model,
                recorded=recorded_model(trial.model),
                sample=trial.repeat,
                scope=trial.id,
                max_steps=self._plan.max_steps,
                read_limit=self._plan.read_limit,
                answer_tokens=self._plan.answer_tokens or DEFAULT_ANSWER_TOKENS,
                inherited=inherited,
                # A remote agent chooses its own sampling settings.
                sampling=Sampling() if is_remote(trial.agent) else None,
            )
            async with asyncio.timeout(self._time_limit):
                submission = await self._submission(trial.agent, context)
            if inherited is not None:
                inherited.check_reached(context.steps_taken)
            with self._writer.transaction():
                self._writer.set_trial(
                    trial.id,
                    parsed=int(submission.parsed),
                    readme_blob=self._writer.blob(submission.readme),
                    metadata_blob=self._writer.blob(json.dumps(submission.metadata, ensure_ascii=False, indent=2)),
                )
            return submission

    @asynccontextmanager
    async def _client_for(self, trial: TrialRow) -> AsyncIterator[ModelClient]:
        """Yield the client for the agent's requests: the gateway, or the remote agent itself over A2A."""
        if not is_peer(trial.model):
            yield self._model_client
            return
        agent: Any = make_agent(trial.agent)
        peer = agent.model_client(self._calls, self._message_limit)
        try:
            yield peer
        finally:
            await peer.aclose()

    async def _submission(self, name: str, context: AgentContext) -> Submission:
        agent = make_agent(name, self._plan.import_folders)
        if not is_dotted(name):
            return await agent.document(context)
        try:
            submission = await agent.document(context)
        except OutOfSteps:
            return Submission()
        except (WorkbenchError, TimeoutError):
            raise
        except Exception as error:
            traceback.print_exc()
            raise AgentFailed(failure("agent", name, error)) from error
        if not isinstance(submission, Submission):
            raise AgentFailed(f"The agent {name} failed: it returned {type(submission).__name__}, not a Submission.")
        try:
            json.dumps([submission.readme + "", submission.metadata])
        except (TypeError, ValueError, RecursionError) as error:
            why = f"its README is not text, or its metadata is not JSON ({error})"
            raise AgentFailed(f"The agent {name} failed: {why}.") from error
        return submission

    async def _score(self, trial: TrialRow, case: TestCase, view: View, submission: Submission) -> None:
        before = self._cards(trial)
        with SessionReader(self._writer.path, surveyed=False) as reader:
            shape = reader.response_schema_of(trial.id)
        for name in self._plan.asked_judges:
            folders, repeats = self._plan.import_folders, self._plan.judge_repeats
            judge = make_judge(name, self._model_client, repeats=repeats, scope=trial.id + JUDGE, folders=folders)
            # Only the offline judge needs the untrue claims; a model finds them by itself.
            looked_up = is_offline(judge.name)
            untrue = await asyncio.to_thread(untrue_claims, submission.readme, project_of(view)) if looked_up else []
            for rubric in self._plan.rubrics:
                old = before.get((rubric, judge.name))
                if old is not None and not judge_problem(judge.name, old.to_json()["criteria"]):
                    continue
                card = await score(
                    submission.readme,
                    submission.metadata,
                    parsed=submission.parsed,
                    rubric=rubric,
                    facts=case.facts,
                    reference_readme=case.reference_readme,
                    view=view,
                    judge=judge if old is None else CachedJudge(judge, old),
                    without_facts=NO_FACTS_POINTS,
                    shape=shape,
                    untrue=untrue,
                )
                values = card.to_json()
                with self._writer.transaction():
                    blob = self._writer.blob(json.dumps(values, ensure_ascii=False))
                    problem = judge_problem(card.judge, values["criteria"])
                    self._writer.put_score(score_row(trial.id, card, blob, time.time(), problem))

    def _cards(self, trial: TrialRow) -> dict[tuple[str, str], Scorecard]:
        from workbench.rubric import Scorecard

        if trial.state != "done":
            return {}
        anew = self._plan.rescore == "anew" and trial.run_id != self._run.id
        with SessionReader(self._writer.path) as reader:
            return {
                (row.rubric, row.judge): Scorecard.from_json(json.loads(reader.text(row.card_blob)))
                for row in reader.scores(trial.id)
                if not anew or row.at >= self._run.created_at
            }

    def _failed(self, trial: TrialRow, began: float, kind: str, sentence: str) -> None:
        if trial.state == "done":
            # The submission is preserved, and its scorecard shows the unscored tiers.
            note = f"{trial.case_name} could not be scored again: {sentence}"
            print(note, flush=True)
            self._writer.set_run(self._run.id, note=note)
            return
        self._writer.set_trial(
            trial.id,
            state="failed",
            error_kind=kind,
            error=sentence,
            finished_at=time.time(),
            seconds=time.monotonic() - began,
        )


def judge_problem(judge: str, criteria: Iterable[Mapping[str, Any]]) -> str:
    """Return which tiers of a card are unscored because the judge failed, and why; or "" if there are none."""
    failed: dict[int, str] = {}
    for one in criteria:
        reason = str(one.get("reason") or "")
        if one.get("points") is None and reason.startswith(FAILED):
            failed.setdefault(int(one.get("tier") or 0), reason.removeprefix(FAILED).strip())
    if not failed:
        return ""
    numbers = [str(number) for number in sorted(failed)]
    which = f"Tiers {' and '.join(numbers)} are" if len(numbers) > 1 else f"Tier {numbers[0]} is"
    why = failed[min(failed)] or "it gave no reason"
    return f"{which} unscored, because the judge {judge} failed: {why}"
