"""Tiers 1 and 2 of AEO-Bench, following the original rule for rule, so that scores are comparable with published ones.

These weaknesses of the original are kept on purpose: the substring rule of tier 2 ("A client pipeline. sampled" earns
25 of 25), the three metadata keys, and no points at all for an answer that is not JSON. Two things are changed on
purpose. Metadata that is not an object scores 0 on its criterion, whereas the original stopped with an error. A README
with a JSON block, which the original mistakes for the agent's answer, is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.base.text import plural
from workbench.rubric.judging import AEO_ACCURACY, QUALITY, Rubric, Rule, RuleResult, ScoredDocument
from workbench.rubric.metadata import metadata_findings
from workbench.rubric.scorecard import Evidence, metadata_value, quoted

NAME = "aeo-bench"
CONTEXT = "https://schema.org"
MINIMUM_LENGTH = 100
"""A README must be longer than this number of characters."""

SECTIONS: tuple[tuple[str, str, float, tuple[str, ...]], ...] = (
    ("installation", "Installation", 8, ("install", "pip", "requirements", "setup", "prerequisite", "dependencies")),
    ("usage", "Usage", 9, ("usage", "how to run", "run", "execute", "command", "python", "cli")),
    ("examples", "Examples", 8, ("example", "output", "demo", "sample", "```")),
)
"""Tier 2: key, title, points, and lower-case substrings. If any substring occurs anywhere, the points are earned."""


def answer_parses(document: ScoredDocument) -> RuleResult:
    parsed = document.parsed
    reason = "the answer parses as JSON" if parsed else "the answer does not parse as JSON"
    return RuleResult(5.0 if parsed else 0.0, reason)


def _length(document: ScoredDocument) -> RuleResult:
    readme = document.readme
    if len(readme) <= MINIMUM_LENGTH:
        return RuleResult(0.0, f"the README has {len(readme)} characters; more than {MINIMUM_LENGTH} are needed")
    reason = f"the README has {len(readme):,} characters, more than {MINIMUM_LENGTH}"
    return RuleResult(5.0, reason, (quoted(readme, 0, len(readme)),))


def truthy(metadata: Mapping[object, object], name: str) -> bool:
    try:
        return bool(metadata.get(name))
    except Exception:  # the truth value of an untrusted object may raise
        return False


def _metadata(document: ScoredDocument) -> RuleResult:
    metadata = document.metadata
    if metadata is None:
        return RuleResult(0.0, "there is no metadata")
    if not isinstance(metadata, Mapping):
        return RuleResult(0.0, f"the metadata is {kind_of(metadata)}, not an object")
    missing = []
    context = metadata.get("@context")
    if not (isinstance(context, str) and context == CONTEXT):
        missing.append(f"@context is not exactly {CONTEXT}")
    missing += [f"{name} is missing or empty" for name in ("@type", "name") if not truthy(metadata, name)]
    if missing:
        return RuleResult(0.0, "; ".join(missing))
    evidence = tuple(metadata_value(name, _shown(metadata[name])) for name in ("@context", "@type", "name"))
    return RuleResult(5.0, "@context, @type and name are there", evidence)


def _remarks(document: ScoredDocument) -> RuleResult:
    findings = metadata_findings(document.metadata) if document.parsed else ()
    count = plural(len(findings), "remark") if findings else "no remarks"
    evidence = tuple(Evidence("metadata", finding.message, path=finding.path) for finding in findings)
    reason = f"{count} on the metadata against schema.org's software types (no points in this rubric)"
    return RuleResult(0.0, reason, evidence)


def _section(maximum: float, words: tuple[str, ...]) -> Callable[[ScoredDocument], RuleResult]:
    def look(document: ScoredDocument) -> RuleResult:
        readme = document.readme
        lowered = readme.lower()
        for word in words:
            span = _find_lowered(readme, lowered, word)
            if span is not None:
                evidence = quoted(readme, *span)
                name = "a code fence" if word == "```" else f"the letters '{word}'"
                return RuleResult(maximum, f"{name} at line {evidence.line}", (evidence,))
        listed = ", ".join("a code fence" if word == "```" else f"'{word}'" for word in words)
        return RuleResult(0.0, f"none of {listed} occurs")

    return look


def _find_lowered(readme: str, lowered: str, needle: str) -> tuple[int, int] | None:
    """Find ``needle`` in ``lowered`` (= ``readme.lower()``) and return its span in ``readme``.

    Lower-casing can change the length of a text (``İ`` becomes two characters); offsets are then mapped back one by
    one.
    """
    found = lowered.find(needle)
    if found < 0:
        return None
    if len(lowered) == len(readme):
        return found, found + len(needle)
    position = 0
    start = end = len(readme)
    for index, character in enumerate(readme):
        step = len(character.lower())
        if position <= found < position + step:
            start = index
        position += step
        if position >= found + len(needle):
            end = index + 1
            break
    return start, end


def kind_of(value: object) -> str:
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
    except Exception:  # display only: a value that cannot be printed must not abort the scoring
        return kind_of(value)


RUBRIC = Rubric(
    NAME,
    "AEO-Bench",
    "the original's rules, weak ones included: scores are comparable with published ones unless a README has a "
    "JSON block, which scores 0 there",
    (
        Rule(1, "json", "Answer parses", 5.0, answer_parses, needs_answer=False),
        Rule(1, "length", "README length", 5.0, _length),
        Rule(1, "metadata", "Schema.org keys", 5.0, _metadata),
        Rule(1, "metadata_remarks", "Metadata remarks", 0.0, _remarks, needs_answer=False),
        *(Rule(2, key, title, most, _section(most, words)) for key, title, most, words in SECTIONS),
        *AEO_ACCURACY,
        *QUALITY,
    ),
    accuracy_limit=2_000,
    quality_limit=2_500,
    reference_limit=1_500,
    credits_missing_facts=True,
)
"""To add a criterion, add an entry here and its function above; see docs/extending/criterion.md."""
