"""Code that looks into its own process is never given the hot one, whose memory once held the original body.

A repository that was imported leaves pieces of its bytecode in freed memory, and a fork inherits them. On the cold
route the interpreter has never seen the original. The rule reads the text only: what it suspects wrongly just takes
longer.
"""

from __future__ import annotations

import re

#: Why the fast route was not taken.
INTROSPECTS = "it looks into its own process"

_WORDS = re.compile(
    rb"\b(?:_?ctypes|cffi|gc|mmap|marshal|tracemalloc|currentframe|_getframe|_current_frames|settrace|setprofile|f_back|"
    rb"f_globals|f_locals|gi_frame|cr_frame|ag_frame|tb_frame|__traceback__|__subclasses__|co_code|co_consts|import_module|__builtins__)\b"
    rb"|/proc\b|\bsys\.modules\b|(?<![.\w])(?:exec|eval|compile|__import__|globals|vars)\s*\("
)

#: A name of a file can be put together from pieces that no rule recognises.
_OPENS = re.compile(rb"\b(?:open|fdopen|FileIO|read_bytes|read_text|preadv?)\b")


def uses_introspection(text: bytes, original: bytes) -> bool:
    """Return whether a function's text, unlike its original's, may look at its own memory or frames."""
    return _WORDS.search(text) is not None or (_OPENS.search(text) is not None and _OPENS.search(original) is None)
