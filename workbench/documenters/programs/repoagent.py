"""``repoagent:MODEL``: RepoAgent, which writes Markdown about every class and function of a git repository.

Its record ``.project_doc_record/project_hierarchy.json`` has, file by file, a list of objects with ``type``, ``name``,
``code_start_line`` and ``md_content``, whose last entry is the newest text (source: ``doc_meta_info.py`` of RepoAgent 0.2.0).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.documenters.programs.adapter import COPY, Place, Start, Written
from workbench.documenters.programs.installing import Installable, interpreter
from workbench.documenters.types import DocumentationFailed
from workbench.repository.functions import DefinitionKey, find_definitions

INSTALLABLE = Installable("repoagent", "RepoAgent", "0.2.0", ("repoagent==0.2.0",), megabytes=290)
_RECORD = Path(".project_doc_record", "project_hierarchy.json")
_AT_ONCE = 4  # its own default
_TEMPERATURE = 0.2  # its own default


class RepoAgent:
    """RepoAgent in the environment that ``workbench docs install repoagent`` makes."""

    def __init__(self, model: str, version: str) -> None:
        self.name = f"repoagent-{version}:{model}"
        self.title = f"RepoAgent {version}"
        self.model = model
        self.basis = ""
        self._version = version

    def start(self, place: Place) -> Start:
        """Return its command; the key is in the environment, never among the words."""
        python = interpreter(INSTALLABLE, self._version)
        command = [str(python), "-m", "repo_agent", "run", "-tp", place.folder, "-m", place.model]
        command += ["-b", f"{place.base_url}/v1", "-l", "English", "-mtc", str(_AT_ONCE), "-t", str(_TEMPERATURE)]
        # The gateway has limits of its own for a request; one that is given up here would be asked, and paid, twice.
        command += ["-r", "7200"]
        return Start(command, python, {"OPENAI_API_KEY": place.key})

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> Written:
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
        return Written(texts)
