"""Ask for a regeneration run in one dialog, plan it in a thread, and show it as it goes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app import runs
from workbench.app.key_table import key_of
from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.ordering import Begun, OrderForm, check_named_model, may_start, remembered, run_fields
from workbench.documenters.names import SCOPES
from workbench.engine.session_names import new_place
from workbench.errors import UsageError, WorkbenchError
from workbench.session.groups import CONTROLS
from workbench.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Documentation, Estimate
    from workbench.engine.plan import RegenerationPlan
    from workbench.settings import Settings


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
    """Source, docs and their scope, evaluator, samples and limit.

    Args:
        host: The app.
        answers: What stands in the fields at first.
        plain: See :class:`OrderForm`.
        models: Models to complete what is typed with.
        cases: Cases to complete what is typed with.
        busy: Whether a run of the open session is under way or waits.
    """

    DIALOG = "regenerate"

    def __init__(
        self,
        host: WorkbenchApp,
        answers: Mapping[str, str],
        plain: Mapping[str, str],
        models: tuple[str, ...],
        cases: tuple[str, ...],
        *,
        busy: bool = False,
    ) -> None:
        self._documentation: dict[tuple[RegenerationPlan, Path | None], Documentation] = {}
        docs = (*_DOCS, *(f"llm:{model}" for model in models))
        needed = "Name a case, a folder, a git URL or NAME==VERSION."
        fields = (
            Field("source", answers["source"], _ABOUT_SOURCE, cases, paths=True, needed=needed),
            Field("docs", answers["docs"], _ABOUT_DOCS, docs, paths=True),
            Field("scope", answers["scope"], _ABOUT_SCOPE, SCOPES, check=_check_scope),
            Field("evaluator", answers["evaluator"], "", (*models, *CONTROLS), paths=True, check=self._check_evaluator),
            Field("samples", answers["samples"], most=1000),
            Field("limit", answers["limit"], _ABOUT_LIMIT, most=999_999, placeholder="all tasks"),
            *run_fields(runs.default_session(host.opened), busy=busy),
        )
        first = "" if answers["source"] else "source"
        super().__init__(host, "Test documentation by regeneration", fields, plain, first, note=_about_evaluator)

    def _check_evaluator(self, evaluator: str) -> None:
        if evaluator not in CONTROLS and not evaluator.startswith("samples:"):
            check_named_model(evaluator, "the evaluator", self.host.settings)

    def read(self, values: Values) -> RegenerationPlan:
        from workbench.engine.plan import RegenerationPlan

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
        from workbench.engine.plan import Ask
        from workbench.engine.regeneration_estimate import documentation_of, estimate_ask

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
        from workbench.engine.regeneration_estimate import known_tasks

        told, named = self.estimate(plan, values), plan.evaluator or "the default evaluator"
        into = new_place(values["session"]) if values["session"] else None
        tasks = known_tasks(self.measured(into), plan.source, plan.limit)
        samples = f"{plural(plan.samples, 'sample')} × {named}"
        if tasks is None:
            return f"{plan.source}: {samples} for each task = {told.sentence()}."
        return f"{plan.source}: {plural(tasks, 'task')} × {samples} = {told.beside(tasks * plan.samples)}."

    def begin(self, plan: RegenerationPlan, values: Values) -> Begun:
        from workbench.engine import launching
        from workbench.engine.launching import enqueue
        from workbench.engine.regeneration_client import order_regeneration

        host, name = self.host, f"regenerate-{Path(plan.source).name}"
        path = runs.session_named(values["session"], name)
        path = path if not path.exists() or runs.is_writable(path) else runs.new_session(name)
        order = order_regeneration(path, replace(plan, spend_limit=host.settings.spend_limit))
        if values.get("when") == "queue":
            enqueue(path, order.run)
        launching.launch(path, order.run, host.warm)
        return partial(host.open_session, path, then=partial(host.show_run, order.run, order.ask.evaluator))


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
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        source: Case or source to start with, "" for the last one, at first for one of the catalogue.
        docs: Doc system to start with.
    """
    if not may_start(host):
        return
    cases, models, plain = await asyncio.to_thread(_known, host.settings)
    answers = remembered(RegenerationDialog.DIALOG, plain)
    answers["source"] = source or answers["source"] or (_FIRST_CASE if _FIRST_CASE in cases else next(iter(cases), ""))
    answers["docs"] = docs or answers["docs"]
    if source:
        del plain["source"]
    busy = await asyncio.to_thread(runs.something_runs, host.reader)
    await host.push_screen_wait(RegenerationDialog(host, answers, plain, models, cases, busy=busy))


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    from workbench.engine.defaults import regeneration_plan

    plan = regeneration_plan(settings)
    return {
        "source": plan.source,
        "docs": plan.docs,
        "scope": plan.docs_scope,
        "evaluator": plan.evaluator,
        "samples": str(plan.samples),
        "limit": str(plan.limit or ""),
    }


def _known(settings: Settings) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    from workbench.catalog import load_cases
    from workbench.models.defaults import available_models

    return tuple(case.id for case in load_cases()[0]), available_models(), defaults(settings)
