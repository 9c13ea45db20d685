"""The tree of the repository: a name that has no room shows that something is left out, and its ending stays."""

from __future__ import annotations

from workbench.app.trajectory.lists import RepositoryPane
from workbench.app.trajectory.trial_state import entries_of


def test_a_long_name_is_cut_in_its_middle_and_says_so() -> None:
    pane = RepositoryPane()
    pane.entries, _ = entries_of((("tests/test_password_generator.py", 10), ("a.py", 1)), {})
    for row in range(len(pane.entries)):
        shown = "".join(text for text, _ in pane.row_parts(row, 20)[0])
        assert len(shown) <= 20
        assert ("…" in shown) == ("test_pass" in pane.entries[row].name)
    long = "".join(text for text, _ in pane.row_parts(1, 20)[0])
    assert long.endswith("r.py")
    assert "test_" in long
