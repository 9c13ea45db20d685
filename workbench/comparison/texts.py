"""Two texts of sessions side by side, each of which may be missing, damaged or too long; what is wrong is a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.comparison import panes
from workbench.comparison.words import TextDiff, word_diff
from workbench.session.row_reader import TextDamaged
from workbench.text import clean, one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, TaskRow

MOST_BYTES = 400_000
"""Bytes of a text that are compared: six times 10,000 words."""


@dataclass(frozen=True, slots=True)
class TextSide:
    """One of two texts: ``absent`` says why there is none, ``cut`` that it goes on behind what was read."""

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

    def named(self, left: str = "", right: str = "") -> TextPair:
        """Return them with the sides' letters, and what else is given, before their titles."""
        a, b = (
            replace(side, title=f"{name}  {f'{more} · ' if more else ''}{side.title}")
            for name, more, side in (("A", left, self.left), ("B", right, self.right))
        )
        return replace(self, left=a, right=b)


def texts_pane(pair: TextPair, **how: bool) -> panes.Texts:
    return panes.Texts(pair, pair.words, **how)


def alike(**texts: TextPair) -> str:
    """Return which texts are the same: ``docstring the same · prompt differs``."""
    return " · ".join(f"{word} {'the same' if pair.same else 'differs'}" for word, pair in texts.items())


def compare_texts(left: TextSide, right: TextSide) -> TextPair:
    return TextPair(left, right, word_diff(left.text, right.text))


def read_text(reader: SessionReader, digest: str | None, title: str, of: str, absent: str) -> TextSide:
    """Read a text of a session; ``of`` names it where it is damaged, ``absent`` says why there is none where there is none."""
    if digest is None:
        return TextSide(title, None, one_line(absent, 300))
    try:
        text = reader.text(digest, MOST_BYTES, of=of)
    except TextDamaged as error:
        return TextSide(title, None, one_line(str(error), 300))
    return TextSide(title, clean(text), cut=reader.size(digest) > MOST_BYTES)


def docstring_of(reader: SessionReader, task: TaskRow, width: int = 60) -> TextSide:
    title = f"docs {one_line(task.docs_words, width)}"
    return read_text(reader, task.docstring_blob, title, f"the docstring of task {task.id}", "no docstring")


def prompt_of(reader: SessionReader, task: TaskRow, candidate: CandidateRow | None = None) -> TextSide:
    """Return the messages of a candidate's call, else the prompt that is kept with the task: that of the first model asked for it."""
    call = reader.call(candidate.call_id) if candidate is not None and candidate.call_id is not None else None
    messages = reader.messages(call) if call is not None else []
    versions, kept = kept_prompt(reader, task)
    if candidate is not None:
        versions = candidate.prompt, candidate.context
    return _laid_out(messages or kept, versions)


def kept_prompt(reader: SessionReader, task: TaskRow) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """Return the versions of wording and context, and the messages; what cannot be read as such is one message."""
    if task.prompt_blob is None:
        return (), []
    kept = reader.kept(task.prompt_blob, f"the prompt of task {task.id}") or ""
    try:
        found = json.loads(kept)
        messages = [(str(role), str(content)) for role, content in found["messages"]]
        return tuple(str(found.get(name) or "") for name in ("prompt", "context")), messages
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return (), [("prompt", kept)] if kept else []


def _laid_out(messages: Iterable[tuple[str, str]], versions: Iterable[str]) -> TextSide:
    title = "prompt " + one_line(" · ".join(part for part in versions if part) or "sent", 60)
    text = "\n\n".join(f"▎{one_line(role, 40)}\n{clean(content)}" for role, content in messages)
    return TextSide(title, text) if text else TextSide(title, None, "no prompt is recorded")
