"""A project's licence and oldest Python by its declarations and licence file; and what prose says of them."""

from __future__ import annotations

import configparser
import contextlib
import datetime
import re
import tomllib
from email.parser import HeaderParser
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from workbench.checking.project import Project

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
#: Python with its version, in whatever marks: ``**Python** 3.9``, ``Python: 3.9``, ``Python (3.9``, ``python_requires = ">=3.9``.
_PYTHON = r"\b(?:c?python|py(?=\d))(?:[\s*_`:(=\"'v-]|\bversions?\b|requires\b)*"
_VERSION = r"(?P<v>\d\.\d{1,2})\b(?!\.\d)"
_AT_LEAST = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        _PYTHON
        + r"(?:>=|≥)?\s*(?P<v>\d\.\d{1,2})\s*(?:\+|\(?(?:or|and)\s+(?:newer|later|higher|above|greater|up)\b|up\b)",
        _PYTHON + r"(?:>=|≥)\s*(?P<v>\d\.\d{1,2})\b",
        r"\b(?:requires?(?:\s+at\s+least)?|needs?\s+at\s+least|at\s+least)\s+" + _PYTHON + r"(?:>=|≥)?\s*" + _VERSION,
        r"\b(?:requires-python|minimum\s+" + _PYTHON + r")[\s*_`:=\"'v]*(?:is\s+|>=|≥)?\s*" + _VERSION,
    )
)


def python_bound(row: str) -> tuple[str, tuple[int, ...]] | None:
    """The oldest Python that a line states, as written and as numbers; None for no or several versions."""
    found = {match["v"]: match[0] for pattern in _AT_LEAST for match in pattern.finditer(row)}
    if len(found) != 1 or len(set(re.findall(r"(?<![\d.])[23]\.\d{1,2}\b", row))) != 1:
        return None
    version, text = next(iter(found.items()))
    return text, tuple(int(part) for part in version.split("."))


def oldest_python(project: Project) -> tuple[int, ...] | None:
    """The oldest Python that a project declares; None where it declares none that can be read."""
    said = _requires_python(project)
    try:
        specifiers = SpecifierSet(said) if said else ()
    except InvalidSpecifier:
        return None
    bounds = [
        tuple(int(part) for part in one.version.split(".")[:2] if part.isdigit())
        for one in specifiers
        if one.operator in (">=", "~=", "==")
    ]
    return max((bound for bound in bounds if len(bound) == 2), default=None)


def newest_python(project: Project) -> tuple[int, ...]:
    """The newest Python by a declared bound, else by classifiers, else the newest that may exist."""
    with contextlib.suppress(InvalidSpecifier, ValueError):
        for one in SpecifierSet(_requires_python(project)):
            numbers = tuple(int(part) for part in one.version.split(".")[:2])
            if one.operator in ("<", "<=") and len(numbers) == 2 and numbers > (3, 0):
                return numbers if one.operator == "<=" else (numbers[0], numbers[1] - 1)
    named = re.findall(r"Programming Language :: Python :: (\d)\.(\d+)", _declarations(project))
    today = datetime.datetime.now(datetime.UTC)
    # One a year, in October; the next one can be tried before.
    return max(((int(major), int(minor)) for major, minor in named), default=(3, today.year - 2010))


def needed_python(project: Project) -> tuple[int, ...] | None:
    """The oldest declared Python, or (3,) where classifiers name only Python 3; else None."""
    if (oldest := oldest_python(project)) is not None:
        return oldest
    named = set(re.findall(r"Programming Language :: Python :: (\d)", _declarations(project)))
    return (3,) if named == {"3"} else None


def _declarations(project: Project) -> str:
    names = [name for name in ("setup.py", "pyproject.toml", "setup.cfg", "PKG-INFO") if name in project.files]
    return "\n".join((project.root / name).read_text("utf-8", "replace") for name in names)


def _requires_python(project: Project) -> str:
    table = _pyproject(project)
    stated = _table(table.get("project")).get("requires-python")
    if not stated:
        poetry = _table(_table(_table(table.get("tool")).get("poetry")).get("dependencies")).get("python")
        if isinstance(poetry, str):
            stated = re.sub(r"^[\^~]\s*", ">=", poetry)
    if not stated:
        config = configparser.ConfigParser(interpolation=None, strict=False)
        with contextlib.suppress(configparser.Error, UnicodeDecodeError):
            config.read(project.root / "setup.cfg", encoding="utf-8")
            stated = config.get("options", "python_requires", fallback=None)
    if not stated:
        found = re.search(rb"python_requires\s*=\s*['\"]([^'\"]+)['\"]", project.sources.get("setup.py", b""))
        stated = found[1].decode("utf-8", "replace") if found else None
    if not stated and (project.root / "PKG-INFO").is_file():
        stated = (
            HeaderParser().parsestr((project.root / "PKG-INFO").read_text("utf-8", "replace")).get("Requires-Python")
        )
    return str(stated or "")


def extras_of(project: Project) -> frozenset[str]:
    """Declared extras, and those of built metadata: a build may add some."""
    found = set(project.declared.extras)
    for name in sorted(project.files):
        if name == "PKG-INFO" or name.endswith((".egg-info/PKG-INFO", ".dist-info/METADATA")):
            said = HeaderParser().parsestr((project.root / name).read_text("utf-8", "replace"))
            found |= {str(one) for one in said.get_all("Provides-Extra", ())}
    return frozenset(found)


def licence_families(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _FAMILIES if re.search(pattern, text))


def licence_of(project: Project) -> frozenset[str]:
    """Licence families that a project declares or includes the text of; several where these disagree."""
    stated: list[str] = []
    declared = _table(_pyproject(project).get("project")).get("license")
    if isinstance(declared, dict):
        stated.append(str(declared.get("text", "")))
    elif declared:
        stated.append(str(declared))
    found = set(licence_families(" ".join(stated)))
    for name in licence_file(project):
        head = " ".join((project.root / name).read_text("utf-8", "replace")[:1500].split())
        found |= _titled(head) or licence_families(head)
    return frozenset(found)


def licence_file(project: Project) -> list[str]:
    """Names of licence files. A declaration alone may be about bindings."""
    return [name for name in sorted(project.files) if re.fullmatch(r"(?:LICEN[SC]E|COPYING)(?:\.\w+)?", name, re.I)]


def _titled(head: str) -> frozenset[str]:
    """Family in a licence's title: the text of the LGPL goes on to name the GPL."""
    first = {name: match.start() for name, pattern in _FAMILIES if (match := re.search(pattern, head[:120]))}
    return frozenset([min(first, key=lambda name: first[name])] if first else ())


def _pyproject(project: Project) -> dict[str, Any]:
    try:
        return tomllib.loads((project.root / "pyproject.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
