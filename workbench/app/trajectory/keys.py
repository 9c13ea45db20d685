"""The keys of the Trajectory mode."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("u", "resume", "resume", id="trajectory.resume"),
    Binding("l,right", "step(1)", "step", key_display="h/l", id="trajectory.next-step"),
    Binding("h,left", "step(-1)", "Previous step", id="trajectory.previous-step", show=False),
    Binding("L", "trial(1)", "trial", key_display="H/L", id="trajectory.next-trial"),
    Binding("H", "trial(-1)", "Previous trial", id="trajectory.previous-trial", show=False),
    Binding("T", "trials", "all trials", id="trajectory.trials"),
    Binding("slash", "search", "search", key_display="/", id="trajectory.search"),
    Binding("n", "hit(1)", "next hit", id="trajectory.next-hit"),
    Binding("N", "hit(-1)", "Previous hit", id="trajectory.previous-hit", show=False),
    Binding("s", "scores", "scores", id="trajectory.scores"),
    Binding("W", "score_view", "what it takes", id="trajectory.score-view", show=False),
    Binding("e", "evidence", "evidence", id="trajectory.evidence"),
    Binding("w", "where", "where from", id="trajectory.where-from"),
    Binding("r", "rerun", "rerun", id="trajectory.rerun"),
    Binding("ctrl+r", "rerun_model", "rerun with another model", id="trajectory.rerun-model"),
    Binding("E", "fork", "edit, go on from here", id="trajectory.fork"),
    Binding("c", "cancel", "cancel", id="trajectory.cancel"),
    Binding("x", "export", "export", id="trajectory.export"),
    Binding("right_square_bracket", "tab(1)", "tab", key_display="[ ]", id="trajectory.next-tab"),
    Binding("left_square_bracket", "tab(-1)", "Previous tab", id="trajectory.previous-tab", show=False),
    Binding("m", "raw", "source", id="trajectory.raw"),
    Binding("a", "annotate", "annotate", id="trajectory.annotate"),
    Binding("asterisk", "star", "star", key_display="*", id="labels.star", show=False),
    Binding("t", "tags", "tags", id="labels.tags"),
    Binding("y", "copy", "Copy what has the focus", id="trajectory.copy", show=False),
    Binding("ctrl+e", "open_outside", "open in editor", id="trajectory.open"),
    Binding("greater_than_sign", "more", "Show more of a long text", key_display=">", id="trajectory.more", show=False),
    Binding("j,down", "move(1)", "Down", id="trajectory.down", show=False),
    Binding("k,up", "move(-1)", "Up", id="trajectory.up", show=False),
    Binding("ctrl+d,pagedown", "page(1)", "Page down", id="trajectory.page-down", show=False),
    Binding("ctrl+u,pageup", "page(-1)", "Page up", id="trajectory.page-up", show=False),
    Binding("g,home", "edge(False)", "First", id="trajectory.first", show=False),
    Binding("G,end", "edge(True)", "Last, and follow while live", id="trajectory.last", show=False),
    Binding("enter", "open_here", "Open what is under the cursor", id="trajectory.enter", show=False),
    Binding("escape", "leave", "Leave the search", id="trajectory.escape", show=False),
]
