"""Python source to its syntax tree, from any thread: the standard parser alone is not made for several at once."""

from __future__ import annotations

import ast
import threading
import warnings

# What `ast.parse` raises for a text that is no Python, a null byte or an unknown encoding, or nesting beyond its stack.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)

# CPython before 3.13 keeps the depth of the tree it builds in one place for all threads and raises SystemError when two
# build at once; the filters of warnings are one list for all threads as well.
_ONE_AT_A_TIME = threading.Lock()


def parse(source: str | bytes) -> ast.Module:
    """Return the tree of a Python file, without warnings about it.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError, LookupError: Python cannot read it; see `UNREADABLE`.
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def literal(source: str) -> object:
    """Return the value of a literal's source text.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError, LookupError: it is no literal; see `UNREADABLE`.
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.literal_eval(source)
