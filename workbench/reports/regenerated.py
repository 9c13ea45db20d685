"""What came of a regeneration run: a cell per sample, pass@k, verdict counts, and the functions that became no task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.reports import wording
from workbench.session.reader import SessionReader
from workbench.session.rows import CandidateRow, DroppedRow, RunRow, StageRow, TaskRow, columns

if TYPE_CHECKING:
    from workbench.regeneration.passk import Estimate


@dataclass(frozen=True, slots=True)
class Line:
    """One task under one evaluator; ``counted`` samples went into pass@k, ``passed`` of them passed."""

    task: TaskRow
    evaluator: str
    candidates: tuple[CandidateRow, ...]
    counted: int
    passed: int
    pass_at: Mapping[int, float | None]

    @property
    def cells(self) -> str:
        """Return a glyph per sample: a verdict's, ▸ under way, · waiting."""
        return "".join(cell(candidate) for candidate in self.candidates)


@dataclass(frozen=True, slots=True)
class EvaluatorOutcome:
    """One evaluator over all tasks of a run; a control's pass@1 must be exactly 1 or 0."""

    name: str
    control: bool
    overall: Mapping[int, Estimate]
    verdicts: Mapping[str, int]
    unfinished: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Regenerated:
    """A regeneration run: tasks that were kept or excluded, lines per task and evaluator, what was dropped and why."""

    ks: tuple[int, ...]
    tasks: tuple[TaskRow, ...]
    lines: tuple[Line, ...]
    evaluators: tuple[EvaluatorOutcome, ...]
    stages: tuple[StageRow, ...]
    dropped: tuple[DroppedRow, ...]

    def of_task(self, task: str) -> list[Line]:
        """Return the lines of one task, controls last."""
        return [line for line in self.lines if line.task.id == task]


def cell(candidate: CandidateRow) -> str:
    """Return one glyph for a candidate."""
    if candidate.verdict is not None:
        return wording.VERDICTS.get(candidate.verdict, "?")
    return "▸" if candidate.state in {"asking", "testing"} else "·"


def counts(candidate: CandidateRow) -> bool:
    """Return whether a candidate is a sample of pass@k: tested, and not lost by an error of ours."""
    return candidate.verdict is not None and candidate.verdict != "error"


def regenerated(reader: SessionReader, run: RunRow, only_task: str | None = None) -> Regenerated:
    """Read what came of a run's tasks, samples that later runs added to them included."""
    # Imported here: reports on document runs do not need the room of regeneration.
    from workbench.regeneration.passk import pass_at_k

    tasks = [task for task in reader.tasks(run.id) if only_task in (None, task.id)]
    rows = reader.query(
        f"SELECT {columns(CandidateRow)} FROM candidates WHERE task_id IN (SELECT id FROM tasks WHERE run_id = ?) "
        "ORDER BY control, evaluator, sample",
        (run.id,),
    )
    candidates = [CandidateRow(*row) for row in rows]
    ks = _ks(run, candidates)
    groups: dict[tuple[str, str], list[CandidateRow]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.task_id, candidate.evaluator), []).append(candidate)
    evaluators = list(dict.fromkeys((row.evaluator, bool(row.control)) for row in candidates))
    lines = []
    for task in tasks:
        for evaluator, _ in evaluators:
            mine = groups.get((task.id, evaluator))
            if not mine:
                continue
            counted = sum(counts(one) for one in mine)
            passed = sum(one.verdict == "passed" for one in mine)
            at = {k: pass_at_k(counted, passed, k) for k in ks}
            lines.append(Line(task, evaluator, tuple(mine), counted, passed, at))
    return Regenerated(
        ks=ks,
        tasks=tuple(tasks),
        lines=tuple(lines),
        evaluators=tuple(_outcome(name, control, lines, ks) for name, control in evaluators),
        stages=tuple(reader.stages(run.id)),
        dropped=tuple(reader.dropped(run.id)) if only_task is None else (),
    )


def _ks(run: RunRow, candidates: Sequence[CandidateRow]) -> tuple[int, ...]:
    plan = wording.decoded(run.config)
    asked = plan.get("k") if isinstance(plan, dict) else None
    given = asked if isinstance(asked, list) else [asked]
    ks = sorted({k for k in given if isinstance(k, int) and k >= 1})
    if ks:
        return tuple(ks)
    most = max((row.sample + 1 for row in candidates if not row.control), default=1)
    return (1,) if most < 2 else (1, most)


def _outcome(name: str, control: bool, lines: Sequence[Line], ks: Sequence[int]) -> EvaluatorOutcome:
    from workbench.regeneration.passk import TaskCount, summarise

    mine = [line for line in lines if line.evaluator == name and line.task.state != "excluded"]
    samples = [one for line in mine for one in line.candidates]
    rows = [TaskCount(line.task.id, line.task.snapshot, line.task.path, line.counted, line.passed) for line in mine]
    costs = [one.cost_usd for one in samples if one.cost_usd is not None]
    return EvaluatorOutcome(
        name=name,
        control=control,
        overall=summarise(rows, ks, interval=None if control else 0.95).overall,
        verdicts=Counter(one.verdict for one in samples if one.verdict is not None),
        unfinished=sum(one.verdict is None for one in samples),
        tokens=sum((one.prompt_tokens or 0) + (one.completion_tokens or 0) for one in samples),
        cost_usd=sum(costs) if costs else None,
    )


def estimate_words(estimate: Estimate) -> str:
    """Return ``0.58 [0.41, 0.73]``, "–" where no task has k samples."""
    if estimate.value is None:
        return wording.NOTHING
    # One task has no spread to draw from; an interval of no width would look like certainty.
    if estimate.low is None or estimate.high is None or estimate.tasks < 2:
        return wording.share(estimate.value)
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def verdict_words(verdicts: Mapping[str, int]) -> str:
    """Return ``✓ passed 31 · ✗ failed 12``."""
    known = [name for name in wording.VERDICTS if verdicts.get(name)]
    others = [name for name in verdicts if name not in wording.VERDICTS]
    return " · ".join(f"{wording.verdict(name)} {verdicts[name]}" for name in [*known, *others]) or wording.NOTHING
