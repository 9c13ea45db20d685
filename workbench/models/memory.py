"""A call log for work without a session: calls are kept in memory and lost when the process ends."""

from __future__ import annotations

from workbench.models.types import Answer, CallRecord, Request


class MemoryCallLog:
    """Keeps the calls of one gateway in ``calls``."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def recall(self, request: Request, nth: int) -> Answer | None:
        """Return None: there is no earlier session to recall from."""
        return None

    def record(self, call: CallRecord) -> None:
        """Append a call to ``calls``."""
        self.calls.append(call)
