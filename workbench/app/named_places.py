"""Everything that one can go to by its name, and which of it a few typed letters mean; no widget in sight."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

MOST_FOUND = 50
"""Places that are offered at once."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """Something that one can go to.

    Attributes:
        kind: ``session``, ``case``, ``study``, ``run``, ``trial``, ``task`` or ``file``.
        name: What it is found by.
        about: What is said beside it.
        key: The session's path, the case's key, the study's name, the id of a run, trial or task, or the file's path.
        run: The run of a task; ``regenerate`` or ``document`` for a run.
        trial: A run's first trial, None where it has none.
    """

    kind: str
    name: str
    about: str
    key: str
    run: str = ""
    trial: str | None = None


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A place whose name matches: how well, 0 to 1, and which letters of the name."""

    place: NamedPlace
    quality: float
    letters: tuple[int, ...]


def load_places(reader: SessionReader | None) -> list[NamedPlace]:
    """Read all sessions, cases, and the runs, trials and tasks of the open session; what cannot be read is left out."""
    found: list[NamedPlace] = []
    parts = [_sessions(), _cases()]
    if reader is not None:
        parts += [_studies(reader), _runs(reader), _trials(reader), _tasks(reader)]
    for part in parts:
        try:
            found.extend(part)
        except (WorkbenchError, OSError, ValueError, TypeError):
            continue  # what is wrong with it is said where it is shown
    return found


def _sessions() -> Iterator[NamedPlace]:
    from workbench import paths

    for path in sorted(paths.sessions_dir().glob("*.session")):
        yield NamedPlace("session", path.stem, "session", str(path))


def _cases() -> Iterator[NamedPlace]:
    from workbench.catalog import load_cases

    for case in load_cases()[0]:
        about = " · ".join(filter(None, ("case", case.domain, case.language)))
        yield NamedPlace("case", case.name, about, case.id)


def _studies(reader: SessionReader) -> Iterator[NamedPlace]:
    for row in reader.studies():
        yield NamedPlace("study", row.name, "study of this session", row.name)


def _runs(reader: SessionReader) -> Iterator[NamedPlace]:
    from time import time

    from workbench.results.runs import load_runs

    for line in load_runs(reader, time()):
        if not line.put_away:
            about = " · ".join(filter(None, ("run", line.state, line.asked if line.name else "")))
            yield NamedPlace("run", line.name or line.asked, about, line.id, line.kind, line.first_trial)


def _trials(reader: SessionReader) -> Iterator[NamedPlace]:
    from workbench.results.trials import load_trials

    for line in load_trials(reader).lines:
        points = f"{line.points:g} of {line.total.out_of:g}" if line.points is not None else line.state
        repeat = f" · repeat {line.repeat}" if line.repeat > 1 else ""
        yield NamedPlace("trial", f"{line.case} · {line.agent} · {line.model}{repeat}", f"trial · {points}", line.id)


def _tasks(reader: SessionReader) -> Iterator[NamedPlace]:
    from workbench.results.tasks import task_names

    for task in task_names(reader):
        yield NamedPlace("task", task.function, f"task · {task.path} · docs {task.docs}", task.id, task.run)


def files(paths: Iterable[str], of: str) -> list[NamedPlace]:
    """Return the files of a repository as places."""
    return [NamedPlace("file", path, f"file of {of}", path) for path in paths]


def find(query: str, places: Sequence[NamedPlace], most: int = MOST_FOUND) -> list[FoundPlace]:
    """Return the places that all typed words match, the best first.

    A word matches a name that holds it, or that holds its letters in this order. ``trial`` and the other kinds, as a word,
    match everything of that kind. A name that holds a word, at the beginning of one of its own, comes first.
    """
    words = _lowered(query).split()
    if not words:
        return []
    # Up to the first of each letter: nothing to go back over, however long a name repeats itself.
    patterns = [re.compile("".join(f"[^{re.escape(c)}]*{re.escape(c)}" for c in word)) for word in words]
    found = (
        (quality, -number, place, letters)
        for number, place in enumerate(places)
        if (match := _match(words, patterns, place)) is not None
        for quality, letters in [match]
    )
    best = heapq.nlargest(most, found, key=lambda one: one[:2])
    return [FoundPlace(place, quality, letters) for quality, _, place, letters in best]


def _match(
    words: Sequence[str], patterns: Sequence[re.Pattern[str]], place: NamedPlace
) -> tuple[float, tuple[int, ...]] | None:
    name = _lowered(place.name)
    total, letters = 0.0, list[int]()
    for word, pattern in zip(words, patterns, strict=True):
        at = name.find(word)
        if at >= 0:
            start = _at_start(name, word, at)
            total += 0.8 if start is None else 0.95 if start else 1.0
            at = at if start is None else start
            letters += range(at, at + len(word))
        elif word == place.kind:
            total += 0.9
        elif (loose := pattern.match(name)) is not None:
            start = name.find(word[0])
            total += 0.6 * len(word) / (loose.end() - start)
            letters += _letters(word, name, start)
        else:
            return None
    # Of two that match alike the shorter one was meant.
    return total / len(words) - min(len(name), 200) / 2000, tuple(letters)


def _lowered(text: str) -> str:
    """Return a text in small letters, each in its place: one whose small form is longer stays."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _at_start(name: str, word: str, at: int) -> int | None:
    """Return where the word stands at the beginning of one, from its first place ``at`` on."""
    while at >= 0:
        if at == 0 or not name[at - 1].isalnum():
            return at
        at = name.find(word, at + 1)
    return None


def _letters(word: str, name: str, start: int) -> Iterator[int]:
    for letter in word:
        start = name.find(letter, start)
        yield start
        start += 1


def shown_name(place: NamedPlace) -> str:
    """Return a name as one line of plain text, letter by letter as long as the name where that is possible."""
    return one_line(place.name, 300)
