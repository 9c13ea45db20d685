"""Extract a docstring from an answer, and check it against the gates that precede sampling, cheapest first."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

from workbench.base.python_syntax import UNREADABLE, parse
from workbench.base.text import UNSEEN
from workbench.checking.names import NameClaims
from workbench.claims import known
from workbench.claims.claim import Truth
from workbench.claims.page import parse_page
from workbench.claims.project import ProjectIndex
from workbench.claims.similarity import nearest
from workbench.improving.attempts import Refused
from workbench.metrics.docstrings import truthfulness
from workbench.models.reasoning import split_reasoning
from workbench.regeneration.grafting import difference
from workbench.regeneration.leakage import THRESHOLD, measure_leakage
from workbench.repository.functions import Function, find_definitions
from workbench.repository.splicing import SpliceError, body_indent, body_text, replace_docstring

#: Maximum length in characters, unless three times the function's length is less; never below :data:`SHORTEST_LIMIT`.
LONGEST = 4_000
SHORTEST_LIMIT = 1_200


def longest_for(source: bytes, function: Function) -> int:
    return min(LONGEST, max(SHORTEST_LIMIT, 3 * len(body_text(source, function))))


def check_docstring(source: bytes, function: Function, text: str, project: ProjectIndex) -> tuple[str, bytes]:
    """Return an unindented docstring as formatted in its file, and the changed file. Raises Refused."""
    if len(text) > (longest := longest_for(source, function)):
        raise Refused("length", f"it has {len(text):,} characters, {longest:,} are allowed here")
    laid_out = _laid_out(text, body_indent(source, function))
    try:
        changed = replace_docstring(source, function, laid_out)
    except SpliceError as error:
        raise Refused("code", str(error).rstrip(".")) from None
    if (reason := _other_change(source, changed, function, laid_out)) is not None:
        raise Refused("code", reason)
    leakage = measure_leakage(text, body_text(source, function))
    if leakage.flagged:
        how = (
            f"{leakage.overlap:.0%} of the body's sequences of four tokens occur in it; {THRESHOLD:.0%} is the limit"
            if leakage.overlap >= THRESHOLD
            else f"it repeats {leakage.longest} tokens of the body in a row"
        )
        raise Refused("leakage", f"it contains the code: {how}")
    if untrue := untrue_claims(text, function, project):
        raise Refused("claims", "; ".join(untrue[:3]))
    return laid_out, changed


def _laid_out(text: str, indent: str) -> str:
    first, *rest = text.split("\n")
    if not rest:
        return first
    return "\n".join((first, *(f"{indent}{line}" if line.strip() else "" for line in rest), indent))


def _other_change(source: bytes, changed: bytes, function: Function, docstring: str) -> str | None:
    """Describe any change to a file other than the docstring of one function, or return None."""
    if (reason := difference(source, changed)) is not None:
        return reason
    before = {one.key: one.docstring for one in find_definitions(source, function.path)}
    after = {one.key: one.docstring for one in find_definitions(changed, function.path)}
    mine = ("function", function.qualified_name, function.occurrence)
    if {key: text for key, text in before.items() if key != mine} != {
        key: text for key, text in after.items() if key != mine
    }:
        return "another docstring would change with it"
    if after.get(mine) != docstring:  # type: ignore[call-overload]
        return "Python reads it as something else"
    return None


#: Maximum number of characters of an answer; docstrings have at most a tenth of that.
LARGEST_ANSWER = 40_000

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*[\w.+-]*[ \t]*\n(.*)\n[ \t]*\1[ \t]*", re.DOTALL)
_CONTROLS = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{UNSEEN}]")
_NONE = "it is prose or code, not a docstring in triple quotes"
_QUOTES = re.compile(r"\"\"\"|'''")


def read_docstring(answer: str) -> str:
    """Return the docstring in an answer, without indentation. Raises Refused if the answer is not a docstring."""
    if len(answer) > LARGEST_ANSWER:
        raise Refused("answer", f"it has {len(answer):,} characters, more than the {LARGEST_ANSWER:,} of a docstring")
    text = split_reasoning(answer.replace("\r\n", "\n")).answer.strip()
    if not text:
        raise Refused("answer", "the writer answered nothing")
    if fenced := _FENCE.fullmatch(text):
        text = inspect.cleandoc(fenced[2]).strip()
    try:
        tree = parse(text)
    except UNREADABLE:
        raise Refused("answer", _no_literal(text)) from None
    statements = tree.body
    if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
        code = any(not isinstance(one, ast.Expr) for one in statements)
        raise Refused("answer", "it is code, not a docstring" if code else _no_literal(text))
    value = statements[0].value
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        raise Refused("answer", _NONE)
    docstring = inspect.cleandoc(value.value.expandtabs(4)).strip()
    if not docstring:
        raise Refused("answer", "the docstring is empty")
    if _CONTROLS.search(docstring):
        raise Refused("answer", "the docstring contains control or invisible characters")
    return docstring


def _no_literal(text: str) -> str:
    quotes = len(_QUOTES.findall(text))
    if text.startswith(('"""', "'''")) and quotes == 1:
        return "the docstring does not end: its closing quotes are missing"
    if quotes >= 2:
        return "there is text around the docstring; only the docstring in its triple quotes is wanted"
    return _NONE


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


def untrue_claims(docstring: str, function: Function, project: ProjectIndex) -> list[str]:
    found = dict.fromkeys(_of_parameters(docstring, function))
    page = parse_page(docstring, function.path)
    for claim in NameClaims(page, project).all():
        if claim.lookup.truth is Truth.UNTRUE:
            found[f"{claim.lookup.reason} (it says {claim.text})"] = None
    own = {one.name.lstrip("*") for one in function.parameters}
    for name in truthfulness(docstring, own).missing:
        if (
            not project.occurs(name.rpartition(".")[2])
            and not known.is_python(name)
            and not any(name in text for text in found)
        ):
            near, _ = nearest(name.rpartition(".")[2], project.defined | own)
            found[f"nothing here is called {name}" + (f"; there is {near}" if near else "")] = None
    return list(found)


def _of_parameters(docstring: str, function: Function) -> Iterator[str]:
    own = {one.name.lstrip("*") for one in function.parameters}
    # Arguments passed through `**` may have any name.
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
