"""A place within a trial or a run, where a person wants to go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A step of a trial (``number``, 0 for its outcome), or a sample of a task (``item`` the task, ``number`` from 0).

    In a trial ``item`` is one of its criteria, see :func:`workbench.session.labels.criterion_part`, "" for none.
    ``needle`` is the text that is searched for from there on, "" for none.
    """

    number: int = 0
    needle: str = ""
    item: str = ""
