"""``workbench locate``: where things are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.cli import main


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "CACHE", "STATE", "CONFIG"):
        monkeypatch.setenv(f"WORKBENCH_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.delenv("WORKBENCH_SESSIONS_DIR", raising=False)


def test_one_place_is_a_bare_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["locate", "sessions"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'data' / 'sessions'}\n"


def test_all_places_as_json_and_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["locate", "--json"]) == 0
    places = json.loads(capsys.readouterr().out)
    assert places["type"] == "places"
    assert places["cache"] == str(tmp_path / "cache")
    (tmp_path / "cache").mkdir()
    assert main(["locate"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert set(lines) == set(places) - {"type"}
    assert "not there yet" in lines["logs"]
    assert "not there yet" not in lines["cache"]


def test_the_sessions_folder_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_SESSIONS_DIR", str(tmp_path / "elsewhere"))
    assert main(["locate", "sessions"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "elsewhere")


def test_an_unknown_place_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["locate", "treasure"]) == 2
    assert "sessions" in capsys.readouterr().err
