"""``workbench usage tasks``: what is listed, cached, and said when there are no tasks."""

from __future__ import annotations

import json

import pytest
from needing_sandboxes import require
from tasks.made_up import environment_of, write

from workbench.cli import main
from workbench.engine import usage_building
from workbench.sandbox.bubblewrap import Bubblewrap

CODE = {
    "pkg/__init__.py": "def slug(text): return '-'.join(text.split())\ndef opened(file): return file\ndef one(a): return 1\n"
}
TESTS = "import pkg\ndef test_pkg():\n"
SLUG = TESTS + "    for text in ('a b', 'c', 'd e'): assert pkg.slug(text) == '-'.join(text.split())\n"


@pytest.fixture
def listed(tmp_path, monkeypatch, capsys):
    """Run the command on a project with these tests, in the interpreter that runs the tests."""
    require(Bubblewrap().problem())
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))

    async def set_up(case, snapshot, backend, progress):
        return environment_of(snapshot.root)

    monkeypatch.setattr(usage_building, "set_up", set_up)
    root = tmp_path / "project"

    def run(files, *options):
        write(root, {**CODE, **files})
        code = main(["usage", "tasks", str(root), "--sandbox", "bubblewrap", *options])
        return code, *capsys.readouterr()

    return run


def test_tasks_are_listed_and_cached(listed):
    files = {"tests/test_pkg.py": SLUG}
    code, output, _ = listed(files, "--json")
    task, summary = map(json.loads, output.splitlines())
    assert code == 0
    assert (task["type"], task["name"], len(task["shown"]), len(task["hidden"])) == ("task", "pkg.slug", 2, 1)
    assert (summary["tasks"], summary["cached"], summary["stages"]["original"]) == (1, False, 1)
    assert json.loads(listed(files, "--json")[1].splitlines()[-1])["cached"]
    assert not json.loads(listed(files, "--json", "--rebuild")[1].splitlines()[-1])["cached"]
    code, output, _ = listed(files)
    assert "pkg.slug" in output
    assert "1 task of 1" in output


MIXED = TESTS + "    [pkg.one(n) for n in range(5)]\n    pkg.opened(object())\n    pkg.slug('a')\n"


@pytest.mark.parametrize(
    ("tests", "sentences"),
    [
        ("def test_one(): pass\n", ["call no public function, method or command of its own"]),
        (
            MIXED,
            [
                "of its 3 callables",
                "1 take or return",
                "1 are called with fewer than three",
                "1 give the same result for every call",
            ],
        ),
    ],
)
def test_without_tasks_one_sentence_says_why(listed, tests, sentences):
    code, _, errors = listed({"tests/test_pkg.py": tests})
    assert code == 1
    assert [sentence for sentence in sentences if sentence not in errors] == [], errors
    assert "Traceback" not in errors
