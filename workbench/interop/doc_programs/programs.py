"""Adapters for the programs that ``workbench docs install`` installs: RepoAgent and OSA.

RepoAgent writes Markdown about every class and function of a git repository. Its record
``.project_doc_record/project_hierarchy.json`` maps each file to a list of objects with ``type``, ``name``,
``code_start_line`` and ``md_content``; the last entry of ``md_content`` is the newest text (``doc_meta_info.py`` of
RepoAgent 0.2.0).

OSA (the package ``osa-tool``) writes docstrings into a copy of the repository; its options and settings follow
``osa_tool/config`` of OSA 0.3.4. By default, it infers the provider from the endpoint's address, downloads the encoding
``cl100k_base`` and falls back to other models. The adapter therefore uses an address with a path that OSA knows,
LiteLLM's copy of the encoding, and an empty list of fallbacks.
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


class _InstalledAdapter:
    """Adapter of a program in the environment that ``workbench docs install`` created."""

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
    def resolved(cls, docs: DocsName, default_model: str) -> tuple[DocsName, str]:
        """Return the name with its version, and the model. Raises UsageError if the program is not installed."""
        adapter = cls(docs.rest, docs.version)
        adapter._python()
        return replace(docs, version=adapter._version), docs.rest


_RECORD = Path(".project_doc_record", "project_hierarchy.json")
_CONCURRENCY = 4  # RepoAgent's own default
_TEMPERATURE = 0.2  # RepoAgent's own default
_SETTINGS = Path("osa_tool", "config", "settings", "config.toml")
_OUTPUT = "output"
_OSA_TEMPERATURE = 0.05  # OSA's own default


class RepoAgent(_InstalledAdapter):
    """RepoAgent with its default concurrency and temperature."""

    kind = "repoagent"

    def start(self, context: ProgramContext) -> Start:
        """Return the command; the key is passed in the environment, never as an argument."""
        python = self._python()
        command = [str(python), "-m", "repo_agent", "run", "-tp", context.folder, "-m", context.model]
        command += ["-b", f"{context.base_url}/v1", "-l", "English", "-mtc", str(_CONCURRENCY), "-t", str(_TEMPERATURE)]
        # The gateway has its own time limits. If RepoAgent gave up on a request, it would send it again and be billed
        # twice.
        command += ["-r", "7200"]
        return Start(command, python, {"OPENAI_API_KEY": context.key})

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> WrittenDocs:
        """Return the newest text about each class and function; RepoAgent does not document modules."""
        try:
            record: dict[str, Any] = json.loads((area / COPY / _RECORD).read_text(encoding="utf-8"))
            entries = {path: record.get(path) for path in paths if isinstance(record.get(path), list)}
        except (OSError, ValueError, AttributeError) as error:
            raise DocumentationFailed(f"{self.title} left no readable record ({_RECORD}: {error}).") from error
        texts: dict[tuple[str, DefinitionKey], str] = {}
        for path, objects in entries.items():
            keys = {}
            source = (pristine / path).read_bytes()
            for one in find_definitions(source, path):
                line = source.count(b"\n", 0, one.span.start) + 1
                keys[line, one.key.qualified_name.rpartition(".")[2]] = one.key
            for item in objects or ():
                key = keys.get((item.get("code_start_line"), item.get("name")))
                texts_of_item = item.get("md_content") or [""]
                if key is not None and isinstance(texts_of_item[-1], str) and texts_of_item[-1].strip():
                    texts[path, key] = texts_of_item[-1].strip()
        return WrittenDocs(texts)


class Osa(_InstalledAdapter):
    """OSA with its default temperature."""

    kind = "osa"

    def start(self, context: ProgramContext) -> Start:
        """Write OSA's settings next to the copy and return the command; the key is passed only in the environment."""
        python = self._python()
        settings = next(python.parent.parent.glob(f"lib/python3*/site-packages/{_SETTINGS}"), None)
        if settings is None:
            raise DocumentationFailed(
                f"{self.title} has no {_SETTINGS}; reinstall it with `workbench docs install osa`."
            )
        own = context.area / "settings.toml"
        own.write_text(_without_fallbacks(settings.read_text(encoding="utf-8")), encoding="utf-8")
        encodings = _encodings()
        (context.area / _OUTPUT).mkdir(exist_ok=True)
        # Run the script with the interpreter, because its shebang names the folder of the original installation.
        command = [
            str(python),
            str(python.parent / "osa-tool"),
            "-r",
            context.folder,
            "-o",
            f"{context.parent}/{_OUTPUT}",
        ]
        command += ["-m", "advanced", "--docstring", "--no-fork", "--no-pull-request", "--api", "openai"]
        command += ["--base-url", f"{context.base_url}/api.openai/v1", "--model", context.model, "--use-single-model"]
        command += [
            "--web-mode",
            "--temperature",
            str(_OSA_TEMPERATURE),
            "--config-file",
            f"{context.parent}/{own.name}",
        ]
        variables = {"OPENAI_KEY": context.key, "OPENAI_API_KEY": context.key, "TIKTOKEN_CACHE_DIR": str(encodings)}
        logs = settings.parents[3] / "logs"  # OSA writes its logs next to its package, which is mounted read-only.
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
        raise DocumentationFailed("OSA's settings have no list fallback_models to clear.")
    return text


def _encodings() -> Path:
    """Return LiteLLM's folder of tiktoken encodings, which is laid out like tiktoken's cache."""
    spec = importlib.util.find_spec("litellm")
    folders = spec.submodule_search_locations if spec is not None else None
    folder = Path(next(iter(folders or ("",))), "litellm_core_utils", "tokenizers")
    if not folder.is_dir():
        raise DocumentationFailed("LiteLLM ships no tiktoken encodings, and OSA cannot download them in the sandbox.")
    return folder


class RepoAgentDocs(DocProgram):
    """Runs ``repoagent:MODEL`` or ``repoagent-VERSION:MODEL``."""

    adapter = RepoAgent


class OsaDocs(DocProgram):
    """Runs ``osa:MODEL`` or ``osa-VERSION:MODEL``."""

    adapter = Osa
