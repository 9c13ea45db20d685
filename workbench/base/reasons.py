"""Reduce the error output of other programs and libraries to one line."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator

from workbench.base.text import clean, one_line, shortened

_WIDTH = 300

#: The last line of a traceback: the exception, possibly with its module, and its message.
_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?(?P<message>[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Impossible|Invalid\w*): .+)$"
)
_INVALID = re.compile(r"^(?:[a-z_][\w.]*\.)(?P<message>[A-Z]\w+: .+)$")
_COMPLAINT = re.compile(r"^(?:ERROR|error|fatal|cause|× ?|╰─▶|Caused by)(?::|\s)\s*(?P<message>.+)$")

#: Messages that only introduce or follow the informative one.
_EMPTY = re.compile(
    r"resolutionimpossible|for help visit|subprocess-exited-with-error|did not run successfully|see above for output|"
    r"likely not a problem with pip|returned non-zero exit status|^exit code|no solution found when|^failed to (?:build|parse)\b.*:$",
    re.I,
)
_FRAME = re.compile(r'^\s+File "|^Traceback |^\s*[~^]+\s*$')


def last_words(output: str, width: int = _WIDTH) -> str:
    """Return the line of a program's output that states why it failed, or "" without output.

    A long line is shortened in the middle, because its end states the cause.
    """
    lines = [line for line in clean(output).splitlines() if line.strip() and not _FRAME.match(line)]
    plain = [line.strip() for line in lines]
    for pattern in (_EXCEPTION, _COMPLAINT, _INVALID):
        message = [
            found["message"] for line in plain if (found := pattern.match(line)) and not _EMPTY.search(found["message"])
        ]
        if message:
            return shortened(message[-1].rstrip(". "), width)
    useful = [line for line in plain if not _EMPTY.search(line)] or plain
    return shortened(useful[-1].rstrip(". "), width) if useful else ""


def reason_of(error: BaseException) -> str:
    """Return why a request to another program failed, based on the innermost wrapped error, without a full stop."""
    for inner in _inside(error):
        if isinstance(inner, TimeoutError) or "timed out" in str(inner).lower():
            return "no answer in time"
        if isinstance(inner, OSError) and inner.strerror and inner.errno is not None:
            return one_line(inner.strerror, _WIDTH).lower()
        if isinstance(inner, http.client.RemoteDisconnected):
            return "it closed the connection without an answer"
        if isinstance(inner, (http.client.HTTPException, json.JSONDecodeError)):
            return "it does not answer like such an engine"
        if explanation := getattr(inner, "explanation", None):  # set by the Docker client for a rejected request
            return one_line(str(explanation), _WIDTH).rstrip(". ")
    return last_words(str(error)) or type(error).__name__


def _inside(error: BaseException) -> Iterator[BaseException]:
    visited: list[BaseException] = []
    pending: list[object] = [error]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending += item
        elif isinstance(item, BaseException) and not any(item is other for other in visited):
            visited.append(item)
            pending += [item.__context__, item.__cause__, getattr(item, "reason", None), *item.args]
    return iter(visited[::-1])
