"""Claims in a page's Python code: modules, the names in them, and parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.checking.blocks import Lookup, kind_of
from workbench.claims import known
from workbench.claims.claim import CheckedClaim, Truth
from workbench.claims.page import Page, Span
from workbench.claims.project import ProjectIndex
from workbench.claims.python import assigned, example_of, imports_of, names_bound
from workbench.claims.similarity import nearest, one_letter_off, slip_of

_CALL = re.compile(r"@?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\((?:[^()]|\([^()]*\))*\)")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_NAME = re.compile(r"[A-Za-z]\w*_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")


@dataclass(frozen=True, slots=True)
class _Bound:
    """The object that a name on the page refers to: a module, or ``name`` in that module."""

    module: str
    name: str = ""


class NameClaims(Lookup):
    """Claims in the Python code of one page."""

    def __init__(self, page: Page, project: ProjectIndex) -> None:
        super().__init__(page, project)
        self._bound: dict[str, _Bound] = {}
        self._defined: set[str] = set()
        self._foreign: set[str] = set()  # names imported from other projects

    def all(self) -> Iterator[CheckedClaim]:
        examples = (
            (code.line, example_of(code.code))
            for code in self.page.codes
            if not code.skip and kind_of(code, self.project.modules) in ("python", "doctest")
        )
        trees = [(line, tree) for line, tree in examples if tree is not None]
        for _, tree in trees:
            self._defined |= names_bound(tree)
            self._foreign |= {one.bound for one in imports_of(tree) if one.top not in self.project.modules}
        for line, tree in trees:
            yield from self._in(tree, line)
        for span in self.page.spans:
            yield from self._span(span)

    def untrue(
        self, line: int, kind: str, text: str, reason: str, nearest: str = "", exact: bool = False
    ) -> CheckedClaim:
        if kind != "parameter" and known.is_readers_name(text):
            return self.unknown(line, kind, text, f"{reason}; it may stand for the reader's own")
        return super().untrue(line, kind, text, reason, nearest, exact)

    # -- blocks

    def _in(self, tree: ast.Module, first: int) -> Iterator[CheckedClaim]:
        modules: dict[tuple[str, int], CheckedClaim] = {}
        for one in imports_of(tree):
            line, statement, bound = first + one.line - 1, first + one.statement - 1, _Bound(one.module, one.name)
            if one.top not in self.project.modules:
                yield from self._misspelt_module(one.module, line)
                continue
            if (module := modules.get((one.module, statement))) is None:
                module = modules[one.module, statement] = self._module(one.module, statement)
                yield module
            if not one.name:
                bound = _Bound(one.module if one.bound != one.top else one.top)
            elif one.name != "*":
                if module.lookup.truth is Truth.TRUE:
                    yield self._name(one.module, one.name, line, one.name)
                submodule = f"{one.module}.{one.name}"
                bound = _Bound(submodule) if self.project.module_file(submodule) is not None else bound
            self._bound[one.bound] = bound
        reassigned = assigned(tree)
        for node in ast.walk(tree):
            line = first + getattr(node, "lineno", 1) - 1
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
                target = self._bound.get(node.value.id)
                if target and not target.name and node.value.id not in reassigned:
                    yield self._name(target.module, node.attr, line, f"{node.value.id}.{node.attr}")
            elif isinstance(node, ast.Call):
                yield from self._call(node, line)

    def _misspelt_module(self, dotted: str, line: int) -> Iterator[CheckedClaim]:
        """Yield a claim if a module is one letter off from the project's and occurs nowhere in the repository."""
        top = dotted.split(".")[0]
        near = one_letter_off(top, self.project.modules)
        if near and not known.is_known(top) and not self.project.occurs(top):
            yield self.untrue(line, "module", top, f"there is no module {top}", near, True)

    def _module(self, dotted: str, line: int) -> CheckedClaim:
        if self.project.module_file(dotted) is not None:
            return self.true(line, "module", dotted)
        parent, _, last = dotted.rpartition(".")
        path = self.project.module_file(parent) if parent else None
        if (
            path is None
            or not path
            or self.project.names_of(path) is None
            or last in (self.project.names_of(path) or ())
        ):
            return self.unknown(line, "module", dotted, "its package creates names at run time")
        folder = path.rpartition("/")[0]
        siblings = {
            name.removeprefix(f"{folder}/").split("/")[0].removesuffix(".py")
            for name in self.project.files
            if name.startswith(f"{folder}/")
        }
        near, exact = nearest(last, siblings, 0.7)
        if not near and self.project.occurs(last):
            return self.unknown(line, "module", dotted, f"{last} occurs elsewhere in the project")
        suggestion = f"{parent}.{near}" if near else ""
        return self.untrue(line, "module", dotted, f"there is no module {dotted}", suggestion, exact)

    def _name(self, module: str, name: str, line: int, shown: str) -> CheckedClaim:
        project = self.project
        path = project.module_file(module)
        if name.startswith("__") and name.endswith("__"):
            return (self.true if path else self.unknown)(line, "name", shown, "")
        if project.module_file(f"{module}.{name}") is not None:
            return self.true(line, "name", shown)
        words = project.names_of(path) if path and not project.hidden(module) else None
        if words is not None and name in words:
            return self.true(line, "name", shown)
        if words is None:
            return self.unknown(line, "name", shown, f"{module} creates names at run time")
        if project.is_built(name):
            return self.unknown(line, "name", shown, f"{name} may be built")
        public = _public(project, path)
        near = nearest(name, [word for word in words if word in public or word in project.defined], 0.7)
        return self.untrue(line, "name", shown, f"{module} has no {name}", *near)

    def _call(self, node: ast.Call, line: int) -> Iterator[CheckedClaim]:
        target: _Bound | None = None
        if isinstance(node.func, ast.Name):
            target = self._bound.get(node.func.id)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            module = self._bound.get(node.func.value.id)
            target = _Bound(module.module, node.func.attr) if module and not module.name else None
        keywords = [keyword.arg for keyword in node.keywords if keyword.arg]
        if target is None or not target.name or not keywords:
            return
        found = self.project.parameters(target.module, target.name)
        for keyword in keywords:
            shown = f"{target.name}({keyword}=)"
            if found is None:
                yield self.unknown(line, "parameter", shown, "its parameters cannot be read")
            elif keyword in found:
                yield self.true(line, "parameter", shown)
            else:
                reason = f"{target.name} has no parameter {keyword}"
                yield self.untrue(line, "parameter", keyword, reason, *nearest(keyword, found, 0.7))

    # -- running text

    def _span(self, span: Span) -> Iterator[CheckedClaim]:
        text = span.text.strip()
        call = _CALL.fullmatch(text)
        name = call[1] if call else text if _DOTTED.fullmatch(text) or _NAME.fullmatch(text) else ""
        if not name or known.FILE.fullmatch(name) or name.isupper():
            return
        first, *rest = name.split(".")
        if rest and first not in self._defined and (bound := self._bound.get(first)):
            # handles both ``import x as y`` and ``from x import y as z``
            name = ".".join((bound.name or bound.module, *rest))
            first, *rest = name.split(".")
        if rest and first in self.project.modules and self.project.members(first) is None:
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
        elif self.project.occurs(name):
            yield self.true(span.line, "name", text)
        elif suggestion := self._misspelt(name) if call is None else self._slip(name):
            yield self.untrue(span.line, "name", name, f"nothing is called {name}", suggestion, True)
        else:
            yield self.unknown(span.line, "name", text, "it may belong to another program")

    def _slip(self, name: str) -> str:
        return "" if known.is_known(name) else self.project.suggestion(name)

    def _attribute(self, owner: str, rest: list[str], text: str, line: int) -> CheckedClaim:
        name, project = rest[0], self.project
        if (found := project.members(owner)) is not None:
            members, whole = found
            if name in members or (name.startswith("__") and name.endswith("__")):
                return self.true(line, "name", text)
            if whole and not project.occurs(name) and (suggestion := slip_of(name, members)):
                return self.untrue(line, "name", name, f"{owner} has no {name}", suggestion, True)
            return self.unknown(line, "name", text, f"{owner} may inherit {name} or create it at run time")
        if project.occurs(owner) or known.is_known(owner):
            if project.occurs(rest[-1]):
                return self.true(line, "name", text)
            return self.unknown(line, "name", text, "it may belong to another program")
        # Require further evidence: the suggested object must have the attribute that the page uses.
        for suggestion in (project.suggestion(owner), one_letter_off(owner, project.modules)):
            members = (project.members(suggestion) or (frozenset(), False))[0] if suggestion else frozenset()
            if suggestion and (name in members or project.module_file(suggestion) is not None):
                reason = f"nothing is called {owner}"
                return self.untrue(line, "name", owner, reason, suggestion, True)
        if owner[0].islower() and project.occurs(rest[-1]):
            return self.true(line, "name", text)  # one of the reader's own variables
        return self.unknown(line, "name", text, f"nothing in the project is called {owner}")

    def _misspelt(self, name: str) -> str:
        """Return the project's word that is one letter off from a name of several words, or "" if none is."""
        if len(name) < 7 or known.is_known(name) or not re.search(r"[a-z]_[a-z]|[a-z][A-Z]", name):
            return ""
        return one_letter_off(name, self.project.words_like(name))

    def _dotted(self, name: str, line: int, shown: str) -> Iterator[CheckedClaim]:
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if self.project.module_file(module) is not None:
                if length == len(parts):
                    yield self.true(line, "module", shown)
                    return
                missing = parts[length]
                found = self._name(module, missing, line, shown)
                if found.lookup.truth is Truth.TRUE and parts[length + 1 :] and self.project.members(missing):
                    found = self._attribute(missing, parts[length + 1 :], shown, line)
                elif found.lookup.truth is Truth.UNTRUE and self.project.occurs(missing):
                    found = self.unknown(line, "name", shown, f"{missing} occurs elsewhere in the project")
                elif found.lookup.truth is Truth.UNTRUE:
                    sibling = self._module(f"{module}.{missing}", line).lookup.nearest.rpartition(".")[2]
                    if near := slip_of(missing, [found.lookup.nearest, sibling]):
                        found = self.untrue(line, "name", missing, found.lookup.reason, near, True)
                    else:
                        found = self.unknown(line, "name", shown, "no name of the project is similar")
                yield found
                return


def _public(project: ProjectIndex, path: str | None) -> set[str]:
    tree = project.parsed(path) if path else None
    found = set()
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
    return found
