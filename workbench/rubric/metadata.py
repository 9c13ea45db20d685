"""Check metadata against schema.org's types for software, and report findings in plain words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

from workbench.rubric.scorecard import quote

#: schema.org's types for software, each with its own properties and the types of their values.
_TABLE: dict[str, dict[str, tuple[str, ...]]] = {}
for _word in Path(__file__).with_name("schema_org.txt").read_text("utf-8").split():
    _name, _, _kinds = _word.partition(":")
    if _kinds:
        next(reversed(_TABLE.values()))[_name] = tuple(_kinds.split("|"))
    else:
        _TABLE[_name] = {}

_PARENT = {
    "CreativeWork": "Thing",
    "SoftwareSourceCode": "CreativeWork",
    "SoftwareApplication": "CreativeWork",
    "WebApplication": "SoftwareApplication",
    "MobileApplication": "SoftwareApplication",
    "VideoGame": "SoftwareApplication",
    "OperatingSystem": "SoftwareApplication",
    "RuntimePlatform": "SoftwareApplication",
}

SOFTWARE_TYPES = tuple(name for name in _PARENT if name != "CreativeWork")
"""The types that describe a piece of software; ``CreativeWork`` and ``Thing`` are correct but too general."""

GENERAL_TYPES = ("CreativeWork", "Thing")

SCALARS = frozenset({"Text", "URL", "Date", "DateTime", "Duration", "Number", "Integer", "Boolean"})


@cache
def properties(type_name: str) -> dict[str, tuple[str, ...]]:
    """Return property → expected types of value for a type, including inherited properties; {} for an unknown type."""
    known: dict[str, tuple[str, ...]] = {}
    step: str | None = type_name
    while step is not None:
        known = _TABLE.get(step, {}) | known
        step = _PARENT.get(step)
    return known


@cache
def owners(property_name: str) -> tuple[str, ...]:
    return tuple(name for name, known in _TABLE.items() if property_name in known)


Severity = Literal["missing", "wrong", "unknown", "loose"]

_MOST = 50
_DEEPEST = 6
_CONTEXTS = re.compile(r"https?://(www\.)?schema\.org/?")
_PREFIX = re.compile(r"^(https?://(www\.)?schema\.org/|schema:)")
_FORMS = {
    "URL": re.compile(r"^(https?|ftp|git|git\+https|git\+ssh|ssh|mailto|urn|doi):\S+$", re.IGNORECASE),
    "Date": re.compile(r"^\d{4}(-\d\d(-\d\d)?)?$"),
    "DateTime": re.compile(r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$"),
    "Duration": re.compile(r"^P(?=.)(\d+[YMWD])*(T(\d+(\.\d+)?[HMS])+)?$"),
    "Number": re.compile(r"^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$"),
    "Integer": re.compile(r"^[+-]?\d+$"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A remark about the metadata; ``path`` is the key, dotted for nested objects (``author.name``)."""

    severity: Severity  # ``missing``, ``wrong`` (value), ``unknown`` (type or property), ``loose`` (understandable)
    path: str
    message: str


def metadata_findings(metadata: object) -> tuple[Finding, ...]:
    """Return at most 50 findings; never raises."""
    if metadata is None:
        return (Finding("missing", "", "there is no metadata"),)
    if not isinstance(metadata, Mapping):
        return (Finding("wrong", "", "the metadata is not an object with keys"),)
    if not metadata:
        return (Finding("missing", "", "the metadata is empty"),)
    try:
        return tuple(islice(_whole(metadata), _MOST))
    except Exception as problem:  # inspecting an untrusted object can raise anything
        return (Finding("wrong", "", f"the metadata cannot be read ({type(problem).__name__})"),)


def software_types(metadata: object) -> tuple[str, ...]:
    if not isinstance(metadata, Mapping):
        return ()
    return tuple(name for name in _types(metadata) if name in SOFTWARE_TYPES)


def right_context(value: object) -> bool:
    """Return whether a ``@context`` includes the schema.org vocabulary, as a string or in a list."""
    if isinstance(value, str):
        return _CONTEXTS.fullmatch(value) is not None
    if isinstance(value, list | tuple):
        return any(right_context(item) for item in value[:_MOST] if isinstance(item, str))
    return isinstance(value, Mapping) and right_context(value.get("@vocab"))


def _types(node: Mapping[object, object]) -> tuple[str, ...]:
    value = node.get("@type")
    items = value if isinstance(value, list | tuple) else (value,)
    return tuple(_PREFIX.sub("", item) for item in items[:_MOST] if isinstance(item, str) and item)


def _whole(metadata: Mapping[object, object]) -> Iterator[Finding]:
    context = metadata.get("@context")
    if not context:
        yield Finding("missing", "@context", "@context is missing: without it, the keys have no defined meaning")
    elif not right_context(context):
        yield Finding("wrong", "@context", f"@context is {quote(str(context), 60)}, not https://schema.org")
    if "@graph" in metadata:
        yield Finding("loose", "@graph", "@graph contains several objects; one software object is expected")
    yield from _type_findings(metadata)
    for name in ("name", "description"):
        if not metadata.get(name):
            yield Finding("missing", name, f"{name} is missing or empty")
    yield from _node(metadata, "", 0)


def _type_findings(metadata: Mapping[object, object]) -> Iterator[Finding]:
    found = _types(metadata)
    if not found:
        yield Finding("missing", "@type", "@type is missing: SoftwareSourceCode or SoftwareApplication is expected")
        return
    if any(name in SOFTWARE_TYPES for name in found):
        return
    name = quote(found[0], 60)
    near = difflib.get_close_matches(found[0][:60], SOFTWARE_TYPES, 1, 0.6)
    if found[0] in GENERAL_TYPES:
        yield Finding("loose", "@type", f"@type {name} is too general: SoftwareSourceCode fits a repository")
    elif near:
        yield Finding("unknown", "@type", f"@type {name} does not exist; {near[0]} is near")
    else:
        yield Finding("wrong", "@type", f"@type {name} is not a type for software, such as SoftwareSourceCode")


def _node(node: Mapping[object, object], path: str, depth: int) -> Iterator[Finding]:
    types = _types(node)
    known: dict[str, tuple[str, ...]] = {}
    for name in types:
        known |= properties(name)
    if not known and depth == 0:
        known = properties("SoftwareSourceCode") | properties("SoftwareApplication")
    for raw, value in node.items():
        if not isinstance(raw, str):
            yield Finding("wrong", path, f"the key {quote(repr(raw), 40)} is not text")
            continue
        if raw.startswith("@"):
            continue
        name = _PREFIX.sub("", raw)
        here = f"{path}.{name}" if path else name
        here = quote(here, 80)
        if name in known:
            yield from _value(value, known[name], here, depth)
        elif known:
            yield _unknown(name, here, types, known)


def _unknown(name: str, path: str, types: Sequence[str], known: Mapping[str, object]) -> Finding:
    subject = types[0] if types else "software"
    if ":" in name:
        return Finding("loose", path, f"{path} is from another vocabulary than schema.org")
    elsewhere = owners(name)
    if elsewhere:
        return Finding("unknown", path, f"{path} is a property of {' and '.join(elsewhere)}, not of {subject}")
    near = difflib.get_close_matches(name[:60], known, 1, 0.75)
    hint = f"; {near[0]} is near" if near else ""
    return Finding("unknown", path, f"{path} is not a property of {quote(subject, 40)}{hint}")


def _value(value: object, kinds: tuple[str, ...], path: str, depth: int) -> Iterator[Finding]:
    if depth >= _DEEPEST:
        return
    if isinstance(value, list | tuple):
        for item in value[:_MOST]:
            if isinstance(item, list | tuple):
                yield Finding("wrong", path, f"{path} is a list inside a list")
            else:
                yield from _value(item, kinds, path, depth + 1)
        return
    nested = tuple(kind for kind in kinds if kind not in SCALARS)
    wanted = " or ".join(kinds)
    if value is None or value == "":
        yield Finding("loose", path, f"{path} is empty; omit it or provide {wanted}")
    elif isinstance(value, Mapping):
        if "@value" in value:
            yield from _value(value["@value"], kinds, path, depth + 1)
        elif not nested:
            yield Finding("wrong", path, f"{path} is an object; {wanted} is expected")
        else:
            if not _types(value) and "@id" not in value:
                yield Finding("loose", path, f"{path} is an object without @type; {wanted} is expected")
            yield from _node(value, path, depth + 1)
    elif not any(_fits(value, kind) for kind in kinds):
        loose = isinstance(value, str) and bool(nested)
        shown = quote(str(value), 40)
        yield Finding("loose" if loose else "wrong", path, f"{path} is {shown!r}; {wanted} is expected")


def _fits(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "Boolean"
    if isinstance(value, int | float):
        return kind in {"Number", "Integer"} if isinstance(value, int) else kind == "Number"
    if not isinstance(value, str) or len(value) > 100_000:
        return False
    text = value.strip()
    if kind == "Boolean":
        return _PREFIX.sub("", text).lower() in {"true", "false"}
    pattern = _FORMS.get(kind)
    return kind == "Text" or (pattern is not None and pattern.match(text) is not None)
