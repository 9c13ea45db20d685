"""When an order is work that a session has already: which options change what a result means, and which do not.

An option of the first kind is part of an identity, so the order is new work beside the old. One of the second kind finds the
results that exist; they are shown, and only what is missing is done.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from workbench.engine.plan import PlanDamaged, RegenerationPlan
from workbench.engine.selection import row_id
from workbench.errors import UsageError, WorkbenchError
from workbench.session import SessionReader
from workbench.session.rows import RunRow


class Counts(Enum):
    """What another value of an option makes of an order."""

    RUN = "another run beside the first"
    TASK = "tasks that differ become new ones in the same run"
    CANDIDATE = "further candidates in the same run"
    NOTHING = "the results that exist are shown"


#: Field of :class:`RegenerationPlan` -> what another value of it makes of an order into the same session.
OPTIONS: dict[str, Counts] = {
    "source": Counts.RUN,
    "docs": Counts.RUN,
    "docs_scope": Counts.RUN,
    "selection": Counts.RUN,
    "sandbox": Counts.RUN,
    "rebuild": Counts.TASK,
    "evaluator": Counts.CANDIDATE,
    "prompt": Counts.CANDIDATE,
    "context": Counts.CANDIDATE,
    "extra_body": Counts.CANDIDATE,
    "samples": Counts.CANDIDATE,
    "tasks": Counts.CANDIDATE,
    "limit": Counts.CANDIDATE,
    "controls": Counts.NOTHING,
    "k": Counts.NOTHING,
    "engine": Counts.NOTHING,
    "spend_limit": Counts.NOTHING,
}
#: Fields that are called otherwise on the command line.
_NAMED = {"source": "SOURCE", "tasks": "--task", "controls": "--no-controls"}


def options_help() -> str:
    """Return the table of :data:`OPTIONS` as it stands below the command's help."""
    lines = ["ordered again into a session that has the work already, another value of"]
    for counts in Counts:
        names = [_NAMED.get(name, f"--{name.replace('_', '-')}") for name, kind in OPTIONS.items() if kind is counts]
        lines.append(f"  {', '.join(names)}\n      {counts.value}")
    lines.append("Test again what has its verdict: workbench rerun SESSION '*'.")
    return "\n".join(lines)


def is_same_work(run: RunRow, plan: RegenerationPlan) -> bool:
    """Return whether a run is the one that an order continues: same content, doc system, scope of its docs, selection and sandbox.

    A sandbox that is not named is that of the run, and content that is not known yet is that of its source.
    """
    if run.kind != "regenerate":
        return False
    try:
        old = RegenerationPlan.from_json(run.config)
    except PlanDamaged:
        return False
    if (old.docs, old.docs_scope, old.selection) != (plan.docs, plan.docs_scope, plan.selection) or (
        plan.sandbox and plan.sandbox != old.sandbox
    ):
        return False
    known = bool(old.snapshot and plan.snapshot)
    if known and old.snapshot != plan.snapshot:
        return False
    return old.source == plan.source or (known and _settings(old.source) == _settings(plan.source) is not None)


def _settings(source: str) -> tuple[object, ...] | None:
    from workbench.catalog import resolve_case

    try:
        case = resolve_case(source)
    except WorkbenchError:
        return None
    return (case.install, case.test)


def check_samples(session: Path, plan: RegenerationPlan) -> None:
    """Refuse a samples file that says something else than when its answers were tested: one name never stands for two.

    Raises:
        UsageError: An answer that was tested is another one now, or gone. Further answers are welcome.
    """
    from workbench.engine.samples import read_samples

    if not plan.evaluator.startswith("samples:") or not session.exists():
        return
    path = Path(plan.evaluator.removeprefix("samples:"))
    now: dict[str, list[str]] = {}
    for sample in read_samples(path):
        now.setdefault(sample.task, []).append(sample.text)
    with SessionReader(session) as reader:
        for run in reader.every_run():
            if not is_same_work(run, plan):
                continue
            names = {task.id: row_id(task) for task in reader.tasks(run.id) if task.state != "excluded"}
            for row in reader.candidates(run.id):
                if row.evaluator != plan.evaluator or row.answer_blob is None or row.task_id not in names:
                    continue
                lines = [*now.get(names[row.task_id], ()), *now.get(row.task_id, ())]
                if lines[row.sample : row.sample + 1] != [reader.text(row.answer_blob)]:
                    raise UsageError(
                        f"{path.name} says something else for {names[row.task_id]}, sample {row.sample}, than when it was "
                        "tested in this session; put other answers into a file of their own."
                    )
