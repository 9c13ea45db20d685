"""Ask for what draws at random in a process of its own, :mod:`workbench.studies.__main__`.

numpy takes longer to import than the app may take to start, so the app calls :func:`drawn`, in a thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.reasons import last_words

_MOST_SECONDS = 120.0


def drawn(
    session: Path, study: str, pairs: Sequence[tuple[str, str]], measure: str, orders: bool = False
) -> dict[str, dict[Any, Any]]:
    """Return the tests of comparisons, adjusted for their number, and with ``orders`` how often pairs keep their order in resamples.

    It is ``{"tests": {pair: {"p", "test", "p_holm"}, …}, "orders": {(model, measure, better, worse): share of resamples, …}}``; a
    WorkbenchError where it cannot be computed: numpy is not installed, say.
    """
    asked = {"pairs": pairs, "measure": measure, "orders": orders}
    done = subprocess.run(
        [sys.executable, "-m", "workbench.studies", str(session), study],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=_MOST_SECONDS,
        check=False,
    )
    if done.returncode:
        raise WorkbenchError(last_words(done.stderr) or "The tests could not be computed.")
    return {kind: {tuple(key): value for key, value in found} for kind, found in json.loads(done.stdout).items()}
