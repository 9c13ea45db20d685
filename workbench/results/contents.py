"""The contents of a session for reports: runs, trials, and tasks with their candidates.

A candidate that is being retested counts by its previous verdict and is marked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.base import glyphs
from workbench.base.text import decoded, percent
from workbench.grounding.exploration import WHOLE
from workbench.results.check_summary import check_summaries
from workbench.results.forks import below_parents
from workbench.results.items import WorkItem, all_items, short_ids
from workbench.results.samples import candidates_of, run_check
from workbench.results.scores import ImportedScore, agreement_of, card_of, imported_scores, totals_of
from workbench.results.spread import Agreement, ScoreSpread, Total, spreads
from workbench.session.groups import Group
from workbench.session.labels import in_words, labels_by_part, part_in_words
from workbench.session.pending_work import is_rescored, trial_problem
from workbench.session.reader import SessionReader
from workbench.session.rows import (
    AnnotationRow,
    CandidateRow,
    DroppedRow,
    FailingTestRow,
    FormerVerdictRow,
    LabelRow,
    RunRow,
    ScoreRow,
    StageRow,
    TaskRow,
    TrialRow,
)

if TYPE_CHECKING:
    from workbench.regeneration.outcome import GroupOutcome, TaskGroup, TaskResult
    from workbench.regeneration.self_check import SelfCheck
    from workbench.results.check_summary import CheckSummary
    from workbench.results.failures import Diagnosis
    from workbench.results.usage import UsageResults
    from workbench.rubric.scorecard import TierScore
    from workbench.session.sample_counts import SampleCount


@dataclass(frozen=True, slots=True)
class TaskGroupLine:
    """A task in one group."""

    task: TaskRow
    group: Group
    control: bool
    candidates: tuple[CandidateRow, ...]
    result: TaskResult

    @property
    def cells(self) -> str:
        """Return a glyph per sample: that of its verdict, with ′ if it is being retested or ≟ if it is doubtful."""
        return "".join(map(cell, self.candidates))


@dataclass(frozen=True, slots=True)
class Regenerated:
    """A regeneration run.

    It contains the ready and excluded tasks, figures by group, a line per task and group, and the dropped functions;
    ``diagnosis`` says why candidates failed, and ``files`` has pass@k by file for each group.
    """

    ks: tuple[int, ...]
    tasks: tuple[TaskRow, ...]
    lines: tuple[TaskGroupLine, ...]
    groups: tuple[GroupOutcome, ...]
    check: SelfCheck
    stages: tuple[StageRow, ...]
    dropped: tuple[DroppedRow, ...]
    diagnosis: Diagnosis
    files: Mapping[Group, tuple[TaskGroup, ...]]

    def of_task(self, task: str) -> list[TaskGroupLine]:
        """Return the lines of one task, with controls last."""
        return [line for line in self.lines if line.task.id == task]

    def name(self, group: Group) -> str:
        return group.name(one.group for one in self.groups)


def cell(candidate: CandidateRow) -> str:
    """Return a glyph for a candidate."""
    if candidate.verdict is not None:
        sign = glyphs.VERDICTS.get(candidate.verdict, "?")
        return sign + (glyphs.FORMER if candidate.retesting else "") + (glyphs.DOUBTFUL if candidate.doubtful else "")
    return glyphs.RUNNING if candidate.state in {"asking", "testing"} else glyphs.WAITING


PREFERRED_RUBRIC = "aeo-bench"


@dataclass(frozen=True, slots=True)
class Run:
    """A run with its displayed state.

    ``regenerated`` is None for a document run, and ``usage`` is None except for usage runs.
    """

    row: RunRow
    state: str
    items: int
    regenerated: Regenerated | None
    usage: UsageResults | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial with its scores, starting with the preferred rubric.

    The row's state is the displayed one: ``unscored`` if a judge failed, with the reason in ``problem``.
    ``content_suffix`` distinguishes its content if another trial of the same name has different content. ``given`` is
    the part of the first score that the answer's format earned, or None if the answer's format was free. ``tiers`` has
    the totals of the first scorecard by tier and is empty if that cannot be read. ``works`` summarises the check of its
    README, or is None if there was none.
    """

    row: TrialRow
    scores: tuple[ScoreRow, ...]
    problem: str = ""
    content_suffix: str = ""
    given: float | None = None
    tiers: Mapping[int, TierScore] = field(default_factory=dict)
    works: CheckSummary | None = None
    imported_scores: tuple[ImportedScore, ...] = ()

    @property
    def main(self) -> ScoreRow | None:
        return self.scores[0] if self.scores else None

    def score(self, judged: tuple[str, str]) -> ScoreRow | None:
        return next((score for score in self.scores if (score.rubric, score.judge) == judged), None)


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that a report needs, except long texts, which are read only while the report is written.

    ``archived`` is the number of archived runs. These are left out, with everything that belongs to them.
    """

    name: str
    created_at: str | None
    created_by: str
    file: str
    runs: tuple[Run, ...]
    trials: tuple[Trial, ...]
    judged: tuple[tuple[str, str], ...]
    spread: tuple[ScoreSpread, ...]
    annotations: tuple[AnnotationRow, ...]
    short: dict[str, str]
    item: WorkItem | None = None
    agreement: tuple[Agreement, ...] = ()
    archived: int = 0
    labels: tuple[LabelRow, ...] = ()
    totals: Mapping[tuple[str, str, str], Total] = field(default_factory=dict)

    def total(self, trial: Trial, judged: tuple[str, str]) -> Total:
        return self.totals.get((trial.row.id, *judged), Total())

    @property
    def regenerations(self) -> tuple[tuple[Run, Regenerated], ...]:
        return tuple((run, run.regenerated) for run in self.runs if run.regenerated is not None)

    def tags(self, item: str) -> str:
        """Return the star and tags of a whole item, or "" if it has none."""
        return in_words(label.label for label in self.labels if (label.item, label.part) == (item, ""))

    def all_tags(self, item: str) -> str:
        parts = labels_by_part(label for label in self.labels if label.item == item)
        return "; ".join(
            f"{part_in_words(part)}: {in_words(parts[part])}" if part else in_words(parts[part]) for part in parts
        )

    def remarks(self, item: str) -> list[AnnotationRow]:
        return [remark for remark in self.annotations if remark.item == item]


def read_contents(reader: SessionReader, item: WorkItem | None = None) -> Contents:
    meta = reader.meta()
    every: dict[str, list[ScoreRow]] = {}
    for score in sorted(reader.scores(), key=lambda row: (row.rubric != PREFERRED_RUBRIC, row.rubric, row.judge)):
        every.setdefault(score.trial_id, []).append(score)
    wanted_trial, wanted_task = _wanted(reader, item)
    rows = [row for row in reader.trials() if item is None or row.id == wanted_trial]
    order = below_parents([row.id for row in rows], [row.parent for row in rows])
    works = check_summaries(reader, wanted_trial)
    trials = tuple(
        _trial(reader, rows[place], tuple(every.get(rows[place].id, ())), works.get(rows[place].id)) for place in order
    )
    totals = totals_of(reader, [score for trial in trials for score in trial.scores])
    judged: dict[tuple[str, str], None] = {}
    for trial in trials:
        judged |= {(score.rubric, score.judge): None for score in trial.scores}
    kept_runs = {trial.row.run_id for trial in trials}
    runs = []
    for row in reader.runs():
        outcome = regenerated(reader, row, wanted_task) if row.has_candidates else None
        if item is not None and row.id not in kept_runs and not (outcome and outcome.tasks):
            continue
        items = len(outcome.tasks) if outcome else _trials_of(row, trials)
        runs.append(Run(row, reader.run_state(row), items, outcome, _usage(reader, row)))
    return Contents(
        name=meta.get("name") or reader.path.stem,
        created_at=meta.get("created_at"),
        created_by=meta.get("created_by", ""),
        file=reader.path.name,
        runs=tuple(runs),
        trials=trials,
        judged=tuple(sorted(judged, key=lambda pair: (pair[0] != PREFERRED_RUBRIC, *pair))),
        spread=tuple(spreads([(trial.row, trial.scores) for trial in trials], totals)),
        annotations=tuple(reader.annotations()),
        short=dict(short_ids(all_items(reader))),
        item=item,
        agreement=agreement_of(reader, [trial.scores for trial in trials]),
        labels=tuple(reader.labels()),
        archived=sum(row.archived_at is not None for row in reader.all_runs()),
        totals=totals,
    )


def former_failing(reader: SessionReader, former: FormerVerdictRow) -> list[FailingTestRow]:
    listed = decoded(reader.text(former.failing_blob)) if former.failing_blob else []
    if not isinstance(listed, list):
        return []
    return [FailingTestRow(former.candidate_id, *test) for test in listed if isinstance(test, list) and len(test) == 4]


def regenerated(reader: SessionReader, run: RunRow, only_task: str | None = None) -> Regenerated:
    """Read the tasks of a run with their candidates, including samples added by later runs."""
    # Imported here because reports on document runs do not need the memory for regeneration.
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
    found: dict[tuple[str, bool, Group], list[CandidateRow]] = {}
    for candidate in candidates_of(reader, run.id):
        if candidate.task_id in known:
            group = group_of(candidate, known[candidate.task_id])
            found.setdefault((candidate.task_id, bool(candidate.control), group), []).append(candidate)
    order = {(one.control, one.group): place for place, one in enumerate(groups)}
    singles: dict[tuple[str, bool, Group], list[SampleCount]] = {}
    for one in counts_of(reader, (candidate for mine in found.values() for candidate in mine)):
        singles.setdefault((one.task, one.control, one.group), []).append(one)
    lines = [
        TaskGroupLine(known[key[0]], key[2], key[1], tuple(mine), task_result(known[key[0]], singles[key]))
        for key, mine in found.items()
    ]
    by_group = {one.group: one.results for one in groups if not one.control}
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
        diagnosis=diagnose(reader, run.id, by_group),
        files={group: pass_by([(one.file, one) for one in results], ks) for group, results in by_group.items()},
    )


def _usage(reader: SessionReader, run: RunRow) -> UsageResults | None:
    if run.kind != "usage":
        return None
    from workbench.results.usage import UsageResults

    return UsageResults.read(reader, run)


def _trials_of(run: RunRow, trials: Sequence[Trial]) -> int:
    if is_rescored(run):
        listed = run.plan["trials"]
        return len(listed) if isinstance(listed, list) else 0
    return sum(trial.row.run_id == run.id for trial in trials)


def _trial(reader: SessionReader, row: TrialRow, scores: tuple[ScoreRow, ...], works: CheckSummary | None) -> Trial:
    problem = trial_problem(reader, row)
    card = card_of(reader, scores[0]) if scores else None
    return Trial(
        replace(row, state="unscored") if problem else row,
        scores,
        problem,
        reader.content_suffix(row),
        card.given if card else None,
        card.tiers if card else {},
        works,
        imported_scores(reader, row.id),
    )


def _wanted(reader: SessionReader, item: WorkItem | None) -> tuple[str | None, str | None]:
    if item is None:
        return None, None
    if item.kind == "candidate":
        candidate = reader.candidate(item.id)
        return None, candidate.task_id if candidate else item.id
    return (item.id, None) if item.kind == "trial" else (None, item.id)


def accessed_files_words(reader: SessionReader, trial: TrialRow) -> str:
    """Return how much of the repository the agent read, or "" if unknown."""
    if not trial.snapshot:
        return ""
    sizes = dict(reader.files_of(trial.snapshot))
    if not sizes:
        return ""
    # Only the bytes shown to the agent count, so a truncated file counts as partly read.
    read = {
        row.path: min(row.size, sizes[row.path])
        for row in reader.accessed_files(trial.id)
        if row.access == "read" and row.path in sizes
    }
    total = sum(sizes.values())
    partly = sum(shown < WHOLE * sizes[path] for path, shown in read.items())
    cut = f", {partly:,} of them in part" if partly else ""
    part = f", {percent(sum(read.values()) / total)} of the bytes" if total else ""
    return f"read {len(read)} of {len(sizes)} files{cut}{part}"


def tier_points(score: ScoreRow | None) -> Sequence[float | None]:
    return (None,) * 4 if score is None else (score.tier1, score.tier2, score.tier3, score.tier4)
