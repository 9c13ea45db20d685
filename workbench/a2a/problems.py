"""What goes wrong with an agent of other people, in one sentence each."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator

import httpx

from workbench.a2a.http import TooLarge
from workbench.models.types import MalformedAnswer, ModelError, ModelRefused, ModelUnavailable
from workbench.text import one_line

_WORDS = 240  # characters of another program that are quoted


class NoAgent(ModelUnavailable):
    """There is no agent at the address: no server, no card, or another one than was asked for."""


class BrokenRules(MalformedAnswer):
    """The agent answered, but not as the protocol has it: twice, in another context, without an end."""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def problem_of(error: BaseException, url: str) -> ModelError:
    """Return what an exception of the client means for the agent at ``url``."""
    who = f"The agent at {url}"
    found = list(_chain(error))
    for one in found:
        if isinstance(one, ModelError):
            return one
        if isinstance(one, TooLarge):
            return BrokenRules(f"{who} sent {one} at once and was stopped.")
        if isinstance(one, ssl.SSLError):
            why = one_line(getattr(one, "verify_message", "") or one.reason or str(one), _WORDS)
            return NoAgent(f"{who} cannot be trusted: its certificate does not match ({why}).")
    for one in found:
        if isinstance(one, httpx.HTTPStatusError):
            return _status(one.response, who)
        if isinstance(one, httpx.ConnectError):
            return NoAgent(f"{who} cannot be reached ({_os_words(found)}); start it, or correct the address.")
        if isinstance(one, httpx.TransportError):
            return ModelUnavailable(f"{who} ended the connection before it answered ({_said(one)}).")
    return BrokenRules(f"{who} sent what is no answer of A2A: {_said(found[0])}.")


def _status(response: httpx.Response, who: str) -> ModelError:
    status = response.status_code
    if 300 <= status < 400:
        to = one_line(response.headers.get("location", "nowhere"), 120)
        return NoAgent(f"{who} redirects to {to}; redirects are not followed, so name that address if it is meant.")
    if status in (401, 403):
        return ModelRefused(f"{who} wants credentials (HTTP {status}); give them in WORKBENCH_A2A_HEADERS.")
    if status >= 500:
        return ModelUnavailable(f"{who} failed (HTTP {status}).")
    return ModelRefused(f"{who} refused the message (HTTP {status}).")


def _os_words(found: list[BaseException]) -> str:
    # asyncio names every address that was tried; the system's own words are those of the number.
    for one in found:
        if isinstance(one, OSError) and one.errno is not None:
            return (os.strerror(one.errno) if one.errno > 0 else one_line(str(one.strerror), 80)).lower()
    return _said(found[-1])


def _said(error: BaseException) -> str:
    return one_line(str(error), _WORDS).rstrip(". ") or type(error).__name__
