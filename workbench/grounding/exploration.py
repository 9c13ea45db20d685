"""How much of a repository an agent saw (files, bytes and public functions), and unusual patterns in its steps."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.claims.known import is_test

READ, PARTLY, LISTED, NEVER = "read", "partly read", "listed", "never seen"
LEVELS = (READ, PARTLY, LISTED, NEVER)
_SUFFIXES = ".py .pyi .pyx .js .ts .go .rs .java .c .h .cpp .rb .sh .jl .r .kt .php"
SOURCES = tuple(_SUFFIXES.split())
_MOST_OF_THEM = 0.5
"""A file with at least this share of all public functions is the main file."""
WHOLE = 0.95
"""Share of a file that must have been shown for the file to count as read."""


@dataclass(frozen=True, slots=True)
class PublicFunction:
    """A public function or method, with its first and last line (from 1, inclusive)."""

    path: str
    name: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Visit:
    """A tool step that showed ``shown`` bytes and ``lines`` of a file, or listed the names in a folder."""

    step: int
    action: str
    path: str
    shown: int = 0
    lines: int = 0
    listed: tuple[str, ...] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Exploration:
    """Files, bytes and public functions by how much of them the agent saw, and unusual patterns, the worst first.

    A file counts as *read* if at least 95% of it was shown, and a function once its last line was shown. In a partly
    read file, the bytes that were shown count as *read* and the rest as *partly read*. Functions in tests are not
    counted. ``functions`` is None if the repository is not available. For an incomplete trial, such as an imported one,
    no pattern says what the agent did not do.
    """

    files: Mapping[str, int]
    bytes: Mapping[str, int]
    functions: Mapping[str, int] | None
    patterns: tuple[str, ...]
    complete: bool = True

    @property
    def share(self) -> float | None:
        """Return the share of all bytes that were shown, or None for an empty repository."""
        total = sum(self.bytes.values())
        return self.bytes.get(READ, 0) / total if total else None


def explore(
    files: Sequence[tuple[str, int]],
    visits: Sequence[Visit],
    functions: Sequence[PublicFunction] | None,
    *,
    stopped: bool = False,
    complete: bool = True,
) -> Exploration:
    """Measure how much of ``files`` (path, bytes) an agent saw in its tool steps, which must be in order.

    ``functions`` are the public functions, or None if their source is not available. ``stopped`` means that the step
    limit ended the trial; ``complete`` means that ``visits`` has every visit of the trial.
    """
    sizes = dict(files)
    shown: dict[str, int] = {}
    lines: dict[str, int] = {}
    listed: set[str] = set()
    for visit in visits:
        if visit.action == "read_file" and not visit.failed and visit.path in sizes:
            shown[visit.path] = max(shown.get(visit.path, 0), min(visit.shown, sizes[visit.path]))
            lines[visit.path] = max(lines.get(visit.path, 0), visit.lines)
        listed.update(visit.listed)
    level = {path: _level(path, size, shown, listed) for path, size in files}
    by_bytes: Counter[str] = Counter()
    for path, size in files:
        by_bytes[READ] += shown.get(path, 0)
        left = size - shown.get(path, 0)
        by_bytes[PARTLY if level[path] == READ else level[path]] += left
    of_functions = None
    if functions is not None:
        of_functions = Counter(dict.fromkeys(LEVELS, 0))
        of_functions.update(_function_level(one, level, lines) for one in functions if not is_test(one.path))
    return Exploration(
        {name: sum(found == name for found in level.values()) for name in LEVELS},
        {name: by_bytes[name] for name in LEVELS},
        of_functions,
        (*(_omissions(sizes, visits, shown, functions or (), stopped) if complete else ()), *_repetitions(visits)),
        complete,
    )


def _level(path: str, size: int, shown: Mapping[str, int], listed: set[str]) -> str:
    if path in shown:
        return READ if shown[path] >= WHOLE * size else PARTLY
    return LISTED if path in listed else NEVER


def _function_level(function: PublicFunction, level: Mapping[str, str], lines: Mapping[str, int]) -> str:
    of_file = level.get(function.path, NEVER)
    if of_file == READ or (of_file == PARTLY and function.last <= lines.get(function.path, 0)):
        return READ
    if of_file == PARTLY:
        return PARTLY if function.first <= lines.get(function.path, 0) else LISTED
    return of_file


def _omissions(
    sizes: Mapping[str, int],
    visits: Sequence[Visit],
    shown: Mapping[str, int],
    functions: Sequence[PublicFunction],
    stopped: bool,
) -> list[str]:
    found: list[str] = []
    if stopped:
        found.append("stopped at the step limit")
    if not shown:
        found.append("read no file")
    main = _main_file(sizes, functions)
    if main is not None:
        share = shown.get(main, 0) / max(1, sizes[main])
        if main not in shown and shown:
            found.append(f"never read the one file that matters, {main}")
        elif main in shown and share < WHOLE:
            found.append(f"read {_portion(share)} of the one file that matters, {main}")
    folders = {posixpath.dirname(path) for path in sizes if path.endswith(SOURCES) and not is_test(path)} - {""}
    looked_into = {posixpath.dirname(path) for path in shown} | {
        visit.path for visit in visits if visit.action == "list_directory" and not visit.failed
    }
    parents = tuple(f"{folder}/" for folder in looked_into if folder not in {"", "."})
    if shown and folders and not any(folder in looked_into or folder.startswith(parents) for folder in folders):
        found.append(
            "read the top file, never listed the folders"
            if len(shown) == 1
            else "read top files only, never listed the folders"
        )
    return found


def _repetitions(visits: Sequence[Visit]) -> list[str]:
    found: list[str] = []
    reads = Counter(visit.path for visit in visits if visit.action == "read_file" and not visit.failed)
    for path, times in reads.most_common():
        if times > 1:
            found.append(f"read the same file {_times(times)}: {path}")
    lists = Counter(visit.path for visit in visits if visit.action == "list_directory" and not visit.failed)
    found += [f"listed the same folder {_times(times)}: {path}" for path, times in lists.most_common() if times > 1]
    errors = sum(visit.failed for visit in visits)
    if errors:
        found.append(f"asked {'once' if errors == 1 else _times(errors)} for a nonexistent path")
    return found


def _main_file(sizes: Mapping[str, int], functions: Sequence[PublicFunction]) -> str | None:
    """Return the file with at least half of the public functions outside tests, or None if there is none."""
    counts = Counter(one.path for one in functions if not is_test(one.path))
    path, count = counts.most_common(1)[0] if counts else ("", 0)
    return path if count >= 2 and count >= _MOST_OF_THEM * counts.total() and path in sizes else None


def _portion(share: float) -> str:
    named = {
        0.0: "nothing",
        0.25: "a quarter",
        1 / 3: "a third",
        0.5: "half",
        2 / 3: "two thirds",
        0.75: "three quarters",
    }
    value = min(named, key=lambda one: abs(one - share))
    return named[value] if abs(value - share) < 0.03 and value else f"{100 * share:.0f} %"


def _times(count: int) -> str:
    words = {2: "twice", 3: "three times", 4: "four times", 5: "five times", 6: "six times"}
    return words.get(count, f"{count:,} times")
