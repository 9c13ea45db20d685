"""The public callables of a project and their shortest import paths, read from its sources without importing them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Literal

from workbench.claims import known
from workbench.claims.project import ProjectIndex
from workbench.regeneration.building import may_be_source
from workbench.regeneration.project_layout import belongs, own_modules

Definition = tuple[str, str]
"""The module and the name of a top-level definition."""

_IN_CODE = re.compile(r"([A-Za-z_][\w.]*)\s*\(|`([A-Za-z_][\w.]*)(?:\(\))?`|\bimport\s+([\w., ]+)")
_AUTODOC = re.compile(r"^\s*(?:\.\. )?(?:auto\w+::|:::)\s*([\w.]+)", re.M)
_FOLDERS = frozenset({"doc", "docs", "documentation"})
_PAGES = (".md", ".rst", ".txt", ".adoc")


@dataclass(frozen=True, slots=True)
class PublicName:
    """A public callable; ``least`` and ``most`` are the numbers of positional arguments that a call may pass."""

    name: str  # shortest import path: `pkg.slugify`, `pkg.Table.add`
    module: str  # the module to import; the rest of the name is looked up in it
    kind: Literal["function", "class", "method"]
    path: str
    line: int
    least: int
    most: int | None  # None with ``*args``
    documented: bool  # whether a README should name the callable; see `PublicNames.is_documented`

    @property
    def attribute(self) -> str:
        return self.name.removeprefix(f"{self.module}.")


class PublicNames:
    """The places from which the functions and classes of a project can be imported."""

    def __init__(self, root: Path, test_paths: Collection[str] = ()) -> None:
        self.index = ProjectIndex(root)
        self._test_paths = frozenset(test_paths)  # test files without the usual names
        self._resolved: dict[str, dict[str, set[Definition]]] = {}
        self._exported: dict[str, frozenset[str] | None] = {}

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """Return the file of each of the project's own modules, without tests."""
        own = own_modules(self.index.root, self.index.roots)
        found: dict[str, str] = {}
        for root in self.index.roots:
            for path in self.index.sources:
                relative = PurePosixPath(path)
                if path.endswith(".py") and not known.is_test(path) and relative.is_relative_to(root):
                    parts = relative.relative_to(root).with_suffix("").parts
                    dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                    is_source = len(parts) > 1 or may_be_source(PurePosixPath(parts[0], "module.py"))
                    if belongs(dotted, own) and is_source and path not in self._test_paths:
                        found.setdefault(dotted, path)
        return found

    def bindings(self, module: str) -> Mapping[str, set[Definition]]:
        """Return the functions and classes that a module's names can refer to, also through imports and assignments."""
        if module not in self._resolved:
            # stored before following imports, because modules may import each other
            found = self._resolved[module] = {}
            tree = self.index.parsed(self.modules[module])
            for node in _statements(tree.body if tree is not None else ()):
                for name, definitions in self._bound_by(module, node, found):
                    found.setdefault(name, set()).update(definitions)
        return self._resolved[module]

    def _bound_by(
        self, module: str, node: ast.stmt, before: Mapping[str, set[Definition]]
    ) -> Iterator[tuple[str, set[Definition]]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, {(module, node.name)}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            names = (target.id for target in node.targets if isinstance(target, ast.Name))
            yield from ((name, set(before.get(node.value.id, ()))) for name in names)
        elif isinstance(node, ast.ImportFrom):
            source = self._source_of(module, node)
            if source in self.modules:
                others = self.bindings(source)
                for alias in node.names:
                    if alias.name == "*":
                        wanted = self.exports(source)
                        yield from (
                            (name, set(definitions))
                            for name, definitions in others.items()
                            if (name in wanted if wanted is not None else not name.startswith("_"))
                        )
                    elif alias.name in others:
                        yield alias.asname or alias.name, set(others[alias.name])

    def _source_of(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = module.split(".")
        parts = parts[: len(parts) - node.level + self.modules[module].endswith("__init__.py")]
        return ".".join([*parts, *([node.module] if node.module else [])])

    def exports(self, module: str) -> frozenset[str] | None:
        """Return the names in a module's ``__all__``, or None if it has none that can be read."""
        if module not in self._exported:
            self._exported[module] = None
            tree = self.index.parsed(self.modules[module])
            names: set[str] = set()
            for node in _statements(tree.body if tree is not None else ()):
                targets = (
                    node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None) or ast.Pass()]
                )
                if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
                    value = getattr(node, "value", None)
                    texts = (one.value for one in ast.walk(value) if isinstance(one, ast.Constant)) if value else ()
                    names.update(one for one in texts if isinstance(one, str))
            self._exported[module] = frozenset(names) or None
        return self._exported[module]

    @cached_property
    def _places(self) -> Mapping[Definition, tuple[str, str]]:
        """Return the shortest public module and name of each function and class that has one."""
        found: dict[Definition, list[tuple[str, str]]] = {}
        for module in self.modules:
            if any(part.startswith("_") for part in module.split(".")):
                continue
            for name, definitions in self.bindings(module).items():
                exported = self.modules[module].endswith("__init__.py") or name in (self.exports(module) or ())
                for definition in definitions if not name.startswith("_") else ():
                    # A module that imports something private under another name only uses it and does not export it.
                    if exported or not definition[1].startswith("_"):
                        found.setdefault(definition, []).append((module, name))

        def rank(place: tuple[str, str], definition: Definition) -> tuple[object, ...]:
            module, name = place
            unexported = name not in (self.exports(module) or ())
            return module.count("."), unexported, place != definition, len(module) + len(name), place

        return {one: min(places, key=partial(rank, definition=one)) for one, places in found.items()}

    def place(self, module: str, qualname: str) -> tuple[str, str] | None:
        """Return the shortest public module and the qualified name in it of a recorded callable, or None."""
        first, _, rest = qualname.partition(".")
        found = self._places.get((module, first))
        if found is None or any(part.startswith(("_", "<")) for part in rest.split(".")):
            return None
        return found[0], f"{found[1]}.{rest}" if rest else found[1]

    def may_be_public(self, name: str) -> bool:
        """Return whether a module and the name of a function, or of a method without its class, may be public."""
        module, _, last = name.rpartition(".")
        return self.place(module, last) is not None or not any(part.startswith("_") for part in name.split("."))

    def is_documented(self, module: str, qualname: str) -> bool:
        """Return whether a README should name a public callable.

        This is true of names in an ``__all__``, names that a top-level package imports (or defines, in a project
        without commands), and names in the documentation.
        """
        first, last = qualname.split(".")[0], qualname.rpartition(".")[2]
        if last == first:
            exported = self.exports(module)
            if exported is not None and first in exported:
                return True
            imported = (module, first) not in self.bindings(module)[first]
            if exported is None and "." not in module and (imported or not self.programs):
                return True
        words, whole = self._documentation
        defined = (module, first) in self.bindings(module)[first]
        return last in words or (module in whole and defined) or f"{module}.{first}" in whole

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """Return the project's commands as they are typed: its console scripts, otherwise ``python -m PACKAGE``."""
        scripts = self.index.declared.scripts
        own = tuple(name for name, target in scripts.items() if target.partition(":")[0].strip() in self.modules)
        packages = (name.removesuffix(".__main__") for name in self.modules if name.endswith(".__main__"))
        return own or tuple(f"python -m {name}" for name in packages)

    @cached_property
    def _documentation(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names in the documentation's code, and the modules and classes that are documented as a whole."""
        words: set[str] = set()
        whole: set[str] = set()
        for path in sorted(self.index.files):
            parts = PurePosixPath(path.lower()).parts
            is_page = parts[-1].endswith(_PAGES)
            if is_page and (parts[-1].startswith("readme") or not _FOLDERS.isdisjoint(parts[:-1])):
                text = (self.index.root / path).read_text("utf-8", "replace")[:1_000_000]
                for match in _IN_CODE.finditer(text):
                    words.update(re.findall(r"\w+", match[3]) if match[3] else [(match[1] or match[2]).split(".")[-1]])
                for name in _AUTODOC.findall(text):
                    whole.add(name)
                    words.add(name.rpartition(".")[2])
        return frozenset(words), frozenset(whole)

    @cached_property
    def all(self) -> tuple[PublicName, ...]:
        """Return every public callable; those that a README should name come first."""
        found: list[PublicName] = []
        for (module, name), (public, alias) in self._places.items():
            tree = self.index.parsed(self.modules[module])
            for node in _statements(tree.body if tree is not None else ()):
                if getattr(node, "name", None) == name:
                    found += self._callables(node, public, alias, self.modules[module])
                    break
        return tuple(sorted(found, key=lambda one: (not one.documented, one.name.count("."), one.name)))

    def _callables(self, node: ast.stmt, module: str, name: str, path: str) -> Iterator[PublicName]:
        documented = self.is_documented(module, name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield PublicName(f"{module}.{name}", module, "function", path, node.lineno, *_arity(node, 0), documented)
        elif isinstance(node, ast.ClassDef):
            methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
            maker = _arity(methods["__init__"], 1) if "__init__" in methods else (0, None)
            yield PublicName(f"{module}.{name}", module, "class", path, node.lineno, *maker, documented)
            for method, one in methods.items():
                decorators = {ast.unparse(each).rpartition(".")[2] for each in one.decorator_list}
                if not method.startswith("_") and not decorators & {"property", "cached_property", "setter"}:
                    arity = _arity(one, 0 if "staticmethod" in decorators else 1)
                    qualname = f"{name}.{method}"
                    named = self.is_documented(module, qualname)
                    yield PublicName(f"{module}.{qualname}", module, "method", path, one.lineno, *arity, named)


def _arity(node: ast.FunctionDef | ast.AsyncFunctionDef, bound: int) -> tuple[int, int | None]:
    positional = len(node.args.posonlyargs) + len(node.args.args)
    least = positional - len(node.args.defaults) - bound
    return max(0, least), None if node.args.vararg else max(0, positional - bound)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run when a module is imported, including those in branches."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements(node.body)
            yield from _statements(getattr(node, "orelse", ()))
            for handler in getattr(node, "handlers", ()):
                yield from _statements(handler.body)
