"""What of a session cannot be read, as sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.base.text import one_line

_NAMED = 3
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is damaged: ``item`` names it (``trial 4f21…``, ``table steps``), ``what`` says what is wrong."""

    item: str
    what: str

    @property
    def sentence(self) -> str:
        return f"{one_line(self.item, 160)}: {one_line(self.what, 240)}"


def summary(damage: Sequence[Damage], named: int = _NAMED) -> str:
    """Return one line that names the first few: ``damaged: trial 4f21…: column seconds holds text``; "" for none."""
    if not damage:
        return ""
    more = f"; and {len(damage) - named:,} more" if len(damage) > named else ""
    return f"damaged: {'; '.join(one.sentence for one in damage[:named])}{more}"


def described(value: object) -> str:
    """Return what is wrong with a value that a column cannot hold."""
    if value is None:
        return "is empty"
    if isinstance(value, bytes):
        return "holds bytes"
    if isinstance(value, str):
        return f"holds the text {shown(value)!r}" if value else "holds an empty text"
    return f"holds {value}, which cannot be"


def shown(value: object) -> str:
    """Return the value of a key column for a sentence, never long."""
    if value is None:
        return "(empty)"
    if isinstance(value, bytes):
        return "(bytes)"
    return one_line(str(value), _SHOWN) or "(empty)"
