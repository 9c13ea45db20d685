"""Further fields of a request: sent as they are, part of a result's identity, refused where they cannot be meant."""

from __future__ import annotations

import pytest
from loopback.server import LoopbackServer
from models.test_gateway import QUICK, Log, ask

from workbench.base.errors import UsageError
from workbench.engine.evaluators import sampling, sampling_text
from workbench.models import Sampling
from workbench.models.defaults import read_extra_body
from workbench.models.failures import classify
from workbench.models.gateway import Gateway
from workbench.models.provider import check_key
from workbench.orders.regenerate import full_ask
from workbench.plans.plan import Ask, RegenerationPlan

THINKS_NOT = {"chat_template_kwargs": {"enable_thinking": False}}


async def test_it_is_sent_beside_what_is_sent_anyway(loopback_server: LoopbackServer) -> None:
    gateway = Gateway(Log(), QUICK, base_url=loopback_server.base_url)
    plain, more = (
        ask(model="openai/qwen3"),
        ask(model="openai/qwen3", sampling=Sampling(top_k=20, extra_body=THINKS_NOT)),
    )
    await gateway.complete(more)
    (seen,) = loopback_server.seen
    assert (seen.body["chat_template_kwargs"], seen.body["top_k"]) == (THINKS_NOT["chat_template_kwargs"], 20)
    assert plain.digest != more.digest


@pytest.mark.parametrize(
    ("evaluator", "given", "sent"),
    [
        ("openai/qwen3-235b-a22b", "", THINKS_NOT),
        ("dashscope/qwen3-235b-a22b", "", {"enable_thinking": False}),
        ("openrouter/qwen/qwen3-235b-a22b", "", {"reasoning": {"enabled": False}}),
        ("ollama_chat/qwen3:8b", "", {"think": False}),
        ("openai/qwen3-235b-a22b-thinking-2507", "", None),
        ("openai/qwen3-235b-a22b", "{}", None),
        ("openai/gpt-4o", "", None),
        ("openai/gpt-4o", '{"service_tier": "flex", "b": [1]}', {"b": [1], "service_tier": "flex"}),
    ],
)
def test_the_papers_model_does_not_think_unless_somebody_says_so(evaluator, given, sent, monkeypatch):
    for key in ("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(key, "none-is-asked")
    made = full_ask(RegenerationPlan("word_counter", evaluator=evaluator, extra_body=given))
    assert (sampling(made).extra_body or None) == sent
    plain = Ask(made.evaluator, made.samples, prompt=made.prompt, context=made.context)
    assert (made.prompt_version == plain.prompt_version) is (sent is None)
    assert (sampling_text(made) == sampling_text(plain)) is (sent is None)


def test_two_spellings_are_one() -> None:
    assert read_extra_body('{"b": 1,\n "a": {"d": 2, "c": 3}}') == read_extra_body('{"a":{"c":3,"d":2},"b":1}')


@pytest.mark.parametrize(
    "text",
    ["no JSON", "[1]", '"text"', "null", '{"model": "x"}', '{"temperature": 0}', '{"messages": []}', '{"x": NaN}',
     '{"api_key": "k"}', '{"x": "sk-live-0123456789abcdef"}', '{"x": "' + "y" * 20_000 + '"}', '{"x":' * 100 + "1" + "}" * 100],
    ids=["words", "list", "string", "null", "model", "temperature", "messages", "nan", "key-field", "key", "long", "deep"],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--extra-body [^\n]+$"):
        read_extra_body(text)


@pytest.mark.parametrize("model", ["ollama/llama3", "ollama_chat/llama3"])
def test_ollama_needs_no_key_and_says_where_it_was_sought(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_API_BASE", raising=False)
    check_key(model)
    refused = classify(ConnectionRefusedError(), model, 1.0)
    assert "http://localhost:11434" in str(refused.error)
    monkeypatch.setenv("OLLAMA_API_BASE", "http://10.0.0.9:1")
    assert "http://10.0.0.9:1" in str(classify(ConnectionRefusedError(), model, 1.0).error)
