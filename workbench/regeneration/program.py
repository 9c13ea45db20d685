"""Take from an answer's code what the function needs beside its body: imports, constants, helpers and classes.

They go into the body, before its statements. Where that would change what a name means (another parameter list, a
decorator, a recursion that shares state), the answer's whole function goes in and is called with the arguments.
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

_MAX_TRIES = 40
_HEADER_DECORATORS = {
    "property", "staticmethod", "classmethod", "overload", "override", "abstractmethod", "cached_property",
}  # fmt: skip
_ACCESSORS = {"setter", "getter", "deleter"}
_SHOWS = {"print", "pprint", "display", "input", "exit", "quit"}


@dataclass(slots=True)
class Statement:
    """A statement at module level; ``before``: above the function in the same text."""

    node: ast.stmt
    text: str
    names: ScopeNames
    before: bool


@dataclass(frozen=True, slots=True)
class Completed:
    """A body with what it needs, and notes on what was adjusted."""

    body: str
    notes: tuple[str, ...] = ()


def parse_program(text: str) -> ast.Module | None:
    """Return the tree of module code, without statements at its end that do not parse; None if nothing parses."""
    with contextlib.suppress(*python_syntax.UNREADABLE):
        return python_syntax.parse(text)
    lines = read_lines(text)
    starts = [n for n, line in enumerate(lines) if n and line.kind is LineKind.CODE and not line.indent]
    for end in starts[: -_MAX_TRIES - 1 : -1]:
        with contextlib.suppress(*python_syntax.UNREADABLE):
            return python_syntax.parse("".join(line.text for line in lines[:end]))
    return None


class AnswerProgram:
    """The module code of an answer: the code around the target's definition in ``line`` (0: none), and other code."""

    def __init__(self, text: str, line: int, beside: Sequence[str], function: Function, source: bytes) -> None:
        self._function = function
        self._source = source
        self.node: FunctionNode | None = None
        """The function at ``line``; None where the code does not parse up to there."""
        self._statements: list[Statement] = []
        for other in beside:
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
            # The answer's were never evaluated, those of definitions in a function of this file would be.
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

    def completed(self, node: FunctionNode, body: str) -> Completed:
        function, given = self._function, _arguments(self._function)
        names = names_in(node)
        extra = [one for one in node.decorator_list if self._is_added(one)]
        renamed = _renamed(node, given, function)
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
        declared = names.declared | set().union(*(_declared(one.node) for one in selected))
        clash = bound & (names.bound | set(parameters(given)) | declared)
        # What is set on the function itself, as `f.calls = 0`.
        own = [
            one for one in self._statements if isinstance(one.node, ast.Assign) and function.name in _changed(one.node)
        ]
        if extra or clash or renamed is None or (recursive and (state or own) and function.kind == "function"):
            if renamed is None:
                notes.append("the parameters were others")
            header = names_of([*node.args.defaults, *filter(None, node.args.kw_defaults)]).used
            selected = self._needed(needed | header)
            return Completed(self._wrapped(selected, node, body, extra, own if recursive else []), tuple(notes))
        lines = [one.text for one in selected]
        pairs = [(new, old) for new, old in renamed if new != old and new in names.used]
        if pairs:
            lines.insert(0, f"{', '.join(new for new, _ in pairs)} = {', '.join(old for _, old in pairs)}")
            notes.append(f"the parameters were called {', '.join(new for new, _ in renamed)}")
        return Completed("\n".join([*lines, body]), tuple(notes))

    def called(self, name: str, member: str = "") -> Completed:
        """Return a body that calls the value that the answer assigns to ``name``, or a member of it."""
        selected = self._needed({name}, own=True)
        body = self._call(selected, name, f"return {{}}{member}({_passed(_arguments(self._function), None)})")
        return Completed(body, tuple(self._notes([one for one in selected if name not in one.names.bound])))

    def assigns(self, name: str) -> bool:
        return any(
            isinstance(one.node, ast.Assign | ast.AnnAssign) and name in one.names.bound for one in self._statements
        )

    @property
    def only_defines(self) -> bool:
        """Whether the code defines, shows and tests things, and does nothing else that a body would do."""
        return all(
            isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assert))
            or _is_main(node)
            or (isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or _root(node) in _SHOWS))
            or (
                isinstance(node, ast.Assign)
                and not _calls(node)
                and all(isinstance(one, ast.Name) for one in node.targets)
            )
            for node in (one.node for one in self._statements)
        )

    def around(self, body: str, wrapped: str) -> Completed:
        """Return a body that stood without its header with what it needs; ``wrapped`` is the body in a function."""
        node = python_syntax.parse(wrapped).body[0]
        assert isinstance(node, FUNCTIONS)
        node.args = _arguments(self._function)
        node.name = self._function.name
        return self.completed(node, body)

    # -- what is needed

    def _needed(self, wanted: Iterable[str], *, own: bool = False) -> list[Statement]:
        target = "" if own else self._function.name
        offered = [one for one in self._statements if not _is_main(one.node)]
        offered = [one for one in offered if not (target in one.names.bound and isinstance(one.node, FUNCTIONS))]
        due, chosen, known = set(wanted), set[int](), set[int]()
        # What the file has as well is the answer's own where it uses something that the answer defines otherwise.
        others = set().union(*(one.names.bound for one in offered if not self._file.has(one.node)))
        selected: list[Statement] = []
        while True:
            for place, one in enumerate(offered):
                if place in chosen or place in known:
                    continue
                wanted_here = bool(one.names.bound & due)
                if wanted_here and self._file.has(one.node) and not (one.names.free | one.names.used) & others:
                    known.add(place)
                elif wanted_here or self._acts(one, selected, target):
                    chosen.add(place)
                    due |= one.names.free | one.names.used
            if len(chosen) == len(selected):
                break
            selected = [offered[place] for place in sorted(chosen)]
        left = [one for place, one in enumerate(offered) if place not in chosen | known]
        self._unused = any(isinstance(one.node, (*FUNCTIONS, ast.ClassDef)) for one in left)
        stars = [star for one in offered if (star := star_of(one.node))]
        if stars:
            bound = set().union(*(one.names.bound for one in self._statements))
            given = bound | self._file.names | set(dir(builtins)) | set(parameters(_arguments(self._function)))
            imports = _imports_for(sorted(name for name in due - given if not name.startswith("__")), stars)
            if imports:
                selected.insert(0, Statement(ast.Import([]), imports, ScopeNames(), False))
        return selected

    def _acts(self, one: Statement, selected: list[Statement], target: str) -> bool:
        """Whether a statement that defines nothing changes what is needed, or a module, before the function is used."""
        names, node = one.names, one.node
        imported = self._imported | self._file.imported
        made = (
            set().union(*(other.names.bound for other in selected if not isinstance(other.node, FUNCTIONS))) - imported
        )
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return one.before and self._registers(node, selected, made)
        if target in names.used or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert):
            return False
        if isinstance(node, ast.Assign | ast.AnnAssign) and names.bound:
            return False
        root = _root(node)
        if root in _SHOWS:
            return False
        if made & _changed(node) or (one.before and isinstance(node, ast.Expr) and made & names.used):
            return True
        return one.before and root in imported and not names.bound

    def _registers(self, node: FunctionNode | ast.ClassDef, selected: list[Statement], made: set[str]) -> bool:
        """Whether a decorator puts a definition where what is needed finds it: ``@h.register``, ``@handler("a")``."""
        functions = {name for one in selected if isinstance(one.node, FUNCTIONS) for name in one.names.bound}
        fillers = {
            name
            for one in self._statements
            if isinstance(one.node, FUNCTIONS) and made & one.names.used
            for name in one.names.bound
        }
        roots = {_root(ast.Expr(one)): one for one in node.decorator_list}
        return bool(roots.keys() & fillers) or any(
            name in functions | made and isinstance(one.func if isinstance(one, ast.Call) else one, ast.Attribute)
            for name, one in roots.items()
        )

    def _is_added(self, decorator: ast.expr) -> bool:
        written = "".join(ast.unparse(decorator).split())
        kept = {"".join(one.removeprefix("@").split()) for one in self._function.decorators}
        last = written.partition("(")[0].rpartition(".")[2]
        return written not in kept and last not in _HEADER_DECORATORS | _ACCESSORS

    def _notes(self, selected: list[Statement]) -> list[str]:
        imports = [one for one in selected if isinstance(one.node, ast.Import | ast.ImportFrom)]
        names = sorted(set().union(*(one.names.bound for one in selected if one not in imports)))
        notes = ["imports were moved into the body"] if imports else []
        if names:
            notes.append(f"{', '.join(names[:8])} stood beside the function and went into it")
        return [*notes, *(["other definitions were left out"] if self._unused else [])]

    # -- the answer's function as a whole

    def _wrapped(
        self, selected: list[Statement], node: FunctionNode, body: str, extra: list[ast.expr], after: list[Statement]
    ) -> str:
        header = copy.deepcopy(node)
        header.decorator_list = extra
        header.returns = None
        header.body = [ast.Pass()]
        for one in ast.walk(header.args):
            if isinstance(one, ast.arg):
                one.annotation = None
        shown = ast.unparse(ast.fix_missing_locations(header)).removesuffix("pass").rstrip()
        whole = f"{shown}\n{reindent(body, '    ', '    ')}"
        called = f"{{}}({_passed(_arguments(self._function), node.args)})"
        yields = any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own_nodes(node))
        form = "return {}"
        if self._function.is_async and isinstance(node, ast.AsyncFunctionDef):
            form = "async for item in {}:\n    yield item" if yields else "return await {}"
        elif yields and not extra and not isinstance(node, ast.AsyncFunctionDef):
            form = "return (yield from {})"
        statements = [*selected, Statement(node, whole, ScopeNames({node.name}), False), *after]
        return self._call(statements, node.name, form.format(called))

    def _call(self, statements: list[Statement], name: str, form: str) -> str:
        bound = set().union(*(one.names.bound for one in statements))
        texts = [_nonlocal(one.text, bound) for one in statements]
        if not bound & set(parameters(_arguments(self._function))):
            return "\n".join([*texts, form.format(name)])
        outer = "_answer"
        while outer in bound or any(outer in one.names.used for one in statements):
            outer += "_"
        inside = [reindent(text, "    ", "    ") for text in texts]
        return "\n".join([f"def {outer}():", *inside, f"    return {name}", form.format(f"{outer}()")])


def _imports_for(names: list[str], stars: list[str]) -> str:
    """Return imports of the names that only star imports can give; a function must not hold a star import."""
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


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in names_of([node.test]).used


def _root(node: ast.stmt) -> str:
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


def _changed(node: ast.stmt) -> set[str]:
    found = set()
    for one in ast.walk(node):
        match one:
            case ast.Call(func=ast.Name(id=name)) if name in _SHOWS:
                return set()
            case ast.Call(func=ast.Attribute(value=inner)):
                found.add(_root(ast.Expr(inner)))
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                found.add(_root(ast.Expr(one)))
    return found


def _calls(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, (*FUNCTIONS, ast.Lambda)):
            waiting += ast.iter_child_nodes(one)


def _declared(node: ast.AST) -> set[str]:
    return {name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names}


def _without_annotations(text: str, tree: ast.Module) -> str:
    """Return code whose functions have no annotations; one over several lines stays."""
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


def _nonlocal(text: str, bound: set[str]) -> str:
    """Return code with ``nonlocal`` instead of ``global`` for names that became those of a function."""
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


def _renamed(node: FunctionNode, given: ast.arguments, function: Function) -> list[tuple[str, str]] | None:
    """Return (name in the answer, name in the file) of the parameters; None if they do not correspond."""
    own = node.args
    here, there = _positional(own), _positional(given)
    if function.kind == "method" and len(there) == len(here) + 1 and there[0] not in here:
        there = there[1:]
    named, others = [one.arg for one in own.kwonlyargs], [one.arg for one in given.kwonlyargs]
    stars = [(own.vararg, given.vararg), (own.kwarg, given.kwarg)]
    if len(here) == len(there) and len(named) == len(others) and all((a is None) == (b is None) for a, b in stars):
        keywords = [(one, one) for one in named] if set(named) == set(others) else list(zip(named, others, strict=True))
        return [*zip(here, there, strict=True), *keywords, *((a.arg, b.arg) for a, b in stars if a and b)]
    mine, theirs = parameters(own), iter(parameters(given))
    return [(one, one) for one in mine] if all(one in theirs for one in mine) else None


def _passed(given: ast.arguments, own: ast.arguments | None) -> str:
    only = {one.arg for one in own.kwonlyargs} if own is not None else set()
    if own is not None and own.kwarg and not own.vararg:
        only |= set(_positional(given)[len(_positional(own)) :])
    parts = [f"{name}={name}" if name in only else name for name in _positional(given)]
    parts.sort(key=lambda part: "=" in part)
    keywords = [one.arg for one in given.kwonlyargs]
    named = [one.arg for one in own.kwonlyargs] if own is not None else keywords
    if len(named) != len(keywords) or set(named) == set(keywords):
        named = keywords
    stars = ([f"*{given.vararg.arg}"] if given.vararg else []) + [
        f"{new}={old}" for new, old in zip(named, keywords, strict=True)
    ]
    return ", ".join([*parts, *stars, *([f"**{given.kwarg.arg}"] if given.kwarg else [])])
