"""Errors whose messages are meant for the user."""

from __future__ import annotations


class WorkbenchError(Exception):
    """An error that the user can understand and act upon.

    ``str(error)`` is one clear sentence that says what happened and what to do. The app and the CLI show it unchanged;
    a traceback is shown only with ``--debug``.

    Attributes:
        exit_code: What the CLI exits with.
        lasting: Whether doing the same once more ends the same way: what was asked for has to change.
    """

    exit_code = 1
    lasting = False


class UsageError(WorkbenchError):
    """The caller asked for something that does not exist or is not valid; the CLI exits with 2."""

    exit_code = 2
    lasting = True


class BadField(UsageError):
    """What stands in a field of a form cannot be; ``field`` is its name."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
