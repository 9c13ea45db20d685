"""What a step leaves behind in a sandbox: files, shell state, processes. Standard library only.

A step that leaves nothing behind cannot affect later ones, and may run anywhere where nothing was left before it.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

PLACES = ("repo", "/home/sandbox", "/tmp", "/dev/shm")
#: In the folder of a check, what the host and the runners write.
HOST = {"repo", "steps.json", "results.jsonl", "apart.json", ".apart.json", "passed.json", ".passed.json"}
OWN = {"/tmp/.out", "/tmp/.err", "/dev/shm/.state"}
#: What bash sets by itself.
BY_ITSELF = re.compile(r"declare -x (?:OLDPWD|SHLVL|_)(?:=|$)")


def files(folder: str) -> dict[str, tuple[int, ...]]:
    """Every writable path in the check's folder and the in-memory folders, with what changes on a write."""
    found: dict[str, tuple[int, ...]] = {}
    pending = [os.path.join(folder, place) for place in PLACES]
    while pending:
        at = pending.pop()
        try:
            entries = list(os.scandir(at))
        except OSError:
            continue
        for entry in entries:
            if entry.path in OWN:
                continue
            try:
                seen = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    found[entry.path] = (seen.st_mode, seen.st_ino)
                    pending.append(entry.path)
                else:
                    found[entry.path] = (seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns)
            except OSError:
                found[entry.path] = ()
    for name in set(os.listdir(folder)) - HOST:
        found[name] = ()
    return found


def shell_state(path: str) -> list[str] | None:
    """Saved shell state without what bash sets by itself; None where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line for line in file.read().splitlines() if not BY_ITSELF.match(line)]
    except OSError:
        return None


class Traces:
    """Compares the sandbox before and after each step."""

    def __init__(self, folder: str, state: str, plain: list[str] | None) -> None:
        self.folder, self.state, self.plain = folder, state, plain
        self.before = files(folder)
        self.rest = False  # whether something was left behind for all that follows
        self.python = False  # for snippets of Python
        self.failed: set[int] = set()

    def provided(self, path: str) -> None:
        """Count a file that was written for a step as one that was there."""
        now = files(self.folder)
        absolute = os.path.join(self.folder, "repo", path)
        self.before = {**self.before, **{name: seen for name, seen in now.items() if name.startswith(absolute)}}

    def note(self, step: dict[str, Any], result: dict[str, Any], alive: bool) -> None:
        late = bool(result.get("timeout") or result.get("ended"))
        if step["kind"] != "shell":
            self.python = self.python or late or bool(result.get("trace", True) or result.get("asked"))
            if late or result.get("error") or any(one.get("error") for one in result.get("examples", ())):
                self.failed.add(step["id"])
        elif shell_state(self.state) != self.plain:
            self.rest = True
        if not self.rest:
            self.rest = alive or files(self.folder) != self.before

    def allow(self, step: dict[str, Any]) -> bool:
        """Whether the result that a step had elsewhere holds here: nothing was left behind before it."""
        return not (
            self.rest or (step["kind"] != "shell" and (self.python or self.failed.intersection(step.get("uses", ()))))
        )


def told(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None
