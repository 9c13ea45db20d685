"""The command palette: everything that a key does here, what has no key, and any session, case, study, run, trial, task and file by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider

from workbench.app.location import Place
from workbench.app.named_places import NamedPlace, files, find, load_places, shown_name
from workbench.app.toolkit.lifecycle import BaseScreen
from workbench.app.toolkit.literal import highlighted, highlighted_at, literal
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.text import clean

if TYPE_CHECKING:
    from textual.app import App

    from workbench.app.app import WorkbenchApp


# The footer's one word says too little where nothing stands around it.
_TITLES = {
    "trajectory.next-step": "next step",
    "trajectory.next-trial": "next trial",
    "trajectory.next-tab": "next tab",
    "trajectory.raw": "README as source or rendered",
    "trajectory.open": "open in another program",
    "trajectory.copy": "copy this pane's text",
    "trajectory.export": "export a report",
    "trajectory.rerun": "rerun this trial",
    "cases.study": "new study of the marked cases",
    "study.resume": "go on with this study",
    "study.cancel": "cancel this study",
    "study.export": "export a report on this study",
    "study.group": "group the rows",
}


class Palette(CommandPalette, BaseScreen[None]):
    """Textual's palette, which can be closed only once."""

    def _action_command_list(self, action: str) -> None:
        # Textual pages through a list that has not been laid out, and raises.
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)


class WorkbenchCommands(Provider):
    """Commands of the screen, the focused pane and the app."""

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        app = cast("App[Any]", self.app)
        seen: set[str] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            # Moving the cursor is what keys are for; everything else can be found by its name as well.
            moves = binding.id is None or binding.id.startswith(("list.", "file.", "pane.", "choice."))
            if moves or binding.system or not binding.description or binding.description in seen:
                continue
            seen.add(binding.description)
            title = _TITLES.get(binding.id or "", binding.description)
            title = title[0].upper() + title[1:]
            run = partial(app.run_action, binding.action, active.node)
            yield title, f"key {app.get_key_display(binding)}", run
        # What a screen offers beyond its keys: (title, what it does, action).
        for title, text, action in getattr(self.screen, "OFFERED", ()):
            yield title, text, partial(app.run_action, action, self.screen)
        for name in sorted(app.available_themes):
            yield f"Theme {name}", "change the colours", partial(setattr, app, "theme", name)
        yield "Tour of the app", "five steps, escape leaves it", partial(app.run_action, "tour")
        yield (
            "Save a picture of the screen",
            "an SVG file in the present folder",
            partial(app.run_action, "save_picture"),
        )

    async def discover(self) -> Hits:
        for title, text, run in self._commands():
            # The texts are plain, too: Textual takes them for what is typed when a command is chosen.
            yield DiscoveryHit(literal(title), run, text=clean(title), help=_help(text))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, text, run in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, highlighted(matcher, title), run, text=clean(title), help=_help(text))


def _help(text: str) -> str:
    # Textual says str, reads that as markup, and takes content as it is.
    return cast("str", literal(text))


_WEIGHT = 2.4
"""What a matched letter of a place counts: that of a command, by Textual's rule, counts between 1 and 4."""


class PlaceCommands(Provider):
    """What one can go to: read in a thread when the palette opens, searched in a thread at every letter."""

    _places: Sequence[NamedPlace] = ()

    async def startup(self) -> None:
        """Read all names."""
        host, screen = self._host, self.screen
        here = files(screen.files(), screen.files_of) if isinstance(screen, ModeScreen) else []
        self._places = [*here, *await asyncio.to_thread(load_places, host.reader)]

    @property
    def _host(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for found in await asyncio.to_thread(find, query, self._places):
            name = shown_name(found.place)
            score = found.quality * _WEIGHT * len(query)
            help_text = cast("str", literal(found.place.about))
            # Where letters were taken out of a name for the screen, those after them have other places.
            letters = found.letters if clean(name) == found.place.name else ()
            go = self._going(found.place)
            yield Hit(score, highlighted_at(matcher, name, letters), go, text=clean(name), help=help_text)

    def _going(self, place: NamedPlace) -> Callable[[], Any]:
        host = self._host
        if place.kind == "session":
            return partial(host.open_session, Path(place.key), show=True)
        if place.kind == "case":
            return partial(host.show_case, place.key)
        if place.kind == "study":
            return partial(host.show_study, place.key)
        if place.kind == "trial":
            return partial(host.show_trial, place.key)
        if place.kind == "task":
            return partial(host.show_run, place.run, "", Place(item=place.key))
        if place.kind == "file":
            return partial(self.screen.go_to_file, place.key)  # type: ignore[attr-defined]
        if place.run == "regenerate":
            return partial(host.show_run, place.key)
        if place.trial is not None:
            return partial(host.show_trial, place.trial)
        return partial(host.notify, "It has no trials of its own: it scores those of other runs.", timeout=6)
