"""Read what a page names: callables, commands and options in its code spans and code blocks, and its examples.

Prose is ignored, because words such as "read" and "source" may also be names of functions.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import html
import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from workbench.claims import page as claims_page
from workbench.claims.page import SHELL, Code, Page
from workbench.claims.python import Definition, example_of, imports_of, is_python, python_of
from workbench.claims.shell import PROMPT, commands_of, normal, simple_commands
from workbench.usage.pages import ANY, Example, Named, NamedOption, PageCommand, UsagePage
from workbench.usage.stated_results import shown_expressions, stated_results

_MOST_STATEMENTS = 8  # in the set-up of an example
_MOST_EXAMPLES = 400
_LONGEST_EXAMPLE = 500  # characters of an expression or statement; longer ones may be nested too deeply
_LONGEST_HISTORY = 60  # statements before an example that may belong to it
_BUILTINS = frozenset(dir(builtins))


@lru_cache(maxsize=8)
def read_page(text: str) -> UsagePage:
    """Return what a page in Markdown or reStructuredText names; only its first 100,000 characters are read."""
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")
    short = text[: claims_page.LONGEST]
    restructured = claims_page.is_restructured(short)
    page = claims_page.outline(short) if restructured else claims_page.parse_page(short, "")
    found = UsagePage(page, len(short) < len(text))
    reader = _PageReader(found)
    items: list[tuple[int, Code | str]] = [(code.line, code) for code in page.codes]
    for line, item in sorted([*items, *_spans(page, restructured)], key=lambda one: one[0]):
        with contextlib.suppress(RecursionError):
            if isinstance(item, Code):
                reader.block(item)
            else:
                reader.span(item, line)
    reader.outputs()
    return found


_RST_SPAN = re.compile(r"``([^`\n]{1,300})``|:(?:py:)?(?:func|meth|class|option):`~?([^`\n]{1,200})`")
_HTML_CODE = re.compile(r"<code>([^<\n]{1,300})</code>")


def _spans(page: Page, restructured: bool) -> Iterator[tuple[int, str]]:
    if restructured:
        for block in page.blocks:
            for match in _RST_SPAN.finditer(page.text, block.start, block.end):
                yield page.text.count("\n", 0, match.start()) + 1, match[1] or match[2]
        return
    yield from ((span.line, span.text) for span in page.spans)
    inside = [(code.start, code.end) for code in page.codes]
    for match in _HTML_CODE.finditer(page.text):
        if not any(start <= match.start() < end for start, end in inside):
            yield page.text.count("\n", 0, match.start()) + 1, html.unescape(match[1])


_IPYTHON = (
    (re.compile(r"^In ?\[\d*\]: ?"), ">>> "),
    (re.compile(r"^ *\.{3,}: ?"), "... "),
    (re.compile(r"^Out ?\[\d*\]: ?"), ""),
)
_NAME = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_SIGNATURE = re.compile(rf"({_NAME.pattern})\(.*\)(?:\s*->.*)?:?", re.S)
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)(?:[ =]?(\[?=?<[\w |-]+>\]?|\[?=?[A-Z][A-Z0-9_|]*\]?)(?![a-z]))?")


class _PageReader:
    def __init__(self, found: UsagePage) -> None:
        self._found = found
        self._imported: dict[str, str] = {}  # name -> path
        self._statements: dict[str, str] = {}  # name -> import statement
        self._stars: list[str] = []
        self._history: list[ast.stmt] = []
        self._defined: set[str] = set()  # functions and classes defined on the page
        self._objects: dict[str, str] = {}  # variable -> path of the call that made its value

    # -- spans

    def span(self, text: str, line: int) -> None:
        text = PROMPT.sub("", " ".join(text.split())).removeprefix(">>> ")
        self._options(text, line, alone=True)
        if text == "-":  # stands for standard input
            self._found.options.append(NamedOption(text, "", line))
        words = text.split()
        if len(words) > 1 and not text.startswith("-") and "(" not in words[0]:
            self._command(text, line, None, block=False)
        tree = python_of(text)
        if tree is not None and tree.body and isinstance(tree.body[0], ast.Import | ast.ImportFrom):
            self._imports(tree.body[0], line)
        elif tree is not None and len(tree.body) == 1 and isinstance(one := tree.body[0], ast.Expr | ast.Assign):
            value = one.value
            if isinstance(value, ast.Name | ast.Attribute) and (path := self._path(value, spans=True)):
                self._name(Named(path, line))
                if re.fullmatch(r"[a-z_0-9]+(?:\.[a-z_0-9]+)+", text):
                    self._module(text)
            elif isinstance(value, ast.Call | ast.Attribute | ast.Subscript):
                self._examples(_on_line(one, line), {}, block=False)
        elif match := _NAME.fullmatch(text) or _SIGNATURE.fullmatch(text):
            name = match[1] if match.re is _SIGNATURE else match[0]
            self._name(Named(ANY + name if name.startswith(".") else name, line, match.re is _SIGNATURE))

    def _options(self, text: str, line: int, *, alone: bool = False) -> None:
        for match in _OPTION.finditer(text):
            if alone and match.start() and text[0] != "-":
                continue  # the option of a command
            self._found.options.append(NamedOption(match[1], (match[2] or "").strip("[]=<>"), line))

    # -- blocks

    def block(self, code: Code) -> None:
        first = next((line for line in code.code.splitlines() if line.strip()), "").strip()
        at = self._found.page.text.find(first, code.start)
        line = self._found.page.text.count("\n", 0, at) + 1 if at >= 0 else code.line
        text = code.code[len(code.code) - len(code.code.lstrip("\n")) :]
        for pattern, stands in _IPYTHON:
            text = "\n".join(pattern.sub(stands, row) for row in text.split("\n"))
        code = replace(code, code=text, line=line)
        python = is_python(code) or (not code.language and bool(re.search(r"^\s*>>> ", text, re.M)))
        if python:
            self._python(code, labelled=True)
        elif not code.language or code.language in SHELL | {"text", "txt", "plaintext", "output", "help"}:
            self._text(code)

    def _text(self, code: Code) -> None:
        tree = None if code.language in SHELL else python_of(code.code)
        calls = tree is not None and any(isinstance(one, ast.Call) for one in ast.walk(tree))
        if calls and not code.language:
            self._python(code, labelled=False)
            return
        prompted = any(PROMPT.match(row) for row in code.code.splitlines())
        if code.language in SHELL or prompted or not code.language:
            for command in commands_of(code.code):
                self._command(command.text, code.line + command.line, command.expected, block=True)
        for number, row in enumerate(code.code.splitlines()):
            if re.match(r"\s*--?[A-Za-z]", row):
                self._options(re.split(r"\s{2,}", row.strip())[0], code.line + number)

    def _command(self, text: str, line: int, says: str | None, *, block: bool) -> None:
        for raw in simple_commands(text) or ():
            words = normal(raw)
            count = {"python": 3 if words[1:2] == ("-m",) else 2}.get(words[0], 1) if words else 0
            if words and len(words) >= count and words[1:2] != ("-c",):
                arguments = tuple(raw[len(raw) - len(words) + count :])  # not normalised
                command = PageCommand(text, line, words[:count], arguments, says, block)
                self._found.commands.append(command)

    # -- Python

    def _python(self, code: Code, *, labelled: bool) -> None:
        module = _module_before(code.before)
        tree = python_of(code.code) or example_of(code.code)  # the docstrings of a module may have prompts
        says = dict(stated_results(code.code))
        if tree is None:
            statements = [
                _on_line(statement, number)
                for number, row in enumerate(code.code.splitlines(), 1)
                if (one := python_of(row.strip().removeprefix(">>> "))) is not None
                for statement in one.body
            ]
        else:
            statements = list(tree.body)
        for statement in statements:
            result = says.get(statement.end_lineno or statement.lineno)
            placed = ast.increment_lineno(statement, code.line - 1)
            if isinstance(placed, ast.Import | ast.ImportFrom):
                self._imports(placed, placed.lineno)
                continue
            if isinstance(placed, Definition) and module:
                self._definitions(placed, module)
                continue
            bare = isinstance(placed, ast.Expr) and isinstance(placed.value, ast.Name | ast.Attribute)
            if not bare or labelled:
                self._examples(placed, {placed.end_lineno: result} if result else {}, block=True)
            self._history.append(placed)
            if isinstance(placed, Definition):
                self._defined.add(placed.name)
            for inner in ast.walk(placed):
                if isinstance(inner, ast.Import | ast.ImportFrom) and inner is not placed:
                    self._imports(inner, inner.lineno)
            if isinstance(placed, ast.Assign | ast.AnnAssign) and placed.value is not None:
                target = placed.targets[0] if isinstance(placed, ast.Assign) else placed.target
                made = self._path(placed.value) if isinstance(placed.value, ast.Call) else None
                if isinstance(target, ast.Name):
                    self._objects[target.id] = made or ""

    def _imports(self, statement: ast.Import | ast.ImportFrom, line: int) -> None:
        for one in imports_of(ast.Module([statement], [])):
            self._module(one.module)
            if one.name == "*":
                self._stars.append(one.module)
                continue
            whole = one.module if not one.name else f"{one.module}.{one.name}"
            path = whole if one.name or one.bound != one.module.split(".")[0] else one.bound
            self._imported[one.bound] = path
            renamed = f" as {one.bound}" if one.bound != (one.name or one.module.split(".")[0]) else ""
            source = f"from {one.module} import {one.name}" if one.name else f"import {one.module}"
            self._statements[one.bound] = source + renamed
            if one.name and not _of_the_library(path):
                self._name(Named(path, line, block=True))

    def _module(self, name: str) -> None:
        if not _of_the_library(name) and name not in self._found.modules:
            self._found.modules.append(name)

    def _definitions(self, node: Definition, module: str) -> None:
        self._module(module)
        self._name(Named(f"{module}.{node.name}", node.lineno, called=True, block=True))
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
                    self._name(Named(f"{module}.{node.name}.{one.name}", one.lineno, called=True, block=True))

    def _examples(self, statement: ast.stmt, says: dict[int | None, str], *, block: bool) -> None:
        seen: set[ast.AST] = set()
        for expression, printed in shown_expressions(statement):
            called = [one for one in ast.walk(expression) if isinstance(one, ast.Call) and self._path(one)]
            if called:
                seen.add(expression)
                path = self._path(called[0]) or ""
                result = says.get(statement.end_lineno)
                self._example(path, expression, result, printed=printed, block=block)
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and node not in seen and (found := self._path(node)):
                self._example(found, node, None, printed=False, block=block)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                imported = self._imported.get(node.id, "")
                if imported and not _of_the_library(imported):
                    self._name(Named(imported, node.lineno, block=block))

    def _example(self, path: str, expression: ast.expr, says: str | None, *, printed: bool, block: bool) -> None:
        if len(self._found.examples) >= _MOST_EXAMPLES or len(ast.unparse(expression)) > _LONGEST_EXAMPLE:
            self._name(Named(path, expression.lineno, called=True, block=block))
            return
        needed, statements = self._needs(expression)
        if statements is None or any(len(ast.unparse(one)) > _LONGEST_EXAMPLE for one in statements):
            return
        imports = dict.fromkeys(f"from {star} import *" for star in self._stars)
        for node in (expression, *statements):
            for name in sorted(_loaded(node)):
                if name in self._statements:
                    imports[self._statements[name]] = None
        arguments = any(isinstance(one, ast.Call) and (one.args or one.keywords) for one in ast.walk(expression))
        complete = bool(arguments or statements) and not needed
        self._name(Named(path, expression.lineno, called=True, example=complete, block=block))
        example = Example(path, expression.lineno, expression, statements, tuple(imports), needed, says, printed)
        self._found.examples.append(example)

    def _needs(self, expression: ast.expr) -> tuple[frozenset[str], tuple[ast.stmt, ...] | None]:
        """Return the needed names that the page does not bind, and the statements that bind the others."""
        bound = {*self._imported, *_BUILTINS} | {
            one.id for one in ast.walk(expression) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }
        needed = _loaded(expression) - bound
        kept: list[ast.stmt] = []
        for statement in self._history[: -_LONGEST_HISTORY - 1 : -1]:
            stored = _bound_by(statement)
            if stored & needed or _changes(statement) in needed:
                if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | Definition):
                    continue
                kept.insert(0, statement)
                if not isinstance(statement, ast.AugAssign):
                    needed -= stored
                needed |= _loaded(statement) - bound - stored
            if len(kept) > _MOST_STATEMENTS:
                return frozenset(needed), None
        roots = {_root(one.func) for one in ast.walk(expression) if isinstance(one, ast.Call)}
        return frozenset(needed - roots), tuple(kept)

    def _name(self, named: Named) -> None:
        if named.path not in self._found.modules and named not in self._found.callables[-50:]:
            self._found.callables.append(named)

    def _path(self, node: ast.expr, *, spans: bool = False) -> str | None:
        """Return the path of the callable or name in an expression, or None for built-ins and the standard library."""
        if isinstance(node, ast.Call):
            return self._path(node.func, spans=spans)
        if isinstance(node, ast.Name):
            if node.id in self._imported:
                path = self._imported[node.id]
                return None if _of_the_library(path) else path
            builtin = node.id in _BUILTINS and not spans
            return None if builtin or node.id in self._defined else node.id
        if not isinstance(node, ast.Attribute):
            return None
        value = node.value
        if isinstance(value, ast.Name) and value.id not in self._imported:
            if value.id in self._objects:
                return _member(self._objects[value.id], node.attr)
            return f"{value.id}.{node.attr}"
        if isinstance(value, ast.Call | ast.Subscript | ast.Await):
            inner = self._path(value) if isinstance(value, ast.Call) else ""
            return _member(inner, node.attr) if inner is not None else None
        base = self._path(value)
        return f"{base}.{node.attr}" if base else None

    # -- results in separate blocks

    def outputs(self) -> None:
        """If a block prints once, treat the output block after it as the printed text."""
        codes = self._found.page.codes
        for code, following in itertools.pairwise(codes):
            if not (following.adjacent and following.language in {"text", "txt", "output", "plaintext", "console", ""}):
                continue
            last = following.line - 1
            inside = [n for n, one in enumerate(self._found.examples) if code.line <= one.line < last and one.printed]
            stated = any(PROMPT.match(row) for row in following.code.splitlines())
            if is_python(code) and len(inside) == 1 and not stated and code.code.count("print(") == 1:
                at = inside[0]
                self._found.examples[at] = replace(self._found.examples[at], says=following.code.strip("\n"))
            commands = [n for n, one in enumerate(self._found.commands) if code.line <= one.line < last and one.block]
            if code.language in SHELL and len(commands) == 1 and not stated and following.language not in SHELL:
                at = commands[0]
                if self._found.commands[at].says is None:
                    self._found.commands[at] = replace(self._found.commands[at], says=following.code.strip("\n"))


def _on_line(statement: ast.stmt, line: int) -> ast.stmt:
    for node in ast.walk(statement):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = line
    return statement


def _of_the_library(path: str) -> bool:
    return path.split(".")[0] in sys.stdlib_module_names


def _module_before(text: str) -> str:
    """Return the module in the last code span before a block of definitions, if the page says so."""
    found = re.search(r"Module `([\w.]+)`", text)
    return found[1] if found else ""


def _loaded(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _bound_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, Definition):
        return {statement.name}
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _changes(statement: ast.stmt) -> str:
    """Return the variable whose method a statement calls for its effect, or ""."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _root(statement.value.func) if isinstance(statement.value.func, ast.Attribute) else ""
    return ""


def _member(maker: str, name: str) -> str:
    """Return the path of a member of the object that a call of ``maker`` returns."""
    parts = maker.split(".")
    last = max((n for n, part in enumerate(parts) if part[:1].isupper()), default=None)
    return f"{ANY}.{name}" if last is None else ".".join([*parts[: last + 1], name])
