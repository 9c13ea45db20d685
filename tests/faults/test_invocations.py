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
from faults.damaging import invoke
from faults.invocations import EXAMPLE, TABLE, Wrong, prepare

pytestmark = pytest.mark.slow
_SECONDS = 20  # of a busy machine; alone none takes a second


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the table, to which no invocation adds one."""
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        prepare(folder)
    return folder


@pytest.fixture
def place(folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder as the current one; nothing of the machine's own settings is seen."""
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("WORKBENCH_") and not name.endswith("_DIR")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return folder


def files(*folders: Path) -> set[str]:
    return {f"{root}/{name}" for folder in folders for root, _, names in os.walk(folder) for name in names}


def refused(message: str, printed: str, code: int, line: Wrong) -> None:
    assert code == line.code, (code, message, printed[-500:])
    assert all(word in message for word in line.words), message
    assert message.count("\n") == 1, message
    assert message.endswith((".\n", "?\n")), message
    assert "Traceback" not in message + printed
    assert "defect" not in message + printed


@pytest.mark.parametrize("line", [line for line in TABLE if not line.shell], ids=lambda line: line.id)
def test_a_wrong_invocation_is_refused_in_one_sentence(line, place, home, monkeypatch):
    if line.settings is not None:
        (home / "config").mkdir(parents=True)
        content = line.settings if isinstance(line.settings, bytes) else line.settings.encode()
        (home / "config" / "config.toml").write_bytes(content)
    for name, value in line.environment.items():
        monkeypatch.setenv(name, value)
    before, began = files(place, home), time.monotonic()
    done = invoke(*(text.replace("~CWD", str(place)) for text in line.arguments))
    assert time.monotonic() - began < _SECONDS
    refused(done.err, done.out, done.code, line)
    assert files(place, home) - before == set()


@pytest.fixture
def program(place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The program as a shell calls it."""
    monkeypatch.setenv("W", f"{shlex.quote(sys.executable)} -m workbench")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("these lines need bash")
    return shell


@pytest.mark.parametrize("line", [line for line in TABLE if line.shell], ids=lambda line: line.id)
def test_wrong_surroundings_are_named_in_one_sentence(line: Wrong, program: str, place: Path, home: Path) -> None:
    before = files(place, home)
    done = subprocess.run(
        [program, "-c", line.shell], capture_output=True, text=True, errors="replace", timeout=_SECONDS + 40
    )
    refused(done.stderr or done.stdout, done.stdout if done.stderr else "", done.returncode, line)
    left = {name for name in files(place, home) - before if not name.endswith("config.toml")}
    if "report" in line.shell:
        # What a README says is looked up in a copy of the case, which stays in the cache.
        left = {name for name in left if not name.startswith(f"{home}/cache/")}
    assert left == set()


@pytest.mark.parametrize("command", ["cases", f"show {EXAMPLE} --json", f"report {EXAMPLE} --format html"])
def test_a_closed_pipe_ends_the_command_without_a_message(command: str, program: str, place: Path, home: Path) -> None:
    line = f"$W {command} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run([program, "-c", line], capture_output=True, text=True, timeout=_SECONDS + 40)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert done.returncode in {0, 1}
