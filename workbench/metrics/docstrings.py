"""DocAgent's reference-free metrics of a docstring: completeness and truthfulness.

Completeness is the share of required elements that the docstring has, all with equal weight. Summary and description
are always required; args if there are parameters besides self; returns if a value is returned or yielded; raises if the
function raises; examples if it is public.

There are two versions. ``docagent`` counts exactly like the original. ``__init__`` always scores 1.0. A label may be
anywhere in the text, but a description is a second paragraph that does not begin with a label. ``cls`` counts as a
parameter, but parameters before ``/``, ``*args`` and ``**kwargs`` do not. ``return None`` requires Returns, and any
call outside an except handler requires Raises. Decorators, defaults and inner functions belong to the function.
``strict`` requires sections in Google, NumPy or Sphinx style, and requires Raises only for a raise statement in the
function itself.

Truthfulness is the share of names mentioned as code that exist in the repository.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from workbench.base.python_syntax import UNREADABLE, parse

VERSIONS = ("docagent", "strict")
_LABELS = {
    "args": ("args:", "arguments:", "parameters:", "params:"),
    "returns": ("returns:", "return:", "return value:", "return type:", "yields:", "yield:"),
    "raises": ("raises:", "exceptions:", "throws:"),
    "examples": ("example:", "examples:", "usage:", "usage example:", "usage examples:"),
}
_SECTIONS = {
    "args": re.compile(r"^\s*(?:(?:args|arguments|parameters|params|other parameters):?\s*$|:param\b|@param\b)", re.I | re.M),
    "returns": re.compile(r"^\s*(?:(?:returns?|yields?):(?:\s|$)|(?:returns?|yields?)\s*\n\s*-{3,}|:returns?:|:rtype:|:yields?:|@return)", re.I | re.M),
    "raises": re.compile(r"^\s*(?:(?:raises|exceptions):?\s*$|:raises?\b|@raise)", re.I | re.M),
    "examples": re.compile(r"^\s*(?:(?:examples?|usage):{0,2}\s*$|>>> |\.\. code-block::)", re.I | re.M),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Completeness:
    """The elements that the code requires, and the required elements that the docstring has."""

    version: str
    required: tuple[str, ...]
    present: tuple[str, ...]

    @property
    def value(self) -> float:
        return len(self.present) / len(self.required) if self.required else 1.0


def completeness(function: str, docstring: str | None, *, version: str) -> Completeness | None:
    """Return the completeness of a function's docstring, or None if the function does not parse."""
    if version not in VERSIONS:
        raise ValueError(f"a version of completeness is one of {', '.join(VERSIONS)}")
    try:
        # Indented code is wrapped in a block, because dedenting would change multi-line strings.
        indented = function[:1] in (" ", "\t")
        node = parse("if True:\n" + function if indented else function).body[0]
    except (*UNREADABLE, IndexError):
        return None
    if indented and isinstance(node, ast.If):
        node = node.body[0]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    strict = version == "strict"
    required = tuple(_required(node) if strict else _required_by_docagent(node))
    text = textwrap.dedent(docstring or "").strip()
    return Completeness(version, required, tuple(one for one in required if _has(text, one, strict=strict)))


def _required(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    yield "summary"
    yield "description"
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None]
    if [name for name in names if name not in ("self", "cls")]:
        yield "args"
    own = list(_own_nodes(node))
    if any(
        (isinstance(one, ast.Return) and one.value is not None and not _is_none(one.value))
        or isinstance(one, ast.Yield | ast.YieldFrom)
        for one in own
    ):
        yield "returns"
    if any(isinstance(one, ast.Raise) for one in own):
        yield "raises"
    if not node.name.startswith("_"):
        yield "examples"


def _required_by_docagent(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    if node.name == "__init__":
        return
    yield "summary"
    yield "description"
    if node.args.kwonlyargs or [one for one in node.args.args if one.arg != "self"]:
        yield "args"
    if any(
        isinstance(one, ast.Yield | ast.YieldFrom) or (isinstance(one, ast.Return) and one.value is not None)
        for one in ast.walk(node)
    ):
        yield "returns"
    if any(isinstance(one, ast.Raise | ast.Call) for one in _outside_handlers(node)):
        yield "raises"
    if not node.name.startswith("_"):
        yield "examples"


def _outside_handlers(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.ExceptHandler):
            yield child
            yield from _outside_handlers(child)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield child
        yield from _own_nodes(child)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _has(text: str, element: str, *, strict: bool) -> bool:
    if element == "summary":
        return bool(text.split("\n", 1)[0].strip())
    if element == "description":
        return _has_description(text, strict=strict)
    if strict:
        return bool(_SECTIONS[element].search(text))
    return any(label in text.lower() for label in _LABELS[element])


def _has_description(text: str, *, strict: bool) -> bool:
    """Return whether there is prose after the summary: before the first section, or as the second paragraph."""
    if strict:
        rest = text.partition("\n")[2]
        starts = [found.start() for one in _SECTIONS.values() if (found := one.search(rest))]
        return bool(rest[: min(starts, default=len(rest))].strip())
    labels = tuple(label for mine in _LABELS.values() for label in mine)
    paragraphs = re.split(r"\n(?:[^\S\n]*\n)+", text)
    return len(paragraphs) > 1 and not paragraphs[1].strip().lower().startswith(labels)


_QUOTED = re.compile(r"`{1,2}~?([A-Za-z_][\w.]*)(?:\(\))?`{1,2}")
_CODE_LIKE = re.compile(
    r"\b(?:[A-Za-z_]\w*\.)*(?:[a-z]+(?:_[a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)\b|\b[A-Za-z_][\w.]*(?=\(\))"
)
_BUILTINS = frozenset(dir(builtins)) | {"self", "cls", "args", "kwargs"}


@dataclass(frozen=True, slots=True)
class Truthfulness:
    """The names that a docstring mentions, and the mentioned names that do not exist."""

    mentioned: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def value(self) -> float | None:
        """The share of mentioned names that exist, from 0 to 1, or None if no name is mentioned."""
        return 1 - len(self.missing) / len(self.mentioned) if self.mentioned else None


def truthfulness(docstring: str | None, known: Collection[str]) -> Truthfulness:
    """Return the names that a docstring mentions, and those that are not ``known`` names of the repository.

    A name is text in backquotes, followed by ``()``, or in ``snake_case`` or ``CamelCase``. A dotted name exists if its
    last part does. Python's built-in names always exist.
    """
    text = docstring or ""
    names = {found.strip(".") for found in (*_QUOTED.findall(text), *_CODE_LIKE.findall(text))}
    mentioned = tuple(sorted(name for name in names if name))
    return Truthfulness(
        mentioned,
        tuple(name for name in mentioned if (last := name.rpartition(".")[2]) not in known and last not in _BUILTINS),
    )


def names_of(source: str) -> set[str]:
    """Return every identifier in a Python source, including its comments and strings."""
    return set(re.findall(r"[A-Za-z_]\w*", source))
