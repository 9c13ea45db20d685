"""Ask in one dialog for which tasks better docstrings are to be written, order that in a thread, and hand it to an engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.regeneration.wording import plural
from workbench.app.toolkit.agreeing import model_problem
from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.toolkit.latest import Latest
from workbench.read_only import ReadOnly, is_read_only
from workbench.results.kinds import Kind
from workbench.session.groups import CONTROLS

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.app.regeneration.loading import RunView
    from workbench.engine.estimate import Estimate
    from workbench.engine.plan import ImprovementPlan
    from workbench.results.tasks import TaskLine
    from workbench.settings import Settings


THIS, MARKED, FAILED = "this task", "marked tasks", "all that failed"
_MOST = {"attempts": 20, "held-out": 1000}


@dataclass(frozen=True, slots=True)
class ImprovementChoice:
    """What was chosen."""

    functions: str
    writer: str
    evaluator: str
    second: str
    attempts: int
    held_out: int


class ImprovementDialog(FormDialog[ImprovementChoice]):
    """Functions, writer, evaluators, attempts and held-out samples.

    Args:
        answers: What to start with, by field.
        models: Models to complete what is typed with.
        settings: The settings in force.
        refused: Says why none of the functions that are chosen can be improved, "" where some can.
        expected: Says what an order takes at most; called in a thread.
    """

    def __init__(
        self,
        answers: Mapping[str, str],
        models: tuple[str, ...],
        settings: Settings,
        refused: Callable[[ImprovementChoice], str],
        expected: Callable[[ImprovementChoice], str],
    ) -> None:
        fields = (
            Field("functions", answers["functions"], (THIS, MARKED, FAILED)),
            Field("writer", answers["writer"], models, placeholder="the model of agents"),
            Field("evaluator", answers["evaluator"], models),
            Field("second", answers["second"], models, placeholder="the evaluator"),
            Field("attempts", answers["attempts"], digits=2),
            Field("held-out", answers["held-out"], digits=4),
        )
        super().__init__("Improve docstrings", fields, "")
        self._settings = settings
        self._refused, self._expected = refused, expected
        self._reckoning = Latest(self, "expected")
        self._asked: ImprovementChoice | None = None
        self._said = ""

    def says_anew(self) -> None:
        super().says_anew()
        choice = self._chosen()
        if isinstance(choice, Refused) or choice == self._asked:
            return
        self._asked, self._said = choice, ""
        self._reckoning.ask(lambda: self._expected(choice), self._has_counted, self._has_counted)

    def _has_counted(self, said: str) -> None:
        self._said = said
        super().says_anew()

    def will_do(self) -> str:
        choice = self._chosen()
        if isinstance(choice, Refused):
            return ""
        return self._refused(choice) or self._said

    def about(self, field: str) -> str:
        return {
            "functions": f"{THIS}, {MARKED} ({key_of('regeneration.mark')} marks), or {FAILED}: documented badly, though their own bodies pass.",
            "writer": "Who writes docstrings: it sees the function, and bodies that failed with what they did, never the tests.",
            "evaluator": "Who writes bodies from docstrings; its former samples are used.",
            "second": "Who writes the held-out samples, so that a gain holds for another model too; empty for the evaluator.",
            "attempts": "Docstrings tried for a function at most; each next one is told why the last was refused.",
            "held-out": "Samples that the writer never sees, which decide; five tell 0 of 5 from 3 of 5.",
        }.get(
            field,
            f"A better docstring is kept only where held-out samples gain by it. Enter starts, {key_of('dialog.cancel')} cancels.",
        )

    def answer(self) -> ImprovementChoice | Refused:
        choice = self._chosen()
        if isinstance(choice, Refused):
            return choice
        for field, model, role in (
            ("writer", choice.writer, "the writer"),
            ("evaluator", choice.evaluator, "the evaluator"),
            ("second", choice.second, "the second evaluator"),
        ):
            if model and (problem := model_problem(model, role, self._settings)):
                return Refused(field, problem)
        if sentence := self._refused(choice):
            return Refused("functions", sentence)
        return choice

    def _chosen(self) -> ImprovementChoice | Refused:
        functions = self.text("functions")
        if functions not in (THIS, MARKED, FAILED):
            return Refused("functions", f"It is {THIS}, {MARKED} or {FAILED}.")
        numbers = {}
        for field, most in _MOST.items():
            text = self.text(field)
            if not (text.isdigit() and 1 <= int(text) <= most):
                return Refused(field, f"{field.capitalize()} must be a number from 1 to {most:,}.")
            numbers[field] = int(text)
        evaluator, second = self.text("evaluator"), self.text("second")
        for field, name in (("evaluator", evaluator), ("second", second)):
            if name in ("reference", "stub") or name.startswith("samples:"):
                return Refused(field, f"{name.partition(':')[0]} reads no docstrings; name a model.")
        if not evaluator:
            return Refused("evaluator", "Name who writes bodies.")
        if second == evaluator:
            return Refused("second", "A second evaluator is another model.")
        return ImprovementChoice(
            functions, self.text("writer"), evaluator, second, numbers["attempts"], numbers["held-out"]
        )


_DIALOG = "improve"


async def ask_and_start(
    host: WorkbenchApp, view: RunView, selected: TaskLine | None, marked: Sequence[TaskLine], lines: Sequence[TaskLine]
) -> bool:
    """Show the dialog and start what was chosen; returns whether that was done. Call it from a worker.

    Args:
        host: The app.
        view: The run that is shown.
        selected: The task under the cursor.
        marked: The tasks that are marked.
        lines: All tasks.
    """
    if is_read_only():
        host.notify(str(ReadOnly("start runs")), severity="warning")
        return False
    from workbench.app.runs import writable_copy
    from workbench.app.toolkit.agreeing import agreed, plain_process
    from workbench.app.toolkit.answers import remember, remembered
    from workbench.engine.improvement_client import ATTEMPTS, HELD_OUT
    from workbench.errors import WorkbenchError
    from workbench.models.defaults import available_models
    from workbench.sandbox import NoIsolation

    session = host.session_path
    if sentence := _unfit(view):
        host.notify(sentence, severity="warning", timeout=8)
        return False
    if session is None:
        return False
    evaluator = view.group.evaluator
    plain = {"writer": "", "second": "", "attempts": str(ATTEMPTS), "held-out": str(HELD_OUT)}
    answers = remembered(_DIALOG, plain)
    bad_one = selected is not None and selected.documented_as is Kind.BADLY
    answers |= {"functions": MARKED if marked else THIS if bad_one else FAILED, "evaluator": evaluator}
    models = await asyncio.to_thread(available_models)

    def chosen(choice: ImprovementChoice) -> list[TaskLine]:
        named = {THIS: [selected] if selected else [], MARKED: marked, FAILED: lines}[choice.functions]
        return [line for line in named if line is not None]

    def fit(choice: ImprovementChoice) -> list[TaskLine]:
        # Of another evaluator it is not known yet how the docstrings carry their functions.
        return [
            line
            for line in chosen(choice)
            if not line.excluded and (line.documented_as is Kind.BADLY or choice.evaluator != evaluator)
        ]

    def refused(choice: ImprovementChoice) -> str:
        return "" if fit(choice) else _why_none(choice.functions, chosen(choice))

    def plan(choice: ImprovementChoice) -> ImprovementPlan:
        return _plan(session, view, choice, [line.id for line in fit(choice)])

    def expected(choice: ImprovementChoice) -> str:
        if not fit(choice):
            return ""
        return f"{plural(len(fit(choice)), 'function')}: {_estimate(session, plan(choice)).sentence()}."

    while True:
        dialog = ImprovementDialog(answers, models, host.settings, refused, expected)
        choice: ImprovementChoice | None = await host.push_screen_wait(dialog)
        if choice is None:
            return False
        answers = {
            "functions": choice.functions,
            "writer": choice.writer,
            "evaluator": choice.evaluator,
            "second": choice.second,
            "attempts": str(choice.attempts),
            "held-out": str(choice.held_out),
        }
        try:
            order = await asyncio.to_thread(plan, choice)
            if not await agreed(host, await asyncio.to_thread(_estimate, session, order)):
                continue
            own = await asyncio.to_thread(writable_copy, session)
            try:
                await asyncio.to_thread(_begin, own, order)
            except NoIsolation as error:
                if not error.promises or not await host.push_screen_wait(plain_process(error)):
                    raise
                order = replace(order, base=replace(order.base, sandbox="process"))
                await asyncio.to_thread(_begin, own, order)
        except (WorkbenchError, OSError) as error:
            host.notify(str(error), title="Improve docstrings", severity="error", timeout=12)
            continue
        remember(_DIALOG, answers, plain)
        if own != session:
            host.open_session(own)
            host.notify(f"An example is only read, so this goes on in a copy: {own.stem}.", timeout=8)
        return True


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
        return (
            f"There are no {functions}: {key_of('regeneration.mark')} marks one."
            if functions == "marked tasks"
            else "There is no task here."
        )
    if len(lines) > 1:
        return f"None of these {len(lines):,} functions is documented badly."
    line = lines[0]
    if line.excluded:
        return f"{line.name} is untestable: {line.reason.rstrip('.') or 'its own body does not pass'}."
    if line.documented_as is None:
        return f"{line.name} has no sample with a verdict yet."
    return f"{line.name} is documented well: {line.passed} of {plural(line.counted, 'sample')} passed."


def _plan(session: Path, view: RunView, choice: ImprovementChoice, tasks: Sequence[str]) -> ImprovementPlan:
    from workbench.engine.improvement_client import resolved_improvement
    from workbench.engine.plan import ImprovementPlan, RegenerationPlan
    from workbench.settings import load

    run = RegenerationPlan.from_json(view.run.config)
    same = choice.evaluator == view.group.evaluator
    base = RegenerationPlan(
        source=run.source,
        docs_scope=run.docs_scope,
        selection=run.selection,
        sandbox=run.sandbox,
        engine=run.engine,
        evaluator=choice.evaluator,
        prompt=view.group.prompt if same else "",
        context=view.group.context if same else "",
        tasks=tuple(tasks),
        spend_limit=load().spend_limit,
    )
    wanted = ImprovementPlan(
        base, choice.writer, choice.held_out, attempts=choice.attempts, below=0.0, second_evaluator=choice.second
    )
    return resolved_improvement(session, wanted)


def _estimate(session: Path, plan: ImprovementPlan) -> Estimate:
    from workbench.engine.measured import measure
    from workbench.engine.study_estimate import estimate_improvement

    return estimate_improvement(measure(session, session), session, plan)


def _begin(session: Path, plan: ImprovementPlan) -> None:
    """Write the order and hand it to a process that executes it.

    Raises:
        NoIsolation: No sandbox was named and none isolates; nothing was written.
    """
    from workbench.engine.improvement_client import launch_improvement, order_improvement

    launch_improvement(session, order_improvement(session, plan))
