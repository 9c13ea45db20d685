"""What pages install: the project itself with extras, from its own tree, and other distributions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence, Set
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion

from workbench.checking.environment import Environment, plain
from workbench.checking.kinds import commands_of, is_install, kind_of
from workbench.checking.nearest import nearest, slip_of
from workbench.checking.page import Page
from workbench.checking.project import Project
from workbench.checking.project_facts import extras_of
from workbench.checking.verdicts import ClaimResult, Truth
from workbench.grounding import known
from workbench.regeneration.declarations import requirements_file

_PIP = re.compile(
    r"^(?:[A-Za-z_]\w*=\S*\s+)*(?:sudo\s+)?(?:(?:(?:python[\d.]*|py)\s+-m\s+)?pip[\d.]*|uv\s+pip)\s+install\b"
)
_OPTIONS = "-c --constraint -i --index-url --extra-index-url -t --target -f --find-links --python"
_WITH_VALUE = frozenset(_OPTIONS.split())
#: Where else than in the registry a command looks.
_ELSEWHERE = re.compile(r"(?<!\S)(?:-i|-f|--index-url|--extra-index-url|--find-links|--no-index)\b|_INDEX_URL=")
_HERE = re.compile(r"(?:\.|\./)(?:\[([\w,. -]+)\])?")


def pip_words(command: str) -> list[str] | None:
    """What a ``pip install`` installs, ``-r FILE`` as one word; None for any other command."""
    text = command.strip().replace("\\\n", " ")
    if not _PIP.match(text):
        return None
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        return None
    found, rest = [], iter(words[words.index("install") + 1 :])
    for word in rest:
        if word in ("&&", ";", "|", "||"):
            return None
        if word in ("-r", "--requirement"):
            found.append(f"-r {next(rest, '')}")
        elif word in _WITH_VALUE:
            next(rest, "")
        elif word in ("-e", "--editable"):
            continue
        elif not word.startswith("-"):
            found.append(word)
    return found


def wanted(pages: Sequence[Page], project: Project) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Extras of the project and other requirements that pages install."""
    extras: dict[str, None] = {}
    others: dict[str, None] = {}
    own = plain(project.declared.name)
    for page in pages:
        for _, command in shell_lines(page, project):
            for word in pip_words(command) or () if not _ELSEWHERE.search(command) else ():
                if word.startswith("-r "):
                    lines = requirements_file(project.root, word[3:])
                    others.update(
                        dict.fromkeys(line for line in lines if (one := requirement_of(line)) and not one.url)
                    )
                    continue
                here = _HERE.fullmatch(word)
                requirement = requirement_of(word)
                if here:
                    extras.update(dict.fromkeys(_extras(here[1] or "")))
                elif requirement is not None and plain(requirement.name) == own:
                    extras.update(dict.fromkeys(sorted(requirement.extras)))
                elif requirement is not None and not requirement.url and not stands_for_one(requirement.name):
                    others[word] = None
    return tuple(extra for extra in extras if extra in project.declared.extras), tuple(others)


def shell_lines(page: Page, project: Project, own: Set[str] | None = None) -> Iterator[tuple[int, str]]:
    """Yield the shell commands of a page with their lines; ``own`` defaults to the declared scripts."""
    for code in page.codes:
        kind = kind_of(code, project.modules, own if own is not None else set(project.declared.scripts))
        if not code.skip and kind in ("install", "shell", "session"):
            for command in commands_of(code.code):
                yield code.line + command.line, command.text


def requirement_of(word: str) -> Requirement | None:
    try:
        return Requirement(word)
    except InvalidRequirement:
        return None


def stands_for_one(name: str) -> bool:
    """Whether a distribution's name is a placeholder: ``PACKAGE``, ``your-plugin``."""
    return name.isupper() or known.is_placeholder(name) or known.is_readers_name(plain(name).replace("-", "_"))


def _missing_of(extras: Sequence[str], project: Project, environment: Environment | None) -> str:
    for extra in extras if environment is not None else ():
        for one in map(requirement_of, project.declared.extras.get(extra, ())):
            applies = one is not None and (one.marker is None or one.marker.evaluate({"extra": extra}))
            if environment and one and applies and plain(one.name) not in environment.installed:
                return f"{one.name} of the extra {extra} could not be installed here"
    return ""


def _extras(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def install_verdict(
    command: str, project: Project, environment: Environment | None
) -> tuple[Literal["own", "works", "fails", "not run"], str]:
    """Verdict on an install command, with the reason; ``own`` for the project where there is no environment."""
    words = pip_words(command)
    if words is None:
        return "not run", "only pip install is carried out, from the repository's own tree"
    own = plain(project.declared.name)
    for word in words:
        if word.startswith("-r "):
            name = word[3:]
            if name not in project.files:
                return ("not run" if project.released else "fails"), f"the repository has no {name}"
            listed = [requirement_of(line) for line in requirements_file(project.root, name)]
            missing = [
                one.name
                for one in listed
                if one is not None and environment is not None and plain(one.name) not in environment.installed
            ]
            if missing:
                return "not run", f"{missing[0]} of {name} is not in the check's environment"
            continue
        here = _HERE.fullmatch(word)
        requirement = None if here else requirement_of(word)
        extras = _extras(here[1] or "") if here else sorted(requirement.extras) if requirement else []
        if missing_extra := _missing_of(extras, project, environment):
            return "not run", missing_extra
        if here:
            continue
        if requirement is None or requirement.url:
            return "not run", f"{word} is not from the registry"
        if plain(requirement.name) == own or (
            environment is not None and plain(requirement.name) in environment.installed
        ):
            continue
        if stands_for_one(requirement.name):
            return "not run", f"{requirement.name} stands for something of the reader's"
        if _ELSEWHERE.search(command):
            return "not run", f"{requirement.name} comes from elsewhere than the registry"
        if environment is not None and plain(requirement.name) in environment.absent:
            return "fails", f"there is no package {requirement.name} in the registry"
        if environment is not None:
            return "not run", f"{requirement.name} is not in the check's environment"
    if environment is None:
        return "own", ""
    return "works", ""


_EXTRA_IN_SPAN = re.compile(r"([A-Za-z][\w.-]*)\[([\w,. -]+)\]")
#: Files in which a repository names distributions, in whatever folder they lie.
_NAMES_DISTRIBUTIONS = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|.*requirements.*\.(?:txt|in)|tox\.ini|environment.*\.ya?ml|Pipfile"
)


class PackageClaims:
    """Claims of one page about distributions, extras and versions."""

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
        spans = ((span.line, span.text) for span in self._page.spans)
        return [one for one in (*shell_lines(self._page, self._project), *spans) if is_install(one[1])]

    def _names_extras(self, word: str) -> bool:
        """Whether a code span names extras: ``Result[T, E]`` is a type, in a project called result too."""
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
        """Whether the declared extras are all: a setup.py may compute more."""
        text = self._project.sources.get("setup.py", b"")
        if re.search(rb"['\"]" + re.escape(name.encode()) + rb"['\"]", text):
            return False
        if self._project.declared.extras:
            return True
        made = b"extras_require" in text or b"optional-dependencies" in self._project.code
        return bool(self._project.declared.name) and not made

    # -- distributions

    def _dependency(self, name: str, line: int) -> ClaimResult:
        """Claim that a distribution is the project or one it needs.

        Pages install others too. One is untrue only where the repository names it nowhere, and it is a slip of a name there
        or all that a README installs.
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
        """Whether the repository, or code of the page, names a distribution or a module like it."""
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
