"""Errors of a sandbox itself, as opposed to those of a candidate in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.base.errors import UsageError, WorkbenchError


class SandboxError(WorkbenchError):
    """The sandbox failed; never the candidate's fault."""


class SandboxUnavailable(SandboxError):
    """No back end, or not the requested one, can be used on this machine."""


class SandboxUnknown(SandboxUnavailable, UsageError):
    """No back end has this name."""


class NoIsolation(SandboxUnavailable):
    """No back end that isolates can be used, and none was named: a person has to decide about the plain process.

    ``promises`` are the plain process's guarantees here, one sentence each; empty if it cannot be used either.
    """

    def __init__(self, sentence: str, promises: Sequence[str] = ()) -> None:
        self.promises = tuple(promises)
        super().__init__(sentence)


def no_room(folder: str | Path) -> str:
    return f"The disk is full: there is no room in {folder} for a sandbox; free some space or set TMPDIR to another folder."
