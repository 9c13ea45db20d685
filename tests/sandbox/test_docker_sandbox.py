"""Behaviour specific to container engines, Docker and Podman: mounts or an image, and an engine that stops midway.

The hostile suite for Docker is in ``test_hostile_candidates.py``; Podman gets a part of it here.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from container_engines import IMAGE, NoEngine, dockerd, image_with_libraries
from hostile.candidates import HOSTILE, LEFT_BEHIND, RIGHT
from needing_sandboxes import require
from sweeps import spread

from workbench.sandbox import Pool, Route, SandboxError, Verdict, Workspace, pool
from workbench.sandbox.docker import Docker

from .conftest import LIMITS, job

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]  # one engine is enough
in_one_loop = pytest.mark.asyncio(loop_scope="module")


def with_system(workspace: Workspace) -> Workspace:
    """The test image has no programs: the machine's own are mounted into it."""
    return replace(workspace, mounts=(Path("/usr"), *workspace.mounts))


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["docker", pytest.param("podman", marks=pytest.mark.slow)]
)
async def container(request, tmp_path_factory, tiny_workspace):
    host = request.getfixturevalue("engine" if request.param == "docker" else "podman_engine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", host)
        workspace = with_system(tiny_workspace(tmp_path_factory.mktemp(request.param) / "repository"))
        async with pool(Docker(IMAGE), workspace, workers=1, limits=LIMITS) as opened:
            yield opened


@in_one_loop
@pytest.mark.parametrize("route", [Route.AUTO, Route.WARM, Route.COLD])
async def test_right_passes_and_stub_fails(container: Pool, route: Route) -> None:
    right, stub = await container.run(job(RIGHT, route)), await container.run(job("pass", route))
    assert (right.verdict, right.backend) == (Verdict.PASSED, "docker"), right.detail
    assert (stub.verdict, len(stub.failing)) == (Verdict.FAILED, 4)
    if route is Route.AUTO:
        assert right.route is Route.HOT, right.slower


# Docker meets its share in test_hostile_candidates.py.
ON_PODMAN = pytest.mark.parametrize("container", [pytest.param("podman", marks=pytest.mark.slow)], indirect=True)


@in_one_loop
@ON_PODMAN
@pytest.mark.parametrize("name", spread([name for name, hostile in HOSTILE.items() if "@" not in hostile.body], 8, 3))
async def test_hostile_candidate_never_passes_and_never_harms_the_next(container: Pool, name: str) -> None:
    hostile = HOSTILE[name]
    report = await container.run(job(hostile.body, seconds=hostile.seconds))
    assert report.verdict in hostile.right, (report.verdict, report.reason, report.detail)
    following = await container.run(job(RIGHT))
    assert following.verdict is Verdict.PASSED, (following.reason, following.detail)


@in_one_loop
@ON_PODMAN
@pytest.mark.parametrize("name", spread([name for name in LEFT_BEHIND if name != "processes"], 4))
async def test_nothing_is_left_for_the_next_candidate(container: Pool, name: str) -> None:
    leave, look = LEFT_BEHIND[name]
    assert (await container.run(job(f"{leave}\n{RIGHT}"))).verdict is Verdict.PASSED
    following = await container.run(job(f"{look}\n{RIGHT}"))
    assert following.verdict is Verdict.PASSED, following.failing


@in_one_loop
async def test_nothing_but_its_own_folders_is_writable(container: Pool) -> None:
    """Every folder of the container is tried, whatever the engine adds to an image."""
    look = (
        "import os\nfound = []\nown = ('/repo', '/tmp', '/home/sandbox', '/meta', '/dev/shm')\n"
        "for folder, folders, _ in os.walk('/'):\n    folders[:] = [] if folder in ('/proc', '/sys', '/usr', *own) else folders\n"
        "    if folder not in own and os.access(folder, os.W_OK) and folder not in ('/proc', '/dev/mqueue'):\n"
        "        found.append(folder)\nassert found == []"
    )
    report = await container.run(job(f"{look}\n{RIGHT}"))
    assert report.verdict is Verdict.PASSED, report.failing


def clients(container: Pool):
    import docker

    return closing(docker.from_env())


@in_one_loop
async def test_the_container_is_as_tight_as_promised(container: Pool) -> None:
    await container.run(job(RIGHT))
    with clients(container) as client:
        (only,) = client.containers.list(filters={"label": "workbench=sandbox"})
        settings, own = only.attrs["HostConfig"], only.attrs["Config"]
    assert (settings["NetworkMode"], settings["ReadonlyRootfs"], settings["Privileged"]) == ("none", True, False)
    assert settings["Memory"] == settings["MemorySwap"] == (256 + 192) * 2**20
    assert settings["PidsLimit"] == 48 + 12
    assert settings["NanoCpus"] == 10**9
    assert any("no-new-privileges" in option for option in settings["SecurityOpt"])
    assert own["User"] == "1000:1000"
    look = "status = open('/proc/self/status').read()\nassert 'CapBnd:\\t0000000000000000' in status and 'Seccomp:\\t2' in status"
    report = await container.run(job(f"{look}\n{RIGHT}"))
    assert report.verdict is Verdict.PASSED, report.failing


@in_one_loop
@pytest.mark.slow
async def test_containers_are_removed_also_those_of_killed_programs(container: Pool) -> None:
    code = "import os, docker\nclient = docker.from_env()\n"
    code += f"client.containers.create({IMAGE!r}, ['true'], labels={{'workbench': 'sandbox', 'workbench.owner': "
    code += f"'{socket.gethostname()}:' + str(os.getpid())}})\nos._exit(0)\n"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], check=True)
    await container.run(job(RIGHT))
    async with pool(Docker(IMAGE), container.workers[0].workspace, workers=1, limits=LIMITS) as another:
        assert (await another.run(job(RIGHT))).passed
    with clients(container) as client:
        assert len(client.containers.list(all=True)) == 1


@in_one_loop
@pytest.mark.slow
@pytest.mark.parametrize("container", ["docker", pytest.param("podman", marks=pytest.mark.nightly)], indirect=True)
async def test_a_container_killed_from_outside_is_started_again_and_the_verdict_is_right(container: Pool) -> None:
    await container.run(job(RIGHT))
    worker, starts = container.workers[0], container.workers[0].starts
    with clients(container) as client:
        (only,) = client.containers.list(filters={"label": "workbench=sandbox"})
        slow = f"import time\ntime.sleep(1)\n{RIGHT}"
        for body, verdict in ((slow, Verdict.PASSED), ("import time\ntime.sleep(1)", Verdict.FAILED)):
            (only,) = client.containers.list(filters={"label": "workbench=sandbox"})
            asked = asyncio.create_task(container.run(job(body)))
            await asyncio.sleep(0.3)
            await asyncio.to_thread(only.kill)
            assert (await asked).verdict is verdict
    assert worker.starts == starts + 2


@contextmanager
def tcp(path: str) -> Iterator[str]:
    """Forward a port of loopback to a Unix socket: an engine that could be on another machine."""
    server = socket.create_server(("127.0.0.1", 0))

    def copy(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            target.close()

    def accept() -> None:
        while True:
            try:
                near = server.accept()[0]
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(path)
            for pair in ((near, far), (far, near)):
                threading.Thread(target=copy, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def small_environment(folder: Path) -> dict[str, object]:
    """An environment with pytest and what it needs, copied from the one that runs these tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    wanted = ("pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments", "coverage")
    for path in Path(pytest.__file__).parent.parent.iterdir():
        if path.name.lower().split("-")[0] in wanted:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, packages / path.name)
    base = Path(sys.base_prefix)
    return {"python": folder / "bin" / "python", "mounts": (folder, *dict.fromkeys((base, base.resolve())))}


@pytest.mark.slow
async def test_an_engine_elsewhere_gets_an_image_once(engine, tmp_path, tiny_workspace, monkeypatch, request):
    """Over TCP nothing is mounted: the environment is copied into an image, which the second worker finds."""
    import docker

    workspace = tiny_workspace(tmp_path / "repository")
    place = Path(tempfile.mkdtemp(prefix="workbench-test-", dir="/var/tmp"))
    request.addfinalizer(lambda: shutil.rmtree(place))
    workspace = replace(workspace, **small_environment(place / "environment"))
    with closing(docker.DockerClient(base_url=engine)) as client:
        client.api.import_image_from_data(image_with_libraries(workspace.python), repository="workbench-test-libraries")
        with tcp(engine.removeprefix("unix://")) as host:
            monkeypatch.setenv("DOCKER_HOST", host)
            # The other tests' own may still be there.
            others = {each.id for each in client.containers.list(filters={"label": "workbench=sandbox"})}
            for _ in range(2):
                async with pool(
                    Docker("workbench-test-libraries:latest"), workspace, workers=1, limits=LIMITS
                ) as opened:
                    right, stub = await opened.run(job(RIGHT)), await opened.run(job("pass"))
                    assert (right.verdict, right.route) == (Verdict.PASSED, Route.HOT), (right.detail, right.slower)
                    assert stub.verdict is Verdict.FAILED
                    running = client.containers.list(filters={"label": "workbench=sandbox"})
                    (only,) = (each for each in running if each.id not in others)
                    assert not only.attrs["Mounts"]
            below = replace(workspace, mounts=(tmp_path, *workspace.mounts))
            with pytest.raises(SandboxError, match="set WORKBENCH_CACHE_DIR to another folder"):
                async with pool(Docker("workbench-test-libraries:latest"), below, workers=1, limits=LIMITS) as opened:
                    await opened.run(job(RIGHT))
        (image,) = client.images.list("workbench-environment")
        assert not client.containers.list(all=True, filters={"label": "workbench=environment"})
        client.images.remove(image.id, force=True)


@pytest.mark.nightly
async def test_an_engine_that_stops_in_the_middle_is_one_sentence_and_no_verdict(tmp_path, tiny_workspace, monkeypatch):
    try:
        with dockerd() as own:
            monkeypatch.setenv("DOCKER_HOST", own.host)
            workspace = with_system(tiny_workspace(tmp_path / "repository"))
            async with pool(Docker(IMAGE), workspace, workers=2, limits=LIMITS) as opened:
                done = await asyncio.gather(opened.run(job(RIGHT)), opened.run(job("pass")))
                assert [report.verdict for report in done] == [Verdict.PASSED, Verdict.FAILED]
                under_way = [asyncio.create_task(opened.run(job("while True:\n    pass"))) for _ in range(3)]
                await asyncio.sleep(0.5)
                await asyncio.to_thread(own.stop)
                for task in under_way:
                    with pytest.raises(SandboxError, match=r"^(The|No) Docker engine .*\.$") as caught:
                        await task
                    assert "\n" not in str(caught.value)
                with pytest.raises(SandboxError, match="Docker engine"):
                    await opened.run(job(RIGHT))
    except NoEngine as reason:
        require(str(reason))


@pytest.mark.slow
async def test_a_frozen_engine_does_not_decide_about_a_candidate(tmp_path, tiny_workspace, engine, monkeypatch):
    """What does not answer in time is the sandbox's failure when the sandbox cannot be started again either."""
    workspace = with_system(tiny_workspace(tmp_path / "repository"))
    monkeypatch.setenv("DOCKER_HOST", engine)
    async with pool(Docker(IMAGE), workspace, workers=1, limits=LIMITS) as opened:
        assert (await opened.run(job(RIGHT))).passed
        opened.workers[0].backend = Docker("nowhere:1")
        asked = asyncio.create_task(opened.run(job("import time\ntime.sleep(5)")))
        await asyncio.sleep(0.3)
        channel = opened.workers[0]._channel
        assert channel is not None
        await channel.close()
        with pytest.raises(SandboxError, match="has no image 'nowhere:1'"):
            await asked


def test_a_missing_image_is_one_sentence(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", engine)
    assert "has no image 'nowhere:1'" in (Docker("nowhere:1").problem() or "")


def test_a_missing_engine_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    problem = Docker().problem() or ""
    assert problem.startswith("No Docker engine runs here")
    assert "\n" not in problem
