"""Check the READMEs of a run one after another, and store the results."""

from __future__ import annotations

import asyncio
import contextlib
import time
import traceback
from dataclasses import asdict, replace
from pathlib import Path

from workbench.base.errors import UsageError, WorkbenchError
from workbench.catalog import kept_snapshot, resolve_case, snapshot_of
from workbench.checking.pages import LARGEST, CheckOptions, check_pages
from workbench.checking.verdicts import RULES, CheckDamaged, CheckResult, from_json, to_json, works
from workbench.claims.page import parse_page
from workbench.orders.check import key_of
from workbench.orders.run import ContentChanged
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionError, SessionReader, SessionWriter
from workbench.session.rows import CheckRow, RunRow

PAGE = "README.md"
_WRITE_SECONDS = 0.4
_WRITING_SHARE = 0.05
"""The maximum share of the time spent on writing progress; with 5,000 blocks, each write is 1.5 MB."""


def plan_own_checks(writer: SessionWriter, run: RunRow, plan: DocumentPlan) -> None:
    with SessionReader(writer.path) as reader:
        trials = [row for row in map(reader.trial, plan.trials) if row is not None and row.state == "done"]
        keys = [(row.id, int(plan.check == "run"), plan.check_seconds, RULES) for row in trials if row.readme_blob]
        known = {key_of(row) for row in reader.checks() if row.state in ("done", "failed")}
    for key in keys:
        if key not in known:
            writer.put_check(key, run.id)


async def execute_checks(writer: SessionWriter, run: RunRow) -> None:
    """Execute the pending checks of a run; an error is stored with its check and does not stop the remaining checks."""
    with SessionReader(writer.path) as reader:
        waiting = [row for row in reader.checks(run_id=run.id) if row.state not in ("done", "failed")]
    for row in waiting:
        key = key_of(row)
        writer.set_check(key, state="running", problem=None, partial="")
        try:
            await _check(writer, row)
        except (asyncio.CancelledError, SessionError):
            raise
        except WorkbenchError as error:
            writer.set_check(key, state="failed", problem=str(error), partial="")
        except Exception as error:
            traceback.print_exc()
            sentence = f"A bug in the workbench: {type(error).__name__}: {error}."
            writer.set_check(key, state="failed", problem=sentence, partial="")


async def _check(writer: SessionWriter, row: CheckRow) -> None:
    began = time.monotonic()
    text, root, before = await asyncio.to_thread(_ready, writer.path, row)
    page = parse_page(text, PAGE)
    progress = _CheckProgress(writer, row)
    asked = CheckOptions(
        run=bool(row.executed), seconds=row.step_seconds, last=row.rerun_block, on_progress=progress.stage
    )
    if row.rerun_block is None:  # if only one block is rerun, the earlier check stays visible
        asked = replace(asked, on_known=progress.known)
    checked = await check_pages(root, [page], asked)
    if (
        row.rerun_block is not None
        and before is not None
        and row.rerun_block < len(checked.blocks) == len(before.blocks)
    ):
        blocks = list(before.blocks)
        blocks[row.rerun_block] = checked.blocks[row.rerun_block]
        checked = replace(before, blocks=tuple(blocks), problems=checked.problems)
    with writer.transaction():
        writer.set_check(
            key_of(row),
            state="done",
            partial="",
            rerun_block=None,
            result_blob=writer.blob(to_json(checked)),
            seconds=time.monotonic() - began,
            **asdict(works(checked)),
        )


def _ready(session: Path, row: CheckRow) -> tuple[str, Path, CheckResult | None]:
    with SessionReader(session) as reader:
        trial = reader.trial(row.trial_id)
        if trial is None or trial.readme_blob is None:
            raise UsageError("The trial no longer has a README.")
        text = reader.text(trial.readme_blob)
        before = None
        if row.result_blob is not None:
            with contextlib.suppress(CheckDamaged, SessionError):
                before = from_json(reader.text(row.result_blob))
    if len(text) > LARGEST:
        raise UsageError(
            f"The README has {len(text) / 1e6:.1f} MB; READMEs of up to {LARGEST / 1e6:.0f} MB are checked."
        )
    case = resolve_case(trial.case_id)
    snapshot = kept_snapshot(case, trial.snapshot or "") or snapshot_of(case)
    if trial.snapshot and snapshot.digest != trial.snapshot:
        raise ContentChanged(
            f"The repository of {case.name} has changed since the trial, and its former content is no longer available."
        )
    return text, snapshot.root, before


class _CheckProgress:
    """Writes the partial results of a check, at most a few times a second."""

    def __init__(self, writer: SessionWriter, row: CheckRow) -> None:
        self._writer, self._key = writer, key_of(row)
        self._written_at, self._pause = 0.0, _WRITE_SECONDS

    def stage(self, line: str) -> None:
        self._writer.set_check(self._key, problem=f"{line}…")

    def known(self, checked: CheckResult) -> None:
        began = time.monotonic()
        if not checked.waiting or began - self._written_at > self._pause:
            self._writer.set_check(self._key, partial=to_json(checked))
            self._written_at = time.monotonic()
            self._pause = max(_WRITE_SECONDS, (self._written_at - began) / _WRITING_SHARE)
