"""The command palette's places: any session, case, study, run, trial, task and file by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.command import Hit, Hits, Provider

from workbench.app.location import Place
from workbench.app.named_places import NamedPlace, files, find, load_places, shown_name
from workbench.app.toolkit.literal import highlighted_at, literal
from workbench.app.toolkit.mode_screen import ModeScreen
from workbench.text import clean

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp

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
        """Offer the places that match."""
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
