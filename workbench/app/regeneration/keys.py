"""The keys of the Regeneration mode, and when they make sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import BindingType

from workbench.app.keys import bind

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView

KEYS: list[BindingType] = [
    bind("regeneration.resume", "resume", "resume"),
    bind("pane.next", "next_pane(1)", "next pane", show=False),
    bind("regeneration.clear-filter", "clear_filter", "clear filter"),
    bind("regeneration.filter", "filter", "filter"),
    bind("regeneration.went-wrong", "what_went_wrong", "what went wrong"),
    # Also where what shows a sample has the focus.
    bind("regeneration.sort", "arrange('sort_next')", "sort"),
    bind("regeneration.reverse", "arrange('reverse')", "Sort the other way round", show=False),
    bind("regeneration.group", "arrange('group_next')", "group by"),
    bind("regeneration.rerun-task", "rerun", "rerun task"),
    bind("regeneration.rerun-failed", "rerun_failed", "rerun failed"),
    bind("regeneration.samples", "add_samples", "5 more samples"),
    bind("regeneration.problem", "problem", "failed self-check"),
    bind("regeneration.cancel", "cancel", "cancel"),
    bind("regeneration.docs", "docs", "docstring"),
    bind("regeneration.improve", "improve", "improve docs"),
    bind("regeneration.improvements", "improvements", "improvements"),
    bind("regeneration.next-hit", "hit(1)", "next hit"),
    bind("regeneration.previous-hit", "hit(-1)", "Previous hit", show=False),
    bind("regeneration.new", "new", "new run"),
    bind("regeneration.search", "search", "search"),
    bind("regeneration.dropped", "dropped", "stages, dropped"),
    bind("labels.star", "star", "star", show=False),
    bind("labels.tags", "tags", "tags"),
    bind("labels.remark", "remark", "remark", show=False),
    bind("regeneration.mark", "mark", "mark"),
    bind("regeneration.mark-evaluator", "mark_group", "Mark the evaluator", show=False),
    bind("regeneration.compare", "compare", "compare"),
    bind("regeneration.export", "export", "export"),
    bind("regeneration.open", "open_outside", "open in editor"),
    bind("regeneration.next-sample", "sample(1)", "sample", key_display="h/l"),
    bind("regeneration.previous-sample", "sample(-1)", "Previous sample", show=False),
    bind("regeneration.next-task", "task(1)", "Next task from any pane", show=False),
    bind("regeneration.previous-task", "task(-1)", "Previous task from any pane", show=False),
    bind("regeneration.next-run", "run(1)", "Next run", show=False),
    bind("regeneration.previous-run", "run(-1)", "Previous run", show=False),
    bind("regeneration.evaluator", "evaluator", "next evaluator"),
    bind("regeneration.next-tab", "tab(1)", "tab", key_display="[ ]"),
    bind("regeneration.previous-tab", "tab(-1)", "Previous tab", show=False),
    bind("regeneration.zoom", "zoom", "zoom", show=False),
    bind("regeneration.more", "more", "Show more of a long text", show=False),
    bind("regeneration.copy", "copy", "Copy", show=False),
    bind("regeneration.down", "move(1)", "Down", show=False),
    bind("regeneration.up", "move(-1)", "Up", show=False),
    bind("regeneration.page-down", "page(1)", "Page down", show=False),
    bind("regeneration.page-up", "page(-1)", "Page up", show=False),
    bind("regeneration.first", "edge(False)", "First", show=False),
    bind("regeneration.last", "edge(True)", "Last", show=False),
    bind("regeneration.enter", "zoom", "Zoom the pane", show=False),
    bind("regeneration.escape", "leave", "Leave search, zoom, pane", show=False),
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
            return view is not None and bool(view.check.problems)
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
