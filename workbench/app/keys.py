"""Makes the Textual bindings of a class from :mod:`workbench.base.bindings`."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from workbench.app.key_table import key_label
from workbench.base.bindings import SECTIONS


def bindings(section: str) -> list[BindingType]:
    """Return the bindings of a section, or the one with this id."""
    made: list[BindingType] = []
    for one in SECTIONS[section]:
        shown = key_label(one.keys) if one.keys.startswith("shift+") else None
        if one.opposite:
            keys = sorted((key_label(keys.split(",")[0]) for keys in (one.keys, one.opposite)), key=str.swapcase)
            shown = ("/" if keys[0].isalnum() else " ").join(keys)
        about = f"next {one.title}" if one.opposite else one.about
        made.append(Binding(one.keys, one.action, one.title, one.shown, shown, one.first, about, one.id))
    return made
