"""Defaults of the app and the command line. Cheap to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.agents.names import current_name
from workbench.base.settings import load
from workbench.plans.plan import DocumentPlan, RegenerationPlan

if TYPE_CHECKING:
    from workbench.base.settings import Settings

SAMPLES = 3
"""The number of candidates per task."""


def agent_model(settings: Settings) -> str:
    from workbench.models.defaults import default_model

    return settings.agent_model or default_model("agent", base_url=settings.base_url)


def judge(settings: Settings) -> str:
    """Return the default judge: the setting, a hosted model if one is available, otherwise the offline judge."""
    from workbench.models.defaults import default_model

    hosted = settings.judge or default_model("judge", base_url=settings.base_url)
    return "offline" if hosted.startswith("local") and not settings.judge else hosted


def evaluator(settings: Settings) -> str:
    from workbench.models.defaults import default_model

    return settings.evaluator or default_model("evaluator", base_url=settings.base_url)


def check_model(model: str, role: str) -> None:
    """Raise UsageError, before anything is fetched or written, if a model cannot be reached from this machine."""
    from workbench.models import names

    settings = load()
    names.check_model(model, role, base_url=settings.base_url, local_model_path=settings.local_model_path)


def document_plan(settings: Settings, cases: tuple[str, ...] = ()) -> DocumentPlan:
    return DocumentPlan(
        cases,
        agent=current_name(settings.agent),
        model=agent_model(settings),
        judge=judge(settings),
        spend_limit=settings.spend_limit,
        max_steps=settings.max_steps,
    )


def regeneration_plan(settings: Settings, source: str = "") -> RegenerationPlan:
    return RegenerationPlan(
        source,
        evaluator=evaluator(settings),
        samples=SAMPLES,
        spend_limit=settings.spend_limit,
        sandbox=settings.sandbox,
    )
