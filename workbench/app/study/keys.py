"""The keys of the Study mode."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("u", "resume_study", "go on", id="study.resume"),
    Binding("c", "cancel_study", "cancel", id="study.cancel"),
    Binding("C", "compare", "compare", id="study.compare"),
    Binding("s", "measure", "measure", id="study.measure"),
    Binding("o", "order", "sort", id="study.sort"),
    Binding("O", "reverse", "reverse", id="study.reverse", show=False),
    Binding("b", "group", "group", id="study.group"),
    Binding("minus", "fold", "Fold or unfold a group", key_display="-", id="study.fold", show=False),
    Binding("right_square_bracket", "tab(1)", "tab", key_display="[ ]", id="study.next-tab"),
    Binding("left_square_bracket", "tab(-1)", "Previous tab", id="study.previous-tab", show=False),
    Binding("B", "weighting", "weighting of rankings", id="study.weighting"),
    Binding("L", "study(1)", "Next study", id="study.next-study", show=False),
    Binding("H", "study(-1)", "Previous study", id="study.previous-study", show=False),
    Binding("x", "export", "export", id="study.export"),
    Binding("ctrl+n", "new_study", "new study", id="study.new"),
    Binding("escape", "leave", "Back to the matrix", id="study.back", show=False),
]
