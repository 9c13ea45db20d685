"""The kind of a code block, by its language and its lines."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

from workbench.base import python_syntax
from workbench.checking.page import Code

Kind = Literal["install", "shell", "session", "python", "doctest", "output", "configuration", "other", "command"]

_PYTHON = {"python", "py", "python3", "py3", "testcode", "testsetup", "code-cell", "ipython3"}
_DOCTEST = {"pycon", "doctest", "pyshell", "python-console", "ipython"}
_SHELL = {"bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "terminal", "sh-session", "cmd"}
_CONFIGURATION = {"toml", "yaml", "yml", "ini", "cfg", "json", "jsonc", "json5", "xml", "dotenv", "env", "properties"}
_OUTPUT = {"text", "txt", "output", "plain", "plaintext", "none", "log", "out", "stdout", "ansi"}

PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?[$❯➜%](?:\s+|$)")
_PACKAGE_WORDS = r"(?:[^|;&\n]*?\s)?(?:install|add|sync|inject)\b"
_INSTALL = re.compile(
    rf"^(?:[A-Za-z_]\w*=\S*\s+)*(?:sudo\s+)?(?:(?:[\w./-]*python[\d.]*|py)\s+-m\s+)?"
    rf"(?:pip[\d.]*|pipx|uv|uvx|poetry|pdm|pipenv|conda|mamba|rye|hatch|brew|apt|apt-get|dnf|yum|pacman|npm)\s+{_PACKAGE_WORDS}"
)


def language(code: Code) -> str:
    found = re.match(r"\{?\.?([\w+#-]+)", code.info)
    return found[1].lower() if found else ""


def kind_of(code: Code, own_modules: Set[str] = frozenset(), own_commands: Set[str] = frozenset()) -> Kind:
    if code.inline:
        return "command"
    said, lines = language(code), [line for line in code.code.splitlines() if line.strip()]
    if not lines:
        return "other"
    if said in _CONFIGURATION:
        return "configuration"
    if any(re.match(r"\s*>>> ", line) for line in lines) and (said in _DOCTEST | _PYTHON or not said):
        # Where code without a prompt comes first, prompts mark what it prints.
        first = next((line.lstrip() for line in lines if not line.lstrip().startswith("#")), "")
        return "doctest" if first.startswith(">>>") else "output"
    if said in _PYTHON:
        return "python"
    if said in _SHELL or not said:
        if any(PROMPT.match(line) for line in lines):
            return _shell_kind(lines, prompted=True)
        begins = [line.split()[0] for line in lines if not line.lstrip().startswith("#")]
        ours = bool(begins) and (begins[0] in own_commands or _INSTALL.match(lines[0].strip()) is not None)
        if said in _SHELL - {"console", "cmd"} or ours:
            return _shell_kind(lines, prompted=False) if said or _all_commands(lines, own_commands) else "output"
        if said in ("console", "cmd"):
            return "output"
        return "python" if imports_own(code.code, own_modules) else "output"
    return "output" if said in _OUTPUT else "other"


def _all_commands(lines: list[str], own_commands: Set[str]) -> bool:
    return all(
        line.lstrip().startswith("#") or line.split()[0] in own_commands or _INSTALL.match(line.strip())
        for line in lines
    )


def is_install(command: str) -> bool:
    return _INSTALL.match(command.strip()) is not None


def _shell_kind(lines: list[str], *, prompted: bool) -> Kind:
    if prompted:
        given = [PROMPT.sub("", line) for line in lines if PROMPT.match(line)]
        if any(not PROMPT.match(line) and not line.lstrip().startswith("#") for line in lines):
            return "session"
        lines = given
    commands = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return "install" if commands and all(_INSTALL.match(line.strip()) for line in commands) else "shell"


def imports_own(text: str, own_modules: Set[str]) -> bool:
    if not any(module in text for module in own_modules):
        return False
    tree = python_of(text)
    nodes = ast.walk(tree) if tree is not None else ()
    for node in nodes:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        if any(name.split(".")[0] in own_modules for name in names):
            return True
    return False


def python_of(text: str) -> ast.Module | None:
    try:
        return python_syntax.parse(text)
    except python_syntax.UNREADABLE:
        return None


_COMPOUND = re.compile(r"^\s*(?:for|while|until|if|case|select|function)\b|\(\)\s*\{|<<-?\s*['\"]?\w", re.M)
_SEPARATORS = {"|", "||", "&&", ";", "&", "|&", "(", ")"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")


def names_bound(node: ast.AST) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return assigned(node) | {one.name for one in ast.walk(node) if isinstance(one, kinds)}


def assigned(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


@dataclass(frozen=True, slots=True)
class Command:
    """A command; ``line`` counts from 0 within the block. ``expected`` is its output by the page, None where it shows none."""

    line: int
    text: str
    expected: str | None = None


def commands_of(code: str) -> list[Command]:
    """Commands of a block; with prompts, what follows a command is its output."""
    lines = code.splitlines()
    if any(PROMPT.match(line) for line in lines):
        return _prompted(lines)
    if _COMPOUND.search(code):
        first = next((at for at, line in enumerate(lines) if line.strip()), 0)
        return [Command(first, code)] if code.strip() else []
    found: list[Command] = []
    at = 0
    while at < len(lines):
        text, following = _whole(lines, at)
        if text.strip() and not text.lstrip().startswith("#"):
            found.append(Command(at, text))
        at = following
    return found


def _prompted(lines: list[str]) -> list[Command]:
    found: list[Command] = []
    at = 0
    while at < len(lines):
        if not PROMPT.match(lines[at]):
            at += 1
            continue
        begin = at
        stripped = [PROMPT.sub("", lines[at]), *(re.sub(r"^\s*> ", "", line) for line in lines[at + 1 :])]
        text, count = _whole(stripped, 0)
        at += count
        output = []
        while at < len(lines) and not PROMPT.match(lines[at]):
            output.append(lines[at])
            at += 1
        if text.strip() and not text.lstrip().startswith("#"):
            said = "\n".join(output).strip("\n")
            # A comment before the next prompt is the page's, not the program's.
            said = re.sub(r"(?:\n|^)#[^\n]*\s*$", "", said).strip("\n")
            found.append(Command(begin, text, said if said.strip() else None))
    return found


def _whole(lines: list[str], at: int) -> tuple[str, int]:
    text, end = lines[at], at + 1
    while end < len(lines) and (text.endswith("\\") or _open_quote(text)) and end - at < 40:
        text += "\n" + lines[end]
        end += 1
    return text, end


def _open_quote(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError as error:
        return "quotation" in str(error)
    return False


def simple_commands(text: str) -> list[list[str]] | None:
    """Words of each simple command, without assignments and redirections; None where the text cannot be parsed."""
    try:
        lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars="|&;()<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words = list(lexer)
    except ValueError:
        return None
    found: list[list[str]] = [[]]
    skip = False
    for word in words:
        if word in _SEPARATORS:
            found.append([])
        elif set(word) <= set("<>&|"):
            skip = True
        elif skip:
            skip = False
        elif found[-1] or not _ASSIGNMENT.fullmatch(word):
            found[-1].append(word)
    return [one for one in found if one]
