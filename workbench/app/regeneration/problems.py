"""From failed self-check to failed self-check: which one is looked at, and what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.regeneration.self_check import Problem


class Problems:
    """Keeps which failed self-check was gone to last."""

    def __init__(self) -> None:
        self._at = -1

    @property
    def followed(self) -> bool:
        return self._at >= 0

    def forget(self) -> None:
        """Begin again."""
        self._at = -1

    def next(self, problems: Sequence[Problem]) -> tuple[Problem, str] | None:
        """Return the next one, with what to say of it; None where there is none."""
        if not problems:
            return None
        self._at = (self._at + 1) % len(problems)
        problem = problems[self._at]
        of = f"{self._at + 1:,} of {len(problems):,}"
        return (
            problem,
            f"! {of} · {one_line(problem.name, 60)} · {problem.sentence} · {key_of('regeneration.problem')} next, {key_of('regeneration.escape')} ends",
        )
