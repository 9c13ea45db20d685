"""Execute an order to improve docstrings in this process, run after run; killed at any moment, another one goes on where it stood."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

from workbench.engine.orders import Order, is_finished, refusal
from workbench.engine.plan import ImprovementPlan, RegenerationPlan, as_text
from workbench.engine.process import serve
from workbench.engine.regeneration_client import carried_out, order_regeneration
from workbench.errors import UsageError, WorkbenchError
from workbench.improving.attempts import Attempt, Share
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import AttemptRow, ImprovementRow


class Cancelled(WorkbenchError):
    """Somebody stopped the order."""

    exit_code = 130


class OrderExecution:
    """Executes the parts of an order, and keeps how it stands; what may not go on raises a ``WorkbenchError``."""

    def __init__(self, session: Path, row: ImprovementRow, plan: ImprovementPlan) -> None:
        self._session = session
        self._id = row.id
        self._plan = plan
        self._base_run = row.run_id
        self._spent_before = row.spent_before
        with SessionReader(session) as reader:
            attempts = reader.docstring_attempts(row.id)
        # What another process came to stands until it is known anew.
        self._known = {(one.task_id, one.number): one for one in attempts if one.state in ("refused", "kept")}
        self._runs = {one.run_id for one in attempts if one.run_id} | {run for run in (row.run_id, row.now_run) if run}

    def carry_out(self, plan: RegenerationPlan, stage: str) -> Order:
        """Order a regeneration into the session and return when it has ended; ``stage`` says what it is for."""
        self.check()
        order = carried_out(self._session, plan)
        finished = order is not None
        if order is None:
            left = self._left()
            order = order_regeneration(self._session, replace(plan, spend_limit=left))
            self._limit(order.run, left)
        self._runs.add(order.run)
        self._at(stage, order.run)
        if finished:
            return order
        serve(self._session, order.run)
        self.check()
        self._settle(order)
        return order

    def _settle(self, order: Order) -> None:
        """Make sure that an order came to its end. Raises WorkbenchError: it did not."""
        with SessionReader(self._session) as reader:
            row = reader.run(order.run)
            if said := refusal(reader, order):
                raise UsageError(said)
            if is_finished(reader, order):
                return
        self._left()
        if row is not None and row.state == "cancelled":
            raise Cancelled("The run was cancelled.")
        raise WorkbenchError((row.error if row is not None else "") or "The regeneration came to no end.")

    def _limit(self, run: str, left: float) -> None:
        """Let a run spend what is left of the order's limit, whatever it had cost before."""
        if not left:
            return
        with SessionWriter(self._session) as writer, writer.transaction(), SessionReader(self._session) as reader:
            row = reader.run(run)
            assert row is not None
            config = replace(RegenerationPlan.from_json(row.config), spend_limit=row.spend_usd + left)
            writer.set_run(run, config=as_text(config))

    def begin(self, stage: str, run: str) -> float:
        """Begin a stage in which only the writer is asked; returns what the run may have cost at most, 0 for no limit."""
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
                # A run that was just made has cost nothing.
                self._spent_before = row.spend_usd if row is not None else 0.0
                writer.set_improvement(self._id, run_id=run, spent_before=self._spent_before)
            writer.set_improvement(self._id, stage=stage, now_run=run)

    def _left(self) -> float:
        """Return what may still be spent, 0 for no limit. Raises WorkbenchError: nothing."""
        limit = self._plan.base.spend_limit
        if not limit:
            return 0.0
        with SessionReader(self._session) as reader:
            rows = [row for run in self._runs if (row := reader.run(run)) is not None]
        spent = sum(row.spend_usd - (self._spent_before if row.id == self._base_run else 0.0) for row in rows)
        if spent >= limit:
            raise WorkbenchError(
                f"The spend limit of ${limit:,.2f} for the whole order is reached (${spent:,.2f} spent); what is there is kept. "
                "Order it again with a higher one to go on."
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

    def tell(self, attempt: Attempt) -> None:
        state = (
            "refused"
            if attempt.refusal
            else "kept"
            if attempt.is_kept
            else "testing"
            if attempt.docstring
            else "asking"
        )
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
                attempt.held_out_by,
                time.time(),
            )
            known = self._known.get(key)
            if known is None or replace(known, at=row.at) != row:
                writer.put_attempt(row)


def _share(share: Share | None) -> str | None:
    return json.dumps([share.passed, share.counted]) if share is not None else None
