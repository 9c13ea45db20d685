"""Visit the nodes of a body that need special treatment: calls, comparisons, imports, patterns."""

from __future__ import annotations

import ast
import string

from workbench.base import python_syntax
from workbench.sandbox.safety import allowed
from workbench.sandbox.safety.allowed import Function, chain
from workbench.sandbox.safety.name_visitor import ONLY_WITH, NameVisitor, UnsafeConstruct

SHOWS = frozenset({"str", "repr", "print", "format", "id", "hash", "len", "bool"})
#: Functions that are checked together with their arguments.
JUDGED = frozenset({"isinstance", "issubclass", "hasattr"})
ONLY_CALLED = frozenset({"getattr", "setattr", "delattr", "open", "type", "vars", "super", "locals"})


class BodyVisitor(NameVisitor):
    """Visits one function and raises UnsafeConstruct at the first construct outside the safe subset."""

    def visit(self, node: ast.AST) -> None:
        method = getattr(self, f"_visit_{type(node).__name__}", None)
        if method is not None:
            method(node)
        elif isinstance(node, _ALLOWED_NODES):
            for child in ast.iter_child_nodes(node):
                self.visit(child)
        else:
            raise UnsafeConstruct(f"it uses the construct {type(node).__name__}")

    def _visit_Constant(self, node: ast.Constant) -> None: ...

    def _visit_Load(self, node: ast.AST) -> None: ...

    _visit_Store = _visit_Del = _visit_Load

    # -- calls

    def _visit_Call(self, node: ast.Call) -> None:
        called = node.func
        starred = any(isinstance(part, ast.Starred) for part in node.args)
        if isinstance(called, ast.Name) and called.id not in self.local and called.id not in self.inner:
            special = getattr(self, f"_call_{called.id}") if called.id in ONLY_CALLED | JUDGED else None
            if special is not None and not self.context.binds(called.id):
                if starred or any(word.arg is None for word in node.keywords):
                    raise UnsafeConstruct(f"it calls {called.id} with arguments that are not literal")
                special(node)
                return
            if called.id in SHOWS:
                self._name(called.id)
                for part in [*node.args, *(word.value for word in node.keywords)]:
                    self._shown(part)
                return
        last = chain(called).rpartition(".")[2]
        base = called.value if isinstance(called, ast.Attribute) else called
        if last in ONLY_WITH and (base is called or self._is_module(base)):
            if len(node.args) != ONLY_WITH[last] or node.keywords or starred:
                raise UnsafeConstruct(f"it calls {last} with further arguments")
            self._called = called
        if isinstance(called, ast.Attribute) and self._call_attribute(node, called):
            return
        self._all([called, *node.args, *node.keywords])

    def _tested(self, node: ast.expr) -> None:
        """Visit an expression that is only tested for truth, where a module is allowed."""
        if isinstance(node, ast.BoolOp):
            for part in node.values:
                self._tested(part)
        elif isinstance(node, ast.UnaryOp):
            self._tested(node.operand)
        elif not self._is_module(node) or (isinstance(node, ast.Name) and node.id in self.local | self.inner):
            self.visit(node)

    def _call_hasattr(self, node: ast.Call) -> None:
        for part in node.args[:1]:
            self._tested(part)
        self._all([*node.args[1:], *node.keywords])

    def _is_module(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.context.modules.keys() | self.own.modules.keys()

    def _call_attribute(self, node: ast.Call, called: ast.Attribute) -> bool:
        if called.attr not in allowed.FORMATS:
            if called.attr in allowed.OPENS:
                self.opens = True
                self._called = called
            # It would set arbitrary attributes on another object.
            filled = len(node.args) > 1 or any(word.arg == "namespace" for word in node.keywords)
            if called.attr.startswith("parse_") and filled:
                raise UnsafeConstruct(f"it calls {called.attr} on another object, which that would change")
            return False
        if isinstance(called.value, ast.Constant):
            for _, name, wanted, _ in _fields(called.value.value):
                self._field(name)
                for _, inner, _, _ in _fields(wanted):
                    self._field(inner)
        else:
            self._check(called.value, "template", "it formats a text that is not literal")
        self.visit(called.value)
        for part in [*node.args, *(word.value for word in node.keywords)]:
            if isinstance(called.value, ast.Constant) and not isinstance(part, ast.Starred):
                self._shown(part)
            else:
                self.visit(part)
        return True

    def _field(self, name: str | None) -> None:
        for part in (name or "").replace("[", ".[").split(".")[1:]:
            if not part.startswith("["):
                self._attribute(part, None)

    def _is_builtin(self, name: str) -> bool:
        return name not in self.local and name not in self.inner and not self.context.binds(name)

    def _shown(self, node: ast.expr) -> None:
        match node:
            case ast.Call(func=ast.Name(id="type"), args=[ast.Starred()]):
                self.visit(node)
            case ast.Call(func=ast.Name(id="type"), args=[part], keywords=[]) if self._is_builtin("type"):
                self._shown(part)
            case ast.Attribute(attr="__class__", value=value):
                self._shown(value)
            case ast.Name(id="type") if self._is_builtin("type"):
                pass
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._shown(part)
            case _:
                self.visit(node)

    def _compared(self, node: ast.expr) -> None:
        """Visit a class in a comparison, which can only yield True or False."""
        if isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                self._compared(part)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            self._compared(node.left)
            self._compared(node.right)
        elif not (text := chain(node)) or any(part.startswith("__") for part in text.split(".")):
            self._shown(node)

    def _call_isinstance(self, node: ast.Call) -> None:
        if len(node.args) != 2 or node.keywords:
            raise UnsafeConstruct("it calls isinstance with unexpected arguments")
        self._shown(node.args[0])
        self._compared(node.args[1])

    _call_issubclass = _call_isinstance

    def _call_type(self, node: ast.Call) -> None:
        if len(node.args) != 1 or node.keywords:
            raise UnsafeConstruct("it makes a class")
        self._shown(node.args[0])
        self._check(node, "value", "it uses a class that it obtained with type()")

    def _call_super(self, node: ast.Call) -> None:
        for part in node.args:
            if not isinstance(part, ast.Name):
                raise UnsafeConstruct("it calls super with a computed class")
            if part.id not in self.context.defined:
                self._name(part.id)

    def _call_locals(self, node: ast.Call) -> None: ...

    def _call_vars(self, node: ast.Call) -> None:
        if len(node.args) != 1 or node.keywords:
            raise UnsafeConstruct("it uses vars")
        if not (isinstance(node.args[0], ast.Name) and node.args[0].id == self.self_name):
            self._check(node.func, "namespace", "it uses vars")
        self._all(node.args)

    def _call_open(self, node: ast.Call) -> None:
        self.opens = True
        self._all([*node.args, *node.keywords])

    def _call_getattr(self, node: ast.Call) -> None:
        """Check ``getattr`` and similar calls: a literal name like an attribute, a computed name at run time."""
        check = {"getattr": "get", "setattr": "set", "delattr": "delete"}[node.func.id]  # type: ignore[attr-defined]
        name = node.args[1] if len(node.args) > 1 else None
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            what = "uses" if check == "get" else "sets"
            self._check(node.func, check, f"it {what} an attribute by a computed name")
            self._all(node.args[:1])
        else:
            before = len(self.checks)
            context = ast.Load() if check == "get" else ast.Store()
            self._visit_Attribute(ast.Attribute(node.args[0], name.value, context))
            if len(self.checks) > before:
                self._check(node.func, check, self.doubt)
        self._all([*node.args[1:], *node.keywords])

    _call_setattr = _call_delattr = _call_getattr

    # -- statements

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
        self._all([node.target, node.value])  # Annotations in a function are never evaluated.

    def _visit_FunctionDef(self, node: Function) -> None:
        if node.name.startswith("__") and node.name.endswith("__"):
            raise UnsafeConstruct(f"it defines {node.name}")
        for annotation in (*(one.annotation for one in python_syntax.arguments_of(node.args)), node.returns):
            if annotation is not None:
                self._annotation(annotation)
        self._all([*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *node.body])

    _visit_AsyncFunctionDef = _visit_FunctionDef

    def _visit_Lambda(self, node: ast.Lambda) -> None:
        self._all([*node.args.defaults, *node.args.kw_defaults, node.body])

    def _annotation(self, node: ast.expr) -> None:
        """Check an annotation, which may be evaluated: names and subscripts are allowed, calls are not."""
        for part in ast.walk(node):
            text = part.value if isinstance(part, ast.Constant) else ""
            if (isinstance(text, str) and not set(text) <= _OF_ANNOTATIONS) or not isinstance(part, _IN_ANNOTATIONS):
                raise UnsafeConstruct("it has an annotation that is more than a type")

    def _visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if (0, alias.name, "") not in self.context.imports and allowed.public(alias.name) is None:
                raise UnsafeConstruct(f"it imports {alias.name}")

    def _visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            if (node.level, module, alias.name) in self.context.imports and alias.name != "*":
                continue
            known = allowed.public(f"{module}.{alias.name}") is not None or allowed.usable(module, alias.name)
            if node.level or not known or not allowed.of_standard_library(module):
                raise UnsafeConstruct(f"it imports {alias.name} from {'.' * node.level}{module}")

    def _visit_Global(self, node: ast.Global) -> None:
        for name in node.names:
            if not self.context.binds(name) or name in self.context.modules or name.startswith("__"):
                raise UnsafeConstruct(f"it declares {name} as a global name of the module")

    def _visit_MatchClass(self, node: ast.MatchClass) -> None:
        self._compared(node.cls)
        for name in node.kwd_attrs:
            self._attribute(name, None)
        self._all([*node.patterns, *node.kwd_patterns])


def _fields(text: object) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(text)) if isinstance(text, str) else []
    except ValueError:
        return []


#: Nodes that are safe if their children are safe.
_ALLOWED_NODES = (
    ast.Return, ast.Delete, ast.Assign, ast.AugAssign, ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Raise,
    ast.Try, ast.TryStar, ast.Assert, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Nonlocal, ast.BoolOp, ast.NamedExpr,
    ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.Yield,
    ast.YieldFrom, ast.JoinedStr, ast.Subscript, ast.Starred, ast.List, ast.Tuple, ast.Slice, ast.comprehension, ast.keyword, ast.withitem, ast.Match,
    ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchMapping, ast.MatchStar, ast.MatchAs, ast.MatchOr,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip

_OF_ANNOTATIONS = frozenset(string.ascii_letters + string.digits + "_.[], |")
_IN_ANNOTATIONS = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.Constant, ast.expr_context,
)  # fmt: skip
