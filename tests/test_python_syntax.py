"""Sources read in several threads at once, where a garbage collection lets another thread in between."""

from __future__ import annotations

import subprocess
import sys

import pytest

from workbench.base import python_syntax

# Alone in its process: it makes every collection of garbage a point at which threads change.
PROGRAM = """
import gc, threading, time
from workbench.base.python_syntax import literal, parse
long, deep = "[" + "(1,)," * 3000 + "]", "(" * 60 + "1" + ",)" * 60
failed = []
def import_beside_us(source):
    for _ in range(10):
        try:
            __import__("ast").parse(source)
        except SystemError:
            pass
        time.sleep(0.01)
def read(source):
    try:
        for _ in range(5):
            parse(source), literal(source)
    except SystemError as error:
        failed.append(error)
gc.callbacks.append(lambda phase, info: time.sleep(0.0002))
gc.set_threshold(100)
threads = [threading.Thread(target=read, args=(source,)) for source in (long, deep, long, deep)]
threads.append(threading.Thread(target=import_beside_us, args=(long,)))
[thread.start() for thread in threads], [thread.join() for thread in threads]
print(failed)
"""


def test_several_threads_read_at_once_beside_one_that_compiles() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_warnings_about_a_source_are_not_ours(recwarn: pytest.WarningsRecorder) -> None:
    python_syntax.parse("pattern = '\\d'\nassert (1, 'x')\n")
    assert python_syntax.literal("'\\d'") == "\\d"
    assert list(recwarn) == []


@pytest.mark.parametrize("source", ["def f(:", "x = '\0'", "(" * 5000 + ")" * 5000, b"# coding: nosuch\n"])
def test_what_python_cannot_read_is_one_of_the_errors_named(source: str | bytes) -> None:
    with pytest.raises(python_syntax.UNREADABLE):
        python_syntax.parse(source)
