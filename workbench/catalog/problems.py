"""Errors about test cases; each message is one sentence."""

from __future__ import annotations

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
