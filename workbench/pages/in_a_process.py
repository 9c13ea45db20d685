"""Reports that a process of their own writes, for the app.

Those on a study, as numpy takes longer to import than the app may take to start; and those in a format of another package,
which may end the process that imports it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.reasons import last_words

_MOST_SECONDS = 600.0


def write_study_in_a_process(session: Path | None, study: str, format: str, out: Path) -> None:
    """Write the report on a study, without a session that on the paper's tables."""
    where = [str(session)] if session is not None else []
    _write([*where, "--study", study, "--format", format, "-o", str(out)])


def write_foreign_in_a_process(session: Path, format: str, out: Path) -> None:
    """Write the report on a session in a format of another package."""
    _write([str(session), "--format", format, "-o", str(out)])


def _write(order: list[str]) -> None:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "report", *order],
            capture_output=True,
            text=True,
            timeout=_MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WorkbenchError(
            f"The report took longer than {_MOST_SECONDS / 60:.0f} minutes and was given up."
        ) from None
    # Of a damaged session the report is written, and the exit code tells of the damage.
    if "Written: " not in done.stderr:
        said = last_words(done.stderr).removeprefix("workbench: ")
        raise WorkbenchError(said or "The report could not be written.")
