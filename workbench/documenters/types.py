"""The interface of doc systems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from workbench.base.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.repository import Snapshot


class DocumentationFailed(WorkbenchError):
    """A doc system gave no docstring; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring, None for none, and what went wrong or was repaired."""

    text: str | None
    notes: tuple[str, ...] = field(default=())

    @property
    def digest(self) -> str:
        """SHA-256 of the text; a part of a candidate's identity."""
        return hashlib.sha256(b"-" if self.text is None else b"+" + self.text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of documenting a repository; ``total`` 0 is unknown, ``cost_usd`` comes beside the gateway's."""

    done: int = 0
    total: int = 0
    note: str = ""
    cost_usd: float = 0.0


class DocSystem(Protocol):
    """Documents a repository.

    One that documents classes and modules as well has a second method, ``async def other_docstring(self, path, kind,
    qualified_name, occurrence)``, with ``kind`` ``"class"`` or ``"module"`` (whose qualified name is ""). What it gives
    no docstring has none in any prompt, unless the scope is ``target``.

    Attributes:
        name: Its name on the command line and in identities, see ``parse_docs``.
        needs_model: Whether docstrings cost requests or money: then only those of the requested tasks are fetched, and
            a session's are reused.
    """

    name: str
    needs_model: bool

    async def prepare(self, snapshot: Snapshot, report: Callable[[Progress], None]) -> None:
        """Document a repository, once and first; ``report`` gets progress and cost. Raises WorkbenchError."""

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        """Return the docstring of one function of the repository.

        Args:
            path: Of its file, POSIX, relative to the snapshot's root.
            qualified_name: As Python has it: ``Class.method``, ``outer.<locals>.inner``.
            occurrence: 1 for the first definition of that name in the file, 2 for the second.

        Raises:
            ModelError: A model gave no answer; that function's task is left out.
        """
