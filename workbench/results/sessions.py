"""Summaries of sessions: counts over the runs of a session, its overall state, and the run that explains this state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.results.costs import total_spend
from workbench.results.runs import plan_title
from workbench.results.tasks import task_states
from workbench.results.trials import trials_by_run
from workbench.session.sample_counts import CONTROL_FAILS
from workbench.session.schema import ARCHIVED_RUNS, COUNTED, WRITTEN

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow, TrialRow

_CANDIDATES = (
    f"SELECT state, evaluator, control, count(*), total({CONTROL_FAILS}), "
    f"total(agrees = 0), max(at) FROM candidates WHERE run_id NOT IN {ARCHIVED_RUNS} GROUP BY 1, 2, 3"
)
# The modification time of the file is unusable: SQLite also writes to an older file when it is merely opened.
_TIMES = (
    "SELECT (SELECT max(finished_at) FROM trials), (SELECT max(at) FROM steps), (SELECT max(at) FROM scorecards), "
    "(SELECT max(at) FROM annotations), (SELECT max(at) FROM stages)"
)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Counts over the runs of a session.

    ``states`` counts runs by displayed state; ``wrong_controls`` and ``disagreements`` count failed self-checks;
    ``changed_at`` (unix seconds) is None for an empty session; ``permanent_failures`` counts failed runs that cannot be fixed by
    resuming; ``spend_usd`` is None if no price is known; ``newest`` is the state of the newest run; ``about`` contains
    the names of cases, agents and runs.
    """

    path: Path
    trials: int
    trials_done: int
    trials_failed: int
    tasks: int
    candidates: int
    candidates_done: int
    spend_usd: float | None
    models: tuple[str, ...]
    states: tuple[tuple[str, int], ...]
    running: tuple[str, ...]
    wrong_controls: int = 0
    disagreements: int = 0
    changed_at: float | None = None
    permanent_failures: int = 0
    newest: str = ""
    about: tuple[str, ...] = ()

    @property
    def retryable(self) -> bool:
        """Whether resuming may help, because some run failed for a reason that may be temporary."""
        return self.count("failed") > self.permanent_failures

    def count(self, state: str) -> int:
        return dict(self.states).get(state, 0)

    @property
    def state(self) -> str:
        return state_of({state for state, _ in self.states}, self.newest)

    @property
    def left(self) -> int:
        """The number of failed or cancelled runs that were followed by a successful one."""
        return self.count("failed") + self.count("cancelled") if self.state in {"done", "unscored"} else 0

    @property
    def resumable(self) -> bool:
        return self.retryable or any(self.count(state) for state in ("interrupted", "unscored", "cancelled"))

    @property
    def alarm(self) -> str:
        """A sentence on the failed self-checks, or "" if there are none."""
        problems = []
        if self.wrong_controls:
            tasks = "1 task" if self.wrong_controls == 1 else f"{self.wrong_controls:,} tasks"
            problems.append(f"a control fails on {tasks}")
        if self.disagreements:
            times = "a cold re-check" if self.disagreements == 1 else f"{self.disagreements:,} cold re-checks"
            problems.append(f"{times} gave a different verdict than the fast path")
        return f"Self-check failed: {'; '.join(problems)}." if problems else ""


STATES = ("running", "queued", "interrupted", "failed", "cancelled", "unscored", "done")
"""States of runs, from most to least important."""
_PAST = frozenset({"failed", "cancelled"})


def state_of(states: Collection[str], newest: str) -> str:
    """Return the state of a session; failed and cancelled runs are ignored if a later run succeeded."""
    present = [state for state in STATES if state in states]
    if newest not in _PAST and any(state not in _PAST for state in present):
        present = [state for state in present if state not in _PAST]
    return present[0] if present else "empty"


@dataclass(frozen=True, slots=True)
class WhatMatters:
    """The run that explains a session's state, its trial (None for regeneration), and the number of such runs."""

    run: str
    trial: str | None
    trials: int = 0


def what_matters(reader: SessionReader) -> WhatMatters | None:
    """Return the newest run in the session's state, with its failed trial if it failed, or None without runs."""
    trials: dict[str, list[TrialRow]] = {}
    for trial in reader.trials():
        trials.setdefault(trial.run_id, []).append(trial)
    runs = [run for run in reader.runs() if run.has_candidates or run.id in trials]
    states = {run.id: reader.run_state(run) for run in runs}
    newest = states[runs[-1].id] if runs else ""
    for state in (state_of(set(states.values()), newest), *STATES, *states.values()):
        found = [run for run in runs if states[run.id] == state]
        if found:
            run = max(found, key=lambda one: one.created_at)
            mine = trials.get(run.id, [])
            telling = [trial for trial in mine if trial.state == state] or mine
            return WhatMatters(run.id, telling[-1].id if telling else None, sum(map(len, trials.values())))
    return None


def gather(reader: SessionReader) -> SessionFacts:
    runs = reader.runs()
    states = {run.id: reader.run_state(run) for run in runs}
    trials: Counter[str] = Counter()
    for run, mine in trials_by_run(reader).items():
        trials += mine.states if run in states else Counter()
    candidates: Counter[str] = Counter()
    evaluators: list[str] = []
    wrong = disagreeing = 0
    groups = reader.query(_CANDIDATES)
    for state, evaluator, control, count, bad, otherwise, _ in groups:
        candidates[state] += count
        evaluators += [] if control else [evaluator]
        wrong += int(bad)
        disagreeing += int(otherwise)
    times = [time for run in runs for time in (run.created_at, run.started_at, run.finished_at)]
    times += [group[-1] for group in groups] + list(reader.query(_TIMES)[0])
    return SessionFacts(
        reader.path,
        sum(trials.values()),
        trials["done"] + trials["failed"] + trials["cancelled"],
        trials["failed"],
        task_states(reader).total(),
        sum(candidates.values()),
        candidates["done"] + candidates["cancelled"],
        total_spend(reader, runs),
        tuple(dict.fromkeys([*trial_models(reader), *evaluators])),
        tuple(Counter(states.values()).items()),
        tuple(run for run, state in states.items() if state in {"running", "queued"}),
        wrong,
        disagreeing,
        max((time for time in times if time is not None), default=None),
        sum(
            state == "failed" and run.has_candidates and run.plan.get("permanent_failure") is True
            for run, state in zip(runs, states.values(), strict=True)
        ),
        states[runs[-1].id] if runs else "",
        _about(reader, runs),
    )


def trial_models(reader: SessionReader) -> list[str]:
    """Return the models of trials, with the newest trial's last; an imported trial may have an unknown model."""
    models = f"SELECT model FROM trials WHERE {COUNTED} AND model != '' GROUP BY model ORDER BY max(rowid)"
    return [model for (model,) in reader.query(models)]


def models_used(reader: SessionReader) -> list[str]:
    others = (
        f"SELECT evaluator FROM candidates WHERE prompt != '' AND run_id NOT IN {ARCHIVED_RUNS} "
        f"UNION SELECT judge FROM scorecards JOIN trials ON trials.id = trial_id WHERE {COUNTED}"
    )
    return sorted({*trial_models(reader), *(name for (name,) in reader.query(others))})


def _about(reader: SessionReader, runs: list[RunRow]) -> tuple[str, ...]:
    names_of = f"SELECT DISTINCT case_name, agent FROM trials WHERE {WRITTEN} ORDER BY case_name, agent LIMIT 200"
    of_trials = reader.query(names_of)
    names = [str(name) for row in of_trials for name in row]
    sources = [plan_title(run) for run in runs[-50:]]
    return tuple(dict.fromkeys([*(run.name for run in runs if run.name), *names, *sources]))
