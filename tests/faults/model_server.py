"""Ways in which a model server is known to misbehave, as a table, and a server on loopback that misbehaves in one of them."""

from __future__ import annotations

import email.utils
import gzip
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from loopback.server import Body, LoopbackServer, Reply, completion, failure

CODE = "```python\n    return None\n```"
ANSWER = "answer"
Make = Callable[[Body, str], Reply]


@dataclass(frozen=True)
class Mode:
    """One way to misbehave."""

    name: str
    reply: Make  # from the request's body and the key that came with it
    expect: str  # ``answer`` where the answer can be used, else the kind of the model error
    words: str = ""  # in the error's message
    permanent: bool = False  # no later request can succeed either, so a run ends after a few


def _fixed(reply: Reply) -> Make:
    return lambda body, key: reply


def _status(status: int, message: str, code: str | None = None, **headers: str) -> Make:
    return _fixed(failure(status, message, code, headers))


def _raw(text: str | bytes, status: int = 200, **headers: str) -> Make:
    data = text if isinstance(text, bytes) else text.encode()
    return _fixed(Reply(raw=data, status=status, headers={name.replace("_", "-"): v for name, v in headers.items()}))


def _changed(change: Callable[[dict[str, object]], object]) -> Make:
    """Return a proper completion after ``change`` was done to it."""

    def make(body: Body, key: str) -> Reply:
        whole = json.loads(completion(body, Reply(text=CODE)))
        changed = change(whole)
        return Reply(raw=json.dumps(whole if changed is None else changed).encode("utf-8"))

    return make


def _message(**fields: object) -> Make:
    def change(whole: dict[str, object]) -> None:
        choice(whole)["message"] = {"role": "assistant", "content": CODE, **fields}

    return _changed(change)


def choice(whole: Mapping[str, object]) -> dict[str, object]:
    choices = whole["choices"]
    assert isinstance(choices, list)
    first = choices[0]
    assert isinstance(first, dict)
    return first


def _choices(value: object) -> Make:
    return _changed(lambda whole: whole.update(choices=value))


def _without(*names: str) -> Make:
    def change(whole: dict[str, object]) -> None:
        for name in names:
            del whole[name]

    return _changed(change)


def _finish(reason: object, **fields: object) -> Make:
    def change(whole: dict[str, object]) -> None:
        choice(whole)["finish_reason"] = reason
        message = choice(whole)["message"]
        assert isinstance(message, dict)
        message.update(fields)

    return _changed(change)


def _usage(prompt: str, completed: str) -> Make:
    """Return a completion whose usage is written as given, also where that is no JSON number."""

    def make(body: Body, key: str) -> Reply:
        whole = json.loads(completion(body, Reply(text=CODE)))
        whole["usage"] = {"prompt_tokens": "P", "completion_tokens": "C", "total_tokens": "P"}
        text = json.dumps(whole).replace('"P"', prompt).replace('"C"', completed)
        return Reply(raw=text.encode())

    return make


def _keyed(make: Callable[[str], Reply]) -> Make:
    return lambda body, key: make(key)


def _named(name: Callable[[str], str]) -> Make:
    def make(body: Body, key: str) -> Reply:
        whole = json.loads(completion(body, Reply(text=CODE)))
        whole["model"] = name(key)
        return Reply(raw=json.dumps(whole).encode())

    return make


def _whole(head: str, payload: bytes = b"", *, close: bool = True) -> Make:
    return _fixed(Reply(whole=head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + payload, close=close))


def _good(body: Body) -> bytes:
    return completion(body, Reply(text=CODE))


def _zipped_badly(body: Body, key: str) -> Reply:
    return Reply(raw=gzip.compress(_good(body))[:40] + b"garbage" * 20, headers={"content-encoding": "gzip"})


def _not_zipped(body: Body, key: str) -> Reply:
    return Reply(raw=_good(body), headers={"content-encoding": "gzip"})


def _unknown_encoding(body: Body, key: str) -> Reply:
    return Reply(raw=_good(body), headers={"content-encoding": "x-own"})


def _too_long(body: Body, key: str) -> Reply:
    payload = _good(body)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(payload) + 1000}\r\n\r\n"
    return Reply(whole=head.encode() + payload, close=True)


def _too_short(body: Body, key: str) -> Reply:
    payload = _good(body)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(payload) - 50}\r\n\r\n"
    return Reply(whole=head.encode() + payload, close=True)


def _cut_chunks(body: Body, key: str) -> Reply:
    payload = _good(body)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return Reply(whole=head + f"{len(payload):x}\r\n".encode() + payload[:100], close=True)


def _streamed(body: Body, key: str) -> Reply:
    piece = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    piece["choices"] = [{"index": 0, "delta": {"role": "assistant", "content": CODE}, "finish_reason": None}]  # type: ignore[assignment]
    text = f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n"
    return Reply(raw=text.encode(), headers={"content-type": "text/event-stream"})


def _twice(whole: dict[str, object]) -> None:
    whole["choices"] = [choice(whole), choice(whole)]


def _date(seconds: float) -> str:
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


_HTML = "<html><head><title>502</title></head><body><h1>Bad gateway</h1><p>nginx</p></body></html>"
_LIMITED = "Rate limit reached for requests"
_NESTED = "[" * 50_000
_OWN_WORDS = "return None  # the answer ended here"
_TOOL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}

MODES: tuple[Mode, ...] = (
    # -- the connection
    Mode("refused", _fixed(Reply()), "unavailable", "cannot be reached", permanent=True),
    Mode("reset-before-the-headers", _fixed(Reply(drop=0)), "unavailable", "dropped the connection"),
    Mode("closed-within-the-body", _fixed(Reply(text=CODE, drop=200)), "unavailable", "dropped the connection"),
    Mode("drips", _fixed(Reply(text=CODE, drip=0.2)), "timeout", "request_timeout"),
    Mode("never-answers", _fixed(Reply(wait=3600)), "timeout", "request_timeout"),
    Mode("http-0.9", _whole("Hello, this is not HTTP at all."), "unavailable", "does not speak HTTP"),
    Mode("content-length-too-long", _too_long, "unavailable", "dropped the connection"),
    Mode("content-length-too-short", _too_short, "unavailable", "does not speak HTTP"),
    Mode("chunks-cut-short", _cut_chunks, "unavailable", "dropped the connection"),
    Mode("gzip-garbage", _zipped_badly, "malformed", "cannot be decompressed"),
    Mode("says-gzip-and-is-not", _not_zipped, "malformed", "cannot be decompressed"),
    Mode("unknown-encoding", _unknown_encoding, ANSWER),
    Mode("redirect-loop", _raw("", 307, location="/v1/chat/completions"), "unavailable", "redirects", permanent=True),
    Mode("unasked-stream", _streamed, "malformed", "not a chat completion"),
    Mode(
        "invalid-header",
        _whole("HTTP/1.1 200 OK\nno colon here\ncontent-length: 2", b"{}"),
        "unavailable",
        "does not speak HTTP",
    ),
    # -- refusals
    Mode("400", _status(400, "bad thing"), "refused", "bad thing"),
    Mode("400-html", _raw(_HTML, 400, content_type="text/html"), "refused"),
    Mode("400-context", _status(400, "maximum context length is 8192 tokens", "context_length_exceeded"), "context"),
    Mode("400-content-filter", _status(400, "triggering our content management policy", "content_filter"), "refused"),
    Mode("401", _status(401, "Incorrect API key provided", "invalid_api_key"), "key", "does not accept the key", True),
    Mode("402", _status(402, "Insufficient credits"), "refused", "quota", permanent=True),
    Mode("403", _status(403, "Project has no access"), "refused", "may not use", permanent=True),
    Mode("404", _status(404, "The model `x` does not exist", "model_not_found"), "refused", "no model", permanent=True),
    Mode("408", _status(408, "Request timed out"), "timeout", "status 408"),
    Mode("409", _status(409, "Conflict"), "refused", "Conflict"),
    Mode("413-context", _status(413, "the prompt is too long"), "context"),
    Mode("413", _status(413, "Request entity too large"), "refused"),
    Mode("422", _status(422, "Unprocessable"), "refused", "Unprocessable"),
    Mode("429", _status(429, _LIMITED), "rate_limited", "limits the rate"),
    Mode("429-quota", _status(429, "You exceeded your current quota", "insufficient_quota"), "refused", "quota", True),
    Mode("429-after-1-s", _status(429, _LIMITED, retry_after="1"), "rate_limited", "limits the rate"),
    Mode("429-after-an-hour", _status(429, _LIMITED, retry_after="3600"), "rate_limited", "limits the rate"),
    Mode("429-after-10^30-s", _status(429, _LIMITED, retry_after="1" + "0" * 30), "rate_limited", "limits the rate"),
    Mode("429-after-10^400-s", _status(429, _LIMITED, retry_after="1" + "0" * 400), "rate_limited", "limits the rate"),
    Mode("429-after-minus-5-s", _status(429, _LIMITED, retry_after="-5"), "rate_limited", "limits the rate"),
    Mode("429-after-nonsense", _status(429, _LIMITED, retry_after="soon"), "rate_limited", "limits the rate"),
    Mode(
        "429-at-a-date",
        lambda body, key: failure(429, _LIMITED, None, {"retry_after": _date(3600)}),
        "rate_limited",
        "limits the rate",
    ),
    Mode("500", _status(500, "oops"), "unavailable", "oops"),
    Mode("502-html", _raw(_HTML, 502, content_type="text/html"), "unavailable"),
    Mode("503-after-an-hour", _status(503, "overloaded", retry_after="3600"), "unavailable", "overloaded"),
    Mode("504", _status(504, "Gateway timeout"), "timeout", "status 504"),
    Mode("529", _status(529, "Overloaded"), "unavailable", "Overloaded"),
    Mode("500-of-5-MB", _raw("x" * 5_000_000, 500, content_type="text/plain"), "unavailable"),
    Mode(
        "500-with-a-traceback", _status(500, 'Traceback (most recent call last):\n  File "a.py", line 1'), "unavailable"
    ),
    # -- 200, and no chat completion
    Mode("200-html", _raw(_HTML, content_type="text/html"), "malformed", "not a chat completion"),
    Mode("200-empty", _raw(""), "malformed", "not a chat completion"),
    Mode("invalid-json", _raw('{"id": "x", "choices": [{"mess'), "malformed", "not a chat completion"),
    Mode("invalid-utf-8", _raw(b'{"choices": "\xff\xfe\x80"}'), "malformed", "not a chat completion"),
    Mode("nested-brackets", _raw(_NESTED), "malformed", "not a chat completion"),
    Mode("json-null", _raw("null"), "malformed", "not a chat completion"),
    Mode("empty-object", _raw("{}"), "malformed", "without choices"),
    Mode(
        "an-error-in-200", _raw('{"error": {"message": "model overloaded", "code": 503}}'), "unavailable", "overloaded"
    ),
    Mode("no-choices", _choices([]), "malformed"),
    Mode("choices-text", _choices("hello"), "malformed"),
    Mode("message-null", _changed(lambda whole: choice(whole).update(message=None)), "malformed"),
    Mode("message-text", _changed(lambda whole: choice(whole).update(message=CODE)), "malformed"),
    # -- 200, and nothing to read in it: the model spoke, so it is its candidate
    Mode("content-null", _message(content=None), "empty", "the answer is empty"),
    Mode("content-empty", _message(content=""), "empty", "the answer is empty"),
    Mode("tool-calls-only", _message(content=None, tool_calls=[_TOOL]), "empty", "the answer is empty"),
    Mode("content-number", _message(content=7), "malformed"),
    Mode("content-object", _message(content={"text": CODE}), ANSWER),
    Mode("content-parts", _message(content=[{"type": "text", "text": CODE}]), ANSWER),
    Mode("refusal", _message(content=None, refusal="I will not."), "refused", "I will not"),
    Mode("filtered", _finish("content_filter", content=""), "refused", "content filter"),
    # -- 200, and odd in some other way
    Mode("cut-at-the-limit", _finish("length"), ANSWER),
    Mode("finish-reason-null", _finish(None), ANSWER),
    Mode("finish-reason-unknown", _finish("because \x1b[31m of [/x]" * 50), ANSWER),
    Mode("duplicate-choices", _changed(_twice), ANSWER),
    Mode("no-id-no-created", _without("id", "created"), ANSWER),
    Mode("role-missing", _changed(lambda whole: choice(whole).update(message={"content": CODE})), ANSWER),
    Mode("usage-missing", _without("usage"), ANSWER),
    Mode("usage-negative", _usage("-5", "-7"), ANSWER),
    Mode("usage-digits-as-text", _usage('"12"', '"3"'), ANSWER),
    Mode("usage-10^30", _usage("1" + "0" * 30, "1" + "0" * 30), ANSWER),
    Mode("usage-10^5000", _usage("1" + "0" * 5000, "1"), "malformed", "digits"),
    Mode("model-controls", _named(lambda key: "gpt\x1b[31m\x00\u202e [/x]\nmodel"), ANSWER),
    Mode("model-10000-characters", _named(lambda key: "m" * 10_000), ANSWER),
    Mode("model-is-the-key", _named(lambda key: f"gpt-{key}"), ANSWER),
    Mode("answer-echoes-the-key", _keyed(lambda key: Reply(text=f"```python\n    return {key!r}\n```")), ANSWER),
    Mode(
        "reasoning-echoes-the-key",
        _keyed(lambda key: Reply(text=CODE, extra={"reasoning_content": f"I was called with {key}"})),
        ANSWER,
    ),
    Mode("error-echoes-the-key", _keyed(lambda key: failure(500, f"Bearer {key} failed")), "unavailable"),
    Mode("refusal-echoes-the-key", _keyed(lambda key: Reply(text=None, extra={"refusal": f"Not {key}."})), "refused"),
    Mode("answer-of-5-MB", _fixed(Reply(text=f"```python\n    return None  # {'x' * 5_000_000}\n```")), ANSWER),
    Mode("answer-with-surrogates", _fixed(Reply(text="```python\n    return '\ud800'\n```")), ANSWER),
    Mode("answer-of-brackets", _fixed(Reply(text=f"```python\n    return {_NESTED}\n```")), ANSWER),
    Mode("answer-is-deep-json", _fixed(Reply(text=f'{{"code": {_NESTED}')), ANSWER),
    Mode("answer-with-markup", _fixed(Reply(text=f"[/x] [red]\x1b]0;t\x07\n```python\n    {_OWN_WORDS}\n```")), ANSWER),
)
BY_NAME: Mapping[str, Mode] = {mode.name: mode for mode in MODES}


class ModelServer(LoopbackServer):
    """A loopback server that misbehaves in one way until ``mode`` is set to another one."""

    def __init__(self, mode: Mode, port: int = 0) -> None:
        super().__init__(self._misbehave, port)
        self.mode = mode

    def _misbehave(self, body: Body) -> Reply:
        sent = {name.lower(): value for name, value in self.seen[-1].headers.items()}
        return self.mode.reply(body, sent.get("authorization", "").removeprefix("Bearer "))


@contextmanager
def serving(mode: Mode) -> Iterator[str]:
    """Serve a mode and give its base URL; ``refused`` gives a port that is taken and not listened on."""
    if mode.name == "refused":
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            taken.bind(("127.0.0.1", 0))
            yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        return
    with ModelServer(mode) as server:
        yield server.base_url
