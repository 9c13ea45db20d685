"""The rungs of the validity ladder of usage tasks: pages that are worth less than a project's own README."""

from __future__ import annotations

import builtins
import keyword
import re
import sys

_KEPT = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | sys.stdlib_module_names
_WORD = re.compile(r"(?<![\w<:/])(?:--?[A-Za-z][\w-]*|[A-Za-z_]\w*(?!:`))")
_MARKUP = re.compile(r"\s*(?:`{3,}|~{3,}|\.\. |:\w+:)")


def first_half(page: str) -> str:
    return page[: len(page) // 2]


def wrong_names(page: str) -> str:
    """Return the page with another name in the place of every name and option, except those of Python itself."""
    return "".join(line if _MARKUP.match(line) else _WORD.sub(_wrong, line) for line in page.splitlines(keepends=True))


def _wrong(match: re.Match[str]) -> str:
    return match[0] if match[0] in _KEPT else f"{match[0]}_gone"
