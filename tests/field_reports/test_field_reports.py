"""Inputs that other people's programs, models and users produced: each ``check.py`` runs here, and so do its commands."""

from __future__ import annotations

import importlib.util
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from faults.damaging import invoke

HERE = Path(__file__).parent
NAMES = sorted(found.parent.name for found in HERE.glob("*/check.py"))

@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_what_was_reported_is_right(
    name: str, one_cache: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = HERE / name / "check.py"
    monkeypatch.setenv("WB", str(Path(sys.executable).with_name("workbench")))
    monkeypatch.setenv("CASE_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setattr(sys, "argv", [str(check)])
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("loop", HERE / "loop.py")
    assert spec is not None
    assert spec.loader is not None
    loop = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "loop", loop)
    spec.loader.exec_module(loop)

    def command(
        *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 0
    ) -> subprocess.CompletedProcess[str]:
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(cwd or loop.WORK)
            for variable, value in (env or {}).items():
                patched.setenv(variable, value)
            done = invoke(*map(str, words))
        return subprocess.CompletedProcess(words, done.code, done.out, done.err)

    monkeypatch.setattr(loop, "wb", command)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(check), run_name="__main__")
    assert ended.value.code == 0, capsys.readouterr().out
