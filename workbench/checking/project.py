"""What a repository really has: modules, definitions, options, defaults, files, words.

Sources are parsed, never imported, and only those that a claim asks about.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from workbench.checking.declared_options import Option, literal_of, options_of
from workbench.checking.environment import tree_files
from workbench.checking.kinds import names_bound, python_of
from workbench.checking.nearest import slip_of
from workbench.regeneration.declarations import Declarations, declarations
from workbench.regeneration.project_layout import import_roots, own_modules

#: What makes a module's names impossible to read from its source.
_DYNAMIC = re.compile(
    rb"^\s*(?:def __getattr__|from [\w.]+ import \*|from \. import \*)|globals\(\)|vars\(\)|locals\(\)|setattr\(|lazy_loader|"
    rb"sys\.modules\[|exec\(|importlib\.import_module|extend_path|declare_namespace",
    re.M,
)
#: A package of which other distributions may hold a part.
_SHARED = re.compile(rb"extend_path|declare_namespace")
_OPTIONS = re.compile(rb"add_argument|add_option|[Oo]ption\(")
_LARGEST = 2_000_000


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class; ``parameters`` can be given as keywords, None where they are unknown (``**``, decorators, bases)."""

    name: str
    parameters: tuple[str, ...] | None


class Project:
    """A repository; everything about it is computed once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._occurring: dict[str, bool] = {}
        self._hidden: dict[str, bool] = {}
        self._defaults: dict[str, tuple[tuple[str, str], ...]] = {}
        self._parsed: dict[str, ast.Module | None] = {}
        self._members: dict[str, tuple[frozenset[str], bool] | None] = {}
        self._meant: dict[str, str] = {}

    @cached_property
    def declared(self) -> Declarations:
        return declarations(self.root)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        return import_roots(self.root)

    @cached_property
    def modules(self) -> frozenset[str]:
        return frozenset(name.split(".")[0] for name in own_modules(self.root, self.roots))

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(path.relative_to(self.root).as_posix() for path in tree_files(self.root))

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(str(parent) for path in self.files for parent in PurePosixPath(path).parents)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(
            f"{folder}{slash}{name.split('.')[0]}"
            for folder, slash, name in (path.rpartition("/") for path in self.files)
        )

    @property
    def released(self) -> bool:
        """Whether this is a source distribution, which may lack files of the repository."""
        return "PKG-INFO" in self.files

    @cached_property
    def sources(self) -> dict[str, bytes]:
        found = {}
        for path in sorted(self.files):
            if path.endswith((".py", ".pyi", ".pyx")) and (self.root / path).stat().st_size <= _LARGEST:
                found[path] = (self.root / path).read_bytes()
        return found

    @cached_property
    def code(self) -> bytes:
        """All Python and other declarations in one piece, to search for words."""
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
        own = b"\n".join(text for path, text in self.sources.items() if not is_test(path))
        return frozenset(
            name.decode() for name in re.findall(rb"^\s*(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)", own, re.M)
        )

    def meant(self, name: str) -> str:
        """The only function or class that a name is a slip of; "" if none."""
        if name not in self._meant:
            self._meant[name] = slip_of(name, self.defined)
        return self._meant[name]

    def occurs(self, word: str) -> bool:
        if word not in self._occurring:
            self._occurring[word] = _whole_word(self.code, word.encode())
        return self._occurring[word]

    def words_like(self, name: str) -> frozenset[str]:
        shape = rb"(?<!\w)" + re.escape(name[:1].encode()) + rb"\w{%d,%d}(?!\w)" % (len(name) - 2, len(name))
        own = (text for path, text in self.sources.items() if not is_test(path))
        return frozenset(word.decode() for text in own for word in re.findall(shape, text) if word.isascii())

    # -- modules

    def module_file(self, dotted: str) -> str | None:
        """File of a module; "" for a namespace package, None where there is no such module."""
        for root in self.roots:
            base = "/".join(part for part in (root, *dotted.split(".")) if part != ".")
            for path in (f"{base}/__init__.py", f"{base}.py", f"{base}/__init__.pyi", f"{base}.pyi", f"{base}.pyx"):
                if path in self.files:
                    return path
            if base in self.folders:
                return ""
            if base in self._stems:
                return ""  # an extension module, or something that makes one
        return None

    def parsed(self, path: str) -> ast.Module | None:
        if path not in self._parsed:
            self._parsed[path] = python_of(self.sources.get(path, b"").decode("utf-8", "replace"))
        return self._parsed[path]

    def names_of(self, path: str) -> frozenset[str] | None:
        """Words of a module; None where its names are made at run time."""
        text = self.sources.get(path)
        if text is None or _DYNAMIC.search(text):
            return None
        return frozenset(word.decode() for word in re.findall(rb"[A-Za-z_]\w*", text))

    def hidden(self, module: str) -> bool:
        """Whether a package rebinds the name of its own module, so that an import gives something else."""
        if module not in self._hidden:
            self._hidden[module] = self._is_hidden(module)
        return self._hidden[module]

    def _is_hidden(self, module: str) -> bool:
        package, _, name = module.rpartition(".")
        path = self.module_file(package) if package else None
        tree = self.parsed(path) if path else None
        return any(
            (isinstance(node, ast.ImportFrom) and (node.module or "").endswith(name) and name in _bound_by(node))
            or (
                isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef)
                and name in _bound_by(node)
            )
            for node in (tree.body if tree is not None else ())
        )

    def lacks(self, module: str, name: str) -> bool:
        """Whether a module has no such word and its package no such module.

        False for a module that makes names at run time, unless the word is nowhere in the code, and for a package that
        several distributions share.
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
        """Whether a file or folder that is not Python has this name: an extension module may be built from it."""
        return name in self._built

    @cached_property
    def _built(self) -> frozenset[str]:
        others = (path.split("/") for path in self.files if not path.endswith((".py", ".pyi", ".md", ".rst", ".txt")))
        return frozenset(part for *folders, name in others for part in (*folders, name.split(".")[0]))

    def definition(self, module: str, name: str, depth: int = 0) -> Definition | None:
        """What a module defines or imports under a name; None where that cannot be followed."""
        path = self.module_file(module)
        tree = self.parsed(path) if path else None
        if tree is None or depth > 5:
            return None
        found: list[Definition | None] = []
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
                if any(ast.unparse(one).endswith("overload") for one in node.decorator_list):
                    continue
                found.append(Definition(name, parameters_of(node)))
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        source = _absolute(module, node, path.endswith("__init__.py") if path else False)
                        found.append(self.definition(source, alias.name, depth + 1))
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.If | ast.Try) and name in _bound_by(node):
                return None
        return found[0] if len(found) == 1 else None

    def parameters_named(self, owner: str) -> tuple[str, ...] | None:
        """Parameters of the one function or class of that name outside tests; None where there is not exactly one."""
        found = [parameters_of(node) for node in self._definitions_with(owner) if node.name == owner]
        return found[0] if len(found) == 1 else None

    def members(self, name: str, depth: int = 0) -> tuple[frozenset[str], bool] | None:
        """Attributes of the classes of a name, and whether these are all; None without such a class.

        There may be more where a base is not in the project, or with a metaclass, a decorator or ``__getattr__``.
        """
        if name not in self._members:
            self._members[name] = self._members_of(name, depth)
        return self._members[name]

    def _members_of(self, name: str, depth: int) -> tuple[frozenset[str], bool] | None:
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
            found |= {one for statement in node.body for one in _declared_by(statement)}
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

    def rejects(self, called: str, keyword: str) -> bool:
        """Whether every function or method of a qualified name (``Pipeline.run``) lacks a parameter."""
        owner, _, name = called.rpartition(".")
        owner = owner.rpartition(".")[2]
        found = []
        for node in self._definitions_with(name):
            if owner and isinstance(node, ast.ClassDef) and node.name == owner:
                found += [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            elif not owner and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append(node)
        arguments = [one.args for one in found if one.name == name]
        return bool(arguments) and not any(
            one.kwarg or keyword in {each.arg for each in (*one.args, *one.kwonlyargs)} for one in arguments
        )

    def defaults_of(self, parameter: str) -> tuple[tuple[str, str], ...]:
        """(owner, default) of each parameter of that name outside tests; a default is a Python literal or ""."""
        if parameter not in self._defaults:
            self._defaults[parameter] = tuple(
                (owner, default)
                for node in self._definitions_with(parameter)
                for owner, default in _defaults(node, parameter)
            )
        return self._defaults[parameter]

    def _definitions_with(self, word: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
        for path, text in self.sources.items():
            if word and not is_test(path) and _whole_word(text, word.encode()):
                tree = self.parsed(path)
                for node in ast.walk(tree) if tree is not None else ():
                    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                        yield node

    # -- command lines

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Options declared to argparse, optparse, click or typer outside tests."""
        found: list[Option] = []
        for path, text in self.sources.items():
            if not is_test(path) and _OPTIONS.search(text) and (b'"-' in text or b"'-" in text):
                tree = self.parsed(path)
                found += options_of(tree) if tree is not None else ()
        return tuple(found)

    @cached_property
    def flags(self) -> frozenset[str]:
        """Everything in the Python that is spelled as a long option, and what frameworks derive from it."""
        own = b"\n".join(text for path, text in self.sources.items() if not is_test(path))
        found = {flag.decode() for flag in re.findall(rb"--[A-Za-z][\w-]*", own)}
        return frozenset(found | {f"--no-{flag[2:]}" for flag in found})


def _whole_word(text: bytes, word: bytes) -> bool:
    """Whether a word stands alone in a text; a search in bytes is faster than a pattern."""
    at = text.find(word)
    while at >= 0:
        around = text[max(0, at - 1) : at] + text[at + len(word) : at + len(word) + 1]
        if not any(char == 95 or chr(char).isalnum() for char in around):
            return True
        at = text.find(word, at + 1)
    return False


def is_test(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool({"test", "tests", "testing"} & set(parts)) or parts[-1].startswith("test_") or parts[-1] == "conftest.py"
    )


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[str, ...] | None:
    """Keywords that a call may use; None where decorators, bases or ``**`` leave that open."""
    if isinstance(node, ast.ClassDef):
        methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
        makers = [one for one in methods if one.name == "__init__"]
        if node.decorator_list or node.keywords or len(makers) != 1 or any(one.name == "__new__" for one in methods):
            return None
        found = parameters_of(makers[0])
        return found[1:] if found else None
    arguments = node.args
    if arguments.kwarg or node.decorator_list:
        return None
    return tuple(one.arg for one in (*arguments.args, *arguments.kwonlyargs))


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, parameter: str) -> Iterator[tuple[str, str]]:
    """Yield a definition's default of a parameter; for a class those of its constructor and declared fields."""
    values: list[ast.expr] = []
    if isinstance(node, ast.ClassDef):
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                values += [value for name, value in _with_defaults(one) if name == parameter]
            elif isinstance(one, ast.AnnAssign | ast.Assign) and one.value is not None and parameter in _bound_by(one):
                values.append(one.value)
    elif node.name != "__init__":
        values = [value for name, value in _with_defaults(node) if name == parameter]
    for value in values:
        yield node.name, literal_of(value)


def _declared_by(node: ast.stmt) -> frozenset[str]:
    is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return frozenset([node.name]) if is_definition else _bound_by(node)  # type: ignore[attr-defined]


def _with_defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr]]:
    named = node.args
    positional = [*named.posonlyargs, *named.args]
    yield from zip(
        (one.arg for one in positional[len(positional) - len(named.defaults) :]), named.defaults, strict=True
    )
    for one, value in zip(named.kwonlyargs, named.kw_defaults, strict=True):
        if value is not None:
            yield one.arg, value


def _bound_by(node: ast.AST) -> frozenset[str]:
    imported = {one.asname or one.name for one in ast.walk(node) if isinstance(one, ast.alias)}
    return frozenset(names_bound(node) | imported)


def _absolute(module: str, node: ast.ImportFrom, package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + (1 if package else 0)]
    return ".".join([*parts, *([node.module] if node.module else [])])
