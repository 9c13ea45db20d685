"""``workbench doctor``: findings with a mark, a word and advice; keys by name only; quick."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main
from workbench.commands import doctor
from workbench.commands.doctor import Check, check_machine, closing
from workbench.sandbox import bubblewrap

SECRET = "sk-do-not-show-me-1234567890"


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "CACHE", "STATE", "CONFIG"):
        monkeypatch.setenv(f"WORKBENCH_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.delenv("DOCKER_HOST", raising=False)


def by_name(found: list[Check]) -> dict[tuple[str, str], Check]:
    return {(check.group, check.name): check for check in found}


def doctor_json(capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    code = main(["doctor", "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_group_is_there_and_the_last_line_is_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = doctor_json(capsys)
    assert {line["group"] for line in lines[:-1]} == {
        "Program",
        "Terminal",
        "Models",
        "Sandboxes",
        "Doc systems",
        "Remote agents",
        "Plug-ins",
        "Docker",
        "Git",
        "Files",
    }
    missing = [line for line in lines[:-1] if line["status"] == "missing"]
    assert lines[-1]["type"] == "summary"
    assert (lines[-1]["missing"], lines[-1]["ok"], code) == (len(missing), not missing, 1 if missing else 0)


def test_people_get_a_glyph_and_a_word_on_every_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    out = capsys.readouterr().out
    assert "✓ ok" in out
    assert "interpreter" in out
    assert "weaker, without namespaces; used only where you name it" in out
    assert "Environment variables are not passed on" in out


def test_keys_are_named_and_never_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("WORKBENCH_BASE_URL", f"http://user:{SECRET}@127.0.0.1:1/v1?key={SECRET}")
    monkeypatch.setenv("DOCKER_HOST", f"tcp://user:{SECRET}@127.0.0.1:1")
    main(["doctor", "--json"])
    main(["doctor"])
    out = capsys.readouterr().out
    assert "OPENAI_API_KEY is set" in out
    assert SECRET not in out


def test_an_unwritable_sessions_folder_is_missing_with_advice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBENCH_SESSIONS_DIR", str(tmp_path / "file" / "sessions"))
    code, lines = doctor_json(capsys)
    found = next(line for line in lines if line.get("name") == "sessions")
    assert (code, found["status"]) == (1, "missing")
    assert "WORKBENCH_SESSIONS_DIR" in found["advice"]


def test_looking_makes_no_folders(tmp_path: Path) -> None:
    check_machine()
    assert not (tmp_path / "data").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("statuses", "sign", "words"),
    [
        (("ok", "note"), "ok:", "Everything needed is here."),
        (("ok", "warning"), "attention:", "1 to look at: n1."),
        (("missing", "warning"), "missing:", "1 needed: n0. Look also at: n1."),
    ],
)
def test_the_closing_line_follows_from_what_stands_above(statuses: tuple[Any, ...], sign: str, words: str) -> None:
    found = [Check("Group", f"n{index}", status, "") for index, status in enumerate(statuses)]
    _, word, sentence = closing(found)
    assert word == sign
    assert sentence.endswith(words)


def test_without_a_sandbox_the_closing_line_and_the_code_say_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(bubblewrap.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    main(["doctor"])
    out = capsys.readouterr().out
    assert "no sandbox here isolates" in out
    assert "Everything needed is here" not in out
    assert "isolation" in out.splitlines()[-1]


def test_wrong_settings_are_a_finding_with_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_MAX_STEPS", "many")
    found = by_name(check_machine())["Program", "settings"]
    assert found.status == "missing"
    assert "must be a whole number" in found.detail


def test_little_disk_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor.shutil.disk_usage

    def little(place: str) -> Any:
        return real(place)._replace(free=500_000_000)

    monkeypatch.setattr(doctor.shutil, "disk_usage", little)
    found = by_name(check_machine())
    assert found["Files", "disk of data"].status == found["Files", "disk of cache"].status == "warning"
    assert "500.0 MB free" in found["Files", "disk of data"].detail


def test_a_check_that_breaks_is_a_finding_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda place: 1 / 0)
    found = check_machine()
    assert any(check.group == "Files" and "could not be checked: ZeroDivisionError" in check.detail for check in found)
    assert ("Git", "git") in by_name(found)


def test_a_docker_engine_is_asked_for_its_version() -> None:
    class Engine(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/version"
            body = json.dumps({"Version": "99.1\x1b[31m"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = by_name(check_machine({"DOCKER_HOST": f"tcp://127.0.0.1:{server.server_port}", "PATH": "/usr/bin"}))
        server.shutdown()
    assert found["Docker", "engine"].status == "ok"
    assert "engine 99.1" in found["Docker", "engine"].detail


def test_a_docker_engine_that_keeps_silent_is_left_after_two_seconds(tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(path))
        silent.listen(1)
        started = time.monotonic()
        found = [doctor.Check("Docker", *one) for one in doctor._docker({"DOCKER_HOST": f"unix://{path}"})]
        took = time.monotonic() - started
    engine = by_name(found)["Docker", "engine"]
    assert engine.status == "warning"
    assert "does not answer" in engine.detail
    assert took < 4


def test_importing_the_command_loads_no_heavy_package() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from workbench.commands import doctor, show, report, installation; doctor.check_machine(); "
        "print([m for m in ('litellm', 'docker', 'git', 'pydantic', 'textual') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
