"""Excerpts of long texts; a cut excerpt states that it was cut."""

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
    """The beginning of a text without control sequences; ``size`` is the size of the whole text in bytes."""

    text: str
    size: int
    cut: bool

    @property
    def words(self) -> str:
        return f"{size_of(self.size)}, cut" if self.cut else size_of(self.size)


class Excerpts:
    """Reads the texts of one report, ``whole`` or as excerpts.

    A report with ten thousand observations of a megabyte each must remain usable, so once its allowance is spent,
    excerpts have only a few lines.
    """

    def __init__(self, reader: SessionReader, *, whole: bool = False) -> None:
        self._reader = reader
        self._left = _ALLOWANCE
        self._whole = whole

    @property
    def has_room(self) -> bool:
        return self._left > 0

    def charge(self, characters: int) -> None:
        """Subtract the length of a text that is not an excerpt from the allowance."""
        self._left -= characters

    def of(self, digest: str | None, name: str) -> Excerpt:
        """Return an excerpt of a blob: empty for None, or a sentence with its ``name`` if the blob cannot be read."""
        limit = _LONGEST if self._left > 0 else _SHORT
        found = self._read(digest, name, limit)
        self._left -= min(found.size, limit)
        # A character that was cut in the middle leaves a replacement character at the end.
        return replace(found, text=found.text.rstrip("\ufffd")) if found.cut else found

    def readme(self, digest: str, name: str) -> Excerpt:
        """Return a README up to :data:`README_LIMIT`; its length is not subtracted from the allowance."""
        return self._read(digest, name, README_LIMIT)

    def _read(self, digest: str | None, name: str, limit: int) -> Excerpt:
        if digest is None:
            return Excerpt("", 0, False)
        size = self._reader.size(digest)
        text = clean(self._reader.shown(digest, name, None if self._whole else limit))
        return Excerpt(text, size, size > limit and not self._whole)


def split_answer(answer: str) -> tuple[str, str]:
    """Return the thought before an agent's call, and the rest of the answer; without a call, all of it is thought."""
    thought, _ = protocol.split_answer(answer)
    return thought, answer.strip()[len(thought) :].strip()


def pretty_json(text: str) -> str:
    """Return JSON with indentation; any other text is returned unchanged."""
    try:
        return json_text(json.loads(text), indent=2)
    except (ValueError, RecursionError):
        return text
