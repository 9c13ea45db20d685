"""Contents of a repository: modules, names, parameters, options, files, words and declarations.

Sources are parsed, never imported, and only when a lookup needs them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property, wraps
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from packaging.utils import canonicalize_name

from workbench.claims import known
from workbench.claims.declared import DeclaredProject
from workbench.claims.python import (
    Definition,
    Option,
    defaults_of,
    names_bound_or_imported,
    options_of,
    parameters_of,
    python_of,
)
from workbench.claims.similarity import slip_of
from workbench.regeneration.project_layout import import_roots, own_modules

if TYPE_CHECKING:
    from workbench.repository import View

#: Code that makes it impossible to determine the names in a module from its source.
_DYNAMIC = re.compile(
    rb"^\s*(?:def __getattr__|from [\w.]+ import \*|from \. import \*)|globals\(\)|vars\(\)|locals\(\)|setattr\(|lazy_loader|"
    rb"sys\.modules\[|exec\(|importlib\.import_module|extend_path|declare_namespace",
    re.M,
)
#: Code of a namespace package that several distributions share.
_SHARED = re.compile(rb"extend_path|declare_namespace")
_OPTIONS = re.compile(rb"add_argument|add_option|[Oo]ption\(")
_LARGEST = 2_000_000

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _remembered(method: _Method) -> _Method:
    @wraps(method)
    def answer(self: Any, *args: object) -> Any:
        key = (method.__name__, *args)
        if key not in self._memory:
            self._memory[key] = method(self, *args)
        return self._memory[key]

    return answer  # type: ignore[return-value]


class ProjectIndex(DeclaredProject):
    """A repository; everything about it is computed only once."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._memory: dict[tuple[object, ...], Any] = {}

    @cached_property
    def roots(self) -> tuple[str, ...]:
        return import_roots(self.root)

    @cached_property
    def modules(self) -> frozenset[str]:
        return frozenset(name.split(".")[0] for name in own_modules(self.root, self.roots))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(
            f"{folder}{slash}{name.split('.')[0]}"
            for folder, slash, name in (path.rpartition("/") for path in self.files)
        )

    @cached_property
    def sources(self) -> dict[str, bytes]:
        found = {}
        for path in sorted(self.files):
            if path.endswith((".py", ".pyi", ".pyx")) and (self.root / path).stat().st_size <= _LARGEST:
                found[path] = (self.root / path).read_bytes()
        return found

    @cached_property
    def _own(self) -> dict[str, bytes]:
        return {path: text for path, text in self.sources.items() if not known.is_test(path)}

    @cached_property
    def code(self) -> bytes:
        """Return all sources and configuration files as one text in which to search for words."""
        others = [
            (self.root / path).read_bytes()
            for path in sorted(self.files)
            if path.endswith(
                (".toml", ".cfg", ".c", ".rs", ".go", ".js", ".sh", ".json", ".ini", ".yaml", ".yml", ".txt", ".in")
            )
            and "/" not in path.removeprefix("src/")
            and (self.root / path).stat().st_size <= 200_000
        ]
        return b"\n".join((*self.sources.values(), *others))

    @cached_property
    def defined(self) -> frozenset[str]:
        own = b"\n".join(self._own.values())
        return frozenset(
            name.decode() for name in re.findall(rb"^\s*(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)", own, re.M)
        )

    @_remembered
    def suggestion(self, name: str) -> str:
        """Return the only function or class that a misspelt name can refer to, or "" if there is none."""
        return slip_of(name, self.defined)

    @_remembered
    def occurs(self, word: str) -> bool:
        return _whole_word(self.code, word.encode())

    def words_like(self, name: str) -> frozenset[str]:
        shape = rb"(?<!\w)" + re.escape(name[:1].encode()) + rb"\w{%d,%d}(?!\w)" % (len(name) - 2, len(name))
        return frozenset(
            word.decode() for text in self._own.values() for word in re.findall(shape, text) if word.isascii()
        )

    # -- modules

    def module_file(self, dotted: str) -> str | None:
        """Return the file of a module, "" for a namespace package, or None if there is no such module."""
        for root in self.roots:
            base = "/".join(part for part in (root, *dotted.split(".")) if part != ".")
            for path in (f"{base}/__init__.py", f"{base}.py", f"{base}/__init__.pyi", f"{base}.pyi", f"{base}.pyx"):
                if path in self.files:
                    return path
            if base in self.folders:
                return ""
            if base in self._stems:
                return ""  # an extension module, or a file from which one is built
        return None

    @_remembered
    def parsed(self, path: str) -> ast.Module | None:
        return python_of(self.sources.get(path, b"").decode("utf-8", "replace"))

    def names_of(self, path: str) -> frozenset[str] | None:
        """Return the words in a module's source, or None if it creates names at run time."""
        text = self.sources.get(path)
        if text is None or _DYNAMIC.search(text):
            return None
        return frozenset(word.decode() for word in re.findall(rb"[A-Za-z_]\w*", text))

    @_remembered
    def hidden(self, module: str) -> bool:
        """Return whether a package rebinds the name of one of its modules, so that importing it yields something else."""
        package, _, name = module.rpartition(".")
        path = self.module_file(package) if package else None
        tree = self.parsed(path) if path else None
        return any(
            (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").endswith(name)
                and name in names_bound_or_imported(node)
            )
            or (
                isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef)
                and name in names_bound_or_imported(node)
            )
            for node in (tree.body if tree is not None else ())
        )

    def lacks(self, module: str, name: str) -> bool:
        """Return whether a module does not contain a word and its package has no module of that name.

        The result is False for a module that creates names at run time, unless the word occurs nowhere in the code, and
        for a package that several distributions share.
        """
        path = self.module_file(module) if module else None
        if (
            not path
            or self.hidden(module)
            or self.module_file(f"{module}.{name}") is not None
            or _SHARED.search(self.sources.get(path, b""))
        ):
            return False
        if self.is_built(name):
            return False
        words = self.names_of(path)
        return not self.occurs(name) if words is None else name not in words

    def is_built(self, name: str) -> bool:
        """Return whether a non-Python file or folder has this name, so an extension module may be built from it."""
        return name in self._built

    @cached_property
    def _built(self) -> frozenset[str]:
        others = (path.split("/") for path in self.files if not path.endswith((".py", ".pyi", ".md", ".rst", ".txt")))
        return frozenset(part for *folders, name in others for part in (*folders, name.split(".")[0]))

    def parameters(self, module: str, name: str, depth: int = 0) -> tuple[str, ...] | None:
        """Return the parameters of the object that a module defines or imports under a name, or None if unknown."""
        path = self.module_file(module)
        tree = self.parsed(path) if path else None
        if path is None or tree is None or depth > 5:
            return None
        found: list[tuple[str, ...] | None] = []
        for node in tree.body:
            if isinstance(node, Definition) and node.name == name:
                if not any(ast.unparse(one).endswith("overload") for one in node.decorator_list):
                    found.append(parameters_of(node))
            elif isinstance(node, ast.ImportFrom):
                source = _absolute(module, node, path.endswith("__init__.py"))
                names = [one.name for one in node.names if (one.asname or one.name) == name]
                found += [self.parameters(source, one, depth + 1) for one in names]
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.If | ast.Try) and name in names_bound_or_imported(
                node
            ):
                return None
        return found[0] if len(found) == 1 else None

    def parameters_named(self, owner: str) -> tuple[str, ...] | None:
        """Return the parameters of the function or class ``owner`` outside tests, or None unless it is unique."""
        found = [parameters_of(node) for node in self._definitions_with(owner) if node.name == owner]
        return found[0] if len(found) == 1 else None

    @_remembered
    def members(self, name: str, depth: int = 0) -> tuple[frozenset[str], bool] | None:
        """Return the attributes of the classes called ``name`` and whether they are complete, or None without a class.

        They may be incomplete if a base is not in the project, or if there is a metaclass, a decorator or
        ``__getattr__``.
        """
        there = self._definitions_with(name) if name in self.defined else ()
        classes = [one for one in there if isinstance(one, ast.ClassDef) and one.name == name]
        found: set[str] = set()
        whole = depth < 5
        for node in classes:
            found |= {
                one.attr
                for one in ast.walk(node)
                if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)
            }
            for one in node.body:
                found |= {one.name} if isinstance(one, Definition) else names_bound_or_imported(one)
            makers = [
                one for one in node.decorator_list if not re.match(r"(?:dataclasses\.)?dataclass\b", ast.unparse(one))
            ]
            whole = whole and not (node.keywords or makers or {"__getattr__", "__getattribute__"} & found)
            for base in node.bases:
                base_name = base.id if isinstance(base, ast.Name) else ""
                inherited = self.members(base_name, depth + 1) if base_name and depth < 5 else None
                if inherited is not None:
                    found |= inherited[0]
                whole = whole and (base_name == "object" or (inherited is not None and inherited[1]))
        return (frozenset(found), whole) if classes else None

    @_remembered
    def rejects(self, called: str, keyword: str) -> bool:
        """Return whether every function, method or class of this name (``run``, ``Pipeline.run``) lacks a parameter."""
        owner, _, name = called.rpartition(".")
        owner = owner.rpartition(".")[2]
        arguments = []
        for node in self._definitions_with(name):
            if not isinstance(node, ast.ClassDef):
                arguments += [node.args] if not owner and node.name == name else []
            elif node.name == (owner or name):
                wanted = name if owner else "__init__"
                methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
                found = [one.args for one in methods if one.name == wanted]
                if not owner and not found:
                    return False  # its constructor is inherited or generated
                arguments += found
        return bool(arguments) and not any(
            one.kwarg or keyword in {each.arg for each in (*one.args, *one.kwonlyargs)} for one in arguments
        )

    @_remembered
    def defaults_of(self, parameter: str) -> tuple[tuple[str, str], ...]:
        """Return (owner, default) wherever the parameter occurs outside tests; a default is a Python literal or ""."""
        return tuple(
            (node.name, default)
            for node in self._definitions_with(parameter)
            if node.name != "__init__"
            for default in defaults_of(node, parameter)
        )

    def _definitions_with(self, word: str) -> Iterator[Definition]:
        for path, text in self._own.items() if word else ():
            if _whole_word(text, word.encode()):
                yield from self._definitions_in(path)

    @_remembered
    def _definitions_in(self, path: str) -> tuple[Definition, ...]:
        tree = self.parsed(path)
        return tuple(node for node in ast.walk(tree) if isinstance(node, Definition)) if tree is not None else ()

    # -- command lines

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Return the options declared to argparse, optparse, click or typer outside tests."""
        found: list[Option] = []
        for path, text in self._own.items():
            if _OPTIONS.search(text) and (b'"-' in text or b"'-" in text):
                tree = self.parsed(path)
                found += options_of(tree) if tree is not None else ()
        return tuple(found)

    @cached_property
    def flags(self) -> frozenset[str]:
        """Return words in the sources that look like long options, and the negated options that frameworks derive."""
        own = b"\n".join(self._own.values())
        found = {flag.decode() for flag in re.findall(rb"--[A-Za-z][\w-]*", own)}
        return frozenset(found | {f"--no-{flag[2:]}" for flag in found})

    # -- distributions

    @_remembered
    def may_install(self, distribution: str) -> bool:
        """Return whether a page may install a distribution: it is declared, mentioned, a known tool or a placeholder."""
        name = canonicalize_name(distribution)
        if name in self.dependencies or known.is_known(distribution) or known.stands_for_a_package(distribution):
            return True
        parts = {canonicalize_name(part) for path in self.files for part in PurePosixPath(path).with_suffix("").parts}
        spelled = "[-_.]".join(map(re.escape, name.split("-")))
        words = re.compile(rf"(?<![\w-])(?:{spelled})(?![\w-])", re.I)
        return (
            name in parts
            or self.occurs(name.replace("-", "_"))
            or any(words.search(text) for text in self.lists_of_distributions)
        )


_INDEXES: WeakKeyDictionary[View, ProjectIndex] = WeakKeyDictionary()


def project_of(view: View) -> ProjectIndex:
    """Return the index of a view's whole repository, including hidden files; it is built only once."""
    if view not in _INDEXES:
        _INDEXES[view] = ProjectIndex(view.root)
    return _INDEXES[view]


def _whole_word(text: bytes, word: bytes) -> bool:
    """Return whether a word occurs as a whole word in a text; searching bytes is faster than matching a pattern."""
    at = text.find(word)
    while at >= 0:
        around = text[max(0, at - 1) : at] + text[at + len(word) : at + len(word) + 1]
        if not any(char == 95 or chr(char).isalnum() for char in around):
            return True
        at = text.find(word, at + 1)
    return False


def _absolute(module: str, node: ast.ImportFrom, package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + (1 if package else 0)]
    return ".".join([*parts, *([node.module] if node.module else [])])
