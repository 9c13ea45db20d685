"""The report on a study written by a process of its own: numpy takes longer to import than the app may take to start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.reasons import last_words

_MOST_SECONDS = 600.0


def write_in_a_process(session: Path | None, study: str, out: Path) -> None:
    """Write the report; the ending of ``out`` is its format.

    Args:
        session: The session file, None for ``paper``.
        study: Name of the study.
        out: The file.

    Raises:
        WorkbenchError: It cannot be written: numpy is not installed, say, or the folder is not there.
    """
    where = [str(session)] if session is not None else []
    try:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "report", *where, "--study", study, "-o", str(out)],
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
