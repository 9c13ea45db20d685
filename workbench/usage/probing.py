"""Try several answers on the shown calls of a task, in one run of one answer."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.base import python_syntax
from workbench.usage.tasks import UsageTask

_SECONDS, _COMMAND_SECONDS = 1.0, 3.0
_MOST_SLOW = 8  # number of slow attempts after which no further ones are tried
_SEVERAL = 4  # number of commands to try at a time


@dataclass(frozen=True, slots=True)
class AnswerAttempt:
    """An answer to try. ``why`` is a sentence about the part of the page, at ``line``, that suggested it."""

    answer_text: str
    line: int
    why: str
    name: str = ""  # after a timeout, other attempts with the same name are not tried


def chosen(attempts: Sequence[AnswerAttempt], results: Sequence[str | None], task: UsageTask) -> AnswerAttempt | None:
    """Return the first attempt that fits both shown calls, from the values of one or more runs of the probe."""
    for result in results:
        with contextlib.suppress(*python_syntax.UNREADABLE, TypeError):
            value = python_syntax.literal(result or "")
            if isinstance(value, dict):  # of a command
                value = python_syntax.literal(str(value.get("stdout", "")).strip())
            if isinstance(value, int) and 0 <= value < len(attempts):
                return attempts[value]
    return None


_PROBE = """\
import contextlib, io, signal, sys, time

from workbench_runner.values import decode, encode

ATTEMPTS = {attempts!r}
SHOWN = {shown!r}


class TooLong(BaseException):
    pass


def stop(*_):
    raise TooLong


def fits(text, inputs, expected):
    scope = {{"__name__": "answer"}}
    exec(compile(text, "answer.py", "exec"), scope)
    return encode(scope["answer"](*[decode(one) for one in inputs])) == expected


def answer(*_):
    slow = set()
    before = signal.signal(signal.SIGALRM, stop)
    stdin, sys.stdin = sys.stdin, io.StringIO()
    try:
        for number, (text, name) in enumerate(ATTEMPTS):
            if len(slow) == {slow}:
                break
            if name and name in slow:
                continue
            signal.setitimer(signal.ITIMER_REAL, {seconds})
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    if all(fits(text, *call) for call in SHOWN):
                        return number
            except TooLong:
                slow.add(name)
            except BaseException:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        return -1
    finally:
        signal.signal(signal.SIGALRM, before)
        sys.stdin = stdin
"""

_COMMAND_PROBE = """\
import os, signal, subprocess, tempfile
from concurrent.futures import ThreadPoolExecutor

ATTEMPTS = {attempts!r}
SHOWN = {shown!r}
slow = []


def content(path):
    with open(path, "rb") as file:
        data = file.read()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def changes(folder, files):
    found = {{}}
    for root, _, names in os.walk(folder):
        for path in (os.path.join(root, name) for name in names):
            if os.path.isfile(path) and not os.path.islink(path):
                found[os.path.relpath(path, folder)] = content(path)
    before = {{os.path.normpath(name): text for name, text in files.items()}}
    gone = dict.fromkeys(name for name in before if name not in found)
    return {{**{{name: text for name, text in found.items() if before.get(name) != text}}, **gone}}


def fits(text, inputs, files, stdin, expected):
    with tempfile.TemporaryDirectory() as folder:
        work, given, shown = (os.path.join(folder, name) for name in ("work", "stdin", "stdout"))
        os.mkdir(work)
        for name, body in files.items():
            path = os.path.join(work, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(body.encode("utf-8", "surrogatepass"))
        with open(given, "wb") as file:
            file.write(stdin.encode("utf-8", "surrogatepass"))
        with open(given, "rb") as read, open(shown, "wb") as written:
            process = subprocess.Popen(["sh", "-c", text, "sh", *inputs], cwd=work, stdin=read, stdout=written,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                status = process.wait({seconds})
            except subprocess.TimeoutExpired:
                slow.append(text)
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return False
        got = {{"exit": status if status >= 0 else 128 - status, "stdout": content(shown)}}
        if files := changes(work, files):
            got["files"] = files
        return got == expected


def first():
    with ThreadPoolExecutor({several}) as threads:
        for start in range(0, len(ATTEMPTS), {several}):
            chunk = ATTEMPTS[start : start + {several}]
            found = list(threads.map(lambda text: all(fits(text, *call) for call in SHOWN), chunk))
            if True in found:
                return start + found.index(True)
            if len(slow) >= {slow}:
                break
    return -1


print(first())
"""


def probe(attempts: Sequence[AnswerAttempt], task: UsageTask) -> str:
    """Return an answer that tries the attempts on the shown calls and returns the index of the first that fits, or -1.

    One run is enough, because the inputs of the call are ignored.
    """
    if task.target.kind != "command":
        shown = [(call.inputs, call.expected) for call in task.shown]
        named = [(one.answer_text, one.name) for one in attempts]
        return _PROBE.format(attempts=named, shown=shown, seconds=_SECONDS, slow=_MOST_SLOW)
    program = _COMMAND_PROBE.format(
        attempts=[one.answer_text for one in attempts],
        shown=[
            ([text_of(one) for one in call.inputs], dict(call.files), call.stdin, python_syntax.literal(call.expected))
            for call in task.shown
        ],
        seconds=_COMMAND_SECONDS,
        slow=_MOST_SLOW,
        several=_SEVERAL,
    )
    return python_command(program)


def python_command(program: str) -> str:
    """Return a shell command that runs a Python program."""
    return f"python -c {shlex.quote(program)}"


def text_of(literal: str) -> str:
    """Return the text of a string literal, and anything else unchanged."""
    try:
        return str(python_syntax.literal(literal))
    except (*python_syntax.UNREADABLE, TypeError):
        return literal
