"""The keys of the Trajectory mode."""

from __future__ import annotations

from textual.binding import BindingType

from workbench.app.keys import bind

KEYS: list[BindingType] = [
    bind("trajectory.resume", "resume", "resume"),
    bind("trajectory.next-step", "step(1)", "step", key_display="h/l"),
    bind("trajectory.previous-step", "step(-1)", "Previous step", show=False),
    bind("trajectory.next-trial", "trial(1)", "trial", key_display="H/L"),
    bind("trajectory.previous-trial", "trial(-1)", "Previous trial", show=False),
    bind("trajectory.trials", "trials", "all trials"),
    bind("trajectory.search", "search", "search"),
    bind("trajectory.next-hit", "hit(1)", "next hit"),
    bind("trajectory.previous-hit", "hit(-1)", "Previous hit", show=False),
    bind("trajectory.scores", "scores", "scores"),
    bind("trajectory.score-view", "score_view", "what it takes", show=False),
    bind("trajectory.evidence", "evidence", "evidence"),
    bind("trajectory.where-from", "where", "where from"),
    bind("trajectory.check", "check_readme", "check"),
    bind("trajectory.check-block", "check_block", "run this block again", show=False),
    bind("trajectory.rerun", "rerun", "rerun"),
    bind("trajectory.rerun-model", "rerun_model", "rerun with another model"),
    bind("trajectory.fork", "fork", "edit, go on from here"),
    bind("trajectory.cancel", "cancel", "cancel"),
    bind("trajectory.export", "export", "export"),
    bind("trajectory.next-tab", "tab(1)", "tab", key_display="[ ]"),
    bind("trajectory.previous-tab", "tab(-1)", "Previous tab", show=False),
    bind("trajectory.raw", "raw", "source"),
    bind("trajectory.annotate", "annotate", "annotate"),
    bind("labels.star", "star", "star", show=False),
    bind("labels.tags", "tags", "tags"),
    bind("trajectory.copy", "copy", "Copy what has the focus", show=False),
    bind("trajectory.open", "open_outside", "open in editor"),
    bind("trajectory.more", "more", "Show more of a long text", show=False),
    bind("trajectory.down", "move(1)", "Down", show=False),
    bind("trajectory.up", "move(-1)", "Up", show=False),
    bind("trajectory.page-down", "page(1)", "Page down", show=False),
    bind("trajectory.page-up", "page(-1)", "Page up", show=False),
    bind("trajectory.first", "edge(False)", "First", show=False),
    bind("trajectory.last", "edge(True)", "Last, and follow while live", show=False),
    bind("trajectory.enter", "open_here", "Open what is under the cursor", show=False),
    bind("trajectory.escape", "leave", "Leave the search", show=False),
]
