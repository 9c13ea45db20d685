"""The gateway against a server that misbehaves in every known way."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
import time

import pytest
from loopback import server as loopback
from loopback.server import LoopbackServer, Reply

from workbench.models import (
    Answer,
    CallLimits,
    CallRecord,
    Message,
    ModelError,
    ModelRefused,
    ModelTimeout,
    Request,
    Sampling,
    Usage,
)
from workbench.models.gateway import Gateway
from workbench.models.secrets import configured_secrets, secrets_in_url

KEY = "sk-live-0123456789abcdef"
QUICK = CallLimits(timeout_s=60, total_s=120, tries=4, backoff_s=0.01, longest_wait_s=3)


class Log:
    """Keeps calls in memory; answers recalls from ``known``."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []
        self.known: dict[tuple[str, str, int, int], Answer] = {}

    def recall(self, request: Request, nth: int) -> Answer | None:
        return self.known.get((request.scope, request.digest, request.sample, nth))

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)
        if call.answer is not None:
            request = call.request
            self.known[request.scope, request.digest, request.sample, call.nth] = call.answer


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def gateway(loopback_server: LoopbackServer, log: Log, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Gateway(log, QUICK, base_url=loopback_server.base_url)


def ask(text: str = "Hi", model: str = "openai/gpt-4o", **more: object) -> Request:
    return Request(model, (Message("user", text),), "agent", **more)  # type: ignore[arg-type]


async def test_an_answer_carries_text_usage_price_and_model(gateway, loopback_server, log) -> None:
    loopback_server.answer = lambda body: Reply(
        text="A list.",
        usage={
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 400},
        },
    )
    answer = await gateway.complete(ask("What?", sampling=Sampling(temperature=0.3, max_tokens=50, stop=("END",))))
    assert (answer.text, answer.model, answer.source, answer.attempts) == ("A list.", "gpt-4o", "live", 1)
    assert answer.usage == Usage(1000, 100, 400)
    assert answer.cost_usd == gateway.spent_usd
    assert gateway.spent_usd > 0
    (seen,) = loopback_server.seen
    assert seen.body["messages"] == [{"role": "user", "content": "What?"}]
    assert (seen.body["temperature"], seen.body["max_tokens"], seen.body["stop"]) == (0.3, 50, ["END"])
    assert [(call.answer, call.error, call.nth) for call in log.calls] == [(answer, None, 0)]


async def test_a_model_without_a_known_price_costs_none_not_nothing(gateway) -> None:
    assert (await gateway.complete(ask(model="openai/my-own-model"))).cost_usd is None


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (loopback.failure(500, "oops"), "unavailable"),
        (loopback.failure(503, "overloaded"), "unavailable"),
        (loopback.DROPPED, "unavailable"),
        (loopback.DROPPED_MIDWAY, "unavailable"),
        (loopback.rate_limited(), "rate_limited"),
        (loopback.GARBAGE, "malformed"),
        (loopback.BROKEN_JSON, "malformed"),
        (loopback.WRONG_SHAPE, "malformed"),
        (loopback.NO_CHOICES, "malformed"),
        (loopback.EMPTY, "malformed"),
    ],
    ids=["500", "503", "dropped", "midway", "429", "garbage", "broken", "shape", "no-choices", "empty"],
)
async def test_a_passing_fault_is_retried_and_a_lasting_one_is_named(fault, kind, gateway, loopback_server, log):
    loopback_server.script.append(fault)
    answer = await gateway.complete(ask())
    assert (answer.text, answer.attempts) == ("Hello.", 2)
    failed, succeeded = log.calls[-1].attempts
    assert failed.error
    assert failed.waited_s > 0
    assert succeeded.error is None

    loopback_server.answer = lambda body: fault
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask("again"))
    assert caught.value.kind == kind
    assert log.calls[-1].error is caught.value
    assert len(log.calls[-1].attempts) == (3 if kind == "malformed" else QUICK.tries)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (loopback.failure(400, "bad thing"), "refused"),
        (loopback.failure(401, f"Incorrect API key provided: {KEY}"), "key"),
        (loopback.failure(403, "no"), "refused"),
        (loopback.failure(404, "The model does not exist"), "refused"),
        (loopback.failure(422, "no"), "refused"),
        (loopback.failure(429, "You exceeded your current quota", "insufficient_quota"), "refused"),
        (loopback.CONTEXT, "context"),
        (loopback.FILTERED, "refused"),
        (Reply(text="", finish_reason="content_filter"), "refused"),
        (Reply(text=None, extra={"refusal": "I will not."}), "refused"),
    ],
    ids=["400", "401", "403", "404", "422", "quota", "context", "filter", "filtered-answer", "refusal"],
)
async def test_a_refusal_for_good_is_not_sent_twice(fault, kind, gateway, loopback_server, log) -> None:
    loopback_server.answer = lambda body: fault
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask())
    assert caught.value.kind == kind
    assert len(loopback_server.seen) == 1
    assert KEY not in repr(log.calls) + str(caught.value)


async def test_the_providers_own_wait_is_kept(gateway, loopback_server, log) -> None:
    loopback_server.script.append(loopback.rate_limited(retry_after="1"))
    began = time.monotonic()
    await gateway.complete(ask())
    assert time.monotonic() - began >= 1.0
    assert log.calls[0].attempts[0].waited_s == 1.0


async def test_a_rate_limit_met_by_one_holds_back_the_others(gateway, loopback_server) -> None:
    loopback_server.script.append(loopback.rate_limited(retry_after="1"))
    first = asyncio.create_task(gateway.complete(ask("first")))
    while not loopback_server.seen or loopback_server.under_way:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    began = time.monotonic()
    await gateway.complete(ask("second"))
    assert time.monotonic() - began > 0.5
    await first


async def test_a_longer_wait_than_allowed_gives_up_at_once(gateway, loopback_server) -> None:
    loopback_server.script.append(loopback.rate_limited(retry_after="3600"))
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask())
    assert caught.value.kind == "rate_limited"
    assert len(loopback_server.seen) == 1


async def test_a_slow_answer_is_a_timeout(loopback_server, log) -> None:
    gateway = Gateway(log, dataclasses.replace(QUICK, timeout_s=0.3, tries=2), base_url=loopback_server.base_url)
    loopback_server.answer = lambda body: Reply(wait=30)
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask())
    assert caught.value.kind == "timeout"
    assert len(log.calls[0].attempts) == 2


async def test_all_tries_together_keep_the_total_time(loopback_server, log) -> None:
    limits = CallLimits(timeout_s=5, total_s=3.0, tries=1000, backoff_s=0.05, longest_wait_s=0.1)
    # The first request of a process imports LiteLLM, which may take longer than that.
    await Gateway(log, QUICK, base_url=loopback_server.base_url).complete(ask("first"))
    gateway = Gateway(log, limits, base_url=loopback_server.base_url)
    loopback_server.answer = lambda body: loopback.failure(500, "oops")
    began = time.monotonic()
    with pytest.raises(ModelError):
        await gateway.complete(ask())
    assert time.monotonic() - began < 20
    assert 1 < len(log.calls[1].attempts) < 1000


async def test_no_more_requests_at_once_than_allowed(loopback_server, log) -> None:
    gateway = Gateway(log, dataclasses.replace(QUICK, concurrency=3), base_url=loopback_server.base_url)
    loopback_server.answer = lambda body: Reply(wait=0.1)
    await asyncio.gather(*(gateway.complete(ask(str(number))) for number in range(12)))
    assert loopback_server.peak == 3


async def test_the_spend_limit_holds_while_many_are_under_way(loopback_server, log) -> None:
    loopback_server.answer = lambda body: Reply(
        wait=0.02, usage={"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}
    )  # gpt-4o: $0.0125 each
    limits = dataclasses.replace(QUICK, concurrency=16, spend_usd=0.05)
    gateway = Gateway(log, limits, base_url=loopback_server.base_url)
    asked = [ask(f"{number}", sampling=Sampling(max_tokens=1000)) for number in range(30)]
    done = await asyncio.gather(*(gateway.complete(request) for request in asked), return_exceptions=True)
    refused = [error for error in done if isinstance(error, ModelError)]
    assert {error.kind for error in refused} == {"budget"}
    assert 0.05 <= gateway.spent_usd < 0.05 + 2 * 0.0125
    assert len(loopback_server.seen) == len(done) - len(refused)


async def test_what_this_session_has_is_not_asked_again(gateway, loopback_server, log) -> None:
    first = await gateway.complete(ask(scope="trial"))
    resumed = Gateway(log, QUICK, base_url=loopback_server.base_url)
    again = await resumed.complete(ask(scope="trial"))
    assert (again.text, again.source) == (first.text, "recorded")
    assert len(loopback_server.seen) == 1
    assert (await resumed.complete(ask(scope="trial"))).source == "live"  # the second of its kind was never sent
    assert [call.nth for call in log.calls] == [0, 1]


async def test_replay_gives_the_recorded_answers_and_nothing_else(log) -> None:
    recorded = Answer("Byte for byte \u0000\u2028", "gpt-4o", Usage(3, 4), 0.1, 1.5, "stop")

    class Source:
        def find(self, digest: str, sample: int, nth: int) -> Answer | None:
            return recorded if (digest, sample, nth) == (ask().digest, 2, 0) else None

    opened: list[str] = []

    def open_source(name: str) -> Source:
        opened.append(name)
        return Source()

    gateway = Gateway(log, QUICK, open_source)
    answer = await gateway.complete(ask(model="replay:old.session", sample=2))
    assert answer == dataclasses.replace(recorded, source="replay")
    with pytest.raises(ModelError) as caught:
        await gateway.complete(ask(model="replay:old.session", sample=3))
    assert caught.value.kind == "not_recorded"
    assert opened == ["old.session"]


async def test_a_cancelled_call_leaves_no_record_and_no_place_taken(loopback_server, log) -> None:
    gateway = Gateway(log, dataclasses.replace(QUICK, concurrency=1), base_url=loopback_server.base_url)
    loopback_server.script.append(Reply(wait=30))
    task = asyncio.create_task(gateway.complete(ask()))
    while not loopback_server.under_way:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log.calls == []
    await gateway.complete(ask())
    assert [call.nth for call in log.calls] == [0]


async def test_a_missing_key_is_told_before_anything_is_sent(log, monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "WORKBENCH_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError) as caught:
        await Gateway(log, QUICK).complete(ask())
    assert caught.value.kind == "key"
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "local" in str(caught.value)
    assert log.calls[0].attempts == ()


async def test_an_unknown_provider_is_told_in_one_sentence(log) -> None:
    with pytest.raises(ModelRefused, match="PROVIDER/NAME"):
        await Gateway(log, QUICK).complete(ask(model="nobody/knows"))


async def test_settings_that_a_model_does_not_take_are_left_out_visibly(gateway, loopback_server) -> None:
    chosen = Sampling(temperature=0.3, top_k=20, seed=1)
    answer = await gateway.complete(ask(model="openai/gpt-5-mini", sampling=chosen))
    assert "temperature" in answer.dropped
    assert "temperature" not in loopback_server.seen[-1].body
    assert loopback_server.seen[-1].body["top_k"] == 20  # an endpoint of one's own takes it


async def test_a_setting_that_the_endpoint_refuses_is_left_out_from_then_on(gateway, loopback_server, log) -> None:
    def strict(body: dict[str, object]) -> Reply:
        if "response_format" in body:
            return loopback.failure(400, "Unsupported parameter: 'response_format' is not supported")
        return Reply(text="fine")

    loopback_server.answer = strict
    shape = {"type": "object", "properties": {"a": {"type": "string"}}}
    first = await gateway.complete(ask("one", json_schema=shape))
    second = await gateway.complete(ask("two", json_schema=shape))
    assert (first.dropped, second.dropped) == (("json_schema",), ("json_schema",))
    assert (first.attempts, second.attempts) == (2, 1)
    assert len(loopback_server.seen) == 3


async def test_a_huge_answer_arrives_whole(gateway, loopback_server) -> None:
    loopback_server.answer = lambda body: Reply(text="x" * 5_000_000)
    assert len((await gateway.complete(ask())).text) == 5_000_000


async def test_no_key_reaches_the_log_even_if_the_server_echoes_it(gateway, loopback_server, log) -> None:
    loopback_server.answer = lambda body: loopback.failure(
        500, f"Authorization: Bearer {KEY} failed at https://u:{KEY}@h/"
    )
    with pytest.raises(ModelError):
        await gateway.complete(ask())
    assert any(KEY in seen.headers.get("authorization", "") for seen in loopback_server.seen)
    assert KEY not in repr(log.calls)
    assert KEY not in str([str(call.error) for call in log.calls])


async def test_a_proxy_of_the_environment_does_not_stand_before_loopback(loopback_server, tmp_path) -> None:
    code = (
        "import asyncio, sys\n"
        "from workbench.models import Message, Request, CallLimits\n"
        "from workbench.models.gateway import Gateway\n"
        "class Log:\n"
        "    def recall(self, request, nth): return None\n"
        "    def record(self, call): pass\n"
        "gateway = Gateway(Log(), CallLimits(tries=1), base_url=sys.argv[1])\n"
        "print(asyncio.run(gateway.complete(Request('openai/m', (Message('user', 'Hi'),), 'agent'))).text)\n"
    )
    environment = {**os.environ, "HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, loopback_server.base_url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    said, complained = await process.communicate()
    # Nothing but the answer: LiteLLM neither prints nor warns, also not at the end of the process.
    assert (said.decode().strip(), complained.decode()) == ("Hello.", "")


async def test_the_total_time_that_ran_out_is_told_by_its_own_name(loopback_server, log) -> None:
    limits = CallLimits(timeout_s=60, total_s=3.5, tries=5, backoff_s=0.01, longest_wait_s=0.1)
    # The first request of a process imports LiteLLM, which may take longer than that.
    await Gateway(log, QUICK, base_url=loopback_server.base_url).complete(ask("first"))
    gateway = Gateway(log, limits, base_url=loopback_server.base_url)
    loopback_server.script.append(loopback.failure(500, "oops"))
    loopback_server.answer = lambda body: Reply(wait=30)
    with pytest.raises(ModelTimeout) as caught:
        await gateway.complete(ask())
    assert "3.5 s of request_total_time" in str(caught.value)
    assert "oops" in str(caught.value)
    assert "request_timeout" not in str(caught.value)

    single = Gateway(log, dataclasses.replace(QUICK, timeout_s=0.3, tries=1), base_url=loopback_server.base_url)
    with pytest.raises(ModelTimeout, match=r"0\.3 s of request_timeout"):
        await single.complete(ask("again"))


async def test_a_timeout_of_the_server_is_not_called_ours(gateway, loopback_server) -> None:
    loopback_server.answer = lambda body: loopback.failure(504, "upstream took too long")
    with pytest.raises(ModelTimeout) as caught:
        await gateway.complete(ask())
    assert "status 504" in str(caught.value)
    assert "upstream took too long" in str(caught.value)
    assert "request_timeout" not in str(caught.value)


@pytest.mark.parametrize("count", [-5, 10**30, 2**63])
async def test_an_impossible_count_of_tokens_is_no_figure(count, gateway, loopback_server) -> None:
    loopback_server.answer = lambda body: Reply(
        usage={"prompt_tokens": count, "completion_tokens": 7, "total_tokens": 7}
    )
    answer = await gateway.complete(ask())
    assert answer.usage == Usage(0, 7)
    assert answer.cost_usd is None
    assert gateway.spent_usd == 0.0


async def test_a_key_that_is_echoed_reaches_nobody(gateway, loopback_server, log, monkeypatch) -> None:
    monkeypatch.setenv("OTHER_SERVICE_TOKEN", "t0ken-of-another-service")
    monkeypatch.setenv("APP_TOKEN", "placeholder")
    echoed = f"Your key is {KEY}; t0ken-of-another-service; sk-proj-not-a-key-of-yours; placeholder"
    loopback_server.answer = lambda body: Reply(
        text=echoed, finish_reason=f"x {KEY}", extra={"reasoning_content": f"Hm, {KEY}."}
    )
    answer = await gateway.complete(ask(scope="trial"))
    # What only looks like a key, and a token that is a word, stays: an answer may be code, and it is tested as it is.
    assert answer.text == "Your key is [key]; [key]; sk-proj-not-a-key-of-yours; placeholder"
    assert answer.reasoning == "Hm, [key]."
    assert KEY not in repr(log.calls)


def test_the_secrets_of_an_address_are_keys() -> None:
    assert secrets_in_url("http://user:pa55word%21@host/v1?key=abc12345") == {"pa55word%21", "pa55word!", "abc12345"}
    assert secrets_in_url("http://[broken") == set()


async def test_the_placeholder_for_no_key_stays_a_word(loopback_server, log, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    loopback_server.answer = lambda body: Reply(text="It is not-needed.")
    gateway = Gateway(log, QUICK, base_url=loopback_server.base_url)
    assert (await gateway.complete(ask())).text == "It is not-needed."


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("OPENAI_API_KEY", "sk-0123456789", True),
        ("HF_TOKEN", "hf_abcdefghij1", True),
        ("DB_PASSWORD", "correct horse battery staple", True),
        ("AWS_SECRET_ACCESS_KEY", "abc/def+123456", True),
        ("OPENAI_API_KEY_2", "key-number-2-of-mine", True),
        ("APP_TOKEN", "password", False),
        ("APP_TOKEN", "isinstance", False),
        ("OPENAI_API_KEY", "not-needed", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/google-credentials1.json", False),
        ("SSH_AUTH_SOCK", "/run/user/1000/agent", False),
        ("SECRET_NAME", "word_counter_2_settings", False),
        ("TOKENIZERS_PARALLELISM", "false", False),
        ("KEYBOARD_LAYOUT", "de-latin1-nodeadkeys", False),
    ],
)
def test_what_counts_as_a_secret_in_answers(name: str, value: str, secret: bool) -> None:
    assert (configured_secrets({name: value}) == {value}) is secret
