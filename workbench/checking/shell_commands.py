"""The commands of a block for a shell, with the output that the page claims for each."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from workbench.checking.kinds import PROMPT

_COMPOUND = re.compile(r"^\s*(?:for|while|until|if|case|select|function)\b|\(\)\s*\{|<<-?\s*['\"]?\w", re.M)
_SEPARATORS = {"|", "||", "&&", ";", "&", "|&", "(", ")"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")


@dataclass(frozen=True, slots=True)
class Command:
    """A command, which may be of several lines.

    Attributes:
        line: Its first line within the block, from 0.
        text: What a shell is given.
        expected: What the page says that it prints; None where it says nothing.
    """

    line: int
    text: str
    expected: str | None = None


def commands_of(code: str) -> list[Command]:
    """Return the commands of a block in order; with prompts, what follows a command is what it prints."""
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
    """Return the words of each simple command in a text, without assignments and redirections; None if it is not understood."""
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
