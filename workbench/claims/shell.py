"""Shell code on a page: the commands of a block, their words, and the programs they start and packages they install."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from workbench.claims.page import SHELL, Code, Page

PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?[$❯➜%](?:\s+|$)")
_OF_ANY_SHELL = re.compile(rf"{PROMPT.pattern}|^\s*(?:\([\w.-]+\)\s*)?(?:PS>|C:\\>)\s+")
INTERPRETER = re.compile(r"(?:[\w./-]*/)?(?:python[\d.]*|py)(?:\.exe)?")
_COMPOUND = re.compile(r"^\s*(?:for|while|until|if|case|select|function)\b|\(\)\s*\{|<<-?\s*['\"]?\w", re.M)
_SEPARATORS = {"|", "||", "&&", ";", "&", "|&", "(", ")"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")


@dataclass(frozen=True, slots=True)
class Command:
    """A command in a block.

    ``line`` counts from 0 within the block. ``expected`` is its output according to the page, or None if none is shown.
    """

    line: int
    text: str
    expected: str | None = None


def commands_of(code: str) -> list[Command]:
    """Return the commands of a block; a block with loops, functions or here-documents is a single command."""
    if _COMPOUND.search(code) and not any(PROMPT.match(line) for line in code.splitlines()):
        first = next((at for at, line in enumerate(code.splitlines()) if line.strip()), 0)
        return [Command(first, code)] if code.strip() else []
    return lines_of(code)


def lines_of(code: str) -> list[Command]:
    """Return the logical lines of a block; in a block with prompts, the lines after a command are its output."""
    lines = code.splitlines()
    prompted = any(_OF_ANY_SHELL.match(line) for line in lines)
    found: list[Command] = []
    at = 0
    while at < len(lines):
        begin, output = at, list[str]()
        if prompted and not _OF_ANY_SHELL.match(lines[at]):
            at += 1
            continue
        if prompted:
            text, count = _whole(
                [_OF_ANY_SHELL.sub("", lines[at]), *(re.sub(r"^\s*> ", "", one) for one in lines[at + 1 :])]
            )
            at += count
            while at < len(lines) and not _OF_ANY_SHELL.match(lines[at]):
                output.append(lines[at])
                at += 1
        else:
            text, count = _whole(lines[at:])
            at += count
        if text.strip() and not text.lstrip().startswith("#"):
            # A comment before the next prompt is not output of the program, so drop it.
            shown = re.sub(r"(?:\n|^)#[^\n]*\s*$", "", "\n".join(output).strip("\n")).strip("\n")
            found.append(Command(begin, text, shown if shown.strip() else None))
    return found


def _whole(lines: Sequence[str]) -> tuple[str, int]:
    text, count = lines[0], 1
    while count < min(len(lines), 40) and (text.endswith("\\") or _open_quote(text)):
        text += "\n" + lines[count]
        count += 1
    return text, count


def _open_quote(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError as error:
        return "quotation" in str(error)
    return False


# Text that the shell would interpret as a redirection or escape, although it is literal: placeholders, versions and
# Windows paths.
_AS_WRITTEN = re.compile(
    r"<[A-Za-z][\w.-]*(?: [\w.-]+)*>|(?<=[\w\],])[<>](?==)|(?<=[A-Za-z\],])[<>](?=\d)|(?<=[\w\],])<(?=\d)|"
    r"(?<=[\w.])\\(?=[A-Za-z.])"
)
_MASK = str.maketrans("<> \\", "\ue000\ue001\ue002\ue003")
_UNMASK = str.maketrans("\ue000\ue001\ue002\ue003", "<> \\")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command and the position of its first character."""

    text: str
    start: int


def words_of(text: str) -> list[list[Word]] | None:
    """Return the words of each simple command, without assignments and redirections, or None for invalid text."""
    masked = _AS_WRITTEN.sub(lambda match: match[0].translate(_MASK), text.replace("\\\n", "  "))
    try:
        lexer = shlex.shlex(masked, posix=True, punctuation_chars="|&;()<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words = [word.translate(_UNMASK) for word in lexer]
    except ValueError:
        return None
    found: list[list[Word]] = [[]]
    skip = False
    at = 0
    for word in words:
        at = max(at, text.find(word, at))
        if word in _SEPARATORS:
            found.append([])
        elif set(word) <= set("<>&|"):
            skip = True
        elif skip:
            skip = False
        elif found[-1] or not _ASSIGNMENT.fullmatch(word):
            found[-1].append(Word(word, at))
        at += len(word)
    return [one for one in found if one]


def simple_commands(text: str) -> list[list[str]] | None:
    """Return the words of each simple command as text, or None if they cannot be parsed."""
    found = words_of(text)
    return found if found is None else [[word.text for word in words] for words in found]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line with its position on a page, and the words of its simple commands with their positions."""

    start: int
    end: int
    commands: list[list[Word]]


def command_lines(page: Page, code: Code) -> Iterator[CommandLine]:
    at = code.start
    for command in lines_of(code.code):
        first = command.text.split("\n")[0].strip()
        start = max(at, page.text.find(first, at, code.end))
        line = command_line(page.text, command.text, start, code.end)
        at = max(line.end, start + len(first))
        yield CommandLine(start, at, line.commands)


def command_line(text: str, command: str, start: int, end: int) -> CommandLine:
    """Return the command between two positions in a text, where it may span several lines."""
    at = start
    commands = []
    for words in words_of(command) or [[Word(word.strip("\"'"), 0) for word in command.split()]]:
        placed = []
        for word in words:
            at = max(at, text.find(word.text, at, end))
            placed.append(Word(word.text, at))
            at += len(word.text)
        commands.append(placed)
    return CommandLine(start, at, commands)


def words_in(command: str) -> list[str]:
    """Return the words of a command as the shell splits them, or split at spaces if it cannot be parsed."""
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return command.split()


# -- programs that a command starts

RUNNERS = frozenset({"uv", "poetry", "pipenv", "pdm", "hatch", "rye"})
_BEFORE_A_PROGRAM = frozenset({"sudo", "time", "env", "nohup", "uvx", "do", "then", "else"})


def started(words: Sequence[str]) -> int:
    """Return the index of the program's name in a command, after ``sudo``, ``uv run`` and similar prefixes."""
    at = 0
    while at < len(words) and (words[at] in _BEFORE_A_PROGRAM or _ASSIGNMENT.fullmatch(words[at])):
        at += 1
    if len(words) > at + 2 and words[at] in RUNNERS and words[at + 1] == "run":
        at += 2
    return at


def normal(words: Sequence[str]) -> tuple[str, ...]:
    """Normalise spellings that do not affect a command's meaning (``python3`` → ``python``, ``./x`` → ``x``)."""
    words = list(words[started(words) :])
    if not words:
        return ()
    if INTERPRETER.fullmatch(words[0]):
        words[0] = "python"
        while len(words) > 1 and words[1] in {"-u", "-B", "-O", "-s", "-I"}:
            words.pop(1)
    plain = [word.removeprefix("./").replace("\\", "/") for word in words]
    if plain[0].endswith(".py"):
        plain.insert(0, "python")
    return tuple(plain)


def head(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program of a normalised command: ``python x.py``, ``python -m x`` or the program's name."""
    if words[:1] != ("python",):
        return words[:1]
    return words[:3] if words[1:2] in {("-m",), ("-c",)} else words[:2]


@dataclass(frozen=True, slots=True)
class Started:
    """A command on a page, in normalised form."""

    words: tuple[str, ...]
    start: int
    end: int

    @property
    def installed(self) -> list[Installed]:
        return installs(self.words) or []

    @property
    def packages(self) -> list[str]:
        return [one.package for one in self.installed if one.package]

    @property
    def files(self) -> list[str]:
        return [one.file for one in self.installed if one.file]


_INLINE = re.compile(r"(?<!`)`([^`\n]{2,300})`(?!`)")
_MOST = 2_000


def started_by(page: Page) -> list[Started]:
    """Yield up to 2,000 commands from shell code, code without a language and inline code, in order."""
    lines = [
        line
        for code in page.codes
        if not code.language or code.language in SHELL | {"text", "txt", "plaintext"}
        for line in command_lines(page, code)
    ]
    for block in page.blocks:
        for match in _INLINE.finditer(page.text, block.start, block.end):
            found = command_line(page.text, PROMPT.sub("", match[1]), *match.span(1))
            lines.append(CommandLine(*match.span(1), found.commands))
    commands = ((line, normal([word.text for word in words])) for line in lines for words in line.commands)
    started = [Started(words, line.start, line.end) for line, words in commands if words]
    return sorted(started[:_MOST], key=lambda command: command.start)


# -- packages that a command installs

_INSTALLS = re.compile(
    rf"^(?:[A-Za-z_]\w*=\S*\s+)*(?:sudo\s+)?(?:{INTERPRETER.pattern}\s+-m\s+)?"
    r"(?:pip[\d.]*|pipx|uv|uvx|poetry|pdm|pipenv|conda|mamba|rye|hatch|brew|apt|apt-get|dnf|yum|pacman|npm)\s+"
    r"(?:[^|;&\n]*?\s)?(?:install|add|sync|inject)\b"
)
_PIP = re.compile(r"pip[\d.]*")
_OF_PYTHON = frozenset({"pipx", "conda", "mamba", "easy_install", *RUNNERS})
_VERBS = frozenset({"install", "add", "inject"})
_TAKES_FILE = {"-r": "-r", "--requirement": "-r", "-c": "-c", "--constraint": "-c"}
_TAKES_WORD = "-c -i --index-url --extra-index-url -t --target -f --find-links --python -n --name"
_SKIPPED = frozenset(_TAKES_WORD.split())


def is_install(command: str) -> bool:
    """Return whether a command installs something with any known installer."""
    return _INSTALLS.match(command.strip()) is not None


@dataclass(frozen=True, slots=True)
class Installed:
    """An argument of a Python package installer; ``number`` is its index in the command.

    ``option`` is ``-r`` or ``-c`` for a requirements file, ``-e`` for an editable install, and "" for anything else.
    """

    text: str
    number: int
    option: str = ""

    @property
    def file(self) -> str:
        return self.text if self.option in ("-r", "-c") else ""

    @property
    def package(self) -> str:
        """Return the normalised name of a package, without version and extras, or "" for files, folders and URLs."""
        if self.option or self.text.startswith((".", "<", "[", "-")) or "/" in self.text or ":" in self.text:
            return ""
        return package_name(self.text)


def package_name(requirement: str) -> str:
    """Return the normalised name of a package (PEP 503), without version, extras and markers."""
    match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement.strip())
    return canonicalize_name(match[0]) if match else ""


def installs(words: Sequence[str], *, pip_only: bool = False) -> list[Installed] | None:
    """Return the packages that a simple command installs, or None if it is not an install command."""
    at = started(words)
    if len(words) > at + 2 and INTERPRETER.fullmatch(words[at]) and words[at + 1] == "-m":
        at += 2
    if list(words[at : at + 2]) == ["uv", "pip"]:
        at += 1
    tool = words[at] if at < len(words) else ""
    verb = next((n for n, word in enumerate(words[at + 1 : at + 3], at + 1) if word in _VERBS), 0)
    if not verb or not (_PIP.fullmatch(tool) or (not pip_only and tool in _OF_PYTHON)):
        return None
    found: list[Installed] = []
    option = ""
    for number, word in enumerate(words[verb + 1 :], verb + 1):
        if option == "skip":
            option = ""
        elif word in _TAKES_FILE and not option and not (word == "-c" and tool in {"conda", "mamba"}):
            option = _TAKES_FILE[word]
        elif word in _SKIPPED:
            option = "skip"
        elif word in ("-e", "--editable"):
            option = "-e"
        elif not word.startswith("-"):
            found.append(Installed(word, number, option))
            option = ""
    return found
