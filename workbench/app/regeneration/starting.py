"""Ask for a regeneration run in one dialog, plan it in a thread, and show it as it goes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app import runs
from workbench.app.key_table import key_of
from workbench.app.location import Location
from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.ordering import Begun, OrderForm, check_named_model, may_start, remembered, run_fields
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import plural
from workbench.documenters.names import SCOPES
from workbench.orders.session_names import new_place
from workbench.session.groups import CONTROLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.app.app import WorkbenchApp
    from workbench.base.settings import Settings
    from workbench.orders.estimate import Documentation, Estimate
    from workbench.orders.plan import RegenerationPlan


_DOCS = ("original", "none", "llm:", "folder:", "source:")
_FIRST_CASE = "word_counter"
_ABOUT_SOURCE = "A case, a folder, a git URL@revision or NAME==VERSION, with pytest tests."
_ABOUT_DOCS = (
    "original, none, llm:MODEL, repoagent:MODEL, osa:MODEL, command:PROGRAM…, a documented copy (folder:PATH, "
    "source:SOURCE), or package.module:Class."
)
_ABOUT_LIMIT = "Only the first so many tasks; empty for all."
_ABOUT_SCOPE = "repository: all docstrings of the tree are the doc system's. target: only that of the function itself."


class RegenerationDialog(OrderForm["RegenerationPlan"]):
    """Source, docs and their scope, evaluator, samples and limit of a run.

    ``cases`` complete what is typed; ``source`` and ``docs`` stand in their fields at first, "" for what was answered last;
    ``busy`` says whether a run of the open session is under way or waits.
    """

    DIALOG = "regenerate"

    def __init__(
        self, host: WorkbenchApp, cases: Sequence[str], source: str = "", docs: str = "", *, busy: bool = False
    ) -> None:
        from workbench.models.defaults import available_models

        self._documentation: dict[tuple[RegenerationPlan, Path | None], Documentation] = {}
        plain, models = defaults(host.settings), available_models()
        answers = remembered(self.DIALOG, plain)
        if source:
            del plain["source"]  # it was not answered here
        source = source or answers["source"] or (_FIRST_CASE if _FIRST_CASE in cases else next(iter(cases), ""))
        needed = "Name a case, a folder, a git URL or NAME==VERSION."
        systems = (*_DOCS, *(f"llm:{model}" for model in models))
        fields = (
            Field("source", source, _ABOUT_SOURCE, cases, paths=True, needed=needed),
            Field("docs", docs or answers["docs"], _ABOUT_DOCS, systems, paths=True),
            Field("scope", answers["scope"], _ABOUT_SCOPE, SCOPES, check=_check_scope),
            Field("evaluator", answers["evaluator"], "", (*models, *CONTROLS), paths=True, check=self._check_evaluator),
            Field("samples", answers["samples"], most=1000),
            Field("limit", answers["limit"], _ABOUT_LIMIT, most=999_999, placeholder="all tasks"),
            *run_fields(runs.default_session(host.opened), busy=busy),
        )
        first, title = "" if source else "source", "Test documentation by regeneration"
        super().__init__(host, title, fields, plain, first, note=_about_evaluator)

    def _check_evaluator(self, evaluator: str) -> None:
        if evaluator not in CONTROLS and not evaluator.startswith("samples:"):
            check_named_model(evaluator, "the evaluator", self.host.settings)

    def read(self, values: Values) -> RegenerationPlan:
        from workbench.orders.plan import RegenerationPlan

        return RegenerationPlan(
            source=values["source"],
            docs=values["docs"] or "original",
            docs_scope=values["scope"] or SCOPES[0],
            evaluator=values["evaluator"],
            samples=int(values["samples"]),
            limit=int(values["limit"] or 0),
        )

    def estimate(self, plan: RegenerationPlan, values: Values) -> Estimate:
        """Return what its candidates and what its docs ask before them take, without what the session has already."""
        from workbench.orders.plan import Ask
        from workbench.orders.regeneration_estimate import documentation_of, estimate_ask

        into = new_place(values["session"]) if values["session"] else None
        measured = self.measured(into)
        told = estimate_ask(measured, plan.source, Ask(plan.evaluator, plan.samples, limit=plan.limit))
        # Evaluator and samples are the same to a doc system: typing these must not have it counted again.
        asked = replace(plan, evaluator="reference", samples=1), into
        try:
            if asked not in self._documentation:
                self._documentation = {asked: documentation_of(measured, asked[0], into)}
        except (WorkbenchError, OSError):
            return told  # what cannot be used is said by the order itself
        return replace(told, documentation=self._documentation[asked])

    def summary(self, plan: RegenerationPlan, values: Values) -> str:
        """Return ``word_counter: 12 tasks × 3 samples × local = 36 candidates, about 36 requests, 4 minutes, $0``."""
        from workbench.orders.regeneration_estimate import known_tasks

        told, named = self.estimate(plan, values), plan.evaluator or "the default evaluator"
        into = new_place(values["session"]) if values["session"] else None
        tasks = known_tasks(self.measured(into), plan.source, plan.limit)
        samples = f"{plural(plan.samples, 'sample')} × {named}"
        if tasks is None:
            return f"{plan.source}: {samples} for each task = {told.sentence()}."
        return f"{plan.source}: {plural(tasks, 'task')} × {samples} = {told.beside(tasks * plan.samples)}."

    def begin(self, plan: RegenerationPlan, values: Values) -> Begun:
        from workbench.orders import launching
        from workbench.orders.launching import enqueue
        from workbench.orders.regeneration_client import order_regeneration

        host, name = self.host, f"regenerate-{Path(plan.source).name}"
        path = runs.session_named(values["session"], name)
        path = path if not path.exists() or runs.is_writable(path) else runs.new_session(name)
        order = order_regeneration(path, replace(plan, spend_limit=host.settings.spend_limit))
        if values.get("when") == "queue":
            enqueue(path, order.run)
        launching.launch(path, order.run, host.warm)
        return partial(host.go_to, Location(path, "regeneration", order.run, evaluator=order.ask.evaluator))


def _check_scope(scope: str) -> None:
    if scope not in SCOPES:
        raise UsageError(f"Scope must be {', '.join(SCOPES[:-1])} or {SCOPES[-1]}.")


def _about_evaluator(values: Values) -> str:
    evaluator, keys = values["evaluator"], f"Enter starts, {key_of('dialog.cancel')} cancels."
    if evaluator == "local" or evaluator.startswith("local/"):
        return f"local is the small embedded model: free, no key, low scores. {keys}"
    if evaluator in CONTROLS:
        reached = "1.0" if evaluator == "reference" else "0.0"
        return f"{evaluator} is a control: every task must reach {reached}."
    return f"Any LiteLLM name, local, replay:SESSION or samples:FILE. {keys}"


async def ask_and_start(host: WorkbenchApp, source: str = "", docs: str = "") -> None:
    """Show the dialog and start what was chosen; call it from a worker."""
    from workbench.catalog import load_cases

    if may_start(host):
        cases, _ = await asyncio.to_thread(load_cases)
        busy = await asyncio.to_thread(runs.something_runs, host.reader)
        dialog = RegenerationDialog(host, [case.id for case in cases], source, docs, busy=busy)
        await host.push_screen_wait(dialog)


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    from workbench.orders.defaults import regeneration_plan
    from workbench.session.json_forms import picked

    plan = picked(regeneration_plan(settings), "source", "docs", "docs_scope:scope", "evaluator", "samples", "limit")
    return {name: str(value or "") for name, value in plan.items()}
