"""What can go wrong with a sandbox itself, as opposed to with a candidate in it."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class SandboxError(WorkbenchError):
    """The sandbox failed; never the candidate's fault."""


class SandboxUnavailable(SandboxError):
    """No back end, or not the wanted one, can be used on this machine."""
