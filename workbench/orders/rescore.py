"""Score recorded trials again; no agent is run. Cheap to import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.base.settings import load
from workbench.orders.estimate import WorkEstimate, estimate_scores
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder, new_run, select_trials
from workbench.orders.plan_checks import check_scoring
from workbench.orders.run import resolved_judge
from workbench.plans.plan import RUBRICS, DocumentPlan
from workbench.session import SessionReader
from workbench.session.rows import TrialRow


@dataclass(eq=False)
class RescoreOrder(WorkOrder):
    """Score the trials ``items`` (id, prefix of an id, or case; empty selects all) again.

    Other empty values stand for the defaults. A score is replaced only by one from the same judge and rubric.
    """

    items: Sequence[str] = ()
    judges: Sequence[str] = ()
    rubrics: Sequence[str] = ()
    judge_repeats: int = 1
    spend_limit: float = 0.0

    @property
    def what(self) -> str:
        return f"scores by {', '.join(self.judges)}"

    def resolve(self) -> None:
        self.judges = tuple(dict.fromkeys(resolved_judge(judge) for judge in self.judges or ("",)))

    def plan(self) -> DocumentPlan:
        with SessionReader(self.session) as reader:
            trials = select_trials(
                self.session,
                reader.trials(),
                self.items,
                lambda row: row.state == "done" and row.readme_blob is not None,
                _why_unscored,
            )
        self.resolve()
        plan = DocumentPlan(
            cases=tuple(dict.fromkeys(trial.case_id for trial in trials)),
            agent="",
            judge=self.judges[0],
            rubrics=tuple(dict.fromkeys(self.rubrics)) or RUBRICS,
            spend_limit=self.spend_limit or load().spend_limit,
            judge_repeats=self.judge_repeats,
            trials=tuple(trial.id for trial in trials),
            judges=tuple(self.judges),
            rescore="anew",
        )
        check_scoring(plan)
        return plan

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        plan = self.plan()
        return estimate_scores(measured, len(plan.trials), plan.asked_judges)

    def write(self) -> None:
        plan = self.plan()
        with new_run(self.session) as (writer, run):
            writer.add_run(run, "document", plan.to_json())
        self.runs = [run]


def _why_unscored(row: TrialRow) -> str:
    why = f"it is {row.state}" if row.state != "done" else "its file contains no README"
    return f"submitted nothing that could be scored: {why}"
