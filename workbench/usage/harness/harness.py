"""Runs an answer on recorded inputs and records the result as text; the expected results are not in the sandbox.

The answer is the text that ``workbench_usage.answer.source()`` returns in hexadecimal digits, so that no word in it
excludes the candidate from the hot route.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import stat
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbench_runner.values import NotLiteral, decode, encode  # type: ignore[import-not-found]
from workbench_usage.answer import source  # type: ignore[import-not-found]
from workbench_usage.site.sitecustomize import MARK, ROOT, CallWatcher  # type: ignore[import-not-found]

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(_HERE)
_MESSAGE = 300
_COMMAND_CHARACTERS = 20_000


class AnswerInvalid(Exception):
    """The answer is invalid; the message is a sentence. In a traceback, this class has no module."""

    __module__ = "builtins"


class AnswerFailed(Exception):
    """The answer returned no value for its input; the message is the reason."""

    __module__ = "builtins"


class _LoadedAnswer:
    """The answer's function, once its text has been executed in this process."""

    def __init__(self) -> None:
        self._function: Callable[..., object] | None = None
        self._problem: Exception | None = None

    def function(self) -> Callable[..., object]:
        if self._function is None and self._problem is None:
            try:
                self._function = _execute(_text())
            except (AnswerInvalid, AnswerFailed) as problem:
                self._problem = problem
        if self._function is None:
            raise type(self._problem)(*self._problem.args) if self._problem else AnswerFailed("it has not ended")
        return self._function


def _text() -> str:
    return bytes.fromhex(source()).decode("utf-8", "surrogatepass")


def _execute(text: str) -> Callable[..., object]:
    try:
        code = compile(text, "answer.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as problem:
        line = getattr(problem, "lineno", None)
        place = f" in line {line}" if line else ""
        raise AnswerInvalid(f"It is not Python: {getattr(problem, 'msg', problem)}{place}.") from None
    module = types.ModuleType("workbench_answer")
    sys.modules[module.__name__] = module
    with _guarded():
        exec(code, module.__dict__)
    names = module.__dict__
    function = names.get("answer")
    if function is None:
        others = [name for name, value in list(names.items()) if type(value) is types.FunctionType]
        raise AnswerInvalid(f"It defines {', '.join(others[:3]) or 'no function'}, but not 'answer'.")
    if not callable(function):
        raise AnswerInvalid(f"Its 'answer' is not a function but of type {type(function).__name__}.")
    return function  # type: ignore[no-any-return]


@contextlib.contextmanager
def _guarded() -> Iterator[None]:
    """Turn anything that the answer raises into one line, and give it an empty standard input."""
    former, sys.stdin = sys.stdin, io.StringIO()
    try:
        yield
    except BaseException as problem:
        raise AnswerFailed(f"raised {_line(problem)}") from None
    finally:
        sys.stdin = former


def _line(problem: BaseException) -> str:
    name = type.__getattribute__(type(problem), "__name__")
    try:
        text = str(problem).strip().split("\n", 1)[0]
    except BaseException:  # the answer may raise anything
        text = ""
    return f"{name}: {text}"[:_MESSAGE] if text else name


_answer = _LoadedAnswer()


def run(kind: str, call: Mapping[str, Any], record_property: Callable[[str, object], None]) -> None:
    """Run the answer on one call, and record ``workbench_value`` and ``workbench_called``."""
    inputs = [decode(text) for text in call["inputs"]]
    folder = tempfile.mkdtemp(prefix="call-")  # removed with everything else after the candidate
    os.environ[MARK] = mark = os.path.join(folder, "called")
    try:
        if kind == "command":
            value = _encoded(_command_result(inputs, call["files"], call["stdin"], folder), _COMMAND_CHARACTERS)
        else:
            value = _encoded(_function_result(inputs, CallWatcher(_ROOT, mark)))
    finally:
        record_property("workbench_called", os.path.exists(mark))
        os.environ.pop(MARK, None)
    record_property("workbench_value", value)


def _encoded(value: object, *characters: int) -> str:
    try:
        return str(encode(value, *characters))
    except NotLiteral as reason:
        raise AnswerFailed(f"returned no literal: {reason}") from None
    except (
        BaseException
    ) as problem:  # encoding may fail, because a type may compute its name and another thread may change a list
        raise AnswerFailed(f"returned no literal: {_line(problem)}") from None


def _function_result(inputs: Sequence[object], watcher: CallWatcher) -> object:
    watcher.start()
    try:
        function = _answer.function()
        with _guarded():
            return function(*inputs)
    finally:
        watcher.stop()


def _command_result(inputs: Sequence[str], files: Mapping[str, str], stdin: str, folder: str) -> dict[str, object]:
    """Run the answer as a shell command in a new folder, and return its exit status, output and files."""
    command = _text()
    if not command.strip():
        raise AnswerInvalid("It is empty.")
    work, home = os.path.join(folder, "work"), os.path.join(folder, "home")
    os.mkdir(work)
    os.mkdir(home)
    for name, text in files.items():
        path = os.path.join(work, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR" and name[:7] != "PYTEST_"}
    environ.update(HOME=home, COLUMNS="80", LC_ALL="C.UTF-8")
    input_path, output_path = os.path.join(folder, "stdin"), os.path.join(folder, "stdout")
    with open(input_path, "wb") as written:
        written.write(stdin.encode("utf-8", "surrogatepass"))
    # Write output to a file, because a background process would keep a pipe open.
    with open(input_path, "rb") as read, open(output_path, "wb") as output:
        try:
            status = subprocess.call(
                ["sh", "-c", command, "sh", *inputs],
                cwd=work, env=environ, stdin=read, stdout=output, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, ValueError) as problem:  # the command is too long, or has a character that no command may have
            raise AnswerFailed(f"raised {_line(problem)}") from None
    result = {"exit": status if status >= 0 else 128 - status, "stdout": _content(output_path)}
    changed = _changed_files(work, files)
    return {**result, "files": changed} if changed else result


def _changed_files(work: str, files: Mapping[str, str]) -> dict[str, object]:
    """Return the content of new and changed files, and None for deleted ones."""
    found: dict[str, object] = {}
    for folder, _, names in os.walk(work):
        for path in (os.path.join(folder, name) for name in names):
            if stat.S_ISREG(os.lstat(path).st_mode):
                found[os.path.relpath(path, work)] = _content(path)
    gone: dict[str, object] = dict.fromkeys(name for name in map(os.path.normpath, files) if name not in found)
    before = {os.path.normpath(name): text for name, text in files.items()}
    return {**{name: text for name, text in found.items() if before.get(name) != text}, **gone}


def _content(path: str) -> object:
    """Return a file's text, or its bytes if it is not text."""
    with open(path, "rb") as file:
        data = file.read(4 * _COMMAND_CHARACTERS + 1)  # more characters than a value may have
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def preload(module: str) -> None:
    """Import the package in advance for the hot route; an import that fails here also fails in the answers."""
    with contextlib.suppress(BaseException):
        importlib.import_module(module)


os.environ[ROOT] = _ROOT
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.path.join(_HERE, "site"), os.environ.get("PYTHONPATH"))))
