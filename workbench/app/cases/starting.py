"""Ask for a run of an agent in one dialog and start it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.agents.names import AGENTS, agent_info, current_name, is_remote
from workbench.app import runs
from workbench.app.key_table import key_of
from workbench.app.location import Location
from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.ordering import Begun, OrderForm, check_named_model, may_start, remembered, run_fields
from workbench.base.errors import BadField, UsageError
from workbench.base.text import plural
from workbench.orders.defaults import document_plan

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.base.settings import Settings
    from workbench.orders.estimate import Estimate
    from workbench.orders.plan import DocumentPlan


class RunDialog(OrderForm["DocumentPlan"]):
    """Agent, model, judge and repeats of a run on ``cases``, each a key and a name."""

    DIALOG = "run"

    def __init__(
        self, host: WorkbenchApp, cases: Sequence[tuple[str, str]], session: str = "", *, busy: bool = False
    ) -> None:
        from workbench.models.defaults import available_models

        self._cases, self._settings = tuple(key for key, _ in cases), host.settings
        self._called = cases[0][1] if len(cases) == 1 else f"{len(cases)}-cases"
        plain, known = defaults(host.settings), available_models()
        answers = remembered(self.DIALOG, plain)
        fields = (
            Field("agent", answers["agent"], _about_agent, [info.name for info in AGENTS], check=agent_info),
            Field("model", answers["model"], known=known, paths=True),
            Field("judge", answers["judge"], known=("offline", *known), paths=True, check=self._check_judge),
            Field("repeats", answers["repeats"], most=100),
            *run_fields(session, busy=busy),
        )
        title = cases[0][1] if len(cases) == 1 else f"{len(cases)} cases"
        super().__init__(host, f"Run {title}", fields, plain, note=_about_model)

    def read(self, values: Values) -> DocumentPlan:
        agent, model = values["agent"] or "white", values["model"]
        if is_remote(agent) and not model.startswith("replay:"):
            model = ""  # what stands there is for the next agent
        if model:
            try:
                check_named_model(model, "the agent", self._settings)
            except UsageError as problem:
                raise BadField("model", str(problem)) from None
        plan = document_plan(self._settings, self._cases)
        agent, repeats = current_name(agent), int(values["repeats"])
        return replace(plan, agent=agent, model=model, judge=values["judge"], repeats=repeats)

    def _check_judge(self, judge: str) -> None:
        from workbench.base.plugins import path_of
        from workbench.rubric.judging import parse_judge

        if not path_of("judge", judge) and parse_judge(judge).kind in {"model", "replay"}:
            check_named_model(judge, "the judge", self._settings)

    def estimate(self, plan: DocumentPlan, values: Values) -> Estimate:
        from workbench.orders.estimate import estimate_trials

        at_once = self._settings.trials_at_once
        return estimate_trials(
            self.measured(), plan.cases, plan.agent, plan.model, [plan.judge], repeats=plan.repeats, at_once=at_once
        )

    def summary(self, plan: DocumentPlan, values: Values) -> str:
        """Return ``3 cases × 2 repeats × white = 6 trials, about 30 requests, 4 minutes, $0.12``."""
        repeats = f"{plan.repeats} repeats × " if plan.repeats > 1 else ""
        return f"{plural(len(plan.cases), 'case')} × {repeats}{plan.agent} = {self.estimate(plan, values).sentence()}."

    def begin(self, plan: DocumentPlan, values: Values) -> Begun:
        session = runs.session_named(values["session"], self._called)
        path, trial = runs.begin(session, self._called, plan, self.host.warm, queue=values.get("when") == "queue")
        if trial is None:
            return partial(self.host.notify, "The run has no trials.", severity="warning")
        return partial(self.host.go_to, Location(path, "trajectory", trial))


def _about_agent(values: Values) -> str:
    agent = values["agent"]
    if is_remote(agent):
        try:
            return f"{agent_info(agent).description}."
        except UsageError as problem:
            return str(problem)
    for info in AGENTS:
        if info.name == agent:
            return f"{info.title}: {info.description}."
    return f"{', '.join(info.name for info in AGENTS)}, a2a:URL, or package.module:Class of your own."


def _about_model(values: Values) -> str:
    if is_remote(values["agent"]):
        return "An agent over A2A asks a model of its own: what stands here is not asked, only replay:SESSION is."
    embedded = values["model"] == "local" or values["model"].startswith("local/")
    note = "local is the small embedded model: free, no key, low scores. " if embedded else ""
    return f"{note}Any LiteLLM name works, and replay:SESSION. Enter starts, {key_of('dialog.cancel')} cancels."


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    plan = document_plan(settings)
    return {"agent": plan.agent, "model": plan.model, "judge": plan.judge, "repeats": str(plan.repeats)}


async def ask_and_run(host: WorkbenchApp, cases: Sequence[tuple[str, str]]) -> None:
    if may_start(host):
        busy = await asyncio.to_thread(runs.something_runs, host.reader)
        await host.push_screen_wait(RunDialog(host, cases, runs.default_session(host.opened), busy=busy))
