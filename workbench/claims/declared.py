"""The declarations of a project: files, distributions, extras, Python versions and licence."""

from __future__ import annotations

import contextlib
import datetime
import os
import re
from collections.abc import Iterable, Iterator
from email.parser import HeaderParser
from functools import cached_property
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.utils import canonicalize_name

from workbench.regeneration.declarations import Declarations, declarations

#: Names of files, in any folder, that list distributions.
_NAMES_DISTRIBUTIONS = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|.*requirements.*\.(?:txt|in)|tox\.ini|environment.*\.ya?ml|Pipfile"
)


class DeclaredProject:
    """The files of a repository and its declarations; each is read only once."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def declared(self) -> Declarations:
        return declarations(self.root)

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(path.relative_to(self.root).as_posix() for path in tree_files(self.root))

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(str(parent) for path in self.files for parent in PurePosixPath(path).parents)

    @property
    def released(self) -> bool:
        """Whether this is a source distribution, which may lack some of the repository's files."""
        return "PKG-INFO" in self.files

    def is_called(self, distribution: str) -> bool:
        return canonicalize_name(distribution) == canonicalize_name(self.declared.name)

    @cached_property
    def dependencies(self) -> frozenset[str]:
        """Return the normalised names of all distributions that the project declares, for any purpose."""
        declared = self.declared
        extras = (one for extra in declared.extras.values() for one in extra)
        words = (*declared.requirements, *declared.test_requirements, *extras)
        return frozenset(canonicalize_name(one.name) for word in words if (one := requirement_of(word)) is not None)

    @cached_property
    def extras(self) -> frozenset[str]:
        """Return the declared extras and those in built metadata, because a build may add some."""
        found = set(self.declared.extras)
        for name in sorted(self.files):
            if name == "PKG-INFO" or name.endswith((".egg-info/PKG-INFO", ".dist-info/METADATA")):
                metadata = HeaderParser().parsestr((self.root / name).read_text("utf-8", "replace"))
                found |= {str(one) for one in metadata.get_all("Provides-Extra", ())}
        return frozenset(found)

    @cached_property
    def oldest_python(self) -> tuple[int, ...] | None:
        """Return the oldest Python that the project declares, or None if it declares no version."""
        bounds = [
            tuple(int(part) for part in one.version.split(".")[:2] if part.isdigit())
            for one in self._pythons
            if one.operator in (">=", "~=", "==")
        ]
        return max((bound for bound in bounds if len(bound) == 2), default=None)

    @cached_property
    def newest_python(self) -> tuple[int, ...]:
        """Return the newest Python by a declared bound, else by classifiers, else the newest possible release."""
        with contextlib.suppress(ValueError):
            for one in self._pythons:
                numbers = tuple(int(part) for part in one.version.split(".")[:2])
                if one.operator in ("<", "<=") and len(numbers) == 2 and numbers > (3, 0):
                    return numbers if one.operator == "<=" else (numbers[0], numbers[1] - 1)
        named = re.findall(r"Programming Language :: Python :: (\d)\.(\d+)", self._declarations)
        today = datetime.datetime.now(datetime.UTC)
        # Python has one release a year, in October; its pre-releases are available earlier.
        return max(((int(major), int(minor)) for major, minor in named), default=(3, today.year - 2010))

    @cached_property
    def needed_python(self) -> tuple[int, ...] | None:
        """Return the oldest declared Python; without one, (3,) if classifiers name only Python 3, otherwise None."""
        named = set(re.findall(r"Programming Language :: Python :: (\d)", self._declarations))
        return self.oldest_python or ((3,) if named == {"3"} else None)

    @property
    def _pythons(self) -> Iterable[Specifier]:
        with contextlib.suppress(InvalidSpecifier):
            return SpecifierSet(self.declared.python)
        return ()

    @cached_property
    def _declarations(self) -> str:
        names = [name for name in ("setup.py", "pyproject.toml", "setup.cfg", "PKG-INFO") if name in self.files]
        return "\n".join((self.root / name).read_text("utf-8", "replace") for name in names)

    @cached_property
    def licences(self) -> frozenset[str]:
        """Return the licence families in declarations and licence files; there are several if these disagree."""
        found = set(licence_families(self.declared.licence))
        for name in self.licence_files:
            head = " ".join((self.root / name).read_text("utf-8", "replace")[:1500].split())
            # Look only at the title, because the text of the LGPL also mentions the GPL.
            titles = {family: match.start() for family, match in _families(head[:120])}
            found |= {min(titles, key=lambda family: titles[family])} if titles else licence_families(head)
        return frozenset(found)

    @cached_property
    def licence_files(self) -> list[str]:
        """Return the licence files; without any, a declared licence may apply to bindings only."""
        return [name for name in sorted(self.files) if re.fullmatch(r"(?:LICEN[SC]E|COPYING)(?:\.\w+)?", name, re.I)]

    @cached_property
    def lists_of_distributions(self) -> tuple[str, ...]:
        paths = [path for path in self.files if _NAMES_DISTRIBUTIONS.fullmatch(PurePosixPath(path).name)]
        return tuple((self.root / path).read_text("utf-8", "replace")[:200_000] for path in paths)


def requirement_of(word: str) -> Requirement | None:
    with contextlib.suppress(InvalidRequirement):
        return Requirement(word)
    return None


_FAMILIES = (
    ("LGPL", r"\bLGPL|(?i:GNU (?:Lesser|Library) General Public)"),
    ("AGPL", r"\bAGPL|(?i:GNU Affero General Public)"),
    ("GPL", r"(?<![AL])\bGPL|(?i:GNU General Public)"),
    ("MIT", r"\bMIT\b(?![\s-]0)|Permission is hereby granted, free of charge"),
    ("Apache-2.0", r"\bApache\b"),
    ("BSD", r"\bBSD\b|Redistribution and use in source and binary forms"),
    ("MPL-2.0", r"\bMPL(?:v?\d|\b)|Mozilla Public"),
    ("ISC", r"\bISC\b"),
    ("Unlicense", r"\bUnlicense\b"),
    ("PSF", r"\bPSF\b|Python Software Foundation License"),
)


def _families(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    for name, pattern in _FAMILIES:
        if match := re.search(pattern, text):
            yield name, match


def licence_families(text: str) -> frozenset[str]:
    return frozenset(name for name, _ in _families(text))


_FOLDERS = ".git .hg .svn __pycache__ .tox .nox .venv venv node_modules .mypy_cache .pytest_cache"
_LEFT_OUT = frozenset(_FOLDERS.split())


def tree_files(root: Path) -> Iterator[Path]:
    """Yield regular files in order, leaving out version control data, environments and caches."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in _LEFT_OUT and not name.endswith(".egg-info"))
        for name in sorted(files):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path
