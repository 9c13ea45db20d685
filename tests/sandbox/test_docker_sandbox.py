"""The Docker back end on an engine that the tests start themselves, with an image that they import."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from workbench.sandbox import Job, Limits, Pool, Reason, Route, Verdict, Workspace, choose_backend, pool
from workbench.sandbox.docker import Docker

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]  # one engine is enough
in_one_loop = pytest.mark.asyncio(loop_scope="module")

IMAGE = "workbench-test-base"
TESTS = (
    "tests/test_sums.py::test_total[none]",
    "tests/test_sums.py::test_total[two]",
    "tests/test_sums.py::test_total[zero]",
)
LIMITS = Limits(seconds=5, memory_mb=256, processes=48, disk_mb=64, file_mb=16)
RIGHT = "return sum(numbers)"


def job(body: str, route: Route = Route.AUTO) -> Job:
    lines = "\n".join("    " + line for line in body.splitlines())
    source = f'"""Sums."""\n\n\ndef total(numbers):\n    """Return the sum of the numbers; 0 for none."""\n{lines}\n'
    return Job("candidate", TESTS, "sums.py", source.encode(), LIMITS, route, ("total", 1))


def give_up(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    """A Docker engine of our own: data, exec root, pid file and socket below one temporary folder."""
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        give_up("dockerd is not installed, or this is not root")
    base = Path(tempfile.mkdtemp(prefix="wbd-"))
    host = f"unix://{base}/d.sock"
    log = (base / "log").open("wb")
    command = [
        "dockerd",
        "--data-root",
        str(base / "data"),
        "--exec-root",
        str(base / "exec"),
        "--pidfile",
        str(base / "pid"),
    ]
    command += ["--host", host, "--bridge=none", "--iptables=false", "--ip6tables=false"]
    process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        import docker

        deadline = time.monotonic() + 60
        while True:
            try:
                client = docker.DockerClient(base_url=host, timeout=60)  # asks for the version at once
                client.ping()
                break
            except Exception:
                if process.poll() is not None or time.monotonic() > deadline:
                    give_up("dockerd does not start: " + (base / "log").read_text().strip().splitlines()[-1])
                select_pause()
        client.api.import_image_from_data(root_file_system(), repository=IMAGE, tag="latest")
        client.close()
        yield host
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()
        shutil.rmtree(base, ignore_errors=True)


def select_pause() -> None:
    """Give the engine a moment; the caller has a deadline."""
    import select

    select.select([], [], [], 0.1)


def root_file_system() -> bytes:
    """An image without programs: the tests mount the machine's own ``/usr`` into it, read-only."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("usr", "etc", "proc", "sys", "dev", "tmp", "home"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if Path("/", name).is_symlink():
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, str(Path("/", name).readlink())
                archive.addfile(entry)
        archive.add("/etc/ld.so.cache", "etc/ld.so.cache")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def backend(engine: str) -> Iterator[Docker]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", engine)
        patch.setenv("WORKBENCH_DOCKER_IMAGE", IMAGE)
        chosen = choose_backend("docker")
        assert isinstance(chosen, Docker)
        yield chosen


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def container(backend: Docker, tmp_path_factory: pytest.TempPathFactory, tiny_workspace) -> AsyncIterator[Pool]:
    workspace: Workspace = tiny_workspace(tmp_path_factory.mktemp("docker") / "repository")
    workspace = replace(workspace, mounts=(Path("/usr"), *workspace.mounts))
    async with pool(backend, workspace, workers=1, limits=LIMITS) as opened:
        yield opened


@in_one_loop
@pytest.mark.parametrize("route", [Route.AUTO, Route.WARM, Route.COLD])
async def test_right_passes_and_stub_fails(container: Pool, route: Route) -> None:
    right, stub = await container.run(job(RIGHT, route)), await container.run(job("pass", route))
    assert (right.verdict, right.backend) == (Verdict.PASSED, "docker"), right.detail
    assert (stub.verdict, len(stub.failing)) == (Verdict.FAILED, 3)
    if route is Route.AUTO:
        assert right.route is Route.HOT, right.slower


HOSTILE = {
    "loop": ("while True:\n    pass", {Verdict.TIMEOUT}),
    "fork_bomb": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        {Verdict.TIMEOUT, Verdict.CRASHED, Verdict.FAILED},
    ),
    "memory_hog": ("hog = []\nwhile True:\n    hog.append(bytearray(10_000_000))", {Verdict.CRASHED}),
    "os_exit": ("import os\nos._exit(0)", {Verdict.CRASHED}),
    "exit": ("import sys\nsys.exit(0)", {Verdict.FAILED}),
    "skip": ("import pytest\npytest.skip('x')", {Verdict.FAILED}),
    "patched_runner": (
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\nreturn 0",
        {Verdict.FAILED},
    ),
    "kill_parent": ("import os\nos.kill(os.getppid(), 9)\nreturn None", {Verdict.FAILED, Verdict.CRASHED}),
    "kill_first": ("import os\nos.kill(1, 9)\nreturn None", {Verdict.FAILED, Verdict.CRASHED}),
    "network": ("import socket\nsocket.create_connection(('1.1.1.1', 53), 2)\nreturn sum(numbers)", {Verdict.FAILED}),
    "disk_hog": (
        "with open('/tmp/hog', 'wb') as f:\n    while True:\n        f.write(b'x' * 1_000_000)",
        {Verdict.FAILED, Verdict.CRASHED},
    ),
    "write_elsewhere": ("open('/etc/left', 'w')\nreturn sum(numbers)", {Verdict.FAILED}),
    "become_root": ("import os\nos.setuid(0)\nreturn sum(numbers)", {Verdict.FAILED}),
    "mount": (
        "import ctypes\nassert ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0\nreturn sum(numbers)",
        {Verdict.FAILED},
    ),
}


@in_one_loop
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_candidate_never_passes_and_never_harms_the_next(container: Pool, name: str) -> None:
    body, right = HOSTILE[name]
    report = await container.run(job(body))
    assert report.verdict in right, (report.verdict, report.reason, report.detail)
    following = await container.run(job(RIGHT))
    assert following.verdict is Verdict.PASSED, (following.reason, following.detail)


@in_one_loop
async def test_out_of_memory_has_its_own_reason(container: Pool) -> None:
    report = await container.run(job(HOSTILE["memory_hog"][0]))
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.OUT_OF_MEMORY)


@in_one_loop
async def test_nothing_is_left_for_the_next_candidate(container: Pool) -> None:
    left = "import os\nfor p in ('/repo', '/tmp', '/home/sandbox', '/dev/shm'):\n    open(p + '/left', 'w').write('x')"
    assert (await container.run(job(f"{left}\n{RIGHT}"))).verdict is Verdict.PASSED
    look = "import os\nfor p in ('/repo', '/tmp', '/home/sandbox', '/dev/shm'):\n    assert not os.path.exists(p + '/left'), p"
    report = await container.run(job(f"{look}\n{RIGHT}"))
    assert report.verdict is Verdict.PASSED, report.failing


@in_one_loop
async def test_containers_are_removed(engine: str, backend: Docker, container: Pool) -> None:
    import docker

    async with pool(backend, container.workers[0].workspace, workers=1, limits=LIMITS) as another:
        assert (await another.run(job(RIGHT))).passed
    client = docker.DockerClient(base_url=engine)
    try:
        assert len(client.containers.list(all=True)) == 1
    finally:
        client.close()


def test_a_missing_image_is_one_sentence(backend: Docker) -> None:
    assert "has no image 'nowhere:1'" in (Docker("nowhere:1").problem() or "")


def test_a_missing_engine_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    problem = Docker().problem() or ""
    assert problem.startswith("No Docker engine runs here")
    assert "\n" not in problem
