"""How bindings are declared, and the keys that mean the same in every mode."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.key_ids import KEYS as KEYS_BY_ID


def bind(
    id: str, action: str, title: str, *, show: bool = True, priority: bool = False, key_display: str | None = None
) -> Binding:
    """Return the binding of an action, whose keys stand in :mod:`workbench.key_ids`."""
    return Binding(KEYS_BY_ID[id], action, title, id=id, show=show, priority=priority, key_display=key_display)


KEYS: list[BindingType] = [
    bind("app.cases", "mode('cases')", "Cases", show=False),
    bind("app.trajectory", "mode('trajectory')", "Trajectory", show=False),
    bind("app.sessions", "mode('sessions')", "Sessions", show=False),
    bind("app.regeneration", "mode('regeneration')", "Regeneration", show=False),
    bind("app.study", "mode('study')", "Study", show=False),
    bind("app.resume", "resume", "resume"),
    bind("app.travel-back", "travel(-1)", "back to where you were", show=False),
    bind("app.travel-forward", "travel(1)", "forward again", show=False),
    bind("app.runs", "runs", "all runs", show=False),
    bind("app.marked", "marked", "stars, tags, remarks", show=False),
    bind("app.palette", "command_palette", "all commands", show=False, priority=True),
    bind("app.search", "search", "search all", show=False),
    bind("app.help", "help", "help", show=False),
    bind("app.theme", "next_theme", "Next theme", show=False),
    bind("app.leave-tour", "leave_tour", "leave the tour", show=False, priority=True),
    bind("app.quit", "quit", "Quit", show=False),
    bind("app.interrupt", "interrupt", "Copy what is selected, twice: quit", show=False, priority=True),
]
