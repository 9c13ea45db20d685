"""A model server that misbehaves in every known way: the gateway is asked in all of them, a regeneration run in some of each kind."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from faults.damaging import invoke
from faults.model_server import ANSWER, BY_NAME, MODES, Mode, serving
from sweeps import ALL, spread

from workbench.models import CallLimits, Message, ModelError, Request, Sampling
from workbench.models.gateway import Gateway
from workbench.models.types import EmptyAnswer, MemoryCallLog
from workbench.session import SessionReader

pytestmark = pytest.mark.slow
KEY = "sk-live-0123456789abcdef"
QUICK = CallLimits(timeout_s=1.0, total_s=4.0, tries=2, backoff_s=0.01, longest_wait_s=0.5)
REQUEST = Request("openai/x", (Message("user", "Hi"),), "evaluator", Sampling(temperature=1.0))
_LIBRARY = re.compile(r"Traceback|site-packages|litellm|pydantic|File \"|bug in the workbench", re.IGNORECASE)


@pytest.fixture
async def warm() -> None:
    """The first request of a process loads parts of LiteLLM for seconds; the limits of the test are meant for the server."""
    with serving(BY_NAME["finish-reason-null"]) as base_url:
        await Gateway(MemoryCallLog(), CallLimits(), base_url=base_url).complete(REQUEST)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
async def test_the_gateway_names_what_the_server_did(mode: Mode, warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    log = MemoryCallLog()
    message, kind, error = "", ANSWER, None
    with serving(mode) as base_url:
        began = time.monotonic()
        try:
            answer = await Gateway(log, QUICK, base_url=base_url).complete(REQUEST)
            message = answer.text
            assert 0 <= max(answer.usage.prompt_tokens, answer.usage.completion_tokens) < 2**31
            assert len(answer.model) <= 200
            assert answer.model.isprintable()
            assert len(answer.finish_reason) <= 200
        except ModelError as raised:
            error = raised
            message, kind = str(raised), "empty" if isinstance(raised, EmptyAnswer) else raised.kind
        took = time.monotonic() - began
    assert kind == mode.expect, message
    if error is not None:
        assert mode.words in message or mode.expect == "empty"
        assert error.permanent == mode.permanent
        assert not _LIBRARY.search(message) or mode.name == "500-with-a-traceback"
        assert message == " ".join(message.split())
        assert len(message) < 500
    assert took < 8, f"{took:.1f} s"
    assert KEY not in repr(log.calls) + message
    # Each response was billed, also one that is followed by another try.
    *billed, _ = log.calls
    assert len(billed) < QUICK.tries
    assert all(one.error is not None and one.error.usage is not None for one in billed)


#: One mode of each outcome, and those whose answer could do harm in a session or a report.
_SAMPLE = {(mode.expect, mode.words, mode.permanent): mode for mode in reversed(MODES) if mode.name != "drips"}
_HARMFUL = (
    *("usage-10^30", "usage-negative", "model-is-the-key", "model-controls", "answer-echoes-the-key"),
    *(
        "reasoning-echoes-the-key",
        "error-echoes-the-key",
        "answer-of-brackets",
        "answer-with-surrogates",
        "500-of-5-MB",
    ),
)
REAL = MODES if ALL else spread((*_SAMPLE.values(), *(BY_NAME[name] for name in _HARMFUL)), 8)


def _everything_written(folder: Path, session: Path) -> bytes:
    """Return all bytes that a run left: the file, its blobs unpacked, the logs, the reports."""
    found = [session.read_bytes()]
    with SessionReader(session) as reader:
        found += [reader.data(digest) for (digest,) in reader.query("SELECT digest FROM blobs")]
    found += [file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.suffix != ".session"]
    return b"\n".join(found)


@pytest.mark.sandbox
@pytest.mark.network
@pytest.mark.parametrize("mode", REAL, ids=lambda mode: mode.name)
def test_regenerate_says_why_and_loses_nothing(mode, needs_bubblewrap, one_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("WORKBENCH_MAX_TRIES", "2")
    monkeypatch.setenv("WORKBENCH_REQUEST_TIMEOUT", "2" if mode.name in {"drips", "never-answers"} else "60")
    session = tmp_path / "mode.session"
    words = ("--limit", "2", "--samples", "1", "--evaluator", "openai/x", "--no-controls", "--session", str(session))
    with serving(mode) as base_url:
        monkeypatch.setenv("WORKBENCH_BASE_URL", base_url)
        done = invoke("regenerate", "word_counter", *words)
    printed = " ".join((done.out + done.err).split())
    good = mode.expect in (ANSWER, "empty")
    assert done.code == (0 if good else 1), printed
    assert not _LIBRARY.search(printed) or mode.name == "500-with-a-traceback"
    with SessionReader(session) as reader:
        (run,) = reader.runs()
        candidates = [row for row in reader.candidates(run.id) if row.evaluator == "openai/x"]
        calls = [call for row in candidates for call in reader.calls(row.id)]
    assert len(candidates) == 2
    if good:
        assert {row.verdict for row in candidates} <= {"passed", "failed", "crashed", "invalid", "timeout"}
        assert len(calls) == 2
        assert "error" not in done.err
    elif mode.expect == "key":
        # The first one ends the run, and nothing is called the model's fault.
        assert mode.words in done.err
        assert mode.words in (run.error or "")
    else:
        assert [row.verdict for row in candidates] == ["error", "error"]
        assert all(mode.words in (row.verdict_reason or "") for row in candidates)
        assert re.search(r"1 error: \S", done.err), done.err
        assert re.search(r"2 errors: \S", done.out), done.out
        assert mode.words in done.err
    if "key" in mode.name or mode.expect == "key":
        for name in ("md", "html", "json", "csv"):
            report = tmp_path / f"report.{name}"
            assert invoke("report", str(session), "--output", str(report)).code == 0
            assert report.stat().st_size
        assert KEY.encode() not in _everything_written(tmp_path, session) + printed.encode()
