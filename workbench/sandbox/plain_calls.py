"""The calls of a body, and what is only shown or compared: there a class may stand that nobody can call."""

from __future__ import annotations

import ast
import string

from workbench.sandbox import harmless_attributes
from workbench.sandbox.plain_context import chain, named_at, reads_only
from workbench.sandbox.plain_names import (
    COMPARED_IN,
    COPIES,
    NEVER_BY_PREFIX,
    ONLY_CALLED,
    SHOWS,
    Found,
    Names,
    parameters,
    rebinds,
)


class Calls(Names):
    """Judges calls."""

    def _visit_Call(self, node: ast.Call) -> None:
        called = node.func
        if isinstance(called, ast.Name) and called.id not in self.local and called.id not in self.inner:
            special = getattr(self, f"_call_{called.id}", None) if called.id in ONLY_CALLED | COMPARED_IN else None
            if special is not None and not self.context.binds(called.id):
                if any(isinstance(part, ast.Starred) for part in node.args) or any(
                    word.arg is None for word in node.keywords
                ):
                    raise Found(f"it calls {called.id} with arguments that are not written there")
                special(node)
                return
            if called.id in SHOWS:
                self._name(called.id)
                for part in [*node.args, *(word.value for word in node.keywords)]:
                    self._shown(part)
                return
        last = chain(called).rpartition(".")[2]
        if last in COPIES:
            if (
                len(node.args) != COPIES[last]
                or node.keywords
                or any(isinstance(part, ast.Starred) for part in node.args)
            ):
                raise Found(f"it calls {last} with names of attributes")
            self._wraps = called
        if isinstance(called, ast.Attribute) and self._call_attribute(node, called):
            return
        if not self._makes_another(node):
            self.visit(called)
        self._all([*node.args, *node.keywords])

    def _call_attribute(self, node: ast.Call, called: ast.Attribute) -> bool:
        """Judge calls of attributes whose arguments matter; False where the call is like any other."""
        if called.attr in ("format", "format_map"):
            if isinstance(called.value, ast.Constant):
                for _, name, wanted, _ in _fields(called.value.value):
                    self._field(name)
                    for _, inner, _, _ in _fields(wanted):
                        self._field(inner)
            elif not self._is_given(called.value):
                raise Found("it formats a text that is not written there")
        elif called.attr in harmless_attributes.OPENS:
            if not self.opens or not reads_only(node, 0):
                raise Found("it opens a file")
            if (
                isinstance(called.value, ast.Name)
                and called.value.id in self.context.modules.keys() | self.own.modules.keys()
            ):
                raise Found("it opens a file")
        else:
            # Into another object it would set attributes of any name.
            if called.attr.startswith("parse_") and (
                len(node.args) > 1 or any(word.arg == "namespace" for word in node.keywords)
            ):
                raise Found(f"it calls {called.attr} with another object to fill")
            # A path may replace any file by another; texts and dates are given two arguments, or names.
            if called.attr == "replace" and len(node.args) == 1 and not node.keywords:
                raise Found("it replaces a file")
            return False
        self.visit(called.value)
        for part in [*node.args, *(word.value for word in node.keywords)]:
            if isinstance(called.value, ast.Constant) and not isinstance(part, ast.Starred):
                self._shown(part)
            else:
                self.visit(part)
        return True

    def _is_given(self, node: ast.AST) -> bool:
        """Return whether an expression is as the caller gave it: a parameter or an attribute of one, neither ever set."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self.place is None:
            return False
        function, names = self.node, {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        if root.id not in parameters(function.args) or rebinds(function, root.id):
            return False
        for part in (part for statement in function.body for part in ast.walk(statement)):
            if isinstance(part, ast.Attribute) and (
                part.attr == function.name or (part.attr in names and not isinstance(part.ctx, ast.Load))
            ):
                return False
            if isinstance(part, ast.Name) and part.id in (function.name, "setattr"):
                return False  # it calls itself, perhaps with another text
        return True

    def _field(self, name: str | None) -> None:
        for part in (name or "").replace("[", ".[").split(".")[1:]:
            if not part.startswith("["):
                self._attribute(part, None)

    def _makes_another(self, node: ast.Call) -> bool:
        """Return whether ``type(self)(…)`` or ``self.__class__(…)`` is called; three arguments might make a class."""
        if not self._is_class_of_self(node.func):
            return False
        if len(node.args) > 2 or any(isinstance(part, ast.Starred) for part in node.args):
            raise Found("it may make a class")
        return True

    def _is_class_of_self(self, node: ast.AST) -> bool:
        return bool(self.self_name) and self._class_of(node) == self.self_name

    def _class_of(self, node: ast.AST) -> str:
        """Return the name of which an expression is the class; empty for any other expression."""
        subject: ast.AST | None = None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "type"
            and self._is_builtin("type")
        ):
            subject = node.args[0] if len(node.args) == 1 and not node.keywords else None
        elif isinstance(node, ast.Attribute) and node.attr == "__class__":
            subject = node.value
        return subject.id if isinstance(subject, ast.Name) else ""

    def _is_builtin(self, name: str) -> bool:
        return name not in self.local and name not in self.inner and not self.context.binds(name)

    def _shown(self, node: ast.expr) -> None:
        """Judge an expression that is only shown or compared: there a class may stand, of whatever it is the class."""
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "type"
            and self._is_builtin("type")
        ):
            if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
                self._shown(node.args[0])
                return
        elif isinstance(node, ast.Attribute) and node.attr == "__class__":
            self._shown(node.value)
            return
        elif isinstance(node, ast.Name) and node.id == "type" and self._is_builtin("type"):
            return
        elif isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                self._shown(part)
            return
        self.visit(node)

    def _compared(self, node: ast.expr) -> None:
        """Judge a class with which something is compared: nothing comes of it but yes or no."""
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
            raise Found("it calls isinstance with other arguments than it has")
        self._shown(node.args[0])
        self._compared(node.args[1])

    _call_issubclass = _call_isinstance

    def _call_type(self, node: ast.Call) -> None:
        raise Found("it uses a class that it found by type()")

    def _call_super(self, node: ast.Call) -> None:
        for part in node.args:
            if not isinstance(part, ast.Name):
                raise Found("it calls super with a class that it found")
            if part.id not in self.context.defined:
                self._name(part.id)

    def _call_locals(self, node: ast.Call) -> None: ...

    def _call_vars(self, node: ast.Call) -> None:
        if not (len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id == self.self_name):
            raise Found("it uses vars")

    def _call_open(self, node: ast.Call) -> None:
        if not self.opens or not reads_only(node, 1):
            raise Found("it opens a file")
        self._all([*node.args, *node.keywords])

    def _call_getattr(self, node: ast.Call, *, stored: bool = False) -> None:
        if not named_at(node):
            raise Found("it uses an attribute by a name that it computes")
        subject, name = node.args[0], node.args[1]
        if isinstance(name, ast.Constant):
            self._visit_Attribute(ast.Attribute(subject, str(name.value), ast.Store() if stored else ast.Load()))
        else:
            first = next(
                part.value for part in ast.walk(name) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )
            if any(known.startswith(first) for known in (*NEVER_BY_PREFIX, *self.context.gadgets)):
                raise Found("it uses an attribute by a name that it computes")
            self.visit(subject)
        self._all([*node.args[1:], *node.keywords])

    def _call_setattr(self, node: ast.Call) -> None:
        if not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant)):
            raise Found("it sets an attribute by a name that it computes")
        self._call_getattr(node, stored=True)

    _call_delattr = _call_setattr


def _fields(text: object) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(text)) if isinstance(text, str) else []
    except ValueError:
        return []
