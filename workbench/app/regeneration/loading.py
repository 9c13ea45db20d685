"""What the Regeneration mode reads of a run: plain functions for worker threads, no widget in sight."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.app.key_table import key_of
from workbench.app.regeneration.evaluators import EvaluatorProgress, progress_of, short_name
from workbench.app.regeneration.funnel import in_order
from workbench.app.regeneration.wording import pace, plural
from workbench.app.toolkit.amounts import duration, money
from workbench.app.toolkit.header import Header, Part
from workbench.glyphs import STATES
from workbench.results.reasons import Reason, error_reasons
from workbench.results.samples import run_check
from workbench.results.tasks import dropped_stages, task_states
from workbench.session.groups import Group, planned_docs
from workbench.session.rows import DroppedRow, RunRow, StageRow, TaskRow, UnusedTestRow
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.regeneration.outcome import Totals
    from workbench.regeneration.self_check import SelfCheck
    from workbench.session.reader import SessionReader
    from workbench.session.sample_counts import SampleCount

RATE_SECONDS = (10.0, 120.0)
"""The rate is that of the last so many seconds; the longer time counts where little is done in the shorter."""
_ENOUGH = 20
_MOST_REASONS = 2


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as the file has it now, its table of tasks left out.

    ``order`` are the regeneration runs of the session, ``groups`` those with samples that were asked for, ``progress`` has
    these and what was asked for and has none yet; ``totals`` are the sums over the samples of ``group``, ``rate`` is per
    second; ``check`` names the tasks on which a self-check failed, ``reasons`` say why samples of ``group`` have no verdict
    of their own.
    """

    run: RunRow
    state: str
    plan: Mapping[str, Any]
    order: tuple[str, ...]
    groups: tuple[Group, ...]
    group: Group
    totals: Totals
    stages: tuple[StageRow, ...]
    tasks: int
    excluded: int
    dropped: int
    spend_usd: float
    rate: float
    error: str | None
    sandboxes: tuple[str, ...]
    weaknesses: tuple[str, ...]
    check: SelfCheck
    reasons: tuple[Reason, ...] = ()
    progress: tuple[EvaluatorProgress, ...] = ()

    @property
    def evaluators(self) -> tuple[str, ...]:
        return tuple(self.name_of(group) for group in self.groups)

    @property
    def evaluator(self) -> str:
        return self.group.evaluator

    def name_of(self, group: Group) -> str:
        """Return a group's name among those of the run."""
        return group.name(self.groups)

    @property
    def live(self) -> bool:
        return self.state in {"queued", "running"}

    @property
    def lasting(self) -> bool:
        """Whether the run failed in a way that a resume cannot mend."""
        return self.state == "failed" and self.plan.get("lasting") is True

    @property
    def building(self) -> bool:
        """Whether tasks are still being built and nothing was tested yet."""
        return self.live and not self.totals.samples

    @property
    def ks(self) -> tuple[int, ...]:
        """Return the k of pass@k that the run was asked for, three at most."""
        from workbench.regeneration.outcome import ks_of

        return ks_of(self.plan)[:3]

    @property
    def samples(self) -> int:
        """Return m, the samples per task that the group was asked for."""
        listed = self.plan.get("asks")
        asks = [ask for ask in listed if isinstance(ask, dict)] if isinstance(listed, list) else []
        mine = [ask for ask in asks if ask.get("evaluator") == self.evaluator]
        exact = [
            ask
            for ask in mine
            if (ask.get("prompt") or "", ask.get("context") or "") == (self.group.prompt, self.group.context)
        ]
        wanted = [ask.get("samples") for ask in exact or mine] or [self.plan.get("samples")]
        return max((m for m in wanted if isinstance(m, int)), default=0)


@dataclass(frozen=True, slots=True)
class Excluded:
    """Functions that became no task, tasks that a control took out, and tests that no verdict rests on."""

    dropped: tuple[DroppedRow, ...]
    taken_out: tuple[TaskRow, ...]
    unused: tuple[UnusedTestRow, ...] = ()


def load_excluded(reader: SessionReader, run_id: str) -> Excluded:
    """Read what was excluded, by stage."""
    taken_out = tuple(task for task in reader.tasks(run_id) if task.state == "excluded")
    return Excluded(tuple(in_order(reader.dropped(run_id))), taken_out, tuple(reader.unused_tests(run_id)))


def load_view(reader: SessionReader, run_id: str, group: Group | None = None, evaluator: str = "") -> RunView | None:
    """Read how a run stands. None: no such run.

    Args:
        reader: The session.
        run_id: Id of the run.
        group: Whose samples are shown.
        evaluator: Whose newest group is shown where the run has no such ``group``; where it has none either, the newest.
    """
    from workbench.regeneration.outcome import totals
    from workbench.session.sample_counts import sample_counts

    run = reader.run(run_id)
    if run is None:
        return None
    plan = run.plan
    state = reader.run_state(run)
    now = time.time()
    counts = sample_counts(reader, run_id, since=(now - RATE_SECONDS[0], now - RATE_SECONDS[1]))
    progress = progress_of(counts, plan)
    groups = tuple(one.group for one in progress if one.group is not None)
    if group not in groups:
        wanted = evaluator or (group.evaluator if group is not None else "")
        group = _shown_first(counts, wanted, live=state in {"queued", "running"}) or _asked_for(plan)
    mine = [row for row in counts if row.group == group and not row.control]
    tasks = task_states(reader, run_id)
    sums = totals(mine, now=now if state in {"queued", "running"} else None)
    return RunView(
        run=run,
        state=state,
        plan=plan,
        order=tuple(run.id for run in reader.runs() if run.kind == "regenerate"),
        groups=groups,
        group=group,
        totals=sums,
        stages=tuple(reader.stages(run_id)),
        tasks=tasks.total(),
        excluded=tasks["excluded"],
        dropped=dropped_stages(reader, run_id).total(),
        spend_usd=run.spend_usd,
        rate=_rate(mine, now) if state == "running" else 0.0,
        error=run.error,
        sandboxes=_sandboxes(counts, plan),
        weaknesses=_weaknesses(counts, plan),
        check=run_check(reader, run_id, counts, tasks.total()),
        reasons=error_reasons(reader, run_id, group) if sums.verdicts.get("error") else (),
        progress=progress,
    )


def _shown_first(counts: Sequence[SampleCount], evaluator: str, *, live: bool) -> Group | None:
    """Return the group with the most samples, of a living run the one whose samples came last; None where there is none.

    Those of ``evaluator`` go before others.
    """
    asked = [row for row in counts if not row.control]
    samples: Counter[Group] = Counter()
    newest: dict[Group, int] = {}
    for row in [row for row in asked if row.group.evaluator == evaluator] or asked:
        samples[row.group] += row.count
        newest[row.group] = max(newest.get(row.group, 0), row.newest)
    return max(samples, key=lambda one: (0 if live else samples[one], newest[one], one), default=None)


def _asked_for(plan: Mapping[str, Any]) -> Group:
    docs, evaluator = (value if isinstance(value, str) else "" for value in (plan.get("docs"), plan.get("evaluator")))
    return Group(docs, evaluator, docs_scope=str(plan.get("docs_scope") or "target"))


def _rate(mine: Sequence[SampleCount], now: float) -> float:
    """Return samples per second over the last seconds, or since the first one of these: before, another run may have paused."""
    tested = [row for row in mine if row.verdict and row.first_recent is not None]
    if not tested:
        return 0.0
    begun = min(row.first_recent or now for row in tested)
    short, long = (sum(row.recent[place] for row in tested) for place in (0, 1))
    enough = short >= _ENOUGH
    return (short if enough else long) / max(min(RATE_SECONDS[0 if enough else 1], now - begun), 0.5)


def _sandboxes(counts: Sequence[SampleCount], plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the back ends that gave the verdicts; before the first one, the back end that was chosen."""
    used = {name for row in counts for name in row.backends}
    chosen = one_line(str(plan.get("sandbox") or ""), 40)
    return tuple(sorted(one_line(name, 40) for name in used)) or ((chosen,) if chosen else ())


def _weaknesses(counts: Sequence[SampleCount], plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what those back ends do not isolate; one from outside has declared it when the run used it."""
    from workbench.sandbox.names import weaknesses_of

    declared = plan.get("weaknesses")
    recorded = [one_line(str(weak), 40) for weak in declared] if isinstance(declared, list) else []
    return weaknesses_of(_sandboxes(counts, plan), str(plan.get("sandbox") or ""), recorded)


# -- what is said about a run


def source_of(view: RunView) -> str:
    """Return the name of what is regenerated."""
    for key in ("name", "source", "case", "cases"):
        value = view.plan.get(key)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str) and value:
            return one_line(value.rstrip("/").rpartition("/")[2] or value, 40)
    return "?"


def _shown_as(view: RunView) -> str:
    """Return the model's name, with what tells its group from others of that model."""
    if not view.evaluator:
        return ""
    return short_name(view.evaluator, view.name_of(view.group))


def header(view: RunView, score: str = "") -> Header:
    """Return the header: what is regenerated from which docs by which model, its score, what it cost, how far it is.

    How many samples there are of each task stands beside pass@k, right below.
    """
    docs = planned_docs(view.plan)
    return (
        Part(f"regenerate {source_of(view)}", rank=1, name=True, short=source_of(view)),
        Part(f"docs {one_line(docs, 30)}" if docs else "", rank=4),
        Part(_shown_as(view), rank=2, name=True),
        Part(score),
        Part(progress(view), reason=True),
        Part(money(view.spend_usd) if view.spend_usd else ""),
    )


def progress(view: RunView) -> str:
    """Return state, samples decided, rate and time left."""
    glyph = STATES.get(view.state, "?")
    of = f"{view.totals.decided:,} of {view.totals.samples:,}"
    if view.totals.again:
        again = f"{view.totals.again:,} to test again"
        # Their former verdicts count until the new ones are there, so the whole group is what is told of.
        of = f"{of} · {again}"
    if view.state == "queued":
        return f"{glyph} waiting for the engine…"
    if view.state == "running":
        if view.building:
            stage = next((stage for stage in view.stages if stage.state == "running"), None)
            return f"{glyph} building tasks" + (f": {one_line(stage.name, 30)}" if stage else "…")
        if not view.rate:
            return f"{glyph} {of}"
        left = (view.totals.samples - view.totals.decided + view.totals.again) / view.rate
        return f"{glyph} {of} · {pace(view.rate)} · {duration(left)} left"
    if view.state == "interrupted" and view.run.state == "queued":
        return f"{glyph} no engine took it up — press {key_of('regeneration.resume')}"
    if view.state == "interrupted":
        return (
            f"{glyph} interrupted {'with' if view.totals.again else 'at'} {of} — press {key_of('regeneration.resume')} to resume"
            if view.totals.samples
            else f"{glyph} interrupted — press {key_of('regeneration.resume')} to resume"
        )
    if view.state == "failed":
        return f"{glyph} failed: {one_line(view.error or 'no reason was recorded', 300)}"
    if view.state == "cancelled":
        return f"{glyph} cancelled at {of}"
    if view.totals.again:
        return f"{glyph} done, but {of} — press {key_of('regeneration.resume')}"
    return f"{glyph} done, {plural(view.totals.samples, 'sample')}" + (
        f" in {duration(view.totals.elapsed_s)}" if view.totals.elapsed_s else ""
    )


def trouble(view: RunView, room: int = 400) -> str:
    """Return what must not be missed: a self-check that does not hold, a run that failed; "" if all is well.

    Tasks are named where there is ``room`` for it, in cells.
    """
    alarm = view.check.banner(live=view.live, named=room >= 100)
    said = [
        alarm.replace("\n", f" · {key_of('regeneration.problem')} goes there\n", 1)
        if "\n" in alarm
        else f"{alarm} · {key_of('regeneration.problem')} goes there"
        if alarm
        else ""
    ]
    if view.state == "failed":
        then = (
            f"Press {key_of('regeneration.new')} for another order."
            if view.lasting
            else f"Press {key_of('regeneration.resume')} to resume."
        )
        said.append(f"✗ The run failed: {one_line(view.error or 'no reason was recorded', 600)} {then}")
    told = [reason for reason in view.reasons if view.state != "failed" or reason.sentence not in (view.error or "")]
    said += [one_line(str(reason), max(60, room - 4)) for reason in told[:_MOST_REASONS]]
    if len(told) > _MOST_REASONS:
        said.append(f"and {plural(len(told) - _MOST_REASONS, 'more kind')} of errors")
    return "\n".join(part for part in said if part)
