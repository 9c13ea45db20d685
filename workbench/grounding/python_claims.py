"""Claims of a README's Python examples: imports, and uses of what they import from the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from workbench.base import python_syntax
from workbench.grounding import known, spelling
from workbench.grounding.items import Claim, Place
from workbench.rubric.markdown import PYTHON, Fence

_IMPORTS = re.compile(r"^[ \t]*(?:>>> )?(?:from\s+[\w.]+\s+import\s+|import\s+[\w.]+)", re.M)
_MAGIC = re.compile(r"^\s*[%!]")
_PlaceOf = Callable[[str, int], Place | None]


def is_python(fence: Fence) -> bool:
    return fence.language in PYTHON or (not fence.language and _IMPORTS.search(fence.code) is not None)


def code_of(fence: Fence) -> str:
    """Code of a block with its line numbers; of a console session only the input."""
    lines = fence.code.splitlines()
    if any(line.lstrip().startswith(">>>") for line in lines):
        lines = [line.lstrip()[4:] if line.lstrip().startswith((">>>", "... ")) else "" for line in lines]
    return "\n".join("" if _MAGIC.match(line) else line for line in lines)


def tree_of(code: str) -> ast.Module | None:
    """Syntax tree of an example, of its readable lines where the whole does not parse."""
    for attempt in (code, "\n".join(line for line in code.splitlines() if "..." not in line or line.startswith(" "))):
        try:
            return python_syntax.parse(attempt)
        except python_syntax.UNREADABLE:
            continue
    return None


def defined(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias) and node.asname:
            names.add(node.asname)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


class Example:
    """An example; names that earlier examples of the README bound are known here too.

    ``own`` tells whether a top-level module is the project's; ``place`` finds a word in a line (from 1) of the example.
    ``bound`` are names of the project's things, to which this example adds.
    """

    def __init__(self, tree: ast.Module, own: Callable[[str], bool], place: _PlaceOf, bound: set[str]) -> None:
        self._own = own
        self._place = place
        self._bound = bound
        self._nodes = list(ast.walk(tree))
        self._parameters = {node.arg for node in self._nodes if isinstance(node, ast.arg)}

    def claims(self) -> Iterator[Claim]:
        others: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield from self._imported_from(node, others)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._imported(alias, node.lineno, others)
        # What is made of the project's things is the project's, to the second remove.
        for _ in range(3):
            for node in self._nodes:
                self._bind(node)
        fields = set(self._fields())
        for node in self._nodes:
            if isinstance(node, ast.Attribute) and self._root(node.value) in self._bound:
                if node not in fields:
                    yield from self._attribute(node)
            elif isinstance(node, ast.Call) and self._root(node.func) in self._bound:
                for keyword in node.keywords:
                    # What a function is given to hand on is the reader's own.
                    if keyword.arg and keyword.arg not in self._parameters:
                        yield from self._claim(spelling.identifier, keyword.arg, keyword.lineno)

    def _fields(self) -> Iterator[ast.Attribute]:
        """Yield compared attributes: fields of the reader's own data, as in ``User.age > 30``."""
        for node in self._nodes:
            if isinstance(node, ast.Compare):
                for part in ast.walk(node):
                    if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                        yield part

    def _attribute(self, node: ast.Attribute) -> Iterator[Claim]:
        yield from self._claim(spelling.attribute, node.attr, node.end_lineno or node.lineno)

    def _imported(self, alias: ast.alias, line: int, others: set[str]) -> Iterator[Claim]:
        top = alias.name.split(".")[0]
        if self._own(top):
            self._bound.add(alias.asname or top)
            if "." in alias.name:
                yield from self._claim(spelling.imported, alias.name, line)
        elif not known.is_python(top):
            others.add(alias.asname or top)
            yield from self._claim(spelling.dependency, top, line)

    def _imported_from(self, node: ast.ImportFrom, others: set[str]) -> Iterator[Claim]:
        module = node.module or ""
        top = module.split(".")[0]
        if self._own(top):
            if "." in module:
                yield from self._claim(spelling.imported, module, node.lineno)
            for alias in node.names:
                self._bound.add(alias.asname or alias.name)
                if alias.name != "*":
                    yield from self._claim(spelling.imported, alias.name, alias.lineno)
        elif not known.is_python(top):
            others.update(alias.asname or alias.name for alias in node.names)
            yield from self._claim(spelling.dependency, top, node.lineno)

    def _bind(self, node: ast.AST) -> None:
        value: ast.expr | None = None
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            value, targets = node.value, node.targets
        elif isinstance(node, ast.For | ast.AsyncFor):
            value, targets = node.iter, [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            value, targets = node.context_expr, [node.optional_vars]
        if value is not None and self._makes(value):
            self._bound.update(target.id for target in targets if isinstance(target, ast.Name))

    def _makes(self, value: ast.expr) -> bool:
        while isinstance(value, ast.Await | ast.Subscript):
            value = value.value
        return isinstance(value, ast.Call | ast.Attribute) and self._root(value) in self._bound

    @staticmethod
    def _root(node: ast.expr) -> str:
        while True:
            if isinstance(node, ast.Attribute | ast.Subscript | ast.Await):
                node = node.value
            elif isinstance(node, ast.Call):
                node = node.func
            else:
                return node.id if isinstance(node, ast.Name) else ""

    def _claim(self, make: Callable[[str, Place], Claim | None], name: str, line: int) -> Iterator[Claim]:
        place = self._place(name, line)
        claim = make(name, place) if place is not None else None
        if claim is not None:
            yield claim
