"""The kind of a code block, by its language and its lines."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Literal

from workbench.claims.page import DOCTEST, POSIX, PYTHON, Code
from workbench.claims.python import imports_of, python_of
from workbench.claims.shell import PROMPT, is_install

Kind = Literal["install", "shell", "session", "python", "doctest", "output", "configuration", "other", "command"]

_CONFIGURATION = {"toml", "yaml", "yml", "ini", "cfg", "json", "jsonc", "json5", "xml", "dotenv", "env", "properties"}
_OUTPUT = {"text", "txt", "output", "plain", "plaintext", "none", "log", "out", "stdout", "ansi"}


def kind_of(code: Code, own_modules: Set[str] = frozenset(), own_commands: Set[str] = frozenset()) -> Kind:
    if code.inline:
        return "command"
    said, lines = code.language, [line for line in code.code.splitlines() if line.strip()]
    if not lines:
        return "other"
    if said in _CONFIGURATION:
        return "configuration"
    if any(re.match(r"\s*>>> ", line) for line in lines) and (said in PYTHON or not said):
        # Where code without a prompt comes first, prompts mark what it prints.
        first = next((line.lstrip() for line in lines if not line.lstrip().startswith("#")), "")
        return "doctest" if first.startswith(">>>") else "output"
    if said in PYTHON - DOCTEST:
        return "python"
    if said in POSIX or not said:
        if any(PROMPT.match(line) for line in lines):
            return _shell_kind(lines, prompted=True)
        begins = [line.split()[0] for line in lines if not line.lstrip().startswith("#")]
        ours = bool(begins) and (begins[0] in own_commands or is_install(lines[0]))
        if said in POSIX - {"console", "cmd"} or ours:
            return _shell_kind(lines, prompted=False) if said or _all_commands(lines, own_commands) else "output"
        if said in ("console", "cmd"):
            return "output"
        return "python" if imports_own(code.code, own_modules) else "output"
    return "output" if said in _OUTPUT else "other"


def _all_commands(lines: list[str], own_commands: Set[str]) -> bool:
    return all(line.lstrip().startswith("#") or line.split()[0] in own_commands or is_install(line) for line in lines)


def _shell_kind(lines: list[str], *, prompted: bool) -> Kind:
    if prompted:
        given = [PROMPT.sub("", line) for line in lines if PROMPT.match(line)]
        if any(not PROMPT.match(line) and not line.lstrip().startswith("#") for line in lines):
            return "session"
        lines = given
    commands = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return "install" if commands and all(is_install(line) for line in commands) else "shell"


def imports_own(text: str, own_modules: Set[str]) -> bool:
    tree = python_of(text) if any(module in text for module in own_modules) else None
    return tree is not None and any(one.top in own_modules for one in imports_of(tree))
