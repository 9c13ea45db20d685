"""The panes of a comparison: one for each list, and below the failing tests what the selected one said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.compare.task_tables import FailingRows
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.texts import Static


def panes_of(titles: Mapping[str, str], lists: Iterable[DifferenceList[Any]], current: str) -> list[Container]:
    """Return a pane for each list, one of them current; ``titles`` are the panes' ids with their names."""
    panes: list[Container] = []
    for (name, title), one in zip(titles.items(), lists, strict=True):
        inside: list[Widget] = [one]
        if isinstance(one, FailingRows):
            inside.append(Static("", id="failing-message"))
        panes.append(Container(*inside, id=name, classes="pane -current" if name == current else "pane"))
        set_title(panes[-1], title)
    return panes
