"""What a hot candidate's process leaves out of pytest because nobody reads it, and no test can tell that it is missing.

Every test asks thrice which hooks hold for its file, every phase empties the captured output into a report that nobody
prints, and every failure becomes a traceback of which only the first ones are kept. What another version of pytest
names differently stays.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

#: More captured output than this is thrown away in between: a file may only grow to its limit.
_MUCH_OUTPUT = 256 * 1024


def settle() -> None:
    """Freeze live objects: a collection would touch, and so copy, every page that a fork shares with its parent."""
    gc.collect()
    gc.freeze()


def remember_hooks(session: Any) -> None:
    """Cache which hooks hold for a test's file; after collection the answer is always the same."""
    original = getattr(session, "gethookproxy", None)
    if original is None:
        return
    known: dict[Any, Any] = {}

    def gethookproxy(fspath: Any) -> Any:
        if fspath not in known:
            known[fspath] = original(fspath)
        return known[fspath]

    for path in {item.path for item in session.items}:
        gethookproxy(path)
    session.gethookproxy = gethookproxy


def silence(manager: Any) -> None:
    """Take the terminal's reporter off the hooks: nobody reads its output; tests may still ask for it."""
    terminal = manager.getplugin("terminalreporter")
    for caller in (manager.get_hookcallers(terminal) or ()) if terminal is not None else ():
        with contextlib.suppress(AttributeError, ValueError):  # another version of pluggy: it stays
            caller._remove_plugin(terminal)


def begin_capture(manager: Any) -> None:
    """Empty the files that take the output: earlier forks wrote into the same ones."""
    try:
        for stream in (manager._global_capturing.out, manager._global_capturing.err):
            stream.tmpfile.seek(0)
            stream.tmpfile.truncate()
    except (AttributeError, OSError, ValueError):  # another version of pytest: begin new ones
        manager.stop_global_capturing()
        manager.start_global_capturing()
    with contextlib.suppress(AttributeError, OSError, ValueError):
        Capture(manager)


class Capture:
    """Captures output once for all tests and discards it. AttributeError: pytest captures in another way."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        out, err = manager._global_capturing.out, manager._global_capturing.err
        self._streams = []
        for name, descriptor, stream in (("stdout", 1, out), ("stderr", 2, err)):
            status = os.fstat(stream.tmpfile.fileno())
            self._streams.append((name, descriptor, stream.syscapture.tmpfile, (status.st_dev, status.st_ino)))
        if not callable(manager.item_capture):
            raise AttributeError("item_capture")
        manager.item_capture = self._item_capture

    @contextlib.contextmanager
    def _item_capture(self, when: str, item: Any) -> Iterator[None]:
        manager = self._manager
        manager.resume_global_capture()
        manager.activate_fixture()
        try:
            yield
        finally:
            manager.deactivate_fixture()
            if not self._in_order():
                # As pytest does it: the descriptors are put back, the files emptied.
                manager.suspend_global_capture(in_=False)
                manager.read_global_capture()

    def _in_order(self) -> bool:
        for name, descriptor, stream, known in self._streams:
            try:
                status = os.fstat(descriptor)
            except OSError:
                return False
            if getattr(sys, name) is not stream or (status.st_dev, status.st_ino) != known:
                return False
            if status.st_size > _MUCH_OUTPUT:
                return False
        return True


class Brief:
    """A failure of which only the message will be kept: pytest's own text without the traceback."""

    def __init__(self, message: str) -> None:
        self.reprcrash = self
        self.message = message

    def __str__(self) -> str:
        return self.message


def brief_failures(item: Any) -> bool:
    """Keep only the message of a function's further failures; False for items with their own text."""
    import pytest

    brief = item.__class__ is pytest.Function
    if brief:
        item.repr_failure = _brief
    return brief


def _brief(excinfo: Any, style: Any = None) -> Brief:
    return Brief(excinfo.exconly(tryshort=True))
