"""What a Docker engine that is not there, or answers oddly, is reported as; the engine itself is not needed."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.base.reasons import last_words, reason_of
from workbench.sandbox.backend import Layout
from workbench.sandbox.docker import Docker, DockerChannel, _problem


@pytest.fixture(autouse=True)
def _fresh() -> None:
    _problem.cache_clear()


@pytest.mark.parametrize("kind", ["abandoned socket", "plain file", "closed port"])
def test_an_address_without_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    host = f"unix://{tmp_path}/d.sock"
    if kind == "abandoned socket":
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(f"{tmp_path}/d.sock")
    elif kind == "plain file":
        (tmp_path / "d.sock").write_text("")
    else:
        with socket.create_server(("127.0.0.1", 0)) as server:
            host = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setenv("DOCKER_HOST", host)
    assert Docker().problem() == f"The Docker engine at {host} does not answer (connection refused)."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", "it closed the connection without an answer"),
        (b"hello\r\n\r\n", "it does not answer like such an engine"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 27\r\n\r\n" + b'{"message":"no\\nroom left"}', "no room left"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<htm>", "it does not answer like such an engine"),
    ],
    ids=["nothing", "no HTTP", "refused", "another program"],
)
def test_a_port_with_something_else(answer: bytes, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
        message = Docker().problem()
        where = server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    assert message == f"The Docker engine at tcp://127.0.0.1:{where} does not answer ({expected})."


def test_the_innermost_reason_is_reported() -> None:
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
    ("message", "expected"),
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
def test_the_line_that_says_it(message: str, expected: str) -> None:
    assert last_words(message) == expected


def test_a_long_line_keeps_its_cause() -> None:
    message = f"failed to create task: unable to start container process: exec: {'/folder' * 60}: stat {'/folder' * 60}: permission denied"
    expected = last_words(message)
    assert expected.startswith("failed to create task: ")
    assert expected.endswith(": permission denied")
    assert len(expected) <= 300


class Container:
    """A container as the engine tells of it: killed for memory from the n-th look on, 0 for never."""

    def __init__(self, told_at: int) -> None:
        self.told_at, self.looks = told_at, 0
        self.attrs: dict[str, dict[str, bool]] = {}

    def reload(self) -> None:
        self.looks += 1
        self.attrs = {"State": {"OOMKilled": 0 < self.told_at <= self.looks}}

    def remove(self, force: bool) -> None:
        assert force


@pytest.mark.parametrize(
    ("told_at", "patience", "killed"),
    [(1, 0.0, True), (3, 20.0, True), (3, 0.0, False), (0, 0.2, False)],
    ids=["at-once", "third-look", "no-patience", "never"],
)
async def test_a_kill_for_memory_is_waited_for(told_at: int, patience: float, killed: bool) -> None:
    container = Container(told_at)
    ours, engines = socket.socketpair()
    channel = DockerChannel(SimpleNamespace(close=lambda: None), container, Layout(), ours)
    try:
        assert await channel.memory_killed(patience) is killed
    finally:
        engines.close()
        await channel.close()
    assert container.looks == 1 if patience == 0 else container.looks >= 2
    assert not killed or container.looks == told_at


async def test_an_engine_that_is_gone_tells_of_no_kill() -> None:
    class Gone(Container):
        def reload(self) -> None:
            raise ConnectionError("the engine is gone")

    ours, engines = socket.socketpair()
    channel = DockerChannel(SimpleNamespace(close=lambda: None), Gone(1), Layout(), ours)
    try:
        assert await channel.memory_killed(20.0) is False
    finally:
        engines.close()
        await channel.close()
