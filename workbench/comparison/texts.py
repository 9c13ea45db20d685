"""Two texts of sessions side by side, each of which may be missing, damaged or too long; what is wrong is a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.comparison.words import TextDiff, word_diff
from workbench.session.row_reader import TextDamaged
from workbench.text import clean, one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

MOST_BYTES = 400_000
"""Bytes of a text that are compared: six times 10,000 words."""


@dataclass(frozen=True, slots=True)
class TextSide:
    """One of two texts.

    Attributes:
        title: What it is, in a few words.
        text: What it says, None where there is nothing to show.
        absent: Why there is nothing, "" where there is something.
        cut: Whether the text goes on behind what was read.
    """

    title: str
    text: str | None
    absent: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts, and line by line and word by word how they differ."""

    left: TextSide
    right: TextSide
    diff: TextDiff

    @property
    def same(self) -> bool:
        return self.left.text == self.right.text

    @property
    def words(self) -> str:
        """How much they have in common, "" where one of them is missing."""
        if self.left.absent or self.right.absent:
            return ""
        if self.same:
            return "the same"
        return f"{self.diff.common_words:,} of {self.diff.left_words:,} and {self.diff.right_words:,} words in common"


def compare_texts(left: TextSide, right: TextSide) -> TextPair:
    """Compare two texts; see :func:`workbench.comparison.words.word_diff`."""
    return TextPair(left, right, word_diff(left.text, right.text))


def read_text(reader: SessionReader, digest: str | None, title: str, of: str, absent: str) -> TextSide:
    """Read a text of a session.

    Args:
        reader: The session.
        digest: Which blob, None where there is none.
        title: What it is called beside the other.
        of: What it is, for the sentence that says that it is damaged.
        absent: Why there is none where there is none.
    """
    if digest is None:
        return TextSide(title, None, one_line(absent, 300))
    try:
        text = reader.text(digest, MOST_BYTES, of=of)
    except TextDamaged as error:
        return TextSide(title, None, one_line(str(error), 300))
    return TextSide(title, clean(text), cut=reader.size(digest) > MOST_BYTES)
