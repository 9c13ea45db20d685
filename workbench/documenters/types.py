"""The interface of doc systems, and their names: the syntax of ``--docs``."""

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
    """A doc system gave no docstring; the message says why."""


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
class DocumentationProgress:
    """The progress of documenting a repository; ``total`` 0 means unknown, ``cost_usd`` is in addition to the gateway's."""

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

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        """Document a repository, once and first; ``report`` gets progress and cost. Raises WorkbenchError."""

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        """Return the docstring of a function by POSIX path, name as Python has it, and occurrence of that name, from 1.

        ModelError: a model gave no answer; that function's task is left out.
        """


# -- the syntax of --docs


KIND = "doc system"
_PREFIXES = ("llm", "folder", "source")
_WITH_VERSION = re.compile(r"(?P<kind>[a-z]+)-(?P<version>\d[\w.]{0,30}):(?P<rest>.+)", re.ASCII | re.DOTALL)
DOCSTRINGS_ONLY = "docstrings-only"
SCOPES = ("repository", "target", DOCSTRINGS_ONLY)
"""Where a doc system's docstrings stand: everywhere in the tree from which prompts are made, or in the one function whose body
is asked for, between the original docstrings of everything else."""
CHOICES = (
    "original, none, llm:MODEL, repoagent:MODEL, osa:MODEL, folder:PATH, source:SOURCE, command:PROGRAM… or "
    "package.module:Class"
)


@dataclass(frozen=True, slots=True)
class DocsName:
    """A doc system's name: its kind, and its model, path, source, command or dotted path ("" if it has none).

    An order fills in the ``version`` of an installed program, so that it is in every identity.
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
    """Parse ``--docs``; nothing is looked up."""
    text = text.strip()
    if text == "original":
        return DocsName("original")
    if text == "none":
        return DocsName("none")
    before, _, rest = text.partition(":")
    programs = names(KIND, own=True)
    if before in (*_PREFIXES, *programs) and rest:
        return DocsName(before, rest)
    # The name of a program may carry its version: ``repoagent-0.2.0:MODEL``.
    if (found := _WITH_VERSION.fullmatch(text)) is not None and found["kind"] in programs:
        return DocsName(found["kind"], found["rest"], found["version"])
    if is_dotted(text, (*_PREFIXES, *programs)):
        return DocsName("extension", text)
    if path := path_of(KIND, text):
        return DocsName("extension", path)
    named = "".join(f", {name}" for name in names(KIND))
    raise UsageError(f"There is no doc system {text!r}; choose {CHOICES}{named}.")


def parse_scope(text: str) -> str:
    """Parse ``--docs-scope``, ``repository`` for ""."""
    scope = text.strip() or SCOPES[0]
    if scope not in SCOPES:
        raise UsageError(f"There is no docs scope {text!r}; choose {', '.join(SCOPES[:-1])} or {SCOPES[-1]}.")
    return scope
