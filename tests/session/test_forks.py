"""The order of forks: each right below its parent, none lost, whatever the file says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.results.forks import below_parents


def test_forks_stand_below_their_parents_and_their_own_forks_below_them() -> None:
    ids, parents = ["a", "b", "a1", "a2", "a11", "b1"], ["", "", "a", "a", "a1", "b"]
    assert [ids[place] for place in below_parents(ids, parents)] == ["a", "a1", "a11", "a2", "b", "b1"]


@given(st.lists(st.integers(-1, 12), max_size=12))
def test_none_is_lost_and_none_is_twice(parents: list[int]) -> None:
    """Also where a damaged file says that trials are forks of one another, of themselves, or of one that is not there."""
    ids = [str(number) for number in range(len(parents))]
    named = ["" if parent < 0 else str(parent) for parent in parents]
    order = below_parents(ids, named)
    assert sorted(order) == list(range(len(ids)))
