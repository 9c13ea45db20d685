"""The keys of the Study mode."""

from __future__ import annotations

from textual.binding import BindingType

from workbench.app.keys import bind

KEYS: list[BindingType] = [
    bind("study.resume", "resume_study", "go on"),
    bind("study.cancel", "cancel_study", "cancel"),
    bind("study.compare", "compare", "compare"),
    bind("study.measure", "measure", "measure"),
    bind("study.sort", "order", "sort"),
    bind("study.reverse", "reverse", "reverse", show=False),
    bind("study.group", "group", "group"),
    bind("study.fold", "fold", "Fold or unfold a group", show=False),
    bind("study.next-tab", "tab(1)", "tab", key_display="[ ]"),
    bind("study.previous-tab", "tab(-1)", "Previous tab", show=False),
    bind("study.weighting", "weighting", "weighting of rankings"),
    bind("study.next-study", "study(1)", "Next study", show=False),
    bind("study.previous-study", "study(-1)", "Previous study", show=False),
    bind("study.export", "export", "export"),
    bind("study.new", "new_study", "new study"),
    bind("study.back", "leave", "Back to the matrix", show=False),
]
