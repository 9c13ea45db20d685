"""The conversation of a trial that ran here, byte for byte as it was sent: what a model is to be tuned on."""

from __future__ import annotations

from typing import Any

from workbench.session import SessionReader


def exact_chat(reader: SessionReader, trial: str) -> dict[str, Any] | None:
    """Return the messages of the last usable answer of a trial with that answer; None where no model was asked, or it was imported."""
    if reader.imported(trial) is not None:
        return None
    last = next(
        (row for row in reversed(reader.steps(trial)) if row.kind == "respond" and row.call_id is not None), None
    )
    call = reader.call(last.call_id) if last is not None and last.call_id is not None else None
    if call is None or call.answer_blob is None:
        return None
    messages = [{"role": role, "content": text} for role, text in reader.messages(call)]
    return {
        "messages": [
            *messages,
            {"role": "assistant", "content": reader.shown(call.answer_blob, f"the answer of call {call.id}")},
        ]
    }
