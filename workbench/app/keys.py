"""The bindings of a class of the app, as Textual takes them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.app.key_table import written
from workbench.base.bindings import SECTIONS


def bindings(section: str) -> list[BindingType]:
    """Return the bindings of a section of :mod:`workbench.base.bindings`, or the one with this id."""
    made: list[BindingType] = []
    for one in SECTIONS[section]:
        shown = written(one.keys) if one.keys.startswith("shift+") else None
        if one.opposite:
            keys = sorted((written(keys.split(",")[0]) for keys in (one.keys, one.opposite)), key=str.swapcase)
            shown = ("/" if keys[0].isalnum() else " ").join(keys)
        about = f"next {one.title}" if one.opposite else one.about
        made.append(Binding(one.keys, one.action, one.title, one.shown, shown, one.first, about, one.id))
    return made
