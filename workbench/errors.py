"""The one kind of error that is meant for a person to read."""

from __future__ import annotations


class WorkbenchError(Exception):
    """Something went wrong that the user can understand and act upon.

    ``str(error)`` is one clear sentence: what happened and what to do. The app and the CLI print it as it is;
    a traceback is shown only with ``--debug``.
    """

    exit_code = 1


class UsageError(WorkbenchError):
    """The caller asked for something that does not exist or does not fit; the CLI exits with 2."""

    exit_code = 2
