"""The plain functions of the Regeneration mode: which columns fit, which tasks a filter lets through, how counts add up."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from driving import press, regeneration, screen_text, until
from hypothesis import given
from hypothesis import strategies as st
from regenerated import EVALUATOR, RUN, Recorder

from workbench.app.regeneration.evaluator_results import EvaluatorResults, OtherSamples, load_variants, other_samples
from workbench.app.regeneration.task_table import EVERYTHING, QUESTIONS, route_of
from workbench.regeneration.self_check import CheckProblem, ControlCounts, RecheckCounts, SelfCheck
from workbench.results import regeneration_runs
from workbench.results.regeneration_runs import load_view
from workbench.results.samples import SampleState
from workbench.results.tasks import TaskLine
from workbench.session import SessionReader
from workbench.session.rows import StageRow
from workbench.session.sample_counts import is_counted


def line(name: str, **more: object) -> TaskLine:
    values: dict[str, Any] = {
        "id": name, "snapshot": "s", "path": f"pkg/{name}.py", "name": name, "tests": 3, "coverage": 1.0, "leak": 0.0,
        "leaking": False, "excluded": False, "reason": "", "samples": samples("passed/hot"),
    }  # fmt: skip
    values |= more
    of = values["samples"]
    values |= {
        "counted": sum(is_counted(one.verdict) for one in of),
        "passed": sum(one.verdict == "passed" for one in of),
    }
    return TaskLine(**values)


def samples(*said: str) -> tuple[SampleState, ...]:
    """Return samples by ``VERDICT/ROUTE``, by ``=STATE``, or by ``VERDICT=STATE`` for one that is tested again."""
    found = []
    for one in said:
        verdict, _, state = one.partition("=")
        verdict, _, route = verdict.partition("/")
        found.append(SampleState(verdict or None, state or "done", route))
    return tuple(found)


LINES = (
    line("all_passed"),
    line("failed", samples=samples("passed/hot", "failed/warm"), coverage=0.49, leaking=True),
    line(
        "crashed",
        samples=samples("crashed/cold", "crashed/cold"),
        unstable=2,
        branches=4,
        branches_covered=1,
        coverage=None,
    ),
    line("waiting", samples=samples("passed/hot=testing", "=queued"), rechecked=1, disagreeing=1),
    line("out", samples=samples("=cancelled"), excluded=True, coverage=0.2),
)


def test_each_option_lets_through_what_it_says():
    names = {
        (question.key, option.key): " ".join(
            LINES[at].name for at in EVERYTHING.choosing(question.key, option.key).passing(LINES)
        )
        for question in QUESTIONS
        for option in question.options
    }
    assert names.items() >= {
        ("verdict", "failed"): "failed crashed", ("verdict", "passed"): "all_passed", ("verdict", "undecided"): "waiting",
        ("verdict", "crashed"): "crashed", ("verdict", "again"): "waiting", ("verdict", "out"): "out",
        ("verdict", "cancelled"): "out", ("coverage", "<50"): "failed out", ("coverage", "<25"): "out",
        ("coverage", "100"): "all_passed waiting", ("coverage", "branches"): "crashed", ("coverage", "unknown"): "crashed",
        ("leak", "leaking"): "failed", ("flaky", "flaky"): "crashed", ("route", "hot"): "all_passed waiting",
        ("route", "warm"): "failed", ("route", "cold"): "crashed", ("recheck", "disagrees"): "waiting",
    }.items()  # fmt: skip
    assert [route_of(one) for one in LINES] == ["hot", "h+w", "cold", "hot", ""]


def test_filters_narrow_together_and_say_so():
    both = replace(EVERYTHING, name="ED").choosing("verdict", "failed").choosing("coverage", "<50")
    assert [LINES[at].name for at in both.passing(LINES)] == ["failed"]
    assert both.sentence() == "✗ not passed · cover < 50 % · named “ED”"
    assert both.choosing("verdict", "").choosing("coverage", "").sentence() == "named “ED”"
    assert not EVERYTHING.active
    assert EVERYTHING.passing(LINES) == list(range(len(LINES)))


def test_only_options_that_let_something_through_are_offered():
    verdicts = QUESTIONS[0].offered(LINES, "")
    assert [(option.key, count) for option, count in verdicts] == [
        ("failed", 2), ("passed", 1), ("undecided", 1), ("crashed", 1), ("cancelled", 1), ("again", 1),
        ("out", 1),
    ]  # fmt: skip
    assert "timeout" in [option.key for option, _ in QUESTIONS[0].offered(LINES, "timeout")]  # the chosen one stays


def stage(name: str, state: str, done: int, total: int | None, note: str = "") -> StageRow:
    return StageRow("run", name, 0, state, done, total, note, 0.0)


@given(
    st.dictionaries(
        st.sampled_from(["parse", "body", "trace", "time", "original", "stub", "later"]), st.integers(1, 99)
    ),
    st.integers(0, 50),
    st.integers(0, 9),
)
def test_counts_go_down_by_what_is_dropped(dropped, tasks, excluded):
    excluded = min(tasks, excluded)
    found = sum(dropped.values()) + tasks
    rows = regeneration_runs.counts([stage("filter", "done", found, found)], dropped, tasks, excluded, live=False)
    assert rows[0].left == (found or None)
    known = [row for row in rows if row.key in dropped]
    assert Counter({row.key: row.dropped for row in known}) == Counter(dropped)
    left = [row.left for row in rows if row.left is not None]
    assert left == sorted(left, reverse=True)
    if tasks:
        assert (rows[-1].left, rows[-1].dropped) == (tasks - excluded, excluded)


def test_a_self_check_speaks_only_when_something_is_wrong():
    good = (ControlCounts("reference", 1.0, 5, 5, 5), ControlCounts("stub", 0.0, 5, 0, 5))
    assert SelfCheck(good, RecheckCounts(9, 0)).banner(live=False) == ""
    untested = (ControlCounts("reference", 1.0, 4, 4, 5, errors=1),)
    assert SelfCheck(untested, RecheckCounts()).banner(live=True) == ""
    assert (
        SelfCheck(untested, RecheckCounts())
        .banner(live=False)
        .startswith("✗ SELF-CHECK INCOMPLETE: could not test reference")
    )
    many = tuple(CheckProblem(str(n), f"f{n}", "stub") for n in range(5))
    said = SelfCheck((ControlCounts("stub", 0.0, 9, 5, 9),), RecheckCounts(), many).banner(live=True)
    assert "stub passes on 5 tasks (f0, f1, f2 and 2 more)" in said


LONG = ("openrouter/qwen/qwen3-235b-a22b-instruct-2507", "replay:/home/somebody/a/very/long/way/to/recorded.session")


@pytest.mark.parametrize("width", [100])
async def test_pass_at_1_of_each_evaluator_stays_beside_long_names(tmp_path, width):
    recorder = Recorder(tmp_path / "demo.session")
    recorder.run(samples=4, asks=[{"evaluator": name, "samples": 4} for name in (EVALUATOR, *LONG)])
    tasks = [recorder.task(f"function_{number}", number) for number in range(3)]
    recorder.controls(tasks)
    for name, cells in zip((EVALUATOR, *LONG), ("✓✓✓✓", "✓✗✗✗", "✓✓✗✗"), strict=True):
        for task in tasks:
            recorder.cells(task, cells, evaluator=name)
    recorder.close()
    async with regeneration(tmp_path / "demo.session", size=(width, 30)) as (pilot, screen):

        def line() -> str:
            return next((row for row in screen_text(screen.app).splitlines() if "evaluators" in row), "")

        for share in ("1.00", "0.25", "0.50"):
            await until(pilot, lambda share=share: f" {share}" in line(), f"{share} in the line")
        assert "gpt-5-mini" in line()
        assert "12/12" not in line()


LLM = "llm:openai/gpt-5-mini"


def variant(recorder: Recorder, run_id: str, docs: str, cells: dict[str, str], **more: object) -> None:
    """Record a run with these docs: cells by function, a trailing ``#2`` is the second one of that name."""
    prompt = str(more.pop("prompt", ""))
    recorder.run(run_id=run_id, **{"docs": docs, **more})
    scope = str(more.get("docs_scope", "repository"))
    for place, (name, said) in enumerate(cells.items()):
        function, _, number = name.partition("#")
        task = recorder.task(
            function,
            place,
            id=f"{run_id}-{place}",
            run_id=run_id,
            docs=docs,
            docs_scope=scope,
            occurrence=int(number or 1),
        )
        recorder.cells(task, said, run_id=run_id, prompt=prompt)


def by_signs(signs: str) -> tuple[SampleState, ...]:
    """Return tested samples by the signs of their verdicts."""
    return tuple(SampleState({"✓": "passed", "✗": "failed", "⧖": "timeout"}[sign], route="hot") for sign in signs)


def variants(path: Path, run_id: str = RUN) -> tuple[OtherSamples, ...]:
    with SessionReader(path) as reader:
        view = load_view(reader, run_id)
        return load_variants(reader, view).get(view.group, ())


def test_cells_are_joined_by_function_and_the_newest_run_of_each_variant_counts(tmp_path):
    path = tmp_path / "docs.session"
    recorder = Recorder(path)
    variant(recorder, RUN, "original", {"f": "✓✓", "f#2": "✓✗", "g": "✓✓"})
    variant(recorder, "older", "none", {"f": "✓✓"})
    variant(recorder, "none", "none", {"g": "✗✗", "f#2": "✗✓", "elsewhere": "✓✓"})
    variant(recorder, "same-docs", "original", {"f": "✗✗"})
    variant(recorder, "scope", "original", {"f": "⧖⧖"}, docs_scope="target")
    variant(recorder, "other-source", LLM, {"f": "✓✓"}, source="another")
    variant(recorder, "other-prompt", LLM, {"f": "✓✓"}, prompt="another")
    recorder.close()
    assert variants(path) == (
        OtherSamples("none", {f"{RUN}-2": by_signs("✗✗"), f"{RUN}-1": by_signs("✗✓")}),
        OtherSamples("original (target)", {f"{RUN}-0": by_signs("⧖⧖")}),
    )


def test_among_evaluators_a_column_says_that_it_is_of_docs(tmp_path):
    path = tmp_path / "docs.session"
    recorder = Recorder(path)
    variant(recorder, RUN, "original", {"f": "✓"})
    recorder.cells(f"{RUN}-0", "✗", evaluator="openai/other")
    variant(recorder, "none", "none", {"f": "✗"})
    recorder.close()
    with SessionReader(path) as reader:
        view = load_view(reader, RUN, evaluator=EVALUATOR)
        cells = {group: {f"{RUN}-0": by_signs("✗")} for group in view.groups}
        shown, found = other_samples(view, EvaluatorResults(samples=cells, variants=load_variants(reader, view)))
    assert [shown, *(one.name for one in found)] == ["gpt-5-mini", "other", "docs none"]


async def test_a_variant_of_another_run_stands_beside_the_samples_in_front(tmp_path):
    recorder = Recorder(tmp_path / "docs.session")
    variant(recorder, RUN, LLM, {"f": "✓✓✓", "g": "✓✓✗"})
    variant(recorder, "bare", "none", {"g": "✗✗✓", "f": "✗⧖✗", "h": "✗✗✗"})
    async with regeneration(tmp_path / "docs.session", size=(200, 60)) as (pilot, screen):

        def row(word: str) -> list[str]:
            return next((line.split() for line in screen_text(screen.app).splitlines() if f" {word} " in line), [])

        # The newest run is in front; each cell is that of the same function, though places and ids differ.
        await until(pilot, lambda: "llm:gpt-5-mini" in row("function"), "the variant")
        heading = row("function")
        assert heading.index("none") + 1 == heading.index("llm:gpt-5-mini")
        assert [word for word in row("f") if set(word) <= set("✓✗⧖")] == ["✗⧖✗", "✓✓✓"]
        assert [word for word in row("g") if set(word) <= set("✓✗⧖")] == ["✗✗✓", "✓✓✗"]
        assert row("h")[row("h").index("✗✗✗") + 1] == "–", "no such task in that run"
        recorder.sample(f"{RUN}-0", 1, "✗")
        await until(pilot, lambda: "✓✗✓" in row("f"), "the cell of a run that is not in front, as it is now")
        await press(pilot, screen, "H")
        await until(pilot, lambda: "none" in row("function"), "the other way round")
        assert [word for word in row("f") if set(word) <= set("✓✗⧖")] == ["✓✗✓", "✗⧖✗"]
        await pilot.resize_terminal(150, 60)
        await until(pilot, lambda: "samples" in row("function"), "one column where there is no room")
    recorder.close()
