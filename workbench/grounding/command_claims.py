"""Claims in a README's commands: programs, scripts, options, installed packages. Options of other programs are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from workbench.grounding import known, spelling
from workbench.grounding.items import Claim, Place
from workbench.rubric import commands
from workbench.rubric.markdown import SHELL, Fence

_PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?(?:\$|%|PS>|C:\\>|#)\s+(?=\S)")
_WORD = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|(?:<[\w -]+>|[^\s|;&<>])+|&&|\|\||[|;<>]")
_ENDS = {"&&", "||", "|", ";"}
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_RUNNERS = {"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pipx", "sudo", "time", "nohup", "uvx", "tox", "nox"}
_TAKES_FILE = {"-r", "--requirement", "-c", "--constraint"}
_TAKES_WORD = {"-i", "--index-url", "--extra-index-url", "-t", "--target", "-f", "--find-links", "-n", "--name", "-c"}
_INSTALLERS = {"pip", "pip3", "pipx", "conda", "mamba", "easy_install", "uv", "poetry", "pipenv", "pdm", "rye"}
_PlaceAt = Callable[[int, int], Place]


def is_shell(fence: Fence) -> bool:
    if fence.language:
        return fence.language in SHELL
    lines = [line for line in fence.code.splitlines() if line.strip()]
    return bool(lines) and any(_PROMPT.match(line) or line.split()[0] in known.PROGRAMS for line in lines)


def in_fence(text: str, fence: Fence, place: _PlaceAt) -> Iterator[Claim]:
    """Yield the claims of a code block; where some lines have a prompt, the others are output."""
    lines = fence.code.splitlines()
    prompted = any(_PROMPT.match(line) and not line.lstrip().startswith("#") for line in lines)
    at = fence.start
    going_on = False
    quote = ""
    for line in lines:
        bare = line.strip()
        if quote:  # the rest of a text in quotes
            quote = "" if quote in bare else quote
            continue
        quote = next((mark for mark in "\"'" if _ASSIGNED.match(bare) and bare.count(mark) % 2), "")
        if quote:
            continue
        start = text.find(bare, at, fence.end) if bare else -1
        if start < 0:
            going_on = False
            continue
        at = start + len(bare)
        prompt = _PROMPT.match(bare)
        if (bare.startswith("#") and not prompted) or (
            prompted and not going_on and (prompt is None or bare.startswith("#"))
        ):
            going_on = False
            continue
        shift = prompt.end() if prompt and not going_on else 0
        if not going_on:
            yield from in_line(bare[shift:], start + shift, place)
        going_on = bare.endswith("\\")


def in_line(line: str, at: int, place: _PlaceAt) -> Iterator[Claim]:
    """Yield the claims of a command line; ``at`` is its position in the README."""
    words: list[tuple[str, Place]] = []
    for match in _WORD.finditer(line):
        word = match.group()
        if word.startswith("#"):
            break
        if word in _ENDS:
            yield from _claims(words)
            words = []
            continue
        shift = 1 if word[0] in "\"'" and len(word) > 1 else 0
        words.append((word.strip("\"'"), place(at + match.start() + shift, at + match.end() - shift)))
    yield from _claims(words)


def _claims(words: list[tuple[str, Place]]) -> Iterator[Claim]:
    while words and (_ASSIGNED.match(words[0][0]) or (words[0][0] in _RUNNERS - _INSTALLERS and len(words) > 1)):
        words = words[1:]
    if len(words) > 2 and words[0][0] in _RUNNERS and words[1][0] == "run":
        words = words[2:]
        while words and words[0][0].startswith("-"):
            words = words[1:]
    if not words:
        return
    (program, where), rest = words[0], words[1:]
    base = re.sub(r"\.exe$", "", program.rsplit("/", 1)[-1])
    if re.fullmatch(r"python[\d.]*|py", base):
        yield from _python(rest)
    elif base in known.BUILD_TOOLS:
        yield from _targets(base, rest)
    elif base in _INSTALLERS and any(word in {"install", "add", "inject"} for word, _ in rest[:2]):
        yield from _installed(rest)
    elif base == "pytest":
        yield from filter(None, [spelling.path(word, spot, certain=False) for word, spot in rest if word[0].isalpha()])
    elif base == "cd":
        yield from filter(None, [spelling.path(word, spot, certain=False) for word, spot in rest[:1]])
    elif (
        program.startswith("./")
        or (known.FILE.fullmatch(program) and "/" in program)
        or program.endswith((".py", ".sh"))
    ):
        yield from filter(None, [spelling.path(program, where)])
        yield from _arguments(rest, own=True)
    elif base in known.PROGRAMS or not re.fullmatch(r"[A-Za-z][\w.-]*", program):
        yield from _arguments(rest, own=False)
    else:
        yield from filter(None, [spelling.command(program, where)])
        yield from _arguments(rest, own=True)


def _python(rest: list[tuple[str, Place]]) -> Iterator[Claim]:
    while rest and re.fullmatch(r"-[uBOsIXW]\w*", rest[0][0]):
        rest = rest[1:]
    if not rest:
        return
    (first, where), more = rest[0], rest[1:]
    if first == "-m" and more:
        module = more[0][0]
        top = module.split(".")[0]
        if top in {"pip", "pytest"}:
            yield from _claims(more)
        elif known.is_python(top) or top in known.PROGRAMS:
            yield from _arguments(more[1:], own=False)
        else:
            parts = tuple((part,) for part in module.split("."))
            yield Claim("command", f"python -m {module}", more[0][1], parts, not known.is_placeholder(module))
            yield from _arguments(more[1:], own=True)
    elif first.endswith(".py"):
        yield from filter(None, [spelling.path(first, where)])
        yield from _arguments(more, own=True)


def _targets(tool: str, rest: list[tuple[str, Place]]) -> Iterator[Claim]:
    named = [(word, where) for word, where in rest if re.fullmatch(r"[A-Za-z][\w:.-]*", word)]
    if tool == "npm":
        named = named[1:] if named and named[0][0] in {"run", "run-script"} else []
    for word, where in named:
        yield Claim("command", f"{tool} {word}", where, ((word,),), within=known.BUILD_TOOLS[tool])


def _installed(rest: list[tuple[str, Place]]) -> Iterator[Claim]:
    at = next(index for index, (word, _) in enumerate(rest) if word in {"install", "add", "inject"})
    words = iter(rest[at + 1 :])
    for word, where in words:
        if word in _TAKES_FILE:
            yield from filter(None, [spelling.path(*given) for given in [next(words, None)] if given])
        elif word in _TAKES_WORD:
            next(words, None)
        elif word.startswith("-") or ":" in word or "@" in word:
            continue
        elif extras := re.search(r"\[([\w,. -]+)\]", word):
            name = word[: extras.start()]
            yield from filter(None, [spelling.identifier(extra.strip(), where) for extra in extras.group(1).split(",")])
            if commands.package_name(name):
                yield from filter(None, [spelling.dependency(name, where)])
        elif "/" in word or word.startswith("."):
            yield from filter(None, [spelling.path(word, where, certain=False)])
        elif name := commands.package_name(word):
            # Tools of the trade are installed by whoever likes; that a project needs one of them is no claim.
            yield from filter(None, [spelling.dependency(word, where, certain=name not in commands.TOOLING)])


def _arguments(rest: list[tuple[str, Place]], *, own: bool) -> Iterator[Claim]:
    """Yield options of the project's own programs, and arguments that are files of it."""
    for word, where in rest:
        found = spelling.OPTION.match(word)
        if found and own:
            spot = Place(where.line, where.start, where.start + found.end())
            yield from filter(None, [spelling.option(found.group(), spot)])
        elif not word.startswith("-") and (known.FILE.fullmatch(word) or "/" in word):
            yield from filter(None, [spelling.path(word, where, certain=False)])


def commands_word(content: str) -> bool:
    """Whether inline code is a command line: a known program, or a word followed by options."""
    words = content.split()
    if len(words) < 2:
        return False
    first = words[0].rsplit("/", 1)[-1]
    spelled = re.fullmatch(r"[A-Za-z][\w.-]*", words[0]) or known.FILE.fullmatch(words[0])
    return first in known.PROGRAMS or (bool(spelled) and any(spelling.OPTION.match(word) for word in words[1:]))
