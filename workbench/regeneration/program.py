"""Collect what a body needs from the rest of an answer's code: imports, constants, helpers and classes.

They are placed before the body's statements. If that would change the meaning of a name (different parameters, a
decorator, recursion that shares state), the answer's whole function is nested in the body and called with the
arguments.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.base import python_syntax
from workbench.regeneration.names import (
    FUNCTIONS,
    FileNames,
    FunctionNode,
    ScopeNames,
    defers_annotations,
    file_names,
    names_in,
    names_of,
    parameters,
    star_of,
)
from workbench.repository.functions import Function
from workbench.repository.lines import LineKind, dedent, read_lines, reindent, split_lines

_MAX_ATTEMPTS = 40
_HEADER_DECORATORS = {
    "property", "staticmethod", "classmethod", "overload", "override", "abstractmethod", "cached_property",
}  # fmt: skip
_ACCESSORS = {"setter", "getter", "deleter"}
_OUTPUT_CALLS = {"print", "pprint", "display", "input", "exit", "quit"}


@dataclass(slots=True)
class Statement:
    """A module-level statement; ``before`` is True if it precedes the function in the same text."""

    node: ast.stmt
    text: str
    names: ScopeNames
    before: bool


@dataclass(frozen=True, slots=True)
class CompletedBody:
    """A body together with the definitions it needs, and notes on the adjustments made."""

    body: str
    notes: tuple[str, ...] = ()


def parse_program(text: str) -> ast.Module | None:
    """Parse module code, dropping trailing statements until the code parses; return None if nothing parses."""
    with contextlib.suppress(*python_syntax.UNREADABLE):
        return python_syntax.parse(text)
    lines = read_lines(text)
    starts = [n for n, line in enumerate(lines) if n and line.kind is LineKind.CODE and not line.indent]
    for end in starts[: -_MAX_ATTEMPTS - 1 : -1]:
        with contextlib.suppress(*python_syntax.UNREADABLE):
            return python_syntax.parse("".join(line.text for line in lines[:end]))
    return None


class AnswerProgram:
    """The module-level code of an answer: the target at ``line`` of ``text`` (0 if none), and other blocks."""

    def __init__(self, text: str, line: int, other_code: Sequence[str], function: Function, source: bytes) -> None:
        self._function = function
        self._source = source
        self.node: FunctionNode | None = None
        """Read the answer's code; the target is not found if the code does not parse up to ``line``."""
        self._statements: list[Statement] = []
        for other in other_code:
            self._read(other, 0)
        self._read(text, line)
        self._imported = set().union(
            *(one.names.bound for one in self._statements if isinstance(one.node, ast.Import | ast.ImportFrom))
        )
        self._unused = False

    @property
    def _file(self) -> FileNames:
        return file_names(self._source, self._function)

    def _read(self, text: str, line: int) -> None:
        tree = parse_program(text)
        if tree and defers_annotations(tree.body) and not self._file.defers_annotations:
            # The answer's `from __future__ import annotations` kept these unevaluated; nested in this file, they would
            # be evaluated.
            bare = _without_annotations(text, tree)
            parsed = parse_program(bare)
            if parsed is not None and len(parsed.body) == len(tree.body):
                text, tree = bare, parsed
        nodes = (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)) if tree else ()
        self.node = next((node for node in nodes if node.lineno == line), None)
        lines = split_lines(text)
        for node in tree.body if tree else ():
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            end = node.end_lineno or node.lineno
            if first <= line <= end:
                continue
            code = "".join(lines[first - 1 : end]).rstrip()
            self._statements.append(Statement(node, code, names_of([node]), first < line))

    def complete(self, node: FunctionNode, body: str) -> CompletedBody:
        function, expected = self._function, _arguments(self._function)
        names = names_in(node)
        extra = [one for one in node.decorator_list if self._is_added(one)]
        matches = _parameter_pairs(node, expected, function)
        needed = names.free | names_of(extra).used
        selected = self._needed(needed)
        bound = set().union(*(one.names.bound for one in selected))
        notes = self._notes(selected)
        recursive = function.name in needed or any(function.name in one.names.used for one in selected)
        state = any(
            not isinstance(one.node, (*FUNCTIONS, ast.Import, ast.ImportFrom))
            or getattr(one.node, "decorator_list", ())
            for one in selected
        )
        declared = names.declared | set().union(*(_global_names(one.node) for one in selected))
        clash = bound & (names.bound | set(parameters(expected)) | declared)
        # Include assignments to the function's own attributes, such as `f.calls = 0`.
        attributes = [
            one
            for one in self._statements
            if isinstance(one.node, ast.Assign) and function.name in _mutated_names(one.node)
        ]
        if extra or clash or matches is None or (recursive and (state or attributes) and function.kind == "function"):
            if matches is None:
                notes.append("the answer's function has different parameters")
            header = names_of([*node.args.defaults, *filter(None, node.args.kw_defaults)]).used
            selected = self._needed(needed | header)
            after = attributes if recursive else []
            return CompletedBody(self._nested(selected, node, body, extra, after), tuple(notes))
        lines = [one.text for one in selected]
        aliases = [(new, old) for new, old in matches if new != old and new in names.used]
        if aliases:
            lines.insert(0, f"{', '.join(new for new, _ in aliases)} = {', '.join(old for _, old in aliases)}")
            notes.append(f"the parameters were named {', '.join(new for new, _ in matches)}")
        return CompletedBody("\n".join([*lines, body]), tuple(notes))

    def call_to(self, name: str, member: str = "") -> CompletedBody:
        """Return a body that calls the object the answer assigns to ``name``, or one of its members."""
        selected = self._needed({name}, include_target=True)
        body = self._call(selected, name, f"return {{}}{member}({_call_arguments(_arguments(self._function), None)})")
        return CompletedBody(body, tuple(self._notes([one for one in selected if name not in one.names.bound])))

    def assigns(self, name: str) -> bool:
        return any(
            isinstance(one.node, ast.Assign | ast.AnnAssign) and name in one.names.bound for one in self._statements
        )

    @property
    def only_defines(self) -> bool:
        """Return whether the code has only definitions, constants, output and tests, and so cannot be a body."""
        return all(
            isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assert))
            or _is_main_guard(node)
            or (
                isinstance(node, ast.Expr)
                and (isinstance(node.value, ast.Constant) or _root_name(node) in _OUTPUT_CALLS)
            )
            or (
                isinstance(node, ast.Assign)
                and not _contains_call(node)
                and all(isinstance(one, ast.Name) for one in node.targets)
            )
            for node in (one.node for one in self._statements)
        )

    def complete_statements(self, body: str, wrapped: str) -> CompletedBody:
        """Complete a body that the answer shows without its header; ``wrapped`` is the body inside a function."""
        node = python_syntax.parse(wrapped).body[0]
        assert isinstance(node, FUNCTIONS)
        node.args = _arguments(self._function)
        node.name = self._function.name
        return self.complete(node, body)

    # -- selection of statements

    def _needed(self, names: Iterable[str], *, include_target: bool = False) -> list[Statement]:
        target = "" if include_target else self._function.name
        candidates = [one for one in self._statements if not _is_main_guard(one.node)]
        candidates = [one for one in candidates if not (target in one.names.bound and isinstance(one.node, FUNCTIONS))]
        required, chosen, in_file = set(names), set[int](), set[int]()
        # If the file has the same definition, use the answer's version only if it refers to a name that the answer
        # redefines.
        redefined = set().union(*(one.names.bound for one in candidates if not self._file.has(one.node)))
        selected: list[Statement] = []
        while True:
            for index, one in enumerate(candidates):
                if index in chosen or index in in_file:
                    continue
                is_required = bool(one.names.bound & required)
                if is_required and self._file.has(one.node) and not (one.names.free | one.names.used) & redefined:
                    in_file.add(index)
                elif is_required or self._has_effect(one, selected, target):
                    chosen.add(index)
                    required |= one.names.free | one.names.used
            if len(chosen) == len(selected):
                break
            selected = [candidates[index] for index in sorted(chosen)]
        left_out = [one for index, one in enumerate(candidates) if index not in chosen | in_file]
        self._unused = any(isinstance(one.node, (*FUNCTIONS, ast.ClassDef)) for one in left_out)
        stars = [star for one in candidates if (star := star_of(one.node))]
        if stars:
            bound = set().union(*(one.names.bound for one in self._statements))
            available = bound | self._file.names | set(dir(builtins)) | set(parameters(_arguments(self._function)))
            imports = _imports_for(sorted(name for name in required - available if not name.startswith("__")), stars)
            if imports:
                selected.insert(0, Statement(ast.Import([]), imports, ScopeNames(), False))
        return selected

    def _has_effect(self, one: Statement, selected: list[Statement], target: str) -> bool:
        """Return whether a statement changes a selected object or a module before the function is used."""
        names, node = one.names, one.node
        imported = self._imported | self._file.imported
        objects = (
            set().union(*(other.names.bound for other in selected if not isinstance(other.node, FUNCTIONS))) - imported
        )
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return one.before and self._is_registered(node, selected, objects)
        if target in names.used or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert):
            return False
        if isinstance(node, ast.Assign | ast.AnnAssign) and names.bound:
            return False
        root = _root_name(node)
        if root in _OUTPUT_CALLS:
            return False
        if objects & _mutated_names(node) or (one.before and isinstance(node, ast.Expr) and objects & names.used):
            return True
        return one.before and root in imported and not names.bound

    def _is_registered(self, node: FunctionNode | ast.ClassDef, selected: list[Statement], objects: set[str]) -> bool:
        """Return whether a decorator adds a definition to a selected object: ``@h.register``, ``@handler("a")``."""
        functions = {name for one in selected if isinstance(one.node, FUNCTIONS) for name in one.names.bound}
        registrars = {
            name
            for one in self._statements
            if isinstance(one.node, FUNCTIONS) and objects & one.names.used
            for name in one.names.bound
        }
        roots = {_root_name(ast.Expr(one)): one for one in node.decorator_list}
        return bool(roots.keys() & registrars) or any(
            name in functions | objects and isinstance(one.func if isinstance(one, ast.Call) else one, ast.Attribute)
            for name, one in roots.items()
        )

    def _is_added(self, decorator: ast.expr) -> bool:
        text = "".join(ast.unparse(decorator).split())
        existing = {"".join(one.removeprefix("@").split()) for one in self._function.decorators}
        last = text.partition("(")[0].rpartition(".")[2]
        return text not in existing and last not in _HEADER_DECORATORS | _ACCESSORS

    def _notes(self, selected: list[Statement]) -> list[str]:
        imports = [one for one in selected if isinstance(one.node, ast.Import | ast.ImportFrom)]
        names = sorted(set().union(*(one.names.bound for one in selected if one not in imports)))
        notes = ["imports were moved into the body"] if imports else []
        if names:
            notes.append(f"{', '.join(names[:8])} moved into the body")
        return [*notes, *(["other definitions were left out"] if self._unused else [])]

    # -- the answer's whole function, nested in the body

    def _nested(
        self, selected: list[Statement], node: FunctionNode, body: str, extra: list[ast.expr], after: list[Statement]
    ) -> str:
        header = copy.deepcopy(node)
        header.decorator_list = extra
        header.returns = None
        header.body = [ast.Pass()]
        for one in ast.walk(header.args):
            if isinstance(one, ast.arg):
                one.annotation = None
        header_text = ast.unparse(ast.fix_missing_locations(header)).removesuffix("pass").rstrip()
        definition = f"{header_text}\n{reindent(body, '    ', '    ')}"
        call = f"{{}}({_call_arguments(_arguments(self._function), node.args)})"
        yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(node))
        template = "return {}"
        if self._function.is_async and isinstance(node, ast.AsyncFunctionDef):
            template = "async for item in {}:\n    yield item" if yields else "return await {}"
        elif yields and not extra and not isinstance(node, ast.AsyncFunctionDef):
            template = "return (yield from {})"
        statements = [*selected, Statement(node, definition, ScopeNames({node.name}), False), *after]
        return self._call(statements, node.name, template.format(call))

    def _call(self, statements: list[Statement], name: str, template: str) -> str:
        bound = set().union(*(one.names.bound for one in statements))
        texts = [_globals_to_nonlocals(one.text, bound) for one in statements]
        if not bound & set(parameters(_arguments(self._function))):
            return "\n".join([*texts, template.format(name)])
        # A definition that shares a parameter's name would overwrite it, so the statements get a separate scope.
        outer = "_answer"
        while outer in bound or any(outer in one.names.used for one in statements):
            outer += "_"
        inner = [reindent(text, "    ", "    ") for text in texts]
        return "\n".join([f"def {outer}():", *inner, f"    return {name}", template.format(f"{outer}()")])


def _imports_for(names: list[str], stars: list[str]) -> str:
    """Return explicit imports for names that only a star import could provide.

    Functions cannot contain star imports.
    """
    if not names or not stars:
        return ""
    if len(stars) == 1:
        return f"from {stars[0]} import {', '.join(names)}"
    lines = []
    for name in names:
        for depth, star in enumerate(reversed(stars)):
            inner = f"{'    ' * depth}try:\n{'    ' * (depth + 1)}from {star} import {name}\n{'    ' * depth}except ImportError:"
            lines.append(inner)
        lines.append(f"{'    ' * len(stars)}pass")
    return "\n".join(lines)


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in names_of([node.test]).used


def _root_name(node: ast.stmt) -> str:
    part: ast.AST = node.value if isinstance(node, ast.Expr) else node
    if isinstance(part, ast.Assign):
        part = part.targets[0]
    while not isinstance(part, ast.Name):
        match part:
            case (
                ast.Call(func=inner) | ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Await(value=inner)
            ):
                part = inner
            case _:
                return ""
    return part.id


def _mutated_names(node: ast.stmt) -> set[str]:
    found = set()
    for one in ast.walk(node):
        match one:
            case ast.Call(func=ast.Name(id=name)) if name in _OUTPUT_CALLS:
                return set()
            case ast.Call(func=ast.Attribute(value=inner)):
                found.add(_root_name(ast.Expr(inner)))
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                found.add(_root_name(ast.Expr(one)))
    return found


def _contains_call(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a function without those inside nested functions."""
    pending = list(ast.iter_child_nodes(node))
    while pending:
        one = pending.pop()
        yield one
        if not isinstance(one, (*FUNCTIONS, ast.Lambda)):
            pending += ast.iter_child_nodes(one)


def _global_names(node: ast.AST) -> set[str]:
    return {name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names}


def _without_annotations(text: str, tree: ast.Module) -> str:
    """Return the code without function annotations, except those that span several lines."""
    lines = [piece.encode() for piece in split_lines(text)]
    cuts: list[tuple[int, int, int]] = []
    for one in ast.walk(tree):
        if isinstance(one, ast.arg) and one.annotation is not None and one.lineno == one.annotation.end_lineno:
            cuts.append((one.lineno, one.col_offset + len(one.arg.encode()), one.annotation.end_col_offset or 0))
        elif isinstance(one, FUNCTIONS) and one.returns is not None and one.returns.lineno == one.returns.end_lineno:
            arrow = lines[one.returns.lineno - 1].rfind(b"->", 0, one.returns.col_offset)
            if arrow >= 0:
                cuts.append((one.returns.lineno, arrow, one.returns.end_col_offset or 0))
    for line, start, end in sorted(cuts, reverse=True):
        lines[line - 1] = lines[line - 1][:start] + lines[line - 1][end:]
    return b"".join(lines).decode()


def _globals_to_nonlocals(text: str, bound: set[str]) -> str:
    """Replace ``global`` by ``nonlocal`` for names that become local variables of the enclosing function."""
    tree = parse_program(text)
    lines = split_lines(text)
    for one in ast.walk(tree) if tree else ():
        if isinstance(one, ast.Global) and set(one.names) <= bound:
            line = lines[one.lineno - 1].encode()
            head, rest = line[: one.col_offset], line[one.col_offset :]
            lines[one.lineno - 1] = (head + rest.replace(b"global", b"nonlocal", 1)).decode()
    return "".join(lines)


def _arguments(function: Function) -> ast.arguments:
    try:
        node = python_syntax.parse(f"{dedent(function.signature)} pass").body[0]
    except python_syntax.UNREADABLE:
        node = None
    return node.args if isinstance(node, FUNCTIONS) else python_syntax.parse("lambda: 0").body[0].value.args  # type: ignore[attr-defined]


def _positional(arguments: ast.arguments) -> list[str]:
    return [one.arg for one in [*arguments.posonlyargs, *arguments.args]]


def _parameter_pairs(node: FunctionNode, expected: ast.arguments, function: Function) -> list[tuple[str, str]] | None:
    """Return parameter names in the answer and in the file as pairs, or None if they do not correspond."""
    answer = node.args
    positional, expected_positional = _positional(answer), _positional(expected)
    if (
        function.kind == "method"
        and len(expected_positional) == len(positional) + 1
        and expected_positional[0] not in positional
    ):
        expected_positional = expected_positional[1:]
    keywords = [one.arg for one in answer.kwonlyargs]
    expected_keywords = [one.arg for one in expected.kwonlyargs]
    stars = [(answer.vararg, expected.vararg), (answer.kwarg, expected.kwarg)]
    if (
        len(positional) == len(expected_positional)
        and len(keywords) == len(expected_keywords)
        and all((a is None) == (b is None) for a, b in stars)
    ):
        if set(keywords) == set(expected_keywords):
            expected_keywords = keywords
        return [
            *zip(positional, expected_positional, strict=True),
            *zip(keywords, expected_keywords, strict=True),
            *((a.arg, b.arg) for a, b in stars if a and b),
        ]
    names, expected_names = parameters(answer), iter(parameters(expected))
    return [(one, one) for one in names] if all(one in expected_names for one in names) else None


def _call_arguments(expected: ast.arguments, answer: ast.arguments | None) -> str:
    """Return the argument list with which a wrapper with the ``expected`` parameters calls the answer's function."""
    by_keyword = {one.arg for one in answer.kwonlyargs} if answer is not None else set()
    if answer is not None and answer.kwarg and not answer.vararg:
        by_keyword |= set(_positional(expected)[len(_positional(answer)) :])
    parts = [f"{name}={name}" if name in by_keyword else name for name in _positional(expected)]
    parts.sort(key=lambda part: "=" in part)
    values = [one.arg for one in expected.kwonlyargs]
    names = [one.arg for one in answer.kwonlyargs] if answer is not None else values
    if len(names) != len(values) or set(names) == set(values):
        names = values
    stars = ([f"*{expected.vararg.arg}"] if expected.vararg else []) + [
        f"{name}={value}" for name, value in zip(names, values, strict=True)
    ]
    return ", ".join([*parts, *stars, *([f"**{expected.kwarg.arg}"] if expected.kwarg else [])])
