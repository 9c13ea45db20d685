"""``osa:MODEL``: OSA (the package ``osa-tool``), which writes docstrings into a copy of the repository.

Options and settings as in ``osa_tool/config`` of OSA 0.3.4. It takes the provider from the endpoint's address, loads the
encoding ``cl100k_base`` from the network, and asks other models when one fails: the address gets a path that it knows, the
encoding comes from LiteLLM's copy, and the list of other models is empty.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Sequence
from pathlib import Path

from workbench.documenters.programs.adapter import Place, Start, Written, read_edited
from workbench.documenters.programs.installing import Installable, interpreter
from workbench.documenters.types import DocumentationFailed

INSTALLABLE = Installable("osa", "OSA", "0.3.4", ("osa-tool==0.3.4",), megabytes=1350)
_SETTINGS = Path("osa_tool", "config", "settings", "config.toml")
_OUTPUT = "output"
_TEMPERATURE = 0.05  # its own default


class Osa:
    """OSA in the environment that ``workbench docs install osa`` makes."""

    def __init__(self, model: str, version: str) -> None:
        self.name = f"osa-{version}:{model}"
        self.title = f"OSA {version}"
        self.model = model
        self.basis = ""
        self._version = version

    def start(self, place: Place) -> Start:
        """Write its settings beside the copy and return its command; the key is in the environment only."""
        python = interpreter(INSTALLABLE, self._version)
        settings = next(python.parent.parent.glob(f"lib/python3*/site-packages/{_SETTINGS}"), None)
        if settings is None:
            raise DocumentationFailed(f"{self.title} has no {_SETTINGS}; workbench docs install osa gets it anew.")
        own = place.area / "settings.toml"
        own.write_text(_without_fallbacks(settings.read_text(encoding="utf-8")), encoding="utf-8")
        encodings = _encodings()
        (place.area / _OUTPUT).mkdir(exist_ok=True)
        # The script by its path, not by its first line, which names the folder that it was installed into.
        command = [str(python), str(python.parent / "osa-tool"), "-r", place.folder, "-o", f"{place.beside}/{_OUTPUT}"]
        command += ["-m", "advanced", "--docstring", "--no-fork", "--no-pull-request", "--api", "openai"]
        command += ["--base-url", f"{place.base_url}/api.openai/v1", "--model", place.model, "--use-single-model"]
        command += ["--web-mode", "--temperature", str(_TEMPERATURE), "--config-file", f"{place.beside}/{own.name}"]
        variables = {"OPENAI_KEY": place.key, "OPENAI_API_KEY": place.key, "TIKTOKEN_CACHE_DIR": str(encodings)}
        logs = settings.parents[3] / "logs"  # beside its own package, where else it could not write them
        logs.mkdir(exist_ok=True)
        return Start(command, python, variables, (encodings,), (logs,))

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> Written:
        copies = [each for each in (area / _OUTPUT).iterdir() if each.is_dir()]
        if not copies:
            raise DocumentationFailed(f"{self.title} left no copy of the repository in its output folder.")
        best = max(copies, key=lambda folder: sum((folder / path).is_file() for path in paths))
        return read_edited(pristine, best, paths)


def _without_fallbacks(settings: str) -> str:
    lines = ["fallback_models = []" if line.startswith("fallback_models") else line for line in settings.splitlines()]
    text = "\n".join([*lines, ""])
    try:
        emptied = tomllib.loads(text)["llm"]["fallback_models"] == []
    except (tomllib.TOMLDecodeError, KeyError):
        emptied = False
    if not emptied:
        raise DocumentationFailed("OSA's settings have no list fallback_models that could be emptied.")
    return text


def _encodings() -> Path:
    """Return LiteLLM's folder of tiktoken's encodings, under the names of tiktoken's own cache."""
    spec = importlib.util.find_spec("litellm")
    folders = spec.submodule_search_locations if spec is not None else None
    folder = Path(next(iter(folders or ("",))), "litellm_core_utils", "tokenizers")
    if not folder.is_dir():
        raise DocumentationFailed("LiteLLM ships no encodings, without which OSA would ask the network for one.")
    return folder
