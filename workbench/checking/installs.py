"""What the pages install: the project itself with extras, which comes from its own tree, and other distributions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement

from workbench.checking.environment import Environment, plain
from workbench.checking.kinds import commands_of, kind_of
from workbench.checking.page import Page
from workbench.checking.project import Project
from workbench.grounding import known
from workbench.regeneration.declarations import requirements_file

_PIP = re.compile(
    r"^(?:[A-Za-z_]\w*=\S*\s+)*(?:sudo\s+)?(?:(?:(?:python[\d.]*|py)\s+-m\s+)?pip[\d.]*|uv\s+pip)\s+install\b"
)
_WITH_VALUE = {
    "-r",
    "--requirement",
    "-c",
    "--constraint",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-t",
    "--target",
    "-f",
    "--find-links",
    "--python",
}
#: Where else than in the registry a command looks.
_ELSEWHERE = re.compile(r"(?<!\S)(?:-i|-f|--index-url|--extra-index-url|--find-links|--no-index)\b|_INDEX_URL=")
_HERE = re.compile(r"(?:\.|\./)(?:\[([\w,. -]+)\])?")


def pip_words(command: str) -> list[str] | None:
    """Return what a ``pip install`` is told to install, with ``-r FILE`` as one word; None if it is no such command."""
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
    """Return the extras of the project and the other requirements that pages install."""
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


def shell_lines(page: Page, project: Project) -> Iterator[tuple[int, str]]:
    """Yield the commands of a page's blocks for a shell, each with its line."""
    for code in page.codes:
        kind = kind_of(code, project.modules, set(project.declared.scripts))
        if not code.skip and kind in ("install", "shell", "session"):
            for command in commands_of(code.code):
                yield code.line + command.line, command.text


def requirement_of(word: str) -> Requirement | None:
    """Return what a word requires, None where it is no requirement."""
    try:
        return Requirement(word)
    except InvalidRequirement:
        return None


def stands_for_one(name: str) -> bool:
    """Tell whether a distribution's name is the reader's to choose: ``PACKAGE``, ``your-plugin``."""
    return name.isupper() or known.is_placeholder(name) or known.is_readers_name(plain(name).replace("-", "_"))


def _missing_of(extras: Sequence[str], project: Project, environment: Environment | None) -> str:
    """Return what an extra of the project's lacks here, "" for nothing."""
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
    """Return what becomes of a command that installs something, and why; ``own`` if it is the project and there is no environment."""
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
