"""Errors with messages for the user."""

from __future__ import annotations


class WorkbenchError(Exception):
    """An error with a one-sentence message on what happened and what to do; the app and the CLI show it unchanged."""

    exit_code = 1  # exit code of the CLI
    permanent = False  # whether a retry would fail in the same way


class UsageError(WorkbenchError):
    """An argument does not exist or is invalid; the CLI exits with 2."""

    exit_code = 2
    permanent = True


class BadField(UsageError):
    """The value of a form field is invalid; ``field`` is its name."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
