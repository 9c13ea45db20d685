"""What the Regeneration mode shows when there is little, nothing, too much or something odd; and while it grows."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import recorded
import regenerated
from regenerated import RUN, Recorder
from regeneration_app import figures, press, quiet, regeneration
from trajectory_app import screen_text, until

from workbench.app.regeneration.screen import RegenerationScreen
from workbench.session import create


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder(tmp_path / "demo.session")
    yield made
    made.close()


async def test_session_without_a_run_tells_the_key(tmp_path: Path) -> None:
    create(tmp_path / "empty.session")
    async with regeneration(tmp_path / "empty.session") as (_, screen):
        assert "press n to test a repository's documentation by regeneration".lower() in screen_text(screen.app).lower()


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
        assert "run by no stable test   wordcount.py::main" in text
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
            assert "Nothing was asked, because a control does not hold." in screen_text(screen.app)
            assert "reference failed; it must pass." in screen.failing.text.document.text
            assert "E   assert 1 == 2" in screen.failing.text.document.text
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
    recorder.cells(tasks[1], "✓✓", slower="", backend="docker")
    more = {"route": "warm", "slower": "it runs at import", "suspicious": '["pytest was patched"]'}
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
            "≠ cold re-check (suspicious): failed; the warm path said otherwise",
        ]
        await pilot.press("f")
        await until(pilot, lambda: screen.app.screen.query("#recheck"), "the chooser")
        screen.app.screen.query_one("#recheck").focus()
        await pilot.press("right", "enter")
        await until(pilot, lambda: "≠ re-check disagrees" in screen_text(screen.app), "the filter")
        assert screen.table.row_count() == 1


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
        assert "Press n for another order." in text
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
        assert "Nothing here contains that; esc shows all." in screen_text(screen.app)
        await press(pilot, screen, "escape")
        assert "Dropped 1 function ─" in screen_text(screen.app)


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
        for keys in (("d",), ("right_square_bracket", "right_square_bracket"), ("D",)):
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
        assert "936.0 kB more; m shows them." in document.cut
        await press(pilot, screen, "m")
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


async def test_a_run_that_no_engine_took_up_says_so(recorder: Recorder) -> None:
    recorder.run(state="queued", samples=3, coming=False)
    async with regeneration(recorder.path) as (_, screen):
        assert "no engine took it up — press u" in screen_text(screen.app)
        assert screen.actions.can("resume")


async def test_new_run_from_the_dialog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two keys plan a run in the open session; the engine process itself is tested with the engine."""
    from workbench.engine import client
    from workbench.engine.plan import RegenerationPlan
    from workbench.session import SessionReader, engine_starts

    launched: list[tuple[Path, str]] = []

    def launch(session: Path, run: str, warm: object = None) -> None:
        engine_starts.started(run, os.getpid())
        launched.append((session, run))

    monkeypatch.setattr(client, "launch", launch)
    path = tmp_path / "empty.session"
    create(path)
    async with regeneration(path) as (pilot, screen):
        await pilot.press("n")
        await until(pilot, lambda: "Test documentation by regeneration" in screen_text(screen.app), "the dialog")
        assert "word_counter" in screen_text(screen.app)
        await pilot.press("enter")
        await until(pilot, lambda: launched, "the launch")
        await until(pilot, lambda: screen.view is not None and quiet(screen), "the run")
        assert "waiting for the engine…" in screen_text(screen.app)
    with SessionReader(path) as reader:
        run = reader.runs()[0]
        plan = RegenerationPlan.from_json(run.config)
    assert launched == [(path, run.id)]
    assert (plan.source, plan.docs, plan.samples, plan.limit, plan.evaluator) == (
        "word_counter",
        "original",
        5,
        0,
        "local",
    )


async def test_dialog_names_what_is_wrong(tmp_path: Path) -> None:
    create(tmp_path / "empty.session")
    async with regeneration(tmp_path / "empty.session") as (pilot, screen):
        await pilot.press("n")
        await until(pilot, lambda: "Test documentation by regeneration" in screen_text(screen.app), "the dialog")
        field = screen.app.screen.query_one("#samples")
        field.value = "0"
        await pilot.press("enter")
        await until(pilot, lambda: "Samples must be a number from 1 to 1,000." in screen_text(screen.app), "the note")
        field.value = "2"
        screen.app.screen.query_one("#source").value = "no such thing"
        await pilot.press("enter")
        await until(pilot, lambda: "no such thing" in screen_text(screen.app), "the notice")
        assert screen.view is None
        await pilot.press("n")
        await until(pilot, lambda: "Test documentation by regeneration" in screen_text(screen.app), "the dialog again")
        await pilot.press("escape")
        await until(pilot, lambda: screen.app.screen is screen, "the mode")


async def test_keys_reach_the_engine(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """r, R, + and u write into the session what an engine then takes up."""
    from workbench.engine import client, regeneration_client
    from workbench.engine.plan import RegenerationPlan
    from workbench.session import SessionReader

    launched: list[str] = []
    for module in (client, regeneration_client):
        monkeypatch.setattr(module, "launch", lambda session, run, warm=None: launched.append(run))
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await press(pilot, screen, "r")
        await until(pilot, lambda: screen.view.again == 3, "the task waits again")
        assert launched == [RUN]
        await press(pilot, screen, "R")
        await until(pilot, lambda: screen.view.again == 8, "what passed is left alone")
        assert screen.view.decided == 12
        await press(pilot, screen, "plus")
        await until(pilot, lambda: screen.view.samples == 8, "m = 8")
        assert "m = 8" in screen_text(screen.app)
    with SessionReader(recorder.path) as reader:
        plan = RegenerationPlan.from_json(reader.runs()[0].config)
    assert [ask.samples for ask in plan.asks] == [8]
    assert launched == [RUN] * 3


def parts_of_figures(screen: RegenerationScreen) -> list[str]:
    """The line with the figures, without the interval, for which a live run draws less often."""
    line = next(line for line in screen_text(screen.app).splitlines() if "pass@1" in line and "m = 3" in line)
    return [part.partition("]")[2] or part for part in line.split(" [")]


async def test_former_verdicts_stay_marked_until_there_are_new_ones(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.engine import regeneration_client

    monkeypatch.setattr(regeneration_client, "launch", lambda session, run, warm=None: None)
    regenerated.word_counter(recorder)
    async with regeneration(recorder.path) as (pilot, screen):
        await until(pilot, lambda: quiet(screen) and "pass@1 0.50" in screen_text(screen.app), "the figures")
        figures = parts_of_figures(screen)
        await press(pilot, screen, "R")
        await until(pilot, lambda: screen.view.again == 6 and quiet(screen), "what did not pass waits again")
        told = screen_text(screen.app)
        # The same figures, the same cells: nothing that was shown is gone, and what is not new is marked.
        assert parts_of_figures(screen) == figures
        assert "6 of 12 samples are being tested again" in told
        assert "✗⧖✗" in told
        cells = {style for at in range(4) for text, style in screen.table.parts_of(at, 100) if text in set("✓✗⧖!∅")}
        assert cells >= {"passed", "former-failed", "former-timeout", "former-crashed", "former-invalid"}
        assert {screen.table.style(name).underline for name in cells if name.startswith("former-")} == {True}
        await press(pilot, screen, "right")
        await until(
            pilot, lambda: "sample 2 ✗ failed in 0.03 s, being tested again" in screen_text(screen.app), "the pane"
        )
        assert "the former verdict: it stays until" in screen_text(screen.app)
        assert "failing tests 1, by the former verdict" in screen_text(screen.app)

        # The new verdict comes; the former one goes into the history.
        key = f"{RUN}-count_text/{regenerated.EVALUATOR}/1"
        with recorder.writer.transaction():
            recorder.writer.insert(
                "former_verdicts",
                {"candidate_id": key, "number": 1, "verdict": "failed", "verdict_reason": "1 of 14 tests failed.",
                 "route": "hot", "tested_s": 0.03, "at": 101.0, "replaced_at": 200.0},
            )  # fmt: skip
            recorder.writer.update("candidates", {"id": key}, {"state": "done", "verdict": "passed", "at": 200.0})
        await until(pilot, lambda: "sample 2 ✓ passed in 0.03 s ─" in screen_text(screen.app), "the new verdict")
        assert "before: ✗ failed in 0.03 s hot: 1 of 14 tests failed." in screen_text(screen.app)
        assert "5 of 12 samples are being tested again" in screen_text(screen.app)

        # An interrupted rerun says what is left, and that it can be resumed.
        recorder.writer.set_run(RUN, state="running")
        await until(
            pilot, lambda: "interrupted with 12 of 12 · 5 to test again" in screen_text(screen.app), "the state"
        )
        assert "5 of 12 samples were to be tested again" in screen_text(screen.app)
        assert screen.check_action("resume", ())
        recorder.writer.set_run(RUN, state="failed", error="No sandbox answers.")
        await until(pilot, lambda: "The run failed: No sandbox answers." in screen_text(screen.app), "the failure")
        assert "pass@1 0.58" in screen_text(screen.app)
        assert "4 tasks" in screen_text(screen.app)


async def test_resuming_the_example_works_on_a_copy(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came with the program is only read: u takes the run up in a copy, which is shown."""
    from workbench import paths
    from workbench.engine import client

    taken_up: list[Path] = []
    monkeypatch.setattr(client, "resume", lambda session, run=None, warm=None: taken_up.append(session) or [run])
    bundled = paths.bundled
    monkeypatch.setattr(paths, "bundled", lambda name: tmp_path if name == "sessions" else bundled(name))
    regenerated.word_counter(recorder, state="running")
    recorder.cells(f"{RUN}-total", "✓··")
    recorder.writer.close()
    before = recorder.path.read_bytes()
    async with regeneration(recorder.path) as (pilot, screen):
        assert screen.check_action("resume", ())
        await pilot.press("u")
        await until(pilot, lambda: taken_up, "the resume")
        await until(pilot, lambda: screen.app.session_path == taken_up[0] and quiet(screen), "the copy")
        assert taken_up[0].parent == paths.sessions_dir()
        assert screen.view.run.id == RUN
        assert "interrupted at 10 of 12" in screen_text(screen.app)
    assert recorder.path.read_bytes() == before


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
