"""The agent's two tools for reading a repository; every failure is returned as ``Error: …`` text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.agents.protocol import TOOLS
from workbench.repository import View, ViewError


@dataclass(frozen=True, slots=True)
class Observation:
    """A tool's result."""

    text: str  # for the agent
    target: str  # the requested path
    listed: tuple[str, ...] = ()  # files and directories (the latter end in "/")
    read: str = ""  # the file that was read
    size: int = 0  # bytes of that file that were returned

    @property
    def failed(self) -> bool:
        return self.text.startswith("Error:")


def normal(path: str) -> str:
    """Return a repository path without ``./`` and a trailing slash; the root is ``.``."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in {"", "."}]
    return "/".join(parts) or "."


def use_tool(view: View, name: str, kwargs: Mapping[str, object], read_limit: int) -> Observation:
    """Run a tool, return its result of at most ``read_limit`` characters; never raises, whatever is asked."""
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
    """Return an observation with ``text`` instead; the paths of an edited listing are those in it."""
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
