"""What was sent for a candidate or is kept with a task, as one text: each message under a line with its role."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.comparison.texts import TextSide
from workbench.text import clean, one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CandidateRow, TaskRow


def prompt_of_candidate(reader: SessionReader, candidate: CandidateRow, task: TaskRow) -> TextSide:
    """Return the messages of a candidate's call, or the prompt that is kept with its task."""
    call = reader.call(candidate.call_id) if candidate.call_id is not None else None
    messages = reader.messages(call) if call is not None else []
    return _laid_out(messages or _kept(reader, task)[1], (candidate.prompt, candidate.context))


def prompt_of_task(reader: SessionReader, task: TaskRow) -> TextSide:
    """Return the prompt that is kept with a task: that of the first model which was asked for it."""
    versions, messages = _kept(reader, task)
    return _laid_out(messages, versions)


def _kept(reader: SessionReader, task: TaskRow) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
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
