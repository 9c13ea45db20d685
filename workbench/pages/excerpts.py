"""Long texts for pages that people read: cut where they grow too long, and always said so."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from workbench.agents import protocol
from workbench.base.text import clean, json_text, size_of
from workbench.session.reader import SessionReader

_LONGEST = 16_000
_SHORT = 600
_ALLOWANCE = 3_000_000
README_LIMIT = 400_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text without control sequences; ``size`` is the whole text's in bytes."""

    text: str
    size: int
    cut: bool

    @property
    def words(self) -> str:
        return f"{size_of(self.size)}, cut" if self.cut else size_of(self.size)


class Excerpts:
    """Reads texts of a session for one report.

    A report with ten thousand observations of a megabyte must still open: once a report has spent its allowance,
    each further text is shortened to a few lines. ``whole`` texts are never cut.
    """

    def __init__(self, reader: SessionReader, *, whole: bool = False) -> None:
        self._reader = reader
        self._left = _ALLOWANCE
        self._whole = whole

    @property
    def has_room(self) -> bool:
        return self._left > 0

    def charge(self, characters: int) -> None:
        """Take what is written out besides excerpts from the allowance."""
        self._left -= characters

    def of(self, digest: str | None, name: str) -> Excerpt:
        """Return the beginning of a blob, an empty excerpt for None, a sentence with its ``name`` if it cannot be read."""
        limit = _LONGEST if self._left > 0 else _SHORT
        found = self._read(digest, name, limit)
        self._left -= min(found.size, limit)
        # A cut in the middle of a character leaves its replacement at the end.
        return replace(found, text=found.text.rstrip("\ufffd")) if found.cut else found

    def readme(self, digest: str, name: str) -> Excerpt:
        """Return a README, whole unless it is absurdly long; not charged to the allowance."""
        return self._read(digest, name, README_LIMIT)

    def _read(self, digest: str | None, name: str, limit: int) -> Excerpt:
        if digest is None:
            return Excerpt("", 0, False)
        size = self._reader.size(digest)
        text = clean(self._reader.shown(digest, name, None if self._whole else limit))
        return Excerpt(text, size, size > limit and not self._whole)


def split_answer(answer: str) -> tuple[str, str]:
    """Return the thought before an agent's call, and the answer from there on; an answer without a call is all thought."""
    thought, _ = protocol.split_answer(answer)
    return thought, answer.strip()[len(thought) :].strip()


def pretty_json(text: str) -> str:
    """Return JSON indented for reading, any other text as it is."""
    try:
        return json_text(json.loads(text), indent=2)
    except (ValueError, RecursionError):
        return text
