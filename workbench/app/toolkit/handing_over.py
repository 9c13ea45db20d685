"""Files that are written for a person: where they asked for them, or for a person in a browser as a download."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.files import expanded

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp


def suggested_place(host: WorkbenchApp, name: str) -> str:
    """Return what stands in a dialog's field for a file: in a browser its name alone, as folders of this machine are not theirs."""
    return name if host.in_browser else str(Path.cwd() / name)


def place_of(host: WorkbenchApp, wanted: str) -> Path:
    """Return where to write a file that a person wants, a name or a path; of one in a browser only the name counts.

    Raises:
        UsageError: The path names a person who is not here.
    """
    if not host.in_browser:
        return expanded(wanted)
    return Path(_outbox().name) / (Path(wanted).name or "report.html")


def hand_over(host: WorkbenchApp, written: Path, what: str) -> None:
    """Tell where a file is that was written where :func:`place_of` said, or have the browser download it.

    Args:
        host: The app.
        written: The file.
        what: What it is: ``report``.
    """
    if not host.in_browser:
        host.notify(f"The {what} is in {written}.", title="Export", timeout=10)
        return
    host.download(written)
    # It is open, and is read from there on.
    written.unlink(missing_ok=True)
    host.notify(f"Your browser downloads the {what} {written.name}.", timeout=8)


@cache
def _outbox() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="workbench-")
