"""The standard error of a run of the whole suite: there pytest says why it refuses a repository.

Only such runs have it: they run the pristine tree, so nobody gains by it. A candidate's standard error leads nowhere.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import sys
import traceback
from typing import Any

#: How much is kept: the beginning names the file, the end the reason.
_FIRST, _LAST = 4096, 12288


class SuiteErrors:
    """The server's end: a pipe that is emptied while the process is watched."""

    def __init__(self) -> None:
        self.descriptor, self.writer = os.pipe()
        self._first = b""
        self._last = b""

    def begun(self) -> None:
        """Close the end that the process has now."""
        os.close(self.writer)

    def drain(self) -> None:
        """Read what is there, a few pipes full at most: endless output must not hold up the clock."""
        for _ in range(16):
            if not select.select([self.descriptor], [], [], 0)[0]:
                return
            data = os.read(self.descriptor, 1 << 16)
            if not data:
                return
            room = _FIRST - len(self._first)
            self._first += data[:room]
            self._last = (self._last + data[room:])[-_LAST:]

    def close(self, root: str) -> str:
        """Return the output, with paths of the tree at ``root`` relative to it."""
        self.drain()
        os.close(self.descriptor)
        return (self._first + self._last).decode("utf-8", "replace").replace(root + os.sep, "")


class SuiteErrorWriter:
    """The process's end."""

    def __init__(self, descriptor: int, seconds: float) -> None:
        """Redirect standard error to ``descriptor``, also if the process dies, or hangs for most of ``seconds``."""
        self._descriptor = descriptor
        os.set_inheritable(descriptor, False)
        os.dup2(descriptor, 2)
        faulthandler.enable(descriptor)
        # It cannot be asked where it hangs once it is ended for that.
        faulthandler.dump_traceback_later(max(seconds - 2.0, seconds * 0.8), file=descriptor)

    def hangs_no_more(self) -> None:
        """The first test begins: from here on its name says where it hangs."""
        faulthandler.cancel_dump_traceback_later()

    def say(self, text: str) -> None:
        """Write what pytest would print on the terminal only."""
        data = text.encode("utf-8", "replace") + b"\n"
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._descriptor, data) :]

    def say_exception(self) -> None:
        """Write what ends the process from within; ``SystemExit`` would print nothing by itself."""
        self.say(traceback.format_exc())

    def close(self) -> None:
        """Write what is still held back."""
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


def of_suite(job: dict[str, Any]) -> bool:
    return not job["path"] and not job["tests"]
