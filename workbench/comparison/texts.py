"""Two texts of sessions side by side, each of which may be missing, damaged or too long; what is wrong is a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.comparison.diff import TextDiff, word_diff
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
class Texts:
    """A pane of two texts side by side, or with ``under`` the one and what stands in its place; ``page`` is whether a page has them.

    An ``optional`` pane takes no room where both are the same, unless it was asked for; one ``of_b`` is about B alone.
    """

    left: TextSide
    right: TextSide
    diff: TextDiff
    under: bool = False
    page: bool = True
    optional: bool = False
    of_b: bool = False

    @property
    def same(self) -> bool:
        return self.left.text == self.right.text

    @property
    def summary(self) -> str:
        if self.left.absent or self.right.absent:
            return ""
        if self.same:
            return "the same"
        return f"{self.diff.common_words:,} of {self.diff.left_words:,} and {self.diff.right_words:,} words in common"


def compare_all(left: object, right: object, *names: str) -> dict[str, Texts]:
    """Return the texts of these names of two sides; all but the first one are optional."""
    return {name: compare_texts(getattr(left, name), getattr(right, name), optional=name != names[0]) for name in names}


def alike(texts: Mapping[str, Texts]) -> str:
    """Return which of the optional texts are the same: ``docstring the same · prompt differs``."""
    return " · ".join(f"{name} {'the same' if one.same else 'differs'}" for name, one in texts.items() if one.optional)


def compare_texts(left: TextSide, right: TextSide, **how: bool) -> Texts:
    return Texts(left, right, word_diff(left.text, right.text), **how)


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
    versions, messages = kept_prompt(reader, task)
    if call is not None:
        messages = reader.messages(call) or messages
    if candidate is not None:
        versions = candidate.prompt, candidate.context
    title = "prompt " + one_line(" · ".join(filter(None, versions)) or "sent", 60)
    text = "\n\n".join(f"▎{one_line(role, 40)}\n{clean(content)}" for role, content in messages)
    return TextSide(title, text) if text else TextSide(title, None, "no prompt is recorded")


def kept_prompt(reader: SessionReader, task: TaskRow) -> tuple[Iterable[str], list[tuple[str, str]]]:
    """Return the versions of wording and context, and the messages; what cannot be read as such is one message."""
    kept = reader.kept(task.prompt_blob, f"the prompt of task {task.id}") if task.prompt_blob is not None else ""
    try:
        found = json.loads(kept or "")
        messages = [(str(role), str(content)) for role, content in found["messages"]]
        return [str(found.get(name) or "") for name in ("prompt", "context")], messages
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return (), [("prompt", kept)] if kept else []
