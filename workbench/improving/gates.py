"""What a new docstring must hold before any sample is asked for it, the cheapest first."""

from __future__ import annotations

from workbench.checking.project import Project
from workbench.improving.attempts import Refused
from workbench.improving.claims import untrue_claims
from workbench.regeneration.grafting import difference
from workbench.regeneration.leakage import THRESHOLD, measure_leakage
from workbench.repository.definitions import find_definitions
from workbench.repository.functions import Function
from workbench.repository.splicing import SpliceError, body_indent, body_text, replace_docstring

#: Characters that a docstring may have, or three times those of the function, whatever is less; at least :data:`SHORTEST_LIMIT`.
LONGEST = 4_000
SHORTEST_LIMIT = 1_200


def longest_for(source: bytes, function: Function) -> int:
    return min(LONGEST, max(SHORTEST_LIMIT, 3 * len(body_text(source, function))))


def check_docstring(source: bytes, function: Function, text: str, project: Project) -> tuple[str, bytes]:
    """Return a docstring as it stands in its file, and the file with it.

    ``text`` is without the indentation of its lines.

    Raises:
        Refused: It does not pass a gate.
    """
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
            f"{leakage.overlap:.0%} of the body's sequences of four tokens stand in it, {THRESHOLD:.0%} is the limit"
            if leakage.overlap >= THRESHOLD
            else f"it repeats {leakage.longest} tokens of the body in a row"
        )
        raise Refused("leakage", f"it carries the code: {how}")
    if untrue := untrue_claims(text, function, project):
        raise Refused("claims", "; ".join(untrue[:3]))
    return laid_out, changed


def _laid_out(text: str, indent: str) -> str:
    first, *rest = text.split("\n")
    if not rest:
        return first
    return "\n".join((first, *(f"{indent}{line}" if line.strip() else "" for line in rest), indent))


def _other_change(source: bytes, changed: bytes, function: Function, docstring: str) -> str | None:
    """Return what of a file is not as it was, apart from the docstring of one function; None for nothing."""
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
