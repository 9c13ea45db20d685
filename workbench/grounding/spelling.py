"""Spellings under which a claim is searched for."""

from __future__ import annotations

import re

from workbench.grounding import known
from workbench.grounding.items import Claim, Place

NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
OPTION = re.compile(r"(?<![\w-])(?:--[A-Za-z][\w-]*|-[A-Za-z](?![\w-]))")
_MOST = 120


def identifier(text: str, place: Place, *, certain: bool = True) -> Claim | None:
    """Claim about a dotted name without its commonly known parts; None if all are known."""
    parts = [part for part in text.split(".") if not known.is_known(part)]
    if len(text) > _MOST or ("." in text and known.is_python(text)):
        return None
    if not parts:
        # Python has such a name as well: it is the project's where the project defines it.
        return (
            Claim("identifier", text, place, (_definitions(text),), certain=False) if known.may_be_own(text) else None
        )
    certain = certain and not known.is_placeholder(text)
    return Claim("identifier", text, place, tuple((part,) for part in parts), certain)


def imported(text: str, place: Place) -> Claim | None:
    """Claim about an import from the project, which is the project's under any name."""
    parts = tuple((part,) for part in text.split("."))
    return Claim("identifier", text, place, parts, not known.is_placeholder(text)) if len(text) <= _MOST else None


def attribute(name: str, place: Place) -> Claim | None:
    """Claim about an attribute of a project's object; None for one that every object has."""
    if len(name) > _MOST or (name.startswith("__") and name.endswith("__")):
        return None
    if known.is_attribute(name):
        # What the project returns may be a list or a date of Python's own.
        return Claim("identifier", name, place, ((f".{name}", *_definitions(name)),), certain=False)
    return Claim("identifier", name, place, ((name,),), not known.is_placeholder(name))


def _definitions(name: str) -> tuple[str, ...]:
    return f"def {name}", f"class {name}"


def path(text: str, place: Place, *, certain: bool = True) -> Claim | None:
    """Claim about a file or folder; None if it is no path in a repository."""
    plain = re.sub(r"^(?:\./)+", "", text.replace("\\", "/")).rstrip("/")
    if (
        not plain
        or len(plain) > _MOST
        or plain.startswith(("/", "~", "..", "http:", "https:", "-"))
        or plain in {".", "*"}
    ):
        return None
    if known.is_everybodys_file(plain):
        return None
    certain = certain and not known.is_placeholder(plain)
    return Claim("path", text, place, ((plain,),), certain)


def option(text: str, place: Place, *, certain: bool = True) -> Claim | None:
    """Claim about an option; None for ``--help``."""
    if text in {"--help", "-h"} or len(text) > _MOST:
        return None
    return Claim("option", text, place, ((text,),), certain and not known.is_placeholder(text))


def dependency(text: str, place: Place, *, certain: bool = True) -> Claim | None:
    """Claim about a package; capitals, ``-``, ``_`` and ``.`` make no difference (PEP 503)."""
    found = re.match(r"[A-Za-z0-9][\w.-]*[A-Za-z0-9]|[A-Za-z]", text)
    if found is None or len(text) > _MOST:
        return None
    name = found.group()
    dashed = re.sub(r"[-_.]", "-", name)
    cases = (dashed, dashed.lower(), dashed.title(), dashed.upper())
    forms = {name, *(form.replace("-", mark) for form in cases for mark in "-_.")}
    return Claim("dependency", name, place, (tuple(sorted(forms)),), certain and not known.is_placeholder(name))


def command(text: str, place: Place, *, certain: bool = True) -> Claim | None:
    """Claim about a program of the project."""
    if len(text) > _MOST or not re.fullmatch(r"[A-Za-z][\w.-]*", text):
        return None
    return Claim("command", text, place, ((text,),), certain and not known.is_placeholder(text))
