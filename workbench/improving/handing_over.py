"""Where what was kept goes: the file of a patch, and the checkout that a branch is made in."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.errors import UsageError
from workbench.improving.changes import Checkout, checkout_of


def suggested_name(source: str) -> str:
    """Return a name for the patch of a source: ``word_counter-docstrings.patch``."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", source.rstrip("/").rpartition("/")[2]).strip("-.")
    return f"{name or 'improved'}-docstrings.patch"


def check_patch(file: Path) -> None:
    """Make sure that a patch can be written. Raises UsageError: the file is there already, or its folder is not."""
    if file.exists():
        raise UsageError(f"{file} is there already; name another file for the patch.")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {file.absolute().parent} for the patch; name another file.")


def source_checkout(source: str) -> Checkout | None:
    """Return the git checkout that a source lies in, None where it is no folder of one."""
    folder = Path(source).expanduser()
    return checkout_of(folder) if folder.is_dir() else None
