"""The docstrings of the run that is shown, to be improved: how the last order stands, a new one, and all that was tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.app.toolkit.header import Part
from workbench.app.toolkit.latest import Latest

if TYPE_CHECKING:
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.results.tasks import TaskLine


class Improving:
    """Reads in a thread how the last order stands, asks for a new one, and opens the list of attempts.

    Attributes:
        said: How the last order for the run stands, "" where there is none.

    Args:
        shown: The mode.
        push: Opens a screen over it.
        changed: Called when ``said`` is another.
    """

    def __init__(self, shown: RegenerationScreen, push: Callable[[Any], object], changed: Callable[[], None]) -> None:
        self.said = ""
        self._shown = shown
        self._push = push
        self._changed = changed
        self._run = ""
        self._reading = Latest(shown, "improvement")

    def of(self, run: str) -> None:
        """Begin with another run, or go on with the one that is shown."""
        if self._run != run:
            self._run, self.said = run, ""
            self.read()

    def read(self) -> None:
        """Read how the last order stands."""
        from workbench.app.regeneration.improving.reading import standing_of

        reader, run = self._shown.workbench.reader, self._run
        if reader is not None and run:
            self._reading.ask(lambda: standing_of(reader, run), self._show, lambda sentence: None)

    def _show(self, said: str) -> None:
        if said != self.said:
            self.said = said
            self._changed()

    def parts(self) -> tuple[Part, ...]:
        return (Part(f"{self.said}: I", rank=3, short=f"{self.said[:1]} docstrings: I"),) if self.said else ()

    async def ask(self) -> None:
        """Ask for whom better docstrings are to be written, start that and show it; call it from a worker."""
        from workbench.app.regeneration.improving.starting import ask_and_start

        shown = self._shown
        if shown.view is None:
            return
        session = shown.workbench.session_path
        marked = shown.workbench.marks.letters(session, "task") if session is not None else {}
        chosen: Sequence[TaskLine] = tuple(line for line in shown.lines if line.id in marked)
        if await ask_and_start(shown.workbench, shown.view, shown.selected_task, chosen, tuple(shown.lines)):
            self.open()

    def open(self) -> None:
        """Show the docstrings that were tried for the run."""
        from workbench.app.regeneration.improving.screen import ImprovingScreen

        if self._shown.view is not None:
            self._push(ImprovingScreen(self._shown.view.run.id))
