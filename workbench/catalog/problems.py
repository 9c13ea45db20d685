"""What can be wrong with test cases, each as one sentence."""

from __future__ import annotations

from workbench.errors import UsageError, WorkbenchError


class BadCase(WorkbenchError):
    """A ``case.toml`` or its ground truth is not valid; the sentence names the file, the key and what is expected."""


class UnknownCase(UsageError):
    """There is no test case of that name; the sentence names near matches."""


class UnknownRepository(UnknownCase):
    """The catalogue of published repositories has none of that name; the sentence names near matches."""


class CaseExists(UsageError):
    """A test case of that name is there already and is not overwritten."""
