"""A cluster gives the same verdicts as this machine, even if workers die; with a real scheduler and real workers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster.serving import Served, serving

from workbench.catalog import resolve_case, snapshot_of
from workbench.cluster import ClusterError, job_bundle
from workbench.cluster.job_bundle import JobBundle, pack
from workbench.cluster.pool import connected
from workbench.regeneration.environment import Environment, build_environment
from workbench.regeneration.tasks import minimal_stub
from workbench.repository import Snapshot
from workbench.repository.functions import find_functions
from workbench.repository.splicing import splice
from workbench.sandbox import Job, Limits, Report, Verdict, choose_backend, pool

pytestmark = [pytest.mark.sandbox, pytest.mark.network]

SUITE = "tests/test_counting.py::"
#: Function -> its tests and bodies that are not quite right.
MUTANTS = {
    "average": (["test_average"], ["return sum(numbers) / len(numbers)", "return sum(numbers) / max(1, len(numbers))"]),
    "percentage": (["test_percentage"], ["return round(100 * part / whole)", "import os\nos._exit(0)"]),
    "pluralize": (["test_pluralize"], ["return f'{number} {noun}s'", "while True:\n    pass"]),
}


async def ready() -> tuple[Snapshot, Environment, JobBundle]:
    case = resolve_case("word_counter")
    snapshot = snapshot_of(case)
    environment = await build_environment(snapshot.root, install=case.install, test=case.test)
    backend = choose_backend("bubblewrap").name
    bundle = pack(
        case.name, snapshot, environment, install=case.install, test=case.test, backend=backend, limits=Limits()
    )
    return snapshot, environment, bundle


def jobs(snapshot: Snapshot) -> list[Job]:
    source = (snapshot.root / "word_counter.py").read_bytes()
    functions = {function.qualified_name: function for function in find_functions(source, "word_counter.py")}
    found = []
    for name, (tests, bodies) in MUTANTS.items():
        function = functions[name]
        contents = [source, splice(source, function, minimal_stub(function))]
        contents += [splice(source, function, body) for body in bodies]
        for number, content in enumerate(contents):
            found.append(
                Job(
                    f"{name}-{number}",
                    tests=tuple(SUITE + test for test in tests),
                    path="word_counter.py",
                    content=content,
                    limits=Limits(seconds=2.0 if b"while True" in content else 20.0),
                    function=(name, function.occurrence),
                )
            )
    return found


def essence(report: Report) -> tuple[Any, ...]:
    outcomes = [(test.id, test.outcome) for test in report.tests]
    return report.job, report.verdict, report.reason, report.route, report.backend, outcomes


@pytest.mark.slow
async def test_verdicts_are_those_of_this_machine(folders: Path, worker_cache: Path, cluster: Served) -> None:
    snapshot, environment, bundle = await ready()
    work = jobs(snapshot)
    async with pool(choose_backend("bubblewrap"), environment.workspace, workers=2, limits=Limits()) as here:
        expected = await asyncio.gather(*(here.run(job) for job in work))
    told: list[str] = []
    async with connected(cluster.engine) as reached, reached.pool(bundle, told.append) as there:
        reports = await asyncio.gather(*(there.run(job) for job in work))
        assert await _kept(reached._client) >= 1
    assert [essence(report) for report in reports] == [essence(report) for report in expected]
    verdicts = {report.job: report.verdict for report in reports}
    assert {verdicts[f"{name}-0"] for name in MUTANTS} == {Verdict.PASSED}
    assert Verdict.PASSED not in {verdicts[f"{name}-1"] for name in MUTANTS}
    assert verdicts["pluralize-3"] is Verdict.TIMEOUT
    assert told == [f"2 workers, 2 at once, {cluster.engine}"]
    # The workers had nothing and unpacked and installed for themselves, the very same versions.
    assert (worker_cache / "snapshots" / snapshot.digest / "tree" / "word_counter.py").is_file()
    records = list((worker_cache / "environments").glob("*/complete.json"))
    assert list(environment.installed) in [json.loads(record.read_text())["installed"] for record in records]
    # A second run opens its own sandboxes in what the first one left.
    async with connected(cluster.engine) as reached:
        assert await _kept(reached._client) == 0
        async with reached.pool(bundle) as there:
            assert (await there.run(Job("again", tests=(SUITE + "test_average",)))).passed
    assert list((worker_cache / "environments").glob("*/complete.json")) == records
    # Workers whose runner is another one give no verdict.
    async with connected(cluster.engine) as reached, reached.pool(replace(bundle, runner="another")) as there:
        with pytest.raises(ClusterError, match=r"None of the 2 workers .* can test: its Workbench determines verdicts"):
            await there.run(Job("one", tests=(SUITE + "test_average",)))


async def _kept(client: Any) -> int:
    """How many repositories the workers have sandboxes for."""

    def kept() -> int:  # nested, for it travels: workers know nothing of this file
        from workbench.cluster import job_bundle

        return sum(len(sandboxes) for sandboxes in job_bundle._SANDBOXES.values())

    return sum((await client.run(kept)).values())


async def test_sandboxes_that_nobody_uses_any_more_are_closed(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A killed engine cannot say that it is done.
    monkeypatch.setattr(job_bundle, "IDLE_SECONDS", 0.2)
    _, _, bundle = await ready()
    kept: dict[str, job_bundle.WorkerSandboxes] = {}
    kept[bundle.key] = one = job_bundle.WorkerSandboxes(bundle, 1, kept)
    assert (await one.run(Job("one", tests=(SUITE + "test_average",)))).passed
    assert kept
    async with asyncio.timeout(20):
        while kept or one._background:
            await asyncio.sleep(0.02)
    assert one._pool is None


async def _holder(client: Any, ready: Callable[[dict[str, Any]], bool] = bool) -> str:
    """Return the address of a worker that has candidates under way."""
    for _ in range(500):
        processing = {
            a: keys for a, keys in (await client.processing()).items() if any("workbench_test" in k for k in keys)
        }
        if processing and ready(processing):
            return next(iter(processing))
        await asyncio.sleep(0.02)
    raise AssertionError("no worker got a candidate")


@pytest.mark.nightly
@pytest.mark.slow
async def test_a_candidate_under_which_workers_die_again_and_again_is_an_error_of_ours(folders, worker_cache):
    snapshot, _, bundle = await ready()
    hang = next(job for job in jobs(snapshot) if job.id == "pluralize-3")
    variables = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    with serving(worker_cache, workers=2, **variables) as served:
        async with connected(served.engine) as reached, reached.pool(bundle) as there:
            assert (await there.run(Job("warm-up", tests=(SUITE + "test_average",)))).passed
            waiting = asyncio.create_task(there.run(replace(hang, limits=Limits(seconds=60.0))))
            client = reached._client
            victims: list[str] = []
            for _ in range(2):
                victim = await _holder(client, lambda found: not set(found) <= set(victims))
                pids = await client.run(os.getpid, workers=[victim])
                victims.append(victim)
                os.kill(pids[victim], signal.SIGKILL)
            report = await asyncio.wait_for(waiting, 30)
            # The neighbours and the cluster go on.
            assert (await there.run(Job("after", tests=(SUITE + "test_average",)))).passed
    assert report.verdict is Verdict.ERROR
    assert report.detail == "2 workers of the cluster died while testing the candidate; see their logs."
