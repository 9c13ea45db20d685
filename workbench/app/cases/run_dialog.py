"""The dialog that starts a run of an agent on test cases."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.agents.names import AGENTS, agent_info, current_name, is_remote
from workbench.app import runs
from workbench.app.keys import key_of
from workbench.app.location import Location
from workbench.app.toolkit import order_form
from workbench.app.toolkit.fields import Values
from workbench.app.toolkit.order_form import OrderForm
from workbench.base.errors import BadField, UsageError
from workbench.orders.defaults import document_plan
from workbench.orders.run import RunOrder
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.base.settings import Settings


class RunDialog(OrderForm["DocumentPlan"]):
    """Asks for the agent, model, judge and repeats of a run on ``cases``, a list of (key, name) pairs."""

    DIALOG = "run"

    def __init__(
        self, host: WorkbenchApp, cases: Sequence[tuple[str, str]], session: str = "", *, busy: bool = False
    ) -> None:

        self._cases, self._settings = tuple(key for key, _ in cases), host.settings
        self._called = cases[0][1] if len(cases) == 1 else f"{len(cases)}-cases"
        plain = defaults(host.settings)
        changes: dict[str, dict[str, Any]] = {"agent": {"help": _about_agent}, "judge": {"check": self._check_judge}}
        fields = order_form.plan_fields(
            DocumentPlan, order_form.last_answers(self.DIALOG, plain), host.settings, **changes
        )
        title = cases[0][1] if len(cases) == 1 else f"{len(cases)} cases"
        super().__init__(
            host, f"Run {title}", [*fields, *order_form.run_fields(session, busy=busy)], plain, note=_about_model
        )

    def read(self, values: Values) -> DocumentPlan:
        typed = order_form.plan_values(DocumentPlan, values)
        agent, model = current_name(typed.get("agent", "white")), values["model"]
        if is_remote(agent) and not model.startswith("replay:"):
            model = ""  # the form's model does not apply to a remote agent
        if model:
            try:
                order_form.check_named_model(model, "the agent", self._settings)
            except UsageError as problem:
                raise BadField("model", str(problem)) from None
        plan = document_plan(self._settings, self._cases)
        # Repeat numbers continue after a case's existing trials.
        return replace(plan, **typed | {"agent": agent, "model": model, "judge": values["judge"], "first_repeat": 0})

    def _check_judge(self, judge: str) -> None:
        from workbench.base.extensions import path_of
        from workbench.rubric.judging import parse_judge

        if not path_of("judge", judge) and parse_judge(judge).kind in {"model", "replay"}:
            order_form.check_named_model(judge, "the judge", self._settings)

    def order(self, plan: DocumentPlan, values: Values) -> RunOrder:
        return RunOrder(runs.place_of_run(values["session"], self._called), plan)

    def summary(self, plan: DocumentPlan, values: Values) -> str:
        """Return a summary like ``3 cases × 2 repeats × white = 6 trials, about 30 requests, 4 minutes, $0.12``."""
        order = self.order(plan, values)
        return f"{order.what} = {self.estimate(order).sentence()}."

    def show(self, order: RunOrder) -> None:
        with SessionReader(order.session) as reader:
            trials = reader.trials(order.runs[0])
        if trials:
            self.host.go_to(Location(order.session, "trajectory", trials[0].id))
        else:
            self.host.notify("The run has no trials.", severity="warning")


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
    return f"{', '.join(info.name for info in AGENTS)}, a2a:URL, or your own package.module:Class."


def _about_model(values: Values) -> str:
    if is_remote(values["agent"]):
        return "An agent over A2A uses its own model; only replay:SESSION applies here."
    embedded = values["model"] == "local" or values["model"].startswith("local/")
    note = "local is the small embedded model: free, no key, low scores. " if embedded else ""
    return f"{note}Any LiteLLM name or replay:SESSION. Enter starts, {key_of('dialog.cancel')} cancels."


def defaults(settings: Settings) -> dict[str, str]:
    """Return the default answers, which are the same as on the command line."""
    return order_form.answers_of(document_plan(settings))


async def ask_and_run(host: WorkbenchApp, cases: Sequence[tuple[str, str]]) -> None:
    if order_form.may_start(host):
        busy = await asyncio.to_thread(runs.has_active_run, host.reader)
        await host.push_screen_wait(RunDialog(host, cases, runs.default_session(host.opened), busy=busy))
