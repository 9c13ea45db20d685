"""Chains of steps that may run apart from the rest of the page, each in its own sandbox.

A chain is a set of steps that must run together and in order: snippets together with the code that binds the names they
use, or a single shell command. This module proposes chains that static analysis does not rule out; :mod:`.executing`
and ``runner/page_runner.py`` observe whether a chain really depended on no earlier step and left nothing behind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.checking.steps import PagePlan, PlannedStep
from workbench.claims.python import python_of
from workbench.claims.shell import simple_commands

#: Functions, modules and words (also in strings) that can access names in ways that static analysis does not see.
_NAMED = "globals locals vars dir help exec eval compile __import__ setattr delattr __builtins__ get_ipython"
_FUNCTIONS = frozenset(_NAMED.split())
_IMPORTED = "importlib inspect pickle shelve multiprocessing doctest unittest timeit runpy gc ctypes builtins imp code"
_MODULES = frozenset(_IMPORTED.split())
_WORDS = re.compile(r"__main__|__dict__|sys\.modules|_getframe|_current_frames|__class__|__subclasses__")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class SnippetNames:
    """Names that a snippet binds and needs.

    ``binds`` excludes names that any snippet can import again; ``repeated`` holds the source of those imports. ``open``
    means that the snippet may use or bind names that cannot be determined.
    """

    binds: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    repeated: tuple[str, ...] = ()
    open: bool = False


def _names(step: PlannedStep) -> SnippetNames:
    code = typed(step.code) if step.kind == "doctest" else step.code
    tree = python_of(code)
    if tree is None or any(isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) for node in ast.walk(tree)):
        return SnippetNames(open=True)
    mentioned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if _WORDS.search(code) or mentioned & _FUNCTIONS or _modules(tree) & _MODULES:
        return SnippetNames(open=True)
    repeated = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    imports = set(_imported(repeated))
    own = _stored(tree)
    if "*" in imports | own or any(_reaches_out(node, own - imports) for node in ast.walk(tree)):
        return SnippetNames(open=True)
    needs: set[str] = set()
    _follow(tree.body, set(), needs)
    binds = {name for node in tree.body if node not in repeated for name in _bound(node)}
    # A doctest session binds ``_`` to the value of its last expression, so it binds ``_`` too.
    binds |= {"_"} if step.kind == "doctest" else set()
    return SnippetNames(
        frozenset(binds), frozenset(imports), frozenset(needs), tuple(ast.unparse(one) for one in repeated)
    )


def _modules(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def _reaches_out(node: ast.AST, own: set[str]) -> bool:
    """Return whether a node sets an attribute or item of an object from elsewhere.

    ``lib.option = 3`` outlives the snippet.
    """
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        root: ast.AST = node
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        return not (isinstance(root, ast.Name) and (root.id in own or root.id in ("self", "cls")))
    return isinstance(node, ast.Global)


def _stored(tree: ast.AST) -> set[str]:
    return {name for node in ast.walk(tree) for name in _binding(node)}


def _binding(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        yield node.name or ""
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imported([node])


def _imported(nodes: Sequence[ast.Import | ast.ImportFrom]) -> Iterable[str]:
    for node in nodes:
        for alias in node.names:
            yield alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.split(".")[0])


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, _DEFINITIONS):
        return {statement.name, *(name for one in statement.decorator_list for name in _stored(one))}
    return _stored(statement)


def _follow(statements: Sequence[ast.stmt], bound: set[str], needs: set[str]) -> None:
    """Add unbound names that the statements need to ``needs``, and names that they certainly bind to ``bound``."""
    for one in statements:
        if isinstance(one, ast.Import | ast.ImportFrom):
            bound |= set(_imported([one]))
        elif isinstance(one, _DEFINITIONS):
            # A function may be called right away, so the names in its body are needed now.
            needs |= _used(one, frozenset()) - bound - {one.name}
            bound.add(one.name)
        elif isinstance(one, ast.For | ast.AsyncFor):
            needs |= _used(one.iter, frozenset()) - bound
            inside = bound | _stored(one.target)
            _follow(one.body, inside, needs)
            _follow(one.orelse, set(bound), needs)
        elif isinstance(one, ast.With | ast.AsyncWith):
            inside = set(bound)
            for item in one.items:
                needs |= _used(item.context_expr, frozenset()) - inside
                inside |= _stored(item.optional_vars) if item.optional_vars is not None else set()
            bound |= inside
            _follow(one.body, set(inside), needs)
        elif isinstance(one, ast.If | ast.While):
            needs |= _used(one.test, frozenset()) - bound
            _follow(one.body, set(bound), needs)
            _follow(one.orelse, set(bound), needs)
        elif isinstance(one, ast.Assign) and all(isinstance(target, ast.Name | ast.Tuple) for target in one.targets):
            needs |= _used(one, frozenset()) - bound
            bound |= {name for target in one.targets for name in _stored(target)}
        elif isinstance(one, ast.AnnAssign):
            needs |= _used(one, frozenset()) - bound
            bound |= _stored(one.target) if one.value is not None else set()
        else:
            # Other statements (try, match, del, augmented assignment) are not certain to bind anything.
            needs |= (_used(one, frozenset()) | _handled(one)) - bound


def _handled(statement: ast.stmt) -> set[str]:
    return _stored(statement) if isinstance(statement, ast.AugAssign | ast.Delete) else set()


def _used(node: ast.AST, local: frozenset[str]) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id} - local if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        own = local | {name for one in node.generators for name in _stored(one.target)}
        first = _used(node.generators[0].iter, local)
        return first | {name for child in ast.iter_child_nodes(node) for name in _used(child, own)}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = node.args
        outside: list[ast.AST] = [one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None]
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        outside += [one.annotation for one in parameters if one is not None and one.annotation is not None]
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        if not isinstance(node, ast.Lambda):
            outside += [*node.decorator_list, *([node.returns] if node.returns is not None else [])]
        own = local | {one.arg for one in parameters if one is not None}
        if not isinstance(node, ast.Lambda):
            own |= {name for one in body for name in _stored(one)}
        return {name for one in outside for name in _used(one, local)} | {
            name for one in body for name in _used(one, own)
        }
    return {name for child in ast.iter_child_nodes(node) for name in _used(child, local)}


#: Commands that change the working directory, files or variables, so that later steps may depend on them.
_CHANGES = frozenset(
    {
        "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "alias", "local", "read", "declare", "umask", "exit",
        "cp", "mv", "rm", "mkdir", "rmdir", "touch", "tee", "ln", "chmod", "tar", "gzip", "gunzip", "zip", "unzip",
    }
)  # fmt: skip
_WRITES = re.compile(
    r"\b(?:chdir|environ|putenv|write_text|write_bytes|mkdir|makedirs|touch|unlink|rename|rmtree)\b|"
    r"\bopen\([^()]*['\"][wax]b?\+?['\"]"
)


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps that run together; the imports of the earlier snippets at the indices ``imports`` must have succeeded."""

    steps: tuple[int, ...]
    imports: tuple[int, ...] = ()


def imports_of(step: PlannedStep) -> tuple[str, ...]:
    return _names(step).repeated


def chains_of(plan: PagePlan) -> tuple[Chain, ...]:
    run = [(at, step) for at, step in enumerate(plan.steps) if step.kind != "settled"]
    first_change = next((at for at, step in run if _changes(step)), len(plan.steps))
    pythons = {at: _names(step) for at, step in run if step.kind != "shell"}
    members = {at: {at} for at in pythons}
    imports: dict[int, set[int]] = {at: set() for at in pythons}
    for at, names in pythons.items():
        for before, others in pythons.items():
            if before >= at:
                break
            if names.open or others.open or others.binds & names.needs:
                _join(members, before, at)
            # Repeating the import would rebind a name of the other snippet.
            if others.binds & names.imports or others.imports & names.binds:
                _join(members, before, at)
            if others.imports & names.needs:
                imports[at].add(before)
    found = [Chain((at,)) for at, step in run if step.kind == "shell" and at < first_change]
    for chain in {id(one): one for one in members.values()}.values():
        if max(chain) < first_change and not any(pythons[at].open for at in chain):
            used = {one for at in chain for one in imports[at]} - chain
            found.append(Chain(tuple(sorted(chain)), tuple(sorted(used))))
    return tuple(sorted(found, key=lambda chain: chain.steps[0]))


def _join(members: dict[int, set[int]], one: int, other: int) -> None:
    if members[one] is not members[other]:
        whole = members[one]
        whole |= members[other]
        for at in whole:
            members[at] = whole


def _changes(step: PlannedStep) -> bool:
    if step.kind != "shell":
        return _WRITES.search(step.code) is not None
    parts = simple_commands(step.code)
    if parts is None or ">" in step.code or "&" in step.code.replace("&&", "").replace("2>&1", ""):
        return True
    assigned = re.match(r"\s*[A-Za-z_]\w*=\S*\s*$", step.code)
    return assigned is not None or any(words[0] in _CHANGES for words in parts)


def typed(code: str) -> str:
    """Return only the input lines of a Python session; return any other snippet unchanged."""
    lines = [line.lstrip() for line in code.splitlines()]
    if not any(line.startswith((">>> ", "... ")) for line in lines):
        return code
    return "\n".join(line[4:] if line.startswith((">>> ", "... ")) else "" for line in lines)
