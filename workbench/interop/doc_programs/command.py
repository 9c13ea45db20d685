"""``command:PROGRAM…``: any program that documents a folder in context.

The command line is split as in a shell, but runs without a shell. A leading ``NAME=VALUE`` is an environment variable.
``{folder}``, ``{base_url}``, ``{model}`` and ``{key}`` are replaced with the copy to document, the endpoint (``…/v1``),
the model's name and the key; ``{model=NAME}`` selects the model. ``OPENAI_BASE_URL``, ``OPENAI_API_KEY`` and
``OPENAI_MODEL`` are also set.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.base.text import one_line
from workbench.documenters.program_cache import COPY, WrittenDocs, read_edited
from workbench.documenters.types import DocsName
from workbench.interop.doc_programs.program import DocProgram, ProgramContext, Start, mounts_of

_VARIABLE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)", re.ASCII | re.DOTALL)
_MODEL = re.compile(r"\{model=(?P<name>[^{}]+)\}")
_PLACEHOLDER = re.compile(r"\{(?P<name>\w+)\}", re.ASCII)
_KNOWN = ("folder", "base_url", "model", "key")
_PYTHONS = ("python", "python3")
_LARGEST = 5_000_000  # maximum number of bytes of a script to hash


class CommandAdapter:
    """The adapter of a command, which is the text after ``command:``."""

    def __init__(self, text: str, version: str = "") -> None:
        self._variables, self._words = _read(text)
        self.name = f"command:{text}"
        self.title = f"The command {one_line(Path(self._words[0]).name, 40)}"
        found = {match["name"] for word in _all(self._variables, self._words) for match in _MODEL.finditer(word)}
        if len(found) > 1:
            raise UsageError(
                f"The command names {len(found)} models: {', '.join(sorted(found))}; use one for all requests."
            )
        self.model = next(iter(found), "")
        self.basis = _scripts_digest(self._words)

    def start(self, context: ProgramContext) -> Start:
        values = {
            "folder": context.folder,
            "base_url": f"{context.base_url}/v1",
            "model": context.model,
            "key": context.key,
        }
        words = [_filled(word, values) for word in self._words]
        program = _program(words[0])
        own = {name: _filled(value, values) for name, value in self._variables}
        variables = {
            "OPENAI_BASE_URL": values["base_url"],
            "OPENAI_API_KEY": context.key,
            "OPENAI_MODEL": context.model,
            **own,
        }
        mounts = [path for word in words[1:] for path in _mounts_of(word)]
        # A program in a virtual environment starts the interpreter in the same folder, so mount that too.
        beside = program if program.name.startswith("python") else program.parent / "python"
        python = beside if beside.exists() else Path(sys.executable)
        mounts += mounts_of(python) if beside.exists() else _mounts_of(str(program))
        return Start([str(program), *words[1:]], python, variables, tuple(mounts))

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> WrittenDocs:
        return read_edited(pristine, area / COPY, paths)

    @classmethod
    def resolved(cls, docs: DocsName, default_model: str) -> tuple[DocsName, str]:
        """Return the name with absolute paths and the model filled in, and the model ("" if it uses none)."""
        text = resolve_command(docs.rest, default_model)
        return replace(docs, rest=text), cls(text).model


class CommandDocs(DocProgram):
    """Runs ``command:PROGRAM…``."""

    adapter = CommandAdapter


def resolve_command(text: str, default_model: str) -> str:
    """Return a command with relative paths made absolute, and with ``{model}`` as ``{model=NAME}``."""
    variables, words = _read(text)
    program = words[0]
    if "/" in program or program not in _PYTHONS:
        _program(program)
    if "/" in program:
        words[0] = str(Path(program).expanduser().absolute())
    for index, word in enumerate(words[1:], 1):
        path = Path(word).expanduser() if "{" not in word and not word.startswith("-") else None
        if path is not None and path.exists():
            words[index] = str(path.absolute())
    named = any(_MODEL.search(word) for word in _all(variables, words))
    model = "{model}" if named else f"{{model={default_model}}}"
    parts = [f"{name}={value.replace('{model}', model)}" for name, value in variables] + [
        word.replace("{model}", model) for word in words
    ]
    return " ".join(_quoted(part) for part in parts)


def _quoted(word: str) -> str:
    # Placeholders need no quotes, which would only make the name longer.
    return word if re.fullmatch(r"[\w@%+=:,./{}-]+", word, re.ASCII) else shlex.quote(word)


def _read(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"The command {text!r} cannot be read: {one_line(str(error), 80)}.") from None
    variables: list[tuple[str, str]] = []
    while words and (found := _VARIABLE.fullmatch(words[0])) is not None:
        variables.append((found["name"], found["value"]))
        words.pop(0)
    if not words:
        raise UsageError("A command needs a program: --docs 'command:python mydoc.py {folder}'.")
    unknown = {m["name"] for word in _all(variables, words) for m in _PLACEHOLDER.finditer(word)} - set(_KNOWN)
    if unknown:
        raise UsageError(
            f"The command has the unknown placeholder {{{min(unknown)}}}; known placeholders are "
            f"{', '.join('{' + name + '}' for name in _KNOWN)} and {{model=NAME}}."
        )
    return variables, words


def _all(variables: Sequence[tuple[str, str]], words: Sequence[str]) -> list[str]:
    return [*(value for _, value in variables), *words]


def _filled(word: str, values: dict[str, str]) -> str:
    word = _MODEL.sub("{model}", word)
    return _PLACEHOLDER.sub(lambda match: values[match["name"]], word)


def _program(word: str) -> Path:
    """Return the path of a program; ``python`` is the workbench's own interpreter."""
    if word in _PYTHONS:
        return Path(sys.executable)
    found = shutil.which(str(Path(word).expanduser()) if "/" in word else word)
    if found is None:
        raise UsageError(f"There is no program {word!r}; use its path, or install it.")
    return Path(found).absolute()


def _mounts_of(word: str) -> list[Path]:
    """Return the paths to mount for an argument: a folder, or the folder that contains a file.

    If the file is directly in the home folder, a parent of it or a temporary folder, only the file itself is mounted.
    """
    path = Path(word)
    if not path.is_absolute() or not path.exists() or path.is_relative_to("/usr") or path == Path("/"):
        return []
    if path.is_dir():
        return [path]
    around = path.parent.resolve()
    wide = Path.home().resolve().is_relative_to(around) or around in (Path("/tmp"), Path("/var/tmp"))
    return [path] if wide else [path.parent]


def _scripts_digest(words: Sequence[str]) -> str:
    """Return a digest of the scripts named in a command, so that changing a script invalidates the cache."""
    digest = hashlib.sha256()
    for word in words[1:]:
        path = Path(word)
        if path.is_absolute() and path.is_file() and path.stat().st_size <= _LARGEST:
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
