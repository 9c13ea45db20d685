"""A call log for work without a session: it remembers nothing between processes and keeps the calls for the asker."""

from __future__ import annotations

from workbench.models.types import Answer, CallRecord, Request


class MemoryCallLog:
    """Keeps the calls of one gateway in ``calls``."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> Answer | None:
        """Return None: nothing was asked before."""
        return None

    def record(self, call: CallRecord) -> None:
        """Keep a call."""
        self.calls.append(call)
