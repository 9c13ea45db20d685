"""A trial of the embedded model that is killed and resumed writes what an unbroken one writes: the same calls, the same README."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sweeps import spread

from workbench.models import Message, Request, Sampling
from workbench.models.gateway import Gateway
from workbench.models.local_files import local_model_status
from workbench.models.types import MemoryCallLog
from workbench.orders import launching, running
from workbench.orders.run import plan_document
from workbench.plans.plan import DocumentPlan
from workbench.session import SessionReader

Until = Callable[..., Any]
pytestmark = [
    pytest.mark.fresh_engines,
    pytest.mark.model,
    pytest.mark.skipif(not local_model_status().present, reason=local_model_status().detail),
]
CONVERSATION = (
    Message("system", "You describe programs in short sentences."),
    Message("user", "What does a program that counts words do?"),
    Message("assistant", "It reads a text and counts how often each word occurs in it."),
    Message("user", "How is it started?"),
    Message("assistant", "It is started on the command line with the name of a file."),
    Message("user", "Write a paragraph about it."),
)


def _question(number: int, tokens: int = 60) -> Request:
    sampling = Sampling(temperature=0.3, max_tokens=tokens)
    return Request("local", CONVERSATION[: 2 * number], "agent", sampling)


@pytest_asyncio.fixture
async def gateways() -> AsyncIterator[Callable[[], Gateway]]:
    made: list[Gateway] = []

    def make() -> Gateway:
        made.append(Gateway(MemoryCallLog()))
        return made[-1]

    yield make
    for gateway in made:
        await gateway.aclose()


@pytest.mark.slow
async def test_the_cache_that_a_request_meets_is_the_same_after_a_resume(gateways: Callable[[], Gateway]) -> None:
    unbroken = gateways()
    for number in (1, 2):
        await unbroken.complete(_question(number, 8))
    first = await unbroken.complete(_question(3))
    resumed = await gateways().complete(_question(3))
    # Another conversation came between, and the same question was asked before.
    disturbed = gateways()
    await disturbed.complete(
        Request("local", (Message("user", "Name three colours."),), "agent", Sampling(max_tokens=8))
    )
    await disturbed.complete(_question(3, 8))
    again = await disturbed.complete(_question(3))
    assert {answer.text for answer in (first, resumed, again)} == {first.text}
    assert {answer.usage for answer in (first, resumed, again)} == {first.usage}
    assert first.usage.cached_tokens > 0


def _start(session: Path, repeats: int) -> str:
    # Three answers a trial, of short prompts: what is compared is how they came about, not what they say.
    plan = DocumentPlan(
        cases=("word_counter",), model="local", judge="offline", repeats=repeats, max_steps=4, read_limit=600
    )
    run = plan_document(session, plan)
    launching.launch(session, run)
    return run


def _told(session: Path, run: str) -> list[tuple[object, ...]]:
    """What the trials wrote: READMEs, and every call with its answer and its tokens, the cached ones included."""
    with SessionReader(session) as reader:
        return [
            (
                trial.repeat,
                trial.state,
                reader.text(trial.readme_blob) if trial.readme_blob else None,
                [
                    (call.digest, call.answer_blob, call.prompt_tokens, call.completion_tokens, call.cached_tokens)
                    for call in reader.calls(trial.id)
                    if call.answer_blob
                ],
            )
            for trial in reader.trials(run)
        ]


def _answers(session: Path, run: str) -> int:
    with SessionReader(session) as reader:
        return int(
            reader.query("SELECT count(*) FROM calls WHERE run_id = ? AND answer_blob IS NOT NULL", (run,))[0][0]
        )


def _kill(session: Path, run: str) -> None:
    with SessionReader(session) as reader:
        held = reader.holder(run)
    assert held is not None
    os.kill(held.pid, signal.SIGKILL)


def _state(session: Path, run: str) -> str:
    with SessionReader(session) as reader:
        row = reader.run(run)
        assert row is not None
        return reader.run_state(row)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("trials_at_once", "repeats"), spread([(1, 1), (4, 2)], 2, 1))
def test_trials_that_are_killed_write_the_same_readmes(home, tmp_path, until, monkeypatch, trials_at_once, repeats):
    monkeypatch.setenv("WORKBENCH_TRIALS_AT_ONCE", str(trials_at_once))
    monkeypatch.setenv("WORKBENCH_TIME_LIMIT", "1200")
    unbroken, broken = tmp_path / "unbroken.session", tmp_path / "broken.session"

    def ended(session: Path, run: str) -> None:
        until(lambda: _state(session, run) not in {"queued", "running"}, 900, "the run's end")

    run = _start(unbroken, repeats)
    ended(unbroken, run)
    expected = _told(unbroken, run)
    assert [state for _, state, _, _ in expected] == ["done"] * repeats
    asked = _answers(unbroken, run)

    run = _start(broken, repeats)
    # After the second answer, of one trial also while the last is written; in a sweep also after the first, the third and half-way.
    for answers in spread(sorted({1, 2, 3, asked // 2 - 1, asked - 1}), 3 if repeats == 1 else 5, 1):
        until(lambda: _answers(broken, run) >= answers, 900, f"{answers} answers")  # noqa: B023
        _kill(broken, run)
        ended(broken, run)
        assert running.resume(broken) == [run]
    ended(broken, run)
    assert _told(broken, run) == expected
