"""Enforce a run's spend limit, also with many concurrent calls."""

from __future__ import annotations

import asyncio

from workbench.models.types import SpendLimit


class Budget:
    """Starts a call only if the amount spent plus the estimates of running calls stays below the limit.

    A call's price is known only afterwards, so an estimate is set aside until then. Calls that do not fit wait for
    others to finish, and are refused only once the limit itself is reached.
    """

    def __init__(self, limit: float | None, spent: float = 0.0) -> None:
        self.limit = limit
        self.spent = spent
        self._set_aside = 0.0
        self._changed = asyncio.Condition()

    async def set_aside(self, estimate: float) -> None:
        """Wait until ``estimate`` US dollars fit within the limit, and reserve them.

        Raises:
            SpendLimit: The limit is reached.
        """
        if self.limit is None:
            return
        async with self._changed:
            while True:
                if self.spent >= self.limit:
                    raise SpendLimit(
                        f"The spend limit of ${self.limit:.2f} is reached (${self.spent:.2f} spent); "
                        "raise spend_limit and resume the session."
                    )
                if self._set_aside == 0.0 or self.spent + self._set_aside + estimate <= self.limit:
                    self._set_aside += estimate
                    return
                await self._changed.wait()

    async def settle(self, estimate: float, cost: float | None) -> None:
        """Replace an estimate by the call's actual cost in US dollars (``None``: unknown, counted as 0)."""
        self.spent += cost or 0.0
        if self.limit is None:
            return
        async with self._changed:
            self._set_aside = max(0.0, self._set_aside - estimate)
            if self._set_aside < 1e-12:
                self._set_aside = 0.0
            self._changed.notify_all()
