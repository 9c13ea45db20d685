"""Requests, waits, scrubbing and defaults: pure functions."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.settings import Settings
from workbench.models import (
    Message,
    Request,
    Sampling,
    context_window,
    count_tokens,
    default_model,
    describe_models,
    limits_of,
    model_error,
    sampling_for,
)
from workbench.models.failures import requested_wait
from workbench.models.secrets import scrub


def test_the_digest_is_of_what_is_asked_only() -> None:
    base = Request("openai/gpt-4o", (Message("user", "Hi"),), "agent")
    same = Request("local", (Message("user", "Hi"),), "judge", sample=3, scope="x")
    assert base.digest == same.digest
    others = [
        Request("local", (Message("user", "Ho"),), "agent"),
        Request("local", (Message("system", "Hi"),), "agent"),
        Request("local", (Message("user", "Hi"),), "agent", Sampling(temperature=0.0)),
        Request("local", (Message("user", "Hi"),), "agent", json_schema={"type": "object"}),
        Request("local", (Message("user", "Hi"),), "agent", grammar="root ::= x"),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 6


def test_the_digest_never_changes_between_versions() -> None:
    """Recorded sessions are found by it."""
    request = Request("m", (Message("user", "Grüße"),), "agent", Sampling(temperature=0.3, stop=("x",)))
    assert request.digest == "3b9617117328ae38f98d050c6de4e5af9ae40e6a2a7b74877964861a9896234d"


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_any_text_has_a_digest(pairs: list[tuple[str, str]]) -> None:
    messages = tuple(Message(role, content) for role, content in pairs)
    assert len(Request("m", messages, "agent").digest) == 64


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": format_datetime(datetime.fromtimestamp(NOW + 30, UTC), usegmt=True)}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"x-ratelimit-reset-requests": "1m30s", "x-ratelimit-remaining-requests": "0"}, 90.0),
        (
            {
                "x-ratelimit-reset-requests": "20ms",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "90000",
            },
            0.02,
        ),
        ({"x-ratelimit-reset": str(int(NOW) + 12)}, 12.0),
        ({"anthropic-ratelimit-tokens-reset": datetime.fromtimestamp(NOW + 9, UTC).isoformat()}, 9.0),
    ],
)
def test_the_wait_that_a_provider_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert requested_wait(headers, NOW) == (pytest.approx(seconds) if seconds is not None else None)


@given(st.dictionaries(st.sampled_from(["retry-after", "x-ratelimit-reset", "retry-after-ms"]), st.text()))
def test_no_header_breaks_the_wait(headers: dict[str, str]) -> None:
    wait = requested_wait(headers, NOW)
    assert wait is None or wait >= 0


def test_scrub_takes_out_values_shapes_and_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh12345")
    text = scrub("abcdefgh12345 sk-proj-AAAAbbbbCCCC Bearer xyzxyzxyz https://me:pw@host/ plain", ["other-secret"])
    assert "abcdefgh12345" not in text
    assert "AAAAbbbb" not in text
    assert "xyzxyzxyz" not in text
    assert "me:pw" not in text
    assert text.endswith("https://host/ plain")


def test_an_error_read_back_is_the_same_kind() -> None:
    assert model_error("timeout", "x").kind == "timeout"
    assert str(model_error("of the future", "x")) == "x"


def test_defaults_follow_the_papers_and_the_keys_present() -> None:
    key = {"OPENAI_API_KEY": "sk-aaaaaaaaaaaa"}
    assert default_model("agent", key) == "openai/gpt-4o"
    assert default_model("judge", key) == "openai/gpt-4o-mini"
    assert default_model("evaluator", key) == "openai/gpt-5-mini"
    assert default_model("agent", {}) == "local"
    assert sampling_for("openai/gpt-4o", "agent").temperature == 0.3
    assert sampling_for("openai/gpt-5-mini", "evaluator") == Sampling(temperature=1.0, reasoning_effort="medium")
    qwen = sampling_for("openrouter/qwen/qwen3-235b-a22b", "evaluator")
    assert (qwen.temperature, qwen.top_p, qwen.top_k) == (0.7, 0.8, 20)
    assert "sk-aaaaaaaaaaaa" not in repr(describe_models(key))


def test_no_spend_limit_in_the_settings_is_none_in_the_gateway() -> None:
    limits = limits_of(Settings(concurrency=3, spend_limit=0.0, max_tries=0))
    assert (limits.concurrency, limits.spend_usd, limits.tries) == (3, None, 1)
    assert limits_of(Settings(spend_limit=2.5)).spend_usd == 2.5


def test_windows_are_known_without_litellm() -> None:
    assert context_window("openai/gpt-4o") == 128_000
    assert context_window("local") == 8192
    assert context_window("openrouter/qwen/qwen3-235b-a22b") == 32_768
    assert context_window("nobody/knows") is None


@given(st.text(), st.text())
def test_the_token_estimate_grows_with_the_text(one: str, two: str) -> None:
    assert count_tokens(one + two) >= max(count_tokens(one), 1) - 1
