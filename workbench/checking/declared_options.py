"""Command line options and their defaults as source code declares them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """An option; its default is a Python literal, "" where it is anything else."""

    names: tuple[str, ...]
    default: str


def _constants(tree: ast.Module) -> dict[str, ast.expr | None]:
    found: dict[str, ast.expr | None] = {}
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign):
                found[target.id] = None if target.id in found else node.value
    return found


def options_of(tree: ast.Module) -> Iterator[Option]:
    """Yield the options of a module. A spelling that turns a switch off has no default."""
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
        said = "False" if default is None and _is_switch(node) else ""
        if isinstance(default, ast.Name):
            default = constants.get(default.id)
        if default is not None:
            said = literal_of(default)
        negative = tuple(name for name in names if said in ("True", "False") and _turns_off(name, texts))
        for spellings, value in ((tuple(one for one in names if one not in negative), said), (negative, "")):
            if spellings:
                yield Option(spellings, value)


def literal_of(node: ast.expr) -> str:
    """``repr`` of a literal expression; "" for others and for an ellipsis."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ""
    return "" if value is Ellipsis else repr(value)


def _is_switch(node: ast.Call) -> bool:
    return any(
        isinstance(one.value, ast.Constant)
        and (one.arg, one.value.value) in (("action", "store_true"), ("is_flag", True))
        for one in node.keywords
    )


def _turns_off(name: str, texts: list[str]) -> bool:
    """Whether a spelling negates a switch: ``--no-color``, or the second of ``--color/--plain``."""
    return name.startswith("--no-") or any(name in text.split("/")[1:] for text in texts)
