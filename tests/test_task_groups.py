"""What ends several tasks is told as that, not as a group of errors."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import pytest

from workbench.base.errors import UsageError
from workbench.base.task_groups import task_group


async def fail(error: BaseException) -> None:
    raise error


async def together(*work: Coroutine[object, object, object]) -> None:
    async with task_group() as group:
        for each in work:
            group.create_task(each)


async def test_the_first_error_is_raised_itself() -> None:
    with pytest.raises(SystemError, match="first"):
        await together(fail(SystemError("first")), asyncio.sleep(60))


async def test_a_sentence_for_people_comes_before_a_defect_also_out_of_groups_in_groups() -> None:
    async def inner() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail(ValueError("a defect")))
            group.create_task(fail(UsageError("There is no such case.")))

    with pytest.raises(UsageError, match="no such case"):
        await together(fail(KeyError("another defect")), inner())


async def test_cancelled_from_outside_it_is_cancelled() -> None:
    task = asyncio.create_task(together(asyncio.sleep(60)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
