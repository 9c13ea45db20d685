"""The keys that mean the same in every mode."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("1", "mode('cases')", "Cases", id="app.cases", show=False),
    Binding("2", "mode('trajectory')", "Trajectory", id="app.trajectory", show=False),
    Binding("3", "mode('sessions')", "Sessions", id="app.sessions", show=False),
    Binding("4", "mode('regeneration')", "Regeneration", id="app.regeneration", show=False),
    Binding("5", "mode('study')", "Study", id="app.study", show=False),
    Binding("u", "resume", "resume", id="app.resume"),
    Binding("alt+left", "travel(-1)", "back to where you were", id="app.travel-back", show=False),
    Binding("alt+right", "travel(1)", "forward again", id="app.travel-forward", show=False),
    Binding("U", "runs", "all runs", id="app.runs", show=False),
    Binding("number_sign", "marked", "stars, tags, remarks", key_display="#", id="app.marked", show=False),
    Binding("ctrl+p", "command_palette", "all commands", id="app.palette", show=False, priority=True),
    Binding("ctrl+f", "search", "search all", id="app.search", show=False),
    Binding("question_mark,f1", "help", "help", id="app.help", show=False),
    Binding("ctrl+t", "next_theme", "Next theme", id="app.theme", show=False),
    Binding("escape", "leave_tour", "leave the tour", id="app.leave-tour", show=False, priority=True),
    Binding("q", "quit", "Quit", id="app.quit", show=False),
    Binding("ctrl+c", "interrupt", "Copy what is selected, twice: quit", id="app.interrupt", show=False, priority=True),
]
