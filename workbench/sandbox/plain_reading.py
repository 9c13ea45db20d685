"""The statements of a body that are more than their parts: imports, functions inside it, patterns."""

from __future__ import annotations

import ast
import string

from workbench.sandbox import harmless_modules
from workbench.sandbox.plain_calls import Calls
from workbench.sandbox.plain_context import Function
from workbench.sandbox.plain_names import Found


class Reading(Calls):
    """One reading of one function, until something is found."""

    def _visit_Compare(self, node: ast.Compare) -> None:
        for part in (node.left, *node.comparators):
            self._compared(part)

    def _visit_If(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self._tested(node.test)
        for name in ("body", "orelse"):
            part = getattr(node, name)
            self._all(part if isinstance(part, list) else [part])

    _visit_While = _visit_IfExp = _visit_If

    def _visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        self._shown(node.value)
        self._all([node.format_spec])

    def _visit_BinOp(self, node: ast.BinOp) -> None:
        self.visit(node.left)
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            self._shown(node.right)
        else:
            self.visit(node.right)

    def _visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self._compared(node.type)
        self._all(node.body)

    def _visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._all([node.target, node.value])  # in a function the annotation is never evaluated

    def _visit_FunctionDef(self, node: Function) -> None:
        if node.name.startswith("__") and node.name.endswith("__"):
            raise Found(f"it defines {node.name}")
        for annotation in _annotations(node):
            self._annotation(annotation)
        arguments = node.args
        self._all([*node.decorator_list, *arguments.defaults, *arguments.kw_defaults, *node.body])

    _visit_AsyncFunctionDef = _visit_FunctionDef

    def _visit_Lambda(self, node: ast.Lambda) -> None:
        self._all([*node.args.defaults, *node.args.kw_defaults, node.body])

    def _annotation(self, node: ast.expr) -> None:
        """Judge an annotation, which somebody may evaluate: names and what is in brackets, no calls."""
        for part in ast.walk(node):
            text = (
                isinstance(part, ast.Constant)
                and isinstance(part.value, str)
                and not set(part.value) <= _OF_ANNOTATIONS
            )
            if text or not isinstance(part, _IN_ANNOTATIONS):
                raise Found("it has an annotation that is more than a type")

    def _visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if (0, alias.name, "") not in self.context.imports and harmless_modules.public(alias.name) is None:
                raise Found(f"it imports {alias.name}")

    def _visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            if (node.level, module, alias.name) in self.context.imports and alias.name != "*":
                continue
            submodule = harmless_modules.public(f"{module}.{alias.name}") is not None
            if (
                node.level
                or not (submodule or harmless_modules.usable(module, alias.name))
                or not harmless_modules.of_standard_library(module)
            ):
                raise Found(f"it imports {alias.name} from {'.' * node.level}{module}")

    def _visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            if not self.context.binds(name) or name in self.context.modules or name.startswith("__"):
                raise Found(f"it makes {name} a name of the module")

    def _visit_MatchClass(self, node: ast.MatchClass) -> None:
        self._compared(node.cls)
        for name in node.kwd_attrs:
            self._attribute(name, None)
        self._all([*node.patterns, *node.kwd_patterns])


def _annotations(node: Function) -> list[ast.expr]:
    several = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    found = [one.annotation for one in several if one is not None and one.annotation is not None]
    return [*found, *([node.returns] if node.returns is not None else [])]


_OF_ANNOTATIONS = frozenset(string.ascii_letters + string.digits + "_.[], |")
_IN_ANNOTATIONS = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.BitOr,
    ast.Constant,
    ast.expr_context,
)
