"""The interface of doc systems, and the syntax of their names in ``--docs``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import is_dotted, names, path_of

if TYPE_CHECKING:
    from workbench.repository import Snapshot


class DocumentationFailed(WorkbenchError):
    """A doc system did not produce a docstring; the message says why."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring, or None if there is none, and notes on errors and repairs."""

    text: str | None
    notes: tuple[str, ...] = field(default=())

    @property
    def digest(self) -> str:
        """The SHA-256 of the text, which is part of a candidate's identity."""
        return hashlib.sha256(b"-" if self.text is None else b"+" + self.text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class DocumentationProgress:
    """Progress of documenting a repository; ``total`` is 0 if unknown, ``cost_usd`` excludes the gateway's costs."""

    done: int = 0
    total: int = 0
    note: str = ""
    cost_usd: float = 0.0


class DocSystem(Protocol):
    """Documents a repository.

    A doc system that also documents classes and modules has a second method, ``async def other_docstring(self, path,
    kind, qualified_name, occurrence)``, where ``kind`` is ``"class"`` or ``"module"`` (with the qualified name ""). A
    definition without a docstring from the system has none in any prompt, unless the scope is ``target``.

    Attributes:
        name: The name on the command line and in identities, see ``parse_docs``.
        needs_model: Whether docstrings cost requests or money. If so, only those of the requested tasks are fetched,
            and docstrings already in the session are reused.
    """

    name: str
    needs_model: bool

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        """Document the repository before any other call; ``report`` receives progress. Raises WorkbenchError."""

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        """Return the docstring of a function by POSIX path, Python's qualified name, and occurrence of it (from 1).

        Raises ModelError if a model did not answer; the function's task is then left out.
        """


# -- the syntax of --docs


KIND = "doc system"
_PREFIXES = ("llm", "folder", "source")
_WITH_VERSION = re.compile(r"(?P<kind>[a-z]+)-(?P<version>\d[\w.]{0,30}):(?P<rest>.+)", re.ASCII | re.DOTALL)
DOCSTRINGS_ONLY = "docstrings-only"
SCOPES = ("repository", "target", DOCSTRINGS_ONLY)
"""Where a doc system's docstrings appear in prompts.

They are either everywhere in the tree from which prompts are made, or only in the function to regenerate, among the
original docstrings of everything else.
"""
CHOICES = (
    "original, none, llm:MODEL, repoagent:MODEL, osa:MODEL, folder:PATH, source:SOURCE, command:PROGRAM… or "
    "package.module:Class"
)


@dataclass(frozen=True, slots=True)
class DocsName:
    """The parsed name of a doc system: its kind, and its model, path, source, command or dotted path ("" if none).

    Planning a run fills in the ``version`` of an installed program, so that it becomes part of every identity.
    """

    kind: str  # ``original``, ``none``, ``llm``, ``folder``, ``source``, ``extension``, or the name of a program
    rest: str = ""
    version: str = ""

    @property
    def text(self) -> str:
        if self.kind == "extension":
            return self.rest
        kind = f"{self.kind}-{self.version}" if self.version else self.kind
        return f"{kind}:{self.rest}" if self.rest else kind


def parse_docs(text: str) -> DocsName:
    """Parse the value of ``--docs`` without looking anything up."""
    text = text.strip()
    if text == "original":
        return DocsName("original")
    if text == "none":
        return DocsName("none")
    before, _, rest = text.partition(":")
    programs = names(KIND, own=True)
    if before in (*_PREFIXES, *programs) and rest:
        return DocsName(before, rest)
    # A program's name may include its version: ``repoagent-0.2.0:MODEL``.
    if (found := _WITH_VERSION.fullmatch(text)) is not None and found["kind"] in programs:
        return DocsName(found["kind"], found["rest"], found["version"])
    if is_dotted(text, (*_PREFIXES, *programs)):
        return DocsName("extension", text)
    if path := path_of(KIND, text):
        return DocsName("extension", path)
    named = "".join(f", {name}" for name in names(KIND))
    raise UsageError(f"There is no doc system {text!r}; choose {CHOICES}{named}.")


def parse_scope(text: str) -> str:
    """Parse the value of ``--docs-scope``; "" means ``repository``."""
    scope = text.strip() or SCOPES[0]
    if scope not in SCOPES:
        raise UsageError(f"There is no docs scope {text!r}; choose {', '.join(SCOPES[:-1])} or {SCOPES[-1]}.")
    return scope
