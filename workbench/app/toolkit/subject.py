"""What has the focus, as plain data: what is copied, opened elsewhere or remarked on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.app.toolkit.document import Document


@dataclass(frozen=True, slots=True)
class Subject:
    """The content of the pane with the focus.

    ``text`` is what is shown, ``whole`` reads all of it where that is only a part; ``name`` is what a notice calls it, ``suffix`` that of a file which holds it; a remark belongs to ``step``,
    to ``criterion`` (see :func:`workbench.session.labels.criterion_part`) or, without these, to the trial and begins with ``about``.
    """

    name: str
    text: str
    suffix: str
    step: int | None = None
    about: str = ""
    criterion: str = ""
    whole: Callable[[], Document] | None = None

    @property
    def question(self) -> str:
        about = f"step {self.step}" if self.step is not None else self.about
        return f"remark on {about}:" if about else "remark:"

    def remark(self, text: str) -> str:
        """Return a remark as it is kept: one on the trial says what it is about."""
        said = text.strip()
        of_trial = self.step is None and not self.criterion
        return f"{self.about}: {said}" if said and self.about and of_trial else said
