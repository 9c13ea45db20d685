"""Improve docstrings: find insufficient ones, request better ones, and test them.

All samples belong to ordinary regeneration runs, one with the original docs and others with a folder of proposed docs.
The writer sees the first samples; its docstrings are compared on held-out ones. Placing the same order in the same
session again reuses its results.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench import catalog
from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.settings import load
from workbench.claims.project import ProjectIndex
from workbench.engine.document import gateway_for
from workbench.engine.process import serve
from workbench.improving.attempts import DocstringAttempt, Gain, Refusal, Refused, Share, share_of, standings
from workbench.improving.changes import spliced, task_source, written
from workbench.improving.gates import check_docstring, longest_for, read_docstring
from workbench.improving.writer_prompt import ONE_LITERAL, failing_bodies, writer_prompt
from workbench.models import Gateway
from workbench.models.defaults import LOCAL_DOCSTRING_TOKENS, is_local, sampling_for
from workbench.models.types import EmptyAnswer, ModelError, Request
from workbench.orders.ordered_asks import OrderedAsk, is_finished, ordered_work, refusal
from workbench.orders.regenerate import completed_order, order_regeneration
from workbench.plans.plan import ImprovementPlan, RegenerationPlan, as_text
from workbench.plans.task_names import row_id
from workbench.repository.functions import Function
from workbench.results.tasks import DocstringQuality
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import AttemptRow, CandidateRow, ImprovementRow, TaskRow


class Cancelled(WorkbenchError):
    """The order was cancelled."""

    exit_code = 130


def _share(share: Share | None) -> str | None:
    return json.dumps([share.passed, share.counted]) if share is not None else None


PURPOSE = "writer"
_LOOK_SECONDS = 0.2


@dataclass(slots=True)
class _Proposal:
    task: TaskRow
    function: Function
    source: bytes
    rows: tuple[CandidateRow, ...]
    seen: Share
    attempts: list[DocstringAttempt]
    changed: bytes = b""

    @property
    def last(self) -> DocstringAttempt:
        return self.attempts[-1]

    def refuse(self, refusal: Refusal) -> None:
        self.attempts[-1] = replace(self.last, refusal=refusal)


def execute_improvement(session: Path, improvement: str) -> int:
    """Execute the remaining work of an order and record how it ended.

    Return 0, 130 if cancelled, or an error's exit code.
    """
    with SessionReader(session) as reader:
        row = reader.improvement(improvement)
    if row is None or row.state == "cancelled":
        return 130
    code, state, problem = 0, "done", None
    try:
        plan = ImprovementPlan.from_json(row.plan)
        order = Improvement(session, row, plan)
        order.check()
        order.run()
    except Cancelled as error:
        code, state = error.exit_code, "cancelled"
    except WorkbenchError as error:
        print(error, flush=True)
        code, state, problem = error.exit_code, "failed", str(error)
    except Exception as error:
        traceback.print_exc()
        code, state = 1, "failed"
        problem = f"A bug in the workbench ended the order: {type(error).__name__}: {error}."
    with SessionWriter(session) as writer:
        writer.set_improvement(
            improvement, state=state, problem=problem, stage="", active_run_id=None, finished_at=time.time()
        )
    return code


class Improvement:
    """Executes an order to improve docstrings and records its progress."""

    def __init__(self, session: Path, row: ImprovementRow, plan: ImprovementPlan) -> None:
        self._session = session
        self._id = row.id
        self._plan = plan
        self._base_run = row.run_id
        self._spent_before = row.spent_before
        with SessionReader(session) as reader:
            attempts = reader.docstring_attempts(row.id)
        # The results of an earlier process remain until this one reaches the same stage.
        self._known = {(one.task_id, one.number): one for one in attempts if one.state in ("refused", "accepted")}
        self._runs = {one.run_id for one in attempts if one.run_id} | {
            run for run in (row.run_id, row.active_run_id) if run
        }

    def carry_out(self, plan: RegenerationPlan, stage: str) -> OrderedAsk:
        """Place and execute a regeneration order; ``stage`` describes its purpose."""
        self.check()
        order = completed_order(self._session, plan)
        finished = order is not None
        if order is None:
            left = self._left()
            order = order_regeneration(self._session, replace(plan, spend_limit=left))
            if left:
                with (
                    SessionWriter(self._session) as writer,
                    writer.transaction(),
                    SessionReader(self._session) as reader,
                ):
                    row = reader.run(order.run)
                    assert row is not None
                    config = replace(RegenerationPlan.from_json(row.config), spend_limit=row.spend_usd + left)
                    writer.set_run(order.run, config=as_text(config))
        self._runs.add(order.run)
        self._at(stage, order.run)
        if finished:
            return order
        serve(self._session, order.run)
        self.check()
        with SessionReader(self._session) as reader:
            row = reader.run(order.run)
            if reason := refusal(reader, order):
                raise UsageError(reason)
            if is_finished(reader, order):
                return order
        self._left()
        if row is not None and row.state == "cancelled":
            raise Cancelled("The run was cancelled.")
        raise WorkbenchError((row.error if row is not None else "") or "The regeneration did not finish.")

    def begin(self, stage: str, run: str) -> float:
        """Begin a stage that only sends requests to the writer; return the run's spend limit, or 0 for no limit."""
        self.check()
        left = self._left()
        self._at(stage, run)
        with SessionReader(self._session) as reader:
            row = reader.run(run)
        return left + row.spend_usd if left and row is not None else 0.0

    def _at(self, stage: str, run: str) -> None:
        with SessionWriter(self._session) as writer, SessionReader(self._session) as reader:
            if self._base_run is None:
                row = reader.run(run)
                self._base_run = run
                # Nothing has been spent on a new run so far.
                self._spent_before = row.spend_usd if row is not None else 0.0
                writer.set_improvement(self._id, run_id=run, spent_before=self._spent_before)
            writer.set_improvement(self._id, stage=stage, active_run_id=run)

    def _left(self) -> float:
        limit = self._plan.base.spend_limit
        if not limit:
            return 0.0
        with SessionReader(self._session) as reader:
            rows = [row for run in self._runs if (row := reader.run(run)) is not None]
        spent = sum(row.spend_usd - (self._spent_before if row.id == self._base_run else 0.0) for row in rows)
        if spent >= limit:
            raise WorkbenchError(
                f"The spend limit of ${limit:,.2f} for the whole order is reached (${spent:,.2f} spent); finished "
                "work is kept. Order it again with a higher limit to continue."
            )
        return limit - spent

    def check(self) -> None:
        with SessionReader(self._session) as reader:
            row = reader.improvement(self._id)
        if row is None or row.state == "cancelled":
            raise Cancelled("The order was cancelled.")
        if row.state == "queued":
            with SessionWriter(self._session) as writer:
                writer.update("improvements", {"id": self._id, "state": "queued"}, {"state": "running"})

    def record(self, attempt: DocstringAttempt) -> None:
        state = "accepted" if attempt.is_kept else "testing" if attempt.docstring else "asking"
        state = "refused" if attempt.refusal else state
        key = (attempt.task.id, attempt.number)
        if key in self._known and state in ("asking", "testing"):
            return
        gain, refusal = attempt.gain, attempt.refusal
        with SessionWriter(self._session) as writer, writer.transaction():
            row = AttemptRow(
                self._id,
                *key,
                state,
                refusal.gate if refusal else None,
                refusal.reason if refusal else None,
                writer.blob(attempt.docstring) if attempt.docstring else None,
                attempt.run or None,
                _share(attempt.seen),
                _share(gain.before if gain else None),
                _share(gain.after if gain else None),
                attempt.held_out_evaluator,
                time.time(),
            )
            known = self._known.get(key)
            if known is None or replace(known, at=row.at) != row:
                writer.put_attempt(row)

    def run(self) -> None:
        plan = self._plan
        order = self.carry_out(plan.base, "samples with the original docstrings")
        proposals = self._proposals(order)
        # Record the prompt and settings, because later orders must use the same as these samples.
        self._base = replace(
            plan.base,
            asks=(order.ask,),
            evaluator=order.ask.evaluator,
            prompt=order.ask.prompt,
            context=order.ask.context,
            extra_body=order.ask.extra_body or "{}",
        )
        if proposals:
            self._project = ProjectIndex(self._root(order.run))
        waiting = proposals
        for number in range(1, plan.attempts + 1):
            if not waiting:
                break
            self._ask(order.run, waiting, number)
            passed = [one for one in waiting if one.last.refusal is None]
            if passed:
                self._test(order.run, passed)
            for one in waiting:
                self._keep(one.last)
            waiting = [one for one in waiting if not one.last.is_kept]

    # -- selecting functions

    def _proposals(self, order: OrderedAsk) -> list[_Proposal]:
        plan = self._plan
        with SessionReader(self._session) as reader:
            work = ordered_work(reader, order)
            found = standings(work.tasks, work.candidates, (), below=plan.below, samples=plan.base.samples)
            bad = [(one, one.task) for one in found if one.kind is DocstringQuality.BADLY and one.task is not None]
            proposals = []
            for one, task in bad[: plan.most or len(bad)]:
                source, function = task_source(reader, task)
                proposals.append(_Proposal(task, function, source, tuple(work.candidates[task.id]), one.seen, []))
        return proposals

    def _root(self, run: str) -> Path:
        with SessionReader(self._session) as reader:
            row = reader.run(run)
        assert row is not None
        base = RegenerationPlan.from_json(row.config)
        case = catalog.resolve_case(base.source)
        return (catalog.kept_snapshot(case, base.snapshot) or catalog.snapshot_of(case)).root

    # -- requests to the writer, and checks that need no samples

    def _ask(self, run: str, proposals: Sequence[_Proposal], number: int) -> None:
        limit = self.begin(f"docstrings of attempt {number}", run)
        for one in proposals:
            self.record(DocstringAttempt(one.task, number))
        with SessionWriter(self._session) as writer, SessionReader(self._session) as reader:
            row = reader.run(run)
            assert row is not None
            requests = [self._request(reader, one, number) for one in proposals]

            async def ask(gateway: Gateway, one: _Proposal, request: Request) -> None:
                one.attempts.append(self._judged(one, number, await _answer(gateway, request)))
                self.record(one.last)

            async def ask_all() -> None:
                gateway, _ = gateway_for(writer, row, limit, load())
                asked = (ask(gateway, one, request) for one, request in zip(proposals, requests, strict=True))
                asking = asyncio.gather(*asked)
                try:
                    while not asking.done():
                        await asyncio.wait([asking], timeout=_LOOK_SECONDS)
                        self.check()
                    await asking
                finally:
                    asking.cancel()
                    with contextlib.suppress(Exception):
                        await gateway.aclose()

            asyncio.run(ask_all())

    def _judged(self, one: _Proposal, number: int, answer: str | Refusal) -> DocstringAttempt:
        attempt = DocstringAttempt(one.task, number)
        if isinstance(answer, Refusal):
            return replace(attempt, refusal=answer)
        try:
            text = read_docstring(answer)
            attempt = replace(attempt, docstring=text)
            docstring, one.changed = check_docstring(one.source, one.function, text, self._project)
            attempt = replace(attempt, docstring=docstring)
            if docstring == one.function.docstring:
                raise Refused("code", "it equals the existing docstring")
        except Refused as refused:
            attempt = replace(attempt, refusal=refused.refusal)
        return attempt

    def _request(self, reader: SessionReader, one: _Proposal, number: int) -> Request:
        writer = self._plan.writer
        small = is_local(writer)
        return Request(
            model=writer,
            messages=writer_prompt(
                one.source,
                one.function,
                failing_bodies(reader, one.task, one.rows, self._plan.base.samples),
                [(each.docstring, each.refusal) for each in one.attempts if each.refusal is not None],
                longest=longest_for(one.source, one.function),
                short=small,
            ),
            purpose=PURPOSE,
            sampling=replace(sampling_for(writer, "documenter"), max_tokens=LOCAL_DOCSTRING_TOKENS if small else None),
            scope=f"improve:{one.task.id}:{number}",
            grammar=ONE_LITERAL if small else None,
        )

    # -- checks that need samples

    def _test(self, run: str, proposals: Sequence[_Proposal]) -> None:
        base = self._base
        folder = _documented(proposals)
        # With scope `target`, a prompt shows only the new docstring of its own function, not those of others in the
        # file.
        new = replace(
            base, docs=f"folder:{folder}", docs_scope="target", controls=False, tasks=_names(proposals), limit=0
        )
        number = proposals[0].last.number
        order = self.carry_out(new, f"samples that the writer sees, attempt {number}")
        with SessionWriter(self._session) as writer:
            writer.name_run(order.run, f"docstrings of attempt {number}")
        seen = self._rows(order)
        better = []
        for one in proposals:
            share = share_of(seen[row_id(one.task)], range(base.samples))
            one.attempts[-1] = replace(one.last, run=order.run, seen=share)
            if (share.at(1) or 0.0) <= (one.seen.at(1) or 0.0):
                reason = f"of the samples, {one.seen.words} passed before, {share.words} now"
                one.refuse(Refusal("seen samples", reason))
            else:
                better.append(one)
            self.record(one.last)
        if not better:
            return
        stage = f"held-out samples, attempt {number}"
        asked, held_out = self._held_out(base)
        asked = replace(asked, tasks=_names(better), limit=0, controls=False)
        before = self._rows(self.carry_out(replace(asked, controls=base.controls), stage))
        after = self._rows(self.carry_out(replace(asked, docs=new.docs, docs_scope="target"), stage))
        for one in better:
            name = row_id(one.task)
            gain = Gain(share_of(before[name], held_out), share_of(after[name], held_out))
            one.attempts[-1] = replace(one.last, gain=gain, held_out_evaluator=self._plan.held_out_evaluator)
            if gain.problem:
                one.refuse(Refusal("held-out samples", gain.problem))

    def _held_out(self, base: RegenerationPlan) -> tuple[RegenerationPlan, range]:
        """Return the plan of held-out samples and their numbers; all samples of a second evaluator are held out."""
        plan = self._plan
        if plan.second_evaluator:
            other = replace(base, evaluator=plan.second_evaluator, prompt="", context="", extra_body="", asks=())
            return replace(other, samples=plan.held_out), range(plan.held_out)
        most = base.samples + plan.held_out
        return replace(base, samples=most), range(base.samples, most)

    def _rows(self, order: OrderedAsk) -> dict[str, tuple[CandidateRow, ...]]:
        with SessionReader(self._session) as reader:
            work = ordered_work(reader, order)
        return {row_id(task): tuple(work.candidates[task.id]) for task in work.tasks if task.state != "excluded"}

    def _keep(self, attempt: DocstringAttempt) -> None:
        text = f"docstring by {self._plan.writer}: {attempt.words}"
        with SessionWriter(self._session) as writer, writer.transaction() as connection:
            existing = connection.execute(
                "SELECT 1 FROM annotations WHERE item = ? AND text = ?", (attempt.task.id, text)
            ).fetchone()
            if existing is None:
                writer.annotate(attempt.task.id, text)
        self.record(attempt)


async def _answer(gateway: Gateway, request: Request) -> str | Refusal:
    try:
        return (await gateway.complete(request)).text
    except EmptyAnswer:
        return Refusal("answer", "the writer's answer is empty")
    except ModelError as error:
        if error.permanent:
            raise
        return Refusal("answer", str(error).rstrip("."))


def _names(proposals: Iterable[_Proposal]) -> tuple[str, ...]:
    return tuple(row_id(one.task) for one in proposals)


def _documented(proposals: Iterable[_Proposal]) -> Path:
    texts = [(one.task, one.source, one.last.docstring) for one in proposals]
    files = {path: after for path, (_, after) in spliced(texts).items()}
    digest = hashlib.sha256(
        json.dumps([[path, hashlib.sha256(text).hexdigest()] for path, text in sorted(files.items())]).encode()
    )
    return written(paths.data_dir() / "proposed_docstrings" / digest.hexdigest()[:16], files)
