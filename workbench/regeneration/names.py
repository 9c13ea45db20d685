"""Which names Python code binds, which it takes from outside, and which a file has already."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.base import python_syntax
from workbench.repository.functions import Function

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Names:
    """Names of one scope: what it binds, what it (or a scope inside) reads, what it declares ``global``."""

    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)

    @property
    def free(self) -> set[str]:
        return (self.used - (self.bound - self.declared)) | self.declared


def names_of(nodes: Iterable[ast.AST]) -> Names:
    found = Names()
    for node in nodes:
        _add(node, found)
    return found


def names_in(function: FunctionNode | ast.Lambda) -> Names:
    """Return the names of a function's own scope, parameters bound; its header is no part of it."""
    found = names_of(function.body if isinstance(function.body, list) else [function.body])
    found.bound |= set(parameters(function.args))
    return found


def parameters(arguments: ast.arguments) -> list[str]:
    stars = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *stars]]


def _add(node: ast.AST, found: Names) -> None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            found.used.add(name)
            return
        case ast.Name(id=name):
            found.bound.add(name)
            return
        case ast.Global(names=listed):
            found.declared.update(listed)
        case ast.Nonlocal(names=listed):
            found.used.update(listed)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            found.bound.update((one.asname or one.name.partition(".")[0]) for one in aliases if one.name != "*")
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            _add_function(node, found)
            return
        case ast.ClassDef():
            found.bound.add(node.name)
            for part in (*node.decorator_list, *node.bases, *node.keywords):
                _add(part, found)
            found.used |= names_of(node.body).used
            return
        case ast.AnnAssign():
            for part in (node.target, *([node.value] if node.value else [])):
                _add(part, found)
            return
        case ast.AugAssign(target=ast.Name(id=name)):
            found.used.add(name)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            found.bound.add(name)
        case ast.MatchMapping(rest=str(name)):
            found.bound.add(name)
        case _ if isinstance(node, _COMPREHENSIONS):
            inside = Names()
            for part in ast.iter_child_nodes(node):
                _add(part, inside)
            found.used |= inside.free
            return
    for part in ast.iter_child_nodes(node):
        _add(part, found)


def _add_function(node: FunctionNode | ast.Lambda, found: Names) -> None:
    arguments = node.args
    outside: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
    if not isinstance(node, ast.Lambda):
        found.bound.add(node.name)
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        outside += [*node.decorator_list, node.returns, *(one.annotation for one in listed if one is not None)]
    for part in outside:
        if part is not None:
            _add(part, found)
    found.used |= names_in(node).free


@functools.lru_cache(maxsize=16)
def file_names(source: bytes, function: Function) -> FileNames:
    return FileNames(source, function)


class FileNames:
    """What the target's file defines at module level."""

    def __init__(self, source: bytes, function: Function) -> None:
        try:
            body = python_syntax.parse(source).body
        except python_syntax.UNREADABLE:
            body = []
        top = names_of(body)
        self.names = set(top.bound)
        self.defers_annotations = defers_annotations(body)
        self._imports = {alias for node in body for alias in _aliases(node)}
        self.imported = {
            name for node in body if isinstance(node, ast.Import | ast.ImportFrom) for name in names_of([node]).bound
        }
        self._defined: dict[str, ast.stmt] = {}
        for node in body:
            for name in names_of([node]).bound:
                self._defined[name] = node
        for part in function.qualified_name.split(".<locals>.")[:-1]:
            around = [one for node in body for one in ast.walk(node) if isinstance(one, FUNCTIONS)]
            for one in around:
                if one.name == part.rpartition(".")[2]:
                    self.names |= names_in(one).bound

    def has(self, node: ast.stmt) -> bool:
        """Whether the file has this already: the same import or definition, or one that this excerpts."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            return (node.__class__ is ast.ImportFrom and node.module == "__future__") or (
                not star_of(node) and set(_aliases(node)) <= self._imports
            )
        same = [self._defined[name] for name in names_of([node]).bound if name in self._defined]
        if not same:
            return False
        if isinstance(node, ast.ClassDef):
            members = names_of(node.body).bound
            return any(isinstance(one, ast.ClassDef) and members <= names_of(one.body).bound for one in same)
        return (isinstance(node, FUNCTIONS) and _is_elided(node)) or any(
            ast.dump(one) == ast.dump(node) for one in same
        )


def defers_annotations(body: Iterable[ast.stmt]) -> bool:
    """Whether a module's annotations are not evaluated when its functions are defined."""
    return any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in body)


def _aliases(node: ast.stmt) -> list[tuple[str, str, str, int]]:
    if isinstance(node, ast.Import):
        return [("", one.name, one.asname or "", 0) for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", one.name, one.asname or "", node.level) for one in node.names]
    return []


def star_of(node: ast.stmt) -> str:
    """Return the module of a star import, "" of any other statement."""
    if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
        return "." * node.level + (node.module or "")
    return ""


def _is_elided(node: FunctionNode) -> bool:
    """Whether a repeated function stands there without its body."""
    plain = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return all(isinstance(one, ast.Pass | ast.Raise) for one in plain)
