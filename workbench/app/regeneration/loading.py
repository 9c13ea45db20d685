"""What the Regeneration mode reads of a run: plain functions for worker threads, no widget in sight."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.app.regeneration import selfcheck
from workbench.app.regeneration.funnel import in_order
from workbench.app.regeneration.lines import DISAGREES, KS
from workbench.app.regeneration.selfcheck import CONTROLS, Control, Problem, Rechecks
from workbench.app.regeneration.wording import duration, pace, plural
from workbench.app.trajectory.loading import GLYPHS, money
from workbench.session.rows import DroppedRow, RunRow, StageRow, TaskRow, columns
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

RATE_SECONDS = (10.0, 120.0)
"""The rate is that of the last so many seconds; the longer time counts where little is done in the shorter."""
_ENOUGH = 20
_POINTS = 8  # bars of the development
# All that is counted, in one pass: a run may have a hundred thousand samples.
_GROUPS = (
    "SELECT evaluator, control, state, coalesce(verdict, ''), sample = 0, count(*), min(at), sum(at >= ?), sum(at >= ?), max(rowid), "
    f"count(recheck), sum(CASE WHEN recheck IS NULL THEN 0 ELSE {DISAGREES} END), group_concat(DISTINCT backend) "
    "FROM candidates WHERE run_id = ? GROUP BY 1, 2, 3, 4, 5"
)


@dataclass(frozen=True, slots=True)
class _Group:
    """Samples that are alike: how many, when the first was decided, how many in the last seconds."""

    evaluator: str
    control: int
    state: str
    verdict: str
    is_first: int
    count: int
    first: float | None
    short: int | None
    long: int | None
    newest: int
    rechecked: int
    disagreeing: int
    sandboxes: str | None

    @property
    def counts(self) -> tuple[int, int]:
        return self.short or 0, self.long or 0


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as the file has it now, its table of tasks left out.

    ``order`` are the regeneration runs of the session, ``evaluators`` those with samples;
    ``decided`` of ``total`` samples are those of ``evaluator``, ``rate`` is per second; ``problems`` are the tasks on which
    a self-check failed.
    """

    run: RunRow
    state: str
    plan: Mapping[str, Any]
    order: tuple[str, ...]
    evaluators: tuple[str, ...]
    evaluator: str
    stages: tuple[StageRow, ...]
    tasks: int
    excluded: int
    dropped: int
    total: int
    decided: int
    spend_usd: float
    rate: float
    seconds: float | None
    verdicts: Mapping[str, int]
    controls: tuple[Control, ...]
    error: str | None
    sandboxes: tuple[str, ...]
    rechecks: Rechecks
    problems: tuple[Problem, ...]

    @property
    def live(self) -> bool:
        """Whether an engine is at work on the run, or will be."""
        return self.state in {"queued", "running"}

    @property
    def building(self) -> bool:
        """Whether tasks are still being built and nothing was tested yet."""
        return self.live and not self.total

    @property
    def ks(self) -> tuple[int, ...]:
        """Return the k of pass@k that the run was asked for."""
        asked = self.plan.get("k")
        given = asked if isinstance(asked, list) else [asked]
        return tuple(sorted({k for k in given if isinstance(k, int) and k >= 1}))[:3] or KS

    @property
    def samples(self) -> int:
        """Return m, the samples per task that the evaluator was asked for."""
        asks = [ask for ask in self.plan.get("asks") or () if ask.get("evaluator") == self.evaluator]
        return max((int(ask.get("samples") or 0) for ask in asks or (self.plan,)), default=0)


@dataclass(frozen=True, slots=True)
class Fallen:
    """Functions that became no task, and tasks that a control took out."""

    dropped: tuple[DroppedRow, ...]
    taken_out: tuple[TaskRow, ...]


def load_fallen(reader: SessionReader, run_id: str) -> Fallen:
    """Read what fell out, by stage."""
    found = reader.query(
        f"SELECT {columns(TaskRow)} FROM tasks WHERE run_id = ? AND state = 'excluded' ORDER BY position", (run_id,)
    )
    return Fallen(tuple(in_order(reader.dropped(run_id))), tuple(TaskRow(*row) for row in found))


def choose_run(reader: SessionReader) -> str | None:
    """Return the run to show when a session is opened: one at work, else the last that has tasks, else the last."""
    found = reader.query(
        "SELECT id FROM runs WHERE kind = 'regenerate' ORDER BY "
        "EXISTS (SELECT 1 FROM tasks WHERE run_id = runs.id) OR EXISTS (SELECT 1 FROM stages WHERE run_id = runs.id) DESC, "
        "state IN ('running', 'queued') DESC, created_at DESC, id LIMIT 1"
    )
    return str(found[0][0]) if found else None


def load_view(reader: SessionReader, run_id: str, evaluator: str = "") -> RunView | None:
    """Read how a run stands; ``evaluator`` is whose samples are shown, "" for the newest. None: no such run."""
    run = reader.run(run_id)
    if run is None:
        return None
    plan = _decoded(run.config)
    state = reader.run_state(run)
    now = time.time()
    groups = [_Group(*row) for row in reader.query(_GROUPS, (*(now - seconds for seconds in RATE_SECONDS), run_id))]
    newest = {
        group.evaluator: group.newest for group in sorted(groups, key=lambda one: one.newest) if not group.control
    }
    evaluators = tuple(sorted(newest, key=lambda name: newest[name]))
    if evaluator not in evaluators:
        asked = plan.get("evaluator")
        evaluator = evaluators[-1] if evaluators else str(asked) if isinstance(asked, str) else ""
    mine = [group for group in groups if group.evaluator == evaluator and not group.control]
    ready, excluded = _task_counts(reader, run_id)
    verdicts: Counter[str] = Counter()
    for group in mine:
        if group.verdict:
            verdicts[group.verdict] += group.count
    controls = _controls(groups, ready + excluded)
    rechecks = Rechecks(sum(group.rechecked for group in groups), sum(group.disagreeing for group in groups))
    suspect = rechecks.disagreeing or any(control.wrong or control.errors for control in controls)
    return RunView(
        run=run,
        state=state,
        plan=plan,
        order=_order(reader),
        evaluators=evaluators,
        evaluator=evaluator,
        stages=tuple(reader.stages(run_id)),
        tasks=ready + excluded,
        excluded=excluded,
        dropped=int(reader.query("SELECT count(*) FROM dropped WHERE run_id = ?", (run_id,))[0][0]),
        total=sum(group.count for group in mine) - (_given_up(reader, run_id, evaluator) if excluded else 0),
        decided=sum(group.count for group in mine if group.verdict),
        spend_usd=run.spend_usd,
        rate=_rate(mine, now) if state == "running" else 0.0,
        seconds=run.finished_at - run.started_at if run.finished_at and run.started_at else None,
        verdicts=verdicts,
        controls=controls,
        error=run.error,
        sandboxes=_sandboxes(groups, plan),
        rechecks=rechecks,
        problems=selfcheck.load_problems(reader, run_id) if suspect else (),
    )


def _decoded(config: str) -> Mapping[str, Any]:
    try:
        plan = json.loads(config)
    except ValueError:
        return {}
    return plan if isinstance(plan, dict) else {}


def _task_counts(reader: SessionReader, run_id: str) -> tuple[int, int]:
    counts = dict(reader.query("SELECT state, count(*) FROM tasks WHERE run_id = ? GROUP BY state", (run_id,)))
    return int(counts.get("ready", 0)), int(counts.get("excluded", 0))


def _order(reader: SessionReader) -> tuple[str, ...]:
    found = reader.query("SELECT id FROM runs WHERE kind = 'regenerate' ORDER BY created_at, id")
    return tuple(row[0] for row in found)


def _given_up(reader: SessionReader, run_id: str, evaluator: str) -> int:
    """Return how many samples were not drawn because a control took their task out: nobody waits for them."""
    found = reader.query(
        "SELECT count(*) FROM candidates JOIN tasks ON tasks.id = task_id WHERE tasks.run_id = ? AND tasks.state = 'excluded' "
        "AND evaluator = ? AND control = 0 AND candidates.state = 'cancelled'",
        (run_id, evaluator),
    )
    return int(found[0][0])


def _rate(mine: Sequence[_Group], now: float) -> float:
    """Return samples per second over the last seconds, or since the first one if that is later."""
    tested = [group for group in mine if group.verdict and group.first is not None]
    if not tested:
        return 0.0
    begun = min(group.first or now for group in tested)
    short, long = (sum(group.counts[place] for group in tested) for place in (0, 1))
    enough = short >= _ENOUGH
    return (short if enough else long) / max(min(RATE_SECONDS[0 if enough else 1], now - begun), 0.5)


def _controls(groups: Sequence[_Group], tasks: int) -> tuple[Control, ...]:
    # Their first samples, also where a control is itself the evaluator; an error is the sandbox's and says nothing of the task.
    controls = []
    for name, expected in CONTROLS:
        mine = [group for group in groups if group.evaluator == name and group.is_first]
        if mine:
            decided = sum(group.count for group in mine if group.verdict not in {"", "error"})
            passed = sum(group.count for group in mine if group.verdict == "passed")
            errors = sum(group.count for group in mine if group.verdict == "error")
            controls.append(Control(name, expected, decided, passed, tasks, errors))
    return tuple(controls)


def _sandboxes(groups: Sequence[_Group], plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the back ends that gave the verdicts; before the first one, the back end that was chosen."""
    used = {name for group in groups for name in (group.sandboxes or "").split(",") if name}
    chosen = one_line(str(plan.get("sandbox") or ""), 40)
    return tuple(sorted(one_line(name, 40) for name in used)) or ((chosen,) if chosen else ())


def development(reader: SessionReader, run_id: str, evaluator: str) -> tuple[float, ...]:
    """Return the share of passed samples after each eighth of those that are decided."""
    rows = reader.query(
        f"SELECT count(*), sum(passed) FROM (SELECT verdict = 'passed' AS passed, ntile({_POINTS}) OVER (ORDER BY at) AS part "
        "FROM candidates WHERE run_id = ? AND evaluator = ? AND control = 0 AND verdict IS NOT NULL AND verdict != 'error') "
        "GROUP BY part ORDER BY part",
        (run_id, evaluator),
    )
    points, count, passed = [], 0, 0
    for more, right in rows:
        count, passed = count + more, passed + right
        points.append(passed / count)
    return tuple(points)


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


def model_name(model: str) -> str:
    """Return a model's name as it fits a header."""
    if model.startswith("local"):
        return "local"
    if model.startswith("replay:"):
        return "replay:" + model.rpartition("/")[2].removesuffix(".session")
    return one_line(model.rpartition("/")[2] or model, 40)


def header(view: RunView, room: int = 400) -> str:
    """Return the sentence of the header: what is regenerated from which docs by which model, how far, what it cost.

    Where the ``room`` in cells is short, what the table tells as well goes first.
    """
    docs = view.plan.get("docs")
    source, model = source_of(view), model_name(view.evaluator) if view.evaluator else ""
    parts = {
        "source": f"regenerate {source}",
        "docs": f"docs {one_line(docs, 30)}" if isinstance(docs, str) and docs else "",
        "model": model,
        "samples": f"m = {view.samples}" if view.samples else "",
        "progress": progress(view),
        "spend": money(view.spend_usd) if view.spend_usd else "",
    }
    for name, shorter in (("samples", ""), ("source", source), ("docs", ""), ("model", ""), ("source", "")):
        if len(_sentence(parts)) > room:
            parts[name] = shorter
    return _sentence(parts)


def _sentence(parts: Mapping[str, str]) -> str:
    return " · ".join(part for part in parts.values() if part)


def progress(view: RunView) -> str:
    """Return state, samples decided, rate and time left."""
    glyph = GLYPHS.get(view.state, "?")
    of = f"{view.decided:,} of {view.total:,}"
    if view.state == "queued":
        return f"{glyph} waiting for the engine…"
    if view.state == "running":
        if view.building:
            stage = next((stage for stage in view.stages if stage.state == "running"), None)
            return f"{glyph} building tasks" + (f": {one_line(stage.name, 30)}" if stage else "…")
        if not view.rate:
            return f"{glyph} {of}"
        left = (view.total - view.decided) / view.rate
        return f"{glyph} {of} · {pace(view.rate)} · {duration(left)} left"
    if view.state == "interrupted":
        return (
            f"{glyph} interrupted at {of} — press u to resume"
            if view.total
            else f"{glyph} interrupted — press u to resume"
        )
    if view.state == "failed":
        return f"{glyph} failed: {one_line(view.error or 'no reason was recorded', 300)}"
    if view.state == "cancelled":
        return f"{glyph} cancelled at {of}"
    return f"{glyph} done, {plural(view.total, 'sample')}" + (f" in {duration(view.seconds)}" if view.seconds else "")


def trouble(view: RunView, room: int = 400) -> str:
    """Return what must not be missed: a self-check that does not hold, a run that failed; "" if all is well.

    Tasks are named where there is ``room`` for it, in cells.
    """
    named = view.problems if room >= 100 else ()
    alarm = selfcheck.banner(view.controls, view.rechecks, named, live=view.live)
    said = [
        alarm.replace("\n", " · ! goes there\n", 1) if "\n" in alarm else f"{alarm} · ! goes there" if alarm else ""
    ]
    if view.state == "failed":
        said.append(f"✗ The run failed: {one_line(view.error or 'no reason was recorded', 600)} Press u to resume.")
    return "\n".join(part for part in said if part)
