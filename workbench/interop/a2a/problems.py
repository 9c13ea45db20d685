"""What goes wrong with an agent of other people, in one sentence each."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator

import httpx

from workbench.base.json_answers import objects_in
from workbench.base.text import one_line
from workbench.interop.a2a.http import TooLarge
from workbench.models.types import MalformedAnswer, ModelError, ModelRefused, ModelUnavailable

_WORDS = 240  # characters of another program that are quoted
_WORD_KEYS = ("message", "detail", "error", "msg", "title", "reason")


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


def problem_of(error: BaseException, url: str, last: bytes = b"") -> ModelError:
    """Return what an exception of the client means for the agent at ``url``, whose last response ended with ``last``."""
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
            return _status(one.response, who, last)
        if isinstance(one, httpx.ConnectError):
            return NoAgent(f"{who} cannot be reached ({_os_words(found)}); start it, or correct the address.")
        if isinstance(one, httpx.TransportError):
            return ModelUnavailable(f"{who} ended the connection before it answered ({_said(one)}).")
    for answered in objects_in(last.decode("utf-8", "replace")):
        # The client's own exceptions leave out the code, or the words.
        if (failed := answered.value.get("error")) and answered.value.get("result") is None:
            code = f" {one_line(str(failed['code']), 40)}" if isinstance(failed, dict) and "code" in failed else ""
            return ModelUnavailable(f"{who} answered with the error{code}: {_words_in(failed) or 'it says no more'}.")
    return BrokenRules(f"{who} sent what is no answer of A2A: {_said(found[0])}.")


def _status(response: httpx.Response, who: str, last: bytes) -> ModelError:
    status = response.status_code
    if 300 <= status < 400:
        to = one_line(response.headers.get("location", "nowhere"), 120)
        return NoAgent(f"{who} redirects to {to}, which is not followed; name that address if it is meant.")
    text = last.decode("utf-8", "replace").strip()
    objects = objects_in(text)
    # A page in HTML says nothing that one line could hold.
    words = _words_in(objects[0].value) if objects else "" if text.startswith("<") else one_line(text, _WORDS)
    why = f": {words.rstrip('. ')}" if words else ""
    if status in (401, 403):
        return ModelRefused(f"{who} wants credentials (HTTP {status}); give them in WORKBENCH_A2A_HEADERS.")
    if status >= 500:
        return ModelUnavailable(f"{who} failed (HTTP {status}){why}.")
    return ModelRefused(f"{who} refused the message (HTTP {status}){why}.")


def _words_in(value: object) -> str:
    """Return what an error in JSON says, wherever servers put it, "" if nothing."""
    if isinstance(value, str):
        return one_line(value, _WORDS).rstrip(". ")
    if isinstance(value, list):
        return "; ".join(filter(None, map(_words_in, value[:3])))
    if isinstance(value, dict):
        said = next(filter(None, (_words_in(value.get(key)) for key in _WORD_KEYS)), "")
        more = _words_in(value.get("data"))
        return f"{said} ({more})" if said and more else said or more
    return ""


def _os_words(found: list[BaseException]) -> str:
    # asyncio names every address that was tried; the system's own words are those of the number.
    for one in found:
        if isinstance(one, OSError) and one.errno is not None:
            return (os.strerror(one.errno) if one.errno > 0 else one_line(str(one.strerror), 80)).lower()
    return _said(found[-1])


def _said(error: BaseException) -> str:
    return one_line(str(error), _WORDS).rstrip(". ") or type(error).__name__
