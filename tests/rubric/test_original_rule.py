"""Tiers 1 and 2 of ``aeo-bench`` equal the original's on any README and any metadata."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbench.rubric import Criterion, OfflineJudge, ScoredDocument, score
from workbench.rubric.aeo_bench import RUBRIC

NEEDLES = (
    "install,pip,requirements,setup,prerequisite,dependencies",
    "usage,how to run,run,execute,command,python,cli",
    "example,output,demo,sample,```",
)
ALL = [word for words in NEEDLES for word in words.split(",")]


def tier(number: int, readme: str, metadata: Any = None, *, parsed: bool = True) -> list[Criterion]:
    return [rule.apply(ScoredDocument(readme, metadata, parsed)) for rule in RUBRIC.rules if rule.tier == number]


def oracle(readme: str, metadata: Any, parsed: bool) -> tuple[int, int]:
    """The rules written a second time, from the reference page and nothing else."""
    if not parsed:
        return 0, 0
    one = 5 + 5 * (len(readme) > 100)
    if isinstance(metadata, dict) and metadata.get("@context") == "https://schema.org":
        one += 5 * bool(metadata.get("@type") and metadata.get("name"))
    low = readme.lower()
    found = zip((8, 9, 8), NEEDLES, strict=True)
    return one, sum(worth for worth, words in found if any(word in low for word in words.split(",")))


_FRAGMENTS = ["client", "pipeline", "``", "pi", "p", "İ", "ı", "ß", "K", "inst", "all", "#", "\n", "\t", " "]
WORDS = st.sampled_from([*(word.title() for word in ALL), *(word.upper() for word in ALL), *ALL, *_FRAGMENTS])
READMES = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=300),
    st.lists(WORDS, max_size=12).map("".join),
    st.lists(WORDS, max_size=30).map(" ".join),
    st.integers(96, 105).map(lambda n: "x" * n),
)
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.lists(st.text(max_size=3), max_size=2)
CONTEXTS = ["https://schema.org", "https://schema.org/", "http://schema.org", ["https://schema.org"], None]
METADATA = VALUES | st.fixed_dictionaries(
    {}, optional={"@context": st.sampled_from(CONTEXTS), "@type": VALUES, "name": VALUES, "author": VALUES}
)


@settings(max_examples=80)
@given(readme=READMES, metadata=METADATA, parsed=st.booleans())
@example(readme="A client pipeline. sampled", metadata={}, parsed=True)
@example(readme="x" * 100, metadata={"@context": "https://schema.org", "@type": "T", "name": "n"}, parsed=True)
@example(readme="x" * 101, metadata={"@context": "https://schema.org", "@type": [], "name": "n"}, parsed=True)
def test_tiers_one_and_two_equal_the_original(readme: str, metadata: Any, parsed: bool) -> None:
    found = tuple(sum(c.points or 0 for c in tier(number, readme, metadata, parsed=parsed)) for number in (1, 2))
    assert found == oracle(readme, metadata, parsed)
    for criterion in tier(2, readme):
        for evidence in criterion.evidence:
            assert any(word in readme[evidence.start : evidence.end].lower() for word in ALL)
            assert evidence.line == readme[: evidence.start].count("\n") + 1


def test_a_span_is_right_after_a_letter_that_grows_when_lowered() -> None:
    readme = "İİİ\nsee pip here"
    found = tier(2, readme)[0]
    assert readme[found.evidence[0].start : found.evidence[0].end] == "pip"
    assert found.reason == "the letters 'pip' at line 2"


def test_the_weak_rule_is_kept() -> None:
    assert sum(c.points or 0 for c in tier(2, "A client pipeline. sampled")) == 25


@pytest.mark.parametrize(("metadata", "word"), [(None, "there is no metadata"), ([1], "a list"), (3, "a number")])
def test_metadata_that_is_not_an_object_is_a_zero_with_a_reason(metadata: object, word: str) -> None:
    criterion = next(c for c in tier(1, "x" * 200, metadata) if c.key == "metadata")
    assert criterion.points == 0
    assert word in criterion.reason


async def test_an_answer_that_does_not_parse_earns_nothing_and_asks_no_judge() -> None:
    card = await score(
        "# T\n" * 100, {"@context": "https://schema.org"}, parsed=False, rubric="aeo-bench", facts=None,
        reference_readme=None, view=None, judge=OfflineJudge(),
    )  # fmt: skip
    assert (card.total, card.out_of) == (0, 100)
