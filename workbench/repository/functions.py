"""Find every function of a Python file with tree-sitter, including the byte spans that splicing and prompts need.

A function is identified by (path, qualified name, occurrence), because lines move and a name can be defined several
times (``@overload``, property setters, conditional definitions). Qualified names equal Python's own ``__qualname__``,
including ``<locals>``, so they match the names of code objects at run time.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.base import python_syntax
from workbench.repository.lines import ascii_shadow, decode, source_encoding

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query


Kind = Literal["function", "method", "nested"]

_QUERY = """
(function_definition) @function
(class_definition) @class
(decorated_definition) @decorated
(lambda) @lambda
(yield) @yield
"""


class ByteSpan(NamedTuple):
    """The bytes from ``start`` (inclusive) to ``end`` (exclusive) of a file."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as written: ``name`` includes any stars; ``annotation`` and ``default`` are source text."""

    name: str
    annotation: str | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Documentable:
    """A definition that can have a docstring."""

    span: ByteSpan
    header: ByteSpan  # from ``async``/``def``/``class`` through the colon and a comment on its line; empty for a module
    docstring_span: ByteSpan | None
    body: ByteSpan  # the body, from the end of the docstring or header and any comment on that line
    docstring: str | None
    # whether removing the docstring requires a replacement: the body would be empty or begin with a string
    needs_something: bool
    path: str

    @property
    def id(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Function(Documentable):
    """A function definition; line numbers start at 1."""

    qualified_name: str
    occurrence: int
    kind: Kind
    is_async: bool
    is_generator: bool
    decorators: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    returns: str | None
    first_line: int  # line of the first decorator
    start_line: int  # line of ``def``
    end_line: int
    signature: str
    has_syntax_error: bool

    @property
    def id(self) -> str:
        return f"{self.path}::{self.qualified_name}" + (f"#{self.occurrence}" if self.occurrence > 1 else "")

    @property
    def name(self) -> str:
        return self.qualified_name.rpartition(".")[2]


DefinitionKind = Literal["module", "class", "function"]


class DefinitionKey(NamedTuple):
    """A definition in a file: kind, qualified name, and occurrence of that name (from 1); ``("module", "", 1)``."""

    kind: DefinitionKind
    qualified_name: str
    occurrence: int

    @property
    def text(self) -> str:
        """The name used in messages: ``Class.method``, ``name#2``, ``the module``."""
        name = self.qualified_name or "the module"
        return f"{name}#{self.occurrence}" if self.occurrence > 1 else name


@dataclass(frozen=True, slots=True)
class Definition(Documentable):
    """A module, class or function."""

    key: DefinitionKey

    @property
    def id(self) -> str:
        return f"{self.path}::{self.key.text}"


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A class or function in a file's outline; ``depth`` counts enclosing definitions, and lines start at 1."""

    kind: Literal["class", "function", "method", "nested"]
    name: str
    qualified_name: str
    depth: int
    start_line: int
    end_line: int
    signature: str


@dataclass(slots=True)
class _Scope:
    end: int
    kind: Literal["class", "function", "lambda"]
    qualified_name: str
    depth: int
    generator: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    node: Node
    outer: Node
    scope: _Scope
    parent: _Scope | None
    name: str


class _SourceText:
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.encoding = source_encoding(source)
        self.shadow = ascii_shadow(source, self.encoding)

    def at(self, node: Node) -> str:
        return decode(self.source[node.start_byte : node.end_byte], self.encoding)


@functools.cache
def _tools() -> tuple[Parser, Query]:
    # Loaded on first use, so that importing the package stays cheap.
    import tree_sitter
    import tree_sitter_python

    language = tree_sitter.Language(tree_sitter_python.language())
    return tree_sitter.Parser(language), tree_sitter.Query(language, _QUERY)


def find_functions(source: bytes, path: str) -> tuple[Function, ...]:
    """Return the functions of a Python file in source order.

    Syntax errors never raise an exception: everything that can be recognised is returned, and ``has_syntax_error``
    marks the definitions that contain an error.
    """
    text = _SourceText(source)
    occurrences: Counter[str] = Counter()
    functions: list[Function] = []
    for found in _walk(text, _parsed(text)):
        if found.scope.kind == "function":
            occurrences[found.scope.qualified_name] += 1
            functions.append(_function(text, found, path, occurrences[found.scope.qualified_name]))
    return tuple(functions)


def functions_by_name(source: bytes, path: str) -> dict[tuple[str, int], Function]:
    """Return the functions of a file by qualified name and occurrence."""
    return {(one.qualified_name, one.occurrence): one for one in find_functions(source, path)}


def find_definitions(source: bytes, path: str) -> tuple[Definition, ...]:
    """Return the module and its classes and functions in source order; never raises for invalid syntax."""
    text = _SourceText(source)
    root = _parsed(text)
    first = next((child for child in root.children if child.type != "comment"), None)
    # The module's empty header is located where a docstring would go, before the first statement.
    start = first.start_byte if first is not None else len(source)
    parts = _documented(text, root, ByteSpan(start, start), ByteSpan(start, len(source)))
    found = [Definition(*parts, path, DefinitionKey("module", "", 1))]
    occurrences: Counter[tuple[str, str]] = Counter()
    for one in _walk(text, root):
        kind: DefinitionKind = "class" if one.scope.kind == "class" else "function"
        occurrences[kind, one.scope.qualified_name] += 1
        key = DefinitionKey(kind, one.scope.qualified_name, occurrences[kind, one.scope.qualified_name])
        found.append(Definition(*_parts(text, one.node), path, key))
    return tuple(found)


def outline(source: bytes, path: str = "") -> tuple[OutlineItem, ...]:
    text = _SourceText(source)
    items: list[OutlineItem] = []
    for found in _walk(text, _parsed(text)):
        node, scope = found.node, found.scope
        kind = "class" if scope.kind == "class" else _kind(found.parent)
        lines = node.start_point[0] + 1, _last_line(text.shadow, node)
        signature = " ".join(decode(source[node.start_byte : _colon_end(node)], text.encoding).split())
        items.append(
            OutlineItem(kind, found.name, scope.qualified_name, scope.depth, *lines, signature.removesuffix(":"))
        )
    return tuple(items)


def syntax_tree(source: bytes) -> Node:
    return _parsed(_SourceText(source))


_Parts = tuple[ByteSpan, ByteSpan, ByteSpan | None, ByteSpan, str | None, bool]


def _parts(text: _SourceText, node: Node) -> _Parts:
    """Return the fields of :class:`Documentable`, except ``path``, for a class or function."""
    header, block = _header_span(text, node), node.child_by_field_name("body")
    end = max(header.end, _trimmed_end(text.shadow, block)) if block is not None else header.end
    return _documented(text, block, header, ByteSpan(node.start_byte, end))


def _documented(text: _SourceText, block: Node | None, header: ByteSpan, span: ByteSpan) -> _Parts:
    node, docstring = _docstring(text, block)
    if node is None or block is None:
        return span, header, None, ByteSpan(header.end, span.end), None, False
    start = _after_comment(text, block.children, node)
    later = (child for child in block.named_children if child.type != "comment" and child.start_byte >= node.end_byte)
    following = next(later, None)
    literal = following.child(0) if following is not None and following.type == "expression_statement" else None
    string_follows = literal is not None and literal.type in (
        "string",
        "concatenated_string",
        "parenthesized_expression",
    )
    # A module may be empty.
    needs = string_follows or (following is None and block.type != "module")
    body = ByteSpan(start, max(start, span.end))
    return ByteSpan(span.start, body.end), header, ByteSpan(node.start_byte, node.end_byte), body, docstring, needs


def _parsed(text: _SourceText) -> Node:
    parser, _ = _tools()
    return parser.parse(text.shadow).root_node


def _walk(text: _SourceText, root: Node) -> list[_Found]:
    """Return all definitions in source order, using one pass with a scope stack (looking up parents is quadratic)."""
    import tree_sitter

    _, query = _tools()
    captures = tree_sitter.QueryCursor(query).captures(root)
    nodes = [(node.start_byte, -node.end_byte, what, node) for what, group in captures.items() for node in group]
    # A decorated definition must precede the definition inside it; it is longer, so sorting by span is enough.
    nodes.sort(key=lambda item: (item[0], item[1]))
    stack: list[_Scope] = []
    outer_of: dict[int, Node] = {}
    found: list[_Found] = []
    for start, negative_end, what, node in nodes:
        while stack and stack[-1].end <= start:
            stack.pop()
        if what == "decorated":
            definition = node.child_by_field_name("definition")
            if definition is not None:
                outer_of[definition.id] = node
            continue
        if what == "yield":
            if stack and stack[-1].kind == "function":
                stack[-1].generator = True
            continue
        if what == "lambda":
            stack.append(_Scope(-negative_end, "lambda", "<lambda>", len(stack)))
            continue
        name_node = node.child_by_field_name("name")
        name = text.at(name_node) if name_node is not None else ""
        if not name:
            continue
        if not name.isascii():
            name = unicodedata.normalize("NFKC", name)
        parent = next((scope for scope in reversed(stack) if scope.kind != "lambda"), None)
        qualified = name
        if parent is not None:
            joint = ".<locals>." if parent.kind == "function" else "."
            qualified = f"{parent.qualified_name}{joint}{name}"
        kind: Literal["class", "function"] = "class" if what == "class" else "function"
        scope = _Scope(-negative_end, kind, qualified, parent.depth + 1 if parent else 0)
        found.append(_Found(node, outer_of.get(node.id, node), scope, parent, name))
        stack.append(scope)
    return found


def _kind(parent: _Scope | None) -> Kind:
    if parent is None:
        return "function"
    return "method" if parent.kind == "class" else "nested"


def _function(text: _SourceText, found: _Found, path: str, occurrence: int) -> Function:
    node = found.node
    parts = _parts(text, node)
    decorators = (child for child in found.outer.children if child.type == "decorator")
    returns, parameters = node.child_by_field_name("return_type"), node.child_by_field_name("parameters")
    return Function(
        *parts,
        path,
        qualified_name=found.scope.qualified_name,
        occurrence=occurrence,
        kind=_kind(found.parent),
        is_async=node.child_count > 0 and node.child(0).type == "async",
        is_generator=found.scope.generator,
        decorators=tuple(map(text.at, decorators)) if found.outer is not node else (),
        parameters=_parameters(text, parameters) if parameters is not None else (),
        returns=text.at(returns) if returns is not None else None,
        first_line=found.outer.start_point[0] + 1,
        start_line=node.start_point[0] + 1,
        end_line=_last_line(text.shadow, node),
        signature=decode(text.source[node.start_byte : _colon_end(node)], text.encoding),
        has_syntax_error=node.has_error,
    )


def _trimmed_end(shadow: bytes, node: Node) -> int:
    """Return the node's end without trailing white space; after a syntax error, blocks may include blank lines."""
    return len(shadow[node.start_byte : node.end_byte].rstrip(b" \t\f\r\n")) + node.start_byte


def _last_line(shadow: bytes, node: Node) -> int:
    end = _trimmed_end(shadow, node)
    return node.start_point[0] + 1 + shadow.count(b"\n", node.start_byte, end)


def _colon(node: Node) -> Node | None:
    colon = None
    for child in node.children:
        if child.type == ":":
            colon = child
        elif child.type == "block":
            break
    return colon


def _colon_end(node: Node) -> int:
    colon = _colon(node)
    if colon is not None:
        return colon.end_byte
    block = node.child_by_field_name("body")
    return block.start_byte if block is not None else node.end_byte


def _header_span(text: _SourceText, node: Node) -> ByteSpan:
    colon = _colon(node)
    if colon is None:
        return ByteSpan(node.start_byte, _colon_end(node))
    return ByteSpan(node.start_byte, _after_comment(text, node.children, colon))


def _after_comment(text: _SourceText, siblings: list[Node], node: Node) -> int:
    """Return the end of ``node``, or of a comment after it on the same line (``# type: ignore``, ``# noqa``)."""
    row = node.end_point[0]
    for sibling in siblings:
        if sibling.type == "comment" and sibling.start_point[0] == row and sibling.start_byte >= node.end_byte:
            between = [s for s in siblings if node.end_byte <= s.start_byte < sibling.start_byte]
            # tree-sitter includes the line ending's carriage return in the comment.
            return node.end_byte if between else sibling.end_byte - (text.shadow[sibling.end_byte - 1] == 0x0D)
    return node.end_byte


def _docstring(text: _SourceText, block: Node | None) -> tuple[Node | None, str | None]:
    """Return the literal that Python uses as the docstring, and its value; f-strings and bytes do not count."""
    if block is None:
        return None, None
    first = next((child for child in block.children if child.type != "comment"), None)
    if first is None or first.type != "expression_statement" or first.child_count != 1:
        return None, None
    literal = first.child(0)
    inner: Node | None = literal
    while inner is not None and inner.type == "parenthesized_expression":
        inner = next((child for child in inner.named_children if child.type != "comment"), None)
    if literal is None or inner is None or inner.type not in ("string", "concatenated_string"):
        return None, None
    value = literal_text(text.at(literal))
    return (literal, value) if value is not None else (None, None)


def literal_text(literal: str) -> str | None:
    """Return the value of a string literal's source (possibly parenthesised or concatenated), or None."""
    # Python reads sources with universal newlines, so the value never contains a raw carriage return.
    literal = re.sub(r"\r\n?", "\n", literal)
    try:
        value = python_syntax.literal(f"({literal}\n)")
    except python_syntax.UNREADABLE:
        return None
    return value if isinstance(value, str) else None


_BARE = frozenset(
    ["identifier", "list_splat_pattern", "dictionary_splat_pattern", "positional_separator", "keyword_separator"]
)


def _parameters(text: _SourceText, node: Node) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    for child in node.named_children:
        kind = child.type
        if kind == "comment" or child.is_error:
            continue
        if kind in _BARE:
            found.append(Parameter(text.at(child)))
        elif kind in ("default_parameter", "typed_default_parameter", "typed_parameter"):
            name = child.child_by_field_name("name") or child.named_child(0)
            annotation = child.child_by_field_name("type")
            default = child.child_by_field_name("value")
            found.append(
                Parameter(
                    text.at(name) if name is not None else text.at(child),
                    text.at(annotation) if annotation is not None else None,
                    text.at(default) if default is not None else None,
                )
            )
    return tuple(found)
