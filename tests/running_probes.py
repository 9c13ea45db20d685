"""Runs the probes of readers in the test process, with values of the sandbox's own codec."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench.sandbox import workbench_runner
from workbench.sandbox.workbench_runner import values
from workbench.sandbox.workbench_runner.values import encode
from workbench.usage.literal import candidates
from workbench.usage.probing import AnswerAttempt, chosen, probe
from workbench.usage.tasks import Call, CallTarget, Kind, UsageTask

ROOT = Path(__file__).parents[1]
WORD_COUNTER = ROOT / "test_cases" / "word_counter"

Pairs = Sequence[tuple[tuple[Any, ...], Any]]


def function_task(name: str, pairs: Pairs, *, kind: Kind = "function", package: str = "pkg") -> UsageTask:
    shown = tuple(Call(tuple(map(encode, inputs)), encode(result)) for inputs, result in pairs)
    letters = tuple("abcdefgh"[: len(pairs[0][0])])
    return UsageTask(name, CallTarget(kind, name, "pkg.py", 1), package, letters, shown, ())


def import_package(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a module ``pkg`` with this source importable, and ``workbench_runner`` under the name it has in sandboxes."""
    (folder / "pkg.py").write_text(source)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setitem(sys.modules, "workbench_runner", workbench_runner)
    monkeypatch.setitem(sys.modules, "workbench_runner.values", values)
    monkeypatch.delitem(sys.modules, "pkg", raising=False)


def run_function(answer: str, inputs: Sequence[object] = ()) -> Any:
    """Return the result of an answer; see also :func:`import_package`."""
    scope: dict[str, Any] = {"__name__": "answer"}
    exec(compile(answer, "answer.py", "exec"), scope)
    return scope["answer"](*inputs)


def run_command(
    answer: str, repository: Path, cwd: Path, inputs: Sequence[str] = (), stdin: str = ""
) -> dict[str, Any]:
    """Return the result of a shell command that runs a project's modules."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, "PYTHONPATH": str(repository)}
    done = subprocess.run(
        ["sh", "-c", answer, "sh", *inputs], cwd=cwd, env=environ, input=stdin, stdout=-1, text=True, check=False
    )
    return {"exit": done.returncode, "stdout": done.stdout}


def read_function(page: str, task: UsageTask) -> AnswerAttempt | None:
    """Return what the reader ``literal`` chooses for a function or method."""
    attempts = candidates(page, task)
    return chosen(attempts, [encode(run_function(probe(attempts, task)))], task)
