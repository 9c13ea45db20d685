"""What work will take, said before it starts: ``--dry-run`` says it and ends, ``--yes`` starts what would be asked about."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from workbench import settings
from workbench.commands.output import print_json, say, tell
from workbench.engine.estimate import Estimate, Measured
from workbench.engine.measured import measure

REFUSED = 2


def settle(
    arguments: argparse.Namespace, what: str, estimate: Callable[[Measured], Estimate], into: Path | None = None
) -> int | None:
    """Say what work will take where that was asked for, and refuse it where it takes too much to start unasked.

    ``what`` is what it multiplies to, such as ``3 cases × 2 repeats × white``; what the session ``into`` has already is not
    asked for again. Returns the exit code with which the command ends now, None where the work is to start.
    """
    known = settings.load()
    if not arguments.dry_run and (arguments.yes or not (known.ask_above_dollars or known.ask_above_minutes)):
        return None
    told = estimate(measure(into, into))
    if arguments.dry_run:
        if arguments.json:
            print_json(
                {
                    "type": "estimate",
                    "what": what,
                    "noun": told.noun,
                    "count": told.count,
                    "requests": told.requests,
                    "seconds": told.seconds,
                    "building_seconds": told.building,
                    "dollars": told.dollars,
                    "basis": told.basis or None,
                    "up_to": told.up_to,
                    "left_out": list(told.left_out),
                    "time_without": list(told.without),
                    "documentation": None if told.documentation is None else asdict(told.documentation),
                }
            )
        else:
            say(f"{what} = {told.sentence()}. Nothing was started.")
        return 0
    if why := told.beyond(known.ask_above_dollars, known.ask_above_minutes):
        tell(f"workbench: {what} = {told.sentence()}. That is {why}, so nothing was started; --yes starts it.")
        return REFUSED
    return None
