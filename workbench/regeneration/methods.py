"""Lift new methods and class attributes that a method uses out of its class, so that they can go into its body."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.base import python_syntax
from workbench.regeneration.names import FUNCTIONS, names_of, parameters
from workbench.repository.functions import Function
from workbench.repository.indentation import dedent
from workbench.repository.lines import split_lines


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replacement within one line; columns are bytes."""

    line: int
    start: int
    end: int
    text: str


def lift_siblings(text: str, tree: ast.Module, line: int, function: Function, source: bytes) -> str:
    """Return module code where the siblings that the method at ``line`` uses, and the file's class lacks, are global.

    ``self.half(x)`` becomes ``half(self, x)``, and ``half`` a function behind the class. No line is moved.
    """
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    around = next((one for one in classes if any(each.lineno == line for each in one.body)), None)
    if around is None:
        return text
    target = next(one for one in around.body if one.lineno == line)
    known = _names_in_class(source, function.qualified_name.rpartition(".")[0]) | {function.name}
    siblings = {
        name: one
        for one in around.body
        for name in names_of([one]).bound
        if name not in known and isinstance(one, (*FUNCTIONS, ast.Assign, ast.AnnAssign))
    }
    edits: list[_Edit] = []
    due: list[ast.stmt] = [target]
    taken: list[ast.stmt] = []
    while due:
        one = due.pop()
        for name, edit in _references(one, around.name, siblings, split_lines(text)):
            edits.append(edit)
            if siblings[name] not in taken:
                taken.append(siblings[name])
                due.append(siblings[name])
    if not taken:
        return text
    lines = [piece.encode() for piece in split_lines(text)]
    for edit in sorted(edits, key=lambda one: (one.line, one.start), reverse=True):
        piece = lines[edit.line - 1]
        lines[edit.line - 1] = piece[: edit.start] + edit.text.encode() + piece[edit.end :]
    edited = [piece.decode() for piece in lines]
    moved = []
    for one in sorted(taken, key=lambda one: one.lineno):
        kept = [each for each in getattr(one, "decorator_list", ()) if _form(each) == ""]
        parts = ["".join(edited[each.lineno - 1 : each.end_lineno]) for each in kept]
        moved.append(dedent("".join([*parts, *edited[one.lineno - 1 : one.end_lineno]])))
    return "".join(edited).rstrip() + "\n" + "\n".join(piece.rstrip() for piece in moved) + "\n"


def _names_in_class(source: bytes, qualified_name: str) -> set[str]:
    try:
        body = python_syntax.parse(source).body
    except python_syntax.UNREADABLE:
        return set()
    for part in qualified_name.replace(".<locals>", "").split("."):
        body = next((one.body for one in body if isinstance(one, (*FUNCTIONS, ast.ClassDef)) and one.name == part), [])
    return names_of(body).bound


def _form(decorator: ast.expr) -> str:
    return decorator.id if isinstance(decorator, ast.Name) and decorator.id in _FORMS else ""


_FORMS = {"staticmethod", "classmethod", "property"}


def _references(
    user: ast.stmt, class_name: str, siblings: Mapping[str, ast.stmt], lines: list[str]
) -> list[tuple[str, _Edit]]:
    """Return the siblings that a method refers to through its first parameter or the class, with each edit."""
    receivers = {class_name}
    if isinstance(user, FUNCTIONS) and not any(_form(one) == "staticmethod" for one in user.decorator_list):
        receivers.update(parameters(user.args)[:1])
    called = {id(one.func): one for one in ast.walk(user) if isinstance(one, ast.Call)}
    found = []
    for one in ast.walk(user):
        if not (isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id in receivers):
            continue
        sibling = siblings.get(one.attr)
        if sibling is None or not isinstance(one.ctx, ast.Load) or one.lineno != one.end_lineno:
            continue
        call = called.get(id(one))
        first = _first_argument(sibling, one.value.id, class_name)
        start, end, text = one.col_offset, one.end_col_offset or one.col_offset, one.attr
        if first and _is_property(sibling):
            text = f"{one.attr}({first})"
        elif first and call is not None:
            place = lines[one.lineno - 1].encode().find(b"(", end)
            if place < 0:
                continue
            text, end = f"{one.attr}({first}{', ' if call.args or call.keywords else ''}", place + 1
        elif first:
            text = f"(lambda *a, **k: {one.attr}({first}, *a, **k))"
        found.append((one.attr, _Edit(one.lineno, start, end, text)))
    return found


def _is_property(sibling: ast.stmt) -> bool:
    return any(_form(one) == "property" for one in getattr(sibling, "decorator_list", ()))


def _first_argument(sibling: ast.stmt, receiver: str, class_name: str) -> str:
    """Return the first argument of a sibling that is called through ``receiver``; "" for none."""
    if not isinstance(sibling, FUNCTIONS):
        return ""
    forms = {_form(one) for one in sibling.decorator_list}
    if "staticmethod" in forms:
        return ""
    if "classmethod" in forms:
        return receiver if receiver in (class_name, "cls") else f"type({receiver})"
    return "" if receiver == class_name else receiver
