"""Run one trial: fetch the case, let the agent work at its desk, score what it handed in."""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from typing import TYPE_CHECKING

from workbench.agents import Submission, make_agent
from workbench.agents.desk import Asker, Assignment, Desk
from workbench.catalog import TestCase, resolve_case, snapshot_of, view_of
from workbench.engine.plan import DocumentPlan
from workbench.engine.records import JUDGE, SessionCallLog, TrialLog
from workbench.errors import WorkbenchError
from workbench.models.types import ModelError
from workbench.repository import View
from workbench.rubric import NO_FACTS_POINTS, score
from workbench.rubric.judging import Judge
from workbench.session import SessionError, SessionWriter
from workbench.session.rows import ScoreRow, TrialRow

if TYPE_CHECKING:
    from workbench.rubric import Scorecard


class TrialRunner:
    """Executes trials of one run.

    Args:
        writer: The session.
        plan: What was asked for.
        asker: The gateway.
        calls: The gateway's log.
        time_limit: Seconds that a trial may take.
    """

    def __init__(
        self, writer: SessionWriter, plan: DocumentPlan, asker: Asker, calls: SessionCallLog, time_limit: float
    ) -> None:
        self._writer = writer
        self._plan = plan
        self._asker = asker
        self._calls = calls
        self._time_limit = time_limit

    async def run(self, trial: TrialRow) -> None:
        """Run a trial to its end; whatever goes wrong with it is written into it and ends only this trial.

        Raises:
            SessionError: The session cannot be written any more.
            asyncio.CancelledError: The run was cancelled; the trial stays as far as it came.
        """
        began = time.time()
        self._writer.forget_errors(trial.id)
        self._writer.set_trial(
            trial.id,
            state="running",
            started_at=trial.started_at or began,
            error=None,
            error_kind=None,
            finished_at=None,
        )
        try:
            case = resolve_case(trial.case_id)
            view = await self._open(case, trial)
            submission = await self._document(trial, case, view)
            await self._score(trial, case, view, submission)
        except (asyncio.CancelledError, SessionError):
            raise
        except TimeoutError:
            self._failed(trial, began, "timeout", f"The trial took longer than {self._time_limit:g} s and was stopped.")
        except ModelError as error:
            self._failed(trial, began, error.kind, str(error))
        except WorkbenchError as error:
            self._failed(trial, began, "case", str(error))
        except Exception as error:
            traceback.print_exc()
            self._failed(trial, began, "internal", f"A defect of the workbench: {type(error).__name__}: {error}.")
        else:
            now = time.time()
            self._writer.set_trial(trial.id, state="done", finished_at=now, seconds=now - began)

    async def _open(self, case: TestCase, trial: TrialRow) -> View:
        snapshot = await asyncio.to_thread(snapshot_of, case)
        view = await asyncio.to_thread(view_of, case, snapshot)
        files = await asyncio.to_thread(lambda: [(entry.path, entry.size) for entry in view.files])
        with self._writer.transaction():
            self._writer.add_snapshot(snapshot.digest, snapshot.source, snapshot.revision, files)
            self._writer.set_trial(trial.id, snapshot=snapshot.digest)
        return view

    async def _document(self, trial: TrialRow, case: TestCase, view: View) -> Submission:
        desk = Desk(
            Assignment(case.name, case.agent_description),
            view,
            self._asker,
            TrialLog(self._writer, self._calls, trial.id),
            model=trial.model,
            sample=trial.repeat,
            scope=trial.id,
            max_steps=self._plan.max_steps,
            read_limit=self._plan.read_limit,
        )
        async with asyncio.timeout(self._time_limit):
            submission = await make_agent(trial.agent).document(desk)
        with self._writer.transaction():
            self._writer.set_trial(
                trial.id,
                parsed=int(submission.parsed),
                readme_blob=self._writer.blob(submission.readme),
                metadata_blob=self._writer.blob(json.dumps(submission.metadata, ensure_ascii=False, indent=2)),
            )
        return submission

    async def _score(self, trial: TrialRow, case: TestCase, view: View, submission: Submission) -> None:
        for rubric in self._plan.rubrics:
            card = await score(
                submission.readme,
                submission.metadata,
                parsed=submission.parsed,
                rubric=rubric,
                facts=case.facts,
                reference_readme=case.reference_readme,
                view=view,
                judge=self._judge(trial),
                without_facts=NO_FACTS_POINTS,
            )
            self._put(trial, card)

    def _judge(self, trial: TrialRow) -> Judge:
        from workbench.rubric import LLMJudge, OfflineJudge

        if self._plan.judge == "offline":
            return OfflineJudge()
        return LLMJudge(
            self._asker,
            self._plan.judge,
            repeats=self._plan.judge_repeats,
            scope=trial.id + JUDGE,
        )

    def _put(self, trial: TrialRow, card: Scorecard) -> None:
        tiers = {number: tier.points for number, tier in card.tiers.items()}
        with self._writer.transaction():
            blob = self._writer.blob(json.dumps(card.to_json(), ensure_ascii=False))
            self._writer.put_score(
                ScoreRow(
                    trial.id,
                    card.rubric,
                    card.judge,
                    card.total,
                    card.out_of,
                    tiers.get(1),
                    tiers.get(2),
                    tiers.get(3),
                    tiers.get(4),
                    blob,
                    time.time(),
                )
            )

    def _failed(self, trial: TrialRow, began: float, kind: str, sentence: str) -> None:
        now = time.time()
        self._writer.set_trial(
            trial.id, state="failed", error_kind=kind, error=sentence, finished_at=now, seconds=now - began
        )
