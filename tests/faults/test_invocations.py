"""Every invocation in the table is refused at once, with its exit code and one sentence, and leaves no file behind."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults.invocations import TABLE
from faults.wrong import EXAMPLE, Wrong, prepare
from faults.wrong_surroundings import OUTPUTS

from workbench.cli import main

IN_PROCESS = [line for line in TABLE if not line.shell]
REAL = [line for line in TABLE if line.shell]
_SECONDS = 20  # of a busy machine; alone none takes a second
_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY")


@pytest.fixture
def place(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the table, as the current one; nothing of the machine's own settings is seen."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("WORKBENCH_") and not name.endswith("_DIR")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    prepare(folder)
    return folder


def files(*folders: Path) -> set[str]:
    return {f"{root}/{name}" for folder in folders for root, _, names in os.walk(folder) for name in names}


def refused(said: str, printed: str, code: int, line: Wrong) -> None:
    assert code == line.code, (code, said, printed[-500:])
    assert all(word in said for word in line.words), said
    assert said.count("\n") == 1, said
    assert said.endswith((".\n", "?\n")), said
    assert "Traceback" not in said + printed
    assert "defect" not in said + printed


def test_the_table_has_three_hundred_lines_and_none_twice() -> None:
    assert len(TABLE) >= 300
    seen = [(line.arguments, str(line.settings), tuple(line.environment.items()), line.shell) for line in TABLE]
    assert len(set(seen)) == len(seen)


@pytest.mark.slow
@pytest.mark.parametrize("line", IN_PROCESS, ids=lambda line: line.id)
def test_a_wrong_invocation_is_refused_in_one_sentence(
    line: Wrong, place: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if line.settings is not None:
        (home / "config").mkdir(parents=True)
        content = line.settings if isinstance(line.settings, bytes) else line.settings.encode()
        (home / "config" / "config.toml").write_bytes(content)
    for name, value in line.environment.items():
        monkeypatch.setenv(name, value)
    before, began = files(place, home), time.monotonic()
    code = main([text.replace("~CWD", str(place)) for text in line.arguments])
    assert time.monotonic() - began < _SECONDS
    said = capsys.readouterr()
    refused(said.err, said.out, code, line)
    assert files(place, home) - before == set()


@pytest.fixture
def program(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The program as a shell calls it."""
    monkeypatch.setenv("W", f"{shlex.quote(sys.executable)} -m workbench")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("these lines need bash")
    return shell


@pytest.mark.slow
@pytest.mark.parametrize("line", REAL, ids=lambda line: line.id)
def test_a_wrong_surrounding_is_told_in_one_sentence(line: Wrong, program: str, place: Path, home: Path) -> None:
    before = files(place, home)
    done = subprocess.run(
        [program, "-c", line.shell], capture_output=True, text=True, errors="replace", timeout=_SECONDS + 40
    )
    said = done.stderr or done.stdout
    refused(said, done.stdout if done.stderr else "", done.returncode, line)
    left = {name for name in files(place, home) - before if not name.endswith("config.toml")}
    if "report" in line.shell:
        # What a README says is looked up in a copy of the case, which stays in the cache.
        left = {name for name in left if not name.startswith(f"{home}/cache/")}
    assert left == set()


@pytest.mark.slow
@pytest.mark.parametrize("command", [*OUTPUTS, f"show {EXAMPLE} --json", f"report {EXAMPLE} --format html", "doctor"])
def test_a_reader_that_has_enough_ends_the_command_without_a_word(
    command: str, program: str, place: Path, home: Path
) -> None:
    line = f"$W {command} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run([program, "-c", line], capture_output=True, text=True, timeout=_SECONDS + 40)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert done.returncode in {0, 1}
