"""The dialog before docstrings are improved: for which functions, by whom, tested how, and what that takes at most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.toolkit.latest import Latest
from workbench.app.toolkit.model_check import model_problem

if TYPE_CHECKING:
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
        """Say it, and have it counted in a thread what it takes: that reads the session."""
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
        """Return what starting will take, or why nothing can be improved."""
        choice = self._chosen()
        if isinstance(choice, Refused):
            return ""
        return self._refused(choice) or self._said

    def about(self, field: str) -> str:
        """Return what may stand in a field."""
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
        """Return what was chosen, or what is wrong."""
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
