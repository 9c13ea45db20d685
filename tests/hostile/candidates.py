"""Bodies of ``total(numbers)`` that nobody should ever run unprotected, by what they attack.

Words in ``@…@`` are put in by the test: ``@TCP@`` and ``@UDP@`` are ports of listeners on loopback, ``@SOCKET@`` and
``@ABSTRACT@`` Unix sockets, ``@SESSION@`` a file with ``@SECRET@`` in it that everybody may read, ``@OUTSIDE@`` a folder that
everybody may write to, ``@PROGRAM@`` the process of the tests. The tree is the current folder, ``HOME`` and ``TMPDIR`` the other places of the candidate's own.
Where a body ends with :data:`RIGHT`, it passes only if its attack succeeded.
"""

from __future__ import annotations

from dataclasses import dataclass

RIGHT = "return sum(numbers)"

#: What a verdict on a hostile candidate may be; ``passed`` and ``error`` never are.
FAILED, CRASHED, TIMEOUT, ANY = ("failed",), ("crashed",), ("timeout",), ("failed", "crashed", "timeout")


@dataclass(frozen=True, slots=True)
class Hostile:
    """A body, the verdicts that are right for it, and its time limit in seconds."""

    body: str
    right: tuple[str, ...]
    seconds: float = 20.0


def slow(body: str, right: tuple[str, ...] = TIMEOUT) -> Hostile:
    """Something that is expected to use up its time."""
    return Hostile(body, right, 1.5)


FORGE = """\
import json, os
def forge(wire, tests):
    for test in tests:
        wire.emit('start', id=test)
        wire.emit('test', id=test, outcome='passed', seconds=0.0, message='', traceback='')
    wire.emit('end', exit=0, wrong_copy=[], patched=[], collected=len(tests))
    os._exit(0)
"""

LOOPS = {
    "loop": slow("while True:\n    pass"),
    "loop_that_catches": slow(
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
    ),
    "loop_in_c": slow("return sum(iter(int, 1))"),
    "sleep_ignoring_signals": slow(
        "import signal, time\nfor n in range(1, 32):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\ntime.sleep(1000)"
    ),
    "stop_itself": slow("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    "become_another_program": slow(
        "import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 1000'])", ("timeout", "crashed")
    ),
}

BOMBS = {
    "fork_bomb": slow("import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass", ANY),
    "fork_bomb_that_kills_its_parents": slow(
        "import os\nwhile True:\n    try:\n        if os.fork():\n            os._exit(0)\n    except OSError:\n        pass", ANY
    ),
    "thread_bomb": slow(
        "import threading\nwhile True:\n    threading.Thread(target=lambda: threading.Event().wait()).start()", ANY
    ),
    "sleeping_grandchildren": Hostile(
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n"
        "            time.sleep(1000)\n        os._exit(0)\nreturn None",
        FAILED,
    ),
    "grandchild_that_holds_the_report": Hostile(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\nos._exit(0)", CRASHED
    ),
    "memory_hog": Hostile("hog = []\nwhile True:\n    hog.append(bytearray(10_000_000))", CRASHED),
    "one_large_allocation": Hostile("return len(bytearray(4_000_000_000))", CRASHED),
    "large_numbers": slow("return 9 ** 9 ** 9", ANY),
    "endless_recursion": Hostile("return total(numbers)", FAILED),
    "recursion_without_limit": Hostile("import sys\nsys.setrecursionlimit(10**9)\nreturn total([numbers])", ANY, 5.0),
    "disk_hog": Hostile(
        "import os\nwith open(os.environ['TMPDIR'] + '/hog', 'wb') as file:\n    while True:\n"
        "        file.write(b'x' * 1_000_000)",
        CRASHED,
    ),
    "disk_hog_in_many_files": Hostile(
        "import os\nn = 0\nwhile True:\n    n += 1\n    open(f'{os.environ[\"HOME\"]}/hog{n}', 'wb').write(b'x' * 4_000_000)", CRASHED
    ),
    "shared_memory_hog": Hostile(
        "n = 0\nwhile True:\n    n += 1\n    open(f'/dev/shm/hog{n}', 'wb').write(b'x' * 4_000_000)", ("crashed", "failed")
    ),
    "output_flood_below_python": slow(
        "import os\nwhile True:\n    os.write(1, b'x' * 65536)\n    os.write(2, b'x' * 65536)", ANY
    ),
    "flooded_report": slow(
        "import os\nwhile True:\n    for fd in range(3, 64):\n        try:\n"
        "            if 'pipe' in os.readlink('/proc/self/fd/%d' % fd):\n                os.write(fd, b'x' * 65536)\n"
        "        except OSError:\n            pass",
        ANY,
    ),
    "enormous_failure": Hostile("raise ValueError('x' * 50_000_000)", ("failed", "crashed")),
}  # fmt: skip

ENDS = {
    "exit": Hostile("import sys\nsys.exit(0)", FAILED),
    "os_exit": Hostile("import os\nos._exit(0)", CRASHED),
    "os_exit_in_a_thread": Hostile(
        "import os, threading\nthreading.Thread(target=lambda: os._exit(0)).start()\nthreading.Event().wait()", CRASHED
    ),
    "atexit": Hostile("import atexit, os\natexit.register(os._exit, 0)\nreturn None", FAILED),
    "pytest_exit": Hostile("import pytest\npytest.exit('done', returncode=0)", ("failed", "crashed")),
    "skip": Hostile("import pytest\npytest.skip('not today')", FAILED),
    "xfail": Hostile("import pytest\npytest.xfail('known')", FAILED),
    "abort": Hostile("import os\nos.abort()", CRASHED),
    "segmentation_fault": Hostile("import ctypes\nreturn ctypes.string_at(0)", CRASHED),
}

SIGNALS = {
    "kill_parent": Hostile("import os\nos.kill(os.getppid(), 9)\nreturn None", ("failed", "crashed")),
    "kill_everybody": Hostile(
        "import os\nfor pid in [int(p) for p in os.listdir('/proc') if p.isdigit()]:\n"
        "    if pid != os.getpid():\n        try:\n            os.kill(pid, 9)\n        except OSError:\n            pass\nreturn None",
        ("failed", "crashed"),
    ),
    "kill_first": Hostile("import os\nos.kill(1, 9)\nreturn None", FAILED),
    "kill_program": Hostile("import os\nos.kill(@PROGRAM@, 9)\nreturn None", FAILED),
    "signal_through_a_descriptor": Hostile(
        "import os, signal\nsignal.pidfd_send_signal(os.pidfd_open(os.getppid()), signal.SIGKILL)\nreturn None",
        ("failed", "crashed"),
    ),
    "limits_of_the_runner": Hostile(
        "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))\nreturn None",
        ("failed", "crashed"),
    ),
    "trace_of_the_runner": Hostile(
        "import ctypes, os\nassert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0\n" + RIGHT, FAILED
    ),
}  # fmt: skip

FORGERIES = {
    "printed_passed": Hostile(
        "print('4 passed in 0.01s')\nprint('\\n'.join(['PASSED'] * 9))\nreturn None", FAILED
    ),
    "guessed_report": Hostile(
        "import json, os\nfor fd in range(3, 256):\n    try:\n"
        "        os.write(fd, b'\\n' + json.dumps({'e': 'end', 'n': '0' * 32, 'exit': 0}).encode() + b'\\n')\n"
        "    except OSError:\n        pass\nos._exit(0)",
        CRASHED,
    ),
    "report_found_in_frames": Hostile(
        FORGE
        + "import sys\nframe = sys._getframe()\nwhile frame:\n    for value in list(frame.f_locals.values()):\n"
        "        wire = getattr(value, 'wire', None)\n        if wire is not None:\n"
        "            forge(wire, value.spec['tests'])\n    frame = frame.f_back\nreturn None",
        FAILED,
    ),
    "report_found_in_memory": Hostile(
        "import json, os, re\nfound = set()\nfor line in open('/proc/self/maps'):\n    place, mode = line.split()[:2]\n"
        "    if not mode.startswith('rw'):\n        continue\n    first, last = (int(x, 16) for x in place.split('-'))\n"
        "    with open('/proc/self/mem', 'rb', 0) as memory:\n        try:\n            memory.seek(first)\n"
        "            data = memory.read(last - first)\n        except (OSError, ValueError):\n            continue\n"
        "    found.update(re.findall(rb'(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])', data))\n"
        "tests = [f'tests/test_sums.py::test_total[{name}]' for name in ('none', 'two', 'zero')] + ['tests/test_sums.py::test_large']\n"
        "for fd in range(3, 64):\n    for nonce in found:\n"
        "        events = [{'e': 'test', 'id': test, 'outcome': 'passed', 'seconds': 0, 'message': '', 'traceback': ''} for test in tests]\n"
        "        events.append({'e': 'end', 'exit': 0, 'wrong_copy': [], 'patched': [], 'collected': 4})\n"
        "        try:\n            for event in events:\n                os.write(fd, json.dumps(dict(event, n=nonce.decode())).encode() + b'\\n')\n"
        "        except OSError:\n            break\nos._exit(0)",
        ("failed", "crashed"),
    ),
    "reporter_patched": Hostile(
        "import sys\nmodule = sys.modules.get('workbench_runner.child')\n"
        "module.Reporter._report = lambda self, nodeid, phases: self.wire.emit('test', id=nodeid, outcome='passed', seconds=0, message='', traceback='')\n"
        "old = module.finish\nmodule.finish = lambda wire, reporter, code: old(wire, reporter, 0)\nreturn None",
        FAILED,
    ),
    "patched_runner": Hostile(
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\nreturn sum(numbers)", FAILED
    ),
    "patched_reports": Hostile(
        "import _pytest.reports\nold = _pytest.reports.TestReport.from_item_and_call.__func__\n"
        "def forged(cls, item, call):\n    call.excinfo = None\n    return old(cls, item, call)\n"
        "_pytest.reports.TestReport.from_item_and_call = classmethod(forged)\nreturn None",
        FAILED,
    ),
    "patched_assertion": Hostile("import builtins, pytest\nbuiltins.AssertionError = pytest.skip.Exception\nreturn None", FAILED),
    "replaced_pytest": Hostile(
        "import sys, types\nfor name in list(sys.modules):\n    if 'pytest' in name:\n        sys.modules[name] = types.ModuleType(name)\nreturn None",
        ANY,
    ),
    "closed_descriptors": Hostile("import os\nos.closerange(0, 4096)\nreturn None", ("failed", "crashed")),
    "exchanged_descriptors": Hostile(
        "import os\nquiet = os.open(os.devnull, os.O_RDWR)\nfor fd in range(3, 64):\n    try:\n        os.dup2(quiet, fd)\n"
        "    except OSError:\n        pass\nreturn None",
        ("failed", "crashed"),
    ),
    "edited_tests": Hostile(
        "import glob\nfor name in glob.glob('tests/*.py'):\n"
        "    open(name, 'w').write('def test_total(): pass\\ndef test_large(): pass\\n')\nreturn None",
        FAILED,
    ),
    "planted_conftest": Hostile(
        "for name in ('conftest.py', 'tests/conftest.py', 'sitecustomize.py', 'usercustomize.py'):\n"
        "    open(name, 'w').write('import os\\nos._exit(0)\\n')\n"
        "open('pytest.ini', 'w').write('[pytest]\\naddopts = --co\\n')\nreturn None",
        FAILED,
    ),
}  # fmt: skip

NETWORK = {
    "connection": Hostile(
        "import socket\nsocket.create_connection(('127.0.0.1', @TCP@), timeout=2).sendall(b'x')\n" + RIGHT, FAILED
    ),
    "datagram": Hostile(
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', @UDP@))\nreturn None", FAILED
    ),
    "connection_from_a_grandchild": Hostile(
        "import os, socket\npid = os.fork()\nif pid == 0:\n    os.setsid()\n    try:\n"
        "        socket.create_connection(('127.0.0.1', @TCP@), timeout=2)\n        os._exit(0)\n    except BaseException:\n"
        "        os._exit(1)\nassert os.waitpid(pid, 0)[1] == 0\n" + RIGHT,
        FAILED,
    ),
    "unix_socket": Hostile(
        "import socket\nsocket.socket(socket.AF_UNIX).connect('@SOCKET@')\n" + RIGHT, FAILED
    ),
    "abstract_unix_socket": Hostile(
        "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0@ABSTRACT@')\n" + RIGHT, FAILED
    ),
    "name_lookup": Hostile("import socket\nsocket.getaddrinfo('example.org', 80)\n" + RIGHT, FAILED),
    "raw_socket": Hostile("import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n" + RIGHT, FAILED),
}  # fmt: skip

READERS = {
    "session_file": Hostile("assert '@SECRET@' in open('@SESSION@').read()\n" + RIGHT, FAILED),
    "session_file_by_a_hard_link": Hostile(
        "import os\nos.link('@SESSION@', 'link')\nassert '@SECRET@' in open('link').read()\n" + RIGHT, FAILED
    ),
    "session_file_through_another_process": Hostile(
        "import os\nfor pid in [p for p in os.listdir('/proc') if p.isdigit() and p != str(os.getpid())]:\n    try:\n"
        "        if '@SECRET@' in open(f'/proc/{pid}/root@SESSION@').read():\n            return sum(numbers)\n"
        "    except OSError:\n        pass\nreturn None",
        FAILED,
    ),
    "home_of_the_user": Hostile("import os\nassert os.listdir('@HOME@/.workbench-test')\n" + RIGHT, FAILED),
    "keys_in_the_environment": Hostile("import os\nassert '@SECRET@' in str(dict(os.environ))\n" + RIGHT, FAILED),
    "keys_in_other_environments": Hostile(
        "import os\nfor pid in [p for p in os.listdir('/proc') if p.isdigit()]:\n    try:\n"
        "        if b'@SECRET@' in open(f'/proc/{pid}/environ', 'rb').read():\n            return sum(numbers)\n"
        "    except OSError:\n        pass\nreturn None",
        FAILED,
    ),
    "passwords": Hostile("open('/etc/shadow').read()\n" + RIGHT, FAILED),
    "memory_of_the_runner": Hostile("import os\nopen(f'/proc/{os.getppid()}/mem', 'r+b').read(1)\n" + RIGHT, FAILED),
    "descriptors_of_the_runner": Hostile(
        "import os\nfor name in os.listdir(f'/proc/{os.getppid()}/fd'):\n    try:\n"
        "        os.open(f'/proc/{os.getppid()}/fd/{name}', os.O_RDWR)\n    except OSError:\n        continue\n"
        "    return sum(numbers)\nreturn None",
        FAILED,
    ),
    "files_by_handle": Hostile(
        "import ctypes\nbuffer = ctypes.create_string_buffer(136)\nbuffer[0] = b'\\x80'\nmount = ctypes.c_int()\n"
        "assert ctypes.CDLL(None).name_to_handle_at(-100, b'/', buffer, ctypes.byref(mount), 0) == 0\n"
        "assert ctypes.CDLL(None).open_by_handle_at(3, buffer, 0) >= 0\n" + RIGHT,
        FAILED,
    ),
    "keyring": Hostile("import ctypes\nassert ctypes.CDLL(None).syscall(250, 0, -3, 0) > 0\n" + RIGHT, FAILED),
}  # fmt: skip

WRITERS = {
    f"write_to_{place.strip('/').replace('/', '_') or 'the_root'}": Hostile(f"open('{place}/left', 'w')\n{RIGHT}", FAILED)
    for place in ("@OUTSIDE@", "/", "/usr", "/etc", "/dev", "/var", "/home", "/var/tmp", "/proc/sys/kernel")
} | {
    "write_to_the_runner": Hostile(
        "import glob, os\nhere = os.path.dirname(os.environ['HOME'])\n"
        "for name in ('/runner/workbench_runner/child.py', here + '/runner/workbench_runner/child.py'):\n"
        "    if os.path.exists(name):\n        open(name, 'a').write('import os\\nos._exit(0)\\n')\n" + RIGHT,
        FAILED,
    ),
    "write_to_site_packages": Hostile(
        "import os, pytest\nopen(os.path.dirname(pytest.__file__) + '/left.pth', 'w')\n" + RIGHT, FAILED
    ),
    "delete_the_environment": Hostile(
        "import os, sys\nos.rename(sys.prefix, sys.prefix + '-gone')\n" + RIGHT, FAILED
    ),
    "become_root": Hostile("import os\nos.setuid(0)\n" + RIGHT, FAILED),
    "mount": Hostile(
        "import ctypes, os\nassert ctypes.CDLL(None).mount(b'none', os.environ['TMPDIR'].encode(), b'tmpfs', 0, None) == 0\n" + RIGHT, FAILED
    ),
    "new_user_namespace": Hostile("import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0\n" + RIGHT, FAILED),
    "device": Hostile("import os, stat\nos.mknod('device', 0o600 | stat.S_IFBLK, os.makedev(254, 0))\n" + RIGHT, FAILED),
}  # fmt: skip

HOSTILE: dict[str, Hostile] = LOOPS | BOMBS | ENDS | SIGNALS | FORGERIES | NETWORK | READERS | WRITERS

#: Name → (what leaves something and passes, what passes only when nothing is found).
LEFT_BEHIND: dict[str, tuple[str, str]] = {
    name: (
        f"import os\nplace = {place}\nif not os.path.exists(place + '/left'):\n    os.makedirs(place + '/deep/er', exist_ok=True)\n"
        "    open(place + '/left', 'w').write('x')\n    open(place + '/.hidden', 'w').write('x')\n    os.chmod(place + '/deep', 0)",
        f"import os\nplace = {place}\nassert not os.path.exists(place + '/left') and not os.path.exists(place + '/deep')\n"
        "assert not os.path.exists(place + '/.hidden')",
    )
    for name, place in {
        "the_tree": "os.getcwd()",
        "the_tests": "os.getcwd() + '/tests'",
        "temporary": "os.environ['TMPDIR']",
        "home": "os.environ['HOME']",
        "bytecode": "os.getcwd() + '/__pycache__'",
        "metadata": "os.environ['PATH'].split(':')[0].rsplit('/', 1)[0]",
        "user_site": "os.environ['HOME'] + '/.local/lib/python3.11/site-packages'",
    }.items()
} | {
    "shared_memory": (
        "try:\n    open('/dev/shm/left', 'w').write('x')\nexcept PermissionError:\n    pass",
        "import os\nassert not os.path.exists('/dev/shm/left')",
    ),
    "start_up_files": (
        "import os\nhome = os.environ['HOME']\nfor name in ('.bashrc', '.profile', '.pdbrc', '.pythonrc', '.pytest.ini'):\n"
        "    open(f'{home}/{name}', 'w').write('x')",
        "import os\nassert os.listdir(os.environ['HOME']) == []",
    ),
    "bytecode_of_the_tests": (
        "import glob, os\nos.makedirs('tests/__pycache__', exist_ok=True)\n"
        "for name in glob.glob('tests/__pycache__/*.pyc') or ['tests/__pycache__/test_sums.cpython-311-pytest-9.2.0.pyc']:\n"
        "    open(name, 'wb').write(b'left')",
        "import glob\nassert not any(open(name, 'rb').read() == b'left' for name in glob.glob('tests/__pycache__/*.pyc'))",
    ),
    "changed_and_deleted_files": (
        "import shutil\nshutil.rmtree('tests', ignore_errors=True)\nopen('sums.py', 'w').write('broken')",
        "import os\nassert os.path.exists('tests/test_sums.py') and 'broken' not in open('sums.py').readline()",
    ),
    "semaphores_and_segments": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmget(4711, 4096, 0o1666)\nlibc.semget(4711, 1, 0o1666)\nlibc.msgget(4711, 0o1666)",
        "import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.shmget(4711, 4096, 0) == libc.semget(4711, 1, 0) == libc.msgget(4711, 0) == -1",
    ),
    "processes": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True:\n            try:\n"
        "                open('alive', 'a').write('x')\n            except OSError:\n                pass\n"
        "            time.sleep(0.001)\n    os._exit(0)",
        "import os\nassert not os.path.exists('alive')\nmine = os.stat('/proc/self').st_uid\n"
        "def owner(pid):\n    try:\n        return os.stat('/proc/' + pid).st_uid\n    except OSError:\n        return None  # it ended\n"
        "assert len([p for p in os.listdir('/proc') if p.isdigit() and owner(p) == mine]) < 5",
    ),
}  # fmt: skip
