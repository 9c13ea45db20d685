"""Which screen shows two things side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.app.compare.frame import SideBySide
    from workbench.app.marks import Pair


def screen_for(pair: Pair) -> SideBySide:
    """Return the screen for a pair of one kind."""
    if pair.left.kind == "trial":
        from workbench.app.compare.screen import CompareScreen

        return CompareScreen(pair)
    if pair.left.kind == "candidate":
        from workbench.app.compare.candidate_screen import CandidatesScreen

        return CandidatesScreen(pair)
    if pair.left.kind == "task":
        from workbench.app.compare.tasks_screen import TasksScreen

        return TasksScreen(pair)
    if all(one.kind == "trials" or one.of_trials for one in (pair.left, pair.right)):
        from workbench.app.compare.run_trials_screen import RunTrialsScreen

        return RunTrialsScreen(pair)
    from workbench.app.compare.group_screen import GroupsScreen

    return GroupsScreen(pair)
