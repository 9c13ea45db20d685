"""What a repository itself says: the names that it defines, the text about each of them, and the words that it uses.

Read once for a view, from the files that the agent could see; without a repository, from the facts alone. Names are
looked up without case. Text of a repository is data: it is parsed, never imported.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from workbench.base import python_syntax
from workbench.base.errors import WorkbenchError
from workbench.claims import known, terms
from workbench.claims.shell import head, normal, package_name, words_in
from workbench.rubric.word_order import common_stems

if TYPE_CHECKING:
    from workbench.catalog import Facts
    from workbench.repository import View

_MOST_FILES = 300
_LONGEST = 200_000
"""Characters of a file that are read."""
_MOST_TEXT = 3_000_000
"""Characters that are read in all: a few seconds."""
_SUFFIXES = ".py .pyi .pyx .toml .cfg .ini .txt .sh .js .ts .go .rs .c .h .java .rb"
_TEXT = frozenset(_SUFFIXES.split())
_DEFINED = re.compile(r"\b(?:def|class|func|fn|function|struct|interface|type|module|const)\s+([A-Za-z_]\w{1,60})")
_OPTION = re.compile(r"(?<![\w-])(--[a-zA-Z][\w-]{1,40})")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{1,60}")
_SCRIPT = re.compile(r"^\s*[\"']?([\w.-]{2,60})[\"']?\s*=\s*[\"']?[\w.]+:[\w.]+", re.M)
_DESCRIPTION = re.compile(r"^\s*(?:summary|description)\s*=\s*[\"']?([^\n\"']{5,300})", re.M)
_SALIENT = 80

_OF_ANY_PROGRAM = (
    "self cls args kwargs main test tests setup init name value data text file path run result output input "
    "--help --version --verbose --quiet --output --input --user --upgrade --editable __init__ __main__ usage example "
    "path.py main.py setup.py __init__.py __main__.py readme.md license requirements.txt pyproject.toml"
)
#: Names that every Python program may use: to name one of them tells nothing about this project.
COMMON = (
    frozenset(name.lower() for name in (*dir(builtins), *sys.stdlib_module_names))
    | frozenset(name.lower() for kind in (str, list, dict, set, bytes, int, float) for name in dir(kind))
    | frozenset(_OF_ANY_PROGRAM.split())
)


@dataclass(slots=True)
class Sources:
    """What is known of a project from its own text."""

    names: dict[str, str] = field(default_factory=dict)
    identifiers: set[str] = field(default_factory=set)
    # By function or class the keywords that it takes, None for any.
    signatures: dict[str, list[frozenset[str] | None]] = field(default_factory=lambda: defaultdict(list))
    salient: Mapping[str, float] = field(default_factory=dict)
    described: set[str] = field(default_factory=set)  # stems of module docstrings, manifest and purpose
    complete: bool = False  # the whole repository was read: a name that is missing does not exist

    def own(self, name: str) -> bool:
        low = name.lower()
        return low in self.names and low not in COMMON and len(low) > 2


_READ: WeakKeyDictionary[View, tuple[Sources, Counter[str]]] = WeakKeyDictionary()


def sources_of(view: View | None, facts: Facts | None) -> Sources:
    """Return what is known of a project from its repository and its facts; a view is read once."""
    read = _of_view(view)
    found = Sources(
        dict(read[0].names),
        set(read[0].identifiers),
        read[0].signatures,
        described=set(read[0].described),
        complete=read[0].complete,
    )
    words = Counter(read[1])
    if facts is not None:
        _add_facts(found, words, facts)
    found.salient = _salient(words)
    return found


def _of_view(view: View | None) -> tuple[Sources, Counter[str]]:
    if view is None:
        return Sources(), Counter()
    kept = _READ.get(view)
    if kept is None:
        kept = _READ[view] = _read(view)
    return kept


def _read(view: View) -> tuple[Sources, Counter[str]]:
    found, words = Sources(), Counter[str]()
    paths = [entry.path for entry in view.files]
    for path in paths:
        _add_name(found, path.rsplit("/", 1)[-1])
        if path.endswith((".py", ".pyi")):
            _add_name(found, PurePosixPath(path).stem)
            found.identifiers.update(part.lower() for part in PurePosixPath(path).with_suffix("").parts)
    texts = [path for path in paths if PurePosixPath(path).suffix.lower() in _TEXT]
    # Sources before tests, and those near the root first: of a large repository these are read.
    texts.sort(key=lambda path: ("test" in path.lower(), not path.endswith(".py"), path.count("/"), path))
    left, whole = _MOST_TEXT, True
    for path in texts[:_MOST_FILES]:
        try:
            text = view.read_file(path, limit=_LONGEST).text
        except WorkbenchError:
            continue
        left -= len(text)
        if left < 0:
            break
        found.complete |= bool(text.strip())
        whole &= len(text) < _LONGEST
        _add_text(found, words, path, text)
    found.complete &= whole and left >= 0 and len(texts) <= _MOST_FILES
    return found, words


def _add_name(found: Sources, name: str) -> None:
    found.names.setdefault(name.lower(), name)
    found.identifiers.add(name.lower())


def _add_text(found: Sources, words: Counter[str], path: str, text: str) -> None:
    found.identifiers.update(match.group().lower() for match in _IDENTIFIER.finditer(text))
    for pattern in (_DEFINED, _OPTION):
        for match in pattern.finditer(text):
            _add_name(found, match.group(1))
    if path.endswith((".toml", ".cfg", "setup.py", ".txt")):
        for match in _SCRIPT.finditer(text):
            _add_name(found, match.group(1))
        if described := _DESCRIPTION.search(text):
            found.described |= _telling(described.group(1))
        return
    if "test" in path.lower():
        return
    # Counted once a file: a table of data must not make its words the project's own.
    words.update({token.stem: 1 for token in terms.tokens(text[:_LONGEST])})
    if path.endswith((".py", ".pyi")):
        try:
            tree = python_syntax.parse(text)
        except python_syntax.UNREADABLE:
            return
        if path.count("/") <= 2:
            found.described |= _telling((ast.get_docstring(tree) or "").split("\n\n")[0][:300])
        _add_tree(found, words, tree)


def _add_tree(found: Sources, words: Counter[str], tree: ast.Module) -> None:
    for documented in ast.walk(tree):
        if isinstance(documented, ast.Module):
            words.update(stem for stem in _stems([ast.get_docstring(documented) or ""]) for _ in range(3))
        if isinstance(documented, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            docstring = ast.get_docstring(documented) or ""
            words.update(_stems([docstring, documented.name]))
            if isinstance(documented, ast.ClassDef):
                own = (one for one in documented.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
                maker = next(own, None)
                found.signatures[documented.name].append(_keywords(maker.args) if maker is not None else None)
            elif documented.name != "__init__":
                found.signatures[documented.name].append(_keywords(documented.args))
        elif isinstance(documented, ast.Call):
            values = (*documented.args, *(one.value for one in documented.keywords))
            strings = [one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            for _ in (one for one in strings if _OPTION.fullmatch(one.split("/")[0])):
                words.update(_stems(strings))
        elif isinstance(documented, ast.Assign):
            for target in documented.targets:
                if isinstance(target, ast.Name) and len(target.id) > 2:
                    _add_name(found, target.id)


def _keywords(arguments: ast.arguments) -> frozenset[str] | None:
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return None if arguments.kwarg else frozenset(one.arg for one in named)


def _stems(texts: Iterable[str]) -> set[str]:
    return {token.stem for text in texts for token in terms.tokens(text)}


def _telling(text: str) -> set[str]:
    return _stems([text]) - terms.PALE_STEMS


def _add_facts(found: Sources, words: Counter[str], facts: Facts) -> None:
    # A thing that must be mentioned is a name of the project's where it is spelled like one.
    for name in facts.must_mention:
        if re.fullmatch(r"[\w.:-]{2,60}", name):
            _add_name(found, name)
            found.identifiers.update(part.lower() for part in _IDENTIFIER.findall(name))
    for option in _OPTION.findall(facts.run_command):
        _add_name(found, option)
    _add_name(found, facts.main_file.rsplit("/", 1)[-1])
    found.described |= _telling(facts.main_purpose)
    for text in (facts.main_purpose, *facts.key_features):
        found.identifiers.update(match.group().lower() for match in _IDENTIFIER.finditer(text))
        for stem in _stems([text]):
            words[stem] += 3
    for feature in facts.key_features:
        first = feature.split()[0].rstrip(":,") if feature.split() else ""
        for name in {*(name for name in facts.must_mention if name.lower() in feature.lower()), first}:
            if re.search(r"[_\d]|--|[a-z][A-Z]", name) or name in facts.must_mention:
                _add_name(found, name)


def _salient(words: Counter[str]) -> Mapping[str, float]:
    """Return the words that are this project's own: frequent here, not among those of every program."""
    common = common_stems() | terms.PALE_STEMS
    own = Counter(
        {stem: count for stem, count in words.items() if stem not in common and len(stem) > 2 and not stem.isdigit()}
    )
    best = own.most_common(_SALIENT)
    top = best[0][1] if best else 1
    return {stem: min(1.0, 0.3 + 0.7 * count / top) for stem, count in best}


@dataclass(frozen=True, slots=True)
class OwnNames:
    """Names that belong to a project; ``files`` are visible file names without folders, None without the repository."""

    modules: frozenset[str]
    packages: frozenset[str]
    files: frozenset[str] | None

    @staticmethod
    def of(facts: Facts | None, view: View | None) -> OwnNames:
        modules: set[str] = set()
        packages: set[str] = set()
        if facts is not None:
            modules.update(_module_names([facts.main_file]))
            start = head(normal(words_in(facts.run_command)))
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
        return OwnNames(frozenset(modules), frozenset(packages), files)

    def owns(self, package: str) -> bool:
        """Whether a (normal) package name is plausibly the project's, as ``python-dotenv`` is ``dotenv``'s."""
        bare = re.sub(r"^(python|py)-|-(python|py|cli|tool)$", "", package)
        return package in self.packages or bare in self.packages

    def has_module(self, name: str, dependencies: Iterable[str]) -> bool:
        if name in self.modules:
            return True
        plain = package_name(name)
        # A package's module often has another name (beautifulsoup4 → bs4): only a hint of likeness is asked.
        return any(plain in other or other in plain for other in dependencies if len(other) > 2)

    def lacks(self, path: str) -> bool:
        """Whether a file named in a command is certainly not in the repository."""
        if self.files is None or re.search(r"[<>{}$*\[\]]|^(your|my|path|example|docs?/|/|~)", path):
            return False
        name = path.rsplit("/", 1)[-1]
        return name not in self.files


def _module_names(paths: Sequence[str]) -> frozenset[str]:
    stems = {PurePosixPath(path).stem for path in paths if path.endswith((".py", ".pyi", ".pyx"))}
    return known.modules_of(paths) | (stems - known.NOT_MODULES - {"__init__", "__main__"})
