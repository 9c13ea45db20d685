"""How far the building of tasks is: bars on a terminal, lines of JSON for scripts."""

from __future__ import annotations

from typing import Any

from workbench.commands.output import print_json
from workbench.commands.terminal import Terminal, bars
from workbench.text import one_line


class Bars:
    """The stages on a terminal, on standard error so that the output stays clean."""

    def __init__(self, title: str = "") -> None:
        console = Terminal(stderr=True)
        self._width = max(20, console.width - 66)
        self._progress = bars(console, transient=True)
        self._bars: dict[str, Any] = {}
        if title and console.is_terminal:
            console.print(title, style="bold")

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """Show how far a stage is."""
        if name not in self._bars:
            self._bars[name] = self._progress.add_task(name, total=None, note="")
        if state == "done" and total is None:
            done = total = 1
        self._progress.update(self._bars[name], completed=done, total=total)
        if note:
            self._progress.update(self._bars[name], note=one_line(note.partition("\n")[0], self._width))


class Lines:
    """The stages as lines of JSON: one when a stage begins and one when it ends."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._states: dict[str, str] = {}

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """Print that a stage has turned."""
        if self._states.get(name) != state:
            self._states[name] = state
            values = {"name": name, "state": state, "done": done, "total": total, "note": note}
            print_json({"type": "stage", "source": self._source, **values})
