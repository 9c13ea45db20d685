"""A call log for work without a session."""

from __future__ import annotations

from workbench.models.types import Answer, CallRecord, Request


class MemoryCallLog:
    """Keeps the calls of one gateway in ``calls``, lost when the process ends."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> Answer | None:
        return None

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)
