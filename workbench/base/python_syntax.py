"""Parse Python source from any thread, because the standard parser is not safe for concurrent use."""

from __future__ import annotations

import ast
import threading
import time
import warnings
from collections.abc import Callable
from typing import TypeVar

Source = TypeVar("Source")
Result = TypeVar("Result")

# Exceptions of `ast.parse` for invalid syntax, null bytes, unknown encodings and deep nesting.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)

# All threads share one list of warning filters.
_ONE_AT_A_TIME = threading.Lock()
_MOST_TRIES, _PAUSE = 200, 0.002


def parse(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a Python file, without warnings. Raises one of :data:`UNREADABLE`."""
    return retried(ast.parse, source)


def literal(source: str) -> object:
    """Return the value of a literal from its source text. Raises one of :data:`UNREADABLE`."""
    return retried(ast.literal_eval, source)


def arguments_of(header: ast.arguments) -> list[ast.arg]:
    stars = [one for one in (header.vararg, header.kwarg) if one is not None]
    return [*header.posonlyargs, *header.args, *header.kwonlyargs, *stars]


def retried(reader: Callable[[Source], Result], source: Source) -> Result:
    # Before 3.13, CPython stores the AST recursion depth per interpreter and raises SystemError if two threads build an
    # AST at once. The lock alone is not enough, because imports and templates compile code without it, so retry.
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
