"""Validate numbers written by the user: on the command line, in the settings file, in the environment, in a plan."""

from __future__ import annotations

import math
import re

from workbench.base.text import one_line

#: Maximum of ``--samples`` and similar options; far above anything practical.
MOST_ITEMS = 100_000
MOST_REPEATS = 1_000
MOST_DOLLARS = 1_000_000.0
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,18}\.?[0-9]{0,30}|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?")


def whole(value: object, least: int = 0, most: int = MOST_ITEMS) -> int:
    """Return an integer within bounds, from text or a number.

    Raises ValueError with a message that says what is accepted.
    """
    number = value
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        number = int(value)
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise ValueError(f"a whole number of {least:,} or more, not {_shown(value)}")
    if number > most:
        raise ValueError(f"a whole number of at most {most:,}, not {_shown(value)}")
    return number


def amount(value: object, least: float = 0.0, most: float = MOST_DOLLARS, *, above: bool = False) -> float:
    """Return a number within bounds (with ``above``, it must exceed ``least``).

    Raises ValueError with a message that says what is accepted.
    """
    number = value
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        number = float(value)
    finite = isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    if not finite or not isinstance(number, int | float) or number < least or (above and number == least):
        raise ValueError(f"a number {f'above {least:g}' if above else f'of {least:g} or more'}, not {_shown(value)}")
    if number > most:
        raise ValueError(f"a number of at most {most:,.0f}, not {_shown(value)}")
    return float(number)


def _shown(value: object) -> str:
    return one_line(repr(value), 40)
