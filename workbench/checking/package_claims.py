"""What a page says that is installed: the project with its extras and version, and other distributions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import PurePosixPath

from packaging.requirements import Requirement
from packaging.version import InvalidVersion

from workbench.checking.environment import plain
from workbench.checking.installs import pip_words, requirement_of, shell_lines, stands_for_one
from workbench.checking.kinds import is_install
from workbench.checking.nearest import nearest, slip_of
from workbench.checking.page import Page
from workbench.checking.project import Project
from workbench.checking.project_facts import extras_of
from workbench.checking.verdicts import ClaimResult, Truth
from workbench.grounding import known

_EXTRA_IN_SPAN = re.compile(r"([A-Za-z][\w.-]*)\[([\w,. -]+)\]")
_HERE = re.compile(r"(?:\.|\./)(?:\[([\w,. -]+)\])?")
#: Files in which a repository names distributions, in whatever folder they lie.
_NAMES_DISTRIBUTIONS = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|.*requirements.*\.(?:txt|in)|tox\.ini|environment.*\.ya?ml|Pipfile"
)


class PackageClaims:
    """The claims of one page."""

    def __init__(self, page: Page, project: Project) -> None:
        self._page, self._project = page, project
        self._claim = partial(ClaimResult, page.path)
        self._name = plain(project.declared.name)

    def all(self) -> Iterator[ClaimResult]:
        for line, text in self._commands:
            for word in pip_words(text) or ():
                yield from self._requirement(word, line, installed=True)
        for span in self._page.spans:
            if pip_words(span.text) is None and self._names_extras(span.text):
                yield from self._requirement(span.text, span.line, installed=False)

    @cached_property
    def _commands(self) -> list[tuple[int, str]]:
        """Every command of the page's that may install something, with its line."""
        spans = ((span.line, span.text) for span in self._page.spans)
        return [one for one in (*shell_lines(self._page, self._project), *spans) if is_install(one[1])]

    def _names_extras(self, word: str) -> bool:
        """Tell whether code in running text names extras: ``Result[T, E]`` is a type, of a project called result as well."""
        found = _EXTRA_IN_SPAN.fullmatch(word)
        if found is None or found[1] != self._project.declared.name:
            return False
        return all(len(name) > 1 and not name[0].isupper() for name in re.split(r"[,\s]+", found[2]) if name)

    def _requirement(self, word: str, line: int, *, installed: bool) -> Iterator[ClaimResult]:
        here = _HERE.fullmatch(word)
        requirement = None if here else requirement_of(word)
        if here is None and requirement is None:
            return
        if requirement is not None and installed and not requirement.url:
            yield self._dependency(requirement.name, line)
        if requirement is not None and plain(requirement.name) != self._name:
            return
        names = sorted(requirement.extras) if requirement else re.split(r"\s*,\s*", (here and here[1]) or "")
        declared = {plain(name): name for name in extras_of(self._project)}
        for name in filter(None, map(str.strip, names)):
            if name.isupper() and len(name) > 2:
                continue  # it stands for one
            if plain(name) in declared:
                yield self._claim(line, "extra", name, Truth.TRUE)
            elif name == "all" or not self._extras_known(name):
                yield self._claim(line, "extra", name, Truth.UNKNOWN, "the extras of the project cannot be read")
            else:
                near = nearest(name, declared.values(), 0.6)
                yield self._claim(line, "extra", name, Truth.UNTRUE, f"there is no extra {name}", *near)
        if requirement is not None and requirement.specifier:
            said, version = str(requirement.specifier), self._project.declared.version
            truth = Truth.TRUE if _holds(requirement, version) else Truth.UNKNOWN
            yield self._claim(
                line, "version", said, truth, "" if truth is Truth.TRUE else f"the tree is of version {version}"
            )

    def _extras_known(self, name: str) -> bool:
        """Tell whether what is declared is all there is: a setup.py may make extras while it runs."""
        text = self._project.sources.get("setup.py", b"")
        if re.search(rb"['\"]" + re.escape(name.encode()) + rb"['\"]", text):
            return False
        if self._project.declared.extras:
            return True
        made = b"extras_require" in text or b"optional-dependencies" in self._project.code
        return bool(self._project.declared.name) and not made

    # -- distributions

    def _dependency(self, name: str, line: int) -> ClaimResult:
        """Return the claim that a distribution is the project, or one that it needs.

        Pages install others as well. One is untrue only where the repository names it nowhere, and it is a slip of one that it does
        name, or a README installs nothing but it.
        """
        said = plain(name)
        if said == self._name or said in self._declared:
            return self._claim(line, "dependency", name, Truth.TRUE)
        if stands_for_one(name) or known.is_known(name) or not self._name or self._is_named(said):
            return self._claim(line, "dependency", name, Truth.UNKNOWN, "the project does not declare it")
        names = {self._name, *self._declared}
        joined = {one for one in names if one.replace("-", "") == said.replace("-", "")}
        if meant := slip_of(said, names) or min(joined, default=""):
            reason = f"neither the project nor what it needs is called {name}"
            return self._claim(line, "dependency", name, Truth.UNTRUE, reason, meant, meant == self._name)
        if self._installs_only({said}):
            reason = f"the page installs {name}, and not the project"
            return self._claim(line, "dependency", name, Truth.UNTRUE, reason, self._project.declared.name, False)
        return self._claim(line, "dependency", name, Truth.UNKNOWN, "the project does not declare it")

    @cached_property
    def _declared(self) -> frozenset[str]:
        declared = self._project.declared
        words = (
            *declared.requirements,
            *declared.test_requirements,
            *(one for extra in declared.extras.values() for one in extra),
        )
        return frozenset(plain(one.name) for word in words if (one := requirement_of(word)) is not None)

    def _is_named(self, said: str) -> bool:
        """Tell whether a distribution's name, or that of a module like it, stands in the repository or in code of the page."""
        module = said.replace("-", "_")
        parts = {plain(part) for path in self._project.files for part in PurePosixPath(path).with_suffix("").parts}
        words = re.compile(rf"(?<![\w-])(?:{'[-_.]'.join(map(re.escape, said.split('-')))})(?![\w-])", re.I)
        return (
            said in parts
            or self._project.occurs(module)
            or re.search(rf"\b(?:import|from)\s+{module}\b", self._page.text) is not None
            or any(words.search(text) for text in self._lists)
        )

    @cached_property
    def _lists(self) -> tuple[str, ...]:
        paths = [path for path in self._project.files if _NAMES_DISTRIBUTIONS.fullmatch(PurePosixPath(path).name)]
        return tuple((self._project.root / path).read_text("utf-8", "replace")[:200_000] for path in paths)

    def _installs_only(self, said: set[str]) -> bool:
        """Tell whether a README has no other way to install something than by pip, and of that nothing but these."""
        found: set[str] = set()
        for _, text in self._commands:
            words = pip_words(text)
            for word in words if words is not None else ("",):
                requirement = requirement_of(word)
                if requirement is None or requirement.url:
                    return False
                found.add(plain(requirement.name))
        is_readme = PurePosixPath(self._page.path).name.lower().startswith("readme")
        return is_readme and found == said and re.search(r"setup\.py|git clone", self._page.text) is None


def _holds(requirement: Requirement, version: str) -> bool:
    try:
        return requirement.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False
