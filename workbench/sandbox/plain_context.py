"""What a file gives to the code of one of its functions: imports, definitions, values, names of attributes."""

from __future__ import annotations

import ast
import io
import os
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.base import python_syntax
from workbench.sandbox.allowed import SPECIAL, of_standard_library, public
from workbench.sandbox.workbench_runner.reaching import FRAMEWORK, POWERS

Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

#: Calls by which a function does what the text given to it says: whoever calls the function may do the same.
_BUILTIN_RUNS = frozenset({"exec", "eval", "compile", "__import__", "globals"})
_BY_NAME = frozenset({"getattr", "setattr", "delattr"})
_PUBLIC_PREFIX = 4


class Place(NamedTuple):
    """A function of a file: its lines (decorators included), and the functions around it, outermost first."""

    node: Function
    first: int
    last: int
    around: tuple[Function, ...]
    method: bool


@dataclass(slots=True)
class FileContext:
    """The content of a file, read once from the pristine text."""

    lines: list[bytes]  # with line ends
    encoding: str
    places: dict[tuple[str, int], Place] = field(default_factory=dict)  # functions by qualified name and occurrence
    modules: dict[str, set[str]] = field(default_factory=dict)  # name → modules that it may stand for
    imported: dict[str, set[tuple[str, str]]] = field(default_factory=dict)  # (module, name there, own or foreign)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)  # name → expressions assigned to it at module level
    defined: set[str] = field(default_factory=set)  # also names bound without a value that can be judged
    makers: set[str] = field(default_factory=set)  # classes that make classes
    gadgets: set[str] = field(default_factory=set)  # functions that do what a text given to them says
    strong: set[str] = field(default_factory=set)  # gadgets that do more than reach attributes
    attributes: set[str] = field(default_factory=set)  # public ones that it names
    stored: set[str] = field(default_factory=set)  # those that it sets or defines
    private: set[str] = field(default_factory=set)  # those with an underscore
    chains: set[str] = field(default_factory=set)  # dotted names as written, and single names
    imports: set[tuple[int, str, str]] = field(default_factory=set)  # (level, module, name)
    stars: set[str] = field(default_factory=set)  # modules from which it imports ``*``

    def binds(self, name: str) -> bool:
        return name in self.modules or name in self.imported or name in self.values or name in self.defined


def read_context(pristine: bytes) -> FileContext | None:
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(pristine).readline)[0]
        tree = python_syntax.parse(pristine)
    except python_syntax.UNREADABLE:
        return None
    found = FileContext(pristine.splitlines(keepends=True), encoding)
    counts: dict[str, int] = {}

    def walk(node: ast.AST, prefix: str, around: tuple[Function, ...], top: bool, method: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = prefix + child.name
                counts[name] = counts.get(name, 0) + 1
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                found.places[name, counts[name]] = Place(child, first, child.end_lineno or first, around, method)
                if top:
                    found.defined.add(child.name)
                _take_powers(found, child.name, child)
                walk(child, name + ".<locals>.", (*around, child), False, False)
            elif isinstance(child, ast.ClassDef):
                _class(found, child, top)
                walk(child, prefix + child.name + ".", around, False, True)
            else:
                if top:
                    _bind(found, child)
                walk(child, prefix, around, top and not isinstance(child, Scope), method)

    walk(tree, "", (), True, False)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            add_import(found, node)
        elif isinstance(node, ast.Global):
            found.defined.update(node.names)
    _names(found, tree)
    return found


def _class(found: FileContext, node: ast.ClassDef, top: bool) -> None:
    if top:
        found.defined.add(node.name)
    bases = {chain(base).rpartition(".")[2] for base in node.bases}
    # A class of constants without any makes classes when it is called.
    empty = not any(isinstance(child, (ast.Assign, ast.AnnAssign)) for child in node.body)
    if bases & {"type", "ABCMeta", "EnumMeta", "EnumType"} or (
        empty and bases & {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
    ):
        found.makers.add(node.name)
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and child.name in ("__init__", "__new__"):
            _take_powers(found, node.name, child)
    for child in node.body:
        targets = (
            child.targets
            if isinstance(child, ast.Assign)
            else [child.target]
            if isinstance(child, ast.AnnAssign)
            else []
        )
        names = [child.name] if isinstance(child, (*Scope[:2], ast.ClassDef)) else []
        names += [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        if targets and names == ["__slots__"] and isinstance(child, ast.Assign):
            names += [
                part.value
                for part in ast.walk(child.value)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
        for name in names:
            if name not in SPECIAL:
                (found.private if name.startswith("_") else found.stored).add(name)


def _bind(found: FileContext, node: ast.AST) -> None:
    pairs: list[tuple[ast.expr, ast.expr]]
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        pairs = [(node.target, node.iter)]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        pairs = [(node.optional_vars, node.context_expr)]
    else:
        return
    for target, value in pairs:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                found.values.setdefault(part.id, []).append(value)


def add_import(found: FileContext, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if isinstance(node, ast.Import):
            name = alias.asname or alias.name.partition(".")[0]
            found.modules.setdefault(name, set()).add(alias.name if alias.asname else name)
            found.imports.add((0, alias.name, ""))
            continue
        module = "." * node.level + (node.module or "")
        found.imports.add((node.level, node.module or "", alias.name))
        if alias.name == "*":
            found.stars.add(module)
        elif not node.level and public(f"{module}.{alias.name}") is not None:
            found.modules.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")
        else:
            found.imported.setdefault(alias.asname or alias.name, set()).add((module, alias.name))


def _names(found: FileContext, tree: ast.AST) -> None:
    """Add attributes and dotted names; what is part of a longer dotted name does not stand alone."""
    inner = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            inner.add(id(node.value))
            name = node.attr
            if not name.startswith("_"):
                found.attributes.add(name)
                if not isinstance(node.ctx, ast.Load):
                    found.stored.add(name)
            elif name not in SPECIAL:
                found.private.add(name)
            if id(node) not in inner:
                text = chain(node)
                if text:
                    found.chains.add(text)
        elif isinstance(node, ast.Name) and id(node) not in inner:
            found.chains.add(node.id)
        elif isinstance(node, ast.Call):
            found.attributes.update(word.arg for word in node.keywords if word.arg)
    found.attributes |= found.stored


def chain(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _take_powers(found: FileContext, name: str, function: Function) -> None:
    """Record a function that does what a text given to it says: attributes, modules, programs by name."""
    nodes, given = list(ast.walk(function)), parameters(function.args)
    called_names = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name) and id(node) not in called_names and node.id in _BY_NAME | _BUILTIN_RUNS:
            found.strong.add(name)
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        last = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        if last in ("format", "format_map") and isinstance(called, ast.Attribute) and chain(called.value) in given:
            found.gadgets.add(name)
        if last in _BY_NAME:
            if isinstance(called, ast.Name) and not named_at(node):
                found.gadgets.add(name)
        elif last in POWERS and (last not in _BUILTIN_RUNS or isinstance(called, ast.Name)):
            found.strong.add(name)
    found.gadgets |= found.strong


def parameters(arguments: ast.arguments) -> set[str]:
    several = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {one.arg for one in several if one is not None}


def named_at(call: ast.Call) -> bool:
    """Return whether ``getattr`` and the like are given a literal name, or its public beginning."""
    if len(call.args) < 2 or any(isinstance(part, ast.Starred) for part in call.args):
        return False
    name = call.args[1]
    if isinstance(name, ast.JoinedStr) and name.values:
        name = name.values[0]
    elif isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        name = name.left
    elif isinstance(name, ast.Constant):
        return isinstance(name.value, str)
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        return False
    return len(name.value) >= _PUBLIC_PREFIX and not name.value.startswith("_") and name.value.isidentifier()


def is_foreign(module: str) -> bool:
    """Return whether a module is the project's or another package's, not one of Python's or of the test framework's."""
    return not of_standard_library(module) and module.partition(".")[0] not in FRAMEWORK


# -- the project's other files

#: Reading the names of a megabyte of Python takes about a second and is done once for a tree.
LARGEST = 2_000_000
_LEFT_OUT = frozenset({"tests", "test", "testing", "docs", "examples", "build", "dist"})


@dataclass(frozen=True, slots=True)
class ProjectNames:
    """Attributes in a project's own files: those that some file names, sets or defines, or with one underscore.

    A body that takes an object of another module uses attributes that its own file may never name. Functions of such a
    file that run a text, and names that lead to frames or modules, are not included.
    """

    attributes: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()


@lru_cache(maxsize=8)
def project_names(root: Path) -> ProjectNames:
    """Return the names in the Python files of a pristine tree, without tests and files beyond `LARGEST` bytes."""
    attributes: set[str] = set()
    stored: set[str] = set()
    private: set[str] = set()
    gadgets: set[str] = set()
    left = LARGEST
    for path in _sources(root):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if len(content) > left:
            continue
        left -= len(content)
        context = read_context(content)
        if context is not None:
            attributes |= context.attributes
            stored |= context.stored
            private |= {name for name in context.private if not name.startswith("__")}
            gadgets |= context.gadgets
    return ProjectNames(frozenset(attributes - gadgets), frozenset(stored - gadgets), frozenset(private - gadgets))


def _sources(root: Path) -> Iterator[Path]:
    """Yield the files by name, so that the same tree gives the same names."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(one for one in folders if one not in _LEFT_OUT and not one.startswith("."))
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith(("test_", "conftest", "setup")):
                yield Path(folder, name)
