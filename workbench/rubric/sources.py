"""Contents of a project for the offline judge: its repository index, the words in its text, and the case's facts.

Names are compared without regard to case. A repository's text is data: it is parsed, never imported.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from workbench.claims import known, similarity
from workbench.claims.project import ProjectIndex, project_of
from workbench.claims.python import Definition
from workbench.claims.shell import head, normal, package_name, words_in
from workbench.rubric.word_order import common_stems

if TYPE_CHECKING:
    from workbench.catalog import Facts
    from workbench.repository import View

_MOST_FILES = 300
_LONGEST = 200_000
"""Maximum number of characters to read from a file."""
_MOST_TEXT = 3_000_000
"""Maximum number of characters to read in all, which takes a few seconds."""
_SUFFIXES = ".py .pyi .pyx .toml .cfg .ini .txt .sh .js .ts .go .rs .c .h .java .rb"
_TEXT = frozenset(_SUFFIXES.split())
_OPTION = re.compile(r"(?<![\w-])(--[a-zA-Z][\w-]{1,40})")
_DEFINED = re.compile(
    rf"\b(?:def|class|func|fn|function|struct|interface|type|module|const)\s+([A-Za-z_]\w{{1,60}})|{_OPTION.pattern}"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{1,60}")
_DESCRIPTION = re.compile(r"^\s*(?:summary|description)\s*=\s*[\"']?([^\n\"']{5,300})", re.M)
_SALIENT = 80

_OF_ANY_PROGRAM = (
    "self cls args kwargs main test tests setup init name value data text file path run result output input "
    "--help --version --verbose --quiet --output --input --user --upgrade --editable __init__ __main__ usage example "
    "path.py main.py setup.py __init__.py __main__.py readme.md license requirements.txt pyproject.toml"
)
#: Names that any Python program may use, so mentioning them shows no knowledge of this project.
COMMON = (
    frozenset(name.lower() for name in (*dir(builtins), *sys.stdlib_module_names))
    | frozenset(name.lower() for kind in (str, list, dict, set, bytes, int, float) for name in dir(kind))
    | frozenset(_OF_ANY_PROGRAM.split())
)


@dataclass(slots=True)
class Vocabulary:
    """Names and words in a project's text.

    ``names`` are the names defined there, and ``identifiers`` all that occur. ``words`` counts stems; ``described``
    holds those in descriptions. ``complete`` means that the whole repository was read, so that a name missing here does
    not exist.
    """

    names: set[str] = field(default_factory=set)
    identifiers: set[str] = field(default_factory=set)
    words: Counter[str] = field(default_factory=Counter)
    described: set[str] = field(default_factory=set)
    complete: bool = False

    def add_facts(self, facts: Facts) -> None:
        # Count must-mention items that look like identifiers as project names.
        for name in facts.must_mention:
            if re.fullmatch(r"[\w.:-]{2,60}", name):
                self.names.add(name.lower())
                self.identifiers |= {name.lower(), *(part.lower() for part in _IDENTIFIER.findall(name))}
        self.names |= {option.lower() for option in _OPTION.findall(facts.run_command)}
        self.names.add(facts.main_file.rsplit("/", 1)[-1].lower())
        self.described |= _telling(facts.main_purpose)
        for text in (facts.main_purpose, *facts.key_features):
            self.identifiers.update(word.lower() for word in _IDENTIFIER.findall(text))
            for stem in _stems([text]):
                self.words[stem] += 3
        for feature in facts.key_features:
            first = feature.split()[0].rstrip(":,") if feature.split() else ""
            for name in {*(name for name in facts.must_mention if name.lower() in feature.lower()), first}:
                if re.search(r"[_\d]|--|[a-z][A-Z]", name) or name in facts.must_mention:
                    self.names.add(name.lower())


_READ: WeakKeyDictionary[View, Vocabulary] = WeakKeyDictionary()


class KnownProject:
    """A project, known by its repository and its facts if they are available."""

    def __init__(self, view: View | None, facts: Facts | None) -> None:
        self._view, self._facts = view, facts
        self.index = None if view is None else project_of(view)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        found = Vocabulary()
        if self._view is not None:
            if self._view not in _READ:
                _READ[self._view] = _read(project_of(self._view), [entry.path for entry in self._view.files])
            found = _READ[self._view]
        if self._facts is not None:
            found = deepcopy(found)
            found.add_facts(self._facts)
        return found

    @cached_property
    def salient(self) -> Mapping[str, float]:
        """Return the words that are typical of this project: frequent here, but not common in every program."""
        common = common_stems() | similarity.PALE_STEMS
        counts = self.vocabulary.words.items()
        own = Counter({stem: n for stem, n in counts if stem not in common and len(stem) > 2 and not stem.isdigit()})
        best = own.most_common(_SALIENT)
        top = best[0][1] if best else 1
        return {stem: min(1.0, 0.3 + 0.7 * count / top) for stem, count in best}

    def own(self, name: str) -> bool:
        low = name.lower()
        return low in self.vocabulary.names and low not in COMMON and len(low) > 2

    # -- modules, packages, files

    @cached_property
    def modules(self) -> frozenset[str]:
        found: set[str] = set()
        if (facts := self._facts) is not None:
            found |= _modules([facts.main_file])
            found.update(word.split(".")[0] for word in head(normal(words_in(facts.run_command)))[2:3])
        return frozenset(found | (_modules(self.index.files) if self.index is not None else set()))

    @cached_property
    def packages(self) -> frozenset[str]:
        names = set(self.modules)
        if (facts := self._facts) is not None:
            names.update(
                word for word in head(normal(words_in(facts.run_command))) if word not in {"python", "-m", "-c"}
            )
            texts = (*facts.must_mention, facts.main_purpose)
            names.update(word for text in texts for word in text.split() if re.search(r"\w-\w", word))
        return frozenset(map(package_name, names)) - {""}

    def owns(self, package: str) -> bool:
        """Return whether a normalised package name is probably the project's, as ``python-dotenv`` is ``dotenv``'s."""
        bare = re.sub(r"^(python|py)-|-(python|py|cli|tool)$", "", package)
        return package in self.packages or bare in self.packages

    def has_module(self, name: str, dependencies: Iterable[str]) -> bool:
        if name in self.modules:
            return True
        plain = package_name(name)
        # A package's module often has a different name (beautifulsoup4 → bs4), so a partial match is enough.
        return any(plain in other or other in plain for other in dependencies if len(other) > 2)

    @cached_property
    def _file_names(self) -> frozenset[str]:
        return (
            frozenset(path.rsplit("/", 1)[-1] for path in self.index.files) if self.index is not None else frozenset()
        )

    def lacks(self, path: str) -> bool:
        """Return whether a file named in a command is certainly not in the repository."""
        if self.index is None or re.search(r"[<>{}$*\[\]]|^(your|my|path|example|docs?/|/|~)", path):
            return False
        return path.rsplit("/", 1)[-1] not in self._file_names


def _modules(paths: Iterable[str]) -> frozenset[str]:
    paths = list(paths)
    stems = {PurePosixPath(path).stem for path in paths if path.endswith((".py", ".pyi", ".pyx"))}
    return known.modules_of(paths) | (stems - known.NOT_MODULES - {"__init__", "__main__"})


def _read(index: ProjectIndex, paths: Sequence[str]) -> Vocabulary:
    """Read only the files that an agent may see, so that a README is not compared with itself."""
    found = Vocabulary()
    for path in paths:
        found.names.add(path.rsplit("/", 1)[-1].lower())
        if path.endswith((".py", ".pyi")):
            found.names.add(PurePosixPath(path).stem.lower())
            found.identifiers.update(part.lower() for part in PurePosixPath(path).with_suffix("").parts)
    found.names |= {name.lower() for name in (*index.flags, *index.declared.scripts)}
    texts = [path for path in paths if PurePosixPath(path).suffix.lower() in _TEXT]
    # In a large repository, only the first files are read: sources before tests, and files near the root first.
    texts.sort(key=lambda path: ("test" in path.lower(), not path.endswith(".py"), path.count("/"), path))
    left, whole = _MOST_TEXT, True
    for path in texts[:_MOST_FILES]:
        text = (index.root / path).read_text("utf-8", "replace")[:_LONGEST]
        left -= len(text)
        if left < 0:
            break
        found.complete |= bool(text.strip())
        whole &= len(text) < _LONGEST
        _add_text(found, index, path, text)
    found.identifiers |= found.names
    found.complete &= whole and left >= 0 and len(texts) <= _MOST_FILES
    return found


def _add_text(found: Vocabulary, index: ProjectIndex, path: str, text: str) -> None:
    found.identifiers.update(match.group().lower() for match in _IDENTIFIER.finditer(text))
    tree = index.parsed(path) if path.endswith((".py", ".pyi")) else None
    if tree is None:
        found.names |= {(match[1] or match[2]).lower() for match in _DEFINED.finditer(text)}
    if path.endswith((".toml", ".cfg", "setup.py", ".txt")):
        if described := _DESCRIPTION.search(text):
            found.described |= _telling(described.group(1))
        return
    if "test" in path.lower():
        return
    # Count each word once per file, so that a table of data does not make its words typical of the project.
    found.words.update({token.stem: 1 for token in similarity.tokens(text)})
    if tree is not None:
        found.names |= {name.lower() for name in _defined(tree)}
        if path.count("/") <= 2:
            found.described |= _telling((ast.get_docstring(tree) or "").split("\n\n")[0][:300])
        for texts, weight in _documentation(tree):
            found.words.update(dict.fromkeys(_stems(texts), weight))


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _documentation(tree: ast.Module) -> Iterator[tuple[list[str], int]]:
    """Yield texts that describe parts of a module (docstrings and option declarations), each with its weight."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module):
            yield [ast.get_docstring(node) or ""], 3
        elif isinstance(node, Definition):
            yield [ast.get_docstring(node) or "", node.name], 1
        elif isinstance(node, ast.Call):
            values = (*node.args, *(one.value for one in node.keywords))
            strings = [one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if options := sum(_OPTION.fullmatch(one.split("/")[0]) is not None for one in strings):
                yield strings, options


def _stems(texts: Iterable[str]) -> set[str]:
    return {token.stem for text in texts for token in similarity.tokens(text)}


def _telling(text: str) -> set[str]:
    return _stems([text]) - similarity.PALE_STEMS
