"""The state of a regeneration run: totals, rate, evaluators, self-check, and exclusions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.text import one_line
from workbench.results.samples import ErrorReason, error_reasons, run_check
from workbench.results.tasks import dropped_stages, task_states
from workbench.session.groups import SOURCES, WITHOUT, Group
from workbench.session.rows import DroppedRow, RunRow, StageRow, TaskRow, UnusedTestRow

if TYPE_CHECKING:
    from workbench.regeneration.outcome import GroupTotals
    from workbench.regeneration.self_check import SelfCheck
    from workbench.session.reader import SessionReader
    from workbench.session.sample_counts import SampleCount

RATE_SECONDS = (10.0, 120.0)
"""Time windows for the rate, in seconds; the longer one is used if the shorter contains few verdicts."""
_ENOUGH = 20
PASSED = {
    "parse": "file parses",
    "body": "no stub already",
    "trace": "has stable tests",
    "time": "tests within 10 s",
    "original": "original passes",
    "stub": "stub fails",
    "documentation": "documented",
}
"""Labels for the functions left after each stage of task building, in order."""
USABLE = {
    "literal": "calls are literals",
    "calls": "three calls differ",
    "results": "two results differ",
    "limit": "within the limit",
    "replay": "replays agree",
    "original": "reference passes",
}
"""Labels for the callables left after each stage of a usage run, in order."""
_Ask = tuple[str, str, str]  # (evaluator, prompt, context)


@dataclass(frozen=True, slots=True)
class EvaluatorProgress:
    """The progress of one group of a run: ``decided`` of ``total`` samples have a verdict."""

    evaluator: str
    name: str  # distinguishes the group from others of this evaluator
    group: Group | None = None  # None if requested but without samples yet
    decided: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as currently recorded in the file, without its tasks."""

    run: RunRow
    state: str
    plan: Mapping[str, Any]
    order: tuple[str, ...]  # the session's regeneration runs
    groups: tuple[Group, ...]  # groups with samples
    group: Group
    totals: GroupTotals  # totals over the samples of ``group``
    stages: tuple[StageRow, ...]
    tasks: int
    excluded: int
    dropped: int
    rate: float  # samples per second
    sandboxes: tuple[str, ...]
    weaknesses: tuple[str, ...]
    check: SelfCheck
    reasons: tuple[ErrorReason, ...] = ()  # why samples of ``group`` have no verdict
    progress: tuple[EvaluatorProgress, ...] = ()  # progress of ``groups`` and of groups without samples yet

    @property
    def evaluator(self) -> str:
        return self.group.evaluator

    @property
    def usage(self) -> bool:
        return self.run.kind == "usage"

    @property
    def has_steps(self) -> bool:
        """Whether a reader agent wrote the samples of ``group``, each with a trajectory of the same id."""
        from workbench.usage.reader_agent import steps_of

        return self.usage and steps_of(self.group.prompt) is not None

    def name_of(self, group: Group) -> str:
        return group.name(self.groups)

    @property
    def live(self) -> bool:
        return self.state in {"queued", "running"}

    @property
    def permanent_failure(self) -> bool:
        """Whether the run failed in a way that resuming cannot fix."""
        return self.state == "failed" and self.plan.get("permanent_failure") is True

    @property
    def building(self) -> bool:
        return self.live and not self.totals.samples

    @property
    def ks(self) -> tuple[int, ...]:
        """The requested values of k for pass@k, at most three."""
        from workbench.regeneration.outcome import ks_of

        return ks_of(self.plan)[:3]

    @property
    def samples(self) -> int:
        """The requested number of samples per task (m)."""
        mine = [ask for ask in _asks(self.plan) if ask.get("evaluator") == self.evaluator]
        exact = [ask for ask in mine if _key(ask)[1:] == (self.group.prompt, self.group.context)]
        wanted = [ask.get("samples") for ask in exact or mine] or [self.plan.get("samples")]
        return max((m for m in wanted if isinstance(m, int)), default=0)


@dataclass(frozen=True, slots=True)
class Excluded:
    """Functions that became no task, tasks that a control excluded, and quarantined tests."""

    dropped: tuple[DroppedRow, ...]
    taken_out: tuple[TaskRow, ...]
    unused: tuple[UnusedTestRow, ...] = ()


NONE_EXCLUDED = Excluded((), ())


def load_excluded(reader: SessionReader, run_id: str) -> Excluded:
    taken_out = tuple(task for task in reader.tasks(run_id) if task.state == "excluded")
    order = {stage: place for place, stage in enumerate((*PASSED, *USABLE))}
    dropped = sorted(reader.dropped(run_id), key=lambda row: (order.get(row.stage, len(order)), row.stage))
    return Excluded(tuple(dropped), taken_out, tuple(reader.unused_tests(run_id)))


def load_view(reader: SessionReader, run_id: str, group: Group | None = None, evaluator: str = "") -> RunView | None:
    """Read the state of a run; by default it shows ``evaluator``'s newest group, or the newest group of all."""
    from workbench.regeneration.outcome import totals
    from workbench.session.sample_counts import sample_counts

    run = reader.run(run_id)
    if run is None:
        return None
    plan, state, now = run.plan, reader.run_state(run), time.time()
    live = state in {"queued", "running"}
    counts = sample_counts(reader, run_id, since=(now - RATE_SECONDS[0], now - RATE_SECONDS[1]))
    progress = progress_of(counts, plan)
    groups = tuple(one.group for one in progress if one.group is not None)
    if group not in groups:
        wanted = evaluator or (group.evaluator if group is not None else "")
        group = _shown_first(counts, wanted, live=live) or _asked_for(plan)
    mine = [row for row in counts if row.group == group and not row.control]
    tasks = task_states(reader, run_id)
    sums = totals(mine, now=now if live else None)
    sandboxes, weaknesses = _sandboxes(counts, plan)
    return RunView(
        run=run,
        state=state,
        plan=plan,
        order=tuple(run.id for run in reader.runs() if run.has_candidates),
        groups=groups,
        group=group,
        totals=sums,
        stages=tuple(reader.stages(run_id)),
        tasks=tasks.total(),
        excluded=tasks["excluded"],
        dropped=dropped_stages(reader, run_id).total(),
        rate=_rate(mine, now) if state == "running" else 0.0,
        sandboxes=sandboxes,
        weaknesses=weaknesses,
        check=run_check(reader, run_id, counts, tasks.total()),
        reasons=error_reasons(reader, run_id, group) if sums.verdicts.get("error") else (),
        progress=progress,
    )


def progress_of(counts: Iterable[SampleCount], plan: Mapping[str, Any]) -> tuple[EvaluatorProgress, ...]:
    """Return the progress of every group except controls, in the order of the requests."""
    sums: dict[Group, list[int]] = {}
    for row in counts:
        if not row.control:
            mine = sums.setdefault(row.group, [0, 0])
            if not row.excluded:
                mine[0] += row.count if row.verdict else 0
                mine[1] += row.count
    asks = [ask for ask in dict.fromkeys(map(_key, _asks(plan))) if ask[0]]
    fitting = {ask: [group for group in sums if _fits(group, ask)] for ask in asks}
    places = {group: place for place, ask in reversed(list(enumerate(asks))) for group in fitting[ask]}
    rows = [
        (places.get(group, len(asks)), EvaluatorProgress(group.evaluator, group.name(sums), group, *sums[group]))
        for group in sorted(sums)
    ]
    rows += [(place, EvaluatorProgress(ask[0], ask[0])) for place, ask in enumerate(asks) if not fitting[ask]]
    return tuple(row for _, row in sorted(rows, key=lambda one: one[0]))


def _asks(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = plan.get("asks")
    return [ask for ask in listed if isinstance(ask, dict)] if isinstance(listed, list) else []


def _key(ask: Mapping[str, Any]) -> _Ask:
    return str(ask.get("evaluator") or ""), str(ask.get("prompt") or ""), str(ask.get("context") or "")


def _fits(group: Group, ask: _Ask) -> bool:
    # Samples in older files may lack a prompt and context.
    of = group.prompt, group.context
    return group.evaluator == ask[0] and (of == ask[1:] or ("", "") in (of, ask[1:]))


def _shown_first(counts: Sequence[SampleCount], evaluator: str, *, live: bool) -> Group | None:
    """Return the group with the most samples, or the newest samples during a run, preferring those of ``evaluator``."""
    every = [row for row in counts if not row.control]
    requested = [row for row in every if row.group.context not in (WITHOUT, SOURCES)] or every
    samples: Counter[Group] = Counter()
    newest: dict[Group, int] = {}
    for row in [row for row in requested if row.group.evaluator == evaluator] or requested:
        samples[row.group] += row.count
        newest[row.group] = max(newest.get(row.group, 0), row.newest)
    return max(samples, key=lambda one: (0 if live else samples[one], newest[one], one), default=None)


def _asked_for(plan: Mapping[str, Any]) -> Group:
    docs, evaluator = (value if isinstance(value, str) else "" for value in (plan.get("docs"), plan.get("evaluator")))
    return Group(docs, evaluator, docs_scope=str(plan.get("docs_scope") or "target"))


def _rate(mine: Sequence[SampleCount], now: float) -> float:
    """Return the samples per second over the last seconds.

    The time before the first of these samples is excluded, because the run may have been paused.
    """
    tested = [row for row in mine if row.verdict and row.first_recent is not None]
    if not tested:
        return 0.0
    begun = min(row.first_recent or now for row in tested)
    short, long = (sum(row.recent[place] for row in tested) for place in (0, 1))
    enough = short >= _ENOUGH
    return (short if enough else long) / max(min(RATE_SECONDS[0 if enough else 1], now - begun), 0.5)


def _sandboxes(counts: Sequence[SampleCount], plan: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the back ends that produced verdicts (without verdicts, the selected back end), and their weaknesses.

    The weaknesses of a plug-in back end were recorded when the run used it.
    """
    from workbench.sandbox.choose import weaknesses_of

    used = {name for row in counts for name in row.backends} or {str(plan.get("sandbox") or "")}
    names = tuple(sorted(filter(None, (one_line(name, 40) for name in used))))
    declared = plan.get("weaknesses")
    recorded = [one_line(str(weak), 40) for weak in declared] if isinstance(declared, list) else []
    return names, weaknesses_of(names, str(plan.get("sandbox") or ""), recorded)


# -- number of functions and tests left


FOUND, UNDECIDED, ASKED, EXCLUDED = "found", "undecided", "asked", "control"
"""Keys of counts that do not belong to a stage."""
TESTS = "tests:"
"""Prefix of the keys of quarantined-test counts."""


@dataclass(frozen=True, slots=True)
class Count:
    """A row of the table: ``left`` functions passed this stage and ``dropped`` did not; None means unknown."""

    key: str
    title: str
    left: int | None
    dropped: int | None = None


def counts(
    stages: Sequence[StageRow],
    dropped: Mapping[str, int],
    tasks: int,
    excluded: int,
    *,
    live: bool,
    usage: bool = False,
) -> list[Count]:
    """Return the counts at every stage; ``excluded`` of the ``tasks`` were removed by a control."""
    titles = USABLE if usage else PASSED
    always = tuple(stage for stage in titles if stage != "documentation")
    gone = sum(dropped.values())
    left = max([stage.total or 0 for stage in stages if stage.name in {"trace", "filter"}] + [gone + tasks])
    known = next((stage for stage in stages if stage.name == "filter"), None)
    undecided = max(0, left - known.done) if live and known is not None and known.state == "running" else 0
    rows = [Count(FOUND, f"{'callables' if usage else 'functions'} found", left or None)]
    if not left:
        return rows
    # A stage that only a newer version knows is shown by its own name, before the final stages.
    for stage in (*always, *(stage for stage in dropped if stage not in titles), "documentation"):
        gone = dropped.get(stage, 0)
        left -= gone
        if gone or stage in always:
            rows.append(Count(stage, titles.get(stage, one_line(stage, 24)), left, gone))
    if undecided:
        rows.append(Count(UNDECIDED, "still to decide", undecided))
    if tasks and tasks != left and not undecided:
        rows.append(Count(ASKED, "asked for", tasks))
    if tasks:
        rows.append(Count(EXCLUDED, "controls hold", tasks - excluded, excluded))
    return rows


def counts_of_tests(stages: Sequence[StageRow], unused: Sequence[UnusedTestRow]) -> list[Count]:
    suite = next((stage for stage in stages if stage.name == "suite" and stage.total), None)
    if suite is None and not unused:
        return []
    found = suite.total if suite is not None else None
    rows = [Count(TESTS, "tests of the suite", found)]
    if suite is not None and found is not None:
        rows.append(Count(f"{TESTS}stable", "stable, used", suite.done, found - suite.done))
    kinds = Counter(one_line(row.kind, 20) for row in unused)
    return rows + [Count(f"{TESTS}{kind}", f"  {kind}", None, number) for kind, number in kinds.items()]
