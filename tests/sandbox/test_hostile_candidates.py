"""Hostile candidates on every back end: none passes, none escapes, and none harms the next candidate."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio
from hostile.built_names import ALWAYS_EQUAL, BUILT_NAMES, WARY
from hostile.candidates import HOSTILE, LEFT_BEHIND, RIGHT
from sweeps import spread

from workbench.sandbox import Backend, Pool, Reason, Route, Verdict, Workspace, pool

from .conftest import LIMITS, job

# One sandbox per back end for the whole file: what a candidate harms, a later test would notice.
pytestmark = [pytest.mark.asyncio(loop_scope="module")]

BACK_ENDS = {
    "bubblewrap": [pytest.mark.sandbox, pytest.mark.xdist_group("hostile-bubblewrap")],
    "process": [pytest.mark.sandbox, pytest.mark.slow, pytest.mark.xdist_group("hostile-process")],
    "docker": [pytest.mark.docker, pytest.mark.slow, pytest.mark.xdist_group("docker")],
}


def met(bodies: Collection[str], fast: int = 6, others: int = 5) -> pytest.MarkDecorator:
    """Bubblewrap meets every body, in CI; ``make test`` takes one in ``fast``, and the other back ends get one in ``others``."""
    names = list(bodies)
    params = [
        pytest.param(backend, name, marks=[*marks, *([] if names.index(name) % fast == 0 else [pytest.mark.slow])])
        for number, (backend, marks) in enumerate(BACK_ENDS.items())
        for name in (names if backend == "bubblewrap" else spread(names, others, number))
    ]
    return pytest.mark.parametrize(("arena", "name"), params, indirect=["arena"])


everywhere = pytest.mark.parametrize(
    "arena", [pytest.param(name, marks=marks) for name, marks in BACK_ENDS.items()], indirect=True
)


@dataclass
class Surroundings:
    """What a candidate might reach for, all of it readable and writable for everybody."""

    base: Path
    secret: str
    listeners: tuple[socket.socket, ...]
    victim: subprocess.Popen[bytes]

    def fill(self, body: str) -> str:
        """Put the addresses into a body."""
        tcp, udp, abstract = self.listeners[0].getsockname()[1], self.listeners[1].getsockname()[1], self.secret[:8]
        words = {"TCP": tcp, "UDP": udp, "SOCKET": self.base / "socket", "ABSTRACT": abstract}
        words |= {"SESSION": self.base / "session", "HOME": self.base / "home", "OUTSIDE": self.base / "outside"}
        # In two halves: a body that holds the secret would find it in its own file.
        words |= {"SECRET": f"{self.secret[:8]}' + '{self.secret[8:]}", "PROGRAM": os.getpid()}
        for word, value in words.items():
            body = body.replace(f"@{word}@", str(value))
        return body.replace(f"b'{self.secret[:8]}' + '", f"b'{self.secret[:8]}' + b'")

    def touched(self) -> list[str]:
        """Return what reached the outside: connections, datagrams, files, a dead process."""
        found = [str(path) for path in (self.base / "outside").iterdir()]
        for listener in self.listeners:
            try:
                listener.recv(100) if listener.type == socket.SOCK_DGRAM else listener.accept()
                found.append(f"a message to {listener.getsockname()}")
            except BlockingIOError:
                pass
        if self.victim.poll() is not None:
            found.append("another process has ended")
        if Path(f"/proc/{self.victim.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T":
            found.append("another process was stopped")
        return found


@pytest.fixture(scope="module")
def surroundings() -> Iterator[Surroundings]:
    base = Path(tempfile.mkdtemp(prefix="wb-outside-"))
    base.chmod(0o755)
    secret = secrets.token_hex(8)
    (base / "outside").mkdir()
    (base / "outside").chmod(0o777)
    (base / "home" / ".workbench-test").mkdir(parents=True)
    (base / "home" / ".workbench-test" / "key").write_text(secret)
    (base / "session").write_text(secret)
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    path, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    path.bind(str(base / "socket"))
    (base / "socket").chmod(0o777)
    abstract.bind("\0" + secret[:8])
    for listener in (path, abstract):
        listener.listen()
    listeners = (tcp, udp, path, abstract)
    for listener in listeners:
        listener.setblocking(False)
    victim = subprocess.Popen(["sleep", "3600"], env={"OPENAI_API_KEY": secret})
    try:
        yield Surroundings(base, secret, listeners, victim)
    finally:
        victim.kill()
        victim.wait()
        for listener in listeners:
            listener.close()
        shutil.rmtree(base)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def arena(request, tiny_workspace, tmp_path_factory):
    backend = request.getfixturevalue(f"{request.param}_backend")
    if request.param == "process":
        holes = [line for line in backend.guarantees().sentences if "NOT" in line]
        if holes:  # then running this would harm whoever runs it
            pytest.skip(f"a plain process is too weak on this machine: {' '.join(holes)}")
    workspace: Workspace = tiny_workspace(tmp_path_factory.mktemp(request.param) / "repository")
    if request.param == "docker":
        workspace = replace(workspace, mounts=(Path("/usr"), *workspace.mounts))
    async with pool(backend, workspace, workers=1, limits=LIMITS) as opened:
        yield opened


async def unharmed(arena: Pool) -> None:
    following = await arena.run(job(RIGHT))
    assert following.verdict is Verdict.PASSED, (following.reason, following.detail, following.failing)
    assert following.route is Route.HOT, following.slower
    stub = await arena.run(job("pass"))
    assert (stub.verdict, len(stub.failing)) == (Verdict.FAILED, 4), stub.detail


@met(HOSTILE)
async def test_hostile_candidate_never_passes_never_escapes_and_never_harms_the_next(arena, surroundings, name):
    hostile = HOSTILE[name]
    report = await arena.run(job(surroundings.fill(hostile.body), seconds=hostile.seconds))
    assert report.verdict in hostile.right, (report.verdict, report.reason, report.detail, report.failing)
    assert surroundings.touched() == []
    await unharmed(arena)


@met(BUILT_NAMES, 12, others=20)
async def test_names_built_at_run_time_give_no_pass_without_a_mark(arena: Pool, name: str) -> None:
    """What forges its report has failed; what the tests themselves take for right has passed, and is doubtful."""
    report = await arena.run(job(BUILT_NAMES[name]))
    assert report.plain is False
    assert not report.passed or report.doubtful, report
    if name not in ALWAYS_EQUAL:
        assert not report.passed, report.doubtful
    if name in WARY:
        assert report.reason is Reason.TAMPERED, report.detail
    await unharmed(arena)


@everywhere
async def test_a_pass_that_is_not_plain_stays_one_and_says_why(arena: Pool) -> None:
    honest = await arena.run(job("import gc\ngc.collect()\n" + RIGHT))
    assert (honest.verdict, honest.plain, honest.suspicious) == (Verdict.PASSED, False, ())
    assert honest.doubtful == "it imports gc"
    plain = await arena.run(job(RIGHT))
    assert (plain.verdict, plain.plain, plain.doubtful) == (Verdict.PASSED, True, "")
    tree = arena.workers[0].workspace.root
    original = await arena.run(replace(job(RIGHT), content=(tree / "sums.py").read_bytes()))
    assert (original.verdict, original.doubtful) == (Verdict.PASSED, "")


@met(["os_exit", "skip", "kill_parent", "patched_runner", "report_found_in_frames", "guessed_report"], 3)
async def test_hostile_candidate_never_passes_cold(arena: Pool, surroundings: Surroundings, name: str) -> None:
    hostile = HOSTILE[name]
    report = await arena.run(job(surroundings.fill(hostile.body), Route.COLD, hostile.seconds))
    assert report.verdict in hostile.right, (report.verdict, report.reason, report.detail)


@met(LEFT_BEHIND, 6, others=8)
async def test_nothing_is_left_for_the_next_candidate(arena: Pool, name: str) -> None:
    leave, look = LEFT_BEHIND[name]
    left = await arena.run(job(f"{leave}\n{RIGHT}"))
    assert left.verdict is Verdict.PASSED, left.failing  # it does what it should; what it leaves is ours to take away
    following = await arena.run(job(f"{look}\n{RIGHT}"))
    assert following.verdict is Verdict.PASSED, following.failing
    await unharmed(arena)


@met(["memory_hog", "one_large_allocation", "disk_hog", "disk_hog_in_many_files"], 2)
async def test_out_of_memory_and_a_full_disk_are_named(arena: Pool, name: str) -> None:
    report = await arena.run(job(HOSTILE[name].body))
    full = name.startswith("disk")
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.DISK_FULL if full else Reason.OUT_OF_MEMORY)
    assert report.detail.startswith("It wrote more than allowed") is full
    await unharmed(arena)


@everywhere
async def test_the_environment_and_the_home_of_the_user_are_not_visible(arena: Pool) -> None:
    """Of the real home at most what leads to the interpreter is seen, and of the variables none that is not ours."""
    mounts = [*arena.workers[0].workspace.mounts, arena.workers[0].workspace.python]
    home = Path.home()
    ways = {mount.relative_to(home).parts[0] for mount in mounts if mount.is_relative_to(home) and mount != home}
    look = (
        "import os\n"
        f"try:\n    names = set(os.listdir({str(home)!r}))\nexcept OSError:\n    names = set()\n"
        f"assert names <= {ways!r}, names\n"
        "allowed = {'PATH', 'LANG', 'TZ', 'TERM', 'COLUMNS', 'HOME', 'TMPDIR', 'LC_CTYPE', 'PYTEST_VERSION', 'PYTEST_CURRENT_TEST'}\n"
        "assert not {key for key in os.environ if key not in allowed and not key.startswith('PYTHON') and not key.endswith('_NUM_THREADS')}, set(os.environ) - allowed"
    )
    report = await arena.run(job(f"{look}\n{RIGHT}"))
    assert report.verdict is Verdict.PASSED, report.failing


HOG_BESIDE_A_PASS = (
    "import os\nif os.fork() == 0:\n    hog = bytearray(400_000_000)\n    os._exit(0)\n"
    "assert os.wait()[1] == 9, 'nobody killed it'\n" + RIGHT
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("bubblewrap", marks=pytest.mark.sandbox),
        pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    ],
)
async def test_a_kill_for_memory_is_never_put_down_to_the_next_candidate(request, tiny_workspace, tmp_path, name):
    backend: Backend = request.getfixturevalue(f"{name}_backend")
    workspace: Workspace = tiny_workspace(tmp_path / "repository")
    if name == "docker":
        workspace = replace(workspace, mounts=(Path("/usr"), *workspace.mounts))
    limits = replace(LIMITS, memory_mb=64)
    async with pool(backend, workspace, workers=1, limits=limits) as opened:
        for _ in range(3):
            hog = await opened.run(replace(job(HOG_BESIDE_A_PASS), limits=limits))
            # The kernel took the hog alone, which its parent has checked, or we took all of it, and say why.
            if hog.verdict is not Verdict.PASSED:
                assert (hog.verdict, hog.reason) == (Verdict.CRASHED, Reason.OUT_OF_MEMORY), hog
            stub = await opened.run(replace(job("pass"), limits=limits))
            assert (stub.verdict, len(stub.failing)) == (Verdict.FAILED, 4), stub.detail
