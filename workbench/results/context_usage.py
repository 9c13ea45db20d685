"""The request of a step: its messages with their tokens, and the changes since the previous request.

A provider counts the tokens of a whole request. An agent repeats its conversation in each request, so the growth
between two requests is the exact count for the added messages. If there are several, this count is divided among them
in proportion to their size in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CallRow, StepRow

MOST_REQUESTS = 60
"""Maximum number of previous requests to read; the tokens of older messages are divided among them as one group."""


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One message of a request."""

    kind: str  # ``system``, ``task``, ``answer`` (of an earlier step) or ``observation``
    step: int | None  # the step of this answer or observation, if known
    role: str
    digest: str
    size: int  # bytes
    tokens: float | None  # None if not recorded
    exact: bool  # whether the number was counted rather than estimated from the size
    new: bool  # whether the message is new since the previous request


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """The context of one request."""

    call: CallRow
    parts: tuple[ContextPart, ...]
    previous: int | None  # the step of the previous request, None for the first
    previous_tokens: int | None  # tokens of the previous request, None if unknown
    dropped: tuple[ContextPart, ...]  # messages that only the previous request contains
    shape: int  # size of the response schema in bytes, 0 if there is none

    @property
    def tokens(self) -> int | None:
        """Tokens of the whole request as counted by the provider."""
        return self.call.prompt_tokens


_Message = tuple[str, str]
"""Role and content digest."""


@dataclass(frozen=True, slots=True)
class _Request:
    step: int
    tokens: int | None
    messages: tuple[_Message, ...]


def read_context_usage(reader: SessionReader, step: StepRow) -> ContextUsage | None:
    """Read the request of a step, or return None if none is recorded."""
    call = reader.call(step.call_id) if step.call_id is not None else None
    if call is None:
        return None
    requested = [
        (one.number, one.call_id) for one in reader.steps(step.trial_id) if one.number < step.number and one.call_id
    ]
    earlier = []
    for number, key in requested[-MOST_REQUESTS:]:
        before = reader.call(key)
        if before is not None and before.id != call.id:
            earlier.append(_Request(number, before.prompt_tokens, tuple(reader.message_digests(before))))
    request = _Request(step.number, call.prompt_tokens, tuple(reader.message_digests(call)))
    last = earlier[-1] if earlier else None
    sizes = [reader.size(digest) for _, digest in request.messages]
    parts = _parts(request, earlier, sizes)
    dropped: tuple[ContextPart, ...] = ()
    if last is not None:
        common = {at for at, _ in _common(last.messages, request.messages)}
        dropped = tuple(
            ContextPart(_kind(last.messages, at), None, role, digest, reader.size(digest), None, exact=False, new=False)
            for at, (role, digest) in enumerate(last.messages)
            if at not in common
        )
    return ContextUsage(
        call,
        parts,
        last.step if last is not None else None,
        last.tokens if last is not None else None,
        dropped,
        reader.size(call.response_schema_blob),
    )


def _parts(request: _Request, earlier: Sequence[_Request], sizes: Sequence[int]) -> tuple[ContextPart, ...]:
    messages = request.messages
    known = {at for _, at in _common(earlier[-1].messages, messages)} if earlier else set()
    tokens = share_out(sizes, _sums(request, earlier))
    origins = _origins(request, earlier)
    return tuple(
        ContextPart(
            _kind(messages, at), origins[at], role, digest, sizes[at], tokens[at][0], tokens[at][1], at not in known
        )
        for at, (role, digest) in enumerate(messages)
    )


def _common(before: Sequence[_Message], after: Sequence[_Message]) -> list[tuple[int, int]]:
    """Return the positions of messages that both requests contain in the same order."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return [(block.a + at, block.b + at) for block in blocks for at in range(block.size)]


def _starts(request: _Request, earlier: Sequence[_Request]) -> list[_Request]:
    found: list[_Request] = []
    for one in earlier:
        longer = len(one.messages) > (len(found[-1].messages) if found else 0)
        if longer and request.messages[: len(one.messages)] == one.messages:
            found.append(one)
    return found


def _sums(request: _Request, earlier: Sequence[_Request]) -> list[tuple[int, int | None]]:
    """Return sections of messages as (end, tokens), with None for unknown tokens."""
    sums: list[tuple[int, int | None]] = []
    before: int | None = 0
    for one in [*_starts(request, earlier), request]:
        end = len(one.messages)
        if sums and end <= sums[-1][0]:
            continue
        grown = one.tokens - before if one.tokens is not None and before is not None else None
        sums.append((end, grown if grown is None or grown >= 0 else None))
        before = one.tokens
    return sums


def share_out(sizes: Sequence[int], sums: Sequence[tuple[int, int | None]]) -> list[tuple[float | None, bool]]:
    """Return each part's share of the tokens, in proportion to bytes, and whether it is exact.

    ``sums`` are consecutive sections as (end, tokens), with None for unknown tokens; a section with a single part is
    exact.
    """
    found: list[tuple[float | None, bool]] = []
    for end, tokens in sums:
        stretch = sizes[len(found) : end]
        total = sum(stretch)
        for size in stretch:
            share = None if tokens is None else tokens * size / total if total else tokens / len(stretch)
            found.append((share, tokens is not None and len(stretch) == 1))
    return found


def _kind(messages: Sequence[_Message], at: int) -> str:
    role = messages[at][0]
    if role == "system":
        return "system"
    if role == "assistant":
        return "answer"
    return "observation" if any(one == "assistant" for one, _ in messages[:at]) else "task"


def _origins(request: _Request, earlier: Sequence[_Request]) -> list[int | None]:
    """Return for each message the step of the last request before it first appeared."""
    origins: list[int | None] = [None] * len(request.messages)
    starts = _starts(request, earlier)
    for one, following in zip(starts, [*starts[1:], request], strict=False):
        for at in range(len(one.messages), len(following.messages)):
            origins[at] = one.step
    return origins
