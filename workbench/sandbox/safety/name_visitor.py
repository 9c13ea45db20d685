"""Check the names and attributes of a body: whether it may use them, in the context of its file."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from workbench.sandbox.safety import allowed
from workbench.sandbox.safety.allowed import FUNCTIONS, FileContext, Function, FunctionPlace, chain

NAME_OF_A_CLASS = frozenset({"__name__", "__qualname__", "__module__", "__doc__"})
#: The only number of arguments with which each may be called; with more, they copy attributes of any name or run text.
ONLY_WITH = {"wraps": 1, "update_wrapper": 2, "signature": 1}
NAMES = frozenset({"__name__", "__file__", "__doc__", "__debug__"})
ALL_BUILTINS = frozenset(vars(builtins))


class UnsafeConstruct(Exception):
    """A construct is not on the allowlist; the message names it."""


class NameVisitor:
    """A single pass over a function, which ends at the first unsafe construct."""

    def __init__(
        self, context: FileContext, place: FunctionPlace | None, node: ast.AST, values: dict[str, str]
    ) -> None:
        self.context = context
        self.place = place
        self.node = node
        self.values = values
        self.local: set[str] = set()  # names bound anywhere in the body
        self.inner: set[str] = set()  # names bound only in nested functions and comprehensions
        self.own = FileContext([], "")  # modules and names that the body itself imports
        self.self_name = ""
        self.opens = False
        self.own_stored: set[str] = set()  # attributes that the body sets on its own object
        self._called: ast.AST | None = None
        self.checks: dict[ast.AST, str] = {}  # nodes to check at run time, each with the `Reach` method to use
        self.doubt = ""  # the reason for the first run-time check
        self.whole = False  # whether functions of the file need checks as well

    def read(self) -> None:
        node, place = self.node, self.place
        assert place is not None
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for outer in place.around:
            self._bind(outer, self.local)
            self.local.update(allowed.parameters(outer.args))
        declared: set[str] = set()
        self.local.update(allowed.parameters(node.args))
        self._bind(node, self.local, declared)
        self.local -= declared
        first = [*node.args.posonlyargs, *node.args.args][:1]
        if place.method and first and not rebinds(node, first[0].arg):
            self.self_name = first[0].arg
            named = (
                one for one in ast.walk(node) if isinstance(one, ast.Attribute) and chain(one.value) == self.self_name
            )
            self.own_stored = {one.attr for one in named if isinstance(one.ctx, ast.Store)}
        self._all(node.body)

    def read_value(self) -> None:
        """Visit an expression at module level. Raises :class:`UnsafeConstruct`."""
        self._bind(self.node, self.inner)
        self.visit(self.node)

    def _check(self, node: ast.AST, check: str, doubt: str) -> None:
        """Schedule a run-time check of a node; module-level code is only checked statically."""
        if self.place is None:
            raise UnsafeConstruct(doubt)
        self.checks[node] = check
        self.doubt = self.doubt or doubt

    def _check_dynamic_access(self, name: str, doubt: str) -> None:
        """Schedule run-time checks inside a function of the file that has dynamic access."""
        if self.place is None or name in self.context.strong:
            raise UnsafeConstruct(doubt)
        self.whole = True
        self.doubt = self.doubt or doubt

    def visit(self, node: ast.AST) -> None:
        raise NotImplementedError

    def _shown(self, node: ast.expr) -> None:
        """Visit an expression that is only displayed or compared, where any class is allowed."""
        raise NotImplementedError

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _bind(self, scope: ast.AST, names: set[str], declared: set[str] | None = None) -> None:
        """Collect the names that a function binds: ``names`` in its own scope, ``self.inner`` in nested scopes."""
        pending: list[tuple[ast.AST, set[str]]] = [(child, names) for child in ast.iter_child_nodes(scope)]
        while pending:
            node, into = pending.pop()
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    into.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                into.add(node.name)
                into = self.inner
            elif isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                into = self.inner
            elif isinstance(node, ast.arg):
                if into is self.inner:
                    into.add(node.arg)
            elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)):
                if name := node.rest if isinstance(node, ast.MatchMapping) else node.name:
                    into.add(name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                allowed.add_import(self.own, node)
            elif isinstance(node, ast.Global) and declared is not None:
                declared.update(node.names)
            pending += [(child, into) for child in ast.iter_child_nodes(node)]

    def _name(self, name: str) -> None:
        context = self.context
        for imports in (self.own, context):
            if name in imports.modules and (imports is self.own or name not in self.local):
                raise UnsafeConstruct(f"it uses the module {name} as a value")
            if name in imports.imported and (imports is self.own or name not in self.local):
                self._imported(name, imports.imported[name], name)
                if imports is context:
                    self._bound(name)
                return
        if name in self.local:
            return
        if context.binds(name):
            self._bound(name)
        elif name in ALL_BUILTINS or (name.startswith("__") and name.endswith("__")):
            if name not in allowed.BUILTINS and name not in NAMES:
                raise UnsafeConstruct(f"it uses {name}")
        elif name not in self.inner:  # Using an unbound name only raises an exception.
            for module in context.stars:
                if not (
                    allowed.usable(module, name) if allowed.of_standard_library(module) else allowed.is_foreign(module)
                ):
                    raise UnsafeConstruct(f"it uses {name}, perhaps of {module}")

    def _bound(self, name: str) -> None:
        context = self.context
        if name in context.makers:
            raise UnsafeConstruct(f"it uses {name}, which creates classes")
        if name in context.gadgets and not self._is_own(name):
            self._check_dynamic_access(name, f"it uses {name}, which runs text as code")
        if name in context.values:
            self._value(name)

    def _is_own(self, name: str) -> bool:
        return self.place is not None and self.place.node.name == name

    def _value(self, name: str) -> None:
        if name not in self.values:
            self.values[name] = ""
            try:
                for value in self.context.values[name]:
                    type(self)(self.context, None, value, self.values).read_value()
            except UnsafeConstruct as found:
                self.values[name] = f"it uses {name}: {found}"
        if self.values[name]:
            raise UnsafeConstruct(self.values[name])

    def _imported(
        self, name: str, origins: Iterable[tuple[str, str]], text: str, nodes: Iterable[ast.AST] = ()
    ) -> None:
        """Check a name imported from a module and used as the dotted name ``text`` with the attributes ``nodes``."""
        for module, there in origins:
            if allowed.of_standard_library(module):
                if not allowed.usable(module, there):
                    raise UnsafeConstruct(f"it uses {there} of {module}")
            elif not allowed.is_foreign(module):
                raise UnsafeConstruct(f"it uses {module}")
            elif text != name and text not in self.context.chains and not name[:1].isupper():
                for node in nodes:
                    self._check(node, "value", f"it uses {text}, which the file does not use")

    def _module(self, modules: Iterable[str], parts: list[str]) -> int:
        longest = 0
        for module in modules:
            used = 0
            if not allowed.is_foreign(module):
                known = module
                while used + 1 < len(parts) and allowed.public(f"{known}.{parts[used]}") is not None:
                    known, used = f"{known}.{parts[used]}", used + 1
                if not allowed.usable(known, parts[used]):
                    raise UnsafeConstruct(f"it uses {known}.{parts[used]}")
                used += 1
            else:
                while used < len(parts) and not parts[used].startswith("_"):
                    used += 1
            longest = max(longest, used)
        return longest

    def _attribute(self, name: str, node: ast.Attribute | None, *, stored: bool = False) -> None:
        """Check an attribute of a value other than a module; ``node`` is None if it is not part of an expression."""
        context, base = self.context, node.value if node is not None else None
        own = isinstance(base, ast.Name) and base.id == self.self_name
        if name.startswith("__") and name.endswith("__"):
            if stored and name not in context.private and name != "__doc__":
                raise UnsafeConstruct(f"it sets {name}")
            if name in allowed.DESCRIPTIVE or name in allowed.OPERATORS or name in context.private:
                return
            if name in allowed.MAKERS and base is not None and self._of_class(base):
                return
            if name in ("__class__", "__dict__") and node is not None:
                if not own:
                    self._check(node, "namespace" if name == "__dict__" else "value", f"it uses the attribute {name}")
                return
            if stored or node is None or name in allowed.SPECIAL:
                raise UnsafeConstruct(f"it uses the attribute {name}")
            self._check(node, "value", f"it uses the attribute {name}, which the file does not mention")
            return
        if name in allowed.INSIDES:
            raise UnsafeConstruct(f"it uses the attribute {name}")
        if name in context.gadgets and not self._is_own(name):
            doubt = f"it uses the attribute {name}, which runs text as code"
            self._doubted(node, "called" if name in context.strong else "own", doubt)
            self.whole |= name not in context.strong
        elif name.startswith("_"):
            if name not in context.private and name not in allowed.OF_TUPLES:
                self._doubted(node, "get", f"it uses the attribute {name}, which the file does not define")
        elif not (own and (stored or name in self.own_stored)):
            known = context.stored if stored else context.attributes
            if name not in known and (stored or name not in allowed.ATTRIBUTES):
                doubt = f"it {'sets' if stored else 'uses'} the attribute {name}, which the file does not mention"
                self._doubted(node, "get", doubt)

    def _doubted(self, node: ast.Attribute | None, check: str, doubt: str) -> None:
        """Schedule a run-time check of an attribute, unless it has no expression or a mangled name."""
        if node is None or node.attr.startswith("__"):
            raise UnsafeConstruct(doubt)
        self._check(node, check if isinstance(node.ctx, ast.Load) else "target", doubt)

    def _of_class(self, base: ast.expr) -> bool:
        if isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super":
            return True
        return isinstance(base, ast.Name) and (base.id in self.context.defined or base.id in allowed.BUILTINS)

    def _visit_Name(self, node: ast.Name) -> None:
        if node.id in ONLY_WITH and node.id not in self.local and node is not self._called:
            raise UnsafeConstruct(f"it uses {node.id} without calling it")
        if isinstance(node.ctx, ast.Load):
            self._name(node.id)
        elif node.id.startswith("__") and node.id.endswith("__") and node.id.strip("_") not in ("", "tracebackhide"):
            raise UnsafeConstruct(f"it binds {node.id}")

    def _visit_Attribute(self, node: ast.Attribute) -> None:
        nodes: list[ast.Attribute] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            nodes.insert(0, base)
            base = base.value
        stored = not isinstance(node.ctx, ast.Load)
        names = [part.attr for part in nodes]
        done = self._root(base, nodes, stored)
        for place, part in enumerate(nodes[done:], done):
            if part.attr == "__class__" and names[place + 1 : place + 2] and names[place + 1] in NAME_OF_A_CLASS:
                continue
            self._attribute(part.attr, part, stored=stored and part is node)
        if done and names[-1] in ONLY_WITH and node is not self._called:
            raise UnsafeConstruct(f"it uses {names[-1]} without calling it")
        if names[-1] in allowed.OPENS.union(allowed.FORMATS) and done < len(nodes) and node is not self._called:
            raise UnsafeConstruct(f"it uses the attribute {names[-1]} without calling it")
        if names[-1] == "__class__":
            self._check(node, "value", "it uses a class that it obtained with __class__")

    def _root(self, base: ast.expr, nodes: list[ast.Attribute], stored: bool) -> int:
        names = [node.attr for node in nodes]
        if not isinstance(base, ast.Name):
            if names[0] in NAME_OF_A_CLASS:
                self._shown(base)
            else:
                self.visit(base)
            return 0
        name = base.id
        for imports in (self.own, self.context):
            if imports is self.context and name in self.local:
                break
            text = ".".join([name, *names])
            if name in imports.modules:
                modules = imports.modules[name]
                if stored:
                    raise UnsafeConstruct(f"it sets {text}")
                used = self._module(modules, names)
                # From another package, only names used by the file itself are allowed; others may be modules or lead to
                # one.
                if any(map(allowed.is_foreign, modules)) and text not in self.context.chains:
                    for node in nodes[:used]:
                        self._check(node, "value", f"it uses {text}, which the file does not use")
                if imports is self.context and name in self.context.values:
                    self._value(name)
                return used
            if name in imports.imported:
                origins = imports.imported[name]
                self._imported(
                    name, origins, text if any(allowed.is_foreign(module) for module, _ in origins) else name, nodes
                )
                if imports is self.context:
                    self._bound(name)
                return 0
        self._name(name)
        return 0


def rebinds(node: Function, name: str) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load):
            return True
        if isinstance(part, (*FUNCTIONS, ast.Lambda)) and part is not node and name in allowed.parameters(part.args):
            return True
        if isinstance(part, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and part.name == name:
            return True
        if isinstance(part, ast.alias) and (part.asname or part.name) == name:
            return True
    return False
