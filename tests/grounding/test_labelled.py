"""Grounding agrees with what a person found by reading, on 240 items of twelve READMEs."""

from __future__ import annotations

from collections import Counter

import pytest
from grounding.labelled import agreement, labels


def test_the_sample_is_large_and_has_every_status_in_both_halves() -> None:
    assert len(labels()) >= 200
    assert all(label.excerpt for label in labels())
    counted = Counter((label.half, label.status) for label in labels())
    assert len(counted) == 6
    assert min(counted.values()) >= 10


@pytest.mark.parametrize("half", ["tuned", "held-out"])
def test_links_and_inventions_agree_in_both_halves(half: str) -> None:
    found = agreement(half)
    links, inventions = found.of(found.links), found.of(found.inventions)
    assert min(links) >= 0.9, "\n".join(found.wrong)
    assert min(inventions) >= 0.9, "\n".join(found.wrong)


def test_links_and_inventions_agree_over_the_whole_sample() -> None:
    halves = [agreement("tuned"), agreement("held-out")]
    for counts in (
        sum((half.links for half in halves), Counter()),
        sum((half.inventions for half in halves), Counter()),
    ):
        assert counts["right"] >= 0.9 * counts["found"]
        assert counts["right"] >= 0.9 * counts["labelled"]
