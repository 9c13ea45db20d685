"""Tiers 1 and 2 of ``aeo-bench`` equal the original's on any README and any metadata."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.rubric import Criterion, Document, OfflineJudge, score
from workbench.rubric.aeo_bench import RUBRIC

NEEDLES = [
    *("install", "pip", "requirements", "setup", "prerequisite", "dependencies"),
    *("usage", "how to run", "run", "execute", "command", "python", "cli"),
    *("example", "output", "demo", "sample", "```"),
]


def structural(readme: str, metadata: Any, *, parsed: bool) -> list[Criterion]:
    return [rule.apply(Document(readme, metadata, parsed)) for rule in RUBRIC.rules if rule.tier == 1]


def sections(readme: str, *, parsed: bool) -> list[Criterion]:
    return [rule.apply(Document(readme, None, parsed)) for rule in RUBRIC.rules if rule.tier == 2]


def oracle_one(readme: str, metadata: Any, parsed: bool) -> int:
    """The rule written a second time, from the reference page and nothing else."""
    if not parsed:
        return 0
    points = 5
    if len(readme) > 100:
        points += 5
    if not isinstance(metadata, dict) or metadata.get("@context") != "https://schema.org":
        return points
    return points + 5 if metadata.get("@type") and metadata.get("name") else points


def oracle_two(readme: str, parsed: bool) -> int:
    if not parsed:
        return 0
    low = readme.lower()
    points = 0
    for worth, words in (
        (8, "install,pip,requirements,setup,prerequisite,dependencies"),
        (9, "usage,how to run,run,execute,command,python,cli"),
        (8, "example,output,demo,sample,```"),
    ):
        points += worth if any(word in low for word in words.split(",")) else 0
    return points


WORDS = st.sampled_from(
    [word.title() for word in NEEDLES]
    + [word.upper() for word in NEEDLES]
    + NEEDLES
    + ["client", "pipeline", "``", "pi", "p", "İ", "ı", "ß", "K", "inst", "all", "#", "\n", "\t", " "]
)
READMES = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=300),
    st.lists(WORDS, max_size=12).map("".join),
    st.lists(WORDS, max_size=30).map(" ".join),
    st.integers(96, 105).map(lambda n: "x" * n),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("https://schema.org"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
METADATA = st.one_of(
    VALUES,
    st.fixed_dictionaries(
        {},
        optional={
            "@context": st.sampled_from(
                ["https://schema.org", "https://schema.org/", "http://schema.org", ["https://schema.org"], None]
            ),
            "@type": VALUES | st.just("SoftwareSourceCode"),
            "name": VALUES,
            "author": VALUES,
        },
    ),
)


@given(readme=READMES, metadata=METADATA, parsed=st.booleans())
@example(readme="A client pipeline. sampled", metadata={}, parsed=True)
@example(readme="x" * 100, metadata={"@context": "https://schema.org", "@type": "T", "name": "n"}, parsed=True)
@example(readme="x" * 101, metadata={"@context": "https://schema.org", "@type": [], "name": "n"}, parsed=True)
def test_tiers_one_and_two_equal_the_original(readme: str, metadata: Any, parsed: bool) -> None:
    one = sum(c.points for c in structural(readme, metadata, parsed=parsed))
    two = sum(c.points for c in sections(readme, parsed=parsed))
    assert (one, two) == (oracle_one(readme, metadata, parsed), oracle_two(readme, parsed))


@given(readme=READMES)
def test_the_span_of_a_section_holds_its_word(readme: str) -> None:
    for criterion in sections(readme, parsed=True):
        if criterion.points:
            (evidence,) = criterion.evidence
            found = readme[evidence.start : evidence.end].lower()
            assert any(word in found for word in NEEDLES)
            assert evidence.line == readme[: evidence.start].count("\n") + 1


def test_a_span_is_right_after_a_letter_that_grows_when_lowered() -> None:
    readme = "İİİ\nsee pip here"
    (evidence,) = sections(readme, parsed=True)[0].evidence
    assert readme[evidence.start : evidence.end] == "pip"
    assert sections(readme, parsed=True)[0].reason == "the letters 'pip' at line 2"


def test_the_weak_rule_is_kept() -> None:
    assert sum(c.points for c in sections("A client pipeline. sampled", parsed=True)) == 25


@pytest.mark.parametrize(
    ("metadata", "word"), [(None, "there is no metadata"), ([1], "a list"), ("x", "text"), (3, "a number")]
)
def test_metadata_that_is_not_an_object_is_a_zero_with_a_reason(metadata: object, word: str) -> None:
    criterion = next(c for c in structural("x" * 200, metadata, parsed=True) if c.key == "metadata")
    assert criterion.points == 0
    assert word in criterion.reason


async def test_an_answer_that_does_not_parse_earns_nothing_and_asks_no_judge() -> None:
    card = await score(
        "# T\n" * 100,
        {"@context": "https://schema.org"},
        parsed=False,
        rubric="aeo-bench",
        facts=None,
        reference_readme=None,
        view=None,
        judge=OfflineJudge(),
    )
    assert card.total == 0
    assert card.out_of == 100
