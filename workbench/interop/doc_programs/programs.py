"""Programs that ``workbench docs install`` gets: RepoAgent and OSA.

RepoAgent writes Markdown about every class and function of a git repository. Its record
``.project_doc_record/project_hierarchy.json`` has, file by file, a list of objects with ``type``, ``name``,
``code_start_line`` and ``md_content``, whose last entry is the newest text (source: ``doc_meta_info.py`` of RepoAgent 0.2.0).

OSA (the package ``osa-tool``) writes docstrings into a copy of the repository. Options and settings as in
``osa_tool/config`` of OSA 0.3.4. It takes the provider from the endpoint's address, loads the encoding ``cl100k_base``
from the network, and asks other models when one fails: the address gets a path that it knows, the encoding comes from
LiteLLM's copy, and the list of other models is empty.
"""

from __future__ import annotations

import importlib.util
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from workbench.documenters.program_cache import COPY, WrittenDocs, read_edited
from workbench.documenters.types import DocsName, DocumentationFailed
from workbench.interop.doc_programs.installing import Installable, interpreter
from workbench.interop.doc_programs.program import DocProgram, ProgramContext, Start
from workbench.repository.functions import DefinitionKey, find_definitions

INSTALLABLE: Mapping[str, Installable] = {
    "repoagent": Installable("repoagent", "RepoAgent", "0.2.0", ("repoagent==0.2.0",), megabytes=290),
    "osa": Installable("osa", "OSA", "0.3.4", ("osa-tool==0.3.4",), megabytes=1350),
}


class _Installed:
    """A program in the environment that ``workbench docs install`` makes."""

    kind: ClassVar[str]

    def __init__(self, model: str, version: str = "") -> None:
        self._program = INSTALLABLE[self.kind]
        self._version = version or self._program.version
        self.name = f"{self.kind}-{self._version}:{model}"
        self.title = f"{self._program.title} {self._version}"
        self.model = model
        self.basis = ""

    def _python(self) -> Path:
        return interpreter(self._program, self._version)

    @classmethod
    def written_out(cls, docs: DocsName, default_model: str) -> tuple[DocsName, str]:
        """Return the program's name with its version, and its model, after making sure that it is installed."""
        adapter = cls(docs.rest, docs.version)
        adapter._python()
        return replace(docs, version=adapter._version), docs.rest


_RECORD = Path(".project_doc_record", "project_hierarchy.json")
_AT_ONCE = 4  # its own default
_TEMPERATURE = 0.2  # its own default
_SETTINGS = Path("osa_tool", "config", "settings", "config.toml")
_OUTPUT = "output"
_OSA_TEMPERATURE = 0.05  # its own default


class RepoAgent(_Installed):
    """RepoAgent, four requests at once and at the temperature that is its own default."""

    kind = "repoagent"

    def start(self, place: ProgramContext) -> Start:
        """Return its command; the key is in the environment, never among the words."""
        python = self._python()
        command = [str(python), "-m", "repo_agent", "run", "-tp", place.folder, "-m", place.model]
        command += ["-b", f"{place.base_url}/v1", "-l", "English", "-mtc", str(_AT_ONCE), "-t", str(_TEMPERATURE)]
        # The gateway has limits of its own for a request; one that is given up here would be asked, and paid, twice.
        command += ["-r", "7200"]
        return Start(command, python, {"OPENAI_API_KEY": place.key})

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> WrittenDocs:
        """Return the newest text about each class and function; modules have none."""
        try:
            record: dict[str, Any] = json.loads((area / COPY / _RECORD).read_text(encoding="utf-8"))
            entries = {path: record.get(path) for path in paths if isinstance(record.get(path), list)}
        except (OSError, ValueError, AttributeError) as error:
            raise DocumentationFailed(f"{self.title} left no record that can be read ({_RECORD}: {error}).") from error
        texts: dict[tuple[str, DefinitionKey], str] = {}
        for path, objects in entries.items():
            places = {}
            source = (pristine / path).read_bytes()
            for one in find_definitions(source, path):
                line = source.count(b"\n", 0, one.span.start) + 1
                places[line, one.key.qualified_name.rpartition(".")[2]] = one.key
            for item in objects or ():
                key = places.get((item.get("code_start_line"), item.get("name")))
                said = item.get("md_content") or [""]
                if key is not None and isinstance(said[-1], str) and said[-1].strip():
                    texts[path, key] = said[-1].strip()
        return WrittenDocs(texts)


class Osa(_Installed):
    """OSA, at the temperature that is its own default."""

    kind = "osa"

    def start(self, place: ProgramContext) -> Start:
        """Write its settings beside the copy and return its command; the key is in the environment only."""
        python = self._python()
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
        command += ["--web-mode", "--temperature", str(_OSA_TEMPERATURE), "--config-file", f"{place.beside}/{own.name}"]
        variables = {"OPENAI_KEY": place.key, "OPENAI_API_KEY": place.key, "TIKTOKEN_CACHE_DIR": str(encodings)}
        logs = settings.parents[3] / "logs"  # beside its own package, where else it could not write them
        logs.mkdir(exist_ok=True)
        return Start(command, python, variables, (encodings,), (logs,))

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> WrittenDocs:
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


class RepoAgentDocs(DocProgram):
    """``repoagent:MODEL`` or ``repoagent-VERSION:MODEL``."""

    adapter = RepoAgent


class OsaDocs(DocProgram):
    """``osa:MODEL`` or ``osa-VERSION:MODEL``."""

    adapter = Osa
