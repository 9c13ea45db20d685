"""What work will take: medians of what like work took, nothing guessed, and the same for every way of asking."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from app.regenerated import Recorder
from hypothesis import given
from hypothesis import strategies as st

from workbench.base import paths
from workbench.orders.estimate import (
    NOTHING_KNOWN,
    Again,
    WorkEstimate,
    added,
    duration,
    estimate_alike,
    estimate_ask,
    estimate_candidates,
    estimate_fork,
    estimate_rerun,
    estimate_trials,
    new_candidates,
)
from workbench.orders.measured import MeasuredRates, Rate, builds, measured_in, note_build
from workbench.plans.plan import Ask

GPT = "openai/gpt-4o"
RATES = (
    Rate("white", GPT, "a", 5, 60, 0.02),
    Rate("white", GPT, "a", 7, 100, 0.04),
    Rate("white", GPT, "b", 4, 20, 0.01),
    Rate("planner", "local", "a", 9, 30, 0.0),
)
KNOWN = MeasuredRates(
    trials=RATES,
    judging=(Rate("", GPT, "", 2, 3, 0.05),),
    candidates=(Rate("", GPT, "src", 1, 0.5, 0.001, 0.2), Rate("", GPT, "src", 1, 1.5, 0.003, 0.4)),
    tasks={"src": 12},
    had={("src", GPT): (12, 5)},
)


def trials(
    cases: list[str], agent: str = "white", model: str = GPT, judge: str = "offline", repeats: int = 1
) -> WorkEstimate:
    return estimate_trials(KNOWN, cases, agent, model, [judge], repeats=repeats, at_once=2)


def test_each_case_counts_with_its_own_median_and_trials_run_side_by_side() -> None:
    told = trials(["a", "b"], repeats=2)
    assert (told.count, told.requests) == (4, 2 * 6 + 2 * 4)
    assert told.seconds == (2 * 80 + 2 * 20) / 2
    assert told.dollars is not None
    assert math.isclose(told.dollars, 0.08)
    assert told.sentence() == "4 trials, about 20 requests, 2 minutes, $0.08 (by 3 earlier trials)"


def test_a_case_without_trials_counts_with_the_agents_and_models_others() -> None:
    assert trials(["new"]).requests == 5


def test_the_embedded_model_works_on_one_trial_at_a_time_and_costs_nothing() -> None:
    told = trials(["a", "b"], "planner", "local")
    assert (told.seconds, told.dollars) == (60, 0.0)


def test_nothing_is_guessed() -> None:
    other = trials(["a"], model="openai/new")
    assert (other.requests, other.seconds, other.dollars) == (5, None, None)
    assert other.sentence() == f"1 trial, about 5 requests; time and cost not known: {NOTHING_KNOWN}"
    nobody = trials(["a"], "own.package:Agent", "openai/new")
    assert nobody.sentence() == f"1 trial; time and cost not known: {NOTHING_KNOWN}"
    assert other.beyond(0.01, 0.01) == "", "what is not known is not asked about"


def test_a_judge_adds_its_requests_and_its_price() -> None:
    told = trials(["b"], judge=GPT)
    assert told.requests == 4 + 2
    assert told.dollars is not None
    assert math.isclose(told.dollars, 0.06)
    assert trials(["b"], judge="openai/other").dollars is None, "an unknown judge makes the cost unknown"
    assert trials(["b"], judge="local").dollars == 0.01


def test_a_question_above_a_stated_amount() -> None:
    told = trials(["a", "b"], repeats=100)
    assert told.beyond(1.0, 0.0) == "about $4.00, more than the $1.00 of ask_above_dollars"
    assert told.beyond(0.0, 30.0).startswith("about 83 minutes, more than the 30 minutes")
    assert told.beyond(0.0, 0.0) == ""
    assert told.beyond(100.0, 1000.0) == ""


def test_a_fork_is_measured_by_its_parents_steps_or_by_the_other_models_requests() -> None:
    left = [(10.0, 0.01), (20.0, 0.02)]
    same = estimate_fork(KNOWN, GPT, left, same=True)
    assert (same.requests, same.seconds) == (2, 30)
    other = estimate_fork(KNOWN, GPT, left, same=False)
    assert other.seconds == 2 * 12  # median of 60/5, 100/7, 20/4
    assert estimate_fork(KNOWN, "openai/new", left, same=False).seconds is None


def test_candidates_count_what_the_session_has_not() -> None:
    ask = Ask(GPT, 3)
    count = new_candidates(KNOWN, "src", ask)
    assert count == 0 + 7 + 12
    told = estimate_candidates(KNOWN, "src", GPT, candidates=count)
    assert (told.requests, told.seconds) == (19, 19)
    assert new_candidates(KNOWN, "src", Ask(GPT, 3, limit=2)) == 2, "of the first tasks the session may have any sample"
    unknown = estimate_candidates(KNOWN, "new", GPT, candidates=new_candidates(KNOWN, "new", ask))
    assert "their number is known once the tasks are built" in unknown.sentence()
    assert estimate_candidates(KNOWN, "src", "stub", candidates=4).dollars == 0
    again = estimate_alike(10, "candidate", KNOWN.tested("src"), "run")
    assert (again.requests, again.dollars) == (0, 0)
    assert math.isclose(again.seconds or 0, 3)
    both = added([told, again])
    assert both.count == 29
    assert both.dollars == told.dollars


def test_building_the_tasks_takes_its_time_unless_they_are_there(home: Path) -> None:
    known = replace(KNOWN, had={})
    tasks = home / "tasks.json"

    def told(source: str = "src", rebuild: bool = False, limit: int = 2) -> WorkEstimate:
        return estimate_ask(replace(known, builds=builds()), source, Ask(GPT, 1, limit=limit), rebuild=rebuild)

    assert (told().seconds, told().building) == (2, None)
    assert ", 2 seconds after the tasks are built" in told().sentence(), "no build was measured on this machine"
    note_build("other", tasks, 80.0)
    note_build("third", tasks, 100.0)
    assert (told().seconds, told().building) == (2 + 90, 90), "the median of the sources that were built"
    note_build("src", tasks, 40.0)
    assert told().sentence().startswith("2 candidates, about 2 requests, 42 seconds (40 seconds of it for building the")
    tasks.touch()
    note_build("src", tasks, None)
    assert (told().seconds, told().building) == (2, 0), "they are in the cache"
    assert told(rebuild=True).building == 40
    assert "once the tasks are built, which takes about 80 seconds" in told("new", limit=0).sentence()
    assert told("new").sentence().startswith("up to 2 candidates"), "the limit bounds them"
    again = [Again("src", GPT, 3, 0), Again("src", "stub", 0, 5)]
    tasks.unlink()
    assert estimate_rerun(replace(KNOWN, builds=builds()), again).building == 40, "both need the same tasks"


def test_a_damaged_note_of_a_build_says_nothing(home: Path) -> None:
    note_build("src", home / "tasks.json", 5.0)
    (note,) = (home / "state" / "builds").iterdir()
    for text in ("", "[" * 99_999, "[]", '{"source": 3}', '{"source": "src", "seconds": "x", "tasks": "\\u0000"}'):
        note.write_text(text)
        assert all(build.seconds is None and build.tasks is None for build in builds().values())


@given(st.floats(0.001, 1e7), st.floats(0.001, 1e7))
def test_durations_keep_their_order(one: float, other: float) -> None:
    def seconds(text: str) -> float:
        words = text.replace(",", "").split()
        if words[1].startswith("second"):
            return float(words[0])
        return 60 * float(words[0]) if words[1] == "minutes" else 3600 * float(words[0]) + 60 * float(words[2])

    short, long = sorted((one, other))
    assert seconds(duration(short)) <= seconds(duration(long))
    assert abs(seconds(duration(long)) - long) <= max(1.0, 0.35 * long)


@given(
    st.lists(st.tuples(st.integers(1, 30), st.floats(0.1, 1e4), st.none() | st.floats(0, 10)), min_size=1, max_size=9),
    st.integers(1, 9),
)
def test_an_estimate_lies_among_what_was_measured(rates: list[tuple[int, float, float | None]], repeats: int) -> None:
    known = MeasuredRates(tuple(Rate("white", GPT, "a", *rate) for rate in rates))
    told = estimate_trials(known, ["a"], "white", GPT, ["offline"], repeats=repeats, at_once=1)
    assert told.requests is not None
    assert told.seconds is not None
    assert min(rate[0] for rate in rates) * repeats <= told.requests <= max(rate[0] for rate in rates) * repeats
    assert min(rate[1] for rate in rates) * repeats <= told.seconds * (1 + 1e-9)
    assert (told.dollars is None) == all(rate[2] is None for rate in rates)


def test_sessions_that_cannot_be_read_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "torn.session").write_bytes(b"SQLite format 3\x00 and no more")
    assert measured_in([tmp_path / "torn.session", tmp_path / "missing.session"]) == MeasuredRates()


def test_what_an_example_recorded_elsewhere_is_no_measure_of_this_machine(tmp_path: Path) -> None:
    example = paths.bundled("sessions") / "example.session"
    copy = tmp_path / "copy.session"
    shutil.copyfile(example, copy)
    assert measured_in([example]) == measured_in([copy]) == MeasuredRates()


@pytest.mark.parametrize(("more", "known"), [({}, {"word_counter": 2}), ({"limit": 2}, {}), ({"tasks": ["a"]}, {})])
def test_only_a_run_of_all_tasks_says_how_many_a_source_has(tmp_path, more, known):
    made = Recorder(tmp_path / "a.session")
    made.run(asks=[{"evaluator": "local", "samples": 1, **more}])
    for place in range(2):
        made.task(f"f{place}", place)
    made.close()
    assert measured_in([made.path]).tasks == known


def test_what_the_session_has_already_is_told_apart() -> None:
    told = WorkEstimate(0, "candidate", 0.0, 0.0, 0.0)
    assert told.beside(900) == "900 candidates, which the session already has: nothing is left to do"
    assert told.sentence() == "0 candidates: nothing is left to do"
    some = WorkEstimate(12, "candidate", 12.0, 60.0, 0.0)
    assert some.beside(12) == some.sentence()
    assert some.beside(36) == f"36 candidates, of which 24 are already in the session; new: {some.sentence()}"
