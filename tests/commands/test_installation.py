"""``workbench locate`` and ``workbench model``: where things are kept, and whether the embedded model is here."""

from __future__ import annotations

import json

import pytest

from workbench.cli import main
from workbench.models.local_files import local_model_status


def test_places_as_bare_paths_as_json_and_for_people(home, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("WORKBENCH_SESSIONS_DIR", raising=False)
    assert main(["locate", "sessions"]) == 0
    assert capsys.readouterr().out == f"{home / 'data' / 'sessions'}\n"
    assert main(["locate", "--json"]) == 0
    places = json.loads(capsys.readouterr().out)
    assert (places["type"], places["cache"]) == ("places", str(home / "cache"))
    (home / "cache").mkdir(parents=True)
    assert main(["locate"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert set(lines) == set(places) - {"type"}
    assert "does not exist yet" in lines["logs"]
    assert "does not exist yet" not in lines["cache"]
    monkeypatch.setenv("WORKBENCH_SESSIONS_DIR", str(tmp_path / "elsewhere"))
    assert main(["locate", "sessions"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "elsewhere")
    assert main(["locate", "treasure"]) == 2
    assert "sessions" in capsys.readouterr().err


def test_the_status_of_the_model(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("WORKBENCH_LOCAL_MODEL_PATH", raising=False)
    status = local_model_status()
    assert main(["model", "--json"]) == (0 if status.present else 1)
    printed = json.loads(capsys.readouterr().out)
    assert (printed["present"], printed["detail"]) == (status.present, status.detail)
    monkeypatch.setenv("WORKBENCH_LOCAL_MODEL_PATH", str(tmp_path / "gone.gguf"))
    assert main(["model", "status"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("✗")
    assert "gone.gguf does not exist" in out
    assert main(["model", "remove"]) == 2
    assert "install" in capsys.readouterr().err


@pytest.mark.model
def test_install_finds_that_it_is_here_already(capsys, monkeypatch):
    monkeypatch.delenv("WORKBENCH_LOCAL_MODEL_PATH", raising=False)
    assert main(["model", "install"]) == 0
    captured = capsys.readouterr()
    assert "already installed" in captured.err
    assert captured.out.startswith("✓")
