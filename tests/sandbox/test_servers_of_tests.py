"""Tests that start a server of their own find it by the name that everybody gives it; nothing else has a name."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from workbench.sandbox import Backend, Job, Limits, Verdict, Workspace, pool

SERVER = """import socket

import pytest

from sums import total


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_server_on_this_machine(host):
    with socket.create_server((host, 0)) as server:
        with socket.create_connection((host, server.getsockname()[1]), timeout=5) as client:
            client.sendall(bytes([total([1, 2])]))
            assert server.accept()[0].recv(1) == b"\\x03"


def test_no_other_machine_has_a_name():
    for name in (%r, "example.org"):
        with pytest.raises(socket.gaierror):
            socket.getaddrinfo(name, 80)
    assert socket.gethostname() == "sandbox"
"""


@pytest.mark.sandbox
async def test_localhost_is_there_in_bubblewrap(bubblewrap: Backend, workspace: Workspace) -> None:
    own = platform.node() if platform.node() not in ("", "localhost", "sandbox") else "example.net"
    (workspace.root / "tests" / "test_server.py").write_text(SERVER % own)
    source = Path(workspace.root / "sums.py").read_bytes()
    names = (
        "a_server_on_this_machine[localhost]",
        "a_server_on_this_machine[127.0.0.1]",
        "no_other_machine_has_a_name",
    )
    tests = tuple(f"tests/test_server.py::test_{name}" for name in names)
    limits = Limits(seconds=20, memory_mb=256, processes=48, disk_mb=64, file_mb=16)
    async with pool(bubblewrap, workspace, workers=1, limits=limits) as box:
        report = await box.run(Job("servers", tests=tests, path="sums.py", content=source, limits=limits))
    assert report.verdict is Verdict.PASSED, (report.detail, report.failing)
