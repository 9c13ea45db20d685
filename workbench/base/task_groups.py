"""Task groups that raise their first error instead of an exception group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from workbench.base.errors import WorkbenchError


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Yield an :class:`asyncio.TaskGroup` that raises a WorkbenchError of its tasks, or else their first error."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as several:
        leaves = list(_leaves(several))
        raise next((one for one in leaves if isinstance(one, WorkbenchError)), leaves[0]) from None


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
