"""What a docstring says of names: its own parameters, and what is to be found in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.checking.nearest import nearest
from workbench.checking.page import parse_page
from workbench.checking.project import Project
from workbench.checking.python_claims import PythonClaims
from workbench.checking.verdicts import Truth
from workbench.grounding import known
from workbench.metrics.truthfulness import truthfulness
from workbench.repository.functions import Function

_GOOGLE = re.compile(r"(?:args|arguments|parameters|params|keyword arg(?:ument)?s|other parameters):", re.I)
_NUMPY = re.compile(r"(?:other )?parameters", re.I)
_ENTRY = re.compile(r"(\*{0,2}[A-Za-z_]\w*)\s*(?:\([^)]*\))?\s*:")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}[A-Za-z_]\w*(?:\s*,\s*\*{0,2}[A-Za-z_]\w*)*)\s*(?::.*)?")
_FIELD = re.compile(
    r"^\s*[:@](?:param|parameter|arg|argument|key|keyword|type)\s+(?:[^:\n]*\s)?(\*{0,2}[A-Za-z_]\w*)\s*:", re.M
)
_CALLED = re.compile(
    r"`{1,2}(\*{0,2}[A-Za-z_]\w*)`{1,2}\s+(?:parameter|argument|keyword)\b"
    r"|\b(?:parameters?|arguments?)\s+`{1,2}(\*{0,2}[A-Za-z_]\w*)`{1,2}"
)


def untrue_claims(docstring: str, function: Function, project: Project) -> list[str]:
    """Return what in a docstring is not true, each without a full stop."""
    found = dict.fromkeys(_of_parameters(docstring, function))
    page = parse_page(docstring, function.path)
    for claim in PythonClaims(page, project).all():
        if claim.truth is Truth.UNTRUE:
            found[f"{claim.reason} (it says {claim.text})"] = None
    own = {one.name.lstrip("*") for one in function.parameters}
    for name in truthfulness(docstring, own).missing:
        if (
            not project.occurs(name.rpartition(".")[2])
            and not known.is_python(name)
            and not any(name in told for told in found)
        ):
            near, _ = nearest(name.rpartition(".")[2], project.defined | own)
            found[f"nothing here is called {name}" + (f"; there is {near}" if near else "")] = None
    return list(found)


def _of_parameters(docstring: str, function: Function) -> Iterator[str]:
    own = {one.name.lstrip("*") for one in function.parameters}
    # What a function takes as `**` may have any name.
    if any(one.name.startswith("**") for one in function.parameters):
        return
    named = [*_sections(docstring), *_FIELD.findall(docstring)]
    named += [one or other for one, other in _CALLED.findall(docstring)]
    for name in dict.fromkeys(one.lstrip("*") for one in named):
        if name not in own:
            near, _ = nearest(name, own)
            has = f"; there is {near}" if near else "" if own else "; it has none"
            yield f"{function.name} has no parameter {name}{has}"


def _sections(docstring: str) -> Iterator[str]:
    """Yield the names that sections of parameters list, in Google's and NumPy's style."""
    lines = docstring.splitlines()
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        following = lines[number + 1 :]
        if _GOOGLE.fullmatch(line.strip()):
            inside = None
            for other in following:
                depth = len(other) - len(other.lstrip())
                if other.strip() and depth <= indent:
                    break
                if other.strip():
                    inside = depth if inside is None else inside
                    if depth == inside and (entry := _ENTRY.match(other.strip())):
                        yield entry[1]
        elif _NUMPY.fullmatch(line.strip()) and following and re.fullmatch(r"\s*-{3,}\s*", following[0]):
            for place, other in enumerate(following[1:], 1):
                after = following[place + 1] if place + 1 < len(following) else ""
                if re.fullmatch(r"\s*-{3,}\s*", after):
                    break
                depth = len(other) - len(other.lstrip())
                if other.strip() and depth <= indent and (entry := _NUMPY_ENTRY.fullmatch(other.strip())):
                    yield from re.split(r"\s*,\s*", entry[1])
