"""Errors of fetching a source; each message is one sentence."""

from __future__ import annotations

from pathlib import Path

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.text import one_line


class BadSource(UsageError):
    """The text is not a folder, git URL or pinned source distribution, or is of a form that is refused."""


class FetchError(WorkbenchError):
    """A source could not be turned into a snapshot."""


class SourceUnavailable(FetchError):
    """The source cannot be reached: no such folder or revision, no network, no such release."""


class ChecksumMismatch(FetchError):
    """The content does not have the pinned checksum."""


class UnsafeArchive(FetchError):
    """An archive (or tree) would write outside its folder, contains devices, or is too large."""


def no_room(folder: Path) -> FetchError:
    return FetchError(
        f"The disk is full: there is no room in the cache folder {folder}; free some space or set WORKBENCH_CACHE_DIR to "
        "another folder."
    )


def shown(text: str, width: int = 120) -> str:
    """Return untrusted ``text`` made safe for one line of a message: no control sequences, no lone surrogates."""
    return one_line(text.encode("utf-8", "backslashreplace").decode("utf-8"), width)


def reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
