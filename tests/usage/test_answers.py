"""Answers tested in real sandboxes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from needing_sandboxes import require
from usage.project import PYTHON, own_workspace

from workbench.base.errors import WorkbenchError
from workbench.sandbox import Limits, Pool, Reason, Report, Route, Verdict, Workspace, pool
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.usage import verdicts
from workbench.usage.tasks import Call, CallTarget
from workbench.usage.tree import usage_workspace

PACKAGE = {
    "src/pkg/__init__.py": "from pkg.words import Point, slug, spawned, threaded, boom\n",
    "src/pkg/words.py": """import dataclasses, subprocess, sys, threading


def decorated(function):
    return function


@decorated
def slug(text, separator='-'):
    return separator.join(text.lower().split())


@dataclasses.dataclass
class Point:
    x: int = 0


def spawned(text):
    return text


def threaded(text):
    return text


def boom(text):
    raise ValueError(text)


decorated(None)
""",
    "src/pkg/__main__.py": "import sys\nprint(len(sys.stdin.read().split()))\n",
    "src/pkg/command.py": """import sys
from pathlib import Path


def main():
    text = Path(sys.argv[1]).read_text() if len(sys.argv) > 1 else sys.stdin.read()
    if "-o" in sys.argv:
        Path("out.txt").write_text(text.upper())
    print(f"\\x1b[1m{len(text.split())}\\x1b[0m")
    return int(not text)
""",
    "src/pkg/tests/expected.txt": "a-b",
    "tests/test_words.py": "def test_slug(): pass",
    "tests/expected.json": '{"a b": "a-b"}',
    "spec/words_spec.py": "def test_slug(): pass",
    "spec/expected.json": '{"a b": "a-b"}',
    "docs/use.md": "slug('a b') == 'a-b'",
    "README.rst": "slug('a b') == 'a-b'",
    "conftest.py": "raise RuntimeError('conftest.py was imported')",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--no-such-option'\npython_files = '*_spec.py'\n",
    "data.json": "{}",
}
SLUG = tuple(
    Call((repr(text), repr("-")), repr("-".join(text.split())))
    for text in ("a b", "c", "d e f", "g h", "i j", "k l", "m n")
)
COMMAND = (
    Call(("'poem.txt'",), repr({"exit": 0, "stdout": "\x1b[1m3\x1b[0m\n"}), {"poem.txt": "one two\nthree\n"}),
    Call(("'poem.txt'",), repr({"exit": 1, "stdout": "\x1b[1m0\x1b[0m\n"}), {"poem.txt": ""}),
)
ENTRIES = (
    (CallTarget("function", "pkg.slug", "src/pkg/words.py", 9), SLUG),
    (CallTarget("command", "count FILE", "src/pkg/command.py", 5), COMMAND),
)
LIMITS = Limits(seconds=20, memory_mb=256, processes=48, disk_mb=64, file_mb=16)


def make_workspace(root: Path) -> Workspace:
    script = f"#!{PYTHON}\nimport sys\nfrom pkg.command import main\nsys.exit(main())\n"
    return own_workspace(root, PACKAGE, ("bin/count", script))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    require(Bubblewrap().problem())
    folder = tmp_path_factory.mktemp("usage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_CACHE_DIR", str(folder / "cache"))
        workspace = usage_workspace(make_workspace(folder / "project"), ENTRIES)
    async with pool(Bubblewrap(), workspace, workers=1, limits=LIMITS) as opened:
        yield opened


async def verdict(box: Pool, answer: str, position: int = 0, seconds: float = LIMITS.seconds) -> Report:
    calls = dict(enumerate(ENTRIES[position][1]))
    limits = replace(LIMITS, seconds=seconds)
    return verdicts.judge(await box.run(verdicts.job("answer", position, calls, answer, limits)), calls)


GOOD = "from pkg import slug\n\ndef answer(text, separator):\n    return slug(text, separator)\n"
OWN = "def answer(text, separator):\n    return separator.join(text.split())\n"


@pytest.mark.parametrize(("position", "answer"), [(0, GOOD), (1, 'count "$1"')], ids=["function", "command"])
@pytest.mark.asyncio(loop_scope="module")
async def test_right_answers_pass(box: Pool, position: int, answer: str) -> None:
    report = await verdict(box, answer, position)
    assert (report.verdict, report.detail, report.route) == (Verdict.PASSED, "", Route.HOT)
    assert [(test.value, test.called) for test in report.tests] == [
        (call.expected, True) for call in ENTRIES[position][1]
    ]


@pytest.mark.parametrize("route", [Route.WARM, Route.COLD])
@pytest.mark.asyncio(loop_scope="module")
async def test_every_route_passes_results_on(box: Pool, route: Route) -> None:
    calls = dict(enumerate(SLUG))
    report = await box.run(replace(verdicts.job("answer", 0, calls, GOOD, LIMITS), route=route))
    assert (report.route, verdicts.judge(report, calls).verdict) == (route, Verdict.PASSED)


def body(*lines: str) -> str:
    return "def answer(text, separator):\n" + "".join(f"    {line}\n" for line in lines)


ANSWERS = {
    "not Python": ("def answer(:", Verdict.INVALID, "not Python"),
    "no text": ("answer = '\udcff\0'", Verdict.INVALID, "not Python"),
    "empty": ("", Verdict.INVALID, "no function"),
    "three functions, no answer": ("def a(): 1\ndef b(): 2\ndef c(): 3", Verdict.INVALID, "a, b, c"),
    "not a function": ("answer = 3", Verdict.INVALID, "of type int"),
    "three functions": (f"{GOOD}def a(): 1\ndef b(): 2\n", Verdict.PASSED, ""),
    "fails on import": (f"import no_such_module\n{GOOD}", Verdict.FAILED, "raised ModuleNotFoundError"),
    "exits on import": (f"raise SystemExit\n{GOOD}", Verdict.FAILED, "raised SystemExit"),
    "wrong": (body("return text"), Verdict.FAILED, "expected 'a-b', got 'a b'"),
    "another type": (body("return list(text)"), Verdict.FAILED, "got ['a', ' ', 'b']"),
    "too few parameters": ("def answer(text): 1", Verdict.FAILED, "raised TypeError"),
    "input": (body("return input()"), Verdict.FAILED, "raised EOFError"),
    "exit": (body("import sys", "sys.exit(0)"), Verdict.FAILED, "raised SystemExit"),
    "interrupts": (body("raise KeyboardInterrupt"), Verdict.FAILED, "raised KeyboardInterrupt"),
    "skips": (body("import pytest", "pytest.skip('passed')"), Verdict.FAILED, "raised Skipped"),
    "leaves": (body("import os", "os._exit(0)"), Verdict.CRASHED, ""),
    "never ends": (body("while True: pass"), Verdict.TIMEOUT, ""),
    "never ends on import": ("while True: pass", Verdict.TIMEOUT, ""),
    "recursion": (body("return answer(text, separator)"), Verdict.FAILED, "raised RecursionError"),
    "thread": (f"import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n{GOOD}", Verdict.PASSED, ""),
    "prints much": (f"print('x' * 10_000_000)\n{GOOD}", Verdict.PASSED, ""),
    "equals everything": (
        f"class E:\n    __eq__ = lambda *_: True\n    __hash__ = None\n    __repr__ = lambda _: \"'a-b'\"\n{body('return E()')}",
        Verdict.FAILED, "a value of type E",
    ),
    "a text with another equality": (f"class E(str):\n    __eq__ = lambda *_: True\n{body('return E()')}", Verdict.FAILED, "of type E"),
    "error without a text": (f"class E(Exception):\n    __str__ = None\n{body('raise E')}", Verdict.FAILED, "raised E"),
    "long": (body("return 'x' * 10_000_000"), Verdict.FAILED, "longer than"),
    "coroutine": ("async def answer(*_): return 1", Verdict.FAILED, "of type coroutine"),
    "does it itself": (OWN, Verdict.BYPASSED, "without calling"),
    "only imports": (f"import pkg, pkg.command\n{OWN}", Verdict.BYPASSED, ""),
    "redefines the package": (
        f"import sys, types\nsys.modules['pkg'] = fake = types.ModuleType('pkg')\nfake.slug = lambda t, s: s.join(t.split())\n{GOOD}",
        Verdict.BYPASSED, "",
    ),
    "patches the package": (f"import pkg\npkg.slug = lambda t, s: s.join(t.split())\n{GOOD}", Verdict.BYPASSED, ""),
    "another copy": (
        "import os, sys\nos.makedirs('/tmp/x/pkg')\n"
        "open('/tmp/x/pkg/__init__.py', 'w').write('def slug(t, s): return s.join(t.split())')\n"
        "[sys.modules.pop(name) for name in list(sys.modules) if name.startswith('pkg')]\nsys.path.insert(0, '/tmp/x')\n" + GOOD,
        Verdict.FAILED, "",
    ),
    "patches builtins": (f"import builtins\nbuiltins.sorted = lambda *_, **__: []\n{OWN}", Verdict.BYPASSED, ""),
    "patches the codec": (
        f"import workbench_runner.values as v, workbench_usage.harness as h\nv.encode = h.encode = lambda *_: \"'a-b'\"\n{body('return 1')}",
        Verdict.FAILED, "",
    ),
    "patches pytest": (
        f"import _pytest.reports as r\nr.TestReport.failed = False\nr.TestReport.passed = True\n{body('raise ValueError')}",
        Verdict.FAILED, "",
    ),
    "records itself": (
        body("import sys", "frame = sys._getframe()", "while 'record_property' not in frame.f_locals: frame = frame.f_back",
             "frame.f_locals['record_property']('workbench_value', 7)", "return text"),
        Verdict.FAILED, "got 'a b'",
    ),
    "looks for results": (
        "import os, pkg\n" + body(
            "paths = [os.path.join(folder, name) for folder, _, names in os.walk(os.getcwd()) for name in names]",
            "found = [path for path in paths if b'a-b' in open(path, 'rb').read()]",
            "return found or pkg.slug(text, separator)",
        ),
        Verdict.PASSED, "",
    ),
    "in a process": (
        body("import subprocess, sys", "code = 'import pkg, sys; print(pkg.slug(*sys.argv[1:]))'",
             "return subprocess.run([sys.executable, '-c', code, text, separator], stdout=-1).stdout.decode().strip()"),
        Verdict.PASSED, "",
    ),
    "in a thread": (
        "from concurrent.futures import ThreadPoolExecutor\nfrom pkg import slug\n" + body("return ThreadPoolExecutor().submit(slug, text, separator).result()"),
        Verdict.PASSED, "",
    ),
    "in what a decorator made": (f"from pkg.words import Point\n{body('Point(1)', 'return separator.join(text.split())')}", Verdict.PASSED, ""),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "expected", "words"), ANSWERS.values(), ids=ANSWERS)
@pytest.mark.asyncio(loop_scope="module")
async def test_strange_and_hostile_answers(box: Pool, answer: str, expected: Verdict, words: str) -> None:
    report = await verdict(box, answer, seconds=1.5 if expected is Verdict.TIMEOUT else LIMITS.seconds)
    assert report.verdict is expected, report
    assert words in " ".join([report.detail, *(test.message for test in report.tests)])
    assert (report.verdict is Verdict.PASSED) == (not report.detail)
    if report.reason is Reason.TESTS_FAILED:
        assert all(test.message.startswith("expected ") for test in report.failing)


COMMANDS = {
    "empty": ("  ", Verdict.INVALID, "empty"),
    "NUL": ("count \0", Verdict.FAILED, "raised ValueError"),
    "no such program": ('no-such-program "$1"', Verdict.FAILED, "'exit': 127"),
    "never ends": ("yes > /dev/null", Verdict.TIMEOUT, ""),
    "prints much": ('count "$1"; yes | head -c 10000000', Verdict.FAILED, "longer than"),
    "no text": (r"count; printf '\377'", Verdict.FAILED, r"\xff"),
    "leaves a process": ('sleep 600 & count "$1"', Verdict.PASSED, ""),
    "standard input": ('count < "$1"', Verdict.PASSED, ""),
    "writes a file": ('count "$1" -o', Verdict.FAILED, "'files': {'out.txt': 'ONE TWO"),
    "removes a file": ('count "$1"; rm "$1"', Verdict.FAILED, "'poem.txt': None"),
    "another program": (r"""printf '\033[1m%s\033[0m\n' $(wc -w < "$1"); test -s "$1" """, Verdict.BYPASSED, ""),
    "only imports": (r"""python -c 'import pkg'; printf '\033[1m%s\033[0m\n' $(wc -w < "$1"); test -s "$1" """, Verdict.BYPASSED, ""),
    "module": (r"""printf '\033[1m%s\033[0m\n' $(python -m pkg < "$1"); test -s "$1" """, Verdict.PASSED, ""),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "expected", "words"), COMMANDS.values(), ids=COMMANDS)
@pytest.mark.asyncio(loop_scope="module")
async def test_commands(box: Pool, answer: str, expected: Verdict, words: str) -> None:
    report = await verdict(box, answer, 1, seconds=1.5 if expected is Verdict.TIMEOUT else LIMITS.seconds)
    assert report.verdict is expected, report
    assert words in " ".join([report.detail, *(test.message for test in report.tests)])


def test_nothing_that_shows_results_is_in_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    secret = tmp_path / "secret"
    secret.write_text("a key")
    project = make_workspace(tmp_path / "project")
    (project.root / "src/pkg/key").symlink_to(secret)
    root = usage_workspace(project, ENTRIES).root
    names = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    package = {name for name in PACKAGE if name.startswith("src/pkg/") and name.endswith(".py")}
    ours = {f"workbench_usage/{name}" for name in ("answer.py", "harness.py", "test_0.py", "test_1.py")}
    assert names >= package | ours | {"data.json"}
    assert not names & (set(PACKAGE) - package - {"data.json", "pyproject.toml"})
    assert (root / "src/pkg/key").readlink() == secret  # the file itself stays out of the tree
    assert root == usage_workspace(project, ENTRIES).root  # named by its content
    (tmp_path / "cache" / "usage").rename(tmp_path / "away")
    (tmp_path / "cache" / "usage").touch()
    with pytest.raises(WorkbenchError, match="WORKBENCH_CACHE_DIR"):
        usage_workspace(project, ENTRIES)
