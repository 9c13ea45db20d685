"""Find the names that Python code binds, takes from outside, or shares with its file."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.base import python_syntax
from workbench.repository.functions import Function
from workbench.repository.lines import dedent, split_lines

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class ScopeNames:
    """The names that a scope binds, that it or an inner scope reads, and that it declares ``global``."""

    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)

    @property
    def free(self) -> set[str]:
        return (self.used - (self.bound - self.declared)) | self.declared


def names_of(nodes: Iterable[ast.AST]) -> ScopeNames:
    found = ScopeNames()
    for node in nodes:
        _add(node, found)
    return found


def names_in(function: FunctionNode | ast.Lambda) -> ScopeNames:
    """Return the names of a function's own scope, including its parameters but not its decorators and defaults."""
    found = names_of(function.body if isinstance(function.body, list) else [function.body])
    found.bound |= set(parameters(function.args))
    return found


def parameters(arguments: ast.arguments) -> list[str]:
    return [one.arg for one in python_syntax.arguments_of(arguments)]


def _add(node: ast.AST, found: ScopeNames) -> None:
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
            inside = ScopeNames()
            for part in ast.iter_child_nodes(node):
                _add(part, inside)
            found.used |= inside.free
            return
    for part in ast.iter_child_nodes(node):
        _add(part, found)


def _add_function(node: FunctionNode | ast.Lambda, found: ScopeNames) -> None:
    arguments = node.args
    outside: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
    if not isinstance(node, ast.Lambda):
        found.bound.add(node.name)
        annotations = [one.annotation for one in python_syntax.arguments_of(arguments)]
        outside += [*node.decorator_list, node.returns, *annotations]
    for part in outside:
        if part is not None:
            _add(part, found)
    found.used |= names_in(node).free


@functools.lru_cache(maxsize=16)
def file_names(source: bytes, function: Function) -> FileNames:
    return FileNames(source, function)


class FileNames:
    """The names visible inside the target function: those of its module and of the enclosing functions."""

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
        """Return whether the file already has the import or definition, or the full version of an abbreviation."""
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
    """Return whether a module's annotations are left unevaluated when its functions are defined."""
    return any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in body)


def _aliases(node: ast.stmt) -> list[tuple[str, str, str, int]]:
    if isinstance(node, ast.Import):
        return [("", one.name, one.asname or "", 0) for one in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", one.name, one.asname or "", node.level) for one in node.names]
    return []


def star_of(node: ast.stmt) -> str:
    """Return the module of a star import, or "" for any other statement."""
    if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
        return "." * node.level + (node.module or "")
    return ""


def _is_elided(node: FunctionNode) -> bool:
    """Return whether the body is only a placeholder: a docstring, ``...``, ``pass`` or ``raise``."""
    statements = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return all(isinstance(one, ast.Pass | ast.Raise) for one in statements)


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement within a line; columns are byte offsets."""

    line: int
    start: int
    end: int
    text: str


def lift_siblings(text: str, tree: ast.Module, line: int, function: Function, source: bytes) -> str:
    """Turn sibling methods that the file's class lacks, but the method at ``line`` uses, into module-level functions.

    ``self.half(x)`` becomes ``half(self, x)``, and ``half`` is copied below the class so that line numbers stay valid.
    """
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    around = next((one for one in classes if any(each.lineno == line for each in one.body)), None)
    if around is None:
        return text
    target = next(one for one in around.body if one.lineno == line)
    known = _names_in_class(source, function.qualified_name.rpartition(".")[0]) | {function.name}
    siblings = {
        name: one
        for one in around.body
        for name in names_of([one]).bound
        if name not in known and isinstance(one, (*FUNCTIONS, ast.Assign, ast.AnnAssign))
    }
    edits: list[_Edit] = []
    pending: list[ast.stmt] = [target]
    lifted: list[ast.stmt] = []
    while pending:
        one = pending.pop()
        for name, edit in _references(one, around.name, siblings, split_lines(text)):
            edits.append(edit)
            if siblings[name] not in lifted:
                lifted.append(siblings[name])
                pending.append(siblings[name])
    if not lifted:
        return text
    lines = [piece.encode() for piece in split_lines(text)]
    for edit in sorted(edits, key=lambda one: (one.line, one.start), reverse=True):
        piece = lines[edit.line - 1]
        lines[edit.line - 1] = piece[: edit.start] + edit.text.encode() + piece[edit.end :]
    edited = [piece.decode() for piece in lines]
    copies = []
    for one in sorted(lifted, key=lambda one: one.lineno):
        decorators = [each for each in getattr(one, "decorator_list", ()) if not _descriptor(each)]
        parts = ["".join(edited[each.lineno - 1 : each.end_lineno]) for each in decorators]
        copies.append(dedent("".join([*parts, *edited[one.lineno - 1 : one.end_lineno]])))
    return "".join(edited).rstrip() + "\n" + "\n".join(piece.rstrip() for piece in copies) + "\n"


def _names_in_class(source: bytes, qualified_name: str) -> set[str]:
    try:
        body = python_syntax.parse(source).body
    except python_syntax.UNREADABLE:
        return set()
    for part in qualified_name.replace(".<locals>", "").split("."):
        body = next((one.body for one in body if isinstance(one, (*FUNCTIONS, ast.ClassDef)) and one.name == part), [])
    return names_of(body).bound


_DESCRIPTORS = {"staticmethod", "classmethod", "property"}


def _descriptor(decorator: ast.expr) -> str:
    return decorator.id if isinstance(decorator, ast.Name) and decorator.id in _DESCRIPTORS else ""


def _references(
    user: ast.stmt, class_name: str, siblings: Mapping[str, ast.stmt], lines: list[str]
) -> list[tuple[str, _Edit]]:
    """Return the siblings that a method accesses through its first parameter or the class, each with an edit."""
    receivers = {class_name}
    if isinstance(user, FUNCTIONS) and not any(_descriptor(one) == "staticmethod" for one in user.decorator_list):
        receivers.update(parameters(user.args)[:1])
    called = {id(one.func): one for one in ast.walk(user) if isinstance(one, ast.Call)}
    found = []
    for one in ast.walk(user):
        if not (isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id in receivers):
            continue
        sibling = siblings.get(one.attr)
        if sibling is None or not isinstance(one.ctx, ast.Load) or one.lineno != one.end_lineno:
            continue
        call = called.get(id(one))
        first = _first_argument(sibling, one.value.id, class_name)
        start, end, text = one.col_offset, one.end_col_offset or one.col_offset, one.attr
        if first and any(_descriptor(each) == "property" for each in getattr(sibling, "decorator_list", ())):
            text = f"{one.attr}({first})"
        elif first and call is not None:
            bracket = lines[one.lineno - 1].encode().find(b"(", end)
            if bracket < 0:
                continue
            text, end = f"{one.attr}({first}{', ' if call.args or call.keywords else ''}", bracket + 1
        elif first:
            text = f"(lambda *a, **k: {one.attr}({first}, *a, **k))"
        found.append((one.attr, _Edit(one.lineno, start, end, text)))
    return found


def _first_argument(sibling: ast.stmt, receiver: str, class_name: str) -> str:
    """Return the first argument to pass to a sibling called on ``receiver``, or "" if it takes no receiver."""
    if not isinstance(sibling, FUNCTIONS):
        return ""
    descriptors = {_descriptor(one) for one in sibling.decorator_list}
    if "staticmethod" in descriptors:
        return ""
    if "classmethod" in descriptors:
        return receiver if receiver in (class_name, "cls") else f"type({receiver})"
    return "" if receiver == class_name else receiver
