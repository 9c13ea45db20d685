"""The command palette.

It offers the actions bound to keys, commands without a key, and all sessions, cases, studies, runs, trials, tasks and
files.
"""

from __future__ import annotations

import asyncio
import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider

from workbench.app.keys import with_keys
from workbench.app.location import Anchor, Location
from workbench.app.toolkit.lifecycle import BaseScreen
from workbench.app.toolkit.literal import highlighted, literal
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.base.errors import WorkbenchError
from workbench.base.text import clean, one_line

if TYPE_CHECKING:
    from textual.app import App

    from workbench.app.app import WorkbenchApp
    from workbench.session.reader import SessionReader


class Palette(CommandPalette, BaseScreen[None]):
    """Textual's palette, except that it can be dismissed only once."""

    def _action_command_list(self, action: str) -> None:
        # Textual raises an exception when the user pages through a list before its first layout.
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)


class WorkbenchCommands(Provider):
    """The commands of the screen, the focused pane and the app."""

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        app = cast("App[Any]", self.app)
        seen: set[str] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            # Leave out movement keys; all other actions can be found by name.
            moves = binding.id is None or binding.id.startswith(
                ("list.", "file.", "pane.next", "pane.previous", "choice.")
            )
            if moves or binding.system or not binding.description or binding.description in seen:
                continue
            seen.add(binding.description)
            title = binding.tooltip or binding.description  # the single word of the key bar is too short here
            title = title[0].upper() + title[1:]
            run = partial(app.run_action, binding.action, active.node)
            yield title, f"key {app.get_key_display(binding)}", run
        # Commands of a screen without a key: (title, description, action).
        for title, text, action in getattr(self.screen, "OFFERED", ()):
            yield title, text, partial(app.run_action, action, self.screen)
        for name in sorted(app.available_themes):
            yield f"Theme {name}", "change the colours", partial(setattr, app, "theme", name)
        for title, text, action in (
            ("What models cost", "all models, across all sessions", "costs"),
            ("Tour of the app", with_keys("five steps, {app.leave-tour} leaves it"), "tour"),
            ("Save a screenshot", "an SVG file in the current folder", "save_picture"),
        ):
            if title.lower() not in seen:
                yield title, text, partial(app.run_action, action)

    async def discover(self) -> Hits:
        for title, text, run in self._commands():
            # Textual compares this text with the input when a command is chosen, so it must be cleaned as well.
            yield DiscoveryHit(literal(title), run, text=clean(title), help=_help(text))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, text, run in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, highlighted(matcher, title), run, text=clean(title), help=_help(text))


def _help(text: str) -> str:
    # The type declared by Textual is str, which it parses as markup, but it also accepts Content.
    return cast("str", literal(text))


_WEIGHT = 2.4
"""Score of each matched letter of a location; Textual scores letters of commands between 1 and 4."""


class LocationCommands(Provider):
    """Locations by name, loaded in a thread when the palette opens and searched in a thread on each key."""

    _places: Sequence[NamedLocation] = ()

    async def startup(self) -> None:
        host, screen = self._host, self.screen
        here = files(screen.files(), screen.files_of) if isinstance(screen, ModeScreen) else []
        self._places = [*here, *await asyncio.to_thread(load_locations, host.reader)]

    @property
    def _host(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for found in await asyncio.to_thread(find, query, self._places):
            name = one_line(
                found.place.name, 300
            )  # preserves the length of the name if possible, so that the right letters are highlighted
            score = found.quality * _WEIGHT * len(query)
            help_text = cast("str", literal(found.place.about))
            # The indexes of the letters are wrong if characters were removed.
            letters = found.letters if clean(name) == found.place.name else ()
            go = partial(self._go, found.place)
            yield Hit(score, highlighted(matcher, name, letters), go, text=clean(name), help=help_text)

    def _go(self, place: NamedLocation) -> None:
        if place.location is not None:
            self._host.go_to(place.location)
        elif place.kind == "file":
            cast("ModeScreen", self.screen).go_to_file(place.name)
        else:
            self._host.notify("This run has no trials: it scores those of other runs.", timeout=6)


# -- locations by name

MOST_FOUND = 50
"""Maximum number of matches."""


@dataclass(frozen=True, slots=True)
class NamedLocation:
    """A ``session``, ``case``, ``study``, ``run``, ``trial``, ``task`` or ``file`` with its location."""

    kind: str
    name: str
    about: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class LocationMatch:
    """A matching location, the quality of the match from 0 to 1, and the indexes of the matched letters."""

    place: NamedLocation
    quality: float
    letters: tuple[int, ...]


def load_locations(reader: SessionReader | None) -> list[NamedLocation]:
    """Load all locations except those that cannot be read."""
    found: list[NamedLocation] = []
    parts = [_sessions(), _cases()]
    if reader is not None:
        parts += [_studies(reader), _runs(reader), _trials(reader), _tasks(reader)]
    for part in parts:
        try:
            found.extend(part)
        except (WorkbenchError, OSError, ValueError, TypeError):
            continue  # the screen of the session shows the error
    return found


def _sessions() -> Iterator[NamedLocation]:
    from workbench.base import paths

    for path in sorted(paths.sessions_dir().glob("*.session")):
        yield NamedLocation("session", path.stem, "session", Location(path, ""))


def _cases() -> Iterator[NamedLocation]:
    from workbench.catalog import load_cases

    for case in load_cases()[0]:
        about = " · ".join(filter(None, ("case", case.domain, case.language)))
        yield NamedLocation("case", case.name, about, Location(None, "cases", case.id))


def _studies(reader: SessionReader) -> Iterator[NamedLocation]:
    for row in reader.studies():
        yield NamedLocation("study", row.name, "study of this session", Location(None, "study", row.name))


def _runs(reader: SessionReader) -> Iterator[NamedLocation]:
    from time import time

    from workbench.results.runs import load_runs

    for line in load_runs(reader, time()):
        if not line.archived:
            about = " · ".join(filter(None, ("run", line.state, line.asked if line.name else "")))
            mode, item = ("regeneration", line.id) if line.kind != "document" else ("trajectory", line.first_trial)
            yield NamedLocation("run", line.name or line.asked, about, Location(None, mode, item) if item else None)


def _trials(reader: SessionReader) -> Iterator[NamedLocation]:
    from workbench.results.trials import load_trials

    for line in load_trials(reader).lines:
        points = f"{line.points:g} of {line.total.out_of:g}" if line.points is not None else line.state
        repeat = f" · repeat {line.repeat}" if line.repeat > 1 else ""
        name = f"{line.case} · {line.agent} · {line.model}{repeat}"
        yield NamedLocation("trial", name, f"trial · {points}", Location(None, "trajectory", line.id))


def _tasks(reader: SessionReader) -> Iterator[NamedLocation]:
    from workbench.results.tasks import task_names

    for task in task_names(reader):
        shown = Location(None, "regeneration", task.run, Anchor(item=task.id))
        yield NamedLocation("task", task.function, f"task · {task.path} · docs {task.docs}", shown)


def files(paths: Iterable[str], of: str) -> list[NamedLocation]:
    return [NamedLocation("file", path, f"file of {of}") for path in paths]


def find(query: str, places: Sequence[NamedLocation], most: int = MOST_FOUND) -> list[LocationMatch]:
    """Return the locations that match all words of a query, best first.

    The best matches are whole words, then parts of words, kinds of locations, and letters in the same order.
    """
    words = _lowered(query).split()
    if not words:
        return []
    # To avoid backtracking on repetitive names, each letter matches its first occurrence.
    patterns = [re.compile("".join(f"[^{re.escape(c)}]*{re.escape(c)}" for c in word)) for word in words]
    found = (
        (quality, -number, place, letters)
        for number, place in enumerate(places)
        if (match := _match(words, patterns, place)) is not None
        for quality, letters in [match]
    )
    best = heapq.nlargest(most, found, key=lambda one: one[:2])
    return [LocationMatch(place, quality, letters) for quality, _, place, letters in best]


def _match(
    words: Sequence[str], patterns: Sequence[re.Pattern[str]], place: NamedLocation
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
    # If two matches are equally good, the shorter name wins.
    return total / len(words) - min(len(name), 200) / 2000, tuple(letters)


def _lowered(text: str) -> str:
    """Return a text in lower case but of the same length: characters that would become longer are left unchanged."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _at_start(name: str, word: str, at: int) -> int | None:
    """Return the index of the first occurrence of a word at a word boundary from index ``at`` on, or None."""
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
