"""The embedded model answers alike after a resume: its cache is what it is in an unbroken trial."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from workbench.models import Message, Request, Sampling
from workbench.models.gateway import Gateway
from workbench.models.local_files import local_model_status
from workbench.models.types import MemoryCallLog

pytestmark = [
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
