"""Trap: the answer leaks. A candidate searches everything that it can read for the body that it was to write.

Three marks stand in the original body and nowhere else: one in a comment (only source text holds it), one in a string
and one as a variable's name (bytecode and live code objects hold these as well).
"""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from workbench.sandbox import Job, Limits, Pool, Route, Verdict, Workspace, pool

from .conftest import HEAD, make_workspace

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

TESTS = ("tests/test_sums.py::test_large",)
LIMITS = Limits(seconds=100, memory_mb=768, processes=48, disk_mb=64, file_mb=16)
# Where copies lie around in a checkout that somebody has worked in.
LEFTOVERS = (
    ".git/objects/ab/blob", "build/lib/sums.py", "dist/sums.py", "sums.egg-info/sums.py", "__pycache__/sums.py",
    ".tox/py/lib/sums.py", ".venv/lib/python3/site-packages/sums.py", "venv/sums.py", ".eggs/sums.py",
    "pkg.dist-info/RECORD", "sums.pyc",
)  # fmt: skip

# The halves of a mark never stand side by side in the candidate: what it finds is not what it carries.
SEARCH = """
import gc, os, stat, sys

marks = [{marks}]
found = set()

def look(where, data):
    for first, second in marks:
        place = data.find(first)
        while place >= 0:
            end = place + len(first)
            if data[end : end + len(second)] == second:
                found.add(where)
                return
            place = data.find(first, end)
"""
# A file that has not changed since before the marks were drawn cannot hold them, and ctime cannot be set back.
FILES = """
def read(path):
    try:
        status = os.stat(path)
        if status.st_ctime < {since} and status.st_dev != os.stat("/proc").st_dev:
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        before = b""
        for _ in range(256):
            data = os.read(descriptor, 1 << 20)
            if not data:
                return
            look(path, before + data)
            before = data[-64:]
    except OSError:
        return
    finally:
        os.close(descriptor)

seen = 0
for top in ("/", "/proc"):
    for folder, folders, names in os.walk(top):
        # The kernel's own counters are no place for a body, and its tables of threads only repeat the processes'.
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/proc/sys")]
        folders[:] = [name for name in folders if top == "/" or name not in ("task", "net", "cwd", "root")]
        for name in names:
            if top == "/" or name not in ("kmsg", "kcore", "mem", "pagemap", "clear_refs"):
                seen += 1
                read(os.path.join(folder, name))
for pid in [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
    for link in ("cwd", "root", "fd", "map_files"):
        try:
            for name in os.listdir(f"/proc/{pid}/{link}"):
                read(f"/proc/{pid}/{link}/{name}")
        except OSError:
            continue
    try:
        open(f"/proc/{pid}/mem", "rb").close()
        found.add(f"/proc/{pid}/mem can be opened")
    except OSError:
        pass
assert seen > 1000, seen
"""
OBJECTS = """
import inspect, linecache, types

def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)

seen = 0
things = list(gc.get_objects())
for module in list(sys.modules.values()):
    things += list(getattr(module, "__dict__", {}).values())
    look("linecache", repr(linecache.cache).encode("utf-8", "replace"))
for thing in things:
    if isinstance(thing, types.FunctionType):
        for code in codes(thing.__code__):
            seen += 1
            look("code of " + thing.__qualname__, repr((code.co_consts, code.co_names, code.co_varnames)).encode())
look("inspect.getsource", inspect.getsource(sys.modules["sums"].total).encode())
look("inspect.getsource of the module", inspect.getsource(sys.modules["sums"]).encode())
assert seen > 100, seen
"""
MEMORY = """
seen = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in maps.readlines():
        words = line.split()
        if "r" not in words[1] or words[-1].startswith(("[vvar", "[vsyscall")):
            continue
        start, end = (int(part, 16) for part in words[0].split("-"))
        seen += end - start
        memory.seek(start)
        look("memory " + line.strip(), memory.read(end - start))
assert seen > 1_000_000, seen
"""
END = "assert not found, sorted(found)[:20]\nreturn sum(numbers)"


def candidate(marks: list[str], since: float, part: str) -> bytes:
    halves = ", ".join(f"({mark[:12].encode()!r}, {mark[12:].encode()!r})" for mark in marks)
    text = "\n".join([SEARCH.replace("{marks}", halves), part.replace("{since}", repr(since)), END])
    return (HEAD + "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())).encode()


class Marked:
    """A repository whose original body carries the marks, with copies of it wherever a checkout has some."""

    def __init__(self, workspace: Workspace) -> None:
        self.since = time.time() - 1.0
        self.marks = ["mark" + secrets.token_hex(10) for _ in range(3)]
        comment, text, name = self.marks
        self.workspace = workspace
        source = (workspace.root / "sums.py").read_text()
        source = source.replace("result = 0", f"result = 0  # {comment}\n    {name} = '{text}'\n    assert {name}")
        assert source.count("mark") == 4
        (workspace.root / "sums.py").write_text(source)
        for left in LEFTOVERS:
            (workspace.root / left).parent.mkdir(parents=True, exist_ok=True)
            (workspace.root / left).write_text(source)

    def job(self, part: str, route: Route) -> Job:
        return Job("search", TESTS, "sums.py", candidate(self.marks, self.since, part), LIMITS, route, ("total", 1))


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.sandbox),
        pytest.param("process", marks=[pytest.mark.sandbox, pytest.mark.nightly]),
        pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.nightly, pytest.mark.xdist_group("docker")]),
    ],
)
async def marked(request, tmp_path_factory):
    backend = request.getfixturevalue(f"{request.param}_backend")
    repository = Marked(make_workspace(tmp_path_factory.mktemp("marked") / "repository"))
    if request.param == "docker":
        mounts = (Path("/usr"), *repository.workspace.mounts)
        repository.workspace = replace(repository.workspace, mounts=mounts)
    async with pool(backend, repository.workspace, workers=1, limits=LIMITS) as opened:
        # The whole suite writes bytecode of the original, and a first candidate warms what stays warm.
        assert (await opened.run(Job("suite", limits=LIMITS))).passed
        original = (repository.workspace.root / "sums.py").read_bytes()
        first = Job("first", TESTS, "sums.py", original, LIMITS, Route.AUTO, ("total", 1))
        assert (await opened.run(first)).route is Route.HOT
        yield repository, opened


@pytest.mark.parametrize(
    ("part", "route"),
    [
        pytest.param(OBJECTS, Route.AUTO, id="live-objects"),
        pytest.param(OBJECTS, Route.WARM, marks=pytest.mark.nightly, id="live-objects-warm"),
        pytest.param(FILES, Route.COLD, id="files-and-proc"),
        pytest.param(MEMORY, Route.AUTO, id="memory"),
        pytest.param(MEMORY, Route.COLD, marks=pytest.mark.nightly, id="memory-cold"),
    ],
)
async def test_no_trace_of_the_original_body(marked: tuple[Marked, Pool], part: str, route: Route) -> None:
    repository, opened = marked
    report = await opened.run(repository.job(part, route))
    assert report.verdict is Verdict.PASSED, (report.detail, [test.message for test in report.failing])
    # Freed memory of a process that has imported the original holds pieces of it: who looks there gets another process.
    assert report.route is (Route.WARM if route is Route.WARM else Route.COLD)
    assert report.slower == ("it inspects its own process" if route is Route.AUTO else "")


@pytest.mark.parametrize(
    ("part", "place"), [(FILES, "/tmp/copy"), (OBJECTS, "live"), (MEMORY, "live")], ids=["files", "objects", "memory"]
)
async def test_the_search_finds_what_is_there(marked: tuple[Marked, Pool], part: str, place: str) -> None:
    """A search that finds nothing proves nothing unless it would have found something."""
    repository, opened = marked
    job = repository.job(part, Route.COLD)
    mark = repository.marks[1]
    planted = f"    copy = '-'.join(({mark[:12]!r}, {mark[12:]!r})).replace('-', '')\n"
    planted += f"    open({place!r}, 'w').write(copy)\n" if place.startswith("/") else ""
    planted += "    sys_ = __import__('sys').modules['sums']\n"
    planted += "    exec('def kept(): return ' + repr(copy), vars(sys_))\n"
    report = await opened.run(replace(job, content=job.content.replace(HEAD.encode(), (HEAD + planted).encode())))
    assert report.verdict is Verdict.FAILED, report.detail
    assert "AssertionError: [" in report.failing[0].message, report.failing
