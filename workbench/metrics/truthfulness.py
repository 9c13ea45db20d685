"""DocAgent's truthfulness: of the names that a docstring mentions as code, the share that exists in the repository."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection
from dataclasses import dataclass

_QUOTED = re.compile(r"`{1,2}~?([A-Za-z_][\w.]*)(?:\(\))?`{1,2}")
_LOOKS = re.compile(
    r"\b(?:[A-Za-z_]\w*\.)*(?:[a-z]+(?:_[a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)\b|\b[A-Za-z_][\w.]*(?=\(\))"
)
_KNOWN = frozenset(dir(builtins)) | {"self", "cls", "args", "kwargs"}


@dataclass(frozen=True, slots=True)
class Truthfulness:
    """Names that a docstring mentions, and those of them that exist nowhere."""

    mentioned: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def value(self) -> float | None:
        """The existence ratio, from 0 to 1; None if no name is mentioned."""
        return 1 - len(self.missing) / len(self.mentioned) if self.mentioned else None


def truthfulness(docstring: str | None, known: Collection[str]) -> Truthfulness:
    """Return which names a docstring mentions, and which of them are not ``known`` names of the repository.

    A name is in backquotes, before ``()``, or spelt as only code is (``snake_case``, ``CamelCase``). A dotted name
    exists if its last part does. Python's built-in names always exist.
    """
    text = docstring or ""
    names = {found.strip(".") for found in (*_QUOTED.findall(text), *_LOOKS.findall(text))}
    mentioned = tuple(sorted(name for name in names if name))
    last = {name: name.rpartition(".")[2] for name in mentioned}
    return Truthfulness(
        mentioned, tuple(name for name in mentioned if last[name] not in known and last[name] not in _KNOWN)
    )


def names_of(source: str) -> set[str]:
    """Return every name in a Python source, comments and texts included: whatever is there cannot be an invention."""
    return set(re.findall(r"[A-Za-z_]\w*", source))
