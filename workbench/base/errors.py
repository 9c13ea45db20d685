"""Errors with messages for the user."""

from __future__ import annotations


class WorkbenchError(Exception):
    """An error that the user can understand and act upon.

    ``str(error)`` is one clear sentence that says what happened and what to do. The app and the CLI show it unchanged;
    a traceback is shown only with ``--debug``.

    Attributes:
        exit_code: What the CLI exits with.
        lasting: Whether a retry would fail in the same way.
    """

    exit_code = 1
    lasting = False


class UsageError(WorkbenchError):
    """An argument does not exist or is invalid; the CLI exits with 2."""

    exit_code = 2
    lasting = True


class BadField(UsageError):
    """The value of a form field is invalid; ``field`` is its name."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
