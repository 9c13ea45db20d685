"""What the Regeneration mode shows when there is little, nothing, too much or something odd; and while it grows."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import regenerated
from regenerated import RUN, Recorder
from regeneration_app import figures, press, regeneration
from trajectory_app import screen_text, until

from workbench.session import create


async def test_session_without_a_run_tells_the_key(tmp_path: Path) -> None:
    create(tmp_path / "empty.session")
    async with regeneration(tmp_path / "empty.session") as (_, screen):
        assert (
            "press ctrl+n to test a repository's documentation by regeneration".lower()
            in screen_text(screen.app).lower()
        )


async def test_session_of_trajectories_only(tmp_path: Path) -> None:
    other = recorded.Recorder(tmp_path / "demo.session")
    other.run()
    recorded.word_counter(other, "t1")
    other.close()
    async with regeneration(tmp_path / "demo.session") as (_, screen):
        assert "No regeneration run in this session." in screen_text(screen.app)


async def test_queued_building_live_done(recorder: Recorder) -> None:
    recorder.run(state="queued", samples=3)
    async with regeneration(recorder.path) as (pilot, screen):
        assert "· waiting for the engine…" in screen_text(screen.app)
        lease = recorder.writer.acquire(RUN)
        recorder.writer.set_run(RUN, state="running", started_at=time.time())
        recorder.stage("suite", 2, "done", 14, 14, "14 tests are stable")
        recorder.stage("filter", 4, "running", 41, 120, "count_text: 14 tests")
        recorder.dropped("main", "trace", "No stable test executes it.")
        await until(pilot, lambda: "41 of 120" in screen_text(screen.app), "the stage")
        text = screen_text(screen.app)
        assert "▸ building tasks: filter" in text
        assert "Building tasks" in text
        assert "14 tests are stable" in text
        assert "Dropped 1 function" in text
        assert re.search(r"run by no stable test +wordcount.py::main", text)
        assert "still to decide" in text
        recorder.stage("filter", 4, "done", 120, 120)
        tasks = [recorder.task(name, place) for place, name in enumerate(("a", "b"))]
        for task in tasks:
            recorder.cells(task, "···")
        recorder.cells(tasks[0], "▸··")
        await until(pilot, lambda: "▸··" in screen_text(screen.app), "the table")
        assert "▸ 0 of 6" in screen_text(screen.app)
        recorder.sample(tasks[0], 0, "✓", at=regenerated.now())
        recorder.sample(tasks[0], 1, "✗", at=regenerated.now())
        await until(pilot, lambda: "▸ 2 of 6" in screen_text(screen.app), "two of six")
        await until(pilot, lambda: "✓✗·" in screen_text(screen.app), "two cells")
        # The samples that are decided count, and it is said that tasks wait for more.
        await until(pilot, lambda: "pass@1 0.50" in screen_text(screen.app), "the first figure")
        assert "0 of 2 tasks so far" in screen_text(screen.app)
        recorder.sample(tasks[0], 2, "✓", at=regenerated.now())
        await until(pilot, lambda: "1 of 2 tasks so far" in screen_text(screen.app), "a figure")
        assert "pass@1 0.67" in screen_text(screen.app)
        assert "left" in screen_text(screen.app)
        recorder.cells(tasks[1], "✗✗✗", at=regenerated.now())
        recorder.writer.set_run(RUN, state="done", finished_at=time.time())
        recorder.writer.release(lease)
        await until(pilot, lambda: "✓ done, 6 samples" in screen_text(screen.app), "done")
        await until(pilot, lambda: "pass@1 0.33" in screen_text(screen.app), "the last figure")
        assert "so far" not in screen_text(screen.app)


async def test_selected_sample_follows_its_verdict(recorder: Recorder) -> None:
    recorder.run(state="running", samples=1)
    lease = recorder.writer.acquire(RUN)
    task = recorder.task("a", 0)
    recorder.cells(task, "▸")
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: "The model is writing this body…" in screen_text(screen.app), "writing")
        recorder.sample(task, 0, "✗", at=regenerated.now())
        await until(pilot, lambda: "assert 1 == 2" in screen_text(screen.app), "its failing test")
        assert "sample 1 ✗ failed" in screen_text(screen.app)
    recorder.writer.release(lease)


async def test_interrupted_run_offers_resume(recorder: Recorder) -> None:
    regenerated.word_counter(recorder, state="running")
    recorder.cells(f"{RUN}-total", "✓··")
    async with regeneration(recorder.path) as (_, screen):
        text = screen_text(screen.app)
        assert "‖ interrupted at 10 of 12 — press u to resume" in text
        assert "3 of 4 tasks so far" in text
        assert screen.check_action("resume", ())
        assert not screen.check_action("cancel", ())


async def test_cancelled_samples_are_not_decided(recorder: Recorder) -> None:
    recorder.run(state="cancelled")
    recorder.cells(recorder.task("a", 0), "✓✗✓")
    recorder.cells(recorder.task("b", 1), "✗⊘⊘")
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        text = screen_text(screen.app)
        assert "⊘ cancelled at 4 of 6" in text
        assert "1 of 2 tasks so far" in text
        assert "pass@1 0.33" in text  # as in summary and report: what is there counts, and how much is missing is said


async def test_failed_run_says_why(recorder: Recorder) -> None:
    recorder.run(state="failed")
    recorder.writer.set_run(
        RUN, error="tabulate gives no task: of its 12 functions, 12 are executed by no stable test."
    )
    recorder.stage("filter", 4, "failed", 12, 12)
    for number in range(12):
        recorder.dropped(f"f{number}", "trace", "No stable test executes it.")
    async with regeneration(recorder.path, (80, 24)) as (pilot, screen):
        text = screen_text(screen.app)
        assert "✗ The run failed: tabulate gives no task" in text
        assert "Dropped 12 functions" in text
        assert "✗ stub filter" in text
        await press(pilot, screen, "tab", "G")
        assert "f9" in screen_text(screen.app)


async def test_control_that_fails_cannot_be_missed(recorder: Recorder) -> None:
    recorder.run()
    tasks = [recorder.task(name, place) for place, name in enumerate(("good", "bad", "worse"))]
    recorder.controls(tasks[:1])
    recorder.controls(tasks[1:2], reference="✗")
    recorder.controls(tasks[2:], stub="✓")
    recorder.writer.update(
        "tasks", {"id": tasks[1]}, {"state": "excluded", "reason": "Its tests did not pass with the original body."}
    )
    recorder.writer.update("tasks", {"id": tasks[2]}, {"state": "excluded", "reason": "Its tests passed with a stub."})
    recorder.cells(tasks[0], "✓✓✗")
    recorder.cells(tasks[1], "⊘⊘⊘")
    recorder.cells(tasks[2], "⊘⊘⊘")
    for size in ((80, 24), (120, 40)):
        async with regeneration(recorder.path, size) as (pilot, screen):
            await until(pilot, lambda: figures(screen) is not None, "figures")
            text = screen_text(screen.app)
            told = " ".join(text.split())
            bad, worse = (" (bad)", " (worse)") if size[0] >= 100 else ("", "")  # names only where there is room
            assert (
                f"✗ SELF-CHECK FAILED: reference does not pass on 1 task{bad}; stub passes on 1 task{worse}: taken out "
                "of pass@k · ! goes there"
            ) in told
            assert "✗ reference 2/3" in text
            assert "✗ stub 1/3" in text
            assert "2 taken out" in text
            assert figures(screen).tasks == 1
            assert "✓ done, 3 samples" in text
            assert figures(screen).pass_at[0].value == pytest.approx(2 / 3)
            await press(pilot, screen, "exclamation_mark")
            assert screen.table.selected.name == "bad"
            assert "! 1 of 2 · bad · its tests do not pass with the original body" in screen_text(screen.app)
            assert "Not requested, because a control failed." in screen_text(screen.app)
            assert "reference failed; it must pass." in screen.detail.failing_text.document.text
            assert "E   assert 1 == 2" in screen.detail.failing_text.document.text
            await press(pilot, screen, "exclamation_mark")
            assert screen.table.selected.name == "worse"
            await press(pilot, screen, "escape")
            assert "! 2 of 2" not in screen_text(screen.app)


async def test_a_recheck_that_disagrees_is_shown_like_a_failed_self_check(recorder: Recorder) -> None:
    recorder.run()
    tasks = [recorder.task(name, place) for place, name in enumerate(("good", "doubtful"))]
    recorder.controls(tasks)
    cold = {"why": "random", "verdict": "passed", "route": "cold", "seconds": 1.2, "agrees": True}
    recorder.cells(tasks[0], "✓✓✓", recheck=json.dumps(cold))
    recorder.cells(tasks[1], "✓✓", route_fallback_reason="", backend="docker")
    more = {"route": "warm", "route_fallback_reason": "it runs at import", "suspicious": '["pytest was patched"]'}
    otherwise = {**cold, "why": "suspicious", "verdict": "failed", "agrees": False}
    recorder.sample(tasks[1], 2, "✗", recheck=json.dumps(otherwise), **more)
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        text = screen_text(screen.app)
        assert (
            "✗ VERDICTS DISAGREE: 1 of 4 cold re-checks came out otherwise (doubtful): the cold verdict counts" in text
        )
        assert "✗ cold re-checks 4, disagreements 1" in text
        assert "✓ self-check: reference 2/2 · stub 0/2" in text
        assert "bubblewrap + docker · no network" in text
        assert "≠ doubtful" in text
        assert "h+w" in text
        assert not screen.sample.query_one("#sample-remarks").render().plain.startswith("≠")
        await press(pilot, screen, "exclamation_mark")
        assert (screen.table.selected.name, screen.table.sample) == ("doubtful", 2)
        remarks = screen.sample.query_one("#sample-remarks").render().plain
        assert remarks.split("\n") == [
            "warm, not hot: it runs at import",
            "suspicious: pytest was patched",
            "≠ cold re-check (suspicious): failed; the warm route disagrees",
        ]
        await pilot.press("f")
        await until(pilot, lambda: screen.app.screen.query("#recheck"), "the chooser")
        screen.app.screen.query_one("#recheck").focus()
        await pilot.press("right", "enter")
        await until(pilot, lambda: "≠ re-check disagrees" in screen_text(screen.app), "the filter")
        assert len(screen.table.shown) == 1


async def test_a_control_that_could_not_be_tested_leaves_the_self_check_incomplete(recorder: Recorder) -> None:
    recorder.run()
    tasks = [recorder.task(name, place) for place, name in enumerate(("good", "broken"))]
    recorder.controls(tasks[:1])
    recorder.controls(tasks[1:], reference="↯")
    recorder.writer.update(
        "tasks", {"id": tasks[1]}, {"state": "excluded", "reason": "The control reference could not."}
    )
    recorder.cells(tasks[0], "✓✓✗")
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        text = screen_text(screen.app)
        assert "✗ SELF-CHECK INCOMPLETE: could not test reference on 1 task (broken)" in text
        assert "? reference 1/1 of 2" in text


async def test_a_failure_that_a_resume_cannot_mend_offers_another_order(recorder: Recorder) -> None:
    recorder.run(state="failed", lasting=True)
    recorder.writer.set_run(RUN, error="The repository has no Python functions outside its tests.")
    async with regeneration(recorder.path) as (_, screen):
        text = screen_text(screen.app)
        assert "no Python functions" in text
        assert "Press ctrl+n for another order." in text
        assert "Press u" not in text
        assert not screen.check_action("resume", ())
        assert screen.check_action("new", ())


async def test_a_failure_that_may_pass_offers_to_resume(recorder: Recorder) -> None:
    recorder.run(state="failed")
    recorder.writer.set_run(RUN, error="The package registry does not answer.")
    async with regeneration(recorder.path) as (_, screen):
        assert "Press u to resume." in screen_text(screen.app)
        assert screen.check_action("resume", ())


async def test_quarantined_tests_are_listed_with_their_outcomes(recorder: Recorder) -> None:
    recorder.run(state="failed")
    recorder.stage("suite", 2, "done", 12, 13, "12 tests are stable, 1 unstable")
    recorder.unused([("unstable", "tests/test_a.py::test_b", "passed, failed, passed")])
    recorder.stage("filter", 4, "done", 40, 40)
    recorder.dropped("slow", "time", "Its tests take 12.0 s, more than 10 s.")
    async with regeneration(recorder.path) as (pilot, screen):
        text = screen_text(screen.app)
        assert "12 of 13" in text
        assert "12 tests are st" in text
        assert "tests take over 10 s" in text
        assert "Its tests take 12.0 s, more than 10 s." in text
        await press(pilot, screen, "G")
        text = screen_text(screen.app)
        assert "Quarantined 1 test" in text
        assert "tests/test_a.py::test_b" in text
        assert "passed, failed, passed" in text
        await press(pilot, screen, "g", "slash", *"nowhere", "enter")
        said = "Dropped 0 functions of 1 · with “nowhere” · esc shows all"
        await until(pilot, lambda: said in screen_text(screen.app), "that nothing is left")
        await press(pilot, screen, "escape")
        await until(pilot, lambda: "Dropped 1 function ─" in screen_text(screen.app), "all of them")


async def test_errors_of_ours_never_count(recorder: Recorder) -> None:
    recorder.run()
    recorder.cells(recorder.task("a", 0), "✓↯✗")
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        line = screen.table.selected
        assert (line.counted, line.passed, line.at) == (2, 1, (0.5, None))  # two samples have no pass@3


async def test_hostile_texts_are_cleaned(recorder: Recorder) -> None:
    evil = "\x1b[31mred\x1b]0;title\x07\x1b[2J"
    recorder.run()
    task = recorder.task(f"f{evil}", 0, path=f"a{evil}.py", docstring=evil)
    recorder.cells(task, "✗", body=f"return '{evil}'\n", answer=evil)
    recorder.failing(f"{task}/{regenerated.EVALUATOR}/0", f"tests/x.py::t{evil}", evil, evil)
    recorder.dropped(f"g{evil}", "trace", evil)
    async with regeneration(recorder.path) as (pilot, screen):
        for keys in (("Y",), ("right_square_bracket", "right_square_bracket"), ("D",)):
            await press(pilot, screen, *keys)
            text = screen_text(screen.app)
            assert "\x1b" not in text
            assert "title" not in text
        assert "red" in screen_text(screen.app)


async def test_answer_of_a_megabyte_and_a_body_of_thousands_of_lines(recorder: Recorder) -> None:
    recorder.run()
    body = "".join(f"    value_{n} = compute({n})\n" for n in range(4000))
    task = recorder.task("long", 0, body=body)
    recorder.cells(task, "✗", body=body.replace("compute(3999)", "compute(0)"), answer="x" * 1_000_000)
    async with regeneration(recorder.path) as (pilot, screen):
        assert "+ value_3999 = compute(0)" in screen_text(screen.app)
        await press(pilot, screen, "left_square_bracket")
        assert screen.sample.tab == "Answer"
        document = screen.sample.text.document
        assert "936.0 kB more; > shows them." in document.cut
        await press(pilot, screen, "greater_than_sign")
        assert screen.sample.text.document.cut is None
        assert len(screen.sample.text.document.text) == 1_000_000


async def test_huge_run_while_it_is_written(recorder: Recorder) -> None:
    tasks_count, samples = 600, 10
    recorder.run(state="running", samples=samples)
    lease = recorder.writer.acquire(RUN)
    with recorder.writer.transaction():
        tasks = [recorder.task(f"function_{n}", n, tests=2) for n in range(tasks_count)]
        for task in tasks:
            recorder.cells(task, "·" * samples)

    def write() -> None:
        for start in range(0, tasks_count, 20):
            with recorder.writer.transaction():
                for task in tasks[start : start + 20]:
                    recorder.cells(task, "✓✗" * (samples // 2), at=regenerated.now())

    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: "Tasks 600" in screen_text(screen.app), "the table")
        writing = threading.Thread(target=write)
        writing.start()
        await press_while(pilot, screen, writing)
        await until(pilot, lambda: "6,000 of 6,000" in screen_text(screen.app), "all of them")
        await until(pilot, lambda: figures(screen) and not figures(screen).partial, "the figures")
        assert figures(screen).pass_at[0].value == 0.5
        await pilot.press("G")
        await until(pilot, lambda: "function_599" in screen_text(screen.app), "the end")
    recorder.writer.release(lease)


async def press_while(pilot: object, screen: object, writing: threading.Thread) -> None:
    """Move the cursor as long as a thread writes: keys are taken meanwhile."""
    moved = 0
    while writing.is_alive() or not moved:
        before = screen.table.cursor
        await pilot.press("j" if before < 50 else "g")
        moved += screen.table.cursor != before
        assert screen.table.cursor != before
    writing.join()


async def test_a_doubtful_pass_is_marked_and_the_sample_says_why(recorder: Recorder) -> None:
    recorder.run()
    tasks = [recorder.task(name, place) for place, name in enumerate(("good", "odd"))]
    recorder.controls(tasks)
    recorder.cells(tasks[0], "✓✓", plain=1)
    recorder.sample(tasks[1], 0, "✓", plain=0, doubtful="it uses os.write")
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        text = screen_text(screen.app)
        assert "≟ odd" in text
        assert "pass@1 1.00" in text
        assert "without 1 ≟ doubtful @1 0.50" in text
        assert "≟ good" not in text
        await press(pilot, screen, "down")
        await until(pilot, lambda: "≟ doubtful, not plain: it uses os.write" in screen_text(screen.app), "the reason")
