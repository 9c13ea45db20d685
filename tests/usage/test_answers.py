"""Answers tested in real sandboxes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from needing_sandboxes import require

from workbench.sandbox import Limits, Pool, Report, Route, Verdict, Workspace, pool
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.usage import verdicts
from workbench.usage.tasks import Call, Target
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
SLUG = tuple(Call((repr(text), repr("-")), repr("-".join(text.split()))) for text in ("a b", "c", "d e f", "g h"))
COMMAND = (
    Call(("'poem.txt'",), repr({"exit": 0, "stdout": "\x1b[1m3\x1b[0m\n"}), {"poem.txt": "one two\nthree\n"}),
    Call(("'poem.txt'",), repr({"exit": 1, "stdout": "\x1b[1m0\x1b[0m\n"}), {"poem.txt": ""}),
)
ENTRIES = (
    (Target("function", "pkg.slug", "src/pkg/words.py", 9), SLUG),
    (Target("command", "count FILE", "src/pkg/command.py", 5), COMMAND),
)
LIMITS = Limits(seconds=20, memory_mb=256, processes=48, disk_mb=64, file_mb=16)


def make_workspace(root: Path) -> Workspace:
    for name, text in PACKAGE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    mounts = dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()))
    python = Path(sys.prefix) / "bin" / "python"
    return Workspace(
        root=root,
        python=python,
        mounts=tuple(mount for mount in mounts if not mount.is_relative_to("/usr")),
        import_roots=("src",),
        own_modules=("pkg",),
        metadata=(("bin/count", f"#!{python}\nimport sys\nfrom pkg.command import main\nsys.exit(main())\n"),),
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pool]:
    require(Bubblewrap().problem())
    folder = tmp_path_factory.mktemp("usage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_CACHE_DIR", str(folder / "cache"))
        workspace = usage_workspace(make_workspace(folder / "project"), ENTRIES)
    async with pool(Bubblewrap(), workspace, workers=1, limits=LIMITS) as opened:
        yield opened


async def verdict(box: Pool, answer: str, position: int = 0) -> Report:
    calls = dict(enumerate(ENTRIES[position][1]))
    return verdicts.judge(await box.run(verdicts.job("answer", position, calls, answer, LIMITS)), calls)


GOOD = "from pkg import slug\n\ndef answer(text, separator):\n    return slug(text, separator)\n"


@pytest.mark.parametrize(("position", "answer"), [(0, GOOD), (1, 'count "$1"')], ids=["function", "command"])
@pytest.mark.asyncio(loop_scope="module")
async def test_right_answers_pass(box: Pool, position: int, answer: str) -> None:
    report = await verdict(box, answer, position)
    assert (report.verdict, report.detail, report.route) == (Verdict.PASSED, "", Route.HOT)
    assert [(test.value, test.called) for test in report.tests] == [
        (call.expected, True) for call in ENTRIES[position][1]
    ]
