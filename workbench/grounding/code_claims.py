"""Claims in a README's commands and Python examples. Options of other programs and imports of other projects are none."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from workbench.claims import known
from workbench.claims.page import SHELL, Code
from workbench.claims.python import imports_of, names_bound
from workbench.claims.shell import INTERPRETER, PROMPT, Installed, Word, installs, package_name, started
from workbench.grounding.items import OPTION, Claims


def is_shell(code: Code) -> bool:
    if code.language:
        return code.language in SHELL
    lines = [line for line in code.code.splitlines() if line.strip()]
    return any(PROMPT.match(line) or line.split()[0] in known.PROGRAMS for line in lines)


def is_command(content: str) -> bool:
    """Whether inline code is a command line: a known program, or a word followed by options."""
    words = content.split()
    if len(words) < 2:
        return False
    spelled = re.fullmatch(r"[A-Za-z][\w.-]*", words[0]) or known.FILE.fullmatch(words[0])
    first = words[0].rsplit("/", 1)[-1]
    return first in known.PROGRAMS or (bool(spelled) and any(OPTION.match(word) for word in words[1:]))


def add_command(claims: Claims, words: Sequence[Word]) -> None:
    """The claims of a simple command: programs, scripts, options, files, packages."""
    begin = started([word.text for word in words])
    while 0 < begin < len(words) and words[begin].text.startswith("-"):
        begin += 1
    words = words[begin:]
    if not words:
        return
    if (installed := installs([word.text for word in words])) is not None:
        _add_installed(claims, words, installed)
        return
    program, rest = words[0], words[1:]
    base = re.sub(r"\.exe$", "", program.text.rsplit("/", 1)[-1])
    if INTERPRETER.fullmatch(base):
        _add_python(claims, rest)
    elif base in known.BUILD_TOOLS:
        targets = [word for word in rest if re.fullmatch(r"[A-Za-z][\w:.-]*", word.text)]
        if base == "npm":
            targets = targets[1:] if targets and targets[0].text in {"run", "run-script"} else []
        for word in targets:
            claims.add(
                "command", f"{base} {word.text}", word.start, ((word.text,),),
                within=known.BUILD_TOOLS[base], end=word.start + len(word.text),
            )  # fmt: skip
    elif base in {"pytest", "cd"}:
        for word in rest if base == "pytest" else rest[:1]:
            if base == "cd" or word.text[:1].isalpha():
                claims.path(word.text, word.start, certain=False)
    elif (
        program.text.startswith("./")
        or (known.FILE.fullmatch(program.text) and "/" in program.text)
        or program.text.endswith((".py", ".sh"))
    ):
        claims.path(program.text, program.start)
        _add_arguments(claims, rest, own=True)
    elif base in known.PROGRAMS or not re.fullmatch(r"[A-Za-z][\w.-]*", program.text):
        _add_arguments(claims, rest, own=False)
    else:
        claims.command(program.text, program.start)
        _add_arguments(claims, rest, own=True)


def _add_python(claims: Claims, rest: Sequence[Word]) -> None:
    while rest and re.fullmatch(r"-[uBOsIXW]\w*", rest[0].text):
        rest = rest[1:]
    if len(rest) > 1 and rest[0].text == "-m":
        module = rest[1].text
        top = module.split(".")[0]
        if top == "pytest":
            add_command(claims, rest[1:])
        elif known.is_python(top) or top in known.PROGRAMS:
            _add_arguments(claims, rest[2:], own=False)
        else:
            needles = tuple((part,) for part in module.split("."))
            certain, end = not known.is_placeholder(module), rest[1].start + len(module)
            claims.add("command", f"python -m {module}", rest[1].start, needles, certain, end=end)
            _add_arguments(claims, rest[2:], own=True)
    elif rest and rest[0].text.endswith(".py"):
        claims.path(rest[0].text, rest[0].start)
        _add_arguments(claims, rest[1:], own=True)


def _add_installed(claims: Claims, words: Sequence[Word], installed: Sequence[Installed]) -> None:
    for one in installed:
        start, (name, bracket, extras) = words[one.number].start, one.text.partition("[")
        if one.file:
            claims.path(one.text, start)
        elif ":" in one.text or "@" in one.text:
            continue
        elif bracket and re.fullmatch(r"[\w,. -]+\].*", extras):
            for extra in extras.partition("]")[0].split(","):
                claims.identifier(extra.strip(), start + one.text.index(extra))
            if package_name(name):
                claims.dependency(name, start)
        elif "/" in one.text or one.text.startswith("."):
            claims.path(one.text, start, certain=False)
        elif package_name(one.text):
            # Tools of the trade are installed by whoever likes; that a project needs one of them is no claim.
            claims.dependency(one.text, start, certain=one.package not in known.TOOLING)


def _add_arguments(claims: Claims, rest: Sequence[Word], *, own: bool) -> None:
    """Options of the project's own programs, and arguments that are files of it."""
    for word in rest:
        if own and (found := OPTION.match(word.text)):
            claims.option(found.group(), word.start)
        elif not word.text.startswith("-") and (known.FILE.fullmatch(word.text) or "/" in word.text):
            claims.path(word.text, word.start, certain=False)


# -- Python


def defined(tree: ast.Module) -> set[str]:
    names = names_bound(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias) and node.asname:
            names.add(node.asname)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


_Add = Callable[[Callable[[str, int], None], str, int], None]


def add_example(claims: Claims, tree: ast.Module, own: Callable[[str], bool], bound: set[str], add: _Add) -> None:
    """The claims of an example: imports, and uses of what they import from the project.

    ``own`` tells whether a top-level module is the project's; ``add`` adds a claim about a word in a line (from 1) of the
    example. ``bound`` are names of the project's things that earlier examples bound, to which this one adds.
    """
    nodes = list(ast.walk(tree))
    named: set[tuple[str, int]] = set()
    for one in imports_of(tree):
        if own(one.top):
            bound.add(one.bound)
            if "." in one.module and (one.module, one.statement) not in named:
                add(claims.imported, one.module, one.statement)
            if one.name not in ("", "*"):
                add(claims.imported, one.name, one.line)
        elif not known.is_python(one.top) and (one.module, one.statement) not in named:
            add(claims.dependency, one.top, one.statement)
        named.add((one.module, one.statement))
    # What is made of the project's things is the project's, to the second remove.
    for _ in range(3):
        for node in nodes:
            _bind(node, bound)
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    fields = {field for node in nodes if isinstance(node, ast.Compare) for field in _fields(node)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and _root(node.value) in bound:
            if node not in fields:
                add(claims.attribute, node.attr, node.end_lineno or node.lineno)
        elif isinstance(node, ast.Call) and _root(node.func) in bound:
            for keyword in node.keywords:
                # What a function is given to hand on is the reader's own.
                if keyword.arg and keyword.arg not in parameters:
                    add(claims.identifier, keyword.arg, keyword.lineno)


def _fields(node: ast.Compare) -> Iterator[ast.Attribute]:
    """Compared attributes: fields of the reader's own data, as in ``User.age > 30``."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            yield part


def _bind(node: ast.AST, bound: set[str]) -> None:
    value: ast.expr | None = None
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        value, targets = node.value, node.targets
    elif isinstance(node, ast.For | ast.AsyncFor):
        value, targets = node.iter, [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        value, targets = node.context_expr, [node.optional_vars]
    while isinstance(value, ast.Await | ast.Subscript):
        value = value.value
    if isinstance(value, ast.Call | ast.Attribute) and _root(value) in bound:
        bound.update(target.id for target in targets if isinstance(target, ast.Name))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Await | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
