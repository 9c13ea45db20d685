"""Packages that pages install: the project itself from its own tree, with extras, and other distributions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from workbench.checking.blocks import Lookup, shell_lines
from workbench.checking.environment import CheckEnvironment
from workbench.claims import known
from workbench.claims.claim import CheckedClaim
from workbench.claims.declared import requirement_of
from workbench.claims.page import Page
from workbench.claims.project import ProjectIndex
from workbench.claims.shell import Installed, installs, is_install, simple_commands
from workbench.claims.similarity import nearest, slip_of
from workbench.regeneration.declarations import requirements_file

#: Options that make a command install from somewhere other than the registry.
_ELSEWHERE = re.compile(r"(?<!\S)(?:-i|-f|--index-url|--extra-index-url|--find-links|--no-index)\b|_INDEX_URL=")
_HERE = re.compile(r"(?:\.|\./)(?:\[([\w,. -]+)\])?")


def pip_installs(command: str) -> list[Installed] | None:
    """Return what a ``pip install`` command installs, or None for any other command."""
    commands = simple_commands(command) or ()
    found = installs(commands[0], pip_only=True) if len(commands) == 1 else None
    return found if found is None else [one for one in found if one.option != "-c"]


def wanted(pages: Sequence[Page], project: ProjectIndex) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the project's extras and the other requirements that pages install."""
    extras: dict[str, None] = {}
    others: dict[str, None] = {}
    commands = (text for page in pages for _, text in shell_lines(page, project) if not _ELSEWHERE.search(text))
    for one in (one for command in commands for one in pip_installs(command) or ()):
        here, requirement = _HERE.fullmatch(one.text), requirement_of(one.text)
        if one.option == "-r":
            lines = requirements_file(project.root, one.text)
            others |= dict.fromkeys(line for line in lines if (listed := requirement_of(line)) and not listed.url)
        elif here:
            extras |= dict.fromkeys(_extras(here[1] or ""))
        elif requirement is not None and project.is_called(requirement.name):
            extras |= dict.fromkeys(sorted(requirement.extras))
        elif requirement is not None and not requirement.url and not known.stands_for_a_package(requirement.name):
            others[one.text] = None
    return tuple(extra for extra in extras if extra in project.declared.extras), tuple(others)


def _missing_of(extras: Sequence[str], project: ProjectIndex, installed: frozenset[str]) -> str:
    for extra in extras:
        for one in map(requirement_of, project.declared.extras.get(extra, ())):
            applies = one is not None and (one.marker is None or one.marker.evaluate({"extra": extra}))
            if one and applies and canonicalize_name(one.name) not in installed:
                return f"{one.name} of the extra {extra} could not be installed here"
    return ""


def _extras(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def install_verdict(
    command: str, project: ProjectIndex, environment: CheckEnvironment | None
) -> tuple[Literal["own", "works", "fails", "not run"], str]:
    """Return the verdict on an install command, and the reason.

    ``own`` means that the command installs the project itself; it is returned only if there is no environment.
    """
    words = pip_installs(command)
    if words is None:
        return "not run", "only pip install is carried out, from the repository's own tree"
    for one in words:
        if one.option == "-r":
            if one.text not in project.files:
                return ("not run" if project.released else "fails"), f"the repository has no {one.text}"
            listed = [found for line in requirements_file(project.root, one.text) if (found := requirement_of(line))]
            missing = [found.name for found in listed if environment and not environment.has(found.name)]
            if missing:
                return "not run", f"{missing[0]} of {one.text} is not in the check's environment"
            continue
        here = _HERE.fullmatch(one.text)
        requirement = None if here else requirement_of(one.text)
        extras = _extras(here[1] or "") if here else sorted(requirement.extras) if requirement else []
        if environment and (missing_extra := _missing_of(extras, project, environment.installed)):
            return "not run", missing_extra
        if here:
            continue
        if requirement is None or requirement.url:
            return "not run", f"{one.text} is not from the registry"
        if project.is_called(requirement.name):
            continue
        if environment and environment.has(requirement.name):
            if project.declared.name and not project.may_install(requirement.name):
                return "not run", f"the repository does not mention {requirement.name}"
            continue
        if known.stands_for_a_package(requirement.name):
            return "not run", f"{requirement.name} is a placeholder for something of the reader's"
        if _ELSEWHERE.search(command):
            return "not run", f"{requirement.name} does not come from the registry"
        if environment and canonicalize_name(requirement.name) in environment.absent:
            return "fails", f"there is no package {requirement.name} in the registry"
        if environment:
            return "not run", f"{requirement.name} is not in the check's environment"
    return ("works" if environment else "own"), ""


_EXTRA_IN_SPAN = re.compile(r"([A-Za-z][\w.-]*)\[([\w,. -]+)\]")


class PackageClaims(Lookup):
    """Claims on one page about distributions, extras and versions."""

    def all(self) -> Iterator[CheckedClaim]:
        for line, text in self._commands:
            for one in pip_installs(text) or ():
                if one.option != "-r":
                    yield from self._requirement(one.text, line, installed=True)
        for span in self.page.spans:
            if pip_installs(span.text) is None and self._names_extras(span.text):
                yield from self._requirement(span.text, span.line, installed=False)

    @cached_property
    def _commands(self) -> list[tuple[int, str]]:
        spans = ((span.line, span.text) for span in self.page.spans)
        return [one for one in (*self.shell, *spans) if is_install(one[1])]

    def _names_extras(self, word: str) -> bool:
        """Return whether a code span lists extras. ``Result[T, E]`` is a type, even in a project called result."""
        found = _EXTRA_IN_SPAN.fullmatch(word)
        if found is None or found[1] != self.project.declared.name:
            return False
        return all(len(name) > 1 and not name[0].isupper() for name in re.split(r"[,\s]+", found[2]) if name)

    def _requirement(self, word: str, line: int, *, installed: bool) -> Iterator[CheckedClaim]:
        here = _HERE.fullmatch(word)
        requirement = None if here else requirement_of(word)
        if here is None and requirement is None:
            return
        if requirement is not None and installed and not requirement.url:
            yield self._dependency(requirement.name, line)
        if requirement is not None and not self.project.is_called(requirement.name):
            return
        names = sorted(requirement.extras) if requirement else re.split(r"\s*,\s*", (here and here[1]) or "")
        declared = {canonicalize_name(name): name for name in self.project.extras}
        for name in filter(None, map(str.strip, names)):
            if name.isupper() and len(name) > 2:
                continue  # a placeholder
            if canonicalize_name(name) in declared:
                yield self.true(line, "extra", name)
            elif name == "all" or not self._extras_known(name):
                yield self.unknown(line, "extra", name, "the extras of the project cannot be read")
            else:
                near = nearest(name, declared.values(), 0.6)
                yield self.untrue(line, "extra", name, f"there is no extra {name}", *near)
        if requirement is not None and requirement.specifier:
            specifier, version = str(requirement.specifier), self.project.declared.version
            if _holds(requirement, version):
                yield self.true(line, "version", specifier)
            else:
                yield self.unknown(line, "version", specifier, f"the tree has version {version}")

    def _extras_known(self, name: str) -> bool:
        """Return whether the declared extras are complete; a setup.py may compute more."""
        text = self.project.sources.get("setup.py", b"")
        if re.search(rb"['\"]" + re.escape(name.encode()) + rb"['\"]", text):
            return False
        if self.project.declared.extras:
            return True
        made = b"extras_require" in text or b"optional-dependencies" in self.project.code
        return bool(self.project.declared.name) and not made

    # -- distributions

    def _dependency(self, name: str, line: int) -> CheckedClaim:
        """Return the claim that a distribution is the project or one of its dependencies.

        Pages may install other distributions. A distribution is untrue only if the repository does not mention it, and
        it is either a misspelling of a name that the repository does mention or the only package that a README
        installs.
        """
        normal, own = canonicalize_name(name), self.project.declared.name
        names = {canonicalize_name(own), *self.project.dependencies}
        if normal in names:
            return self.true(line, "dependency", name)
        module = re.escape(normal.replace("-", "_"))
        if not own or self.project.may_install(name) or re.search(rf"\b(?:import|from)\s+{module}\b", self.page.text):
            return self.unknown(line, "dependency", name, "the project does not declare it")
        joined = {one for one in names if one.replace("-", "") == normal.replace("-", "")}
        if suggestion := slip_of(normal, names) or min(joined, default=""):
            reason = f"neither the project nor any of its dependencies is called {name}"
            return self.untrue(line, "dependency", name, reason, suggestion, suggestion == canonicalize_name(own))
        if self._installs_only(normal):
            return self.untrue(line, "dependency", name, f"the page installs {name}, but not the project", own)
        return self.unknown(line, "dependency", name, f"the repository does not mention {name}")

    def _installs_only(self, normal: str) -> bool:
        found: set[str] = set()
        for _, text in self._commands:
            words = pip_installs(text)
            for word in ("",) if words is None else (one.text for one in words):
                requirement = requirement_of(word)
                if requirement is None or requirement.url:
                    return False
                found.add(canonicalize_name(requirement.name))
        is_readme = PurePosixPath(self.page.path).name.lower().startswith("readme")
        return is_readme and found == {normal} and re.search(r"setup\.py|git clone", self.page.text) is None


def _holds(requirement: Requirement, version: str) -> bool:
    try:
        return requirement.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False
