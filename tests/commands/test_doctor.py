"""``workbench doctor``: findings with a mark, a word and advice; keys by name only; quick."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main
from workbench.commands import doctor
from workbench.commands.doctor import Check, closing
from workbench.sandbox import bubblewrap

SECRET = "sk-do-not-show-me-1234567890"


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "CACHE", "STATE", "CONFIG"):
        monkeypatch.setenv(f"WORKBENCH_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.delenv("DOCKER_HOST", raising=False)


def by_name(found: list[Check]) -> dict[tuple[str, str], Check]:
    return {(check.group, check.name): check for check in found}


def group_of(name: str, **environment: str) -> dict[tuple[str, str], Check]:
    look: Any = getattr(doctor, f"_{name.lower()}")
    return by_name(doctor._guarded(name, look, environment))


def test_all_groups_in_both_forms_without_making_folders_or_showing_keys(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("WORKBENCH_BASE_URL", f"http://user:{SECRET}@127.0.0.1:1/v1?key={SECRET}")
    monkeypatch.setenv("DOCKER_HOST", f"tcp://user:{SECRET}@127.0.0.1:1")
    code = main(["doctor", "--json"])
    out = capsys.readouterr().out
    *lines, closing = [json.loads(line) for line in out.splitlines()]
    assert {line["group"] for line in lines} >= {"Program", "Terminal", "Models", "Sandboxes", "Docker", "Git", "Files"}
    missing = [line for line in lines if line["status"] == "missing"]
    assert (closing["type"], closing["missing"], closing["ok"]) == ("summary", len(missing), not missing)
    assert code == (1 if missing else 0)
    assert "OPENAI_API_KEY is set" in out
    main(["doctor"])
    shown = capsys.readouterr().out
    assert SECRET not in out + shown
    for words in ("✓ ok", "interpreter", "without namespaces", "Environment variables are not passed on"):
        assert words in shown
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_sessions_folder_is_missing_with_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBENCH_SESSIONS_DIR", str(tmp_path / "file" / "sessions"))
    found = group_of("Files")["Files", "sessions"]
    assert found.status == "missing"
    assert "WORKBENCH_SESSIONS_DIR" in found.advice


@pytest.mark.parametrize(
    ("statuses", "sign", "words"),
    [
        (("ok", "note"), "ok:", "Everything required is here."),
        (("ok", "warning"), "attention:", "1 with a warning: n1."),
        (("missing", "warning"), "missing:", "1 required: n0. Warnings: n1."),
    ],
)
def test_the_closing_line_follows_from_what_stands_above(statuses: tuple[Any, ...], sign: str, words: str) -> None:
    found = [Check("Group", f"n{index}", status, "") for index, status in enumerate(statuses)]
    _, word, sentence = closing(found)
    assert word == sign
    assert sentence.endswith(words)


def test_without_a_sandbox_the_closing_line_and_the_code_say_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(bubblewrap.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    main(["doctor"])
    out = capsys.readouterr().out
    assert "no sandbox here isolates" in out
    assert "Everything required is here." not in out
    assert "isolation" in out.splitlines()[-1]


def test_wrong_settings_are_a_finding_with_the_sentence() -> None:
    found = group_of("Program", WORKBENCH_MAX_STEPS="many")["Program", "settings"]
    assert found.status == "missing"
    assert "must be a whole number" in found.detail


def test_little_disk_is_a_warning_and_a_check_that_breaks_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor.shutil.disk_usage
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda place: real(place)._replace(free=500_000_000))
    found = group_of("Files")
    assert found["Files", "disk of data"].status == found["Files", "disk of cache"].status == "warning"
    assert "500.0 MB free" in found["Files", "disk of data"].detail
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda place: 1 / 0)
    assert any("ZeroDivisionError" in check.detail for check in group_of("Files").values())


def test_a_docker_engine_that_keeps_silent_is_left_after_two_seconds(tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(path))
        silent.listen(1)
        started = time.monotonic()
        engine = group_of("Docker", DOCKER_HOST=f"unix://{path}")["Docker", "engine"]
        took = time.monotonic() - started
    assert engine.status == "warning"
    assert "does not answer" in engine.detail
    assert took < 4
