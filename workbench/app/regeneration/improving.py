"""Better docstrings: asked for in a dialog and handed to an engine; what was kept, written as a patch or a branch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.form import Form
from workbench.app.toolkit.ordering import (
    OrderForm,
    check_named_model,
    may_start,
    plan_fields,
    plan_values,
    remembered,
)
from workbench.app.toolkit.report_dialog import hand_over, place_of, suggested_place
from workbench.base.errors import BadField, UsageError, WorkbenchError
from workbench.base.files import expanded
from workbench.base.text import plural
from workbench.improving.changes import Checkout, Improved, check_patch, source_checkout, suggested_name
from workbench.orders.improve import ImproveOrder
from workbench.plans.plan import ImprovementPlan
from workbench.results.tasks import DocstringQuality
from workbench.session.groups import CONTROLS

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.results.regeneration_runs import RunView
    from workbench.results.tasks import TaskLine


THIS, MARKED, FAILED = "this task", "marked tasks", "all that failed"
_FUNCTIONS = f"It is {THIS}, {MARKED} or {FAILED}."


class ImprovementDialog(OrderForm["ImprovementPlan"]):
    """Functions, writer, evaluators, attempts and held-out samples, in a run; ``lines`` are the tasks that each choice means."""

    DIALOG = "improve"

    def __init__(
        self, host: WorkbenchApp, session: Path, view: RunView, lines: Mapping[str, Sequence[TaskLine]]
    ) -> None:
        from workbench.models.defaults import available_models
        from workbench.orders.improve import ATTEMPTS, HELD_OUT

        self._session, self._view, self._lines_of = session, view, lines
        plain = {"writer": "", "second": "", "attempts": str(ATTEMPTS), "held-out": str(HELD_OUT)}
        this = lines[THIS]
        bad_one = bool(this) and this[0].documented_as is DocstringQuality.BADLY
        functions = MARKED if lines[MARKED] else THIS if bad_one else FAILED
        check, models = self._check_model, available_models()
        own = {
            name: {"check": partial(check, role)}
            for name, role in (("writer", "the writer"), ("second_evaluator", "the second evaluator"))
        }
        writer, held_out, attempts, second = plan_fields(
            ImprovementPlan, remembered(self.DIALOG, plain), host.settings, **own
        )
        fields = (
            Field("functions", functions,
                  f"{THIS}, {MARKED} ({key_of('regeneration.mark')} marks), or {FAILED}: documented badly, though their own bodies pass.",
                  tuple(lines), needed=_FUNCTIONS, check=self._check_functions),
            writer,
            Field("evaluator", view.group.evaluator, "Who writes bodies from docstrings; its former samples are used.",
                  models, needed="Name who writes bodies.", check=partial(check, "the evaluator")),
            second, attempts, held_out,
        )  # fmt: skip
        note = f"A better docstring is kept only where held-out samples gain by it. Enter starts, {key_of('dialog.cancel')} cancels."
        super().__init__(host, "Improve docstrings", fields, plain, note=note)

    def _check_functions(self, functions: str) -> None:
        if functions not in self._lines_of:
            raise UsageError(_FUNCTIONS)

    def _check_model(self, role: str, model: str) -> None:
        if model in CONTROLS or model.startswith("samples:"):
            raise UsageError(f"{model.partition(':')[0]} reads no docstrings; name a model.")
        check_named_model(model, role, self.host.settings)

    def read(self, values: Values) -> ImprovementPlan:
        evaluator, chosen = values["evaluator"], self._lines_of[values["functions"]]
        if values["second"] == evaluator:
            raise BadField("second", "A second evaluator is another model.")
        # Of another evaluator it is not known yet how the docstrings carry their functions.
        other = evaluator != self._view.group.evaluator
        fit = [
            line.id for line in chosen if not line.excluded and (line.documented_as is DocstringQuality.BADLY or other)
        ]
        if not fit:
            raise BadField("functions", _why_none(values["functions"], chosen))
        return _plan(self._session, self._view, values, fit)

    def order(self, plan: ImprovementPlan, values: Values) -> ImproveOrder:
        return ImproveOrder(self._session, plan)

    def summary(self, plan: ImprovementPlan, values: Values) -> str:
        return f"{plural(len(plan.base.tasks), 'function')}: {self.estimate(self.order(plan, values)).sentence()}."

    def in_plain_process(self, plan: ImprovementPlan) -> ImprovementPlan:
        return replace(plan, base=replace(plan.base, sandbox="process"))

    def show(self, order: ImproveOrder) -> None:
        if order.session != self._session:
            self.host.open_session(order.session)
            self.host.notify(f"An example is only read, so this goes on in a copy: {order.session.stem}.", timeout=8)


async def ask_and_start(host: WorkbenchApp, view: RunView, lines: Mapping[str, Sequence[TaskLine]]) -> bool:
    """Show the dialog and start what was chosen; returns whether that was done. Call it from a worker."""
    session = host.session_path
    if session is None or not may_start(host):
        return False
    if sentence := _unfit(view):
        host.notify(sentence, severity="warning", timeout=8)
        return False
    return await host.push_screen_wait(ImprovementDialog(host, session, view, lines)) is not None


def _unfit(view: RunView) -> str:
    """Return why the docstrings of a run cannot be improved, "" where they can."""
    docs = str(view.plan.get("docs") or "original")
    if docs != "original":
        return f"Docstrings are improved from samples with the original docs; this run has the docs {docs.partition(':')[0]}."
    evaluator = view.group.evaluator
    if evaluator in CONTROLS or evaluator.startswith("samples:"):
        return f"{evaluator.partition(':')[0]} reads no docstrings; press {key_of('regeneration.evaluator')} for another evaluator, or {key_of('regeneration.improve')} in a run of a model."
    return ""


def _why_none(functions: str, lines: Sequence[TaskLine]) -> str:
    if not lines:
        none = f"There are no {functions}: {key_of('regeneration.mark')} marks one."
        return none if functions == MARKED else "There is no task here."
    if len(lines) > 1:
        return f"None of these {len(lines):,} functions is documented badly."
    line = lines[0]
    if line.excluded:
        return f"{line.name} is untestable: {line.reason.rstrip('.') or 'its own body does not pass'}."
    if line.documented_as is None:
        return f"{line.name} has no sample with a verdict yet."
    return f"{line.name} is documented well: {line.passed} of {plural(line.counted, 'sample')} passed."


def _plan(session: Path, view: RunView, values: Values, tasks: Sequence[str]) -> ImprovementPlan:
    from workbench.base.settings import load
    from workbench.orders.improve import resolved_improvement
    from workbench.plans.plan import ImprovementPlan, RegenerationPlan
    from workbench.session.json_forms import picked

    run = RegenerationPlan.from_json(view.run.config)
    same = values["evaluator"] == view.group.evaluator
    base = RegenerationPlan(
        **picked(run, "source", "docs_scope", "selection", "sandbox", "engine"),
        evaluator=values["evaluator"],
        prompt=view.group.prompt if same else "",
        context=view.group.context if same else "",
        tasks=tuple(tasks),
        spend_limit=load().spend_limit,
    )
    wanted = {"writer": "", **plan_values(ImprovementPlan, values), "below": 0.0}
    return resolved_improvement(session, ImprovementPlan(base, **wanted))


# -- what was kept, handed over


class HandingDialog(Form[tuple[str, str]]):
    """Writes what was kept into a patch, a branch or both, and ends with their names, "" for none."""

    def __init__(self, host: WorkbenchApp, came: Improved, checkout: Checkout | None) -> None:
        self._host, self._came, self._checkout = host, came, checkout
        possible = checkout is not None and not host.in_browser
        self._no_branch = "" if possible else "A branch needs a source that is a folder of a git checkout."
        about = self._no_branch or "A branch with one commit; the working tree stays as it is. Empty for none."
        patch = suggested_place(host, suggested_name(came.plan.base.source))
        fields = (
            Field("patch", patch, paths=not host.in_browser, check=self._check_patch),
            Field("branch", "", about, placeholder="no branch", check=self._check_branch),
        )
        note = "A file that git apply and git am take; empty for none. It must not be there yet."
        super().__init__("Write the docstrings that were kept", fields, "patch", note=note, starts="Write")

    def _check_patch(self, patch: str) -> None:
        if not self._host.in_browser:
            check_patch(expanded(patch))

    def _check_branch(self, branch: str) -> None:
        if self._no_branch:
            raise UsageError(self._no_branch)

    def read(self, values: Values) -> tuple[str, str]:
        if not values["patch"] and not values["branch"]:
            raise BadField("patch", "Name a file, or a branch.")
        return values["patch"], values["branch"]

    def finish(self, answer: tuple[str, str]) -> None:
        self.run_worker(self._finish(*answer))

    async def _finish(self, patch: str, branch: str) -> None:
        try:
            file = place_of(self._host, patch) if patch else None
            commit = await asyncio.to_thread(self._write, file, branch)
        except (WorkbenchError, OSError) as error:
            self.refuse(error)
            return
        if file is not None:
            hand_over(self._host, file, "patch")
        if commit:
            said = f"The branch {branch} has the docstrings (commit {commit})."
            self._host.notify(said, title="Improve docstrings", timeout=10)
        self.dismiss((patch, branch))

    def _write(self, file: Path | None, branch: str) -> str:
        """Write the patch, and make the branch; returns its commit. Raises WorkbenchError for what is there already."""
        from workbench.improving.changes import patch_of

        changes, message, checkout = self._came.changes, self._came.message, self._checkout
        if file is not None:
            check_patch(file)
        if branch and checkout is not None:
            checkout.check_branch(branch)
        if file is not None:
            file.write_bytes(patch_of(changes, message, checkout.prefix if checkout is not None else ""))
        return checkout.commit(branch, changes, message) if branch and checkout is not None else ""


async def ask_and_write(host: WorkbenchApp, session: Path, improvement: str) -> None:
    """Ask for a place and write what was kept of an order there; call it from a worker."""
    from workbench.orders.improve import improved

    came = await asyncio.to_thread(improved, session, improvement)
    checkout = await asyncio.to_thread(source_checkout, came.plan.base.source)
    await host.push_screen_wait(HandingDialog(host, came, checkout))
