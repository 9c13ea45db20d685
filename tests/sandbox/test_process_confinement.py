"""The confinement of a plain process, its guarantees on lesser kernels, and workers killed from outside."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from workbench.sandbox import Report, SandboxError, Verdict, Workspace, pool
from workbench.sandbox.backend import Channel, Launch
from workbench.sandbox.process import KernelFeatures, PlainProcess, open_to_everybody, promises, written_bytes
from workbench.sandbox.safety import Decoy, discarded, is_fooled, make_decoy, passed_beside
from workbench.sandbox.types import TestOutcome
from workbench.sandbox.workbench_runner import confine
from workbench.sandbox.worker import Worker

from .conftest import LIMITS, job

pytestmark = pytest.mark.sandbox


def holes(means: KernelFeatures) -> list[str]:
    return [line for line in promises(means) if "NOT" in line]


def test_the_guarantees_name_what_a_kernel_lacks() -> None:
    assert holes(KernelFeatures(landlock=7, seccomp=True, root=True, groups=True)) == []
    assert any(line.startswith("Network") for line in holes(KernelFeatures(0, False, True, True)))
    assert any("UDP" in line for line in holes(KernelFeatures(4, False, True, True)))
    assert any(line.startswith("Files") for line in holes(KernelFeatures(0, True, True, True)))
    assert any("truncated" in line for line in holes(KernelFeatures(2, True, True, True)))
    assert any("signals" in line for line in holes(KernelFeatures(5, True, False, False)))
    assert any("permissions and times" in line for line in holes(KernelFeatures(7, True, False, True)))
    assert all(line.endswith(".") for line in promises(KernelFeatures(0, False, False, False)))


def test_a_measure_that_the_kernel_refuses_ends_the_sandbox_before_it_starts() -> None:
    """Better no sandbox than one that is weaker than it says."""
    plan = '{"user": null, "landlock": 1, "read": ["/"], "write": [], "devices": [], "seccomp": true}'
    code = f"import sys; sys.path.insert(0, {str(Path(confine.__file__).parent)!r}); import confine; confine.filter_program = lambda **k: b'x' * 8; "
    code += f"sys.argv = ['x', {plan!r}, '--', '/bin/echo', 'ran']; confine.main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (72, "")
    assert result.stderr == "the kernel refused a system call filter: Invalid argument\n"


def test_whether_everybody_may_read_a_file(tmp_path: Path) -> None:
    open_folder = Path(tempfile.mkdtemp())
    open_folder.chmod(0o755)
    (open_folder / "file").write_text("x")
    assert open_to_everybody(open_folder / "file")
    (open_folder / "file").chmod(0o600)
    assert not open_to_everybody(open_folder / "file")
    (open_folder / "inside").mkdir()
    (open_folder / "link").symlink_to(open_folder / "inside")
    assert open_to_everybody(open_folder / "link")
    open_folder.chmod(0o700)
    assert not open_to_everybody(open_folder / "inside")
    assert not open_to_everybody(open_folder / "nowhere")


def test_what_was_written_is_counted_whole(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 1_000_000)
    before = written_bytes(tmp_path)
    assert 1_000_000 <= before < 1_100_000
    for number in range(100):
        (tmp_path / f"empty{number}").touch()
    assert written_bytes(tmp_path) >= before + 100 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bubblewrap", pytest.param("process", marks=pytest.mark.nightly)])
async def test_a_worker_killed_from_outside_starts_again_and_the_verdict_is_right(request, workspace, name):
    async with pool(request.getfixturevalue(f"{name}_backend"), workspace, workers=1, limits=LIMITS) as opened:
        for body, verdict in (("return sum(numbers)", Verdict.PASSED), ("return None", Verdict.FAILED)):
            assert (await opened.run(job(body))).verdict is verdict
            asked = asyncio.create_task(opened.run(job(f"import time\ntime.sleep(1)\n{body}")))
            await asyncio.sleep(0.3)
            channel = opened.workers[0]._channel
            assert channel is not None
            os.kill(channel._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
            assert (await asked).verdict is verdict
        assert opened.workers[0].starts == 3


async def test_a_cancelled_job_leaves_no_process_and_no_folder(process_backend, workspace):
    """There is no PID namespace that ends with its first process: the back end looks for them itself."""
    async with pool(process_backend, workspace, workers=1, limits=LIMITS) as opened:
        await opened.run(job("pass"))
        base = Path(opened.workers[0]._channel.layout.root).parent  # type: ignore[union-attr]
        bomb = "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        open(f'ready{os.getpid()}', 'w')\n"
        bomb += "        time.sleep(3600)\ntime.sleep(3600)"
        asked = asyncio.create_task(opened.run(job(bomb)))
        while len(list((base / "repo").glob("ready*"))) < 5:
            await asyncio.sleep(0.02)
        pids = [int(path.name.removeprefix("ready")) for path in (base / "repo").glob("ready*")]
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        gone = [pid for pid in pids if not Path(f"/proc/{pid}").exists() or _state(pid) == "Z"]
        assert gone == pids
        assert not base.exists()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
async def test_a_full_temporary_folder_of_the_machine_is_one_sentence(
    process_backend: PlainProcess, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], check=True)
    try:
        monkeypatch.setattr(tempfile, "tempdir", str(small))
        with pytest.raises(SandboxError, match=r"The disk is full: there is no room in .* for a sandbox") as caught:
            async with pool(process_backend, workspace, workers=1, limits=LIMITS) as opened:
                await opened.run(job("pass"))
        assert "\n" not in str(caught.value)
        assert list(small.iterdir()) == []
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        async with pool(process_backend, workspace, workers=1, limits=LIMITS) as opened:
            assert (await opened.run(job("return sum(numbers)"))).passed
            layout = opened.workers[0]._channel.layout  # type: ignore[union-attr]
            (small / "somebody-else").write_bytes(b"x" * (64 * 2**20 - written_bytes(small) - 2**20))
            hog = f"open({layout.temporary!r} + '/hog', 'wb').write(b'x' * 8_000_000)\nreturn sum(numbers)"
            report = await opened.run(job(hog))
            # It wrote less than it may: that others filled the disk is not its fault, and no verdict.
            assert (report.verdict, str(report.reason)) == (Verdict.ERROR, "sandbox")
            assert report.detail.startswith(f"The disk is full: there is no room in {small}")
            (small / "somebody-else").unlink()
            assert (await opened.run(job("return sum(numbers)"))).passed
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


@pytest.mark.slow
async def test_a_body_whose_result_does_not_matter_is_not_accused(bubblewrap, workspace: Workspace) -> None:
    """Its test passes whatever it returns: nothing can be concluded, which is noted, and the verdict stands."""
    (workspace.root / "tests" / "test_nothing.py").write_text(
        "from sums import total\n\n\ndef test_nothing():\n    try:\n        total([])\n    except BaseException:\n        pass\n"
    )
    async with pool(bubblewrap, workspace, workers=1, limits=LIMITS) as opened:
        report = await opened.run(
            job("import gc\ngc.collect()\nreturn 1", tests=("tests/test_nothing.py::test_nothing",))
        )
    assert report.verdict is Verdict.PASSED
    assert "whatever it returns" in report.doubtful


def test_a_decoy_tells_who_reports_success_for_whatever_is_asked() -> None:
    tests = ("tests/test_sums.py::Case::test_total[a::b]", "tests/test_sums.py::test_large")
    decoy = make_decoy(tests)
    assert decoy.path.startswith("tests/test_")
    assert decoy.test.startswith(f"{decoy.path}::test_")
    assert make_decoy(tests) != decoy
    names: dict[str, Any] = {}
    exec(decoy.content, names)
    with pytest.raises(AssertionError):
        names[decoy.test.partition("::")[2]]()

    def told(*outcomes: str) -> Report:
        return Report("x", Verdict.FAILED, tests=tuple(map(TestOutcome, (*tests, decoy.test), outcomes)))

    assert [is_fooled(told("passed", "passed", last), decoy) for last in ("failed", "error", "passed", "missing", "skipped")] == [
        False, False, True, True, True,
    ]  # fmt: skip
    assert not is_fooled(told("failed", "passed", "missing"), decoy)  # it died before the decoy's turn
    assert is_fooled(told("failed", "passed", "passed"), decoy)
    assert passed_beside(told("passed", "passed", "failed"), decoy)
    assert not passed_beside(told("passed", "missing", "failed"), decoy)
    assert not passed_beside(Report("x", Verdict.FAILED), Decoy("a", "b", b""))


def test_a_result_is_discarded_wherever_the_function_is() -> None:
    source = (
        b"class A:\n    @property\n    def x(self):\n        '''Doc.'''\n        return 1\n\n    @x.setter\n    def x(self, v):\n        self.y = v\n\n\n"
        b"def f():\n    def g():\n        yield 1\n\n    return g\n\n\nasync def h(): return 1\n"
    )
    for function in (("A.x", 1), ("A.x", 2), ("f", 1), ("f.<locals>.g", 1), ("h", 1)):
        changed = discarded(source, function)
        assert changed is not None
        compile(changed, "x", "exec")
        assert changed.count(b"(BaseException,)") == 1
    assert discarded(source, ("nowhere", 1)) is None
    assert discarded(source, ("h", 1)) != discarded(source, ("h", 1))  # nothing by which a body could know it


class Recorder:
    """A back end that notes how it is asked to start, and does not."""

    name = "recorder"
    launch: Launch | None = None

    async def start(self, launch: Launch) -> Channel:
        self.launch = launch
        raise SandboxError("noted")


async def test_the_runner_starts_with_one_thread_per_numerical_library(workspace: Workspace) -> None:
    """A thread per core, started when the library is imported, would keep it from being preloaded."""
    backend: Any = Recorder()
    with pytest.raises(SandboxError, match="noted"):
        await Worker(backend, workspace).run(job("pass"))
    assert backend.launch is not None
    variables = backend.launch.variables
    assert {variables.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")} == {"1"}
