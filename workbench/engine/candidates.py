"""Request bodies for tasks and test them concurrently; the result of every step is written at once.

The controls of a task are tested first, so that no request is wasted on a task that fails them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.task_groups import task_group
from workbench.engine.candidate_rows import TAKEN_OUT, Work
from workbench.engine.evaluators import CUT, EvaluatorResponse, Evaluators, ModelEvaluator
from workbench.engine.rechecking import Recheck, write_verdict
from workbench.engine.stages import StageProgress
from workbench.engine.task_rows import decide_task
from workbench.models.types import MissingKey, ModelError, SpendLimit
from workbench.regeneration.extraction import Extraction
from workbench.repository.splicing import SpliceError
from workbench.sandbox import Limits, Report, Route, Verdict
from workbench.session import SessionError, SessionWriter
from workbench.session.sample_counts import is_counted

if TYPE_CHECKING:
    from workbench.engine.regenerate import Sandboxes

#: Number of consecutive failures after which the run ends, because the remaining candidates would fail as well, but
#: slowly.
GIVE_UP_AFTER = 12
#: The same limit for permanent causes: a wrong name, key or address, or an exhausted quota.
GIVE_UP_PERMANENT_AFTER = 3


class EvaluatorGone(WorkbenchError):
    """The evaluator's model has failed repeatedly."""


@dataclass(slots=True)
class _Gate:
    waiting: int = 0
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    excluded: bool = False


class Candidates:
    """Executes the candidates of a run; ``not_again`` lists the reasons why some candidates could not be retested."""

    def __init__(
        self, writer: SessionWriter, evaluators: Evaluators, pool: Sandboxes, limits: Limits, progress: StageProgress
    ) -> None:
        self._writer = writer
        self._evaluators = evaluators
        self._pool = pool
        self._limits = limits
        self._progress = progress
        self._gates: dict[str, _Gate] = {}
        self._to_test: asyncio.PriorityQueue[tuple[int, int, Work]] = asyncio.PriorityQueue()
        self.not_again: dict[str, str] = {}
        self._failed_in_a_row = 0
        self._permanent_in_a_row = 0
        self._done = {True: 0, False: 0}
        self._total = {True: 0, False: 0}
        self._order = 0

    async def run(self, works: Sequence[Work], counts: Mapping[bool, tuple[int, int]], concurrency: int) -> None:
        """Request and test every candidate. Raises EvaluatorGone, MissingKey or SandboxError."""
        controls = [work for work in works if work.decides]
        # Start with candidates that have answers: their tests take a second and must not wait for minutes of
        # generation.
        others = sorted((work for work in works if not work.decides), key=lambda work: work.answer_text is None)
        self._done = {kind: done for kind, (done, _) in counts.items()}
        self._total = {kind: total for kind, (_, total) in counts.items()}
        for kind in (True, False):
            self._report_progress(kind)
        for work in controls:
            self._gates.setdefault(work.item.id, _Gate()).waiting += 1
        to_ask: asyncio.Queue[Work] = asyncio.Queue()
        for work in others:
            to_ask.put_nowait(work)
        async with task_group() as group:
            for work in controls:
                group.create_task(self._ask(work))
            testers = [group.create_task(self._tester()) for _ in self._pool.workers]
            asking = [group.create_task(self._request_from(to_ask)) for _ in range(min(concurrency, len(others)))]
            group.create_task(self._closer(asking, testers))
        for kind in (True, False):
            self._report_progress(kind, end=True)

    async def _closer(self, asking: Sequence[asyncio.Task[None]], testers: Sequence[object]) -> None:
        for gate in self._gates.values():
            await gate.opened.wait()
        if asking:
            await asyncio.wait(asking)
        for _ in testers:
            self._order += 1
            self._to_test.put_nowait((2, self._order, _NOTHING))

    async def _request_from(self, to_ask: asyncio.Queue[Work]) -> None:
        while not to_ask.empty():
            work = to_ask.get_nowait()
            gate = self._gates.get(work.item.id)
            if gate is not None:
                await gate.opened.wait()
                if gate.excluded:
                    if work.former is None:
                        self._set(work, state="cancelled", verdict_reason=TAKEN_OUT)
                    else:
                        self._set(work, state="done")
                    self._count(work)
                    continue
            await self._ask(work)

    async def _ask(self, work: Work) -> None:
        try:
            evaluator = self._evaluators.of(work.ask)
            by_model = isinstance(evaluator, ModelEvaluator)
            if by_model and work.answer_text is not None:
                # The answer exists, and only the test is missing.
                work.extraction = self._read_again(work, work.item.read_answer(work.answer_text))
            elif work.body is not None:
                work.extraction = Extraction(work.body)
            else:
                if by_model:
                    self._set(work, state="asking")
                began = time.monotonic()
                response = await evaluator.respond(work.item, work.id, work.sample)
                self._failed_in_a_row = self._permanent_in_a_row = 0
                work.extraction = response.extraction
                self._answered(work, response, time.monotonic() - began if by_model else None)
        except (SessionError, MissingKey):
            raise
        except WorkbenchError as error:
            self._set(work, **self._evaluators.billed(work.ask, work.id))
            self._verdict(work, Report(work.id, Verdict.ERROR, detail=str(error)))
            self._despair(work, error)
            return
        extraction = work.extraction
        if not extraction.valid:
            self._verdict(work, Report(work.id, Verdict.INVALID, detail=_sentence(extraction.reason)))
            await self._explain(work)
            return
        self._order += 1
        self._to_test.put_nowait((0 if work.decides else 1, self._order, work))

    def _despair(self, work: Work, error: WorkbenchError) -> None:
        # A small context window or a content filter affects a single prompt; twelve failures in a row are the model's
        # fault.
        if not isinstance(error, ModelError) or isinstance(error, SpendLimit) or error.kind == "context":
            return
        self._failed_in_a_row += 1
        self._permanent_in_a_row = self._permanent_in_a_row + 1 if error.permanent else 0
        if self._failed_in_a_row >= GIVE_UP_AFTER or self._permanent_in_a_row >= GIVE_UP_PERMANENT_AFTER:
            raise EvaluatorGone(
                f"{work.ask.evaluator} failed {self._failed_in_a_row} times in a row, so the run was stopped; "
                f"the last time: {error} Go on with: workbench resume {self._writer.path}"
            )

    async def _tester(self) -> None:
        while True:
            _, _, work = await self._to_test.get()
            if work is _NOTHING:
                return
            await self._test(work)

    async def _test(self, work: Work) -> None:
        assert work.extraction is not None
        assert work.extraction.body is not None
        item = work.item
        try:
            job = item.job(work.id, work.extraction.body, self._limits)
        except SpliceError as error:
            self._verdict(work, Report(work.id, Verdict.INVALID, detail=str(error)))
            return
        self._set(work, state="testing")
        report = item.judge(await self._pool.run(job))
        recheck = None
        if report.suspicious and report.passed and report.route is not Route.COLD:
            cold = item.judge(await self._pool.run(replace(job, route=Route.COLD)))
            recheck = Recheck("suspicious", report.verdict, cold)
            suspicious = tuple(dict.fromkeys((*report.suspicious, *cold.suspicious)))
            doubtful = (cold.doubtful or report.doubtful) if cold.passed else ""
            report = replace(cold, suspicious=suspicious, doubtful=doubtful)
        self._verdict(work, report, recheck)
        # An error of the Workbench says nothing about the answer.
        if not report.passed and report.verdict is not Verdict.ERROR:
            await self._explain(work)

    async def _explain(self, work: Work) -> None:
        if not work.control:
            self._set(work, gap=await self._evaluators.explain(work.item, work.ask))

    # -- writing results

    def _set(self, work: Work, **values: object) -> None:
        self._writer.update("candidates", {"id": work.id}, values)

    def _answered(self, work: Work, response: EvaluatorResponse, seconds: float | None) -> None:
        answer, extraction, blob = response.answer, response.extraction, self._writer.blob
        with self._writer.transaction():
            self._set(
                work,
                state="testing",
                call_id=response.call,
                answer_blob=None if response.text is None else blob(response.text),
                body_blob=None if extraction.body is None else blob(extraction.body),
                notes=json.dumps(extraction.notes, ensure_ascii=False) if extraction.notes else None,
                repairs=None if response.text is None else len(extraction.repairs),
                **self._evaluators.billed(work.ask, work.id),
                page_line=response.page_line,
                asked_s=seconds if answer is None or answer.source == "replay" else answer.latency_s,
            )

    def _read_again(self, work: Work, extraction: Extraction) -> Extraction:
        """Store the body as extracted now, since the verdict applies to this body.

        The extraction rules may have changed since the answer was recorded.
        """
        with self._writer.transaction() as connection:
            notes = connection.execute("SELECT notes FROM candidates WHERE id = ?", (work.id,)).fetchone()[0]
            cut = [note for note in CUT.values() if note in (notes or "")]  # known only from the recorded call
            extraction = replace(extraction, notes=(*extraction.notes, *cut))
            self._set(
                work,
                body_blob=None if extraction.body is None else self._writer.blob(extraction.body),
                notes=json.dumps(extraction.notes, ensure_ascii=False) if extraction.notes else None,
                repairs=len(extraction.repairs),
            )
        return extraction

    def _verdict(self, work: Work, report: Report, recheck: Recheck | None = None) -> None:
        gate = self._gates.get(work.item.id) if work.decides else None
        # An error of the Workbench says nothing about the candidate, so preserve its earlier verdict.
        failed_again = report.verdict is Verdict.ERROR and is_counted(work.former)
        with self._writer.transaction():
            if failed_again:
                self._set(work, state="queued")
                self.not_again[work.id] = report.detail
            else:
                write_verdict(self._writer, work.id, report, recheck)
            if gate is not None:
                gate.waiting -= 1
                gate.excluded = decide_task(self._writer, work.item.id)
        if failed_again:
            self._report_progress(work.control)
        else:
            self._count(work)
        if gate is not None and gate.waiting == 0:
            gate.opened.set()

    def _count(self, work: Work) -> None:
        self._done[work.control] += 1
        self._report_progress(work.control)

    def _report_progress(self, control: bool, *, end: bool = False) -> None:
        name = "controls" if control else "candidates"
        total = self._total[control]
        state = "done" if end or self._done[control] >= total else "running"
        note = ""
        if self.not_again:
            why = next(iter(self.not_again.values()))
            note = f"{len(self.not_again)} could not be tested again and keep their verdicts: {why}"
        if total or end:
            self._progress.update(name, state, done=self._done[control], total=total, note=note)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


_NOTHING = Work("", None, None, 0, False, False)  # type: ignore[arg-type]
