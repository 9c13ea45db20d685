"""Ask for a regeneration run in one dialog, plan it in a thread, and show it as it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of, with_keys
from workbench.app.toolkit.agreeing import model_problem
from workbench.app.toolkit.form_dialog import ABOUT_WHEN, WHEN, Field, FormDialog, Refused, begins_later
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.session_field import about_session, problem_of_session, session_field
from workbench.documenters.names import SCOPES
from workbench.read_only import ReadOnly, is_read_only
from workbench.session.groups import CONTROLS

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Documentation, Estimate, Measured
    from workbench.engine.plan import RegenerationPlan
    from workbench.settings import Settings


_DOCS = ("original", "none", "llm:", "folder:", "source:")
_MOST_SAMPLES = 1000


@dataclass(frozen=True, slots=True)
class RegenerationChoice:
    """What was chosen; ``limit`` 0 is all tasks."""

    source: str
    docs: str
    evaluator: str
    samples: int
    limit: int
    session: str = ""
    queue: bool = False
    docs_scope: str = "repository"

    def tasks(self, measured: Measured) -> int | None:
        """Return how many tasks there will be, None where none of the source were ever built."""
        from workbench.engine.regeneration_estimate import known_tasks

        return known_tasks(measured, self.source, self.limit)

    def plan(self) -> RegenerationPlan:
        from workbench.engine.plan import RegenerationPlan

        return RegenerationPlan(
            source=self.source,
            docs=self.docs,
            docs_scope=self.docs_scope,
            evaluator=self.evaluator,
            samples=self.samples,
            limit=self.limit,
        )

    def estimate(self, measured: Measured) -> Estimate:
        """Return what its candidates will take, without what the session has already, and without what docs ask before."""
        from workbench.engine.plan import Ask
        from workbench.engine.regeneration_estimate import estimate_ask

        return estimate_ask(measured, self.source, Ask(self.evaluator, self.samples, limit=self.limit))


class RegenerationDialog(FormDialog[RegenerationChoice]):
    """Source, docs and their scope, evaluator, samples and limit.

    Args:
        answers: What to start with, by field.
        models: Models to complete what is typed with.
        cases: Cases to complete what is typed with.
        settings: The settings in force.
        measure: Reads what former runs took.
        session: Session to start with, "" for a new one.
        sessions: Sessions to complete what is typed with.
        busy: Whether a run of the open session is under way or waits, so that it is asked whether to begin after it.
    """

    def __init__(
        self,
        answers: Mapping[str, str],
        models: tuple[str, ...],
        cases: tuple[str, ...],
        settings: Settings,
        measure: Callable[[], Measured] | None = None,
        session: str = "",
        sessions: tuple[str, ...] = (),
        *,
        busy: bool = False,
    ) -> None:
        fields: tuple[Field, ...] = (
            Field("source", answers["source"], cases, paths=True),
            Field("docs", answers["docs"], (*_DOCS, *(f"llm:{model}" for model in models)), paths=True),
            Field("scope", answers["scope"], SCOPES),
            Field("evaluator", answers["evaluator"], (*models, "reference", "stub"), paths=True),
            Field("samples", answers["samples"], digits=4),
            Field("limit", answers["limit"], digits=6, placeholder="all tasks"),
            session_field(session, sessions),
        )
        fields += (WHEN,) if busy else ()
        first = "" if answers["source"] else "source"
        super().__init__("Test documentation by regeneration", fields, first, measure)
        self._settings = settings
        self._reading = Latest(self, "docs")
        self._asked: RegenerationPlan | None = None
        self._documentation: Documentation | None = None

    def says_anew(self) -> None:
        super().says_anew()
        choice = self._chosen()
        if self.measured is None or isinstance(choice, Refused):
            return
        # Evaluator and samples are the same to a doc system: typing these must not have it counted again.
        plan = replace(choice, evaluator="reference", samples=1, session="", queue=False).plan()
        if plan != self._asked:
            self._asked, self._documentation = plan, None
            measured, into = self.measured, place_of(choice.session)
            self._reading.ask(lambda: _counted(measured, plan, into), self._has_counted, lambda sentence: None)

    def _has_counted(self, found: tuple[RegenerationPlan, Documentation]) -> None:
        plan, documentation = found
        if plan == self._asked:
            self._documentation = documentation
            super().says_anew()

    def _estimate(self, choice: RegenerationChoice, measured: Measured) -> Estimate:
        return replace(choice.estimate(measured), documentation=self._documentation)

    def about(self, field: str) -> str:
        evaluator = self.text("evaluator")
        if field == "session":
            return about_session(self.text("session"))
        if field == "when":
            return with_keys(ABOUT_WHEN)
        if field == "source":
            return "A case, a folder, a git URL@revision or NAME==VERSION, with pytest tests."
        if field == "docs":
            return (
                "original, none, llm:MODEL, repoagent:MODEL, osa:MODEL, command:PROGRAM…, a documented copy (folder:PATH, "
                "source:SOURCE), or package.module:Class."
            )
        if field == "scope":
            return (
                "repository: all docstrings of the tree are the doc system's. target: only that of the function itself."
            )
        if field == "limit":
            return "Only the first so many tasks; empty for all."
        if evaluator == "local" or evaluator.startswith("local/"):
            return f"local is the small embedded model: free, no key, low scores. Enter starts, {key_of('dialog.cancel')} cancels."
        if evaluator in {"reference", "stub"}:
            return f"{evaluator} is a control: every task must reach {'1.0' if evaluator == 'reference' else '0.0'}."
        return (
            f"Any LiteLLM name, local, replay:SESSION or samples:FILE. Enter starts, {key_of('dialog.cancel')} cancels."
        )

    def will_do(self) -> str:
        """Return ``word_counter: 12 tasks × 3 samples × local = 36 candidates, about 36 requests, 4 minutes, $0``."""
        choice = self._chosen()
        if isinstance(choice, Refused) or self.measured is None:
            return ""
        tasks, named = choice.tasks(self.measured), choice.evaluator or "the default evaluator"
        samples = f"{choice.samples} sample{'' if choice.samples == 1 else 's'}"
        if tasks is None:
            return f"{choice.source}: {samples} × {named} for each task = {self._estimate(choice, self.measured).sentence()}."
        counted = f"{tasks:,} task{'' if tasks == 1 else 's'}"
        told = self._estimate(choice, self.measured).beside(tasks * choice.samples)
        return f"{choice.source}: {counted} × {samples} × {named} = {told}."

    def answer(self) -> RegenerationChoice | Refused:
        choice = self._chosen()
        if isinstance(choice, Refused):
            return choice
        evaluator = choice.evaluator
        named = evaluator in CONTROLS or evaluator.startswith("samples:")
        problem = "" if named or not evaluator else model_problem(evaluator, "the evaluator", self._settings)
        return Refused("evaluator", problem) if problem else choice

    def _chosen(self) -> RegenerationChoice | Refused:
        samples, limit = self.text("samples"), self.text("limit") or "0"
        if not self.text("source"):
            return Refused("source", "Name a case, a folder, a git URL or NAME==VERSION.")
        if not (samples.isdigit() and 1 <= int(samples) <= _MOST_SAMPLES):
            return Refused("samples", f"Samples must be a number from 1 to {_MOST_SAMPLES:,}.")
        if not limit.isdigit():
            return Refused("limit", "Limit must be a number, or empty for all tasks.")
        scope = self.text("scope") or SCOPES[0]
        if scope not in SCOPES:
            return Refused("scope", f"Scope must be {', '.join(SCOPES[:-1])} or {SCOPES[-1]}.")
        session = self.text("session")
        if problem := problem_of_session(session):
            return Refused("session", problem)
        later = begins_later(self)
        if isinstance(later, Refused):
            return later
        docs, evaluator = self.text("docs") or "original", self.text("evaluator")
        source = self.text("source")
        return RegenerationChoice(source, docs, evaluator, int(samples), int(limit), session, later, scope)


def place_of(session: str) -> Path | None:
    """Return the file of the session that is named in the dialog, None for a new one."""
    from workbench.engine.session_names import new_place

    return new_place(session) if session else None


def _counted(measured: Measured, plan: RegenerationPlan, into: Path | None) -> tuple[RegenerationPlan, Documentation]:
    from workbench.engine.regeneration_estimate import documentation_of

    return plan, documentation_of(measured, plan, into)


_DIALOG = "regenerate"
_FIRST_CASE = "word_counter"


async def ask_and_start(host: WorkbenchApp, source: str = "", docs: str = "") -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        source: Case or source to start with, "" for the first one of the catalogue.
        docs: Doc system to start with.
    """
    if is_read_only():
        host.notify(str(ReadOnly("start runs")), severity="warning")
        return
    from workbench.app import runs
    from workbench.app.toolkit.agreeing import agreed, plain_process
    from workbench.app.toolkit.answers import remember, remembered
    from workbench.engine.measured import measure
    from workbench.engine.regeneration_estimate import estimate_order
    from workbench.errors import WorkbenchError
    from workbench.sandbox import NoIsolation

    settings = host.settings
    cases, models, plain = await asyncio.to_thread(_known, settings)
    open_now = host.session_path if host.reader is not None else None
    answers = remembered(_DIALOG, plain)
    answers["source"] = source or answers["source"] or (_FIRST_CASE if _FIRST_CASE in cases else next(iter(cases), ""))
    answers["docs"] = docs or answers["docs"]
    session, known = runs.default_session(open_now), runs.known_sessions()
    busy = await asyncio.to_thread(runs.something_runs, host.reader)
    while True:
        dialog = RegenerationDialog(
            answers,
            models,
            cases,
            settings,
            partial(measure, open_now, into=place_of(session)),
            session,
            known,
            busy=busy,
        )
        choice = await host.push_screen_wait(dialog)
        if choice is None:
            return
        session = choice.session
        answers = {
            "source": choice.source,
            "docs": choice.docs,
            "scope": choice.docs_scope,
            "evaluator": choice.evaluator,
            "samples": str(choice.samples),
            "limit": str(choice.limit or ""),
        }
        into = place_of(session)
        measured = await asyncio.to_thread(measure, open_now, into=into)
        try:
            told = await asyncio.to_thread(estimate_order, measured, choice.plan(), into)
        except (WorkbenchError, OSError):
            told = choice.estimate(measured)  # what cannot be used is said by the order itself
        if await agreed(host, told):
            break
    remember(_DIALOG, {**answers, "source": plain["source"] if source else choice.source}, plain)
    host.notify(f"Starting the regeneration of {choice.source}…", timeout=2)
    try:
        try:
            path, run, evaluator = await asyncio.to_thread(_begin, host, choice)
        except NoIsolation as error:
            if not error.promises or not await host.push_screen_wait(plain_process(error)):
                raise
            path, run, evaluator = await asyncio.to_thread(_begin, host, choice, "process")
    except (WorkbenchError, OSError) as error:
        host.notify(str(error), title="Regeneration", severity="error", timeout=12)
        return
    host.open_session(path, then=lambda: host.show_run(run, evaluator))


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    from workbench.engine.defaults import regeneration_plan

    plan = regeneration_plan(settings)
    limit = str(plan.limit or "")
    return {
        "source": plan.source,
        "docs": plan.docs,
        "scope": plan.docs_scope,
        "evaluator": plan.evaluator,
        "samples": str(plan.samples),
        "limit": limit,
    }


def _known(settings: Settings) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    from workbench.catalog import load_cases
    from workbench.models.defaults import available_models

    cases, _ = load_cases()
    return tuple(case.id for case in cases), available_models(), defaults(settings)


def _begin(host: WorkbenchApp, choice: RegenerationChoice, sandbox: str = "") -> tuple[Path, str, str]:
    """Write the run into the session that was chosen, or into a new one where that is only read, and hand it to an engine.

    Returns:
        The session, the run, and whose samples were asked for.

    Raises:
        NoIsolation: No sandbox was named and none isolates; nothing was written.
    """
    from workbench.app import runs
    from workbench.engine import launching
    from workbench.engine.queue import enqueue
    from workbench.engine.regeneration_client import order_regeneration

    name = f"regenerate-{Path(choice.source).name}"
    path = runs.session_named(choice.session, name)
    path = path if not path.exists() or runs.is_writable(path) else runs.new_session(name)
    plan = replace(choice.plan(), spend_limit=host.settings.spend_limit, sandbox=sandbox)
    order = order_regeneration(path, plan)
    if choice.queue:
        enqueue(path, order.run)
    launching.launch(path, order.run, host.warm)
    return path, order.run, order.ask.evaluator
