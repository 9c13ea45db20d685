"""Which files the calls of a step listed or read."""

from __future__ import annotations

import json
import posixpath
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from workbench.interop.formats.trajectory import Step, ToolCall

_READING = "read_file view_file read view open open_file cat str_replace_editor str_replace_based_edit_tool"
_READERS = frozenset(_READING.split())
_LISTERS = frozenset({"list_directory", "list_dir", "list_files", "ls"})
_SHELLS = frozenset({"bash", "shell", "execute_bash", "run_command", "terminal", "execute"})
_PATHS = ("path", "file_path", "filename", "file", "filepath")
_SHELL_READERS = frozenset({"cat", "nl", "head", "tail"})
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "(", ")"})
_LONGEST = 1000


class Seen(NamedTuple):
    """A path that was ``listed`` or ``read``."""

    path: str
    how: str


def seen_in(step: Step) -> list[Seen]:
    """Return what the calls of a step listed or read; of several calls only those with distinguishable results."""
    results = {one.call: one.text for one in step.results or () if one.call}
    found = []
    for call in step.calls:
        observed = results.get(call.id) if call.id in results else (step.observed if len(step.calls) == 1 else None)
        if observed:
            found += list(_of_call(call, observed))
    return list(dict.fromkeys(one for one in found if one.path and len(one.path) <= _LONGEST and "\0" not in one.path))


def _of_call(call: ToolCall, observed: str) -> Iterator[Seen]:
    name, arguments = call.name.rpartition(".")[2].lower(), call.arguments
    if name in _SHELLS:
        yield from _of_command(_text(arguments, ("command", "cmd")), observed)
        return
    path = _text(arguments, _PATHS)
    if name in _LISTERS:
        yield from _listed(path or ".", observed)
    elif name in _READERS and path and arguments.get("command", "view") == "view":
        yield Seen(_plain(path), "read")


def _text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), "")


def _of_command(command: str, observed: str) -> Iterator[Seen]:
    """Parse a command of nothing but one cat, nl, head, tail or ls: with pipes, variables or patterns it is unknown."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return
    if not words or _OPERATORS & set(words) or any(character in command for character in "*?$`\n"):
        return
    program, *rest = words
    paths = [word for word in rest if not word.startswith("-") and not word.isdecimal()]
    if program in _SHELL_READERS:
        yield from (Seen(_plain(path), "read") for path in paths)
    elif program == "ls" and len(rest) == len(paths) <= 1:
        yield from _listed(paths[0] if paths else ".", observed)


def _listed(folder: str, observed: str) -> Iterator[Seen]:
    try:
        value = json.loads(observed)
    except (ValueError, RecursionError):
        value = None
    names = value if isinstance(value, list) else observed.splitlines()
    for line in names:
        name = line.strip() if isinstance(line, str) else ""
        if name and not name.startswith("<") and ":" not in name:
            yield Seen(_plain(posixpath.join(folder, name)), "listed")


def _plain(path: str) -> str:
    plain = posixpath.normpath(path)
    return f"{plain}/" if path.endswith("/") and plain not in {".", "/"} else plain
