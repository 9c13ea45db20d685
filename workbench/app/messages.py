"""What threads tell the app, in the past tense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import Change


class SessionChanged(Message):
    """Rows of the open session changed; a batch per poll, oldest first, each (kind, item, part) once.

    ``part`` is ``"liveness"`` on a run whose engine appeared or went away, which is no change in the file.
    """

    def __init__(self, reader: SessionReader, changes: tuple[Change, ...]) -> None:
        super().__init__()
        self.reader = reader
        self.changes = changes

    def can_replace(self, message: Message) -> bool:
        """Let a later batch take this one along, so that a busy app handles one message for many polls."""
        if not isinstance(message, SessionChanged) or message.reader is not self.reader:
            return False
        message.changes = merged(self.changes, message.changes)
        return True


class SessionFailed(Message):
    """A session file could not be opened or read on; ``sentence`` says why and what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence


class SessionMigrated(Message):
    """A writer gave a session of a former version the form of this one: another file is in its place."""

    def __init__(self, reader: SessionReader) -> None:
        super().__init__()
        self.reader = reader


def merged(earlier: tuple[Change, ...], later: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return both batches as one: no change lost, and what changed twice named once, at its last place."""
    last = {(change.kind, change.item, change.part): change for change in earlier}
    for change in later:
        key = (change.kind, change.item, change.part)
        last.pop(key, None)
        last[key] = change
    return tuple(last.values())
