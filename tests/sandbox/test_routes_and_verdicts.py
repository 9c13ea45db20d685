"""The runner protocol on back ends that need no engine: verdicts, reports, routes, reset."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base.reasons import last_words
from workbench.sandbox import (
    Job,
    Limits,
    Pool,
    Reason,
    Route,
    SandboxUnavailable,
    Verdict,
    Workspace,
    available_backends,
    choose_backend,
    pool,
)
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.sandbox.choose import BACKENDS, backends, weaknesses_of

pytestmark = pytest.mark.sandbox

TESTS = (
    "tests/test_sums.py::test_total[none]",
    "tests/test_sums.py::test_total[two]",
    "tests/test_sums.py::test_total[zero]",
    "tests/test_sums.py::test_large",
)
LIMITS = Limits(seconds=20, memory_mb=256, processes=48, disk_mb=64, file_mb=16)


def job(source: str | bytes, route: Route = Route.AUTO, tests: tuple[str, ...] = TESTS) -> Job:
    content = source.encode() if isinstance(source, str) else source
    return Job("candidate", tests, "sums.py", content, LIMITS, route, ("total", 1))


HEAD = '"""Sums."""\n\n\ndef total(numbers):\n    """Return the sum of the numbers; 0 for none."""\n'
RIGHT = HEAD + "    return sum(numbers)\n"
STUB = HEAD + "    pass\n"
NEAR = HEAD + "    return sum(numbers[1:]) + (numbers[0] if numbers else 0)\n"


@pytest.mark.parametrize("route", [Route.AUTO, Route.WARM, Route.COLD])
async def test_original_passes_and_stub_fails(any_box: Pool, workspace: Workspace, route: Route) -> None:
    original = (workspace.root / "sums.py").read_bytes()
    passed = await any_box.run(job(original, route))
    assert (passed.verdict, passed.reason, passed.failing) == (Verdict.PASSED, Reason.NONE, ())
    assert [test.id for test in passed.tests] == list(TESTS)
    assert passed.route is (Route.HOT if route is Route.AUTO else route), passed.slower
    assert passed.backend == any_box.workers[0].backend.name
    failed = await any_box.run(job(STUB, route))
    assert (failed.verdict, failed.reason) == (Verdict.FAILED, Reason.TESTS_FAILED)
    assert [test.outcome for test in failed.tests] == ["failed"] * 4
    first = failed.failing[0]
    assert first.message == "assert None == 0"
    assert 'File "tests/test_sums.py", line 8' in first.traceback
    assert "_pytest" not in first.traceback


@pytest.mark.parametrize("route", [Route.AUTO, Route.COLD])
@pytest.mark.parametrize(
    ("source", "verdict", "reason"),
    [
        ("def total(numbers:\n", Verdict.INVALID, Reason.SYNTAX),
        ("def total(numbers):\n  return 1\n return 2\n", Verdict.INVALID, Reason.SYNTAX),
        (b"\xff\xfe\x00", Verdict.INVALID, Reason.SYNTAX),
        (b"def total(n):\n    return 'a\x00b'\n", Verdict.INVALID, Reason.SYNTAX),
        ("(" * 5000 + ")" * 5000, Verdict.INVALID, Reason.SYNTAX),
        ("import nowhere_to_be_found\n" + RIGHT, Verdict.FAILED, Reason.COLLECTION),
        ("def other(): pass\n", Verdict.FAILED, Reason.COLLECTION),
        ("", Verdict.FAILED, Reason.COLLECTION),
        (NEAR, Verdict.PASSED, Reason.NONE),
        (RIGHT, Verdict.PASSED, Reason.NONE),
    ],
)
async def test_verdicts(box: Pool, source: str | bytes, verdict: Verdict, reason: Reason, route: Route) -> None:
    report = await box.run(job(source, route))
    assert (report.verdict, report.reason) == (verdict, reason), report.detail
    assert (report.detail == "") == report.passed


async def test_a_required_test_that_does_not_exist_is_missing(box: Pool) -> None:
    report = await box.run(job(RIGHT, tests=(*TESTS, "tests/test_sums.py::test_gone")))
    assert (report.verdict, report.tests[-1].outcome) == (Verdict.FAILED, "missing")


async def test_only_required_tests_run(box: Pool) -> None:
    report = await box.run(job(STUB, tests=(TESTS[1],)))
    assert [test.id for test in report.tests] == [TESTS[1]]


async def test_timeout_names_the_test_and_costs_little_more_than_its_limit(box: Pool) -> None:
    await box.run(job(RIGHT))
    hang = replace(job(HEAD + "    while numbers: pass\n    return 0\n"), limits=replace(LIMITS, seconds=2))
    report = await box.run(hang)
    assert report.verdict is Verdict.TIMEOUT
    assert "test_total[two]" in report.detail
    assert report.tests[0].outcome == "passed"
    assert report.running == TESTS[1]
    assert 2 <= report.seconds < 4


async def test_whole_suite_in_random_order_and_without_a_test(box: Pool) -> None:
    given = await box.run(Job("suite", limits=LIMITS))
    shuffled = await box.run(Job("suite", limits=LIMITS, order="random:3", deselect=(TESTS[0],)))
    assert [test.id for test in given.tests] == list(TESTS)
    assert [test.id for test in shuffled.tests] != list(TESTS[1:])
    assert {test.id for test in shuffled.tests} == set(TESTS[1:])


async def test_trace_tells_which_test_runs_which_line(box: Pool) -> None:
    report = await box.run(Job("suite", limits=LIMITS, trace=True))
    assert report.trace is not None
    recorded = report.trace["files"]["sums.py"]
    contexts = report.trace["contexts"]

    def executed_by(line: str) -> set[str]:
        mask = int(report.trace["masks"][recorded["lines"][line]], 16)
        return {name for number, name in enumerate(contexts) if mask >> number & 1}

    assert executed_by("8") == set(TESTS[1:])
    assert "" in executed_by("4")


async def test_the_installed_copy_is_noticed(bubblewrap, workspace: Workspace, tmp_path: Path) -> None:
    """A copy that wins over the tree is our error, not the candidate's."""
    copy = tmp_path / "site"
    copy.mkdir()
    (copy / "sums.py").write_text(RIGHT)
    (workspace.root / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(copy)!r})\nimport sums\n")
    broken = replace(workspace, mounts=(*workspace.mounts, copy))
    async with pool(bubblewrap, broken, workers=1, limits=LIMITS) as opened:
        report = await opened.run(job(STUB))
    assert (report.verdict, report.reason) == (Verdict.ERROR, Reason.WRONG_COPY)


async def test_same_size_rewrites_never_run_stale_bytecode(box: Pool) -> None:
    await box.run(Job("suite", limits=LIMITS))
    sources = [f"{HEAD}    return sum(numbers) + {n}\n" for n in (0, 1, 0, 2, 0)]
    verdicts = [(await box.run(job(source, Route.WARM))).verdict for source in sources]
    assert verdicts == [Verdict.PASSED, Verdict.FAILED, Verdict.PASSED, Verdict.FAILED, Verdict.PASSED]


async def test_a_thread_that_outlives_the_tests_does_not_change_the_verdict(box: Pool) -> None:
    body = (
        HEAD
        + "    import threading\n    threading.Thread(target=threading.Event().wait).start()\n    return sum(numbers)\n"
    )
    for route in (Route.AUTO, Route.WARM, Route.COLD):
        assert (await box.run(job(body, route))).verdict is Verdict.PASSED


async def test_metadata_without_code_makes_the_project_look_installed(bubblewrap, workspace: Workspace) -> None:
    (workspace.root / "tests" / "test_installed.py").write_text(
        "import importlib.metadata, subprocess\n\n\n"
        "def test_installed():\n"
        "    assert importlib.metadata.version('sums-of-things') == '1.2.3'\n"
        "    assert subprocess.check_output(['sums']) == b'3\\n'\n"
    )
    script = f"#!{workspace.python}\nfrom sums import total\nprint(total([1, 2]))\n"
    files = (
        ("sums_of_things-1.2.3.dist-info/METADATA", "Metadata-Version: 2.1\nName: sums-of-things\nVersion: 1.2.3\n"),
        ("bin/sums", script),
    )
    async with pool(bubblewrap, replace(workspace, metadata=files), workers=1, limits=LIMITS) as opened:
        report = await opened.run(Job("x", ("tests/test_installed.py::test_installed",), limits=LIMITS))
    assert report.verdict is Verdict.PASSED, report.failing


async def test_the_project_is_never_preloaded(bubblewrap, workspace: Workspace) -> None:
    async with pool(bubblewrap, replace(workspace, preload=("json", "sums")), workers=1, limits=LIMITS) as opened:
        assert (await opened.run(job(STUB))).verdict is Verdict.FAILED
        assert [name for name, _ in opened.workers[0].ready["preload_failed"]] == ["sums"]


async def test_two_workers_share_the_work(bubblewrap, workspace: Workspace) -> None:
    async with pool(bubblewrap, workspace, workers=2, limits=LIMITS) as opened:
        jobs = [replace(job(RIGHT if number % 2 else STUB), id=str(number)) for number in range(12)]
        reports = await asyncio.gather(*(opened.run(each) for each in jobs))
    assert [report.job for report in reports] == [str(number) for number in range(12)]
    assert [report.passed for report in reports] == [bool(number % 2) for number in range(12)]
    assert [worker.starts for worker in opened.workers] == [1, 1]


async def test_a_cancelled_job_leaves_no_process_and_the_worker_goes_on(box: Pool) -> None:
    task = asyncio.create_task(box.run(job(HEAD + "    while True: pass\n")))
    worker = box.workers[0]
    while worker.starts == 0:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await box.run(job(RIGHT))).passed
    assert worker.starts == 2


async def test_a_repository_that_exits_while_it_is_collected_is_told(bubblewrap, workspace: Workspace) -> None:
    (workspace.root / "conftest.py").write_text("import os\nos._exit(0)\n")
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        report = await opened.run(Job("suite", limits=LIMITS))
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.EARLY_EXIT)
    assert report.detail.endswith("before the report was complete while pytest loaded its plugins and conftest.py.")


async def test_what_keeps_a_run_from_being_traced_is_told(bubblewrap, workspace: Workspace) -> None:
    """As in an image without a library that the interpreter was built with."""
    (workspace.root / "coverage.py").write_text(
        "raise ImportError('libsqlite3.so.0: cannot open shared object file')\n"
    )
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        report = await opened.run(Job("suite", limits=LIMITS, trace=True, route=Route.COLD))
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.EARLY_EXIT)
    assert last_words(report.said).endswith(
        "cannot be imported in this sandbox: libsqlite3.so.0: cannot open shared object file"
    )


async def test_an_interpreter_that_does_not_start_is_one_sentence(bubblewrap, workspace: Workspace) -> None:
    from workbench.sandbox import SandboxError

    with pytest.raises(SandboxError, match="The bubblewrap sandbox did not start: .*") as caught:
        async with pool(bubblewrap, replace(workspace, python=Path("/usr/bin/nothing-here")), workers=1) as opened:
            await opened.run(job(RIGHT))
    assert "\n" not in str(caught.value)


def test_back_ends_tell_what_they_promise_or_why_they_cannot_be_used() -> None:
    states = {state.name: state for state in available_backends()}
    assert {"bubblewrap", "process"} <= set(states)
    for state in states.values():
        assert (state.problem is None) == bool(state.guarantees and state.guarantees.sentences)
    plain = states["process"].guarantees
    assert plain is not None
    assert any("NOT" in line or "Landlock" in line for line in plain.sentences)


def test_what_is_said_of_former_runs_is_what_the_back_ends_declare() -> None:
    for backend in backends():
        declared = backend.guarantees()
        (weaknesses,) = {info.weaknesses for info in BACKENDS if info.name == backend.name}
        assert weaknesses == (() if declared.isolated else ("NOT isolated",))
        assert declared.network == ("network" in declared.weaknesses)
    assert weaknesses_of(["docker", "process"]) == ("NOT isolated",)
    assert weaknesses_of(["mine:Own"], "mine:Own", ["network"]) == ("network",)
    assert weaknesses_of(["bubblewrap"], "mine:Own", ["network"]) == ()


def test_the_plain_process_is_never_chosen_without_being_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_backend("process").name == "process"
    monkeypatch.setattr(Bubblewrap, "problem", lambda self: "bubblewrap is not installed.")
    names = [backend for backend in backends() if backend.name not in ("bubblewrap", "process")]
    if not any(backend.problem() is None for backend in names):
        with pytest.raises(SandboxUnavailable, match="--sandbox process"):
            choose_backend()
    with pytest.raises(SandboxUnavailable, match="bubblewrap is not installed"):
        choose_backend("bubblewrap")
    with pytest.raises(SandboxUnavailable, match="choose from"):
        choose_backend("nothing")


def test_control_groups_of_killed_programs_are_removed() -> None:
    import subprocess
    import sys

    from workbench.sandbox.control import ControlGroup, available

    if not available():
        pytest.skip("this user may not create control groups")
    code = "from workbench.sandbox.control import ControlGroup; from workbench.sandbox import Limits\n"
    code += "print('\\n'.join(map(str, ControlGroup.create(Limits()).folders)))"
    abandoned = [Path(line) for line in subprocess.check_output([sys.executable, "-c", code], text=True).split()]
    assert abandoned
    assert all(folder.is_dir() for folder in abandoned)
    group = ControlGroup.create(LIMITS)
    assert group is not None
    group.remove()
    assert not any(folder.exists() for folder in (*abandoned, *group.folders))
