"""Two groups of candidates: tasks joined by what they are, figures from the one estimator, nothing dropped without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.regenerated import EVALUATOR, RUN, Recorder
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.app.compare.group_screen import tallies_in_words
from workbench.comparison import (
    compare_candidates,
    compare_groups,
    failing_counts,
    groups_of,
    join_groups,
    read_candidate,
    read_group,
    telling_samples,
)
from workbench.regeneration.passk import TaskCount, pass_at_k, summarise
from workbench.reports.comparisons import blocks_of, markdown
from workbench.session import SessionReader

OTHER = "openai/other"
CELLS = st.text(alphabet="✓✗⧖", min_size=1, max_size=4)


def recorded(path: Path, mine: dict[str, str], theirs: dict[str, str], *, snapshot: str = "snapshot-1") -> Path:
    """Record a run with two evaluators: cells by function."""
    recorder = Recorder(path)
    recorder.run()
    for place, name in enumerate(dict.fromkeys([*mine, *theirs])):
        task = recorder.task(name, place, snapshot=snapshot)
        if name in mine:
            recorder.cells(task, mine[name])
        if name in theirs:
            recorder.cells(task, theirs[name], evaluator=OTHER)
    recorder.close()
    return path


def compared(path: Path):
    with SessionReader(path) as reader:
        left, right = (side for side in groups_of(reader, RUN) if not side.outcome.control)
        return compare_groups(left, right)


def test_tasks_are_joined_and_sorted_by_their_difference(tmp_path: Path) -> None:
    mine = {"same": "✓✗✗", "lost": "✓✓✓", "won": "✗✗✗", "short": "✓", "mine": "✓✓✓"}
    theirs = {"same": "✗✓✗", "lost": "✗✗✗", "won": "✓✗✗", "short": "✗✗✗", "theirs": "✗"}
    found = compared(recorded(tmp_path / "two.session", mine, theirs))
    # B is "openai/other", so what gpt-5-mini solves more often B loses.
    assert [pair.name for pair in found.pairs] == ["lost", "short", "won", "same", "mine", "theirs"]
    assert (found.common, found.only_left, found.only_right) == (4, 1, 1)
    first, third = found.tallies
    assert (first.k, first.wins, first.ties, first.losses, first.undefined) == (1, 1, 1, 2, 0)
    assert (third.k, third.wins, third.ties, third.losses, third.undefined) == (3, 1, 1, 1, 1)
    assert [pair.differences for pair in found.pairs][:2] == [(-1.0, -1.0), (-1.0, None)]
    assert [what for what, _, _ in found.conditions] == ["evaluator"]
    assert found.to_json()["pass_at_k"]["1"]["losses"] == 2


@settings(max_examples=12)
@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(CELLS, CELLS), min_size=1))
def test_figures_are_those_of_the_estimator(
    tmp_path_factory: pytest.TempPathFactory, cells: dict[str, tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("groups") / "any.session"
    mine, theirs = ({name: both[at] for name, both in cells.items()} for at in (0, 1))
    found = compared(recorded(path, mine, theirs))
    for tally in found.tallies:
        both = [name for name in cells if min(len(mine[name]), len(theirs[name])) >= tally.k]
        assert tally.tasks + tally.undefined == found.common == len(cells)
        assert tally.tasks == len(both)
        for side, said in ((mine, tally.left), (theirs, tally.right)):
            counts = [TaskCount(name, "r", "f", len(side[name]), side[name].count("✓")) for name in both]
            assert (
                said.value == pytest.approx(summarise(counts, [tally.k]).overall[tally.k].value)
                if both
                else said.value is None
            )
    for pair in found.pairs:
        ms = [(len(side[pair.name]), side[pair.name].count("✓")) for side in (mine, theirs)]
        for k, gap in zip(found.ks, pair.differences, strict=True):
            a, b = (pass_at_k(samples, passed, k) for samples, passed in ms)
            assert (gap is None) == (a is None or b is None)
            assert gap is None or gap == pytest.approx(b - a, abs=1e-5)


def test_the_paired_difference_has_an_interval_over_the_tasks(tmp_path: Path) -> None:
    cells = {f"f{n}": ("✓" * (n % 4) + "✗" * (4 - n % 4), "✓" * 4) for n in range(8)}
    mine, theirs = ({name: both[at] for name, both in cells.items()} for at in (0, 1))
    (first, *_) = compared(recorded(tmp_path / "one.session", mine, theirs)).tallies
    assert (first.interval.unit, first.interval.units) == ("task", 8)
    assert first.interval.low == pytest.approx(0.625 - 2.364624 * 0.298807 / 8**0.5, abs=1e-4)


def test_runs_of_two_snapshots_are_joined_by_name_and_it_is_said(tmp_path: Path) -> None:
    here = recorded(tmp_path / "here.session", {"f": "✓✓✓"}, {})
    there = recorded(tmp_path / "there.session", {"f": "✗✗✗", "g": "✓"}, {}, snapshot="another")
    with SessionReader(here) as a, SessionReader(there) as b:
        beside = join_groups(groups_of(a, RUN), groups_of(b, RUN))
        assert (len(beside.pairs), beside.only_left, beside.only_right) == (1, (), ())
        found = compare_groups(*beside.pairs[0])
    assert found.other_snapshot
    assert [(pair.name, pair.both) for pair in found.pairs] == [("f", True), ("g", False)]
    assert [what for what, _, _ in found.conditions] == ["session"]


def test_evaluators_of_two_runs_find_each_other(tmp_path: Path) -> None:
    here = recorded(tmp_path / "here.session", {"f": "✓"}, {"f": "✗"})
    there = recorded(tmp_path / "there.session", {"f": "✓"}, {})
    with SessionReader(here) as a, SessionReader(there) as b:
        beside = join_groups(groups_of(a, RUN), groups_of(b, RUN))
    assert [one.group.evaluator for one in beside.pairs[0]] == ["openai/gpt-5-mini"] * 2
    assert [side.name for side in beside.only_left] == [OTHER]


def test_a_task_tells_which_tests_only_one_fails_and_which_samples_show_it(tmp_path: Path) -> None:
    path = recorded(tmp_path / "two.session", {"f": "✓✓"}, {"f": "✓✗"})
    with SessionReader(path) as reader:
        left, right = (side for side in groups_of(reader, RUN) if not side.outcome.control)
        task = f"{RUN}-f"
        tests = failing_counts((reader, task, left.group), (reader, task, right.group))
        assert [(one.test, one.left, one.right) for one in tests] == [
            ("tests/test_count.py::test_counts_trailing_line", 0, 1)
        ]
        keys = telling_samples((reader, task, left.group), (reader, task, right.group))
        assert keys is not None
        a, b = (read_candidate(reader, key) for key in keys)
        assert a is not None
        assert b is not None
        assert (a.candidate.verdict, b.candidate.verdict) == ("passed", "failed")
        found = compare_candidates(a, b)
        assert (found.docstrings.same, found.prompts.same, found.bodies.same) == (True, True, False)
        assert found.left_original.same
        assert [(pair.left, pair.right is None) for pair in found.tests] == [(None, False)]
        assert read_candidate(reader, "gone") is None
        assert read_group(reader, "gone", left.group) is None


def test_what_marks_a_side_stands_beside_its_figure(tmp_path: Path) -> None:
    path = recorded(tmp_path / "two.session", {"f": "✓✓✗", "g": "✓"}, {"f": "✗✗✗", "g": "✗✗✗"})
    recorder = Recorder(path)
    recorder.writer.update("candidates", {"evaluator": EVALUATOR}, {"doubtful": "names", "repairs": 1})
    recorder.close()
    found = compared(path)
    side = next(side for side in (found.left, found.right) if side.group.evaluator == EVALUATOR)
    assert side.outcome.marks == ("1 to 3 samples a task", "3 doubtful", "3 repaired")
    told = markdown(blocks_of(found))
    for text in (*side.outcome.marks, "They differ in evaluator"):
        assert text in told
    assert "3 doubtful" in tallies_in_words(found)
