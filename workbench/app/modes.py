"""The modes by name, each loaded only when it is first shown, and the commands of the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

if TYPE_CHECKING:
    from textual.command import Provider


def cases() -> Screen[None]:
    """Return the mode in which cases are browsed and runs are started."""
    from workbench.app.cases.screen import CasesScreen

    return CasesScreen()


def trajectory() -> Screen[None]:
    """Return the mode that shows a trial step by step."""
    from workbench.app.trajectory.screen import TrajectoryScreen

    return TrajectoryScreen()


def sessions() -> Screen[None]:
    """Return the mode that lists session files."""
    from workbench.app.sessions.screen import SessionsScreen

    return SessionsScreen()


def regeneration() -> Screen[None]:
    """Return the mode that shows what documentation is worth."""
    from workbench.app.regeneration.screen import RegenerationScreen

    return RegenerationScreen()


def study() -> Screen[None]:
    """Return the mode that shows a declared matrix."""
    from workbench.app.study.screen import StudyScreen

    return StudyScreen()


def commands() -> type[Provider]:
    """Return what offers commands in the palette."""
    from workbench.app.palette import WorkbenchCommands

    return WorkbenchCommands


def places() -> type[Provider]:
    """Return what offers places to go to in the palette."""
    from workbench.app.palette import PlaceCommands

    return PlaceCommands
