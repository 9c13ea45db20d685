"""Whether candidates can be tested on this machine, asked before anything is written for them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from workbench.extensions import is_dotted
from workbench.reasons import last_words
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.sandbox.choose import choose_backend
from workbench.sandbox.docker import is_there
from workbench.sandbox.errors import NoIsolation, SandboxUnavailable
from workbench.sandbox.names import backend_info

_SECONDS = 20


def check_sandbox(name: str, folders: Sequence[str] = ()) -> None:
    """Refuse an order that no sandbox of this machine can carry out.

    Raises:
        SandboxUnavailable: The named one cannot be used; the sentence says why.
        NoIsolation: None was named and none isolates; it carries what a plain process guarantees.
    """
    name = backend_info(name).name if name else ""
    if name in ("", "bubblewrap") and Bubblewrap().problem() is None:
        return
    if name in ("bubblewrap", "process") or not (is_dotted(name) or is_there()):
        choose_backend(name or None)
        return
    # Neither Docker's package nor a foreign one must be imported here: the app calls this as well.
    command = [sys.executable, "-m", "workbench.sandbox", name, *folders]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise SandboxUnavailable(
            f"The Docker engine did not answer within {_SECONDS} s; start it again, or unset DOCKER_HOST."
        ) from None
    if done.returncode:
        raise SandboxUnavailable(f"The sandboxes could not be asked for: {last_words(done.stderr)}.")
    said = json.loads(done.stdout)
    if "problem" in said:
        if said["promises"] is None:
            raise SandboxUnavailable(said["problem"])
        raise NoIsolation(said["problem"], said["promises"])
