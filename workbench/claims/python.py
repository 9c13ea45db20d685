"""Python on a page and in a project: examples, imports, names, parameters and declared options. Nothing is imported."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.base import python_syntax
from workbench.claims.page import PYTHON, Code

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_MAGIC = re.compile(r"^\s*[%!]")
_LOOKS_LIKE_PYTHON = re.compile(r"^[ \t]*(?:>>> |from\s+[\w.]+\s+import\s|import\s+\w)", re.M)


def python_of(text: str) -> ast.Module | None:
    try:
        return python_syntax.parse(text)
    except python_syntax.UNREADABLE:
        return None


def is_python(code: Code) -> bool:
    return code.language in PYTHON or (not code.language and _LOOKS_LIKE_PYTHON.search(code.code) is not None)


def example_of(code: str) -> ast.Module | None:
    """Return the syntax tree of an example, or None if it cannot be parsed.

    In a console session, only the input is parsed. If code does not parse, lines with an ellipsis are left out.
    """
    lines = code.splitlines()
    if any(line.lstrip().startswith(">>>") for line in lines):
        typed: dict[int, str] = {}
        try:
            for example in doctest.DocTestParser().get_examples(code):
                typed.update(enumerate(example.source.splitlines(), example.lineno))
        except ValueError:
            stripped = enumerate(line.lstrip() for line in lines)
            typed = {number: line[4:] for number, line in stripped if line.startswith((">>>", "... "))}
        lines = [typed.get(number, "") for number in range(len(lines))]
    lines = ["" if _MAGIC.match(line) else line for line in lines]
    tree = python_of("\n".join(lines))
    if tree is None and any("..." in line for line in lines):
        tree = python_of("\n".join("" if "..." in line and line[:1] not in " \t" else line for line in lines))
    return tree


@dataclass(frozen=True, slots=True)
class Import:
    """An import that binds the name ``bound`` to a module, or to ``name`` in it.

    ``line`` is the line of the name, and ``statement`` the first line of the statement.
    """

    module: str
    name: str
    bound: str
    line: int
    statement: int

    @property
    def top(self) -> str:
        return self.module.split(".")[0]


def imports_of(tree: ast.AST) -> Iterator[Import]:
    """Yield the absolute imports anywhere in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                lines = alias.lineno, node.lineno
                yield Import(alias.name, "", alias.asname or alias.name.split(".")[0], *lines)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                lines = alias.lineno, node.lineno
                yield Import(node.module, alias.name, alias.asname or alias.name, *lines)


def assigned(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def names_bound(node: ast.AST) -> set[str]:
    return assigned(node) | {one.name for one in ast.walk(node) if isinstance(one, Definition)}


def names_bound_or_imported(node: ast.AST) -> set[str]:
    return names_bound(node) | {one.asname or one.name for one in ast.walk(node) if isinstance(one, ast.alias)}


# -- parameters


def parameters_of(node: Definition) -> tuple[str, ...] | None:
    """Return the keywords that a call may use, or None if decorators, bases or ``**`` hide them."""
    if isinstance(node, ast.ClassDef):
        methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
        makers = [one for one in methods if one.name == "__init__"]
        if node.decorator_list or node.keywords or len(makers) != 1 or any(one.name == "__new__" for one in methods):
            return None
        found = parameters_of(makers[0])
        return found[1:] if found else None
    if node.args.kwarg or node.decorator_list:
        return None
    return tuple(one.arg for one in (*node.args.args, *node.args.kwonlyargs))


def defaults_of(node: Definition, parameter: str) -> Iterator[str]:
    """Yield the literal defaults of a parameter, or "" for other defaults.

    For a class, the parameters are those of its constructor and its declared fields.
    """
    if not isinstance(node, ast.ClassDef):
        yield from (literal_of(value) for name, value in _defaults(node) if name == parameter)
        return
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            yield from defaults_of(one, parameter)
        elif isinstance(one, ast.AnnAssign | ast.Assign) and one.value is not None and parameter in assigned(one):
            yield literal_of(one.value)


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr]]:
    named = node.args
    positional = [*named.posonlyargs, *named.args]
    for one, value in zip(positional[len(positional) - len(named.defaults) :], named.defaults, strict=True):
        yield one.arg, value
    yield from (
        (one.arg, value) for one, value in zip(named.kwonlyargs, named.kw_defaults, strict=True) if value is not None
    )


def literal_of(node: ast.expr) -> str:
    """Return the ``repr`` of a literal expression, or "" for any other expression and for an ellipsis."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ""
    return "" if value is Ellipsis else repr(value)


# -- options


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option; its default is a Python literal, otherwise ""."""

    names: tuple[str, ...]
    default: str


def options_of(tree: ast.Module) -> Iterator[Option]:
    """Yield options that a module declares to argparse, optparse, click or typer; negated switches have no default."""
    constants = _constants(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in ("add_argument", "add_option", "option", "Option", "make_option"):
            continue
        texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        names = tuple(part for text in texts for part in re.split(r"[/,\s]+", text) if part.startswith("-"))
        default = next((one.value for one in node.keywords if one.arg == "default"), None)
        if default is None and called == "Option" and node.args and not isinstance(node.args[0], ast.Starred):
            first = node.args[0]
            default = first if not (isinstance(first, ast.Constant) and str(first.value).startswith("-")) else None
        default_text = "False" if default is None and _is_switch(node) else ""
        if isinstance(default, ast.Name):
            default = constants.get(default.id)
        if default is not None:
            default_text = literal_of(default)
        negative = tuple(name for name in names if default_text in ("True", "False") and _turns_off(name, texts))
        for spellings, value in ((tuple(one for one in names if one not in negative), default_text), (negative, "")):
            if spellings:
                yield Option(spellings, value)


def _constants(tree: ast.Module) -> dict[str, ast.expr | None]:
    found: dict[str, ast.expr | None] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found[target.id] = None if target.id in found else node.value
    return found


def _is_switch(node: ast.Call) -> bool:
    return any(
        isinstance(one.value, ast.Constant)
        and (one.arg, one.value.value) in (("action", "store_true"), ("is_flag", True))
        for one in node.keywords
    )


def _turns_off(name: str, texts: list[str]) -> bool:
    """Return whether a spelling negates a switch: ``--no-color``, or the second part of ``--color/--plain``."""
    return name.startswith("--no-") or any(name in text.split("/")[1:] for text in texts)


def subcommands_of(tree: ast.Module) -> Iterator[str]:
    """Yield the subcommands, and the choices of positional arguments, that a module declares to a command library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Attribute) and called.attr in ("command", "group"):
                    named = list(_named_by(decorator)) if isinstance(decorator, ast.Call) else []
                    # Releases of click treat a suffix of the function's name differently, so yield both names.
                    plain = node.name.lower().replace("_", "-")
                    yield from named or (plain, re.sub(r"-(?:command|cmd|group|grp)$", "", plain))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("add_parser", "add_command", "add_typer"):
                yield from _named_by(node)
            elif node.func.attr == "add_argument" and not any(name.startswith("-") for name in _named_by(node)):
                yield from _texts(inner for one in node.keywords if one.arg == "choices" for inner in ast.walk(one))


def _named_by(call: ast.Call) -> Iterator[str]:
    yield from _texts([*call.args[:1], *(one.value for one in call.keywords if one.arg == "name")])


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    yield from (one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str))
