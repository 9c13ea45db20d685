"""The parts of pytest skipped on the hot route make no difference: outcomes and messages equal those of the cold route."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.sandbox import Backend, Job, Limits, Report, Route, Workspace, pool

pytestmark = pytest.mark.sandbox

LIMITS = Limits(seconds=30, memory_mb=256, processes=48, disk_mb=64, file_mb=1)

MODULE = '"""Say."""\n\n\ndef say(text):\n    """Return the text."""\n    return text\n'

#: In this order: each test spoils the streams in a way that pytest repairs before the next one.
TESTS = r"""
import logging
import os
import subprocess
import sys

import pytest
from speech import say


def echo():
    subprocess.run(["sh", "-c", "echo out; echo err >&2"], check=True)


def test_prints_to_capsys(capsys):
    print(say("a"))
    assert capsys.readouterr().out == "a\n"


def test_prints_much():
    for _ in range(40):
        print(say("x") * 20_000)  # each below the largest file, all together beyond it
        os.write(2, b"y" * 20_000)


def test_prints_as_much_again():
    for _ in range(40):
        print(say("x") * 20_000)


def test_closes_the_descriptor():
    os.close(1)
    assert say(1) == 1


def test_descriptor_is_there_again():
    echo()
    os.write(1, say(b"there"))


def test_moves_the_descriptor(tmp_path):
    with open(tmp_path / "elsewhere", "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    assert say(2) == 2


def test_moved_descriptor_is_back(capfd):
    echo()
    assert capfd.readouterr() == ("out\n", "err\n"), say("")


def test_replaces_stdout(monkeypatch):
    sys.stdout = None
    assert say(3) == 3


def test_stdout_is_back(capsys):
    print(say("b"))
    assert capsys.readouterr().out == "b\n"


def test_capture_switched_off(capsys):
    with capsys.disabled():
        print(say("not captured"))
    print("captured")
    assert capsys.readouterr().out == "captured\n"


def test_log(caplog):
    logging.getLogger().warning(say("w"))
    assert caplog.messages == ["w"]
    assert logging.getLogger().handlers


def test_no_input():
    with pytest.raises(OSError):
        input(say(""))


def test_variable():
    assert say(os.environ["PYTEST_CURRENT_TEST"]).endswith("test_variable (call)")


@pytest.mark.parametrize("number", range(3))
def test_number(number):
    print("before", number)
    assert say(number) == number


class Odd(Exception):
    def __str__(self):
        return "an odd\nmessage" if say(1) else "another\none"


def test_raises():
    if say("fine") != "fine":
        raise Odd from ValueError("first")


def test_fails_by_call():
    if say("fine") != "fine":
        pytest.fail("by call", pytrace=False)
"""


def seen(report: Report) -> tuple[object, ...]:
    tests = sorted((test.id, test.outcome, test.message) for test in report.tests)
    return report.verdict, report.reason, tuple(tests)


@pytest.mark.slow
async def test_hot_reports_what_cold_reports(bubblewrap_backend: Backend, tmp_path: Path, workspace: Workspace) -> None:
    made = replace(workspace, root=tmp_path / "speech", own_modules=("speech",))
    made.root.mkdir()
    (made.root / "speech.py").write_text(MODULE)
    (made.root / "test_speech.py").write_text(TESTS)
    async with pool(bubblewrap_backend, made, workers=1, limits=LIMITS) as opened:
        for body in ("return text", "print(text)", "raise KeyError(text)"):
            content = MODULE.replace("return text", body).encode()
            job = Job("speech", (), "speech.py", content, LIMITS, Route.COLD, ("say", 1))
            cold = await opened.run(job)
            hot = await opened.run(replace(job, tests=tuple(test.id for test in cold.tests), route=Route.HOT))
            assert hot.route is Route.HOT, hot.slower
            assert seen(hot) == seen(cold)
            assert (body == "return text") == hot.passed, hot.failing
