"""Ask for a run of an agent in one dialog and start it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.agents.names import AGENTS, agent_info, current_name
from workbench.agents.remote_names import is_remote
from workbench.app.key_table import key_of, with_keys
from workbench.app.toolkit.agreeing import model_problem
from workbench.app.toolkit.form_dialog import ABOUT_WHEN, WHEN, Field, FormDialog, Refused, begins_later
from workbench.app.toolkit.session_field import about_session, problem_of_session, session_field
from workbench.errors import UsageError
from workbench.read_only import ReadOnly, is_read_only

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.engine.estimate import Estimate, Measured
    from workbench.settings import Settings


_MOST_REPEATS = 100


@dataclass(frozen=True, slots=True)
class RunChoice:
    """What was chosen."""

    agent: str
    model: str
    judge: str
    repeats: int
    session: str = ""
    queue: bool = False

    def estimate(self, cases: Sequence[str], measured: Measured, at_once: int) -> Estimate:
        """Return what it will take on these cases, by what former runs took, with so many trials side by side."""
        from workbench.engine.estimate import estimate_trials

        return estimate_trials(
            measured, cases, self.agent, self.model, [self.judge], repeats=self.repeats, at_once=at_once
        )


class RunDialog(FormDialog[RunChoice]):
    """Agent, model, judge and repeats.

    Args:
        title: What is run, for example ``word_counter``.
        cases: Ids of the cases.
        answers: What to start with, by field.
        known: Models to complete what is typed with.
        settings: The settings in force.
        measure: Reads what former runs took.
        session: Session to start with, "" for a new one.
        sessions: Sessions to complete what is typed with.
        busy: Whether a run of the open session is under way or waits, so that it is asked whether to begin after it.
    """

    def __init__(
        self,
        title: str,
        cases: Sequence[str],
        answers: Mapping[str, str],
        known: tuple[str, ...],
        settings: Settings,
        measure: Callable[[], Measured] | None = None,
        session: str = "",
        sessions: tuple[str, ...] = (),
        *,
        busy: bool = False,
    ) -> None:
        fields: tuple[Field, ...] = (
            Field("agent", answers["agent"], [info.name for info in AGENTS]),
            Field("model", answers["model"], known, paths=True),
            Field("judge", answers["judge"], ("offline", *known), paths=True),
            Field("repeats", answers["repeats"], digits=3),
            session_field(session, sessions),
        )
        fields += (WHEN,) if busy else ()
        super().__init__(f"Run {title}", fields, measure=measure)
        self._cases, self._settings = cases, settings

    def about(self, field: str) -> str:
        if field == "when":
            return with_keys(ABOUT_WHEN)
        if field == "agent":
            return _about(self.text("agent"))
        if field == "session":
            return about_session(self.text("session"))
        if is_remote(self.text("agent")):
            return "An agent over A2A asks a model of its own: what stands here is not asked, only replay:SESSION is."
        model = self.text("model")
        note = f"Any LiteLLM name works, and replay:SESSION. Enter starts, {key_of('dialog.cancel')} cancels."
        if model == "local" or model.startswith("local/"):
            note = "local is the small embedded model: free, no key, low scores. " + note
        return note

    def will_do(self) -> str:
        """Return ``3 cases × 2 repeats × white = 6 trials, about 30 requests, 4 minutes, $0.12``."""
        repeats = self.text("repeats")
        if not _is_count(repeats):
            return ""
        cases, agent = len(self._cases), self.text("agent") or "white"
        parts = [f"{cases:,} case{'' if cases == 1 else 's'}", f"{repeats} repeats" if int(repeats) > 1 else "", agent]
        counted = " × ".join(part for part in parts if part)
        if self.measured is None:
            total = cases * int(repeats)
            return f"{counted} = {total:,} trial{'' if total == 1 else 's'}"
        choice = RunChoice(agent, self.text("model"), self.text("judge"), int(repeats))
        return f"{counted} = {choice.estimate(self._cases, self.measured, self._settings.trials_at_once).sentence()}."

    def answer(self) -> RunChoice | Refused:
        from workbench.errors import WorkbenchError

        repeats = self.text("repeats")
        agent, model, judge = self.text("agent") or "white", self.text("model"), self.text("judge")
        if is_remote(agent) and not model.startswith("replay:"):
            model = ""
        try:
            agent_info(agent)
        except WorkbenchError as error:
            return Refused("agent", str(error))
        if problem := model and model_problem(model, "the agent", self._settings):
            return Refused("model", problem)
        if problem := judge and _judge_problem(judge, self._settings):
            return Refused("judge", problem)
        if not _is_count(repeats):
            return Refused("repeats", "Repeats must be a number from 1 to 100.")
        session = self.text("session")
        if problem := problem_of_session(session):
            return Refused("session", problem)
        later = begins_later(self)
        return later if isinstance(later, Refused) else RunChoice(agent, model, judge, int(repeats), session, later)


def _is_count(text: str) -> bool:
    return text.isdecimal() and 1 <= int(text) <= _MOST_REPEATS


def _judge_problem(judge: str, settings: Settings) -> str:
    from workbench.plugins import path_of
    from workbench.rubric.judging import parse_judge

    if path_of("judge", judge.strip()):
        return ""
    kind = parse_judge(judge).kind
    return model_problem(judge, "the judge", settings) if kind in {"model", "replay"} else ""


def _about(agent: str) -> str:
    if is_remote(agent):
        try:
            return f"{agent_info(agent).description}."
        except UsageError as problem:
            return str(problem)
    for info in AGENTS:
        if info.name == agent:
            return f"{info.title}: {info.description}."
    return f"{', '.join(info.name for info in AGENTS)}, a2a:URL, or package.module:Class of your own."


_DIALOG = "run"


def defaults(settings: Settings) -> dict[str, str]:
    """Return what stands in the dialog where nothing was answered before: what the command line takes."""
    from workbench.engine.defaults import document_plan

    plan = document_plan(settings)
    return {"agent": plan.agent, "model": plan.model, "judge": plan.judge, "repeats": str(plan.repeats)}


async def ask_and_run(host: WorkbenchApp, cases: list[tuple[str, str]]) -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        cases: Key and name of each case.
    """
    if is_read_only():
        host.notify(str(ReadOnly("start runs")), severity="warning")
        return
    from workbench.app import runs
    from workbench.app.toolkit.agreeing import agreed
    from workbench.app.toolkit.answers import remember, remembered
    from workbench.engine.defaults import document_plan
    from workbench.engine.measured import measure
    from workbench.models.defaults import available_models

    settings = host.settings
    title = cases[0][1] if len(cases) == 1 else f"{len(cases)} cases"
    keys = [key for key, _ in cases]
    plain = defaults(settings)
    answers = remembered(_DIALOG, plain)
    session = runs.default_session(host.session_path if host.reader is not None else None)
    known = runs.known_sessions()
    busy = await asyncio.to_thread(runs.something_runs, host.reader)
    while True:
        dialog = RunDialog(
            title,
            keys,
            answers,
            available_models(),
            settings,
            lambda: measure(host.session_path),
            session,
            known,
            busy=busy,
        )
        choice: RunChoice | None = await host.push_screen_wait(dialog)
        if choice is None:
            return
        session = choice.session
        answers = {
            "agent": choice.agent,
            # A remote agent asks a model of its own: what stood there is for the next agent.
            "model": answers["model"] if is_remote(choice.agent) and not choice.model else choice.model,
            "judge": choice.judge,
            "repeats": str(choice.repeats),
        }
        measured = await asyncio.to_thread(measure, host.session_path)
        if await agreed(host, choice.estimate(keys, measured, settings.trials_at_once)):
            break
    remember(_DIALOG, answers, plain)
    plan = replace(
        document_plan(settings, tuple(keys)),
        agent=current_name(choice.agent),
        model=choice.model,
        judge=choice.judge,
        repeats=choice.repeats,
    )
    name = cases[0][1] if len(cases) == 1 else f"{len(cases)}-cases"
    host.start_run(plan, name, runs.session_named(choice.session, name), queue=choice.queue)
