"""What the Regeneration mode shows when there is little, nothing, too much or something odd; and while it grows."""

import json
import re
import time

import pytest
import regenerated
from driving import figures, press, regeneration, screen_text, sees, until
from regenerated import RUN


async def test_queued_building_live_done(recorder):
    recorder.run(state="queued", samples=3)
    async with regeneration(recorder.path) as (pilot, screen):
        assert "· waiting for the engine…" in screen_text(screen.app)
        lease = recorder.writer.acquire(RUN)
        recorder.writer.set_run(RUN, state="running", started_at=time.time())
        recorder.stage("suite", 2, "done", 14, 14, "14 tests are stable")
        recorder.stage("filter", 4, "running", 41, 120, "count_text: 14 tests")
        recorder.dropped("main", "trace", "No stable test executes it.")
        await sees(
            pilot,
            "41 of 120",
            "▸ building tasks: filter",
            "Building tasks",
            "14 tests are stable",
            "Dropped 1 function",
        )
        text = screen_text(screen.app)
        assert re.search(r"run by no stable test +wordcount.py::main", text)
        assert "still to decide" in text
        recorder.stage("filter", 4, "done", 120, 120)
        tasks = [recorder.task(name, place) for place, name in enumerate(("a", "b"))]
        for task in tasks:
            recorder.cells(task, "···")
        recorder.cells(tasks[0], "▸··")
        await sees(pilot, "▸··", "▸ 0 of 6")
        recorder.sample(tasks[0], 0, "✓", at=regenerated.now())
        recorder.sample(tasks[0], 1, "✗", at=regenerated.now())
        await sees(pilot, "▸ 2 of 6")
        await sees(pilot, "✓✗·")
        # The samples that are decided count, and it is said that tasks wait for more.
        await sees(pilot, "pass@1 0.50", "0 of 2 tasks so far")
        recorder.sample(tasks[0], 2, "✓", at=regenerated.now())
        await sees(pilot, "1 of 2 tasks so far", "pass@1 0.67", "left")
        recorder.cells(tasks[1], "✗✗✗", at=regenerated.now())
        recorder.writer.set_run(RUN, state="done", finished_at=time.time())
        recorder.writer.release(lease)
        await sees(pilot, "✓ done, 6 samples")
        await sees(pilot, "pass@1 0.33")
        assert "so far" not in screen_text(screen.app)


async def test_selected_sample_follows_its_verdict(recorder):
    recorder.run(state="running", samples=1)
    lease = recorder.writer.acquire(RUN)
    task = recorder.task("a", 0)
    recorder.cells(task, "▸")
    async with regeneration(recorder.path) as (pilot, screen):
        await sees(pilot, "The model is writing this body…")
        recorder.sample(task, 0, "✗", at=regenerated.now())
        await sees(pilot, "assert 1 == 2", "sample 1 ✗ failed")
    recorder.writer.release(lease)


@pytest.mark.parametrize(
    ("state", "cells", "texts"),
    [
        ("running", "✓··", ("‖ interrupted at 10 of 12 — press u to resume", "3 of 4 tasks so far")),
        ("cancelled", "✗⊘⊘", ("⊘ cancelled at 10 of 12", "3 of 4 tasks so far", "pass@1 0.25")),
    ],
)
async def test_a_run_that_did_not_come_to_its_end_says_how_much_is_missing(recorder, state, cells, texts):
    regenerated.word_counter(recorder, state=state)
    recorder.cells(f"{RUN}-total", cells)
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        await sees(pilot, *texts)
        assert screen.check_action("resume", ()) or state == "cancelled"
        assert not screen.check_action("cancel", ())


async def test_failed_run_says_why(recorder):
    recorder.run(state="failed")
    recorder.writer.set_run(
        RUN, error="tabulate gives no task: of its 12 functions, 12 are executed by no stable test."
    )
    recorder.stage("filter", 4, "failed", 12, 12)
    for number in range(12):
        recorder.dropped(f"f{number}", "trace", "No stable test executes it.")
    async with regeneration(recorder.path, (80, 24)) as (pilot, screen):
        await sees(pilot, "✗ The run failed: tabulate gives no task", "Dropped 12 functions", "✗ stub filter")
        await press(pilot, screen, "tab", "G")
        assert "f9" in screen_text(screen.app)


async def test_control_that_fails_cannot_be_missed(recorder):
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
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        text = screen_text(screen.app)
        told = " ".join(text.split())
        assert (
            "✗ SELF-CHECK FAILED: reference does not pass on 1 task (bad); stub passes on 1 task (worse): excluded "
            "from pass@k · ! goes there"
        ) in told
        assert "✗ reference 2/3" in text
        assert "✗ stub 1/3" in text
        assert "2 excluded" in text
        assert figures(screen).tasks == 1
        assert "✓ done, 3 samples" in text
        assert figures(screen).pass_at[0].value == pytest.approx(2 / 3)
        await press(pilot, screen, "exclamation_mark")
        assert screen.table.selected.name == "bad"
        await sees(
            pilot,
            "! 1 of 2 · bad · its tests do not pass with the original body",
            "Not requested, because a control failed.",
        )
        assert "reference failed; it must pass." in screen.detail.failing_text.document.text
        assert "E   assert 1 == 2" in screen.detail.failing_text.document.text
        await press(pilot, screen, "exclamation_mark")
        assert screen.table.selected.name == "worse"
        await press(pilot, screen, "escape")
        assert "! 2 of 2" not in screen_text(screen.app)


async def test_a_recheck_that_disagrees_is_shown_like_a_failed_self_check(recorder):
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
        await sees(
            pilot,
            "✗ VERDICTS DISAGREE: 1 of 4 cold re-checks differs (doubtful): the cold verdict counts",
            "✗ cold re-checks 4, disagreements 1",
            "✓ self-check: reference 2/2 · stub 0/2",
            "bubblewrap + docker · no network",
            "≠ doubtful",
            "h+w",
        )
        assert not screen.sample.query_one("#sample-remarks").render().plain.startswith("≠")
        await press(pilot, screen, "exclamation_mark")
        assert (screen.table.selected.name, screen.table.sample) == ("doubtful", 2)
        remarks = screen.sample.query_one("#sample-remarks").render().plain
        for remark in (
            "warm, not hot: it runs at import",
            "suspicious: pytest was patched",
            "≠ cold re-check (suspicious): failed",
        ):
            assert remark in remarks
        await pilot.press("f")
        await until(pilot, lambda: screen.app.screen.query("#recheck"), "the chooser")
        screen.app.screen.query_one("#recheck").focus()
        await pilot.press("right", "enter")
        await sees(pilot, "≠ re-check disagrees")
        assert len(screen.table.shown) == 1


@pytest.mark.parametrize(
    ("permanent", "advice"), [(True, "Press ctrl+n for another order."), (False, "Press u to resume.")]
)
async def test_a_failed_run_says_whether_a_resume_can_mend_it(recorder, permanent, advice):
    recorder.run(state="failed", permanent_failure=permanent)
    recorder.writer.set_run(RUN, error="The repository has no Python functions outside its tests.")
    async with regeneration(recorder.path) as (pilot, screen):
        await sees(pilot, "no Python functions", advice)
        assert bool(screen.check_action("resume", ())) != permanent


async def test_quarantined_tests_are_listed_with_their_outcomes(recorder):
    recorder.run(state="failed")
    recorder.stage("suite", 2, "done", 12, 13, "12 tests are stable, 1 unstable")
    recorder.unused([("unstable", "tests/test_a.py::test_b", "passed, failed, passed")])
    recorder.stage("filter", 4, "done", 40, 40)
    recorder.dropped("slow", "time", "Its tests take 12.0 s, more than 10 s.")
    async with regeneration(recorder.path) as (pilot, screen):
        await sees(
            pilot, "12 of 13", "12 tests are st", "tests take over 10 s", "Its tests take 12.0 s, more than 10 s."
        )
        await press(pilot, screen, "G")
        await sees(pilot, "Quarantined 1 test", "tests/test_a.py::test_b", "passed, failed, passed")
        await press(pilot, screen, "g", "slash", *"nowhere", "enter")
        said = "Dropped 0 functions of 1 · with “nowhere” · esc shows all"
        await sees(pilot, said)
        await press(pilot, screen, "escape")
        await sees(pilot, "Dropped 1 function ─")


async def test_a_doubtful_pass_is_marked_and_the_sample_says_why(recorder):
    recorder.run()
    tasks = [recorder.task(name, place) for place, name in enumerate(("good", "odd"))]
    recorder.controls(tasks)
    recorder.cells(tasks[0], "✓✓", plain=1)
    recorder.sample(tasks[1], 0, "✓", plain=0, doubtful="it uses os.write")
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: figures(screen) is not None, "figures")
        await sees(pilot, "≟ odd", "pass@1 1.00", "without 1 ≟ doubtful @1 0.50")
        text = screen_text(screen.app)
        assert "≟ good" not in text
        await press(pilot, screen, "down")
        await sees(pilot, "≟ doubtful: it uses os.write")
