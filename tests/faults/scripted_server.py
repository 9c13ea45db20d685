"""A model server as a process of its own that can be killed: ``python scripted_server.py PORT WAIT`` prints its address.

It plays the author of a README and writes function bodies; an answer depends on the request alone, so that a run that was
killed can be compared with one that was not.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from engine.author import Author
from engine.tiny_repository import BAD, GOOD, fenced
from loopback.server import Body, LoopbackServer, Reply

_BODIES = {"add": GOOD["add"], "clamp": BAD["clamp"], "shout": GOOD["shout"]}


def answer(body: Body) -> str:
    """Return what the model says: a body where a function is asked for, else the next line of the author."""
    messages = body["messages"]
    assert isinstance(messages, list)
    last = str(messages[-1]["content"])
    for name, text in _BODIES.items():
        if f"body of `{name}` and nothing else" in last:
            return fenced(text)
    return Author()(body)


class ScriptedServer:
    """The server's process; ``kill`` ends it without a word, ``start`` begins it again at the same address."""

    def __init__(self, wait: float) -> None:
        self._wait = wait
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self.base_url = ""

    def start(self) -> None:
        """Start it and wait until it listens."""
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self._port), str(self._wait)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.base_url = self._process.stdout.readline().strip()
        assert self.base_url, "the model server did not start"
        self._port = int(self.base_url.rpartition(":")[2].partition("/")[0])

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout) if self._process else ():
            if stream is not None:
                stream.close()


def main() -> None:
    """Serve until standard input closes."""
    port, wait = int(sys.argv[1]), float(sys.argv[2])
    with LoopbackServer(lambda body: Reply(text=answer(body), wait=wait), port) as server:
        print(server.base_url, flush=True)
        threading.Thread(target=sys.stdin.read).run()


if __name__ == "__main__":
    main()
