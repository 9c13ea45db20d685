"""Which scorecards have points of 100."""

from __future__ import annotations

import pytest

from workbench.session.rows import ScoreRow


@pytest.mark.parametrize(
    ("total", "out_of", "tiers", "points", "unscored"),
    [
        (80.0, 100.0, (15.0, 25.0, 20.0, 20.0), 80.0, ()),
        (40.0, 80.0, (10.0, 10.0, 10.0, 10.0), 50.0, ()),
        (40.0, 40.0, (15.0, 25.0, None, None), None, (3, 4)),
        (60.0, 70.0, (15.0, 25.0, None, 20.0), None, (3,)),
        (40.0, 100.0, (15.0, 25.0, None, None), None, (3, 4)),
        (70.0, 100.0, (15.0, 25.0, None, None), 70.0, ()),  # the tiers are damaged, the total is not
        (None, 0.0, (None, None, None, None), None, (1, 2, 3, 4)),
        (0.0, 0.0, (0.0, 0.0, 0.0, 0.0), None, ()),
    ],
)
def test_only_a_trial_with_all_tiers_scored_has_points_of_100(total, out_of, tiers, points, unscored):
    row = ScoreRow("t", "aeo-bench", "offline-2", total, out_of, *tiers, card_blob="", at=0.0)
    assert (row.points, row.unscored) == (points, unscored)
