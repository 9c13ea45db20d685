"""Usage tasks built from a small project in a real sandbox."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from needing_sandboxes import require
from tasks.made_up import environment_of, write

from workbench.base import typed_json
from workbench.regeneration.environment import Environment
from workbench.regeneration.suite import Rules, SuiteFailed
from workbench.sandbox import Limits, Verdict, pool
from workbench.sandbox.bubblewrap import Bubblewrap
from workbench.usage import verdicts
from workbench.usage.building import UsageTaskSet, build_usage_tasks
from workbench.usage.statements import statement
from workbench.usage.tree import usage_workspace

PROJECT = {
    "pyproject.toml": '[project]\nname = "pkg"\nversion = "1"\n[project.scripts]\nwords = "pkg.cli:main"\n',
    "README.md": "# pkg\n\nUse `words FILE`, or `pkg.slug(text)`.\n",
    "pkg/__init__.py": "from pkg._text import Table, capitalised, counted, joined, ordered, slug, titled, unique\n",
    "pkg/_text.py": '''import itertools, os

_counter = itertools.count()


def slug(text, separator="-", lower=True):
    return separator.join((text.lower() if lower else text).split())


def capitalised(text):
    """Fits what titled does to single words."""
    return text.capitalize()


def titled(text):
    return text.title()


def counted(text):
    """Differs in another order."""
    return f"{text}{next(_counter)}"


def unique(text):
    """Differs in another process."""
    return f"{text}{os.getpid()}"


def joined(words, made=object(), end="."):
    """Has a default that no literal constructs."""
    return " ".join(words) + end


def ordered(items):
    return items.sort()


class Table:
    def __init__(self, rows, width=3):
        self.rows, self.width = list(rows), width

    def line(self, number):
        return str(self.rows[number]).rjust(self.width)
''',
    "pkg/cli.py": """import argparse


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--top", type=int, default=0)
    chosen = parser.parse_args(argv)
    with open(chosen.file) as file:
        words = file.read().split()
    print(*sorted(words)[: chosen.top or None])
""",
    "tests/test_pkg.py": """import subprocess, sys

import pytest
import pkg
from pkg.cli import main


@pytest.mark.parametrize("text", ["a b", "C d", "e", "f  g"])
def test_slug(text):
    assert pkg.slug(text) == "-".join(text.lower().split())
    assert pkg.joined([text], end=text[0])[-1] == text[0]
    pkg.counted(text), pkg.unique(text), pkg.ordered([text, ""])


def test_separator():
    assert pkg.slug("a b", "_") == "a_b"
    assert pkg.slug("a b", "-") == "a-b"


@pytest.mark.parametrize("text", ["one", "two", "red rose", "three"])
def test_titled(text):
    assert pkg.titled(text) == text.title()


@pytest.mark.parametrize("text", ["one", "two", "x"])
def test_wrong(text):
    assert pkg.capitalised(text) == 3


@pytest.mark.parametrize("number", range(3))
def test_table(number):
    assert pkg.Table((1, 22, 333)).line(number).strip() == str((1, 22, 333)[number])


@pytest.mark.parametrize("text", ["x y", "b a", "c"])
def test_command(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text(text)
    main(["in.txt"])
    main(["--top", "1", "in.txt"])
""",
    "tests/test_missing.py": "import no_such_module\n",
}
LIMITS = Limits(seconds=20, memory_mb=256)


def environment(root: Path) -> Environment:
    """Return an environment in which the project looks installed."""
    made = environment_of(root)
    script = f"#!{made.python}\nimport sys\nfrom pkg.cli import main\nsys.exit(main())\n"
    info = "pkg-1.dist-info"
    entry_points = (f"{info}/entry_points.txt", "[console_scripts]\nwords = pkg.cli:main\n")
    metadata = (
        (f"{info}/METADATA", "Metadata-Version: 2.1\nName: pkg\nVersion: 1\n"),
        entry_points,
        ("bin/words", script),
    )
    return replace(made, workspace=replace(made.workspace, metadata=metadata))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def built(tmp_path_factory):
    require(Bubblewrap().problem())
    root = write(tmp_path_factory.mktemp("usage-building") / "project", PROJECT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_CACHE_DIR", str(root.parent / "cache"))
        tasks = await build_usage_tasks(root, environment(root), Bubblewrap(), limits=LIMITS)
        yield root, tasks


def named(built: UsageTaskSet):
    return {task.target.name: task for task in built.tasks}


def test_functions_methods_and_commands_become_tasks(built):
    _, found = built
    tasks = named(found)
    assert set(tasks) == {"words FILE", "words --top N FILE", "pkg.joined", "pkg.slug", "pkg.titled", "pkg.Table.line"}
    assert [task.target.kind for task in found.tasks][:2] == ["command", "command"]
    assert len(tasks["pkg.slug"].parameters) == 2
    assert "joined(a, end=b)" in tasks["pkg.joined"].target.reference
    assert all(len(task.shown) == 2 and task.hidden for task in found.tasks)
    assert all(len({call.expected for call in task.shown}) == 2 for task in found.tasks)
    assert found.tests == 4 + 1 + 4 + 3 + 3


def test_what_is_dropped_has_its_stage(built):
    _, found = built
    dropped = {one.id.rpartition("::")[2]: one.stage for one in found.dropped}
    assert dropped == {
        "pkg.counted": "replay", "pkg.unique": "replay", "pkg.ordered": "results", "pkg.capitalised": "literal",
    }  # fmt: skip
    assert found.stages["callables"] == len(found.tasks) + len(found.dropped)
    assert found.stages["original"] == len(found.tasks)


def test_the_shown_calls_are_those_that_few_others_fit(built):
    _, found = built
    assert "'red rose'" in {call.inputs[0] for call in named(found)["pkg.titled"].shown}
    assert {call.inputs[1] for call in named(found)["pkg.slug"].shown} == {"'-'", "'_'"}  # tells what it is for


def test_statements_name_the_package_and_no_callable(built):
    _, found = built
    for task in found.tasks:
        text = statement(task)
        assert task.package in text
        words = set(re.findall(r"\w+", text)) - {task.package}
        if task.target.kind != "command":
            assert words.isdisjoint(task.target.name.split("."))


def test_what_a_readme_should_name(built):
    _, found = built
    assert "words" in found.should_be_named
    assert {"pkg.slug", "pkg.titled"} <= set(found.should_be_named)
    assert not any(name.startswith("pkg.cli") for name in found.should_be_named)


@pytest.mark.asyncio(loop_scope="module")
async def test_references_pass_all_hidden_calls_and_stubs_none(built):
    root, found = built
    entries = [(task.target, (*task.shown, *task.hidden)) for task in found.tasks]
    workspace = usage_workspace(environment(root).workspace, entries)
    async with pool(Bubblewrap(), workspace, workers=1, limits=LIMITS) as workers:
        for position, task in enumerate(found.tasks):
            stub = "true" if task.target.kind == "command" else f"def answer({', '.join(task.parameters)}): pass"
            for answer, wanted in ((task.target.reference, Verdict.PASSED), (stub, Verdict.FAILED)):
                calls = verdicts.hidden_calls(task)
                report = await workers.run(verdicts.job("answer", position, calls, answer, LIMITS))
                assert verdicts.judge(report, calls).verdict == wanted, (task.id, report.tests)


def test_a_task_set_survives_its_file(built):
    _, found = built
    assert typed_json.convert(UsageTaskSet, typed_json.encode(found)) == found


@pytest.mark.asyncio(loop_scope="module")
async def test_a_project_without_tests_says_so(built, tmp_path: Path):
    root = write(tmp_path / "bare", {"pkg/__init__.py": "def one(): return 1\n"})
    with pytest.raises(SuiteFailed, match="no tests"):
        await build_usage_tasks(root, environment_of(root), Bubblewrap(), limits=LIMITS, rules=Rules(suite_seconds=30))
