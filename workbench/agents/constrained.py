"""What a small model may say at each step: a GBNF grammar with the known paths as choices and a README's shape.

A model of a hundred million parameters does not keep a protocol by itself. Constrained to it, it does the same steps as a
large one: which tool, which path and every sentence of the README are its own choice. Larger models never see this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

_TEXT_SUFFIXES = {".py", ".toml", ".cfg", ".txt", ".ini", ".in", ".json", ".yaml", ".yml", ".sh", ".pyi", ".pyx", ".mk"}
_MOST_CHOICES = 40
_DEFINITION = re.compile(r"^(?:async )?def ([a-zA-Z]\w*)\(|^class ([A-Z]\w*)", re.MULTILINE)
_REQUIREMENT = re.compile(r"""^\s*["']?([A-Za-z][\w.-]*)(?:\[[\w,-]+\])?\s*(?:[<>=~!]=?[^"'\n]*)?["']?,?\s*$""")


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What an agent has seen so far, as far as the shape of its next answer depends on it.

    Attributes:
        title: Name of the project.
        folders: Folders that it may list.
        files: Files that it may read.
        scripts: Python files that it may name in a command.
        names: Functions and classes that it may describe.
        dependencies: Distributions that it may say must be installed.
        may_respond: Whether it may hand in.
        must_respond: Whether it must.
    """

    title: str
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    may_respond: bool = True
    must_respond: bool = False
    extra: dict[str, str] = field(default_factory=dict)


def readable(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that look like text, sources before tests, at most as many as a grammar should offer."""
    texts = [p for p in paths if not p.endswith("/") and PurePosixPath(p).suffix.lower() in _TEXT_SUFFIXES]
    texts.sort(key=lambda p: ("test" in p.lower(), not p.endswith(".py"), p.count("/"), p))
    return tuple(texts[:_MOST_CHOICES])


def defined_names(text: str) -> tuple[str, ...]:
    """Return the public functions and classes that a Python source defines at its top level."""
    found = [first or second for first, second in _DEFINITION.findall(text)]
    return tuple(dict.fromkeys(name for name in found if not name.startswith("_")))


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
    return tuple(match.group(1) for line in lines if (match := _REQUIREMENT.match(line)))


def literal(text: str) -> str:
    """Return a GBNF terminal for exactly ``text``."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _in_json(text: str) -> str:
    """Return a GBNF terminal for ``text`` as it stands inside a JSON string."""
    return literal(json.dumps(text, ensure_ascii=False)[1:-1])


def choice(texts: Sequence[str]) -> str:
    """Return a GBNF group of texts as they stand inside a JSON string."""
    return "(" + " | ".join(_in_json(text) for text in texts) + ")"


def _readme(knowledge: Knowledge) -> list[str]:
    title = knowledge.title
    script = choice(knowledge.scripts) if knowledge.scripts else '[a-z_]{3,16} ".py"'
    package = choice(knowledge.dependencies) if knowledge.dependencies else "[a-z] [a-z0-9-]{2,14}"
    needs_install = knowledge.dependencies or not knowledge.scripts
    install = f'"pip install " {package}' if needs_install else _in_json("pip install .")
    described = [f"{_in_json(f'- `{name}`: ')} line" for name in knowledge.names[:6]]
    reference = f" {_in_json(chr(10))} ".join(described) if described else 'bullet "\\\\n" bullet'
    return [
        # Words and single separators only: free punctuation invites a small model to loop.
        "name ::= [A-Za-z] [A-Za-z0-9_']{0,14}",
        'gap ::= " " | ", "',
        'sentence ::= [A-Z] [a-z]{1,12} (gap name){5,24} "."',
        'line ::= [A-Z] [a-z]{1,12} (gap name){2,12} "."',
        'bullet ::= "- " line',
        f"install ::= {install}",
        # A word is an option or a plain name: free characters invite endless punctuation.
        'word ::= " " ("--" [a-z] [a-z-]{1,10} | [a-z0-9] [a-z0-9._]{0,14})',
        f'command ::= "python " {script} word{{0,3}}',
        "readme ::= "
        + _in_json(f"# {title}\n\n")
        + ' sentence " " sentence '
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
        + " sentence "
        + literal('", "programmingLanguage": "Python"}'),
    ]


def grammar(knowledge: Knowledge) -> str:
    """Return the GBNF grammar of everything that may be said next.

    Args:
        knowledge: What the agent has seen.

    Returns:
        A grammar whose root is one ``<json>…</json>`` call.
    """
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
