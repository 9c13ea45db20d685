"""Tiers 1 and 2 of AEO-Bench, rule for rule as in the original, so that scores compare with published ones.

Kept on purpose, weak as they are: the substring rule of tier 2 ("A client pipeline. sampled" earns 25 of 25), the
three metadata keys, and nothing at all for an answer that is not JSON. Changed on purpose: metadata that is not an
object scores 0 on its criterion, where the original stopped with an error.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.rubric import spans
from workbench.rubric.metadata import metadata_findings
from workbench.rubric.scorecard import Criterion, Evidence

NAME = "aeo-bench"
CONTEXT = "https://schema.org"
MINIMUM_LENGTH = 100
"""Characters; a README must be longer than this, not equal."""

SECTIONS: tuple[tuple[str, str, float, tuple[str, ...]], ...] = (
    ("installation", "Installation", 8, ("install", "pip", "requirements", "setup", "prerequisite", "dependencies")),
    ("usage", "Usage", 9, ("usage", "how to run", "run", "execute", "command", "python", "cli")),
    ("examples", "Examples", 8, ("example", "output", "demo", "sample", "```")),
)
"""Tier 2: key, title, points and the lower-cased substrings of which any one, anywhere, earns the points."""


def structural(readme: str, metadata: object, *, parsed: bool) -> list[Criterion]:
    """Score tier 1: the answer parses (5), the README is longer than 100 characters (5), the metadata has its keys (5).

    An answer that does not parse scores 0 on all three, as in the original.
    """
    return [parses(parsed), _length(readme, parsed), _metadata(metadata, parsed), _remarks(metadata, parsed)]


def sections(readme: str, *, parsed: bool) -> list[Criterion]:
    """Score tier 2 by lower-cased substrings anywhere in the README (8 + 9 + 8)."""
    lowered = readme.lower()
    return [
        _section(readme, lowered if parsed else None, key, title, maximum, words)
        for key, title, maximum, words in SECTIONS
    ]


def parses(parsed: bool) -> Criterion:
    """Score whether the agent's answer parsed as JSON (5)."""
    reason = "the answer parses as JSON" if parsed else "the answer does not parse as JSON"
    return Criterion(1, "json", "Answer parses", 5.0 if parsed else 0.0, 5.0, reason)


def _length(readme: str, parsed: bool) -> Criterion:
    if not parsed:
        points, reason = 0.0, "not looked at: the answer does not parse"
    elif len(readme) > MINIMUM_LENGTH:
        points, reason = 5.0, f"the README has {len(readme):,} characters, more than {MINIMUM_LENGTH}"
    else:
        points, reason = 0.0, f"the README has {len(readme)} characters; more than {MINIMUM_LENGTH} are needed"
    evidence = (spans.at(readme, 0, len(readme)),) if points else ()
    return Criterion(1, "length", "README length", points, 5.0, reason, evidence)


def truthy(metadata: Mapping[object, object], name: str) -> bool:
    """Return whether the key is there with a value that is not empty, as Python's truth has it."""
    try:
        return bool(metadata.get(name))
    except Exception:  # an object from outside whose truth cannot be asked is not a value
        return False


def _metadata(metadata: object, parsed: bool) -> Criterion:
    title = "Schema.org keys"
    if not parsed:
        return Criterion(1, "metadata", title, 0.0, 5.0, "not looked at: the answer does not parse")
    if metadata is None:
        return Criterion(1, "metadata", title, 0.0, 5.0, "there is no metadata")
    if not isinstance(metadata, Mapping):
        return Criterion(1, "metadata", title, 0.0, 5.0, f"the metadata is {kind_of(metadata)}, not an object")
    missing = []
    context = metadata.get("@context")
    if not (isinstance(context, str) and context == CONTEXT):
        missing.append(f"@context is not exactly {CONTEXT}")
    missing += [f"{name} is missing or empty" for name in ("@type", "name") if not truthy(metadata, name)]
    if missing:
        return Criterion(1, "metadata", title, 0.0, 5.0, "; ".join(missing))
    evidence = tuple(spans.key(name, _shown(metadata[name])) for name in ("@context", "@type", "name"))
    return Criterion(1, "metadata", title, 5.0, 5.0, "@context, @type and name are there", evidence)


def _remarks(metadata: object, parsed: bool) -> Criterion:
    findings = metadata_findings(metadata) if parsed else ()
    count = spans.counted(len(findings), "remark") if findings else "no remarks"
    evidence = tuple(Evidence("metadata", finding.message, path=finding.path) for finding in findings)
    reason = f"{count} on the metadata against schema.org's software types (no points in this rubric)"
    return Criterion(1, "metadata_remarks", "Metadata remarks", 0.0, 0.0, reason, evidence)


def _section(
    readme: str, lowered: str | None, key: str, title: str, maximum: float, words: tuple[str, ...]
) -> Criterion:
    if lowered is None:
        return Criterion(2, key, title, 0.0, maximum, "not looked at: the answer does not parse")
    for word in words:
        span = spans.find_lowered(readme, lowered, word)
        if span is not None:
            evidence = spans.at(readme, *span)
            name = "a code fence" if word == "```" else f"the letters '{word}'"
            reason = f"{name} at line {evidence.line}"
            return Criterion(2, key, title, maximum, maximum, reason, (evidence,))
    listed = ", ".join("a code fence" if word == "```" else f"'{word}'" for word in words)
    return Criterion(2, key, title, 0.0, maximum, f"none of {listed} occurs")


def kind_of(value: object) -> str:
    """Return a plain word for the JSON kind of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"


def _shown(value: object) -> str:
    try:
        return str(value)
    except Exception:  # shown only; a value that cannot be printed must not end the scoring
        return kind_of(value)
