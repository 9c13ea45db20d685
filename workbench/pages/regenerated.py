"""What came of a regeneration run: a cell per sample, pass@k, verdict counts, and the functions that became no task.

A candidate that is being tested again has its former verdict until the new one is there: it counts, and is marked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base import glyphs
from workbench.base.text import NOTHING, share, when
from workbench.pages import wording
from workbench.results.samples import candidates_of, run_check
from workbench.session import rows
from workbench.session.groups import Group
from workbench.session.reader import SessionReader

if TYPE_CHECKING:
    from workbench.regeneration.outcome import GroupOutcome, TaskGroup, TaskResult
    from workbench.regeneration.passk import Estimate
    from workbench.regeneration.self_check import SelfCheck
    from workbench.results.failures import Diagnosis
    from workbench.session.sample_counts import SampleCount


@dataclass(frozen=True, slots=True)
class Line:
    """A task under a group."""

    task: rows.TaskRow
    group: Group
    control: bool
    candidates: tuple[rows.CandidateRow, ...]
    result: TaskResult

    @property
    def cells(self) -> str:
        """Return a glyph per sample: a verdict's, followed by ′ where it is a former one and by ≟ where it is doubtful."""
        return "".join(cell(candidate) for candidate in self.candidates)


@dataclass(frozen=True, slots=True)
class Regenerated:
    """A regeneration run.

    It has the tasks that were kept or excluded, what came of each group, a line per task and group, and what fell out;
    ``diagnosis`` says why candidates of the whole run failed, ``files`` has pass@k by file for each group.
    """

    ks: tuple[int, ...]
    tasks: tuple[rows.TaskRow, ...]
    lines: tuple[Line, ...]
    groups: tuple[GroupOutcome, ...]
    check: SelfCheck
    stages: tuple[rows.StageRow, ...]
    dropped: tuple[rows.DroppedRow, ...]
    diagnosis: Diagnosis
    files: Mapping[Group, tuple[TaskGroup, ...]]

    def of_task(self, task: str) -> list[Line]:
        """Return the lines of one task, controls last."""
        return [line for line in self.lines if line.task.id == task]

    def name(self, group: Group) -> str:
        return group.name(one.group for one in self.groups)


def cell(candidate: rows.CandidateRow) -> str:
    """Return one glyph for a candidate."""
    if candidate.verdict is not None:
        sign = glyphs.VERDICTS.get(candidate.verdict, "?")
        return sign + (glyphs.FORMER if candidate.again else "") + (glyphs.DOUBTFUL if candidate.doubtful else "")
    return glyphs.RUNNING if candidate.state in {"asking", "testing"} else glyphs.WAITING


def stands_words(candidate: rows.CandidateRow) -> str:
    if candidate.verdict is None:
        return wording.state(candidate.state)
    said = wording.verdict(candidate.verdict) + (f", {wording.FORMER_WORDS}" if candidate.again else "")
    return said + (f", doubtful, not plain: {candidate.doubtful}" if candidate.doubtful else "")


def former_words(former: rows.FormerVerdictRow) -> str:
    """Return a replaced verdict in a line: ``✗ failed on 2026-11-22 16:20 UTC, hot, 0.03 s: 1 of 14 tests failed.``."""
    told = [f"{wording.verdict(former.verdict)} on {when(former.at)}"]
    told += [former.route] if former.route else []
    told += [f"{former.tested_s:.2f} s"] if former.tested_s is not None else []
    return ", ".join(told) + (f": {former.verdict_reason}" if former.verdict_reason else "")


def former_failing(reader: SessionReader, former: rows.FormerVerdictRow) -> list[rows.FailingTestRow]:
    listed = wording.decoded(reader.text(former.failing_blob)) if former.failing_blob else []
    if not isinstance(listed, list):
        return []
    return [
        rows.FailingTestRow(former.candidate_id, *test) for test in listed if isinstance(test, list) and len(test) == 4
    ]


def regenerated(reader: SessionReader, run: rows.RunRow, only_task: str | None = None) -> Regenerated:
    """Read what came of a run's tasks, samples that later runs added to them included."""
    # Imported here: reports on document runs do not need the room of regeneration.
    from workbench.regeneration.outcome import group_outcomes, ks_of, pass_by, task_result
    from workbench.results.failures import diagnose
    from workbench.session.sample_counts import counts_of, group_of, sample_counts

    every = reader.tasks(run.id)
    tasks = [task for task in every if only_task in (None, task.id)]
    known = {task.id: task for task in tasks}
    ks = ks_of(run.plan)
    counts = sample_counts(reader, run.id, by_task=True)
    live = reader.run_state(run) in ("queued", "running")
    groups = group_outcomes(counts, every, ks, now=time.time() if live else None)
    found: dict[tuple[str, bool, Group], list[rows.CandidateRow]] = {}
    for candidate in candidates_of(reader, run.id):
        if candidate.task_id in known:
            group = group_of(candidate, known[candidate.task_id])
            found.setdefault((candidate.task_id, bool(candidate.control), group), []).append(candidate)
    order = {(one.control, one.group): place for place, one in enumerate(groups)}
    singles: dict[tuple[str, bool, Group], list[SampleCount]] = {}
    for one in counts_of(reader, (candidate for mine in found.values() for candidate in mine)):
        singles.setdefault((one.task, one.control, one.group), []).append(one)
    lines = [
        Line(known[key[0]], key[2], key[1], tuple(mine), task_result(known[key[0]], singles[key]))
        for key, mine in found.items()
    ]
    asked = {one.group: one.results for one in groups if not one.control}
    places = {task.id: place for place, task in enumerate(tasks)}
    lines.sort(key=lambda line: (places[line.task.id], order[line.control, line.group]))
    return Regenerated(
        ks=ks,
        tasks=tuple(tasks),
        lines=tuple(lines),
        groups=groups,
        check=run_check(reader, run.id, counts, len(every)),
        stages=tuple(reader.stages(run.id)),
        dropped=tuple(reader.dropped(run.id)) if only_task is None else (),
        diagnosis=diagnose(reader, run.id, asked),
        files={group: pass_by([(one.file, one) for one in results], ks) for group, results in asked.items()},
    )


def estimate_words(estimate: Estimate) -> str:
    """Return ``0.58 [0.41, 0.73] over 12 files``, "–" where no task has k samples."""
    if estimate.value is None:
        return NOTHING
    if estimate.interval is None or estimate.low is None or estimate.high is None:
        return share(estimate.value)
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}] {estimate.interval.over}"


def interval_notes(outcome: Regenerated) -> list[str]:
    """Return by which rule and unit the intervals of a run are, or why there is none: a sentence for each different one."""
    said = [
        estimate.interval.words
        for group in outcome.groups
        for estimate in group.figures.pass_at
        if estimate.interval is not None and estimate.value is not None
    ]
    return list(dict.fromkeys(said))


def verdict_words(verdicts: Mapping[str, int]) -> str:
    """Return ``✓ passed 31 · ✗ failed 12``."""
    known = [name for name in glyphs.VERDICTS if verdicts.get(name)]
    others = [name for name in verdicts if name not in glyphs.VERDICTS]
    return " · ".join(f"{wording.verdict(name)} {verdicts[name]}" for name in [*known, *others]) or NOTHING
