"""What reports are made of: items by a few characters, means with spread, outcomes of regeneration."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples.sessions import add_scores, add_trial, card

from workbench.base.errors import UsageError
from workbench.results.contents import accessed_files_words, read_contents
from workbench.results.items import find_item, short_ids
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.rows import FailingTestRow


@settings(max_examples=25)
@given(st.sets(st.text("0123456789abcdef", min_size=16, max_size=16), max_size=60))
def test_short_ids_mean_one_item_each(ids: set[str]) -> None:
    shortened = short_ids(ids)
    for name, short in shortened.items():
        assert [other for other in ids if other.startswith(short)] == [name]
        assert len(short) == 4 or [o for o in ids if o.startswith(short[:-1])] != [name]


def test_items_are_found_by_their_beginning_and_steps_by_number(documented: tuple[Path, dict[str, str]]) -> None:
    session, names = documented
    with SessionReader(session) as reader:
        assert find_item(reader, names["first"][:5]).id == names["first"]
        assert find_item(reader, names["first"][:5].upper()).id == names["first"]
        found = find_item(reader, f"{names['first'][:5]}:2")
        assert (found.kind, found.step) == ("trial", 2)
        for wrong, words in (
            (f"{names['first'][:5]}:9", "its steps are 1 to 2"),
            (f"{names['failed'][:5]}:1", "no steps yet"),
            (f"{names['first'][:5]}:x", "no step 'x'"),
            ("nope", "has no item"),
            ("", "has no item"),
            ("\x1b[2J", "has no item"),
        ):
            with pytest.raises(UsageError, match=words):
                find_item(reader, wrong)


def test_an_ambiguous_beginning_names_the_items(tmp_path: Path, regenerated: tuple[Path, dict[str, str]]) -> None:
    session = tmp_path / "many.session"
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        for number in range(20):
            writer.add_trial(f"aa{number:014d}", "run", number, ("c", "c"), "white", "local", number)
    with SessionReader(session) as reader, pytest.raises(UsageError, match="matches 20 items"):
        find_item(reader, "aa")
    with SessionReader(regenerated[0]) as reader, pytest.raises(UsageError, match="is a task; only trials have steps"):
        find_item(reader, f"{regenerated[1]['count_text']}:1")


def test_means_are_per_agent_and_model_and_per_repeated_case(tmp_path: Path) -> None:
    session = tmp_path / "means.session"
    create(session)
    given_points = {("alpha", 1): 3.0, ("alpha", 2): 6.0, ("beta", 1): 12.0}
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {})
        for (case, repeat), points in given_points.items():
            add_scores(writer, add_trial(writer, "run", case, repeat), card(points))
    with SessionReader(session) as reader:
        spread = read_contents(reader).spread
    totals = [5.0 + points for points in given_points.values()]
    assert [(one.case, one.scored) for one in spread] == [("", 3), ("alpha", 2)]
    assert spread[0].mean == pytest.approx(statistics.fmean(totals))
    assert spread[0].sd == pytest.approx(statistics.stdev(totals))
    assert (spread[1].low, spread[1].high, spread[1].out_of) == (8.0, 11.0, 26.0)


def test_an_error_of_ours_and_an_excluded_task_count_for_nobody(regenerated: tuple[Path, dict[str, str]]) -> None:
    session, names = regenerated
    with SessionReader(session) as reader:
        outcome = read_contents(reader).runs[0].regenerated
        failing = reader.failing_tests(names["local1"])
    assert outcome is not None
    local = next(one for one in outcome.groups if one.group.evaluator == "local")
    assert (local.figures.pass_at[0].value, local.figures.pass_at[0].tasks) == (2 / 3, 1)
    line = outcome.of_task(names["count_text"])[0]
    assert (line.result.counted, line.result.passed, line.cells) == (3, 2, "✓✗↯✓")
    assert isinstance(failing[0], FailingTestRow)


def test_samples_that_a_later_run_added_count_with_the_earlier_ones(regenerated: tuple[Path, dict[str, str]]) -> None:
    session, names = regenerated
    with SessionWriter(session) as writer:
        writer.add_run("reg2", "regenerate", {"samples": 5})
        writer.insert(
            "candidates",
            {"id": "c" * 16, "run_id": "reg2", "task_id": names["count_text"], "evaluator": "local", "sample": 4,
             "state": "done", "verdict": "timeout"},
        )  # fmt: skip
    with SessionReader(session) as reader:
        outcome = read_contents(reader).runs[0].regenerated
    assert outcome is not None
    line = outcome.of_task(names["count_text"])[0]
    assert (line.cells, line.result.counted, line.result.passed) == ("✓✗↯✓⧖", 4, 2)


def test_a_file_that_was_cut_counts_as_read_in_part(documented: tuple[Path, dict[str, str]]) -> None:
    session, names = documented
    writer = SessionWriter(session)
    writer.update("accessed_files", {"trial_id": names["first"], "path": "a.py", "access": "read"}, {"size": 40})
    writer.close()
    with SessionReader(session) as reader:
        trial = reader.trial(names["first"])
        assert trial is not None
        assert accessed_files_words(reader, trial) == "read 1 of 2 files, 1 of them in part, 10 % of the bytes"
