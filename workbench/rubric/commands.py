"""Commands in a README: which are there, which are equivalent, what they install, what they start."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from workbench.rubric.markdown import PYTHON, SHELL, Outline

if TYPE_CHECKING:
    from workbench.catalog import Facts
    from workbench.repository import View

_PROMPT = re.compile(r"^\s*(?:\(\w+\)\s*)?(?:[$%>]|PS>|C:\\>)\s+")
_INLINE = re.compile(r"(?<!`)`([^`\n]{2,300})`(?!`)")
_MOST = 2_000
_INTERPRETER = re.compile(r"^(?:\.?/?[\w./-]*/)?(?:python(?:\d(?:\.\d+)?)?|py)(?:\.exe)?$")
_RUNNERS = frozenset({"uv", "poetry", "pipenv", "pdm", "hatch", "rye"})
_PACKAGE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
# Tools that any README may tell one to install without them being the project's dependencies.
_TOOLING = (
    "pip setuptools wheel build virtualenv venv pipx uv poetry pytest tox nox black ruff flake8 mypy pylint isort "
    "pre-commit coverage pytest-cov twine hatch pipenv conda ipython jupyter notebook"
)
TOOLING = frozenset(_TOOLING.split())


@dataclass(frozen=True, slots=True)
class Command:
    """One shell command of the README: its words and where it stands."""

    words: tuple[str, ...]
    text: str
    start: int
    end: int


def normal(words: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Return a command's words without what does not change its meaning (``python3`` → ``python``, ``./x`` → ``x``)."""
    words = list(words)
    while words and (words[0] in {"sudo", "time", "env"} or re.fullmatch(r"[A-Z_][A-Z0-9_]*=\S*", words[0])):
        words.pop(0)
    if len(words) > 2 and words[0] in _RUNNERS and words[1] == "run":
        words = words[2:]
    if not words:
        return ()
    if _INTERPRETER.match(words[0]):
        words[0] = "python"
        while len(words) > 1 and words[1] in {"-u", "-B", "-O", "-s", "-I"}:
            words.pop(1)
    plain = [word.removeprefix("./").replace("\\", "/") for word in words]
    if plain[0].endswith(".py"):
        plain.insert(0, "python")
    return tuple(plain)


def split(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line, comments=True))
    except ValueError:
        return tuple(line.split())


def head(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a normal command starts: ``python x.py``, ``python -m x`` or the program's name."""
    if words[:1] != ("python",):
        return words[:1]
    return words[:3] if words[1:2] in {("-m",), ("-c",)} else words[:2]


def commands(outline: Outline) -> tuple[Command, ...]:
    """Return the first 2,000 commands of shell fences, unlabelled and indented code, and inline code, in order."""
    return tuple(sorted(islice(_commands(outline), _MOST), key=lambda command: command.start))


def _commands(outline: Outline) -> Iterator[Command]:
    for fence in outline.fences:
        if fence.language in PYTHON:
            continue
        if fence.language and fence.language not in SHELL and fence.language not in {"text", "txt", "plaintext"}:
            continue
        position = fence.start
        for line in fence.code.splitlines():
            bare = _PROMPT.sub("", line).strip()
            if not bare or bare.startswith("#"):
                continue
            start = outline.text.find(bare, position, fence.end)
            if start < 0:
                start = fence.start
            else:
                position = start
            for part in re.split(r"\s(?:&&|\|\||;)\s|;\s", bare):
                words = normal(split(part))
                if words:
                    yield Command(words, part, start, start + len(bare))
    for block in outline.blocks:
        for match in _INLINE.finditer(outline.text, block.start, block.end):
            words = normal(split(_PROMPT.sub("", match.group(1)).strip()))
            if words:
                yield Command(words, match.group(1), match.start(1), match.end(1))


def package_name(requirement: str) -> str:
    """Return the normal form of a package's name (PEP 503), without version, extras and markers."""
    match = _PACKAGE.match(requirement.strip())
    return re.sub(r"[-_.]+", "-", match.group()).lower() if match else ""


def _install_words(command: Command) -> list[str]:
    """Return the words of a ``pip install``-like command from the installer's name on, none of another command."""
    words = list(command.words)
    if words[:3] == ["python", "-m", "pip"]:
        words = words[2:]
    if words[:2] == ["uv", "pip"]:
        words = words[1:]
    adds = len(words) > 2 and words[0] in _RUNNERS and words[1] == "add"
    if adds or (len(words) > 2 and re.fullmatch(r"pip(x|\d(\.\d+)?)?", words[0]) and words[1] == "install"):
        return words
    return []


def is_install(command: Command) -> bool:
    return bool(_install_words(command))


def installs(command: Command) -> tuple[list[str], list[str]]:
    words = _install_words(command)
    if not words:
        return [], []
    packages: list[str] = []
    files: list[str] = []
    rest = iter(words[2:])
    for word in rest:
        if word in {"-r", "--requirement", "-c", "--constraint"}:
            files.append(next(rest, ""))
        elif word in {"-e", "--editable", "-i", "--index-url", "--extra-index-url", "-t", "--target", "-f"}:
            next(rest, None)
        elif word.startswith(("-", ".", "<", "[")) or "/" in word or ":" in word:
            continue
        elif name := package_name(word):
            packages.append(name)
    return packages, [name for name in files if name]


_NO_MODULES = frozenset({"tests", "test", "docs", "doc", "examples", "benchmarks", "scripts", "setup", "conftest"})


@dataclass(frozen=True, slots=True)
class Project:
    """Names that belong to a project; ``files`` are visible file names without folders, None without the repository."""

    modules: frozenset[str]
    packages: frozenset[str]
    files: frozenset[str] | None

    @staticmethod
    def known_from(facts: Facts | None, view: View | None) -> Project:
        modules: set[str] = set()
        packages: set[str] = set()
        if facts is not None:
            modules.update(_module_names([facts.main_file]))
            start = head(normal(split(facts.run_command)))
            packages.update(package_name(word) for word in start if word not in {"python", "-m", "-c"})
            modules.update(word.split(".")[0] for word in start[2:3])
            said = (*facts.must_mention, facts.main_purpose)
            packages.update(package_name(word) for item in said for word in item.split() if re.search(r"\w-\w", word))
        files = None
        if view is not None:
            paths = [entry.path for entry in view.files]
            files = frozenset(path.rsplit("/", 1)[-1] for path in paths)
            modules.update(_module_names(paths))
        packages.update(package_name(name) for name in modules)
        packages.discard("")
        return Project(frozenset(modules), frozenset(packages), files)

    def owns(self, package: str) -> bool:
        """Return whether a (normal) package name is plausibly the project's, as ``python-dotenv`` is ``dotenv``'s."""
        bare = re.sub(r"^(python|py)-|-(python|py|cli|tool)$", "", package)
        return package in self.packages or bare in self.packages

    def has_module(self, name: str, dependencies: Iterable[str]) -> bool:
        if name in self.modules:
            return True
        plain = package_name(name)
        # A package's module often has another name (beautifulsoup4 → bs4): only a hint of likeness is asked.
        return any(plain in other or other in plain for other in dependencies if len(other) > 2)

    def lacks(self, path: str) -> bool:
        """Return whether a file named in a command is certainly not in the repository."""
        if self.files is None or re.search(r"[<>{}$*\[\]]|^(your|my|path|example|docs?/|/|~)", path):
            return False
        name = path.rsplit("/", 1)[-1]
        return name not in self.files


def _module_names(paths: Iterable[str]) -> set[str]:
    names: set[str] = set()
    for path in paths:
        if not path.endswith((".py", ".pyi", ".pyx")):
            continue
        parts = path.rsplit(".", 1)[0].split("/")
        if parts[0] == "src" and len(parts) > 1:
            parts = parts[1:]
        if parts[0] not in _NO_MODULES:
            names.add(parts[0])
        names.update(part for part in parts[-1:] if part not in {"__init__", "__main__"} | _NO_MODULES)
    return names
