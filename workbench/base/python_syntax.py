"""Python source to its syntax tree, from any thread: the standard parser alone is not made for several at once."""

from __future__ import annotations

import ast
import threading
import time
import warnings
from collections.abc import Callable
from typing import TypeVar

Source = TypeVar("Source")
Result = TypeVar("Result")

# What `ast.parse` raises for a text that is no Python, a null byte or an unknown encoding, or nesting beyond its stack.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)

# The filters of warnings are one list for all threads.
_ONE_AT_A_TIME = threading.Lock()
_MOST_TRIES, _PAUSE = 200, 0.002


def parse(source: str | bytes) -> ast.Module:
    """Return the tree of a Python file, without warnings about it.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError, LookupError: Python cannot read it; see `UNREADABLE`.
    """
    return retried(ast.parse, source)


def literal(source: str) -> object:
    """Return the value of a literal's source text.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError, LookupError: it is no literal; see `UNREADABLE`.
    """
    return retried(ast.literal_eval, source)


def arguments_of(header: ast.arguments) -> list[ast.arg]:
    stars = [one for one in (header.vararg, header.kwarg) if one is not None]
    return [*header.posonlyargs, *header.args, *header.kwonlyargs, *stars]


def retried(reader: Callable[[Source], Result], source: Source) -> Result:
    # CPython before 3.13 keeps the depth of the tree it builds in one place for all threads and raises SystemError when two
    # build at once. Others are not ours to lock out: imports, templates and models compile as well.
    tries = 0
    while True:
        try:
            with _ONE_AT_A_TIME, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return reader(source)
        except SystemError:
            tries += 1
            if tries == _MOST_TRIES:
                raise
        time.sleep(_PAUSE)
