"""In which language a folder's code is written, judged by the endings of its files."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

_MOST_FILES = 20_000
_NAMES = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".jsx": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP",
    ".swift": "Swift", ".scala": "Scala", ".jl": "Julia", ".r": "R", ".lua": "Lua", ".pl": "Perl", ".sh": "Shell",
    ".hs": "Haskell", ".ex": "Elixir", ".erl": "Erlang", ".dart": "Dart", ".zig": "Zig", ".f90": "Fortran",
}  # fmt: skip


def language_of(folder: Path) -> str | None:
    """Return the language of most files below ``folder``, "" where none is known by its ending, None where there is no file.

    Hidden folders are left out; of a very large folder the first 20,000 files count. Of languages with equally many
    files Python wins, then the one that comes first in the alphabet.
    """
    counts: Counter[str] = Counter()
    files = 0
    for _, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += len(names)
        counts.update(language for name in names if (language := _NAMES.get(Path(name).suffix.lower())) is not None)
        if files >= _MOST_FILES:
            break
    if not files:
        return None
    return min(counts, key=lambda name: (-counts[name], name != "Python", name), default="")


def has_python(folder: Path) -> bool:
    """Return whether a folder holds a Python file outside of hidden folders; a very large one is taken to have one."""
    files = 0
    for _, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += len(names)
        if files >= _MOST_FILES or any(name.endswith((".py", ".pyi")) for name in names):
            return True
    return False
