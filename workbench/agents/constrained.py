"""GBNF grammars that constrain a small model at each step: known paths as choices, and the structure of a README.

A model with a hundred million parameters cannot follow a protocol on its own. Constrained by a grammar, it takes the
same steps as a large model: it chooses the tool, the path and the sentences, while the grammar supplies headings and
metadata keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_TEXT_SUFFIXES = {".py", ".toml", ".cfg", ".txt", ".ini", ".in", ".json", ".yaml", ".yml", ".sh", ".pyi", ".pyx", ".mk"}
_MOST_CHOICES = 40
_OPENINGS = (" is a", " lets you", " provides", " helps you", " reads", " counts", " shows", " creates", " prints")
_SUBJECTS = ("It", "You can", "The program", "The library", "This project", "Run it to", "Use it to")
_VERBS = (
    "Returns",
    "Reads",
    "Prints",
    "Creates",
    "Checks",
    "Counts",
    "Shows",
    "Parses",
    "Converts",
    "Supports",
    "Loads",
)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]{1,20}(?![\w-])")
# Development dependencies that requirements files often list; users do not need them.
_DEVELOPERS_TOOLS = (
    *("pytest", "tox", "sphinx", "twine", "mypy", "ruff", "black", "flake8", "wheel", "setuptools", "build", "bump"),
    *("coverage", "codecov", "pre-commit", "isort", "pylint", "bandit", "vulture", "pydocstyle", "ipython", "mkdocs"),
)
_DEFINITION = re.compile(r"^(?:async )?def ([a-zA-Z]\w*)\(|^class ([A-Z]\w*)", re.MULTILINE)
_REQUIREMENT = re.compile(r"""^\s*["']?([A-Za-z][\w.-]*)(?:\[[\w,-]+\])?\s*(?:[<>=~!]=?[^"'\n]*)?["']?,?\s*$""")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Facts about the repository that determine the grammar of the agent's next answer."""

    title: str  # the project's name
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()  # arguments of ``python`` in a command: a file, or ``-m PACKAGE``
    names: tuple[str, ...] = ()  # functions and classes to describe
    dependencies: tuple[str, ...] = ()  # distributions for the installation command
    options: tuple[str, ...] = ()  # command-line options
    may_respond: bool = True
    must_respond: bool = False


def readable(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of text files, sources before tests, up to the number that a grammar should offer."""
    texts = [p for p in paths if not p.endswith("/") and PurePosixPath(p).suffix.lower() in _TEXT_SUFFIXES]
    texts.sort(key=lambda p: ("test" in p.lower(), not p.endswith(".py"), p.count("/"), p))
    return tuple(texts[:_MOST_CHOICES])


def defined_names(text: str) -> tuple[str, ...]:
    """Return the public top-level functions and classes of a Python source."""
    found = [first or second for first, second in _DEFINITION.findall(text)]
    return tuple(dict.fromkeys(name for name in found if not name.startswith("_")))


def options_in(text: str) -> tuple[str, ...]:
    """Return the long command-line options in a text, in order of appearance."""
    return tuple(dict.fromkeys(_OPTION.findall(text)))


def runnable(paths: Iterable[str]) -> tuple[str, ...]:
    """Return ``-m PACKAGE`` for each package in ``paths`` that has a ``__main__`` module."""
    mains = [PurePosixPath(path) for path in paths if path.endswith("/__main__.py")]
    return tuple(f"-m {main.parent.name}" for main in mains)


def required_distributions(path: str, text: str) -> tuple[str, ...]:
    """Return the distributions that a requirements, ``pyproject.toml`` or ``setup.cfg`` text declares."""
    name = PurePosixPath(path).name
    if name.startswith("requirements"):
        lines = text.splitlines()
    elif name == "pyproject.toml":
        block = re.search(r"^dependencies\s*=\s*\[(.*?)\]", text, re.MULTILINE | re.DOTALL)
        lines = block.group(1).split(",") if block else []
    elif name == "setup.cfg":
        block = re.search(r"^install_requires\s*=(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
        lines = block.group(1).splitlines() if block else []
    else:
        lines = []
    found = (match.group(1) for line in lines if (match := _REQUIREMENT.match(line)))
    return tuple(name for name in found if not name.lower().startswith(_DEVELOPERS_TOOLS))


def literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _in_json(text: str) -> str:
    return literal(json.dumps(text, ensure_ascii=False)[1:-1])


def choice(texts: Sequence[str]) -> str:
    """Return a GBNF group of alternatives, escaped for a JSON string."""
    return "(" + " | ".join(_in_json(text) for text in texts) + ")"


def _readme(knowledge: Knowledge) -> list[str]:
    title = knowledge.title
    script = choice(knowledge.scripts) if knowledge.scripts else '[a-z_]{3,16} ".py"'
    package = choice(knowledge.dependencies) if knowledge.dependencies else "[a-z] [a-z0-9-]{2,14}"
    needs_install = knowledge.dependencies or not knowledge.scripts
    install = f'"pip install " {package}' if needs_install else _in_json("pip install .")
    option = choice(knowledge.options) if knowledge.options else '"--help"'
    described = [f"{_in_json(f'- `{name}`: ')} line" for name in knowledge.names[:6]]
    reference = f" {_in_json(chr(10))} ".join(described) if described else 'bullet "\\\\n" bullet'
    return [
        # Only lower-case words after a fixed opening: a small model loops if punctuation, digits and capitals are free.
        'words ::= (" " | ", ") [a-z]{1,14}',
        f'first ::= {_in_json(title)} {choice(_OPENINGS)} words{{4,20}} "."',
        f'sentence ::= {choice(_SUBJECTS)} words{{4,20}} "."',
        f'line ::= {choice(_VERBS)} words{{2,12}} "."',
        'bullet ::= "- " line',
        f"install ::= {install}",
        f'command ::= "python " {script} (" " {option}){{0,2}}',
        "readme ::= "
        + _in_json(f"# {title}\n\n")
        + ' first " " sentence '
        + _in_json("\n\n## Features\n\n")
        + ' bullet "\\\\n" bullet "\\\\n" bullet '
        + _in_json("\n\n## Installation\n\n```bash\n")
        + " install "
        + _in_json("\n```\n\n## Usage\n\n")
        + " sentence "
        + _in_json("\n\n```bash\n")
        + ' command "\\\\n" command '
        + _in_json("\n```\n\n## API reference\n\n")
        + f" {reference} "
        + _in_json("\n"),
        "metadata ::= "
        + literal('{"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": ')
        + f" {literal(json.dumps(title, ensure_ascii=False))} "
        + literal(', "description": "')
        + " first "
        + literal('", "programmingLanguage": "Python"}'),
    ]


def grammar(knowledge: Knowledge) -> str:
    """Return the GBNF grammar of the next answer; its root is one ``<json>…</json>`` call."""
    calls: list[str] = []
    rules: list[str] = []
    end = literal('"}}')
    if not knowledge.must_respond:
        if knowledge.folders:
            opening = literal('{"name": "list_directory", "kwargs": {"path": "')
            calls.append(f"{opening} folder {end}")
            rules.append(f"folder ::= {choice(knowledge.folders[:_MOST_CHOICES])}")
        if knowledge.files:
            opening = literal('{"name": "read_file", "kwargs": {"path": "')
            calls.append(f"{opening} file {end}")
            rules.append(f"file ::= {choice(knowledge.files[:_MOST_CHOICES])}")
    if knowledge.may_respond or not calls:
        opening, middle = literal('{"name": "respond", "kwargs": {"readme": "'), literal('", "metadata": ')
        calls.append(f"{opening} readme {middle} metadata {literal('}}')}")
        rules.extend(_readme(knowledge))
    return "\n".join([f"root ::= {literal('<json>')} ({' | '.join(calls)}) {literal('</json>')}", *rules]) + "\n"
