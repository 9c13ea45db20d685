"""Code that nobody has read, at its worst: none passes, none escapes, none harms the next candidate."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.sandbox import Job, Limits, Pool, Reason, Route, Verdict

# One sandbox for the whole file: what a candidate harms, a later test would notice.
pytestmark = [pytest.mark.sandbox, pytest.mark.asyncio(loop_scope="module")]

TESTS = (
    "tests/test_sums.py::test_total[none]",
    "tests/test_sums.py::test_total[two]",
    "tests/test_sums.py::test_total[zero]",
    "tests/test_sums.py::test_large",
)
SHORT = Limits(seconds=3, memory_mb=256, processes=48, disk_mb=64, file_mb=16)


def candidate(body: str) -> bytes:
    lines = "\n".join("    " + line for line in body.splitlines())
    return f'"""Sums."""\n\n\ndef total(numbers):\n    """Return the sum of the numbers; 0 for none."""\n{lines}\n'.encode()


LONG = replace(SHORT, seconds=60)


def job(body: str, route: Route = Route.AUTO) -> Job:
    # A busy machine must not turn a candidate that ought to pass into a timeout.
    limits = LONG if body.endswith(RIGHT) else SHORT
    return Job("candidate", TESTS, "sums.py", candidate(body), limits, route, ("total", 1))


RIGHT = "return sum(numbers)"

#: name → (body, verdicts that are right for it)
HOSTILE: dict[str, tuple[str, set[Verdict]]] = {
    "loop": ("while True:\n    pass", {Verdict.TIMEOUT}),
    "loop_that_catches": (
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        {Verdict.TIMEOUT},
    ),
    "loop_in_c": ("return sum(iter(int, 1))", {Verdict.TIMEOUT}),
    "sleep": ("import time\ntime.sleep(1000)", {Verdict.TIMEOUT}),
    "sleep_ignoring_signals": (
        "import signal, time\nfor n in range(1, 32):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError):\n"
        "        pass\ntime.sleep(1000)",
        {Verdict.TIMEOUT},
    ),
    "fork_bomb": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        {Verdict.TIMEOUT, Verdict.CRASHED, Verdict.FAILED},
    ),
    "fork_bomb_in_sessions": (
        "import os\nwhile True:\n    try:\n        if os.fork() == 0:\n            os.setsid()\n    except OSError:\n        pass",
        {Verdict.TIMEOUT, Verdict.CRASHED, Verdict.FAILED},
    ),
    "thread_bomb": (
        "import threading\nwhile True:\n    threading.Thread(target=lambda: threading.Event().wait()).start()",
        {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMEOUT},
    ),
    "memory_hog": ("hog = []\nwhile True:\n    hog.append(bytearray(10_000_000))", {Verdict.CRASHED}),
    "memory_hog_in_children": (
        "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        hog = bytearray(100_000_000)\n        import time\n"
        "        time.sleep(1000)\nimport time\ntime.sleep(1000)",
        {Verdict.CRASHED, Verdict.TIMEOUT},
    ),
    "one_large_allocation": ("return len(bytearray(4_000_000_000))", {Verdict.CRASHED}),
    "endless_recursion": ("return total(numbers)", {Verdict.FAILED}),
    "recursion_without_limit": (
        "import sys\nsys.setrecursionlimit(10**9)\nreturn total([numbers])",
        {Verdict.CRASHED, Verdict.FAILED, Verdict.TIMEOUT},
    ),
    "exit": ("import sys\nsys.exit(0)", {Verdict.FAILED}),
    "system_exit": ("raise SystemExit(0)", {Verdict.FAILED}),
    "os_exit": ("import os\nos._exit(0)", {Verdict.CRASHED}),
    "os_exit_in_a_thread": (
        "import os, threading\nthreading.Thread(target=lambda: os._exit(0)).start()\nthreading.Event().wait()",
        {Verdict.CRASHED},
    ),
    "pytest_exit": ("import pytest\npytest.exit('done', returncode=0)", {Verdict.FAILED, Verdict.CRASHED}),
    "keyboard_interrupt": ("raise KeyboardInterrupt", {Verdict.FAILED, Verdict.CRASHED}),
    "skip": ("import pytest\npytest.skip('not today')", {Verdict.FAILED}),
    "xfail": ("import pytest\npytest.xfail('known')", {Verdict.FAILED}),
    "atexit": ("import atexit, os\natexit.register(os._exit, 0)\nreturn None", {Verdict.FAILED}),
    "printed_passed": ("print('4 passed in 0.01s')\nprint('\\n'.join(['PASSED'] * 9))\nreturn None", {Verdict.FAILED}),
    "abort": ("import os\nos.abort()", {Verdict.CRASHED}),
    "segmentation_fault": ("import ctypes\nreturn ctypes.string_at(0)", {Verdict.CRASHED}),
    "kill_parent": ("import os\nos.kill(os.getppid(), 9)\nreturn None", {Verdict.FAILED, Verdict.CRASHED}),
    "stop_parent": (
        "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nreturn None",
        {Verdict.FAILED, Verdict.TIMEOUT},
    ),
    "interrupt_parent": ("import os, signal\nos.kill(os.getppid(), signal.SIGINT)\nreturn None", {Verdict.FAILED}),
    "stop_itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", {Verdict.TIMEOUT}),
    "forged_report": (
        "import json, os\n"
        "for fd in range(3, 256):\n"
        "    try:\n"
        "        os.write(fd, b'\\n' + json.dumps({'e': 'end', 'n': '0' * 32, 'exit': 0}).encode() + b'\\n')\n"
        "    except OSError:\n"
        "        pass\n"
        "os._exit(0)",
        {Verdict.CRASHED},
    ),
    "closed_descriptors": ("import os\nos.closerange(0, 4096)\nreturn None", {Verdict.CRASHED, Verdict.FAILED}),
    "flooded_report": (
        "import os\n"
        "while True:\n"
        "    for fd in range(3, 64):\n"
        "        try:\n"
        "            if os.path.exists('/proc/self/fd/%d' % fd) and 'pipe' in os.readlink('/proc/self/fd/%d' % fd):\n"
        "                os.write(fd, b'x' * 65536)\n"
        "        except OSError:\n"
        "            pass",
        {Verdict.CRASHED, Verdict.TIMEOUT},
    ),
    "output_flood": ("while True:\n    print('x' * 100_000)", {Verdict.FAILED, Verdict.TIMEOUT, Verdict.CRASHED}),
    "disk_hog": (
        "with open('/tmp/hog', 'wb') as file:\n    while True:\n        file.write(b'x' * 1_000_000)",
        {Verdict.FAILED, Verdict.CRASHED},
    ),
    "many_files": (
        "n = 0\nwhile True:\n    n += 1\n    open(f'/tmp/hog{n}', 'wb').write(b'x' * 4_000_000)",
        {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMEOUT},
    ),
    "patched_runner": (
        "import _pytest.runner, _pytest.python\n"
        "_pytest.python.Function.runtest = lambda self: None\n"
        "return sum(numbers)",
        {Verdict.FAILED},
    ),
    "patched_reports": (
        "import _pytest.reports\n"
        "old = _pytest.reports.TestReport.from_item_and_call.__func__\n"
        "def forged(cls, item, call):\n"
        "    call.excinfo = None\n"
        "    return old(cls, item, call)\n"
        "_pytest.reports.TestReport.from_item_and_call = classmethod(forged)\n"
        "return None",
        {Verdict.FAILED},
    ),
    "patched_assertion": (
        "import builtins, pytest\nbuiltins.AssertionError = pytest.skip.Exception\nreturn None",
        {Verdict.FAILED},
    ),
    "edited_tests": (
        "import glob\n"
        "for name in glob.glob('/repo/tests/*.py'):\n"
        "    open(name, 'w').write('def test_total(): pass\\ndef test_large(): pass\\n')\n"
        "return None",
        {Verdict.FAILED},
    ),
    "network": (
        "import socket\ns = socket.create_connection(('127.0.0.1', 1), timeout=2)\nreturn sum(numbers)",
        {Verdict.FAILED},
    ),
    "name_lookup": ("import socket\nsocket.getaddrinfo('example.org', 80)\nreturn sum(numbers)", {Verdict.FAILED}),
    "limits_of_the_runner": (
        "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))\nreturn None",
        {Verdict.FAILED, Verdict.CRASHED},
    ),
    "memory_of_the_runner": (
        "import os\nopen(f'/proc/{os.getppid()}/mem', 'r+b').read(1)\nreturn sum(numbers)",
        {Verdict.FAILED},
    ),
    "mount": (
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0\n"
        "return sum(numbers)",
        {Verdict.FAILED},
    ),
    "new_user_namespace": (
        "import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0\nreturn sum(numbers)",
        {Verdict.FAILED},
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_candidate_never_passes_and_never_harms_the_next(shared_box: Pool, name: str) -> None:
    body, right = HOSTILE[name]
    report = await shared_box.run(job(body))
    assert report.verdict in right, (report.verdict, report.reason, report.detail)
    following = await shared_box.run(job(RIGHT))
    assert following.verdict is Verdict.PASSED, (following.reason, following.detail, following.failing)
    assert following.route is Route.HOT, following.slower


@pytest.mark.parametrize(
    "name", ["os_exit", "forged_report", "patched_runner", "patched_reports", "skip", "exit", "kill_parent"]
)
async def test_hostile_candidate_never_passes_cold(shared_box: Pool, name: str) -> None:
    body, right = HOSTILE[name]
    assert (await shared_box.run(job(body, Route.COLD))).verdict in right


async def test_grandchildren_in_their_own_session_die_with_the_candidate(shared_box: Pool) -> None:
    body = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        while True:\n"
        "            try:\n"
        "                open('/repo/alive', 'a').write('x')\n"
        "            except OSError:\n"
        "                pass\n"
        "            time.sleep(0.001)\n"
        "    os._exit(0)\n"
        "return sum(numbers)"
    )
    assert (
        await shared_box.run(job(body))
    ).verdict is Verdict.PASSED  # it does what it should; what it leaves is ours to end
    look = "import os\nassert not os.path.exists('/repo/alive')\nassert len([p for p in os.listdir('/proc') if p.isdigit()]) < 5"
    following = await shared_box.run(job(f"{look}\n{RIGHT}"))
    assert following.verdict is Verdict.PASSED, following.failing


@pytest.mark.parametrize("place", ["/repo", "/repo/tests", "/tmp", "/home/sandbox", "/dev/shm"])
async def test_nothing_is_left_for_the_next_candidate(shared_box: Pool, place: str) -> None:
    left = (
        "import os\n"
        f"if not os.path.exists('{place}/left'):\n"
        f"    os.makedirs('{place}/deep/er')\n"
        f"    open('{place}/left', 'w').write('x')\n"
        f"    os.chmod('{place}/deep', 0)"
    )
    assert (await shared_box.run(job(f"{left}\n{RIGHT}"))).verdict is Verdict.PASSED
    look = f"import os\nassert not os.path.exists('{place}/left') and not os.path.exists('{place}/deep')"
    following = await shared_box.run(job(f"{look}\n{RIGHT}"))
    assert following.verdict is Verdict.PASSED, following.failing


@pytest.mark.parametrize("place", ["/", "/usr", "/etc", "/dev", "/runner", "/runner/workbench_runner", "/home", "/var"])
async def test_nothing_can_be_written_elsewhere(shared_box: Pool, place: str) -> None:
    report = await shared_box.run(job(f"open('{place}/left', 'w')\n{RIGHT}"))
    assert report.verdict is Verdict.FAILED


async def test_changed_and_deleted_files_come_back(shared_box: Pool) -> None:
    vandal = (
        "import shutil\nshutil.rmtree('/repo/tests', ignore_errors=True)\nopen('/repo/sums.py', 'w').write('broken')"
    )
    assert (await shared_box.run(job(f"{vandal}\n{RIGHT}"))).verdict is Verdict.PASSED
    assert (await shared_box.run(job(RIGHT))).verdict is Verdict.PASSED


async def test_home_environment_and_files_of_the_user_are_not_visible(
    shared_box: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = secrets.token_hex(8)
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    (tmp_path / "session").write_text(secret)
    look = (
        "import os\n"
        f"assert {secret[:8]!r} + {secret[8:]!r} not in str(dict(os.environ))\n"
        f"assert not os.path.exists({str(tmp_path)!r})\n"
        f"assert not os.path.exists({str(Path.home() / '.ssh')!r})\n"
        "assert not os.path.exists('/etc/shadow')\n"
        "try:\n"
        "    open('/proc/1/environ', 'rb').read()\n"
        "    raise AssertionError('readable')\n"
        "except PermissionError:\n"
        "    pass"
    )
    report = await shared_box.run(job(f"{look}\n{RIGHT}"))
    assert report.verdict is Verdict.PASSED, report.failing


@pytest.mark.parametrize("route", [Route.AUTO, Route.COLD])
async def test_the_original_body_is_nowhere_on_disk(bubblewrap, workspace, route: Route) -> None:
    """Search every file that a candidate can read outside of the system and the environment."""
    from workbench.sandbox import pool

    mark = "mark" + secrets.token_hex(8)
    source = (workspace.root / "sums.py").read_text().replace("result", mark)
    (workspace.root / "sums.py").write_text(source)
    for folder in (".git", "build/lib", "sums.egg-info", "__pycache__", "dist"):
        (workspace.root / folder).mkdir(parents=True)
        (workspace.root / folder / "copy.py").write_text(source)
    look = (
        "import os\n"
        f"wanted = ({mark[:6]!r} + {mark[6:]!r}).encode()\n"
        "places = ['/repo', '/tmp', '/home', '/meta', '/dev/shm', '/runner', '/etc', '/var', '/run', '/opt']\n"
        "for place in places:\n"
        "    for folder, _, names in os.walk(place):\n"
        "        for name in names:\n"
        "            try:\n"
        "                data = open(os.path.join(folder, name), 'rb').read()\n"
        "            except OSError:\n"
        "                continue\n"
        "            assert wanted not in data, os.path.join(folder, name)"
    )
    async with pool(bubblewrap, workspace, workers=1, limits=SHORT) as opened:
        whole = await opened.run(Job("suite", limits=LONG))  # writes bytecode of the original
        assert whole.verdict is Verdict.PASSED
        report = await opened.run(job(f"{look}\n{RIGHT}", route))
    assert report.verdict is Verdict.PASSED, report.failing


async def test_out_of_memory_has_its_own_reason(shared_box: Pool) -> None:
    report = await shared_box.run(job(HOSTILE["memory_hog"][0]))
    assert (report.verdict, report.reason) == (Verdict.CRASHED, Reason.OUT_OF_MEMORY)


@pytest.mark.asyncio(loop_scope="function")
async def test_runner_keeps_its_descriptors_and_memory(box: Pool) -> None:
    """After many candidates, hostile ones among them, one and the same server still runs with what it had."""
    await box.run(job(RIGHT))
    look = "raise AssertionError(' '.join(line for line in open('/proc/1/status').read().splitlines() if line.startswith(('FDSize', 'VmRSS'))))"

    async def state() -> dict[str, int]:
        report = await box.run(job(look))
        words = report.failing[0].message.replace("AssertionError:", "").split()
        return {words[i].rstrip(":"): int(words[i + 1]) for i in range(len(words)) if words[i].endswith(":")}

    before = await state()
    for _ in range(15):
        assert (await box.run(job(RIGHT))).verdict is Verdict.PASSED
        assert (await box.run(job("import os\nos._exit(0)"))).verdict is Verdict.CRASHED
    after = await state()
    assert after["FDSize"] == before["FDSize"]
    assert after["VmRSS"] <= before["VmRSS"] * 1.05 + 1024
    assert box.workers[0].starts == 1
