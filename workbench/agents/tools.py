"""The agent's two tools for reading a repository; every failure is returned as ``Error: …`` text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.agents.protocol import TOOLS
from workbench.repository import View, ViewError


@dataclass(frozen=True, slots=True)
class Observation:
    """A tool's result.

    Attributes:
        text: The text returned to the agent.
        target: The requested path.
        listed: Paths of the listed files and directories (the latter end in "/").
        read: The file that was read, "" if none.
        size: Bytes of that file that were returned.
    """

    text: str
    target: str
    listed: tuple[str, ...] = ()
    read: str = ""
    size: int = 0

    @property
    def failed(self) -> bool:
        return self.text.startswith("Error:")


def normal(path: str) -> str:
    """Return a repository path without ``./`` and a trailing slash; the root is ``.``."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in {"", "."}]
    return "/".join(parts) or "."


def use_tool(view: View, name: str, kwargs: Mapping[str, object], read_limit: int) -> Observation:
    """Run a tool on a view and return its result; never raises, whatever the agent asks for.

    Args:
        view: The part of the repository that the agent may see.
        name: The tool.
        kwargs: Its arguments as decoded from the answer.
        read_limit: Maximum number of characters of a file, or of a folder's names, to return.
    """
    path = kwargs.get("path", "." if name == "list_directory" else None)
    if name not in TOOLS:
        return Observation(f"Error: unknown tool '{name}'. The tools are {', '.join(TOOLS)}.", name)
    if not isinstance(path, str) or not path.strip():
        return Observation("Error: 'path' parameter is required", "")
    try:
        if name == "list_directory":
            names = view.list_directory(path, limit=read_limit)
            base = "" if normal(path) == "." else normal(path) + "/"
            known = tuple(base + item for item in names if not item.startswith("… "))
            return Observation(json.dumps(names, indent=2, ensure_ascii=False), normal(path), listed=known)
        content = view.read_file(path, limit=read_limit)
    except ViewError as error:
        return Observation(f"Error: {error}", normal(path))
    except (ValueError, OSError) as error:
        return Observation(f"Error: {path!r} cannot be opened ({error})", normal(path))
    text = content.text
    if content.truncated:
        text += f"\n… cut after {len(content.text):,} characters; the file has {content.size:,} bytes"
    shown = len(content.text.encode("utf-8", "surrogatepass"))
    return Observation(text, normal(path), read=normal(path), size=shown)


def edited(observation: Observation, text: str) -> Observation:
    """Return an observation that says ``text`` instead; of an edited listing, the paths are those that it names."""
    if text == observation.text:
        return observation
    if not observation.listed:
        return replace(observation, text=text)
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = []
    base = "" if observation.target == "." else observation.target + "/"
    listed = tuple(base + name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
    return replace(observation, text=text, listed=listed)
