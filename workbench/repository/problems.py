"""What can go wrong between a source and its snapshot, each as one sentence."""

from __future__ import annotations

from workbench.errors import UsageError, WorkbenchError
from workbench.text import one_line


class BadSource(UsageError):
    """The text names no folder, git URL or pinned source distribution, or names one that is refused."""


class FetchError(WorkbenchError):
    """A source could not be turned into a snapshot."""


class SourceUnavailable(FetchError):
    """The source is out of reach: no such folder or revision, no network, no such release."""


class ChecksumMismatch(FetchError):
    """What arrived is not what was pinned."""


class UnsafeArchive(FetchError):
    """An archive (or tree) would write outside its folder, holds devices, or is oversized."""


def shown(text: str, width: int = 120) -> str:
    """Return foreign ``text`` fit for one line of a message: no control sequences, no lone surrogates."""
    return one_line(text.encode("utf-8", "backslashreplace").decode("utf-8"), width)


def reason(error: OSError) -> str:
    """Return why the operating system refused, in its own words and without paths."""
    return (error.strerror or str(error) or type(error).__name__).lower()
