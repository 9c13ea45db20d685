"""The dialogs for improving docstrings and for exporting the improved ones as a patch or branch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.keys import key_of
from workbench.app.toolkit import order_form
from workbench.app.toolkit.export_dialog import deliver_file, destination, suggested_path
from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.form import Form
from workbench.app.toolkit.order_form import OrderForm
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
_FUNCTIONS = f"Choose {THIS}, {MARKED} or {FAILED}."


class ImprovementDialog(OrderForm["ImprovementPlan"]):
    """A form for functions, writer, evaluators, attempts and held-out samples.

    ``lines`` maps each choice of functions to its tasks.
    """

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
        writer, held_out, attempts, second = order_form.plan_fields(
            ImprovementPlan, order_form.last_answers(self.DIALOG, plain), host.settings, **own
        )
        fields = (
            Field("functions", functions,
                  f"{THIS}, {MARKED} ({key_of('regeneration.mark')} marks), or {FAILED}: badly documented, though their original bodies pass.",
                  tuple(lines), needed=_FUNCTIONS, check=self._check_functions),
            writer,
            Field("evaluator", view.group.evaluator, "The model that writes bodies from docstrings; its existing "
                "samples are reused.",
                  models, needed="Name an evaluator.", check=partial(check, "the evaluator")),
            second, attempts, held_out,
        )  # fmt: skip
        note = f"A docstring is kept only if held-out samples improve. Enter starts, {key_of('dialog.cancel')} cancels."
        super().__init__(host, "Improve docstrings", fields, plain, note=note)

    def _check_functions(self, functions: str) -> None:
        if functions not in self._lines_of:
            raise UsageError(_FUNCTIONS)

    def _check_model(self, role: str, model: str) -> None:
        if model in CONTROLS or model.startswith("samples:"):
            raise UsageError(f"{model.partition(':')[0]} does not read docstrings; name a model.")
        order_form.check_named_model(model, role, self.host.settings)

    def read(self, values: Values) -> ImprovementPlan:
        evaluator, chosen = values["evaluator"], self._lines_of[values["functions"]]
        if values["second"] == evaluator:
            raise BadField("second", "The second evaluator must be a different model.")
        # With another evaluator, it is unknown which functions are badly documented.
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
            self.host.notify(f"Examples are read-only; continuing in a copy: {order.session.stem}.", timeout=8)


async def ask_and_start(host: WorkbenchApp, view: RunView, lines: Mapping[str, Sequence[TaskLine]]) -> bool:
    """Show the dialog, start the order and return whether it was started; call from a worker."""
    session = host.session_path
    if session is None or not order_form.may_start(host):
        return False
    if sentence := _unfit(view):
        host.notify(sentence, severity="warning", timeout=8)
        return False
    return await host.push_screen_wait(ImprovementDialog(host, session, view, lines)) is not None


def _unfit(view: RunView) -> str:
    """Return why the docstrings of a run cannot be improved, or "" if they can."""
    docs = str(view.plan.get("docs") or "original")
    if docs != "original":
        return f"Only the original docs can be improved; this run has the docs {docs.partition(':')[0]}."
    evaluator = view.group.evaluator
    if evaluator in CONTROLS or evaluator.startswith("samples:"):
        return f"{evaluator.partition(':')[0]} does not read docstrings; press {key_of('regeneration.evaluator')} for another evaluator, or {key_of('regeneration.improve')} in a run of a model."
    return ""


def _why_none(functions: str, lines: Sequence[TaskLine]) -> str:
    if not lines:
        none = f"There are no {functions}: {key_of('regeneration.mark')} marks one."
        return none if functions == MARKED else "There is no task here."
    if len(lines) > 1:
        return f"None of these {len(lines):,} functions is badly documented."
    line = lines[0]
    if line.excluded:
        return f"{line.name} is untestable: {line.reason.rstrip('.') or 'its original body does not pass'}."
    if line.documented_as is None:
        return f"{line.name} has no sample with a verdict yet."
    return f"{line.name} is well documented: {line.passed} of {plural(line.counted, 'sample')} passed."


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
    wanted = {"writer": "", **order_form.plan_values(ImprovementPlan, values), "below": 0.0}
    return resolved_improvement(session, ImprovementPlan(base, **wanted))


# -- export


class ExportDocstringsDialog(Form[tuple[str, str]]):
    """Writes the improved docstrings to a patch, a branch or both.

    The result is the name of the patch and of the branch, with "" for one that was not written.
    """

    def __init__(self, host: WorkbenchApp, came: Improved, checkout: Checkout | None) -> None:
        self._host, self._came, self._checkout = host, came, checkout
        possible = checkout is not None and not host.in_browser
        self._no_branch = "" if possible else "A branch requires a source in a git checkout."
        about = self._no_branch or "Creates a branch with one commit; the working tree is unchanged. Empty for none."
        patch = suggested_path(host, suggested_name(came.plan.base.source))
        fields = (
            Field("patch", patch, paths=not host.in_browser, check=self._check_patch),
            Field("branch", "", about, placeholder="no branch", check=self._check_branch),
        )
        note = "A new file for `git apply` or `git am`; empty for none."
        super().__init__("Export improved docstrings", fields, "patch", note=note, starts="Write")

    def _check_patch(self, patch: str) -> None:
        if not self._host.in_browser:
            check_patch(expanded(patch))

    def _check_branch(self, branch: str) -> None:
        if self._no_branch:
            raise UsageError(self._no_branch)

    def read(self, values: Values) -> tuple[str, str]:
        if not values["patch"] and not values["branch"]:
            raise BadField("patch", "Name a file or a branch.")
        return values["patch"], values["branch"]

    def finish(self, answer: tuple[str, str]) -> None:
        self.run_worker(self._finish(*answer))

    async def _finish(self, patch: str, branch: str) -> None:
        try:
            file = destination(self._host, patch) if patch else None
            commit = await asyncio.to_thread(self._write, file, branch)
        except (WorkbenchError, OSError) as error:
            self.refuse(error)
            return
        if file is not None:
            deliver_file(self._host, file, "patch")
        if commit:
            text = f"Created branch {branch} with the docstrings (commit {commit})."
            self._host.notify(text, title="Improve docstrings", timeout=10)
        self.dismiss((patch, branch))

    def _write(self, file: Path | None, branch: str) -> str:
        """Write the patch, create the branch and return its commit. Raises WorkbenchError if either exists."""
        from workbench.improving.changes import patch_of

        changes, message, checkout = self._came.changes, self._came.message, self._checkout
        if file is not None:
            check_patch(file)
        if branch and checkout is not None:
            checkout.check_branch(branch)
        if file is not None:
            file.write_bytes(patch_of(changes, message, checkout.prefix if checkout is not None else ""))
        return checkout.commit(branch, changes, message) if branch and checkout is not None else ""


async def ask_and_export(host: WorkbenchApp, session: Path, improvement: str) -> None:
    """Ask where to export the improved docstrings of an order; call from a worker."""
    from workbench.orders.improve import improved

    came = await asyncio.to_thread(improved, session, improvement)
    checkout = await asyncio.to_thread(source_checkout, came.plan.base.source)
    await host.push_screen_wait(ExportDocstringsDialog(host, came, checkout))
