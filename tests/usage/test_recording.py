"""What a run of a suite records: calls of public callables with literals, and commands with their files."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from needing_sandboxes import require

from workbench.sandbox import Job, Limits, Workspace, pool
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.sandbox.types import Report
from workbench.sandbox.workbench_runner.values import decode

CORE = """
import functools
import threading
from dataclasses import dataclass

_DEFAULT = object()


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


def anonymous(function):
    def wrapper(*args):
        return function(*args)
    return wrapper


def scale(number, by=2, /, *others, sign="+", marker=_DEFAULT):
    number = (number + sum(others)) * by
    return f"{sign}{number}"


@logged
def shout(text):
    return _private(text)


def _private(text):
    return text.upper()


@functools.lru_cache
def square(number):
    return number * number


one = anonymous(lambda number: number)
two = anonymous(lambda number: -number)
three = anonymous(lambda number: 3 * number)


def take(items):
    return items.pop()


def numbers(count):
    yield from range(count)


async def later(number):
    return number


def options(**options):
    return len(options)


def fails(number):
    if number < 0:
        raise ValueError(number)
    return None


def in_a_thread(number):
    found = []
    thread = threading.Thread(target=lambda: found.append(square(number)))
    thread.start()
    thread.join()
    return found[0]


class _Base:
    def __init__(self, start, step=1):
        self.total = start
        self.step = step

    def add(self, number):
        self.total += number * self.step
        return self.total

    def _hidden(self):
        return 1


class Sum(_Base):
    @staticmethod
    def zero(like):
        return type(like)()

    @classmethod
    def name(cls, prefix):
        return prefix + cls.__name__

    def add_twice(self, number):
        self._hidden()
        super().add(number)
        return self.add(number)


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value


class Bag(list):
    def __init__(self, text):
        super().__init__(text.split())

    def joined(self):
        return "+".join(self)


@dataclass
class Point:
    x: int
    y: int = 0

    def norm(self):
        return abs(self.x) + abs(self.y)


class Plain:
    def greet(self, name):
        return f"Hello, {name}"
"""

CLI = """
import sys

import click

from tool._core import shout


@click.group()
def cli():
    pass


@cli.command()
@click.argument("source", type=click.File())
@click.option("--out")
def upper(source, out):
    text = shout(source.read())
    if out:
        open(out, "w").write(text)
    else:
        print(text, end="")


def main(argv=None):
    for name in sys.argv[1:] if argv is None else argv:
        print(sys.stdin.read() if name == "-" else open(name).read())
    return 0
"""

TESTS = """
import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import tool
from tool import _core as core
from tool import cli


@pytest.fixture
def total():
    return core.Sum(10)


def test_functions():
    assert core.scale(1) == "+2"
    assert core.scale(1, 3, 4, 5, sign="-") == "-30"
    assert core.scale(object, 0) if False else True
    assert core.shout("a") == "A"
    assert core.square(3) == core.square(3) == 9
    assert core.one(1) == -core.two(1) == core.three(1) - 2
    assert core.take([1, 2]) == 2
    assert list(core.numbers(2)) == [0, 1]
    assert core.options() == 0 and core.options(a=1) == 1
    assert core.in_a_thread(5) == 25
    assert core.later(1).close() is None
    with pytest.raises(TypeError):
        core.shout.__wrapped__()
    with pytest.raises(AttributeError):
        core.shout(object())


def test_none_is_a_result_and_an_exception_is_not():
    core.fails(1)
    with pytest.raises(ValueError):
        core.fails(-1)


def test_objects(total):
    assert total.add(1) == 11
    assert total.add(1) == 12
    assert core.Sum(10).add(1) == 11
    assert core.Sum(0, step=2).add_twice(1) == 4
    assert core.Sum.zero("x") == "" and core.Sum.name("a") == "aSum"
    assert core.Slotted(3).get() == 3
    assert core.Bag("a b").joined() == "a+b"
    assert core.Point(-1, 2).norm() == 3
    assert core.Plain().greet("you") == "Hello, you"
    assert core.Point(object(), 1) is not None


def test_click(tmp_path):
    (tmp_path / "in.txt").write_text("text")
    (tmp_path / "big.txt").write_text("x" * 30_000)
    runner = CliRunner()
    runner.invoke(cli.cli, ["upper", str(tmp_path / "in.txt")])
    runner.invoke(cli.cli, ["upper", str(tmp_path / "in.txt"), f"--out={tmp_path / 'out.txt'}"])
    runner.invoke(cli.cli, ["upper", str(tmp_path / "big.txt")])
    runner.invoke(cli.cli, "upper -", input="from input")
    runner.invoke(cli.upper, ["-"], input=b"bytes")
    with runner.isolated_filesystem():
        Path("here.txt").write_text("here")
        runner.invoke(cli.cli, ["upper", "here.txt"])


def test_main(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("a")
    assert cli.main([str(tmp_path / "a.txt")]) == 0
    monkeypatch.setattr(sys, "argv", ["reader", "-"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("typed"))
    assert cli.main() == 0


def test_processes(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.txt").write_text("b")
    subprocess.run([sys.executable, "-m", "tool", tmp_path / "folder" / "b.txt"], check=True)
    subprocess.run([sys.executable, "-m", "tool", "-"], input="piped", text=True, check=True)
    subprocess.run(["reader", "b.txt"], cwd=tmp_path / "folder", check=True)
    subprocess.run("reader -", shell=True, stdin=subprocess.DEVNULL, check=True)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    with subprocess.Popen([sys.executable, "-m", "tool", "-"], stdin=subprocess.PIPE) as process:
        process.stdin.write(b"by hand")
"""

FILES = {
    "tool/__init__.py": "from tool._core import scale, shout\n",
    "tool/__main__.py": "import sys\n\nfrom tool.cli import main\n\nsys.exit(main())\n",
    "tool/_core.py": CORE,
    "tool/cli.py": CLI,
    "tests/test_tool.py": TESTS,
}

ENTRY_POINTS = "[console_scripts]\nreader = tool.cli:main\nshouter = tool.cli:cli\n"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    require(Bubblewrap().problem())
    root = tmp_path_factory.mktemp("recorded")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    mounts = dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()))
    script = f"#!{sys.executable}\nimport sys\nfrom tool.cli import main\nsys.exit(main())\n"
    workspace = Workspace(
        root=root,
        python=Path(sys.prefix) / "bin" / "python",
        mounts=tuple(mount for mount in mounts if not mount.is_relative_to("/usr")),
        own_modules=("tool",),
        metadata=(("tool-1.0.dist-info/entry_points.txt", ENTRY_POINTS), ("bin/reader", script)),
    )

    async def run() -> Report:
        async with pool(Bubblewrap(), workspace, workers=1, limits=Limits(seconds=60)) as workers:
            return await workers.run(Job("recorded", record=True, limits=Limits(seconds=60)))

    return asyncio.run(run())


def _callables(report: Report) -> dict[str, Any]:
    assert report.calls is not None
    return {each["qualname"]: each for each in report.calls["callables"]}


def _made(report: Report, qualname: str) -> list[tuple[Any, ...]]:
    """Return ``(arguments of the constructor, inputs, result)`` of each call."""
    return [
        (
            None if call["self"] is None else tuple(map(decode, call["self"])),
            tuple(map(decode, call["inputs"])),
            decode(call["result"]),
        )
        for call in _callables(report)[qualname]["calls"]
    ]


def _commands(report: Report) -> list[tuple[Any, ...]]:
    assert report.calls is not None
    return [(each["program"], each["argv"], each["files"], each["stdin"]) for each in report.calls["commands"]]


def test_the_suite_passes_while_it_is_recorded(report: Report) -> None:
    assert report.passed, (report.detail, report.tests)


@pytest.mark.parametrize(
    ("qualname", "calls"),
    [
        ("scale", [(None, (1, 2, (), "+"), "+2"), (None, (1, 3, (4, 5), "-"), "-30")]),
        ("shout", [(None, ("a",), "A"), (None, ("text",), "TEXT")]),
        ("square", [(None, (3,), 9), (None, (5,), 25)]),
        ("take", [(None, ([1, 2],), 2)]),
        ("in_a_thread", [(None, (5,), 25)]),
        ("fails", [(None, (1,), None)]),
        ("Sum.add", [((10, 1), (1,), 11), ((0, 2), (1,), 2)]),
        ("Sum.add_twice", [((0, 2), (1,), 4)]),
        ("Sum.zero", [(None, ("x",), "")]),
        ("Sum.name", [(None, ("a",), "aSum")]),
        ("Slotted.get", [((3,), (), 3)]),
        ("Bag.joined", [(("a b",), (), "a+b")]),
        ("Point.norm", [((-1, 2), (), 3)]),
        ("Plain.greet", [((), ("you",), "Hello, you")]),
    ],
)
def test_calls_with_literals_are_recorded_as_they_were_made(
    report: Report, qualname: str, calls: list[tuple[Any, ...]]
) -> None:
    assert all(call in _made(report, qualname) for call in calls)


def test_a_callable_has_its_place_and_parameters(report: Report) -> None:
    scale = _callables(report)["scale"]
    assert (scale["module"], scale["path"], scale["kind"]) == ("tool._core", "tool/_core.py", "function")
    assert CORE.splitlines()[scale["line"] - 1].startswith("def scale")
    assert [tuple(each.values()) for each in scale["parameters"]] == [
        ("number", "positional", None),
        ("by", "positional", "2"),
        ("others", "variadic", None),
        ("sign", "keyword", "'+'"),
    ]
    assert scale["calls"][0]["test"] == "tests/test_tool.py::test_functions"
    assert [each["name"] for each in _callables(report)["Sum.add"]["constructor"]] == ["start", "step"]


def test_private_and_local_names_are_not_recorded(report: Report) -> None:
    assert not {name for name in _callables(report) if "_private" in name or "_hidden" in name or "_Base" in name}
    assert "main" not in _callables(report)  # a command
    assert not {"one", "two", "three", "wrapper"} & set(_callables(report))  # which one was called cannot be told apart


def test_what_cannot_be_recorded_is_counted_with_its_reason(report: Report) -> None:
    assert report.calls is not None
    assert _callables(report)["fails"]["unliteral"] == {"an exception": 1}
    assert sum(_callables(report)["options"]["unliteral"].values()) == 1
    assert "argument text: a value of type object" in _callables(report)["shout"]["unliteral"]
    dropped = {each["name"] for each in report.calls["dropped"]}
    assert {"tool._core.numbers", "tool._core.later"} <= dropped


@pytest.mark.parametrize(
    "command",
    [
        ("shouter", ["upper", "in.txt"], {"in.txt": "text"}, ""),
        ("shouter", ["upper", "in.txt", "--out=out.txt"], {"in.txt": "text"}, ""),
        ("shouter", ["upper", "-"], {}, "from input"),
        ("shouter", ["upper", "-"], {}, "bytes"),
        ("shouter", ["upper", "here.txt"], {"here.txt": "here"}, ""),
        ("reader", ["a.txt"], {"a.txt": "a"}, ""),
        ("reader", ["-"], {}, "typed"),
        ("python -m tool", ["b.txt"], {"b.txt": "b"}, ""),
        ("python -m tool", ["-"], {}, "piped"),
        ("reader", ["b.txt"], {"b.txt": "b"}, ""),
        ("reader", ["-"], {}, ""),
    ],
)
def test_commands_are_recorded_with_their_files_and_input(report: Report, command: tuple[Any, ...]) -> None:
    assert command in _commands(report)


def test_no_other_commands_are_recorded(report: Report) -> None:
    assert len(_commands(report)) == 11
    assert report.calls is not None
    reasons = {(each["name"], each["reason"]) for each in report.calls["dropped"]}
    assert reasons >= {
        ("shouter", "a file of more than 20 kB"),
        ("python -m tool", "standard input that is written in parts"),
    }


def test_other_jobs_record_nothing(report: Report) -> None:
    assert Report.from_json({"job": "x", "verdict": "passed"}).calls is None
