"""Test cases and the facts known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("synthetic", "real", "own")


@dataclass(frozen=True, slots=True)
class Facts:
    """The ground truth of a test case; an agent never sees it.

    Attributes:
        main_purpose: One sentence on what the project is for.
        dependencies: Names of the distributions needed at run time.
        run_command: The command that a user types to run it.
        key_features: What it can do, one phrase each.
        must_mention: Words that a good README contains verbatim.
        main_file: POSIX path of the most important file.
    """

    main_purpose: str
    dependencies: tuple[str, ...] = ()
    run_command: str = ""
    key_features: tuple[str, ...] = ()
    must_mention: tuple[str, ...] = ()
    main_file: str = ""


@dataclass(frozen=True, slots=True)
class TestCase:
    """A repository to document, with what is known about it.

    Attributes:
        id: Short name: letters, digits, ``_``, ``-`` and ``.``.
        name: The project's own name.
        description: One sentence for the user; it may reveal the purpose, so agents do not see it.
        kind: ``synthetic`` (written for this purpose), ``real`` or ``own`` (added by the user).
        domain: Field of use, such as ``security``.
        language: Programming language.
        source: A source text (see `workbench.repository.parse_source`), or "" for the folder ``repository/``.
        alternatives: Further sources, tried in order when those before cannot be reached.
        sha256: Expected checksums by source text, 64 hex digits each.
        hidden: Patterns for paths hidden from agents, in addition to `workbench.repository.DEFAULT_HIDDEN`.
        facts: The ground truth, if there is any.
        reference_readme: Text of a README known to be good, if there is one.
        license: SPDX identifier of the project's license, if known.
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
    domain: str
    language: str
    source: str
    alternatives: tuple[str, ...]
    sha256: Mapping[str, str] = field(hash=False)
    hidden: tuple[str, ...]
    facts: Facts | None
    reference_readme: str | None
    license: str | None
    install: tuple[str, ...]
    test: tuple[str, ...]
    folder: Path
    agent_description: str

    @property
    def repository(self) -> Path:
        """Folder of a case's own repository; only meaningful without a ``source``."""
        return self.folder / "repository"
