"""The syntax of ``--docs``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.base.errors import UsageError
from workbench.base.extensions import is_dotted
from workbench.base.plugins import names, path_of

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
