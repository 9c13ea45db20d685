"""Building repositories of the catalogue anew, with both controls on every task; the result is a record."""

from __future__ import annotations

import asyncio
import platform
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workbench import __version__, settings
from workbench.catalog.records import Record, write_record
from workbench.catalog.repositories import Repository
from workbench.commands.output import print_json, say, tell
from workbench.engine import client, launching
from workbench.engine.plan import RegenerationPlan
from workbench.engine.regeneration_client import plan_regeneration
from workbench.engine.task_building import Prepared, dropped_by_stage, prepare
from workbench.errors import WorkbenchError
from workbench.regeneration.tasks import is_skipped
from workbench.repository.functions import find_functions
from workbench.sandbox import choose_backend
from workbench.session import SessionReader
from workbench.session.groups import CONTROLS
from workbench.session.task_names import row_id
from workbench.session.verdict_counts import is_counted
from workbench.text import one_line


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found: the counts, and a sentence for each control whose verdict is not what it should be."""

    record: Record
    wrong: tuple[str, ...]


def check(entries: Sequence[Repository], sandbox: str, recorded: bool, folder: Path | None, as_json: bool) -> int:
    """Check one repository after another; what cannot be built is told, and the others go on.

    Counts are written into ``folder`` if they are ``recorded``, by default among the user's own records. Returns 0 if
    ``reference`` passes and ``stub`` fails on every task of every repository, else 1.
    """
    failures = 0
    for entry in entries:
        try:
            checked = check_one(entry, sandbox)
        except WorkbenchError as error:
            failures += 1
            if as_json:
                print_json({"type": "error", "repository": entry.repository, "sentence": str(error)})
            tell(f"workbench: {entry.repository}: {error}")
            continue
        failures += bool(checked.wrong)
        place = write_record(entry, checked.record, folder) if recorded else None
        if as_json:
            print_json({"type": "record", **checked.record.to_json(), "wrong": checked.wrong})
        else:
            _print(checked, place)
    if as_json:
        print_json({"type": "summary", "checked": len(entries) - failures, "failed": failures})
    return 1 if failures else 0


def check_one(entry: Repository, sandbox: str = "") -> Checked:
    backend = choose_backend(sandbox or settings.load().sandbox or None)
    began = time.monotonic()
    prepared = asyncio.run(prepare(entry.repository, backend, _Lines(entry.name), rebuild=True))
    built = time.monotonic()
    outcomes = _controls(entry, backend.name)
    ended = time.monotonic()
    names = [task.id for task in prepared.built.tasks]
    wrong = [
        f"{control} {verdict or 'has no verdict'} on {name}"
        for control, right in (("reference", True), ("stub", False))
        for name in names
        if not is_counted(verdict := outcomes.get((control, name), "")) or (verdict == "passed") != right
    ]
    passed = {control: sum(outcomes.get((control, name)) == "passed" for name in names) for control in CONTROLS}
    seconds = {"tasks": round(built - began, 1), "controls": round(ended - built, 1)}
    return Checked(_record(entry, prepared, backend.name, passed, seconds), tuple(wrong))


def _controls(entry: Repository, sandbox: str) -> dict[tuple[str, str], str]:
    plan = RegenerationPlan(source=entry.repository, evaluator="reference", samples=1, sandbox=sandbox)
    with tempfile.TemporaryDirectory(prefix="workbench-check-") as folder:
        session = Path(folder) / "check.session"
        run = plan_regeneration(session, plan)
        process = launching.launch(session, run)
        assert process is not None, "an engine that was not warm is a process of its own"
        tell(f"{entry.name}: controls on every task")
        try:
            process.wait()
        except BaseException:
            client.cancel(session, run)
            process.wait()
            raise
        with SessionReader(session) as reader:
            row = reader.run(run)
            if row is not None and row.error:
                raise WorkbenchError(row.error)
            tasks = {task.id: row_id(task) for task in reader.tasks(run)}
            return {
                (one.evaluator, tasks[one.task_id]): one.verdict or ""
                for one in reader.candidates(run)
                if one.evaluator in CONTROLS and one.sample == 0
            }


def _record(
    entry: Repository, prepared: Prepared, sandbox: str, passed: dict[str, int], seconds: dict[str, float]
) -> Record:
    built, root = prepared.built, prepared.snapshot.root
    every = sum(
        len(find_functions((root / file.path).read_bytes(), file.path))
        for file in prepared.snapshot.files
        if file.path.endswith(".py")
    )
    functions = len(built.tasks) + len(built.dropped)
    unusable = {**built.failing, **built.taken_out, **built.not_collected}
    return Record(
        repository=entry.repository,
        source=prepared.snapshot.source,
        snapshot=prepared.snapshot.digest,
        functions=functions,
        other_functions=every - functions,
        traced=built.stages["trace"],
        in_time=built.stages["time"],
        tasks=len(built.tasks),
        dropped=dropped_by_stage(built),
        stable=built.stable,
        unstable={test: ", ".join(outcomes) for test, outcomes in built.unstable.items()},
        failing={test: _first_line(why) for test, why in unusable.items() if not is_skipped(why)},
        skipped={test: _first_line(why) for test, why in unusable.items() if is_skipped(why)},
        reference=passed["reference"],
        stub=passed["stub"],
        seconds=seconds,
        date=datetime.now(UTC).date().isoformat(),
        python=platform.python_version(),
        sandbox=sandbox,
        workbench=__version__,
    )


def _first_line(text: str) -> str:
    return one_line(text, 160)


class _Lines:
    def __init__(self, name: str) -> None:
        self._name = name

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        if state != "running" and note:
            tell(f"{self._name}: {name} {state}  {note}".rstrip())


def _print(checked: Checked, place: Path | None) -> None:
    record = checked.record
    tests = f"{record.stable} stable tests" + (f", {record.unusable} not usable" if record.unusable else "")
    say(
        f"{record.repository}  {record.tasks} tasks of {record.functions} functions ({record.traced} traced, "
        f"{record.in_time} in time) · {tests} · reference {record.reference}/{record.tasks} · "
        f"stub {record.stub}/{record.tasks} · {record.seconds['tasks']:.0f} + {record.seconds['controls']:.0f} s · "
        f"{record.sandbox}",
        flush=True,
    )
    for sentence in checked.wrong:
        say(f"  ! {sentence}", flush=True)
    if place is not None:
        say(f"  written: {place}", flush=True)
