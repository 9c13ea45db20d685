"""Test cases and the facts known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.errors import UsageError, WorkbenchError


class BadCase(WorkbenchError):
    """A ``case.toml`` or its ground truth is not valid; the message names the file, the key and what is expected."""


class CannotBeCase(UsageError, BadCase):
    """No test case can be made with this id or from this folder."""


class UnknownCase(UsageError):
    """There is no test case of that name; the message suggests similar names."""


class UnknownRepository(UnknownCase):
    """The catalogue has no repository of that name; the message suggests similar names."""


class CaseExists(UsageError):
    """A test case of that name already exists and is not overwritten."""


KINDS = ("synthetic", "real", "own")


@dataclass(frozen=True, slots=True)
class Facts:
    """The ground truth of a test case; an agent never sees it.

    Attributes:
        must_mention: Words that a good README contains verbatim.
        main_file: POSIX path of the most important file.
    """

    main_purpose: str
    dependencies: tuple[str, ...] = ()
    run_command: str = ""
    key_features: tuple[str, ...] = ()
    must_mention: tuple[str, ...] = ()
    main_file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """A repository to document, with what is known about it.

    Attributes:
        description: One sentence for the user; it may reveal the purpose, so agents do not see it.
        kind: ``synthetic`` (written for this purpose), ``real`` or ``own`` (added by the user).
        source: A source text (see `workbench.repository.parse_source`), or "" for the folder ``repository/``.
        alternatives: Further sources, tried in order when those before cannot be reached.
        sha256: Expected checksums by source text, 64 hex digits each.
        hidden: Patterns for paths hidden from agents, in addition to `workbench.repository.DEFAULT_HIDDEN`.
        install: Shell commands that install the project with its test dependencies; empty = guess.
        test: Shell commands that run its tests; empty = guess.
        folder: Folder of the case's ``case.toml``, or the local repository of a case without one.
        agent_description: The description that an agent sees; it never repeats the purpose.
    """

    __test__ = False  # otherwise pytest would collect the class because of its name

    id: str
    name: str
    description: str
    kind: str
    domain: str = ""
    language: str
    source: str
    alternatives: tuple[str, ...] = ()
    sha256: Mapping[str, str] = field(hash=False, default_factory=dict)
    hidden: tuple[str, ...] = ()
    facts: Facts | None = None
    reference_readme: str | None = None
    license: str | None = None
    install: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    folder: Path
    agent_description: str

    @property
    def repository(self) -> Path:
        """Only meaningful without a ``source``."""
        return self.folder / "repository"
