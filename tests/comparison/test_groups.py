"""Two groups of candidates: tasks joined by what they are, figures from the one estimator, nothing dropped without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from app.regenerated import EVALUATOR, RUN, Recorder
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.base.errors import UsageError
from workbench.comparison.groups import GROUPS, compare_groups, groups_of, join_groups
from workbench.comparison.panes import PairComparison
from workbench.comparison.tasks import compare_candidates, read_candidate
from workbench.pages.comparison import comparison_page
from workbench.pages.writing import rendered
from workbench.regeneration.passk import TaskCount, pass_at_k, summarise
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


def compared(path: Path) -> PairComparison:
    with SessionReader(path) as reader:
        left, right = (side for side in groups_of(reader, RUN) if not side.outcome.control)
        return compare_groups([(left, right)])[0]


def test_tasks_are_joined_and_sorted_by_their_difference(tmp_path: Path) -> None:
    mine = {"same": "✓✗✗", "lost": "✓✓✓", "won": "✗✗✗", "short": "✓", "mine": "✓✓✓"}
    theirs = {"same": "✗✓✗", "lost": "✗✗✗", "won": "✓✗✗", "short": "✗✗✗", "theirs": "✗"}
    found = compared(recorded(tmp_path / "two.session", mine, theirs))
    # B is "openai/other", so what gpt-5-mini solves more often B loses.
    values = found.to_json()
    assert [pair["name"] for pair in values["tasks"]] == ["lost", "short", "won", "same", "mine", "theirs"]
    assert (values["common_tasks"], values["only_a"], values["only_b"]) == (4, 1, 1)
    counts = {
        k: [one[name] for name in ("wins", "ties", "losses", "undefined")] for k, one in values["pass_at_k"].items()
    }
    assert counts == {"1": [1, 1, 2, 0], "3": [1, 1, 1, 1]}
    assert [pair["difference"] for pair in values["tasks"]][:2] == [{"1": -1.0, "3": -1.0}, {"1": -1.0, "3": None}]
    assert [one["what"] for one in values["conditions"]] == ["evaluator"]


@settings(max_examples=6)
@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(CELLS, CELLS), min_size=1))
def test_figures_are_those_of_the_estimator(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("groups") / "any.session"
    mine, theirs = ({name: both[at] for name, both in cells.items()} for at in (0, 1))
    found = compared(recorded(path, mine, theirs)).to_json()
    for k, tally in found["pass_at_k"].items():
        both = [name for name in cells if min(len(mine[name]), len(theirs[name])) >= int(k)]
        assert tally["tasks"] + tally["undefined"] == found["common_tasks"] == len(cells)
        assert tally["tasks"] == len(both)
        for side, value in ((mine, tally["a"]), (theirs, tally["b"])):
            counts = [TaskCount(name, "r", "f", len(side[name]), side[name].count("✓")) for name in both]
            known = summarise(counts, [int(k)])[int(k)].value if both else None
            assert value == (pytest.approx(known) if both else None)
    for pair in found["tasks"]:
        ms = [(len(side[pair["name"]]), side[pair["name"]].count("✓")) for side in (mine, theirs)]
        for k, gap in pair["difference"].items():
            a, b = (pass_at_k(samples, passed, int(k)) for samples, passed in ms)
            assert (gap is None) == (a is None or b is None)
            assert gap is None or gap == pytest.approx(b - a, abs=1e-5)


def test_the_paired_difference_has_an_interval_over_the_tasks(tmp_path: Path) -> None:
    cells = {f"f{n}": ("✓" * (n % 4) + "✗" * (4 - n % 4), "✓" * 4) for n in range(8)}
    mine, theirs = ({name: both[at] for name, both in cells.items()} for at in (0, 1))
    first = compared(recorded(tmp_path / "one.session", mine, theirs)).to_json()["pass_at_k"]["1"]
    assert "8 tasks" in first["interval"]
    assert first["low"] == pytest.approx(0.625 - 2.364624 * 0.298807 / 8**0.5, abs=1e-4)


def test_runs_of_two_snapshots_are_joined_by_name_and_it_is_said(tmp_path: Path) -> None:
    here = recorded(tmp_path / "here.session", {"f": "✓✓✓"}, {})
    there = recorded(tmp_path / "there.session", {"f": "✗✗✗", "g": "✓"}, {}, snapshot="another")
    with SessionReader(here) as a, SessionReader(there) as b:
        pairs, alone = join_groups(groups_of(a, RUN), groups_of(b, RUN))
        assert (len(pairs), alone) == (1, [])
        found = compare_groups(pairs)[0]
    values = found.to_json()
    assert values["joined_across_snapshots"]
    assert [(pair.name, pair.both) for pair in found.panes["Tasks"].rows] == [("f", True), ("g", False)]
    assert [one["what"] for one in values["conditions"]] == ["session"]


def test_evaluators_of_two_runs_find_each_other(tmp_path: Path) -> None:
    here = recorded(tmp_path / "here.session", {"f": "✓"}, {"f": "✗"})
    there = recorded(tmp_path / "there.session", {"f": "✓"}, {})
    with SessionReader(here) as a, SessionReader(there) as b:
        pairs, alone = join_groups(groups_of(a, RUN), groups_of(b, RUN))
    assert [one.group.evaluator for one in pairs[0]] == ["openai/gpt-5-mini"] * 2
    assert alone == [f"only A: {OTHER}"]


def test_a_task_tells_which_tests_only_one_fails_and_which_samples_show_it(tmp_path: Path) -> None:
    path = recorded(tmp_path / "two.session", {"f": "✓✓"}, {"f": "✓✗"})
    with SessionReader(path) as reader:
        found = compared(path)
        (row,) = found.panes["Tasks"].rows
        assert found.detail is not None
        assert found.choose is not None
        (test,) = found.detail(reader, reader, row)["Failing tests"].rows
        assert (test.name, test.left, test.right.failed) == (
            "tests/test_count.py::test_counts_trailing_line", None, 1,
        )  # fmt: skip
        a, b = (read_candidate(reader, lead.key) for lead in found.choose(reader, reader, {"Tasks": row}))
        assert a is not None
        assert b is not None
        assert (a.candidate.verdict, b.candidate.verdict) == ("passed", "failed")
        samples = compare_candidates(a, b)
        values = samples.to_json()
        assert [values[f"same_{what}"] for what in ("docstring", "prompt", "body")] == [True, True, False]
        assert samples.panes["Original → A"].summary == "the same"
        assert [one["fails"] for one in values["failing_tests"]] == ["b"]
        assert read_candidate(reader, "gone") is None
        with pytest.raises(UsageError, match="Evaluator A is not in"):
            GROUPS.read((reader, ("gone", ("no",) * 6)), (reader, ("gone", ("no",) * 6)))


def test_what_marks_a_side_stands_beside_its_figure(tmp_path: Path) -> None:
    path = recorded(tmp_path / "two.session", {"f": "✓✓✗", "g": "✓"}, {"f": "✗✗✗", "g": "✗✗✗"})
    recorder = Recorder(path)
    recorder.writer.update("candidates", {"evaluator": EVALUATOR}, {"doubtful": "names", "repairs": 1})
    recorder.close()
    with SessionReader(path) as reader:
        side = next(side for side in groups_of(reader, RUN) if side.group.evaluator == EVALUATOR)
    found = compared(path)
    assert side.outcome.marks == ("1 to 3 samples a task", "3 doubtful", "3 repaired")
    told = "".join(rendered(comparison_page([found]), "md"))
    for text in (*side.outcome.marks, "They differ in evaluator"):
        assert text in told
    assert "3 doubtful" in found.note


def test_each_difference_is_tested_and_all_are_adjusted_together(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "three.session")
    recorder.run()
    for place in range(8):
        task = recorder.task(f"f{place}", place)
        recorder.cells(task, "✗✗✗")
        recorder.cells(task, "✓✓✓", evaluator="openai/b")
        recorder.cells(task, "✗✗" if place else "✓✓", evaluator="openai/c")
    recorder.close()
    with SessionReader(recorder.path) as reader:
        one, *others = sorted(groups_of(reader, RUN), key=lambda side: side.group.evaluator != "openai/gpt-5-mini")
        found = compare_groups([(one, other) for other in others])
        first, second = (one.to_json()["pass_at_k"] for one in found)
    assert (first["1"]["p"], first["1"]["p_holm"]) == (pytest.approx(2 / 256), pytest.approx(3 * 2 / 256))
    assert "over 8 tasks" in first["1"]["test"]
    # Three tests: pass@1 twice and pass@3 once, for c has two samples only.
    assert (second["3"]["p"], second["3"]["test"]) == (None, "no test: there is no pair")
    assert second["1"]["p"] == 1.0
    assert "by Holm over 3 tests" in first["1"]["test"]
