"""The dialogs that start a regeneration run, and a usage run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app import runs
from workbench.app.keys import key_of
from workbench.app.location import Location
from workbench.app.toolkit import order_form
from workbench.app.toolkit.fields import Values
from workbench.app.toolkit.order_form import OrderForm
from workbench.base.errors import WorkbenchError
from workbench.base.text import plural
from workbench.orders.estimate import estimate_ask, task_count
from workbench.orders.regenerate import RegenerateOrder
from workbench.orders.usage import READERS, UsageOrder
from workbench.plans.plan import Ask, RegenerationPlan
from workbench.plans.usage import UsagePlan
from workbench.session.groups import CONTROLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.app.app import WorkbenchApp
    from workbench.base.settings import Settings
    from workbench.orders.estimate import Documentation, WorkEstimate


_FIRST_CASE = "word_counter"


class RegenerationDialog(OrderForm["RegenerationPlan"]):
    """A form for the source, docs, scope of the docs, evaluator, samples and limit of a run.

    ``cases`` are completions for the source. ``source`` and ``docs`` are initial values, or "" for the last answers.
    ``busy`` says whether another run of the session is active.
    """

    DIALOG = "regenerate"

    def __init__(
        self, host: WorkbenchApp, cases: Sequence[str], source: str = "", docs: str = "", *, busy: bool = False
    ) -> None:

        self._documentation: dict[tuple[RegenerationPlan, Path | None], Documentation] = {}
        plain = defaults(host.settings)
        answers = order_form.last_answers(self.DIALOG, plain)
        if source:
            del plain["source"]  # not stored as an answer
        source = source or answers["source"] or (_FIRST_CASE if _FIRST_CASE in cases else next(iter(cases), ""))
        answers |= {"source": source, "docs": docs or answers["docs"]}
        fields = order_form.plan_fields(RegenerationPlan, answers, host.settings, source={"known": cases})
        fields = [*fields, *order_form.run_fields(runs.default_session(host.opened), busy=busy)]
        first, title = "" if source else "source", "Test documentation by regeneration"
        super().__init__(host, title, fields, plain, first, note=_about_evaluator)

    def read(self, values: Values) -> RegenerationPlan:
        return RegenerationPlan(
            **order_form.plan_values(RegenerationPlan, values), spend_limit=self.host.settings.spend_limit
        )

    def order(self, plan: RegenerationPlan, values: Values) -> RegenerateOrder:
        place = runs.place_of_run(values["session"], f"regenerate-{Path(plan.source).name}")
        return RegenerateOrder(place, plan)

    def estimate(self, order: RegenerateOrder) -> WorkEstimate:
        """Estimate the work for candidates and documentation, excluding documentation already in the session."""
        plan, measured = order.plan, self.measured(order.session)
        candidates = estimate_ask(measured, plan.source, Ask(plan.evaluator, plan.samples, limit=plan.limit))
        # The evaluator and samples do not affect the doc system, so editing them needs no recount.
        key = replace(plan, evaluator="reference", samples=1), order.session
        try:
            if key not in self._documentation:
                self._documentation = {key: RegenerateOrder(order.session, key[0]).documentation(measured)}
        except (WorkbenchError, OSError):
            return candidates  # the order will report the error when it starts
        return replace(candidates, documentation=self._documentation[key])

    def summary(self, plan: RegenerationPlan, values: Values) -> str:
        """Return ``word_counter: 12 tasks × 3 samples × local = 36 candidates, about 36 requests, 4 minutes, $0``."""
        order, named = self.order(plan, values), plan.evaluator or "the default evaluator"
        cost, tasks = self.estimate(order), task_count(self.measured(order.session), plan.source, plan.limit)
        samples = f"{plural(plan.samples, 'sample')} × {named}"
        if tasks is None:
            return f"{plan.source}: {samples} for each task = {cost.sentence()}."
        return f"{plan.source}: {plural(tasks, 'task')} × {samples} = {cost.beside(tasks * plan.samples)}."

    def show(self, order: RegenerateOrder) -> None:
        made = order.order
        self.host.go_to(Location(order.session, "regeneration", made.run, evaluator=made.ask.evaluator))


def _about_evaluator(values: Values) -> str:
    evaluator, keys = values["evaluator"], f"Enter starts, {key_of('dialog.cancel')} cancels."
    if evaluator == "local" or evaluator.startswith("local/"):
        return f"local is the small embedded model: free, no key, low scores. {keys}"
    if evaluator in CONTROLS:
        reached = "1.0" if evaluator == "reference" else "0.0"
        return f"{evaluator} is a control: every task must reach {reached}."
    return f"Any LiteLLM name, local, replay:SESSION or samples:FILE. {keys}"


class UsageDialog(OrderForm["UsagePlan"]):
    """A form for the source, reader, page, samples and limit of a usage run.

    With a ``trial``, the page is its README, and the run is stored in the session of the trial.
    """

    DIALOG = "usage"

    def __init__(
        self, host: WorkbenchApp, cases: Sequence[str], source: str = "", trial: str = "", *, busy: bool = False
    ) -> None:
        self._trial, self._session = trial, host.session_path
        plain = order_form.answers_of(UsagePlan(source=""))
        answers = order_form.last_answers(self.DIALOG, plain)
        for name in ("source", "page") if source or trial else ():
            del plain[name]  # not stored as answers
        answers |= {"source": source or answers["source"] or _FIRST_CASE, "page": "" if source else answers["page"]}
        fields = order_form.plan_fields(
            UsagePlan, answers, host.settings, source={"known": cases},
            evaluator={"check": partial(_check_reader, host.settings)}, readme={"known": ("none", "source", "shuffled")},
            samples={"placeholder": "depends on the reader"},
        )  # fmt: skip
        if trial:
            fields = [one for one in fields if one.name not in ("source", "page")]
        else:
            fields += order_form.run_fields(runs.default_session(host.opened), busy=busy)
        title = "Measure the use of this README" if trial else "Measure the use of a page"
        super().__init__(host, title, fields, plain, "reader" if trial or source else "source", note=_about_reader)

    def read(self, values: Values) -> UsagePlan:
        own = order_form.plan_values(UsagePlan, values)
        source = {"source": str(self._session)} if self._trial else {}
        return UsagePlan(**own | source, spend_limit=self.host.settings.spend_limit)

    def order(self, plan: UsagePlan, values: Values) -> UsageOrder:
        if self._trial and self._session is not None:
            return UsageOrder(self._session, plan, (self._trial,))
        return UsageOrder(runs.place_of_run(values["session"], f"usage-{Path(plan.source).name}"), plan)

    def summary(self, plan: UsagePlan, values: Values) -> str:
        """Return ``word_counter × 1 page × literal, beside no page and the sources = up to 96 candidates, …``."""
        order = self.order(plan, values)
        return f"{order.what}, beside no page and the sources = {self.estimate(order).sentence()}."

    def show(self, order: UsageOrder) -> None:
        self.host.go_to(Location(order.session, "regeneration", order.runs[-1], evaluator=order.plan.evaluator))


def _about_reader(values: Values) -> str:
    keys = f"Enter starts, {key_of('dialog.cancel')} cancels."
    if values["reader"] in ("", "literal"):
        return f"literal needs no model: it tries the names and examples in the page's code. {keys}"
    return f"literal, any LiteLLM name, local, agent:MODEL, replay:SESSION or samples:FILE. {keys}"


def _check_reader(settings: Settings, reader: str) -> None:
    if reader and reader not in READERS and not reader.startswith("samples:"):
        order_form.check_named_model(reader.removeprefix("agent:"), "the reader", settings)


async def ask_and_measure(host: WorkbenchApp, source: str = "", trial: str = "") -> None:
    """Show the dialog for a usage run and start the run; call from a worker."""
    from workbench.catalog import load_cases

    if order_form.may_start(host):
        cases, _ = await asyncio.to_thread(load_cases)
        busy = await asyncio.to_thread(runs.has_active_run, host.reader)
        await host.push_screen_wait(UsageDialog(host, [case.id for case in cases], source, trial, busy=busy))


async def ask_and_start(host: WorkbenchApp, source: str = "", docs: str = "") -> None:
    """Show the dialog and start the run; call from a worker."""
    from workbench.catalog import load_cases

    if order_form.may_start(host):
        cases, _ = await asyncio.to_thread(load_cases)
        busy = await asyncio.to_thread(runs.has_active_run, host.reader)
        dialog = RegenerationDialog(host, [case.id for case in cases], source, docs, busy=busy)
        await host.push_screen_wait(dialog)


def defaults(settings: Settings) -> dict[str, str]:
    """Return the default answers, which are the same as on the command line."""
    from workbench.orders.defaults import regeneration_plan

    return order_form.answers_of(regeneration_plan(settings))
