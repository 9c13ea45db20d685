"""Pages that are no pages, and pages whose commands do harm: one clear sentence each, and nothing outside is touched."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from planted import README, write_project

from workbench import checking
from workbench.base.errors import UsageError
from workbench.checking import BlockVerdict, CheckResult, check
from workbench.checking.pages import LARGEST
from workbench.claims.claim import Truth
from workbench.claims.page import parse_page
from workbench.sandbox import NoIsolation

pytestmark = [pytest.mark.usefixtures("one_cache"), pytest.mark.xdist_group("checking")]

_SHELL = (
    "rm -rf {folder} ~ / ../..",
    "for i in 1 2 3 4; do sleep 300 & done; sleep 30",
    "sudo wordstat report",
    "nano notes.txt",
    ":(){{ :|:& }};:",
)
_PYTHON = (
    "import os, time\nfor _ in range(6):\n    os.fork()\ntime.sleep(60)",
    "import pathlib, shutil\nshutil.rmtree('{folder}', ignore_errors=True)\n"
    "pathlib.Path('{folder}').mkdir(parents=True, exist_ok=True)\npathlib.Path('{folder}/written.txt').write_text('inside')",
    "name = input('Your name? ')",
    "import sys\nsys.stdin.readline() or sys.exit('nobody answers')",
    "import socket\nserver = socket.create_server(('127.0.0.1', 0))\nserver.accept()",
    "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/')",
    "import os\nkey = os.environ['WORDSTAT_API_KEY']",
    "import subprocess\nsubprocess.run(['nvidia-smi'], check=True)",
    "import webbrowser\nwebbrowser.open('http://localhost:1')",
    "import os\nfor _ in range(9):\n    os.fork()",
    "import threading\nthreading.Thread(target=print).start()",
)
_BLOCKS = [
    *(("bash", code) for code in _SHELL),
    *(("python", code) for code in _PYTHON),
    ("bash", "wordstat index alpha"),
]
HARMFUL = "# wordstat\n" + "".join(f"\n```{language}\n{code}\n```\n" for language, code in _BLOCKS)


def checked(root: Path, readme: str, **how: float) -> CheckResult:
    (root / "README.md").write_text(readme)
    return asyncio.run(check(root, **how))


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.usefixtures("needs_bubblewrap")
def test_nothing_outside_is_touched(tmp_path: Path) -> None:
    """What deletes, forks, waits, serves or needs a network, root or an editor harms nobody and is no alarm."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "kept.txt").write_text("kept")
    root = write_project(tmp_path / "project")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    found = checked(root, HARMFUL.format(folder=precious), seconds=2.0)
    assert [path.name for path in precious.iterdir()] == ["kept.txt"]
    assert {path: path.read_bytes() for path in before} == before
    assert found.alarms == ()
    reasons = [block.reason for block in found.blocks]
    assert sum("did not end" in reason for reason in reasons) >= 3, [reason[:60] for reason in reasons]
    for words in ("input", "network", "root", "nano", "a key", "a GPU"):
        assert any(words in reason for reason in reasons), (words, reasons)
    # The page goes on after all of it, also after more processes than there may be.
    assert found.blocks[-1].verdict is BlockVerdict.WORKS, found.blocks[-1].reason


@pytest.mark.sandbox
@pytest.mark.usefixtures("needs_bubblewrap")
def test_a_project_that_does_not_install(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    (root / "backend.py").write_text("raise RuntimeError('this backend is broken')\n")
    found = checked(root, README)
    assert [problem for problem in found.problems if "could not be installed from its tree" in problem]
    assert all(block.verdict is BlockVerdict.NOT_RUN for block in found.blocks)
    assert all(claim.lookup.truth is not Truth.UNTRUE for claim in found.claims)


def test_without_a_sandbox_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.sandbox import bubblewrap

    monkeypatch.setattr(bubblewrap, "_candidates", lambda: ())
    with pytest.raises(NoIsolation, match="Nothing was run, because only an isolating sandbox"):
        checked(write_project(tmp_path), README)


@pytest.mark.sandbox
@pytest.mark.usefixtures("needs_bubblewrap")
@pytest.mark.parametrize("dependency", ["--target=/", "file:///etc", "wordstat-data @ https://example.org/x.whl"])
def test_a_dependency_that_is_no_name_is_not_given_to_an_installer(tmp_path: Path, dependency: str) -> None:
    root = write_project(tmp_path)
    declared = (root / "pyproject.toml").read_text()
    (root / "pyproject.toml").write_text(
        declared.replace('license = "MIT"', f'license = "MIT"\ndependencies = ["{dependency}"]')
    )
    problems = checked(root, README).problems
    assert f"'{dependency}' is not installed: it is not the name of a package in the registry." in problems


def test_the_runner_refuses_where_nothing_isolates_it(tmp_path: Path) -> None:
    """Outside of a namespace of its own it says so and runs nothing, whoever starts it."""
    step = {"id": 0, "kind": "shell", "code": f"touch {tmp_path}/touched", "line": 1}
    (tmp_path / "steps.json").write_text(json.dumps({"steps": [step]}))
    runner = Path(checking.__file__).parent / "runner" / "page_runner.py"
    given = [str(tmp_path / "steps.json"), str(tmp_path / "results.jsonl"), "5"]
    subprocess.run([sys.executable, "-I", str(runner), *given], check=True, timeout=60)
    said = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert said == [{"id": -1, "problem": "it is not process 1 of a namespace of its own"}]
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("README.md", b"x" * (LARGEST + 3_000_000), "README.md has 5.0 MB; pages of up to 2 MB are checked."),
        ("README.rst", b"Title\n=====\n", "README.rst is reStructuredText; only Markdown is checked."),
        ("README.md", b"\x00\x01\x02", "README.md is a binary file, not Markdown."),
    ],
    ids=["five megabytes", "reStructuredText", "binary"],
)
def test_what_is_no_page_is_told_in_a_sentence(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError) as told:
        asyncio.run(check(tmp_path, run=False))
    assert str(told.value) == sentence


def test_two_readmes_are_both_checked_and_a_bad_one_does_not_hide_the_other(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("No code here.")
    (tmp_path / "README.de.md").write_text("Siehe [hier](nirgends.md).")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "huge.md").write_bytes(b"x" * (LARGEST + 1))
    found = asyncio.run(check(tmp_path, run=False))
    assert set(found.pages) == {"README.md", "README.de.md"}
    assert [(one.path, one.line) for one in found.alarms] == [("README.de.md", 1)]
    assert "README.md has no blocks of code." in found.problems
    assert any(problem.startswith("docs/huge.md has 2.0 MB") for problem in found.problems)


def test_nested_fences_html_and_control_characters() -> None:
    text = "\x1b[31m# T\x00itle\n\n````markdown\n```bash\nrm -rf x\n```\n````\n\n<pre>\n$ rm -rf /\n</pre>\n\n```python\nx = 1\n```\n"
    page = parse_page(text, "README.md")
    assert [(code.line, code.info, code.code) for code in page.codes] == [
        (4, "markdown", "```bash\nrm -rf x\n```\n"),
        (14, "python", "x = 1\n"),
    ]
    assert "\x00" not in page.text
