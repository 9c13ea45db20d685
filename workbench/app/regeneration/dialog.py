"""The one short dialog before a regeneration run: its defaults are right, so enter starts."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.toolkit.session_field import about_session, problem_of_session, session_field

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


class RegenerationDialog(FormDialog[RegenerationChoice]):
    """Source, docs, evaluator, samples and limit.

    Args:
        source: Case or source to start with.
        docs: Doc system to start with.
        evaluator: Evaluator to start with.
        samples: Samples per task to start with.
        models: Models to complete what is typed with.
        cases: Cases to complete what is typed with.
        session: Session to start with, "" for a new one.
        sessions: Sessions to complete what is typed with.
    """

    def __init__(
        self,
        source: str,
        docs: str,
        evaluator: str,
        samples: int,
        models: tuple[str, ...],
        cases: tuple[str, ...],
        session: str = "",
        sessions: tuple[str, ...] = (),
    ) -> None:
        fields = (
            Field("source", source, cases),
            Field("docs", docs, (*_DOCS, *(f"llm:{model}" for model in models))),
            Field("evaluator", evaluator, (*models, "reference", "stub")),
            Field("samples", str(samples), digits=4),
            Field("limit", "", digits=6, placeholder="all tasks"),
            session_field(session, sessions),
        )
        super().__init__("Test documentation by regeneration", fields, "" if source else "source")

    def about(self, field: str) -> str:
        """Return what may stand in a field, or what the evaluator means."""
        evaluator = self.text("evaluator")
        if field == "session":
            return about_session(self.text("session"))
        if field == "source":
            return "A case, a folder, a git URL@revision or NAME==VERSION, with pytest tests."
        if field == "docs":
            return "original, none, llm:MODEL, a documented copy (folder:PATH, source:SOURCE), or package.module:Class."
        if field == "limit":
            return "Only the first so many tasks; empty for all."
        if evaluator == "local" or evaluator.startswith("local/"):
            return "local is the small embedded model: free, no key, low scores. Enter starts, esc cancels."
        if evaluator in {"reference", "stub"}:
            return f"{evaluator} is a control: every task must reach {'1.0' if evaluator == 'reference' else '0.0'}."
        return "Any LiteLLM name, local, replay:SESSION or samples:FILE. Enter starts, esc cancels."

    def answer(self) -> RegenerationChoice | Refused:
        """Return what was chosen."""
        samples, limit = self.text("samples"), self.text("limit") or "0"
        if not self.text("source"):
            return Refused("source", "Name a case, a folder, a git URL or NAME==VERSION.")
        if not (samples.isdigit() and 1 <= int(samples) <= _MOST_SAMPLES):
            return Refused("samples", f"Samples must be a number from 1 to {_MOST_SAMPLES:,}.")
        if not limit.isdigit():
            return Refused("limit", "Limit must be a number, or empty for all tasks.")
        session = self.text("session")
        if problem := problem_of_session(session):
            return Refused("session", problem)
        docs = self.text("docs") or "original"
        return RegenerationChoice(self.text("source"), docs, self.text("evaluator"), int(samples), int(limit), session)
