"""Transfer docstrings from a documented copy of a repository into the pristine tree.

Doc systems edit code in place, rename folders and add files. Only their docstrings are used, and only if the code is
the same apart from docstrings. The syntax trees of the whole files are compared first. If the file was edited
elsewhere, the trees of the individual function or class are compared. Changed code is never documented.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from workbench.base import python_syntax
from workbench.repository.functions import (
    DefinitionKey,
    DefinitionKind,
    find_definitions,
    find_functions,
    functions_by_name,
)
from workbench.repository.splicing import replace_docstring
from workbench.sandbox.workbench_runner.patching import definitions

_MAX_BYTES = 5_000_000

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Graft:
    """The docstrings found in a documented copy."""

    docstrings: dict[Key, str]  # docstrings by (path, qualified name, occurrence)
    missing: tuple[str, ...]  # functions in accepted files that have no docstring in the copy
    refused: dict[str, str]  # reasons for refusing a file, by path
    definitions: dict[tuple[str, DefinitionKey], str] = field(default_factory=dict)  # docstrings by (path, key)
    edited: dict[tuple[str, DefinitionKey], str] = field(default_factory=dict)  # reasons for leaving out a definition


def collect_docstrings(pristine: Path, documented: Path, paths: Iterable[str]) -> Graft:
    """Return docstrings for the functions of ``pristine`` found in ``documented``; ``paths`` are relative to each."""
    missing: list[str] = []
    refused: dict[str, str] = {}
    all_docstrings: dict[tuple[str, DefinitionKey], str] = {}
    edited: dict[tuple[str, DefinitionKey], str] = {}
    for path in sorted(set(paths)):
        try:
            original = (pristine / path).read_bytes()
            file = documented / path
            # A link may point outside the copy.
            if not file.is_file() or not file.resolve().is_relative_to(documented.resolve()):
                refused[path] = "the documented copy does not have this file"
                continue
            copy = file.read_bytes()
        except OSError as error:
            refused[path] = f"it cannot be read: {error.strerror or error}"
            continue
        reason = difference(original, copy)
        same = None
        if reason is not None:
            same = unedited(original, copy)
            if not same:
                refused[path] = reason
                continue
            for definition in find_definitions(original, path):
                if definition.key not in same:
                    edited[path, definition.key] = f"its code was edited; in the file {reason}"
        for definition in find_definitions(copy, path):
            if same is not None and definition.key not in same:
                continue
            if definition.docstring is not None and definition.docstring.strip():
                all_docstrings[path, definition.key] = definition.docstring
            elif definition.key.kind == "function":
                missing.append(definition.id)
    docstrings = {
        (path, key.qualified_name, key.occurrence): text
        for (path, key), text in all_docstrings.items()
        if key.kind == "function"
    }
    return Graft(docstrings, tuple(missing), refused, all_docstrings, edited)


def graft_file(source: bytes, path: str, docstrings: dict[Key, str | None]) -> bytes:
    """Return ``source`` with these docstrings; functions that are not in the mapping keep their own docstrings."""
    # Start from the end, so that the spans of the remaining functions stay valid.
    for function in sorted(find_functions(source, path), key=lambda f: f.span.start, reverse=True):
        key = (path, function.qualified_name, function.occurrence)
        if key in docstrings and docstrings[key] != function.docstring:
            # Documenting an inner function has shifted the spans of the enclosing functions.
            current = functions_by_name(source, path).get((function.qualified_name, function.occurrence), function)
            source = replace_docstring(source, current, docstrings[key])
    return source


def difference(original: bytes, copy: bytes) -> str | None:
    """Describe how two files differ apart from their docstrings, or return None if they are otherwise equal."""
    if original == copy:
        return None
    if len(copy) > _MAX_BYTES:
        return f"it is larger than {_MAX_BYTES:,} bytes"
    trees = []
    for file, content in (("pristine", original), ("documented", copy)):
        try:
            trees.append(_bare_tree(content))
        except python_syntax.UNREADABLE as error:
            detail = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
            return f"the {file} file does not parse: {detail or type(error).__name__}"
    before, after = trees
    if ast.dump(before) == ast.dump(after):
        return None
    return f"the code differs apart from docstrings, first at {_first_difference(before, after)}"


def unedited(original: bytes, copy: bytes) -> frozenset[DefinitionKey]:
    """Return the definitions with unchanged code in a copy; none if the copy does not parse or is too large."""
    if len(copy) > _MAX_BYTES:
        return frozenset()
    try:
        before, after = _bare_tree(original), _bare_tree(copy)
    except python_syntax.UNREADABLE:
        return frozenset()
    copied = _by_key(after)
    return frozenset(key for key, code in _by_key(before).items() if copied.get(key) == code)


def _by_key(tree: ast.AST) -> dict[DefinitionKey, str]:
    found = {DefinitionKey("module", "", 1): ast.dump(tree)}
    for node, name, occurrence, _ in definitions(tree):
        kind: DefinitionKind = "class" if isinstance(node, ast.ClassDef) else "function"
        found[DefinitionKey(kind, name, occurrence)] = ast.dump(node)
    return found


class _WithoutDocstrings(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
            if not isinstance(node, ast.Module) and all(isinstance(statement, ast.Pass) for statement in node.body):
                node.body = []
        return node


def _bare_tree(source: bytes) -> ast.AST:
    return _WithoutDocstrings().visit(python_syntax.parse(source))  # type: ignore[no-any-return]


def _first_difference(before: ast.AST, after: ast.AST, where: str = "the top of the file") -> str:
    line = getattr(after, "lineno", None)
    name = getattr(after, "name", None)
    if isinstance(name, str) and line:
        where = f"{name} (line {line})"
    elif line:
        where = where if "line" in where else f"line {line}"
    old, new = list(ast.iter_child_nodes(before)), list(ast.iter_child_nodes(after))
    for one, other in zip(old, new, strict=False):
        if ast.dump(one) != ast.dump(other):
            return _first_difference(one, other, where)
    return where
