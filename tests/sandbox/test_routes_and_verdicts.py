"""The runner protocol on back ends that need no engine: verdicts, reports, routes, reset."""

from __future__ import annotations

import asyncio
import os
import platform
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hostile.candidates import RIGHT

from workbench.base.reasons import last_words
from workbench.sandbox import (
    Job,
    Pool,
    Reason,
    Route,
    SandboxError,
    SandboxUnavailable,
    Verdict,
    Workspace,
    available_backends,
    choose_backend,
    pool,
)
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.sandbox.choose import BACKENDS, backends, weaknesses_of
from workbench.sandbox.control import ControlGroup, available

from .conftest import HEAD, LIMITS, SOURCE, TESTS, job

pytestmark = [pytest.mark.sandbox, pytest.mark.asyncio(loop_scope="module")]

ROUTES = [Route.AUTO, Route.WARM, Route.COLD]


def file_job(content: str | bytes, route: Route = Route.AUTO) -> Job:
    """A candidate that is a whole file."""
    return replace(job("pass", route), content=content.encode() if isinstance(content, str) else content)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["bubblewrap", pytest.param("process", marks=pytest.mark.nightly)])
async def test_original_passes_and_stub_fails_on_every_route(request, workspace, backend):
    async with pool(request.getfixturevalue(f"{backend}_backend"), workspace, workers=1, limits=LIMITS) as opened:
        for route in ROUTES:
            passed = await opened.run(file_job(SOURCE, route))
            assert (passed.verdict, passed.reason, passed.failing) == (Verdict.PASSED, Reason.NONE, ())
            assert [test.id for test in passed.tests] == list(TESTS)
            assert passed.route is (Route.HOT if route is Route.AUTO else route), passed.slower
            assert passed.backend == backend
            failed = await opened.run(job("pass", route))
            assert (failed.verdict, failed.reason) == (Verdict.FAILED, Reason.TESTS_FAILED)
            assert [test.outcome for test in failed.tests] == ["failed"] * 4
            first = failed.failing[0]
            assert first.message == "assert None == 0"
            assert 'File "tests/test_sums.py", line 8' in first.traceback
            assert "_pytest" not in first.traceback


@pytest.mark.parametrize("route", [Route.AUTO, Route.COLD])
async def test_verdicts(box: Pool, route: Route) -> None:
    expected = {
        "def total(numbers:\n": (Verdict.INVALID, Reason.SYNTAX),
        b"\xff\xfe\x00": (Verdict.INVALID, Reason.SYNTAX),
        b"def total(n):\n    return 'a\x00b'\n": (Verdict.INVALID, Reason.SYNTAX),
        "(" * 5000 + ")" * 5000: (Verdict.INVALID, Reason.SYNTAX),
        f"import nowhere_to_be_found\n{SOURCE}": (Verdict.FAILED, Reason.COLLECTION),
        "": (Verdict.FAILED, Reason.COLLECTION),
        f"{HEAD}    return sum(numbers[1:]) + (numbers[0] if numbers else 0)\n": (Verdict.PASSED, Reason.NONE),
    }
    reports = {content: await box.run(file_job(content, route)) for content in expected}
    assert {content: (report.verdict, report.reason) for content, report in reports.items()} == expected
    assert all((report.detail == "") == report.passed for report in reports.values())


@pytest.mark.parametrize("route", ROUTES)
async def test_the_command_line_of_the_process_is_pytests_without_arguments(box: Pool, route: Route) -> None:
    report = await box.run(job(f"import sys\nassert sys.argv == ['pytest'], sys.argv\n{RIGHT}", route))
    assert report.passed, (report.detail, report.failing)


@pytest.mark.parametrize("route", [Route.AUTO, Route.COLD])
async def test_a_test_that_the_candidate_skips_has_not_passed(box: Pool, route: Route) -> None:
    report = await box.run(job("import pytest\npytest.skip('not today')", route))
    assert report.verdict is Verdict.FAILED
    assert {test.outcome for test in report.tests} == {"skipped"}


async def test_the_required_tests_run_and_no_other_and_one_that_does_not_exist_is_missing(box: Pool) -> None:
    report = await box.run(job("pass", tests=(TESTS[1],)))
    assert [(test.id, test.outcome) for test in report.tests] == [(TESTS[1], "failed")]
    report = await box.run(job(RIGHT, tests=(*TESTS, "tests/test_sums.py::test_gone")))
    assert (report.verdict, report.tests[-1].outcome) == (Verdict.FAILED, "missing")


async def test_timeout_names_the_test_and_costs_little_more_than_its_limit(box: Pool) -> None:
    await box.run(job(RIGHT))
    report = await box.run(job("while numbers: pass\nreturn 0", seconds=2))
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


@pytest.mark.slow
@pytest.mark.parametrize("route", [Route.AUTO, pytest.param(Route.COLD, marks=pytest.mark.nightly)])
async def test_a_thread_that_outlives_the_tests_does_not_change_the_verdict(box: Pool, route: Route) -> None:
    body = f"import threading\nthreading.Thread(target=threading.Event().wait).start()\n{RIGHT}"
    assert (await box.run(job(body, route))).verdict is Verdict.PASSED


SUITE_OF_ITS_SURROUNDINGS = """import importlib.metadata, socket, subprocess

import pytest


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_server_on_this_machine(host):
    with socket.create_server((host, 0)) as server:
        with socket.create_connection((host, server.getsockname()[1]), timeout=5) as client:
            client.sendall(b"x")
            assert server.accept()[0].recv(1) == b"x"


def test_no_other_machine_has_a_name():
    for name in (%r, "example.org"):
        with pytest.raises(socket.gaierror):
            socket.getaddrinfo(name, 80)
    assert socket.gethostname() == "sandbox"


def test_the_project_looks_installed():
    assert importlib.metadata.version("sums-of-things") == "1.2.3"
    assert subprocess.check_output(["sums"]) == b"3\\n"
"""


async def test_a_suite_finds_localhost_and_the_projects_metadata_and_scripts(bubblewrap, workspace: Workspace) -> None:
    own = platform.node() if platform.node() not in ("", "localhost", "sandbox") else "example.net"
    (workspace.root / "tests" / "test_around.py").write_text(SUITE_OF_ITS_SURROUNDINGS % own)
    metadata = (
        ("sums_of_things-1.2.3.dist-info/METADATA", "Metadata-Version: 2.1\nName: sums-of-things\nVersion: 1.2.3\n"),
        ("bin/sums", f"#!{workspace.python}\nfrom sums import total\nprint(total([1, 2]))\n"),
    )
    async with pool(bubblewrap, replace(workspace, metadata=metadata), workers=1, limits=LIMITS) as opened:
        report = await opened.run(Job("suite", limits=LIMITS))
    assert len(report.tests) == len(TESTS) + 4
    assert report.verdict is Verdict.PASSED, report.failing


async def test_the_project_is_never_preloaded(bubblewrap, workspace: Workspace) -> None:
    async with pool(bubblewrap, replace(workspace, preload=("json", "sums")), workers=1, limits=LIMITS) as opened:
        assert (await opened.run(job("pass"))).verdict is Verdict.FAILED
        assert [name for name, _ in opened.workers[0].ready["preload_failed"]] == ["sums"]


async def test_two_workers_share_the_work(bubblewrap, workspace: Workspace) -> None:
    async with pool(bubblewrap, workspace, workers=2, limits=LIMITS) as opened:
        jobs = [replace(job(RIGHT if number % 2 else "pass"), id=str(number)) for number in range(12)]
        reports = await asyncio.gather(*(opened.run(each) for each in jobs))
    assert [report.job for report in reports] == [str(number) for number in range(12)]
    assert [report.passed for report in reports] == [bool(number % 2) for number in range(12)]
    assert [worker.starts for worker in opened.workers] == [1, 1]


async def test_a_cancelled_job_leaves_no_process_and_the_worker_goes_on(bubblewrap, workspace: Workspace) -> None:
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        task = asyncio.create_task(opened.run(job("while True: pass")))
        worker = opened.workers[0]
        while worker.starts == 0:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await opened.run(job(RIGHT))).passed
        assert worker.starts == 2


@pytest.mark.parametrize(
    ("file", "text", "detail", "said"),
    [
        (
            "conftest.py",
            "import os\nos._exit(0)\n",
            "before the report was complete while pytest loaded its plugins and conftest.py.",
            "",
        ),
        # As in an image without a library that the interpreter was built with.
        (
            "coverage.py",
            "raise ImportError('libsqlite3.so.0: cannot open shared object file')\n",
            "",
            "cannot be imported in this sandbox: libsqlite3.so.0: cannot open shared object file",
        ),
    ],
    ids=["exits", "cannot be traced"],
)
async def test_a_suite_that_ends_before_its_tests_says_why(bubblewrap, workspace, file, text, detail, said):
    (workspace.root / file).write_text(text)
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        report = await opened.run(Job("suite", limits=LIMITS, trace=True, route=Route.COLD))
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.EARLY_EXIT)
    assert report.detail.endswith(detail)
    assert last_words(report.stderr).endswith(said)


async def test_an_interpreter_that_does_not_start_is_one_sentence(bubblewrap, workspace: Workspace) -> None:
    with pytest.raises(SandboxError, match="The bubblewrap sandbox did not start: .*") as caught:
        async with pool(bubblewrap, replace(workspace, python=Path("/usr/bin/nothing-here")), workers=1) as opened:
            await opened.run(job(RIGHT))
    assert "\n" not in str(caught.value)


async def test_back_ends_tell_what_they_promise_or_why_they_cannot_be_used() -> None:
    states = {state.name: state for state in available_backends()}
    assert {"bubblewrap", "process"} <= set(states)
    for state in states.values():
        assert (state.problem is None) == bool(state.guarantees and state.guarantees.sentences)
    plain = states["process"].guarantees
    assert plain is not None
    assert any("NOT" in line or "Landlock" in line for line in plain.sentences)


async def test_weaknesses_of_former_runs_are_those_that_back_ends_declare() -> None:
    for backend in backends():
        declared = backend.guarantees()
        (weaknesses,) = {info.weaknesses for info in BACKENDS if info.name == backend.name}
        assert weaknesses == (() if declared.isolated else ("NOT isolated",))
        assert declared.network == ("network" in declared.weaknesses)
    assert weaknesses_of(["docker", "process"]) == ("NOT isolated",)
    assert weaknesses_of(["mine:Own"], "mine:Own", ["network"]) == ("network",)
    assert weaknesses_of(["bubblewrap"], "mine:Own", ["network"]) == ()


async def test_the_plain_process_is_never_chosen_without_being_named(monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_control_groups_of_killed_programs_are_removed() -> None:
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


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


HARM: dict[str, Callable[[int], object]] = {
    "killed": lambda pid: os.kill(pid, signal.SIGKILL),
    "stopped": lambda pid: os.kill(pid, signal.SIGSTOP),
    "limited": lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0)),
}


@pytest.mark.parametrize("harm", HARM)
async def test_whatever_happens_to_the_waiting_fork_the_next_verdict_is_right(box: Pool, harm: str) -> None:
    assert (await box.run(job(RIGHT))).route is Route.HOT
    pid = int(box.workers[0]._channel._process.pid)  # type: ignore[union-attr]
    while below := children(pid):  # sandbox, server, hot process, waiting fork
        pid = below[-1]
    HARM[harm](pid)
    following = await box.run(job(RIGHT))
    assert following.verdict is Verdict.PASSED, (following.reason, following.detail)
    assert following.route is (Route.HOT if harm == "stopped" else Route.WARM), following.slower
    stub = await box.run(job("pass"))
    assert (stub.verdict, len(stub.failing), stub.route) == (Verdict.FAILED, 4, Route.HOT), stub.slower
