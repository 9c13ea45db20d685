"""The one short dialog before a run: its defaults are right, so enter starts."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.agents.names import AGENTS
from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.toolkit.session_field import about_session, problem_of_session, session_field


@dataclass(frozen=True, slots=True)
class RunChoice:
    """What was chosen."""

    agent: str
    model: str
    judge: str
    repeats: int
    session: str = ""


class RunDialog(FormDialog[RunChoice]):
    """Agent, model, judge and repeats.

    Args:
        title: What is run, for example ``word_counter``.
        model: Model to start with.
        judge: Judge to start with.
        known: Models to complete what is typed with.
        agent: Agent to start with: one of ours, or ``package.module:Class``.
        session: Session to start with, "" for a new one.
        sessions: Sessions to complete what is typed with.
    """

    def __init__(
        self,
        title: str,
        model: str,
        judge: str,
        known: tuple[str, ...],
        agent: str = "white",
        session: str = "",
        sessions: tuple[str, ...] = (),
    ) -> None:
        fields = (
            Field("agent", agent, [info.name for info in AGENTS]),
            Field("model", model, known),
            Field("judge", judge, ("offline", *known)),
            Field("repeats", "1", digits=3),
            session_field(session, sessions),
        )
        super().__init__(f"Run {title}", fields)

    def about(self, field: str) -> str:
        """Return what an agent does, or what may be typed."""
        if field == "agent":
            return _about(self.text("agent"))
        if field == "session":
            return about_session(self.text("session"))
        model = self.text("model")
        note = "Any LiteLLM name works, and replay:SESSION. Enter starts, esc cancels."
        if model == "local" or model.startswith("local/"):
            note = "local is the small embedded model: free, no key, low scores. " + note
        return note

    def answer(self) -> RunChoice | Refused:
        """Return what was chosen."""
        repeats = self.text("repeats")
        if not (repeats.isdigit() and 1 <= int(repeats) <= 100):
            return Refused("repeats", "Repeats must be a number from 1 to 100.")
        session = self.text("session")
        if problem := problem_of_session(session):
            return Refused("session", problem)
        return RunChoice(self.text("agent") or "white", self.text("model"), self.text("judge"), int(repeats), session)


def _about(agent: str) -> str:
    """Return what an agent does, or which ones there are."""
    for info in AGENTS:
        if info.name == agent:
            return f"{info.title}: {info.description}."
    return f"{', '.join(info.name for info in AGENTS)}, or package.module:Class of your own."
