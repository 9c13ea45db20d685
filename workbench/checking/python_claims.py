"""Claims of a page's Python: modules, names in them, and parameters."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from workbench.checking.kinds import assigned, kind_of, names_bound, python_of
from workbench.checking.nearest import nearest, one_letter_off, slip_of
from workbench.checking.page import Code, Page, Span
from workbench.checking.project import Project
from workbench.checking.verdicts import ClaimResult, Truth
from workbench.grounding import known

_CALL = re.compile(r"@?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\((?:[^()]|\([^()]*\))*\)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_NAME = re.compile(r"[A-Za-z]\w*_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a name of the page stands for: a module, or ``name`` of a module."""

    module: str
    name: str = ""


class PythonClaims:
    """Claims of one page's Python code."""

    def __init__(self, page: Page, project: Project) -> None:
        self._page, self._project = page, project
        self._bound: dict[str, _Bound] = {}
        self._defined: set[str] = set()
        self._foreign: set[str] = set()  # what the page's code imports of other projects

    def all(self) -> Iterator[ClaimResult]:
        trees = []
        for code in self._page.codes:
            kind = kind_of(code, self._project.modules)
            if kind in ("python", "doctest") and not code.skip:
                trees += [(code.line, tree) for tree in _trees(code, kind)]
        for _, tree in trees:
            self._defined |= names_bound(tree)
            self._foreign.update(_imported_of_others(tree, self._project.modules))
        for line, tree in trees:
            yield from self._in(tree, line)
        for span in self._page.spans:
            yield from self._span(span)

    def _claim(
        self, line: int, kind: str, text: str, truth: Truth, reason: str = "", near: tuple[str, bool] = ("", False)
    ) -> ClaimResult:
        if truth is Truth.UNTRUE and kind in ("name", "module") and known.is_readers_name(text):
            truth, reason, near = Truth.UNKNOWN, f"{reason}; it may stand for the reader's", ("", False)
        return ClaimResult(self._page.path, line, kind, text, truth, reason, *near)

    # -- blocks

    def _in(self, tree: ast.Module, first: int) -> Iterator[ClaimResult]:
        for node in ast.walk(tree):
            line = first + getattr(node, "lineno", 1) - 1
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] in self._project.modules:
                        yield self._module(alias.name, line)
                        bound = alias.name if alias.asname else alias.name.split(".")[0]
                        self._bound[alias.asname or bound] = _Bound(bound)
                    else:
                        yield from self._misspelt_module(alias.name, line)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in self._project.modules:
                yield from self._from(node, line)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield from self._misspelt_module(node.module, line)
        reassigned = assigned(tree)
        for node in ast.walk(tree):
            line = first + getattr(node, "lineno", 1) - 1
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
                meant = self._bound.get(node.value.id)
                if meant and not meant.name and node.value.id not in reassigned:
                    yield self._name(meant.module, node.attr, line, f"{node.value.id}.{node.attr}")
            elif isinstance(node, ast.Call):
                yield from self._call(node, line)

    def _from(self, node: ast.ImportFrom, line: int) -> Iterator[ClaimResult]:
        assert node.module is not None
        module = self._module(node.module, line)
        yield module
        for alias in node.names:
            if alias.name == "*":
                continue
            if module.truth is Truth.TRUE:
                yield self._name(node.module, alias.name, line, alias.name)
            submodule = f"{node.module}.{alias.name}"
            is_module = self._project.module_file(submodule) is not None
            self._bound[alias.asname or alias.name] = (
                _Bound(submodule) if is_module else _Bound(node.module, alias.name)
            )

    def _misspelt_module(self, dotted: str, line: int) -> Iterator[ClaimResult]:
        """Yield a claim about a module one letter off from one of the project's that occurs nowhere in it."""
        top = dotted.split(".")[0]
        near = one_letter_off(top, self._project.modules)
        if near and not known.is_known(top) and not self._project.occurs(top):
            yield self._claim(line, "module", top, Truth.UNTRUE, f"there is no module {top}", (near, True))

    def _module(self, dotted: str, line: int) -> ClaimResult:
        if self._project.module_file(dotted) is not None:
            return self._claim(line, "module", dotted, Truth.TRUE)
        parent, _, last = dotted.rpartition(".")
        path = self._project.module_file(parent) if parent else None
        if (
            path is None
            or not path
            or self._project.names_of(path) is None
            or last in (self._project.names_of(path) or ())
        ):
            return self._claim(line, "module", dotted, Truth.UNKNOWN, "its package makes names while it runs")
        folder = path.rpartition("/")[0]
        siblings = {
            name.removeprefix(f"{folder}/").split("/")[0].removesuffix(".py")
            for name in self._project.files
            if name.startswith(f"{folder}/")
        }
        near, exact = nearest(last, siblings, 0.7)
        if not near and self._project.occurs(last):
            return self._claim(line, "module", dotted, Truth.UNKNOWN, f"{last} is elsewhere in the project")
        meant = (f"{parent}.{near}" if near else "", exact)
        return self._claim(line, "module", dotted, Truth.UNTRUE, f"there is no module {dotted}", meant)

    def _name(self, module: str, name: str, line: int, shown: str) -> ClaimResult:
        project = self._project
        path = project.module_file(module)
        if name.startswith("__") and name.endswith("__"):
            return self._claim(line, "name", shown, Truth.TRUE if path else Truth.UNKNOWN, "")
        if project.module_file(f"{module}.{name}") is not None:
            return self._claim(line, "name", shown, Truth.TRUE)
        words = project.names_of(path) if path and not project.hidden(module) else None
        if words is not None and name in words:
            return self._claim(line, "name", shown, Truth.TRUE)
        if words is None:
            return self._claim(line, "name", shown, Truth.UNKNOWN, f"{module} makes names while it runs")
        if project.is_built(name):
            return self._claim(line, "name", shown, Truth.UNKNOWN, f"{name} may be built")
        public = _public(project, path)
        near = nearest(name, [word for word in words if word in public or word in project.defined], 0.7)
        return self._claim(line, "name", shown, Truth.UNTRUE, f"{module} has no {name}", near)

    def _call(self, node: ast.Call, line: int) -> Iterator[ClaimResult]:
        target: _Bound | None = None
        if isinstance(node.func, ast.Name):
            target = self._bound.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            module = self._bound.get(node.func.value.id)
            target = _Bound(module.module, node.func.attr) if module and not module.name else None
        keywords = [keyword.arg for keyword in node.keywords if keyword.arg]
        if target is None or not target.name or not keywords:
            return
        found = self._project.definition(target.module, target.name)
        for keyword in keywords:
            shown = f"{target.name}({keyword}=)"
            if found is None or found.parameters is None:
                yield self._claim(line, "parameter", shown, Truth.UNKNOWN, "its parameters cannot be read")
            elif keyword in found.parameters:
                yield self._claim(line, "parameter", shown, Truth.TRUE)
            else:
                near, exact = nearest(keyword, found.parameters, 0.7)
                reason = f"{target.name} has no parameter {keyword}"
                yield self._claim(line, "parameter", keyword, Truth.UNTRUE, reason, (near, exact))

    # -- running text

    def _span(self, span: Span) -> Iterator[ClaimResult]:
        text = span.text.strip()
        call = _CALL.fullmatch(text)
        name = call[1] if call else text if _DOTTED.fullmatch(text) or _NAME.fullmatch(text) else ""
        if not name or known.FILE.fullmatch(name) or name.isupper():
            return
        first, *rest = name.split(".")
        if rest and first not in self._defined and (bound := self._bound.get(first)):
            # import x as y, from x import y as z
            name = ".".join((bound.name or bound.module, *rest))
            first, *rest = name.split(".")
        if rest and first in self._project.modules and self._project.members(first) is None:
            yield from self._dotted(name, span.line, text)
        elif (
            known.is_python(name)
            or known.is_placeholder(name)
            or len(first) < 3
            or first in self._defined | self._foreign
        ):
            return
        elif rest:
            yield self._attribute(first, rest, text, span.line)
        elif self._project.occurs(name):
            yield self._claim(span.line, "name", text, Truth.TRUE)
        elif meant := self._misspelt(name) if call is None else self._slip(name):
            yield self._claim(span.line, "name", name, Truth.UNTRUE, f"nothing is called {name}", (meant, True))
        else:
            yield self._claim(span.line, "name", text, Truth.UNKNOWN, "it may be of another program")

    def _slip(self, name: str) -> str:
        return "" if known.is_known(name) else self._project.meant(name)

    def _attribute(self, owner: str, rest: list[str], text: str, line: int) -> ClaimResult:
        name, project = rest[0], self._project
        if (found := project.members(owner)) is not None:
            members, whole = found
            if name in members or (name.startswith("__") and name.endswith("__")):
                return self._claim(line, "name", text, Truth.TRUE)
            if whole and not project.occurs(name) and (meant := slip_of(name, members)):
                return self._claim(line, "name", name, Truth.UNTRUE, f"{owner} has no {name}", (meant, True))
            return self._claim(line, "name", text, Truth.UNKNOWN, f"{owner} may inherit or make {name}")
        if project.occurs(owner) or known.is_known(owner):
            if project.occurs(rest[-1]):
                return self._claim(line, "name", text, Truth.TRUE)
            return self._claim(line, "name", text, Truth.UNKNOWN, "it may be of another program")
        # Two witnesses: what is meant has what the page takes from it.
        for meant in (project.meant(owner), one_letter_off(owner, project.modules)):
            members = (project.members(meant) or (frozenset(), False))[0] if meant else frozenset()
            if meant and (name in members or project.module_file(meant) is not None):
                reason = f"nothing is called {owner}"
                return self._claim(line, "name", owner, Truth.UNTRUE, reason, (meant, True))
        if owner[0].islower() and project.occurs(rest[-1]):
            return self._claim(line, "name", text, Truth.TRUE)  # a variable of the reader's
        return self._claim(line, "name", text, Truth.UNKNOWN, f"nothing in the project is called {owner}")

    def _misspelt(self, name: str) -> str:
        """The project's own word that a name of several words is one letter off from; "" if none."""
        if len(name) < 7 or known.is_known(name) or not re.search(r"[a-z]_[a-z]|[a-z][A-Z]", name):
            return ""
        return one_letter_off(name, self._project.words_like(name))

    def _dotted(self, name: str, line: int, shown: str) -> Iterator[ClaimResult]:
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if self._project.module_file(module) is not None:
                if length == len(parts):
                    yield self._claim(line, "module", shown, Truth.TRUE)
                    return
                found = self._name(module, parts[length], line, shown)
                missing = parts[length]
                if found.truth is Truth.TRUE and parts[length + 1 :] and self._project.members(missing):
                    found = self._attribute(missing, parts[length + 1 :], shown, line)
                elif found.truth is Truth.UNTRUE and self._project.occurs(missing):
                    found = self._claim(line, "name", shown, Truth.UNKNOWN, f"{missing} is elsewhere in the project")
                elif found.truth is Truth.UNTRUE:
                    near = slip_of(
                        missing, [found.nearest, self._module(f"{module}.{missing}", line).nearest.rpartition(".")[2]]
                    )
                    truth, reason = (Truth.UNTRUE, found.reason) if near else (Truth.UNKNOWN, "nothing is near it")
                    found = self._claim(line, "name", missing if near else shown, truth, reason, (near, True))
                yield found
                return


def _public(project: Project, path: str | None) -> set[str]:
    tree = project.parsed(path) if path else None
    found = set()
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _trees(code: Code, kind: str) -> Iterator[ast.Module]:
    text = code.code
    if kind == "doctest":
        try:
            examples = doctest.DocTestParser().get_examples(code.code)
        except ValueError:
            return
        lines: dict[int, str] = {}
        for example in examples:
            lines.update(enumerate(example.source.splitlines(), example.lineno))
        text = "\n".join(lines.get(number, "") for number in range(max(lines, default=-1) + 1))
    tree = python_of(text)
    if tree is not None:
        yield tree


def _imported_of_others(tree: ast.Module, own: Set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.asname or one.name for one in node.names if one.name.split(".")[0] not in own)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] not in own:
            yield from (one.asname or one.name for one in node.names)
