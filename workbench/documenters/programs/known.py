"""The programs that this workbench knows, by the names that ``--docs`` takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from workbench.documenters.names import DocsName
from workbench.documenters.programs import osa, repoagent
from workbench.documenters.programs.adapter import Adapter
from workbench.documenters.programs.command import Command, command_written_out
from workbench.documenters.programs.installing import Installable, interpreter
from workbench.documenters.programs.program import DocProgram
from workbench.documenters.programs.work_folder import KEPT, WorkFolder
from workbench.documenters.types import Asker
from workbench.errors import UsageError
from workbench.repository import Snapshot
from workbench.sandbox.program import ProgramLimits

INSTALLABLE: Mapping[str, Installable] = {one.name: one for one in (repoagent.INSTALLABLE, osa.INSTALLABLE)}


def doc_program(
    docs: DocsName, asker: Asker | None, *, seconds: float = 0.0, confined: bool = True, sampled_as: str = ""
) -> DocProgram:
    """Return the doc system that a name of one of these programs means; whether it is installed is seen when it runs.

    Raises:
        UsageError: The command is none.
    """
    limits = ProgramLimits(seconds=seconds) if seconds else ProgramLimits()
    return DocProgram(_adapter(docs), asker, limits, confined=confined, sampled_as=sampled_as)


def kept_place(docs: DocsName, snapshot: Snapshot) -> Path:
    """Return the file in which what a program wrote about a repository is kept, whether or not it is there.

    Raises:
        UsageError: The command is none.
    """
    adapter = _adapter(docs)
    return WorkFolder(snapshot, adapter.name, adapter.basis).folder / KEPT


def _adapter(docs: DocsName) -> Adapter:
    match docs.kind:
        case "repoagent":
            return repoagent.RepoAgent(docs.rest, docs.version or repoagent.INSTALLABLE.version)
        case "osa":
            return osa.Osa(docs.rest, docs.version or osa.INSTALLABLE.version)
        case "command":
            return Command(docs.rest)
    raise UsageError(f"{docs.text} is no program that documents repositories.")


def written_out(docs: DocsName, default_model: str) -> tuple[DocsName, str]:
    """Return a program's name with what changes its docstrings written out, and the model that it asks ("" for none).

    That is the version of one that is installed, and paths and the model of a command.

    Raises:
        UsageError: It is not installed, or is no command.
    """
    if docs.kind == "command":
        text = command_written_out(docs.rest, default_model)
        return replace(docs, rest=text), Command(text).model
    program = INSTALLABLE[docs.kind]
    version = docs.version or program.version
    interpreter(program, version)
    return replace(docs, version=version), docs.rest
