"""``workbench model``: whether the embedded model is here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.models.local_files import local_model_status


def test_status_says_what_the_files_say(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKBENCH_LOCAL_MODEL_PATH", raising=False)
    status = local_model_status()
    assert main(["model", "--json"]) == (0 if status.present else 1)
    told = json.loads(capsys.readouterr().out)
    assert (told["present"], told["detail"]) == (status.present, status.detail)


def test_a_chosen_file_that_is_not_there_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WORKBENCH_LOCAL_MODEL_PATH", str(tmp_path / "gone.gguf"))
    assert main(["model", "status"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("✗")
    assert "gone.gguf does not exist" in out


@pytest.mark.model
def test_install_finds_that_it_is_here_already(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_LOCAL_MODEL_PATH", raising=False)
    assert main(["model", "install"]) == 0
    captured = capsys.readouterr()
    assert "already installed" in captured.err
    assert captured.out.startswith("✓")


def test_an_unknown_action_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "remove"]) == 2
    assert "install" in capsys.readouterr().err
