"""The scale of colours is absolute: it asks for a share of the points and for nothing else."""

from __future__ import annotations

import pytest

from workbench.results.scores import standing


@pytest.mark.parametrize(
    ("share", "stands"),
    [(1.0, "good"), (0.7, "good"), (0.6999, "middling"), (0.4, "middling"), (0.3999, "poor"), (0.0, "poor")],
)
def test_bounds_belong_to_the_better_side(share: float, stands: str) -> None:
    assert standing(share) == stands
