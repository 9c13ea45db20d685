"""Asks for a model, and says at each letter what starting with it will do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.widgets import Input

from workbench.app.key_table import key_of
from workbench.app.toolkit.completion import suggester
from workbench.app.toolkit.form_dialog import Field, FormDialog, Refused
from workbench.app.toolkit.model_check import model_problem

if TYPE_CHECKING:
    from workbench.engine.estimate import Measured
    from workbench.settings import Settings


class ModelDialog(FormDialog[str]):
    """Ends with the model.

    Args:
        settings: The settings in force, which say what can be asked.
        title: What is started.
        model: Model to start with.
        known: Models to complete what is typed with.
        says: What starting with a model will do, by what former work took (None until that is known).
        refused: Why it makes no sense with a model, "" where it does.
        measure: Reads what former work took; models that were used before complete what is typed, too.
    """

    def __init__(
        self,
        settings: Settings,
        title: str,
        model: str,
        known: Sequence[str],
        says: Callable[[str, Measured | None], str],
        refused: Callable[[str], str] = lambda model: "",
        measure: Callable[[], Measured] | None = None,
    ) -> None:
        super().__init__(title, (Field("model", model, known, paths=True),), "model", measure)
        self._settings, self._known, self._says, self._refused = settings, known, says, refused

    def has_measured(self, measured: Measured) -> None:
        """Models that were used before are known as well."""
        self._known = tuple(dict.fromkeys((*(rate.model for rate in measured.trials), *self._known)))
        self.query_one("#model", Input).suggester = suggester(self._known, paths=True)
        super().has_measured(measured)

    def about(self, field: str) -> str:
        """Return which models there are."""
        others = ", ".join(self._known[:4])
        used = f"Used before or at hand: {others}. " if others else ""
        return (
            f"{used}Any LiteLLM name works, local, and replay:SESSION. Enter starts, {key_of('dialog.cancel')} cancels."
        )

    def will_do(self) -> str:
        """Return what starting with the model that is typed will do."""
        model = self.text("model")
        return self._says(model, self.measured) if model else ""

    def answer(self) -> str | Refused:
        """Return the model, or why it cannot be asked."""
        model = self.text("model")
        problem = model_problem(model, "the agent", self._settings) or self._refused(model)
        return Refused("model", problem) if problem else model
