"""A field of a form that is one of a few; see :mod:`workbench.app.toolkit.choice`."""

from __future__ import annotations

from dataclasses import dataclass

from textual.widget import Widget

from workbench.app.toolkit.choice import Choice
from workbench.app.toolkit.form_dialog import Filled


@dataclass(frozen=True, slots=True)
class ChoiceField:
    """A line of a form: its name, the value that is chosen, and (value, title, what it means) of each."""

    name: str
    value: str
    options: tuple[tuple[str, str, str], ...]

    def widget(self) -> Widget:
        """Return the line."""
        return OneOf(self.options, self.value, id=self.name)


class OneOf(Choice):
    """A choice that tells the form it stands in."""

    DEFAULT_CSS = "OneOf { background: $panel; padding: 0; }"

    def watch_at(self) -> None:
        """Tell the form."""
        super().watch_at()
        self.post_message(Filled())
