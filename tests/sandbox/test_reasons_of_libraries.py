"""Errors of libraries and other programs are reduced to one line, without tracebacks or wrapped exceptions."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from workbench.base.reasons import last_words, reason_of
from workbench.sandbox.docker import Docker, _problem


@pytest.fixture(autouse=True)
def _fresh() -> None:
    _problem.cache_clear()


def _problem_at(host: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DOCKER_HOST", host)
    said = Docker().problem()
    assert said is not None
    assert "Error" not in said
    assert "Exception" not in said
    assert "\n" not in said
    return said


def test_a_socket_that_nobody_listens_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "d.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    said = _problem_at(f"unix://{path}", monkeypatch)
    assert said == f"The Docker engine at unix://{path} does not answer (connection refused)."


def test_a_socket_that_is_a_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d.sock").write_text("")
    said = _problem_at(f"unix://{tmp_path}/d.sock", monkeypatch)
    assert said.endswith("does not answer (connection refused).")


def test_a_port_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    said = _problem_at(f"tcp://127.0.0.1:{port}", monkeypatch)
    assert said == f"The Docker engine at tcp://127.0.0.1:{port} does not answer (connection refused)."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"", "it closed the connection without an answer"),
        (b"hello\r\n\r\n", "its answer is not one of such an engine"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 27\r\n\r\n" + b'{"message":"no\\nroom left"}', "no room left"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<htm>", "its answer is not one of such an engine"),
    ],
    ids=["nothing", "no HTTP", "refused", "another program"],
)
def test_a_port_with_something_else(answer: bytes, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer:
                    peer.recv(4096)
                    peer.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.getsockname()[1]}")
        said = Docker().problem()
        where = server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    assert said == f"The Docker engine at tcp://127.0.0.1:{where} does not answer ({told})."


def test_the_innermost_reason_is_told() -> None:
    refused = ConnectionRefusedError(111, "Connection refused")
    wrapped = RuntimeError("Error while fetching server API version", ("Connection aborted.", refused))
    assert reason_of(wrapped) == "connection refused"
    assert reason_of(TimeoutError()) == "no answer in time"
    assert (
        reason_of(RuntimeError("HTTPConnectionPool(host='x', port=1): Read timed out. (read timeout=5)"))
        == "no answer in time"
    )
    assert reason_of(KeyError()) == "KeyError"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("", ""),
        (
            "error: No solution found when resolving dependencies\n"
            "  cause: Because only requests<=2.34 is available and you require requests>99, your requirements are unsatisfiable.\n",
            "Because only requests<=2.34 is available and you require requests>99, your requirements are unsatisfiable",
        ),
        (
            "ERROR: Cannot install rich<9 and rich>=10 because these package versions have conflicting dependencies.\n"
            "ERROR: ResolutionImpossible: for help visit https://example.org/dependency-resolution\n",
            "Cannot install rich<9 and rich>=10 because these package versions have conflicting dependencies",
        ),
        (
            "  error: subprocess-exited-with-error\n  × Getting requirements to build wheel did not run successfully.\n"
            "  │ exit code: 1\n  ╰─> [18 lines of output]\n      Traceback (most recent call last):\n"
            '        File "setup.py", line 3, in <module>\n          import numpy\n'
            "      ModuleNotFoundError: No module named 'numpy'\n      [end of output]\n"
            "  note: This error originates from a subprocess, and is likely not a problem with pip.\n",
            "ModuleNotFoundError: No module named 'numpy'",
        ),
        (
            'Traceback (most recent call last):\n  File "markers.py", line 280, in __init__\n    raise InvalidMarker(\n'
            "pip._vendor.packaging.markers.InvalidMarker: Invalid marker: ';', parse error at ';'\n",
            "InvalidMarker: Invalid marker: ';', parse error at ';'",
        ),
        ("error: Failed to parse: `pytest>8;;`\n  cause: Expected a marker name, found `;`\n         pytest>8;;\n                  ^\n",
         "Expected a marker name, found `;`"),
        ("fatal: write error: \x1b[31mbroken pipe\x1b[0m\n", "write error: broken pipe"),
        ("bwrap: Can't find source path /nowhere: No such file or directory\n", "bwrap: Can't find source path /nowhere: No such file or directory"),
    ],
)  # fmt: skip
def test_the_line_that_says_it(said: str, told: str) -> None:
    assert last_words(said) == told


def test_a_long_line_keeps_its_cause() -> None:
    said = f"failed to create task: unable to start container process: exec: {'/folder' * 60}: stat {'/folder' * 60}: permission denied"
    told = last_words(said)
    assert told.startswith("failed to create task: ")
    assert told.endswith(": permission denied")
    assert len(told) <= 300
