"""The plan of usage runs, and of runs with candidates of either kind."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field

from workbench.plans.arguments import DialogField, Effect, argument, models, read_ks
from workbench.plans.plan import CandidatePlan, RegenerationPlan
from workbench.session.groups import CONTROLS
from workbench.session.rows import RunRow


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePlan(CandidatePlan):
    """Measure what a reader of a page can do with a project. Every ask has one page, or none, as its context."""

    source: str = argument(
        MISSING,
        "source SESSION|README|SOURCE",
        "a session, whose READMEs are measured; a README in a project; or a case id, a folder, git URL@revision, or NAME==VERSION",
        effect=Effect.RUN,
        line=DialogField("source", "A case, a folder, a git URL@revision or NAME==VERSION, with pytest tests.", paths=True,
                  needed="Name a case, a folder, a git URL or NAME==VERSION."),
    )  # fmt: skip
    evaluator: str = argument(
        "literal",
        "--reader READER",
        "literal (default), which needs no model; a LiteLLM name, local, agent:MODEL, replay:SESSION, samples:FILE, or a control",
        effect=Effect.CANDIDATE,
        line=DialogField("reader", completes=lambda: ("literal", *models()), paths=True, role="the reader"),
    )
    readme: str = argument(
        "",
        "--readme FILE",
        "the page to measure: a file, none, source, or shuffled (default: the project's own README)",
        line=DialogField("page", "A file, none, source or shuffled; empty means the project's own README.", paths=True),
    )
    pages: bool = argument(False, "--pages", "measure the README together with the pages below docs/")
    k: tuple[int, ...] = argument(
        (1,), "--k K", "values of k for use@k, separated by commas (default: 1)", type=read_ks, default=(1,)
    )
    max_steps: int = argument(
        8,
        "--max-steps N",
        "maximum number of steps of an agent, including its answer (default: 8)",
        effect=Effect.CANDIDATE,
        number=("The number of steps", 1, 100),
    )

    page_digests: dict[str, str] = field(default_factory=dict)  # By context, set by the engine when a page is read
    should_be_named: tuple[str, ...] = ()  # Programs and public callables, set by the engine
    # A usage run has one prompt, its contexts are its pages, and its answers are tested on this machine.
    prompt: str = ""
    context: str = ""
    engine: str = ""

    @property
    def control_names(self) -> tuple[str, ...]:
        return (*CONTROLS, "table", "package")


PLANS: dict[str, type[CandidatePlan]] = {"regenerate": RegenerationPlan, "usage": UsagePlan}
"""The plans of runs with candidates, by kind of run."""


def candidate_plan(run: RunRow) -> CandidatePlan:
    """Return the plan of a run with candidates. Raises PlanDamaged."""
    return read_candidate_plan(run.kind, run.config)


def read_candidate_plan(kind: str, config: str) -> CandidatePlan:
    return PLANS[kind].from_json(config)
