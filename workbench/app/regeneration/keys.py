"""The keys of the Regeneration mode, and when they make sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView

KEYS: list[BindingType] = [
    Binding("u", "resume", "resume", id="regeneration.resume"),
    Binding("tab", "next_pane(1)", "next pane", id="pane.next", show=False),
    Binding("F", "clear_filter", "clear filter", id="regeneration.clear-filter"),
    Binding("f", "filter", "filter", id="regeneration.filter"),
    Binding("w", "what_went_wrong", "what went wrong", id="regeneration.went-wrong"),
    # Also where what shows a sample has the focus.
    Binding("o", "arrange('sort_next')", "sort", id="regeneration.sort"),
    Binding("O", "arrange('reverse')", "Sort the other way round", id="regeneration.reverse", show=False),
    Binding("b", "arrange('group_next')", "group by", id="regeneration.group"),
    Binding("r", "rerun", "rerun task", id="regeneration.rerun-task"),
    Binding("R", "rerun_failed", "rerun failed", id="regeneration.rerun-failed"),
    Binding("plus", "add_samples", "5 more samples", key_display="+", id="regeneration.samples"),
    Binding("exclamation_mark", "problem", "failed self-check", key_display="!", id="regeneration.problem"),
    Binding("c", "cancel", "cancel", id="regeneration.cancel"),
    Binding("Y", "docs", "docstring", id="regeneration.docs"),
    Binding("i", "improve", "improve docs", id="regeneration.improve"),
    Binding("I", "improvements", "improvements", id="regeneration.improvements"),
    Binding("n", "hit(1)", "next hit", id="regeneration.next-hit"),
    Binding("N", "hit(-1)", "Previous hit", id="regeneration.previous-hit", show=False),
    Binding("ctrl+n", "new", "new run", id="regeneration.new"),
    Binding("slash", "search", "search", key_display="/", id="regeneration.search"),
    Binding("D", "dropped", "stages, dropped", id="regeneration.dropped"),
    Binding("asterisk", "star", "star", key_display="*", id="labels.star", show=False),
    Binding("t", "tags", "tags", id="labels.tags"),
    Binding("a", "remark", "remark", id="labels.remark", show=False),
    Binding("space", "mark", "mark", id="regeneration.mark"),
    Binding("M", "mark_group", "Mark the evaluator", id="regeneration.mark-evaluator", show=False),
    Binding("C", "compare", "compare", id="regeneration.compare"),
    Binding("x", "export", "export", id="regeneration.export"),
    Binding("ctrl+e", "open_outside", "open in editor", id="regeneration.open"),
    Binding("l,right", "sample(1)", "sample", key_display="h/l", id="regeneration.next-sample"),
    Binding("h,left", "sample(-1)", "Previous sample", id="regeneration.previous-sample", show=False),
    Binding("J", "task(1)", "Next task from any pane", id="regeneration.next-task", show=False),
    Binding("K", "task(-1)", "Previous task from any pane", id="regeneration.previous-task", show=False),
    Binding("L", "run(1)", "Next run", id="regeneration.next-run", show=False),
    Binding("H", "run(-1)", "Previous run", id="regeneration.previous-run", show=False),
    Binding("v", "evaluator", "next evaluator", id="regeneration.evaluator"),
    Binding("right_square_bracket", "tab(1)", "tab", key_display="[ ]", id="regeneration.next-tab"),
    Binding("left_square_bracket", "tab(-1)", "Previous tab", id="regeneration.previous-tab", show=False),
    Binding("z", "zoom", "zoom", id="regeneration.zoom", show=False),
    Binding(
        "greater_than_sign", "more", "Show more of a long text", key_display=">", id="regeneration.more", show=False
    ),
    Binding("y", "copy", "Copy", id="regeneration.copy", show=False),
    Binding("j,down", "move(1)", "Down", id="regeneration.down", show=False),
    Binding("k,up", "move(-1)", "Up", id="regeneration.up", show=False),
    Binding("ctrl+d,pagedown", "page(1)", "Page down", id="regeneration.page-down", show=False),
    Binding("ctrl+u,pageup", "page(-1)", "Page up", id="regeneration.page-up", show=False),
    Binding("g,home", "edge(False)", "First", id="regeneration.first", show=False),
    Binding("G,end", "edge(True)", "Last", id="regeneration.last", show=False),
    Binding("enter", "zoom", "Zoom the pane", id="regeneration.enter", show=False),
    Binding("escape", "leave", "Leave search, zoom, pane", id="regeneration.escape", show=False),
]
ON_THE_RUN = frozenset({"resume", "cancel", "rerun", "rerun_failed", "add_samples", "export", "open_outside", "copy"})
"""Actions on the run, which say themselves whether they make sense."""
_ON_TASKS = frozenset(
    {
        "filter",
        "docs",
        "improve",
        "sample",
        "tab",
        "arrange",
        "what_went_wrong",
        "mark",
        "mark_group",
        "compare",
    }
)


def makes_sense(action: str, view: RunView | None, *, building: bool, searching: bool, filtered: bool) -> bool:
    """Return whether an action makes sense now.

    Args:
        action: Its name; any other than those of this mode always does.
        view: The run that is shown.
        building: Whether it is shown how tasks are built, in the place of the tasks.
        searching: Whether a search was made.
        filtered: Whether a filter hides tasks.
    """
    match action:
        case "hit":
            return searching
        case "problem":
            return view is not None and bool(view.problems)
        case "evaluator":
            return view is not None and len(view.evaluators) > 1
        case "clear_filter":
            return filtered and not building
        case "dropped":
            return view is not None and not view.building and bool(view.tasks)
        case "run" | "search":
            return view is not None
        case _:
            return action not in _ON_TASKS or (view is not None and not building)
