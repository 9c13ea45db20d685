"""What every doc system shares."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.models.types import Answer, Request
from workbench.repository.functions import Function


class Asker(Protocol):
    """Whoever puts a request to a model; the gateway does."""

    async def complete(self, request: Request) -> Answer:
        """Return the answer, or raise ``ModelError``."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """Where the function stands: ``root`` is the pristine tree, ``scope`` the work item for which models are asked."""

    root: Path
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a doc system says about a function.

    Attributes:
        text: The docstring's value; None when the system gives none.
        source: Where it comes from: the documenter's name.
        notes: What went wrong or was repaired on the way.
    """

    text: str | None
    source: str
    notes: tuple[str, ...] = field(default=())

    @property
    def digest(self) -> str:
        """SHA-256 of the text; a part of a candidate's identity."""
        return hashlib.sha256(b"-" if self.text is None else b"+" + self.text.encode("utf-8", "replace")).hexdigest()


class Documenter(Protocol):
    """A doc system."""

    @property
    def name(self) -> str:
        """The text that ``parse_documenter`` reads, for tables and identities."""
        ...

    async def document(self, function: Function, source: bytes, context: DocumentContext) -> Docstring:
        """Return the docstring of ``function``, which was found in the pristine file ``source``."""
        ...
