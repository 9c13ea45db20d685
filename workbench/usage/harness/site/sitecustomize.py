"""Records whether a function of the tested package runs.

The harness starts it in its own process. In the processes that an answer starts, this file is found as
``sitecustomize``, which Python imports at startup. Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType

#: Environment variables: the folder of the package's repository, and the file that is created when the package is
#: called.
ROOT, MARK = "WORKBENCH_USAGE_ROOT", "WORKBENCH_USAGE_MARK"


class CallWatcher:
    """Creates the file ``mark`` at the first call into the repository, except for calls made during imports."""

    def __init__(self, root: str, mark: str) -> None:
        self._repository = os.path.join(root, "")
        self._ours = os.path.join(root, "workbench_usage", "")
        self._mark = mark

    def start(self) -> None:
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and self._is_own(frame) and not self._is_import(frame):
            self.stop()  # the process then runs at its usual speed
            os.close(os.open(self._mark, os.O_WRONLY | os.O_CREAT))

    def _is_own(self, frame: FrameType) -> bool:
        name = frame.f_code.co_filename
        if name.startswith("<"):  # a method that a decorator such as ``dataclass`` makes
            file = frame.f_globals.get("__file__")
            name = file if type(file) is str else ""
        return name.startswith(self._repository) and not name.startswith(self._ours)

    def _is_import(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code.co_name == "<module>" and self._is_own(frame):
                return frame.f_globals.get("__name__") != "__main__"
            frame = frame.f_back
        return False


if __name__ == "sitecustomize" and ROOT in os.environ and MARK in os.environ:
    CallWatcher(os.environ[ROOT], os.environ[MARK]).start()
